"""A recorded run once more, in a fresh kernel: replayed, or asked of another model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from cellwright.errors import SetupError
from cellwright.kernels.fresh import start_kernel
from cellwright.record.events import Event
from cellwright.record.prompts import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.questions import Place
from cellwright.session.replaying import (
    Difference,
    OtherModel,
    compare,
    describe_ending,
    replay,
    rerun,
)
from cellwright.session.run import Run
from cellwright.session.services import Service
from cellwright_magics.display import Transcript
from cellwright_magics.driving import drive
from cellwright_magics.reports import Table
from cellwright_magics.wording import one_line


class ReplayedRun(Table):
    """A replay, held against its record."""

    headings = ("cell", "differs in", "recorded", "replayed")

    def __init__(self, recorded: RunRecord, run: Run) -> None:
        self.run = run
        self.differences: tuple[Difference, ...] = compare(recorded, run.record)
        cells = "1 cell" if len(recorded.cells) == 1 else f"{len(recorded.cells)} cells"
        ending = describe_ending(recorded)
        said = f"Replay of {recorded.run_id}: {cells}, no differences."
        self.empty = f"{said} {ending}" if ending else said

    def rows(self) -> list[tuple[str, ...]]:
        """One row a difference."""
        return [
            (str(d.cell_number or "–"), d.what, one_line(d.recorded), one_line(d.replayed))
            for d in self.differences
        ]


def repeat(
    record: RunRecord, place: Place, transcript: Transcript, service: Service | None
) -> None:
    """Run it again in a fresh kernel.

    Args:
        record: The run.
        place: Where it is recorded and who is asked; its kernel is not used.
        transcript: Shows it.
        service: The model that is asked; None: the recorded answers are used.

    Raises:
        SetupError: The folder it ran in is gone.
    """
    folder = Path(record.cwd or ".")
    if not folder.is_dir():
        raise SetupError(f"The folder {str(folder)!r} that the run was in is not there.")
    with start_kernel(folder) as kernel:
        drive(_events(record, replace(place, kernel=kernel, chat_id=""), service), transcript.show)


def _events(record: RunRecord, place: Place, service: Service | None) -> Iterator[Event]:
    if service is None:
        return replay(record, replace(place, lane="replay"))
    other = OtherModel(service.lm, Parameters(service.model), service.base_url)
    return rerun(record, place, other)
