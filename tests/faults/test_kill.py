"""SIGKILL at every event of a run loses nothing that was acknowledged (fault S1)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
import recorded_runs

from cellwright.exports.agentbench import export as export_line
from cellwright.exports.html import export as export_page
from cellwright.exports.notebook import export as export_notebook
from cellwright.store.database import open_database
from cellwright.store.runs import INTERRUPTED_REASON, RunStore

EVENTS = recorded_runs.twelve_events()

STEP_BY_STEP = """
import sys
from pathlib import Path
from recorded_runs import twelve_events
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

journal = RunStore(open_database(Path(sys.argv[1]))).start()
print(journal.run_id, flush=True)
for event in twelve_events():
    journal.record(event)
    print("recorded", flush=True)
    sys.stdin.readline()
"""

WITHOUT_PAUSE = """
import sys
from pathlib import Path
from recorded_runs import started
from cellwright.record.events import TextDelta
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

journal = RunStore(open_database(Path(sys.argv[1]))).start(started())
print(journal.run_id, flush=True)
for number in range(1_000_000):
    journal.record(TextDelta(str(number)))
    print(number, flush=True)
"""


def writer(script: str, database: Path) -> subprocess.Popen[str]:
    folder = str(Path(recorded_runs.__file__).parent)
    path = os.pathsep.join([folder, *sys.path])
    return subprocess.Popen(
        [sys.executable, "-c", script, str(database)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.parametrize("index", range(1, len(EVENTS) + 1))
def test_a_kill_after_any_event_keeps_all_of_them(index: int, tmp_path: Path) -> None:
    assert len(EVENTS) == 12
    with writer(STEP_BY_STEP, tmp_path / "runs.sqlite") as process:
        assert process.stdin is not None
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        for number in range(index):
            assert process.stdout.readline() == "recorded\n"
            if number + 1 < index:
                process.stdin.write("go\n")
                process.stdin.flush()
        process.kill()

    database = open_database(tmp_path / "runs.sqlite")
    assert database.notices == ()
    store = RunStore(database)
    assert [recorded.event for recorded in store.events(run_id)] == EVENTS[:index]
    record = store.record(run_id)
    if index < len(EVENTS):
        assert (record.status, record.cause) == ("task error", "interrupted")
        assert record.reason == INTERRUPTED_REASON
    else:
        assert record.status == "completed"
    assert store.list()[0].status == record.status
    nbformat.validate(json.loads(export_notebook(record)))
    assert json.loads(export_line(record))["output"]["status"] == record.status
    assert "Which region sold most?" in export_page(record)
    database.close()


@pytest.mark.parametrize("delay_seconds", [0.05, 0.2, 0.4])
def test_a_kill_in_the_middle_of_a_write_loses_nothing_acknowledged(
    delay_seconds: float, tmp_path: Path
) -> None:
    with writer(WITHOUT_PAUSE, tmp_path / "runs.sqlite") as process:
        assert process.stdout is not None
        run_id = process.stdout.readline().strip()
        time.sleep(delay_seconds)
        process.kill()
        numbers = [line for line in process.stdout if line.endswith("\n")]
    database = open_database(tmp_path / "runs.sqlite")
    texts = [getattr(r.event, "text", None) for r in RunStore(database).events(run_id)]
    assert numbers
    assert texts[1 : len(numbers) + 1] == [number.strip() for number in numbers]
    database.close()
