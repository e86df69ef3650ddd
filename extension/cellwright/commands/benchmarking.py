"""``cellwright bench``: results compared, scored again, exported and given a thumb."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.bench.checks import load_check, scored_by
from cellwright.bench.environments import SetupFailedError, absolute_interpreter
from cellwright.bench.grading_cells import material_of, with_cells
from cellwright.bench.judge_check import with_thumb
from cellwright.bench.leaderboard import Entry, leaderboard_page, rank_all
from cellwright.bench.near_copies import list_marked, near_copies
from cellwright.bench.results import Failure, ResultFiles, folder_name, samples_in
from cellwright.bench.runner import BenchProgress, Laboratory, rescored
from cellwright.bench.statistics import adjust_p_values
from cellwright.bench.suite_making import make_suite
from cellwright.bench.suites import Item, Suite
from cellwright.bench.suites.inspect_logs import read_log, samples_of
from cellwright.bench.suites.opening import INSPECT, open_suite
from cellwright.bench.summary import Outcome, compared, outcomes, summary_of
from cellwright.bench.trial import open_trials
from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.bench_running import (
    CONFIG,
    BenchPlan,
    Shower,
    chosen_suite,
    open_laboratory,
    places_of,
    read_plan,
    report,
    tell_damaged,
    write_plan,
)
from cellwright.commands.bench_starting import resume, run
from cellwright.commands.records import make_redactor
from cellwright.commands.terminal import table
from cellwright.errors import KernelError, SetupError
from cellwright.exports.formats import FolderOptions, export_samples
from cellwright.exports.notebook import RunMaterial
from cellwright.exports.sample import SampleRecord
from cellwright.record.values import to_dict
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
            f"cellwright: {len(strangers)} samples have no checks in the suite and keep their "
            f"scores, such as {strangers[0]!r}."
        )
    return report(invocation, root, suite.name, agents, places_of(plan, suite))


def import_log(invocation: Invocation) -> int:
    """Read a log of Inspect as the results of a benchmark."""
    options = invocation.options
    log = read_log(Path(options.log))
    root = Path(options.output or f"runs/{log.path.stem}")
    if (root / CONFIG).exists():
        raise SetupError(
            f"{str(root)!r} holds a benchmark already.", hint="Name another folder: -o"
        )
    epochs = max(int(sample.get("epoch", 1)) for sample in log.samples)
    source = f"{INSPECT}{log.path.resolve()}"
    write_plan(root, BenchPlan(source, models=(log.model,), epochs=epochs))
    redactor, agents = make_redactor(invocation.settings), dict[str, ResultFiles]()
    for sample in samples_of(log):
        agent = sample.agent or log.model
        files = agents.setdefault(agent, ResultFiles(root, agent, log.task))
        if sample.error and not sample.scores:  # Inspect leaves it out of its numbers, too
            task, why = sample.task, redactor.text(sample.error)
            files.add_failure(Failure(task.index, task.epoch, "INTERACT_FAILED", why))
        else:
            files.add(redactor.event(sample))
    return report(invocation, root, log.task, list(agents))


# ``cellwright bench new``: notebooks as a suite.


def new_suite(invocation: Invocation) -> int:
    """Make a suite of notebooks: samples that the oracle solves and doing nothing does not."""
    options = invocation.options
    notebooks = Path(options.notebooks).expanduser()
    if not notebooks.exists():
        raise SetupError(f"There is no {str(notebooks)!r}.", hint="Name a folder of notebooks.")
    folder = Path(options.output or f"{notebooks.resolve().with_suffix('')}-suite").expanduser()
    if folder.exists() and any(folder.iterdir()):
        raise SetupError(f"{str(folder)!r} is not empty.", hint="Name another folder: -o")
    python, redactor = (
        absolute_interpreter(options.python or ""),
        make_redactor(invocation.settings),
    )
    with open_trials(python, is_forked=True) as laboratory:
        made = make_suite(notebooks, folder, laboratory, redactor)
    lines = [f"{len(made.samples)} samples in {folder}"]
    lines += [f"left out: {one.name}: {one.why}" for one in made.left_out]
    if made.samples:
        lines.append(f"Try it: cellwright bench run {folder} --agent oracle --agent noop")
    left_out = [to_dict(one) for one in made.left_out]
    document = {"folder": str(folder), "samples": made.samples, "left_out": left_out}
    invocation.console.result(document, "\n".join(lines))
    return COMPLETED if made.samples else NOT_COMPLETED


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
    tell_damaged(invocation, files.runs)
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
        if item is None or not item.checks:
            strangers.append(sample.id)
            return sample
        try:
            return rescored(sample, item, laboratory.rooms_of(suite), Stop())
        except (KernelError, SetupFailedError) as error:
            raise SetupError(f"The sample {sample.id!r} cannot be run anew: {error}") from error

    return again


def compare(invocation: Invocation) -> int:
    """Hold results against the first of them, sample by sample."""
    options = invocation.options
    files = _files_at(Path(options.first))
    first = outcomes(files)
    for name in dict.fromkeys((options.first, *options.others)):
        tell_damaged(invocation, _files_at(Path(name)).runs)
    documents = [_compared_to(first, files, options.first, name) for name in options.others]
    adjusted = adjust_p_values([document["p_value"] for document in documents])
    for document, p_value in zip(documents, adjusted, strict=True):
        document["p_adjusted"] = p_value
    told = documents[0] if len(documents) == 1 else {"comparisons": documents}
    parts = ["\n".join(_compared_lines(each, len(documents))) for each in documents]
    invocation.console.result(told, "\n\n".join(parts))
    return COMPLETED


def _compared_to(
    first: list[Outcome], files: ResultFiles, baseline: str, other: str
) -> dict[str, Any]:
    others = _files_at(Path(other))
    if others.folder.name != files.folder.name:
        raise SetupError(
            f"{baseline!r} are results of {files.folder.name!r}, {other!r} of "
            f"{others.folder.name!r}.",
            hint="Name results of one suite.",
        )
    document = compared(first, outcomes(others))
    if not document["shared"]:
        raise SetupError(
            f"{baseline!r} and {other!r} have no sample in common.",
            hint="Name results of one suite.",
        )
    return {"baseline": baseline, "result": other, **document}


def _compared_lines(document: Mapping[str, Any], count: int) -> Iterator[str]:
    difference, changed = document["difference"], document["changed"]
    if count > 1:
        yield f"{document['result']} against {document['baseline']}"
    yield (
        f"{document['shared']} samples in both: {document['better']} better, "
        f"{document['worse']} worse, {document['equal']} equal"
    )
    yield (
        f"difference {difference['value']:+.1%} (95 %: {difference['low']:+.1%} to "
        f"{difference['high']:+.1%}), p = {document['p_value']:.3g}"
        + (f", {document['p_adjusted']:.3g} as one of {count} (Holm)" if count > 1 else "")
    )
    yield f"as many samples show differences from {document['detectable']:.1%} on"
    for entry in changed[:SHOWN]:
        yield f"{entry['index']}: {entry['first']:g} → {entry['second']:g}"
    if len(changed) > SHOWN:
        yield f"… and {len(changed) - SHOWN} more; --json has them all"
    for which, name in (("first", document["baseline"]), ("second", document["result"])):
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


# ``cellwright bench near-copies``: whether samples are really several, and really new.


def find_near_copies(invocation: Invocation) -> int:
    """List samples that are nearly the same, or stand in texts that an agent may know."""
    options = invocation.options
    suite = open_suite(options.suite, Path(options.data) if options.data else None)
    prompts = {str(item.index): item.prompt for item in suite.items}
    answers = {
        f"{item.index}'s answer": "\n".join(item.reference)
        for item in suite.items
        if item.reference and options.places
    }
    families = {str(item.index): item.family or str(item.index) for item in suite.items}
    places = [Path(place).expanduser() for place in options.places]
    missing = [place for place in places if not place.exists()]
    if missing:
        raise SetupError(f"There is no {str(missing[0])!r}.", hint="Name a file or a folder.")
    found = [
        *(
            copy
            for copy in near_copies(prompts, places)
            # Samples of one family are said to be alike.
            if families[copy.sample] != families.get(copy.other)
        ),
        *(copy for copy in near_copies(answers, places) if copy.other not in answers),
    ]
    rows = [[copy.sample, copy.other, f"{copy.share:.0%}"] for copy in found]
    shown = table(("SAMPLE", "IS IN", "<SHARE>"), rows) if rows else "There are no near copies."
    marked = [str(path) for path in list_marked(places)]
    if marked:
        shown += "\n\nThese files were written of samples, and carry the canary:\n"
        shown += "\n".join(f"  {path}" for path in marked)
    document = {
        "suite": suite.name,
        "near_copies": [to_dict(copy) for copy in found],
        "carry_canary": marked,
    }
    invocation.console.result(document, shown)
    return COMPLETED


# ``cellwright bench leaderboard``: several results as one page.


def write_leaderboard(invocation: Invocation) -> int:
    """Write the page, and tell the standings."""
    options = invocation.options
    redactor = make_redactor(invocation.settings)
    files = [
        runs.resolve()
        for folder in map(Path, options.folders)
        for runs in sorted(folder.glob("**/runs.jsonl"))
    ]
    results = []
    for runs in files:
        tell_damaged(invocation, runs)
        samples = [redactor.event(sample) for sample in samples_in(runs)]
        agent = samples[0].agent if samples else runs.parent.parent.name
        results.append((runs.parent.name, agent, runs.parent.parent.parent.name, samples))
    boards = rank_all(results)
    if not boards:
        raise SetupError(
            f"There are no results in {options.folders[0]!r}.",
            hint="Name the folders that `cellwright bench run` wrote.",
        )
    target = Path(options.output or "leaderboard.html").expanduser()
    target.write_text(leaderboard_page(boards), encoding="utf-8")
    rows = [
        [str(place), entry.name, *_numbers(entry)]
        for board in boards
        for place, entry in enumerate(board.entries, start=1)
    ]
    document = {"path": str(target), "suites": [board.document() for board in boards]}
    notes = [f"{e.name}: {e.note}" for board in boards for e in board.entries if e.note]
    shown = "\n".join([table(STANDINGS, rows), *notes, str(target)])
    invocation.console.result(document, shown)
    return COMPLETED


STANDINGS = ("", "AGENT", "<PASSED>", "<95 %>", "<BEHIND>", "<COST>")


def _numbers(entry: Entry) -> tuple[str, str, str, str]:
    share, cost = entry.share, entry.cost_each
    behind = "" if entry.behind is None else f"{100 * entry.behind.difference.value:+.1f} pp"
    return (
        f"{share.value:.1%}",
        f"{share.low:.1%} to {share.high:.1%}",
        behind,
        f"${cost.value:.4f}" if cost is not None else "",
    )


# ``cellwright bench export``: the samples of a benchmark in another format.


NOTEBOOKS = ("notebooks", "ipynb")
"""Two names of one format."""


def export_bench_samples(invocation: Invocation) -> int:
    """Write all samples of a folder."""
    options = invocation.options
    folder = Path(options.folder)
    redactor = make_redactor(invocation.settings)
    items = _items(invocation, folder) if options.to in NOTEBOOKS else {}
    groups = {}
    for runs in sorted(folder.glob("**/runs.jsonl")):
        tell_damaged(invocation, runs)
        samples = functools.partial(_samples, runs, redactor, items, passed=options.passed)
        groups[_place(runs, folder)] = samples
    if not groups:
        raise SetupError(
            f"There are no results in {str(folder)!r}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        )
    name = "ipynb" if options.to in NOTEBOOKS else options.to
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
    "near-copies": find_near_copies,
    "leaderboard": write_leaderboard,
    "import": import_log,
    "new": new_suite,
    "thumb": give_thumb,
    "export": export_bench_samples,
}
