"""``cellwright bench``: results compared, scored again, exported and given a thumb."""

from __future__ import annotations

import argparse
import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.bench.checks import load_check, scored_by
from cellwright.bench.environments import SetupFailedError
from cellwright.bench.grading_cells import material_of, with_cells
from cellwright.bench.judge_check import with_thumb
from cellwright.bench.results import ResultFiles, folder_name, samples_in
from cellwright.bench.runner import BenchProgress, Laboratory, rescored
from cellwright.bench.suites import Item, Suite
from cellwright.bench.summary import compared, outcomes, summary_of
from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.bench_running import (
    CONFIG,
    Shower,
    chosen_suite,
    open_laboratory,
    read_plan,
    report,
)
from cellwright.commands.bench_starting import resume, run
from cellwright.commands.records import make_redactor
from cellwright.errors import KernelError, SetupError
from cellwright.exports.formats import FolderOptions, export_samples
from cellwright.exports.notebook import RunMaterial
from cellwright.exports.sample import SampleRecord
from cellwright.stopping import Stop
from cellwright.text.redaction import Redactor

Again = Callable[[SampleRecord], SampleRecord]
"""A sample with new scores."""
SHOWN = 50
SHOWN_PLACES = 5


def bench(invocation: Invocation) -> int:
    """Do what the sub-command says."""
    command: Callable[[Invocation], int] = COMMANDS[invocation.options.action]
    return command(invocation)


def rescore(invocation: Invocation) -> int:
    """Make the checks again on what is recorded; no model is asked."""
    options = invocation.options
    root = Path(options.folder)
    plan = read_plan(root)
    suite = chosen_suite(plan)
    agents, strangers = _agents_in(root, suite.name), list[str]()
    own = load_check(Path(options.check)) if options.check else None
    with contextlib.ExitStack() as stack:
        if own is not None:
            again: Again = partial(scored_by, own)
        else:
            laboratory = stack.enter_context(open_laboratory(invocation, plan, suite, root))
            again = _anew(suite, laboratory, strangers)
        for agent in agents:
            _rewrite(invocation, ResultFiles(root, agent, suite.name), again)
    if strangers:
        invocation.console.complain(
            f"cellwright: {len(strangers)} samples are no longer in the suite and keep their "
            f"scores, such as {strangers[0]!r}."
        )
    return report(invocation, root, suite.name, agents)


def _agents_in(root: Path, suite: str) -> list[str]:
    """Who has results there.

    Raises:
        SetupError: Nobody has.
    """
    found = sorted(root.glob(f"*/{folder_name(suite)}/runs.jsonl"))
    if not found:
        raise SetupError(
            f"There are no results in {str(root)!r} yet.",
            hint=f"Run what is missing: cellwright bench resume {root}",
        )
    return [next(samples_in(path)).agent for path in found]


def _rewrite(invocation: Invocation, files: ResultFiles, again: Again) -> None:
    """Put samples with new scores in the place of those so far."""
    total = len(files.finished())
    shower = Shower(invocation)

    def rewritten() -> Iterator[SampleRecord]:
        started = time.monotonic()
        progress = BenchProgress(total)
        for sample in files.samples():
            scored = again(sample)
            yield scored
            progress = replace(
                progress,
                done=progress.done + 1,
                passed=progress.passed + scored.passed,
                seconds=time.monotonic() - started,
            )
            shower(progress)

    files.rewrite(rewritten())


def _anew(suite: Suite, laboratory: Laboratory, strangers: list[str]) -> Again:
    """Scores a sample by its suite's checks, its cells run once more.

    Args:
        suite: The suite.
        laboratory: Where they run.
        strangers: Gets the ids of samples that the suite does not have any more; they stay.
    """
    items = {repr(item.index): item for item in suite.items}

    def again(sample: SampleRecord) -> SampleRecord:
        item = items.get(repr(sample.task.index))
        if item is None:
            strangers.append(sample.id)
            return sample
        try:
            return rescored(sample, item, laboratory.rooms_of(suite), Stop())
        except (KernelError, SetupFailedError) as error:
            raise SetupError(f"The sample {sample.id!r} cannot be run anew: {error}") from error

    return again


def compare(invocation: Invocation) -> int:
    """Hold two results together, sample by sample."""
    options = invocation.options
    first, second = (outcomes(_files_at(Path(name))) for name in (options.first, options.second))
    document = compared(first, second)
    if not document["shared"]:
        raise SetupError(
            f"{options.first!r} and {options.second!r} have no sample in common.",
            hint="Name two results of one suite.",
        )
    invocation.console.result(document, "\n".join(_compared_lines(document, options)))
    return COMPLETED


