"""``cellwright bench run`` and ``resume``: samples on threads here, or on a cluster."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.attempt import Job, Laboratory, attempt
from cellwright.bench.dask_cluster import Cluster
from cellwright.bench.executors import Equipment, equipped
from cellwright.bench.judge_check import Judging, judge_with
from cellwright.bench.rates import Paces, Rates
from cellwright.bench.results import ResultFiles, folder_name
from cellwright.bench.runner import Attempt, Options, Progress, Runner, pending
from cellwright.bench.session_memory import SessionMemory
from cellwright.bench.suites import Suite
from cellwright.bench.summary import outcomes
from cellwright.commands import NOT_COMPLETED, Invocation
from cellwright.commands.bench_plan import (
    CONFIG,
    Plan,
    chosen_suite,
    plan_of,
    read_plan,
    write_plan,
)
from cellwright.commands.bench_results import report
from cellwright.commands.bench_worker import GATEWAY_TOKEN, run_parcel
from cellwright.commands.interrupts import stopping
from cellwright.commands.records import make_redactor
from cellwright.errors import RunCancelled, SetupError
from cellwright.kernels.gateway import Gateway
from cellwright.record.prompts import Parameters
from cellwright.session.services import Service, open_service
from cellwright.stopping import Stop

NOTE_SECONDS = 2.0
LOCAL_WORKERS = 2


def run(invocation: Invocation) -> int:
    """Run a suite."""
    options = invocation.options
    plan = plan_of(options)
    root = Path(options.output or f"runs/{time.strftime('%Y-%m-%d-%H%M%S')}")
    if (root / CONFIG).exists():
        raise SetupError(
            f"{str(root)!r} holds a benchmark already.",
            hint=f"Go on with it: cellwright bench resume {root}",
        )
    return _carry_out(invocation, plan, root, chosen_suite(plan))


def resume(invocation: Invocation) -> int:
    """Run what a benchmark that was interrupted has not run."""
    root = Path(invocation.options.folder)
    plan = read_plan(root)
    return _carry_out(invocation, plan, root, chosen_suite(plan))


@contextlib.contextmanager
def open_laboratory(
    invocation: Invocation, plan: Plan, suite: Suite, root: Path, paces: Paces | None = None
) -> Iterator[Laboratory]:
    """What samples of a suite run in, here; ``root`` is the folder of the results."""
    settings = invocation.settings
    token = os.environ.get(GATEWAY_TOKEN, "")
    with (
        equipped(_equipment(plan, token), suite.environ) as (rooms, notice),
        _judging(invocation, plan, paces or Paces()) as judge,
    ):
        if notice:
            invocation.console.complain(f"cellwright: {notice}")
        rooms = replace(rooms, judge=judge)
        memory = _remembered(root, suite)
        yield Laboratory(rooms, make_redactor(settings), settings.prices, memory)


@contextlib.contextmanager
def _judging(invocation: Invocation, plan: Plan, paces: Paces) -> Iterator[Judging | None]:
    """The model that checks ask, where one is named."""
    if not plan.judge:
        yield None
        return
    with contextlib.closing(open_service(invocation.settings, plan.judge)) as service:
        yield judge_with(paces.paced(service.lm, service.model), Parameters(service.model))


def _remembered(root: Path, suite: Suite) -> SessionMemory:
    """What agents did so far, where samples go on from one another."""
    memory = SessionMemory()
    for path in root.glob(f"*/{folder_name(suite.name)}/runs.jsonl") if suite.is_in_order else ():
        for sample in ResultFiles(root, path.parent.parent.name, suite.name).samples():
            memory.note(sample)
    return memory


def _equipment(plan: Plan, token: str = "") -> Equipment:
    gateway = None
    if plan.gateway_url:
        gateway = Gateway(plan.gateway_url, plan.gateway_kernel, token)
    return Equipment(plan.kernel_choice, gateway, plan.environment_names)


def _rates(invocation: Invocation) -> Rates:
    options = invocation.options
    return Rates(options.requests_per_minute, options.tokens_per_minute)


@dataclass(frozen=True)
class _Executor:
    """Where samples are run."""

    attempt: Attempt
    workers: int


@contextlib.contextmanager
def _executor(
    invocation: Invocation, plan: Plan, suite: Suite, root: Path, paces: Paces
) -> Iterator[_Executor]:
    options = invocation.options
    if options.executor == "dask" and suite.is_in_order:
        raise SetupError(
            f"In {suite.name!r} samples go on from one another, so they run in one process.",
            hint="Leave out --executor dask.",
        )
    if options.executor == "dask":
        cluster = Cluster(options.scheduler or "", _rates(invocation))
        with contextlib.closing(cluster):
            work = cluster.attempts(run_parcel, _equipment(plan), plan.judge)
            yield _Executor(work, options.jobs or cluster.thread_count())
        return
    if options.scheduler:
        raise SetupError(
            f"--scheduler {options.scheduler!r} is of no use here.", hint="Add --executor dask."
        )
    with open_laboratory(invocation, plan, suite, root, paces) as laboratory:
        yield _Executor(
            lambda job, stop: attempt(job, laboratory, stop), options.jobs or LOCAL_WORKERS
        )


def _carry_out(invocation: Invocation, plan: Plan, root: Path, suite: Suite) -> int:
    options, stop, paces = invocation.options, Stop(), Paces(_rates(invocation))
    with contextlib.ExitStack() as stack:
        executor = stack.enter_context(_executor(invocation, plan, suite, root, paces))
        agents = stack.enter_context(_agents(invocation, plan, paces))
        if not (root / CONFIG).exists():  # now that it can be run: a mistake leaves no folder
            write_plan(root, plan)
        left = pending(root, _jobs(plan, suite, agents))
        count = plan.epochs * len(suite.items) * len(agents)
        invocation.console.note(f"{len(left)} of {count} samples to run · {root}")
        spent = _spent(root, suite, agents) if options.total_budget else 0.0
        budget = None if options.total_budget is None else options.total_budget - spent
        wanted = Options(executor.workers, options.retries, cost_limit_dollars=budget)
        runner = Runner(root, executor.attempt, wanted, Shower(invocation))
        with _told_how_to_go_on(invocation, root), stopping(stop):
            ended = runner.run(left, stop)
        if ended.done + ended.failures < ended.total:
            invocation.console.complain(
                f"cellwright: The samples cost ${spent + ended.cost_dollars:.4f} of "
                f"${options.total_budget:.4f}, so no more were begun. Go on with more: "
                f"cellwright bench resume {root} --total-budget USD"
            )
    lost = ended.done - (len(left) - len(pending(root, left)))
    if lost > 0:
        # Whoever deleted the folder deleted what says how to go on, too.
        write_plan(root, plan)
        invocation.console.complain(
            f"cellwright: {lost} of {ended.done} samples that ended are not in {str(root)!r} any "
            f"more: it was deleted meanwhile. Run them again: cellwright bench resume {root}"
        )
    code = report(invocation, root, suite.name, [agent.name for agent in agents])
    return NOT_COMPLETED if lost > 0 else code


def _spent(root: Path, suite: Suite, agents: list[Agent]) -> float:
    """What the samples cost that were run before."""
    found = (outcomes(ResultFiles(root, agent.name, suite.name)) for agent in agents)
    return sum(outcome.cost_dollars or 0.0 for some in found for outcome in some)


def _jobs(plan: Plan, suite: Suite, agents: list[Agent]) -> Iterator[Job]:
    for epoch in range(1, plan.epochs + 1):
        for item in suite.items:
            for agent in agents:
                yield Job(suite, item, agent, epoch)


@contextlib.contextmanager
def _told_how_to_go_on(invocation: Invocation, root: Path) -> Iterator[None]:
    try:
        yield
    except (RunCancelled, KeyboardInterrupt):
        invocation.console.complain(
            f"cellwright: What has ended is kept. Go on: cellwright bench resume {root}"
        )
        raise


class Shower:
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
        left = "" if progress.seconds_left is None else f" · {progress.seconds_left:.0f} s left"
        cost = f" · ${progress.cost_dollars:.4f}" if progress.cost_dollars else ""
        failed = f" · {progress.failures} could not be run" if progress.failures else ""
        self._console.note(
            f"{ended}/{progress.total} · {progress.passed} passed{failed} · "
            f"{progress.running} running{left}{cost}"
        )


@contextlib.contextmanager
def _agents(invocation: Invocation, plan: Plan, paces: Paces) -> Iterator[list[Agent]]:
    services: list[Service] = []
    try:
        agents = [open_agent(name) for name in dict.fromkeys(plan.agents)]
        for model in dict.fromkeys(plan.models) or (("",) if not agents else ()):
            service = open_service(invocation.settings, model)
            services.append(service)
            if service.notice:
                invocation.console.complain(f"cellwright: {service.notice}")
            paced = paces.paced(service.lm, service.model)
            agents.append(model_agent(paced, service.model, service.base_url))
        yield _distinct(agents)
    finally:
        for service in services:
            service.close()


def _distinct(agents: list[Agent]) -> list[Agent]:
    """The agents; each has a folder of results, so no two may have one name.

    Raises:
        SetupError: Two do.
    """
    seen: set[str] = set()
    for agent in agents:
        if folder_name(agent.name) in seen:
            raise SetupError(
                f"Two agents are named {agent.name!r}.",
                hint="Give one of the files another name, or run them with two commands.",
            )
        seen.add(folder_name(agent.name))
    return agents
