"""What is run before a run is repeated."""

from __future__ import annotations

from pathlib import Path

import pytest
from magics.shown_events import PaperScreen

from cellwright.errors import SetupError
from cellwright.kernels.shell import ShellKernel
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.questions import RunContext
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright_magics.command_running import repeat
from cellwright_magics.display import NotebookTranscript


def test_a_folder_that_is_gone_is_named(tmp_path: Path) -> None:
    record = RunRecord("r", "completed", "x", Parameters("m"), cwd=str(tmp_path / "gone"))
    database = open_database(None)
    place = RunContext(ShellKernel(None), RunStore(database), Redactor({}), "magic")
    try:
        with pytest.raises(SetupError, match="gone"):
            repeat(record, place, NotebookTranscript(PaperScreen()), None)
    finally:
        database.close()
