"""``cellwright bench``: suites run, gone on with, scored again and compared."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

from cellwright.bench.attempt import Laboratory, rescored
from cellwright.bench.custom_checks import load_check, scored_by
from cellwright.bench.results import ResultFiles
from cellwright.bench.rooms import SetupFailedError
from cellwright.bench.sample import SampleRecord
from cellwright.bench.suites import Suite
from cellwright.bench.summary import compared, outcomes
from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.bench_plan import chosen_suite, read_plan
from cellwright.commands.bench_results import report
from cellwright.commands.bench_running import open_laboratory, resume, run
from cellwright.errors import KernelError, SetupError
from cellwright.stopping import Stop

__all__ = ["bench"]


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
    own = load_check(Path(options.check)) if options.check else None
    with contextlib.ExitStack() as stack:
        if own is not None:
            again: Callable[[SampleRecord], SampleRecord] = partial(scored_by, own)
        else:
            laboratory = stack.enter_context(open_laboratory(invocation, plan, suite, root))
            again = _anew(suite, laboratory)
        folders = sorted(root.glob(f"*/{suite.name}/runs.jsonl"))
        agents = [path.parent.parent.name for path in folders]
        for agent in agents:
            files = ResultFiles(root, agent, suite.name)
            files.rewrite(map(again, files.samples()))
    return report(invocation, root, suite.name, agents)


def _anew(suite: Suite, laboratory: Laboratory) -> Callable[[SampleRecord], SampleRecord]:
    """Scores a sample by its suite's checks, its cells run once more."""
    items = {repr(item.index): item for item in suite.items}

    def again(sample: SampleRecord) -> SampleRecord:
        try:
            return rescored(sample, items[repr(sample.task.index)], laboratory.rooms, Stop())
        except (KernelError, SetupFailedError) as error:
            raise SetupError(f"The sample {sample.id!r} cannot be run anew: {error}") from error

    return again


def compare(invocation: Invocation) -> int:
    """Hold two results together, sample by sample."""
    options = invocation.options
    first, second = (outcomes(_files_at(Path(name))) for name in (options.first, options.second))
    document = compared(first, second)
    difference = document["difference"]
    lines = [
        f"{document['shared']} samples in both: {document['better']} better, "
        f"{document['worse']} worse, {document['equal']} equal",
        f"difference {difference['value']:+.1%} (95 %: {difference['low']:+.1%} to "
        f"{difference['high']:+.1%}), p = {document['p_value']:.3g}",
        *(f"{c['index']}: {c['first']:g} → {c['second']:g}" for c in document["changed"]),
    ]
    invocation.console.result(document, "\n".join(lines))
    return COMPLETED


def _files_at(path: Path) -> ResultFiles:
    """The results in a folder of a benchmark, of an agent or of a task.

    Raises:
        SetupError: There are none, or there are several.
    """
    found = sorted(path.glob("**/runs.jsonl")) if path.is_dir() else [path]
    if len(found) == 1 and found[0].is_file():
        folder = found[0].parent
        return ResultFiles(folder.parent.parent, folder.parent.name, folder.name)
    raise SetupError(
        f"There are {len(found) if path.is_dir() else 0} results in {str(path)!r}.",
        hint="Name one: FOLDER/AGENT/TASK.",
    )


COMMANDS = {"run": run, "resume": resume, "rescore": rescore, "compare": compare}
