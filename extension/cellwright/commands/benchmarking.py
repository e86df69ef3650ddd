"""``cellwright bench``: suites run, gone on with, scored again and compared."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.attempt import Job, Laboratory, attempt, rescored
from cellwright.bench.custom_checks import load_check, scored_by
from cellwright.bench.interpreters import kernel_of
from cellwright.bench.results import ResultFiles
from cellwright.bench.rooms import Rooms, SetupFailedError
from cellwright.bench.runner import Options, Progress, Runner, pending
from cellwright.bench.sample import SampleRecord
from cellwright.bench.suites import Suite
from cellwright.bench.suites.opening import open_suite
from cellwright.bench.summary import Summary, compared, outcomes, summary_of
from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.interrupts import stopping
from cellwright.commands.records import make_redactor
from cellwright.commands.terminal import table
from cellwright.errors import KernelError, RunCancelled, SetupError
from cellwright.services import Service, open_service
from cellwright.stopping import Stop
from cellwright.values import from_dict, to_dict

__all__ = ["bench"]

CONFIG = "config.yaml"
NOTE_SECONDS = 2.0


@dataclass(frozen=True)
class Plan:
    """What is run; written down, so that it can be gone on with."""

    suite: str
    data: str = ""
    agents: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    epochs: int = 1
    limit: int = 0
    """0: all samples."""
    only: tuple[str, ...] = ()
    """Indices; empty: all."""
    python: str = ""
    """Interpreter of the kernels; empty: ours."""


def bench(invocation: Invocation) -> int:
    """Do what the sub-command says."""
    command: Callable[[Invocation], int] = COMMANDS[invocation.options.action]
    return command(invocation)


def run(invocation: Invocation) -> int:
    """Run a suite."""
    options = invocation.options
    plan = Plan(
        suite=_absolute(options.suite),
        data=_absolute(options.data),
        agents=tuple(_absolute_agent(name) for name in options.agent),
        models=tuple(options.model),
        epochs=options.epochs,
        limit=options.limit or 0,
        only=tuple(options.only),
        python=options.python or "",
    )
    root = Path(options.output or f"runs/{time.strftime('%Y-%m-%d-%H%M%S')}")
    if (root / CONFIG).exists():
        raise SetupError(
            f"{str(root)!r} holds a benchmark already.",
            hint=f"Go on with it: cellwright bench resume {root}",
        )
    suite = _chosen(plan)
    root.mkdir(parents=True, exist_ok=True)
    # JSON is YAML as well.
    (root / CONFIG).write_text(json.dumps(to_dict(plan), indent=2) + "\n", encoding="utf-8")
    return _carry_out(invocation, plan, root, suite)


def resume(invocation: Invocation) -> int:
    """Run what a benchmark that was interrupted has not run."""
    root = Path(invocation.options.folder)
    plan = _read_plan(root)
    return _carry_out(invocation, plan, root, _chosen(plan))


def _absolute(name: str | None) -> str:
    """A file or folder as it is found from anywhere; another name as it is."""
    return str(Path(name).resolve()) if name and Path(name).exists() else name or ""


def _absolute_agent(name: str) -> str:
    kind, colon, file = name.partition(":")
    return f"{kind}:{_absolute(file)}" if colon else name


def _read_plan(root: Path) -> Plan:
    try:
        plan: Plan = from_dict(Plan, json.loads((root / CONFIG).read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise SetupError(
            f"{str(root)!r} is no folder of a benchmark: {error}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        ) from error
    return plan


def _chosen(plan: Plan) -> Suite:
    suite = open_suite(plan.suite, Path(plan.data) if plan.data else None)
    items = suite.items
    if plan.only:
        items = tuple(item for item in items if str(item.index) in plan.only)
        missing = set(plan.only) - {str(item.index) for item in items}
        if missing:
            raise SetupError(
                f"The suite {suite.name!r} has no sample {sorted(missing)[0]!r}.",
                hint=f"It has {len(suite.items)}, such as {suite.items[0].index!r}.",
            )
    chosen = items[: plan.limit] if plan.limit else items
    return Suite(suite.name, chosen, suite.concurrency, suite.environ, suite.source)


def _carry_out(invocation: Invocation, plan: Plan, root: Path, suite: Suite) -> int:
    options, stop = invocation.options, Stop()
    with contextlib.ExitStack() as stack:
        laboratory = _laboratory(invocation, stack.enter_context(kernel_of(plan.python)))
        agents = stack.enter_context(_agents(invocation, plan))
        jobs = [
            Job(suite, item, agent, epoch)
            for epoch in range(1, plan.epochs + 1)
            for item in suite.items
            for agent in agents
        ]
        left = pending(root, jobs)
        invocation.console.note(f"{len(left)} of {len(jobs)} samples to run · {root}")
        runner = Runner(
            root,
            lambda job, ends: attempt(job, laboratory, ends),
            Options(options.jobs, options.retries),
            _Shower(invocation),
        )
        with _told_how_to_go_on(invocation, root), stopping(stop):
            runner.run(left, stop)
    return _report(invocation, root, suite, [agent.name for agent in agents])


@contextlib.contextmanager
def _told_how_to_go_on(invocation: Invocation, root: Path) -> Iterator[None]:
    try:
        yield
    except (RunCancelled, KeyboardInterrupt):
        invocation.console.complain(
            f"cellwright: What has ended is kept. Go on: cellwright bench resume {root}"
        )
        raise


class _Shower:
    """Shows how far a benchmark is, now and then."""

    def __init__(self, invocation: Invocation) -> None:
        self._console = invocation.console
        self._shown_at = 0.0

    def __call__(self, progress: Progress) -> None:
        ended = progress.done + progress.failures
        now = time.monotonic()
        if ended < progress.total and now - self._shown_at < NOTE_SECONDS:
            return
        self._shown_at = now
        left = progress.seconds_left or 0.0
        cost = f" · ${progress.cost_dollars:.4f}" if progress.cost_dollars else ""
        failed = f" · {progress.failures} could not be run" if progress.failures else ""
        self._console.note(
            f"{ended}/{progress.total} · {progress.passed} passed{failed} · "
            f"{progress.running} running · {left:.0f} s left{cost}"
        )


def _laboratory(invocation: Invocation, kernel_name: str) -> Laboratory:
    settings = invocation.settings
    return Laboratory(Rooms({}, kernel_name), make_redactor(settings), settings.prices)


@contextlib.contextmanager
def _agents(invocation: Invocation, plan: Plan) -> Iterator[list[Agent]]:
    services: list[Service] = []
    try:
        agents = [open_agent(name) for name in plan.agents]
        for model in plan.models or (("",) if not agents else ()):
            service = open_service(invocation.settings, model)
            services.append(service)
            if service.notice:
                invocation.console.complain(f"cellwright: {service.notice}")
            agents.append(model_agent(service.lm, service.model, service.base_url))
        yield list({agent.name: agent for agent in agents}.values())
    finally:
        for service in services:
            service.close()


def _report(invocation: Invocation, root: Path, suite: Suite, agents: list[str]) -> int:
    summaries = []
    for agent in agents:
        files = ResultFiles(root, agent, suite.name)
        summary = summary_of(files, agent, suite.name)
        files.sum_up(summary.document())
        summaries.append(summary)
    _show(invocation, summaries, root)
    return NOT_COMPLETED if any(summary.failures for summary in summaries) else COMPLETED


def _show(invocation: Invocation, summaries: list[Summary], root: Path) -> None:
    statuses: dict[str, int] = {}
    groups: dict[str, dict[str, int]] = {}
    for summary in summaries:
        for status, count in summary.by_status.items():
            statuses[status] = statuses.get(status, 0) + count
        for name, counts in summary.by_group.items():
            group = groups.setdefault(name, {"passed": 0, "total": 0})
            group["passed"] += counts["passed"]
            group["total"] += counts["total"]
    document = {
        "passed": sum(summary.passed for summary in summaries),
        "total": sum(summary.total for summary in summaries),
        "by_status": statuses,
        "by_group": groups,
        "failures": sum(sum(summary.failures.values()) for summary in summaries),
        "agents": [summary.document() for summary in summaries],
        "folder": str(root),
    }
    headers = ["agent", "<passed>", "<of>", "<share>", "95 %", "not run", "statuses"]
    rows = [_row(summary) for summary in summaries]
    invocation.console.result(document, table(headers, rows))


def _row(summary: Summary) -> list[str]:
    share, statuses = summary.share, summary.by_status.items()
    return [
        summary.agent,
        str(summary.passed),
        str(summary.total),
        f"{share.value:.1%}",
        f"{share.low:.1%} to {share.high:.1%}",
        ", ".join(f"{count} {word}" for word, count in summary.failures.items()) or "0",
        ", ".join(f"{count} {status}" for status, count in statuses),
    ]


def rescore(invocation: Invocation) -> int:
    """Make the checks again on what is recorded; no model is asked."""
    options = invocation.options
    root = Path(options.folder)
    plan = _read_plan(root)
    suite = _chosen(plan)
    own = load_check(Path(options.check)) if options.check else None
    with kernel_of(plan.python) as name:
        laboratory = _laboratory(invocation, name)
        items = {repr(item.index): item for item in suite.items}

        def again(sample: SampleRecord) -> SampleRecord:
            if own is not None:
                return scored_by(own, sample)
            item = items[repr(sample.task.index)]
            try:
                return rescored(sample, item, laboratory.rooms_of(suite), Stop())
            except (KernelError, SetupFailedError) as error:
                raise SetupError(f"The sample {sample.id!r} cannot be run anew: {error}") from error

        folders = sorted(root.glob(f"*/{suite.name}/runs.jsonl"))
        agents = []
        for path in folders:
            agents.append(path.parent.parent.name)
            files = ResultFiles(root, agents[-1], suite.name)
            files.rewrite(again(sample) for sample in files.samples())
    return _report(invocation, root, suite, agents)


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
