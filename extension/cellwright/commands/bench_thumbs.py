"""``cellwright bench thumb``: what a person thinks of a sample, kept as a score."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cellwright.bench.results import ResultFiles, samples_in
from cellwright.bench.summary import summary_of
from cellwright.bench.thumb_check import with_thumb
from cellwright.commands import COMPLETED, Invocation
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord


@dataclass(frozen=True)
class _Place:
    """A sample and the file it is in."""

    sample: SampleRecord
    runs: Path


def bench(invocation: Invocation) -> int:
    """Give a sample a thumb, up or down."""
    options = invocation.options
    place = _only(list(_found(Path(options.folder), options.sample, options.epoch)), options.sample)
    sample = with_thumb(place.sample, is_up=options.thumb == "up", note=options.note or "")
    root, agent, task = place.runs.parents[2], *place.runs.parts[-3:-1]
    files = ResultFiles(root, agent, task)
    files.add(sample)  # of a sample that is there twice the last counts
    files.sum_up(summary_of(files, sample.agent, task).document())
    document = {"id": sample.id, "agent": sample.agent, "passed": sample.passed}
    said = "passes" if sample.passed else "does not pass"
    invocation.console.result(document, f"{sample.id} of {sample.agent} {said}.")
    return COMPLETED


def _found(folder: Path, name: str, epoch: int) -> Iterator[_Place]:
    for runs in sorted(folder.resolve().glob("**/runs.jsonl")):
        for sample in samples_in(runs):
            if str(sample.task.index) == name and sample.task.epoch == epoch:
                yield _Place(sample, runs)


def _only(places: list[_Place], name: str) -> _Place:
    if len(places) == 1:
        return places[0]
    if not places:
        raise SetupError(
            f"There is no sample {name!r} there.",
            hint="Name the folder that `cellwright bench run` wrote, and the sample's id.",
        )
    agents = ", ".join(sorted({place.runs.parent.parent.name for place in places}))
    raise SetupError(
        f"The sample {name!r} is there {len(places)} times ({agents}).", hint="Name FOLDER/AGENT."
    )