def _compared_lines(document: Mapping[str, Any], options: argparse.Namespace) -> Iterator[str]:
    difference, changed = document["difference"], document["changed"]
    yield (
        f"{document['shared']} samples in both: {document['better']} better, "
        f"{document['worse']} worse, {document['equal']} equal"
    )
    yield (
        f"difference {difference['value']:+.1%} (95 %: {difference['low']:+.1%} to "
        f"{difference['high']:+.1%}), p = {document['p_value']:.3g}"
    )
    for entry in changed[:SHOWN]:
        yield f"{entry['index']}: {entry['first']:g} → {entry['second']:g}"
    if len(changed) > SHOWN:
        yield f"… and {len(changed) - SHOWN} more; --json has them all"
    for which, name in (("first", options.first), ("second", options.second)):
        if document[f"only_{which}"]:
            yield f"{document[f'only_{which}']} only in {name}, left out"


def _files_at(path: Path) -> ResultFiles:
    """The results in a folder of a benchmark, of an agent or of a task.

    Raises:
        SetupError: There are none, or there are several.
    """
    found = sorted(path.glob("**/runs.jsonl")) if path.is_dir() else [path]
    if len(found) == 1 and found[0].is_file():
        folder = found[0].parent
        return ResultFiles(folder.parent.parent, folder.parent.name, folder.name)
    if not path.is_dir() or not found:
        raise SetupError(
            f"There are no results in {str(path)!r}.",
            hint="Name a folder that `cellwright bench run` wrote.",
        )
    named = ", ".join(str(runs.parent) for runs in found[:SHOWN_PLACES])
    raise SetupError(f"There are {len(found)} results in {str(path)!r}.", hint=f"Name one: {named}")


# ``cellwright bench export``: the samples of a benchmark in another format.


NOTEBOOKS = "notebooks"


def export_bench_samples(invocation: Invocation) -> int:
    """Write all samples of a folder."""
    options = invocation.options
    folder = Path(options.folder)
    redactor = make_redactor(invocation.settings)
    items = _items(invocation, folder) if options.to == NOTEBOOKS else {}
    groups = {
        _place(runs, folder): functools.partial(
            _samples, runs, redactor, items, passed=options.passed
        )
        for runs in sorted(folder.glob("**/runs.jsonl"))
    }
    if not groups:
        raise SetupError(
            f"There are no results in {str(folder)!r}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        )
    name = "ipynb" if options.to == NOTEBOOKS else options.to
    target = Path(options.output or f"{str(folder.resolve())}-{options.to}").expanduser()
    besides = FolderOptions(partial(_material, items), with_gradebook=options.gradebook)
    written = [str(path) for path in export_samples(name, groups, target, besides)]
    document = {"format": options.to, "path": str(target), "files": written}
    invocation.console.result(document, "\n".join(written))
    return COMPLETED


def _place(runs: Path, folder: Path) -> str:
    """``AGENT/TASK``, with what is before it where the folder holds several benchmarks."""
    parts = runs.parent.relative_to(folder).parts
    return "/".join(parts if len(parts) >= 2 else runs.resolve().parts[-3:-1])


Items = Mapping[tuple[str, str], Item]
"""Samples of suites by the suite's name and their own."""


def _items(invocation: Invocation, folder: Path) -> Items:
    """The samples of the suites that were run; notebooks carry their files and checks."""
    found: dict[tuple[str, str], Item] = {}
    for config in sorted({*folder.glob(f"**/{CONFIG}"), *_configs_above(folder)}):
        try:
            suite = chosen_suite(read_plan(config.parent))
        except SetupError as error:
            invocation.console.complain(
                f"cellwright: the notebooks carry no files and no checks: {error}"
            )
            continue
        found |= {(suite.name, repr(item.index)): item for item in suite.items}
    return found


def _configs_above(folder: Path) -> list[Path]:
    """The plan of a benchmark one of whose agents or tasks is named."""
    above = (folder.resolve().parent, folder.resolve().parent.parent)
    return [parent / CONFIG for parent in above if (parent / CONFIG).is_file()][:1]


def _material(items: Items, sample: SampleRecord) -> RunMaterial | None:
    item = items.get((sample.suite, repr(sample.task.index)))
    return material_of(item) if item is not None else None


def _samples(
    runs: Path, redactor: Redactor, items: Items, *, passed: bool
) -> Iterator[SampleRecord]:
    for sample in samples_in(runs):
        if sample.passed or not passed:
            item = items.get((sample.suite, repr(sample.task.index)))
            yield redactor.event(sample if item is None else with_cells(sample, item))


# ``cellwright bench thumb``: what a person thinks of a sample, kept as a score.


@dataclass(frozen=True)
class _Place:
    """A sample and the file it is in."""

    sample: SampleRecord
    runs: Path


def give_thumb(invocation: Invocation) -> int:
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


COMMANDS = {
    "run": run,
    "resume": resume,
    "rescore": rescore,
    "compare": compare,
    "thumb": give_thumb,
    "export": export_bench_samples,
}
