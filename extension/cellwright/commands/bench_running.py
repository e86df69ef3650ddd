"""``cellwright bench run`` of a suite: plan, samples here or on a cluster, and results."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import importlib
import json
import os
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.assistants.files import list_assistants, project_folders
from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.author_code import check_code
from cellwright.bench.best_of import make_best_of
from cellwright.bench.checks import needs_judge
from cellwright.bench.choosing import INSTRUCTIONS
from cellwright.bench.environments import InterpreterChoice, absolute_interpreter
from cellwright.bench.isolation import BWRAP, Isolation, check_needs
from cellwright.bench.judge_check import Judging, ask_judge, judge_with
from cellwright.bench.rates import ClusterPace, PacedLM, Paces, Rates, SharedRates
from cellwright.bench.results import ResultFiles, folder_name, list_damaged_lines, read_lines
from cellwright.bench.runner import (
    BenchProgress,
    BestOf,
    Cluster,
    Equipment,
    Executor,
    InfrastructureError,
    Job,
    Laboratory,
    Parcel,
    Runner,
    RunnerOptions,
    SessionMemory,
    ThreadExecutor,
    attempt,
    equipped,
    pending,
    unpacked,
)
from cellwright.bench.scenes import JudgeReply
from cellwright.bench.statistics import Estimate
from cellwright.bench.suites import Suite
from cellwright.bench.suites.opening import open_suite, public_suites, split_form
from cellwright.bench.summary import Place, SuiteSummary, not_run, outcomes, summary_of
from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.records import make_redactor
from cellwright.commands.terminal import cut, one_line, stopping, table
from cellwright.errors import CellwrightError, RunCancelled, SetupError
from cellwright.kernels.gateway import Gateway
from cellwright.kernels.provisioner import MODULES
from cellwright.llm.keys import load_settings
from cellwright.record.choices import ChoiceWay
from cellwright.record.messages import Parameters, cost_of, fill_parameters, price_for
from cellwright.record.values import from_dict, to_dict
from cellwright.session.composer import AssistantChoice, choose_assistant, with_assistant
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunRequest
from cellwright.session.services import Service, ServiceCache, check_budget, open_service
from cellwright.settings import Limits, Mode, Settings
from cellwright.stopping import Stop
from cellwright.tools.packages import check_allowed

# What a benchmark runs, written down beside its results, so that it can be gone on with.


CONFIG = "config.yaml"
AGENTBENCH = "agentbench:"
"""Before the name of a task of AgentBench."""


@dataclass(frozen=True)
class BenchPlan:
    """What is run."""

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
    kernels: str = "fork"
    """``fork`` or ``fresh``."""
    warm: tuple[str, ...] = ()
    """Modules that forked kernels have imported; empty: the usual ones."""
    gateway_url: str = ""
    """Where the kernels run; empty: here."""
    gateway_kernel: str = ""
    environment_names: tuple[str, ...] = ()
    """Variables that the kernels are given beside those that all of them are; never values."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """In place of the samples' own, by the names of ``settings.Limits``."""
    judge: str = ""
    """The model that checks ask; empty: none."""
    tasks: str = ""
    """For a task of AgentBench: its checkout, or the address of a controller."""
    containers: tuple[str, ...] = ()
    """What stands in for containers of such a task, ``IMAGE=HOST:PORT``."""
    mode: Mode = "auto"
    adapter: str = ""
    """How models are talked with at first; empty: as is set."""
    assistant: str = ""
    """As whom they answer; empty: as nobody."""
    effort: str = ""
    """How much they think; empty: as they usually do."""
    allow_install: tuple[str, ...] = ()
    """Packages that they may install."""
    isolation: str = ""
    """What keeps the kernels apart; empty: nothing."""
    image: str = ""
    """Of their containers."""
    network: bool = False
    """Whether those that are kept apart may reach a network."""
    best_of: int = 0
    """How often each sample is attempted, of which one attempt is its result; 0: once."""
    choose: ChoiceWay = "vote"
    """How it is chosen."""
    total_budget_dollars: float | None = None
    """What all samples together may cost; None: as much as they do."""

    @property
    def kernel_choice(self) -> InterpreterChoice:
        """Which kernels the samples run in, where they run here."""
        is_forked, apart = self.kernels == "fork", self.kept_apart
        return InterpreterChoice(self.python, is_forked, self.warm or MODULES, apart)

    @property
    def kept_apart(self) -> Isolation:
        """How the kernels are kept apart from the rest of the machine."""
        return Isolation(self.isolation, self.image, self.network)


def plan_of(options: argparse.Namespace) -> BenchPlan:
    """The plan that the options of ``bench run`` mean.

    Raises:
        SetupError: There is nothing to choose from.
    """
    if (options.best_of or 0) < 2 and (options.best_of or options.choose):
        raise SetupError("There is one attempt to choose from.", hint="Add --best-of 4.")
    return BenchPlan(
        suite=_absolute_suite(options.suite),
        data=_absolute(options.data),
        agents=tuple(_absolute_agent(name) for name in options.agent),
        models=tuple(options.model),
        epochs=options.epochs,
        limit=options.limit or 0,
        only=tuple(options.only),
        python=absolute_interpreter(options.python or ""),
        kernels=options.kernels,
        warm=tuple(options.warm),
        gateway_url=options.gateway_url or "",
        gateway_kernel=options.gateway_kernel or "",
        environment_names=tuple(options.env),
        limits=_limits(options),
        judge=options.judge or "",
        tasks=_absolute(options.tasks),
        containers=tuple(options.container),
        mode=options.mode,
        adapter=options.adapter or "",
        assistant=options.assistant,
        effort=options.effort or "",
        allow_install=check_allowed(options.allow_install),
        isolation=options.isolation or "",
        image=options.image or "",
        network=options.network,
        best_of=options.best_of or 0,
        choose=options.choose or "vote",
        total_budget_dollars=options.total_budget,
    )


def write_plan(root: Path, plan: BenchPlan) -> None:
    """Write it into the folder of the results."""
    root.mkdir(parents=True, exist_ok=True)
    # JSON is YAML as well.
    (root / CONFIG).write_text(json.dumps(to_dict(plan), indent=2) + "\n", encoding="utf-8")


def keep_plan(root: Path, plan: BenchPlan) -> None:
    """Write it down where another one stands, or none yet."""
    if not (root / CONFIG).exists() or read_plan(root) != plan:
        write_plan(root, plan)


def read_plan(root: Path) -> BenchPlan:
    """The plan of a benchmark.

    Raises:
        SetupError: The folder is none of a benchmark.
    """
    try:
        plan: BenchPlan = from_dict(
            BenchPlan, json.loads((root / CONFIG).read_text(encoding="utf-8"))
        )
    except (OSError, ValueError) as error:
        raise SetupError(
            f"{str(root)!r} is no folder of a benchmark: {error}.",
            hint="Name the folder that `cellwright bench run` wrote.",
        ) from error
    return plan


def chosen_suite(plan: BenchPlan) -> Suite:
    """The samples of the plan.

    Raises:
        SetupError: There is no such suite or sample, it has no checks of ours, or code of its
            author is no Python.
    """
    if plan.suite.startswith(AGENTBENCH):
        raise SetupError(
            f"{plan.suite!r} has no checks.", hint="The task sums itself up, in overall.json."
        )
    suite = choose_items(plan, open_suite(plan.suite, Path(plan.data) if plan.data else None))
    if plan.suite not in public_suites():
        is_elsewhere = bool(plan.gateway_url) or plan.isolation not in ("", BWRAP)
        check_code(suite, None if is_elsewhere else plan.python)
    return suite


def choose_items(plan: BenchPlan, suite: Suite) -> Suite:
    """The suite with the samples of the plan.

    Raises:
        SetupError: There is no such sample.
    """
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
    if plan.limits:
        chosen = tuple(
            replace(item, limits=replace(item.limits, **plan.limits))  # type: ignore[arg-type]
            for item in chosen
        )
    return replace(suite, items=chosen)


def _limits(options: argparse.Namespace) -> dict[str, float]:
    given = {
        "step_limit": options.max_steps,
        "cell_limit": options.max_cells,
        "token_limit": options.max_tokens,
        "cost_limit_dollars": options.budget,
        "wall_seconds": options.max_seconds,
        "output_limit_bytes": options.max_output,
        "memory_limit_bytes": options.max_memory,
    }
    return {name: value for name, value in given.items() if value is not None}


def _absolute(name: str | None) -> str:
    """A file or folder as it is found from anywhere; another name as it is."""
    return str(Path(name).resolve()) if name and Path(name).exists() else name or ""


def _absolute_suite(name: str) -> str:
    form, path = split_form(name)
    if form:
        file, mark, task = path.partition(".py@")
        return (
            f"{form}{_absolute(file + '.py').removesuffix('.py')}{mark}{task}"
            if mark
            else (form + _absolute(path))
        )
    return name if name in public_suites() else _absolute(name)


def _absolute_agent(name: str) -> str:
    kind, colon, file = name.partition(":")
    return f"{kind}:{_absolute(file)}" if colon else name


# One sample on a worker of a cluster, with the worker's own settings, service and key.


GATEWAY_TOKEN = "CELLWRIGHT_GATEWAY_TOKEN"
Key = tuple[Equipment, tuple[tuple[str, str], ...]]


def run_parcel(parcel: Parcel, equipment: Equipment) -> Mapping[str, Any]:
    """Run a sample; ``dask_cluster.Work``."""
    try:
        laboratory = workshop.laboratory(equipment, parcel.environ)
        if parcel.judge:
            judge = workshop.judge(parcel.judge, parcel.shared)
            laboratory = replace(laboratory, rooms=replace(laboratory.rooms, judge=judge))
        known = parcel.replies is not None
        agent = None if known else workshop.agent(parcel.model, parcel.shared)
        with unpacked(parcel, agent) as job:
            return {"sample": attempt(job, laboratory, Stop()).to_dict()}
    except InfrastructureError as error:
        return {
            "failure": error.word,
            "text": str(error),
            "retryable": error.retryable,
            "cost_dollars": error.cost_dollars,
        }
    except CellwrightError as error:
        return {"failure": "START_FAILED", "text": str(error), "retryable": False}


def _worker_folders() -> Iterator[str]:
    """Where Dask puts samples, with what they expect, that do not fit into a worker's memory."""
    with contextlib.suppress(ImportError, ValueError):  # this is no worker
        worker = importlib.import_module("distributed").get_worker()
        yield str(Path(worker.local_directory).parent)


class Workshop:
    """What all samples of a worker's process share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept = contextlib.ExitStack()
        self._laboratories: dict[Key, Laboratory] = {}
        self._services: dict[str, Service] = {}
        self._paces = Paces()

    def laboratory(self, equipment: Equipment, environ: Mapping[str, str]) -> Laboratory:
        """The kernels that were chosen, warmed once."""
        if equipment.gateway is not None:
            token = os.environ.get(GATEWAY_TOKEN, "")
            equipment = replace(equipment, gateway=replace(equipment.gateway, token=token))
        key = (equipment, tuple(sorted(environ.items())))
        with self._lock:
            if key not in self._laboratories:
                self._end_with_the_process()
                settings = load_settings()
                hidden = (*equipment.hidden, str(settings.home), *_worker_folders())
                equipment = replace(equipment, hidden=hidden)
                rooms, _ = self._kept.enter_context(equipped(equipment, environ))
                self._laboratories[key] = Laboratory(rooms, make_redactor(settings), settings)
            return self._laboratories[key]

    def agent(self, model: str, shared: SharedRates | None) -> Agent:
        """A model as the settings here reach it."""
        service = self._service(model)
        lm = self._paced(service, shared)
        return model_agent(lm, service.model, service.base_url, is_free=service.is_free)

    def judge(self, model: str, shared: SharedRates | None) -> Judging:
        """The model that checks ask, as the settings here reach it."""
        service = self._service(model)
        return judge_with(self._paced(service, shared), Parameters(service.model))

    def _service(self, model: str) -> Service:
        with self._lock:
            if model not in self._services:
                self._end_with_the_process()
                self._services[model] = service = open_service(load_settings(), model)
                self._kept.callback(service.close)
            return self._services[model]

    def _paced(self, service: Service, shared: SharedRates | None) -> PacedLM:
        if shared is not None:
            return PacedLM(service.lm, ClusterPace(shared, service.model))
        return self._paces.paced(service.lm, service.model)

    def _end_with_the_process(self) -> None:
        if not self._laboratories and not self._services:
            atexit.register(self._kept.close)


workshop = Workshop()


# What a benchmark came to: summed up, written down and shown.


HEADERS = ["agent", "<passed>", "<of>", "<share>", "95 %", "not run", "statuses"]
POINTS_AT = 5
"""The column before which points stand, where some earn a part of them."""
SHOWN = 3
LINE_CHARACTERS = 160


def report(
    invocation: Invocation,
    root: Path,
    suite: str,
    agents: list[str],
    planned: Collection[Place] = (),
) -> int:
    """Sum up the results of agents at a suite, held against the plan; the exit code."""
    summaries = []
    for agent in agents:
        files = ResultFiles(root, agent, suite)
        tell_damaged(invocation, files.runs)
        summary = summary_of(files, agent, suite, planned)
        files.sum_up(summary.document())
        summaries.append(summary)
        _tell(invocation, summary, files)
    rows, headers = [_row(summary) for summary in summaries], list(HEADERS)
    if any(summary.points.value != summary.share.value for summary in summaries):
        headers[POINTS_AT:POINTS_AT] = ["<points>", "95 %"]
        for row, summary in zip(rows, summaries, strict=True):
            row[POINTS_AT:POINTS_AT] = _numbers(summary.points)
    below = [*map(_describe_checks, summaries), *map(_describe_best_of, summaries)]
    text = "\n".join([table(headers, rows), *filter(None, below)])
    invocation.console.result(_document(summaries, root), text)
    is_whole = not any(summary.failures or summary.not_begun for summary in summaries)
    return COMPLETED if is_whole else NOT_COMPLETED


def tell_damaged(invocation: Invocation, runs: Path) -> None:
    """Say which lines of a file of samples are left out: they are in no number."""
    lines = list_damaged_lines(runs)
    if lines:
        first, more = ", ".join(map(str, lines[:SHOWN])), len(lines) - SHOWN
        told = f"{first} and {more} more" if more > 0 else first
        invocation.console.complain(
            f"cellwright: {str(runs)!r} is damaged: what cannot be read is left out (line {told})."
        )


def _tell(invocation: Invocation, summary: SuiteSummary, files: ResultFiles) -> None:
    """The first samples that did not pass, or could not be run, with why."""
    lost, failed = summary.not_passed, not_run(files)
    for word, lines, path in (("not passed", lost, files.runs), ("not run", failed, files.errors)):
        count = summary.total - summary.passed if lines is lost else len(lines)
        if lines:
            invocation.console.note(f"\n{summary.agent}: {count} {word}, all in {path}")
        for line in lines[:SHOWN]:
            invocation.console.note(f"  {cut(one_line(line), LINE_CHARACTERS)}")


def _document(summaries: list[SuiteSummary], root: Path) -> dict[str, Any]:
    statuses: dict[str, int] = {}
    groups: dict[str, dict[str, int]] = {}
    for summary in summaries:
        for status, count in summary.by_status.items():
            statuses[status] = statuses.get(status, 0) + count
        for name, counts in summary.by_group.items():
            group = groups.setdefault(name, {"passed": 0, "total": 0})
            group["passed"] += counts["passed"]
            group["total"] += counts["total"]
    return {
        "passed": sum(summary.passed for summary in summaries),
        "total": sum(summary.total for summary in summaries),
        "by_status": statuses,
        "by_group": groups,
        "failures": sum(sum(summary.failures.values()) for summary in summaries),
        "not_begun": sum(summary.not_begun for summary in summaries),
        "agents": [summary.document() for summary in summaries],
        "folder": str(root),
    }


def _numbers(estimate: Estimate) -> list[str]:
    return [f"{estimate.value:.1%}", f"{estimate.low:.1%} to {estimate.high:.1%}"]


def _describe_checks(summary: SuiteSummary) -> str:
    """The mean value of each check; empty: one check says what the share says."""
    each = [(name, *_numbers(found)) for name, found in summary.by_check.items()]
    said = ", ".join(f"{name} {value} ({interval})" for name, value, interval in each)
    return f"{summary.agent}, by check: {said}" if said else ""


def _describe_best_of(summary: SuiteSummary) -> str:
    """The score beside what one attempt passes and what any of them does; empty: there was one."""
    best = summary.best_of
    if best is None:
        return ""
    one, any_of = best.at_k.get("mean"), best.at_k.get(f"pass@{best.count}")
    beside = [f"one attempt (pass@1) {one.value:.1%}"] if one is not None else []
    beside += [f"any of them (pass@{best.count}) {any_of.value:.1%}"] if any_of is not None else []
    said = ", ".join([f"{best.note} {summary.share.value:.1%}", *beside])
    return f"{summary.agent}: {said}"


def _row(summary: SuiteSummary) -> list[str]:
    statuses = summary.by_status.items()
    return [
        summary.agent,
        str(summary.passed),
        str(summary.total),
        *_numbers(summary.share),
        describe_not_run(summary.failures, summary.not_begun),
        ", ".join(f"{count} {status}" for status, count in statuses),
    ]


def describe_not_run(failures: Mapping[str, int], not_begun: int) -> str:
    """What of the plan has no result, for a table."""
    said = [f"{count} {word}" for word, count in failures.items()]
    return ", ".join([*said, *([f"{not_begun} not begun"] if not_begun else [])]) or "0"


NOTE_SECONDS = 2.0


@contextlib.contextmanager
def open_laboratory(
    invocation: Invocation, plan: BenchPlan, suite: Suite, root: Path, paces: Paces | None = None
) -> Iterator[Laboratory]:
    """What samples of a suite run in, here; ``root`` is the folder of the results."""
    check_needs(suite, plan.kept_apart)
    settings = invocation.settings
    token = os.environ.get(GATEWAY_TOKEN, "")
    with (
        equipped(_equipment(plan, suite, root, token), suite.environ) as (rooms, notice),
        _judging(invocation, plan, paces or Paces()) as judge,
    ):
        if notice:
            invocation.console.complain(f"cellwright: {notice}")
        # What was run before stands in the record.
        hidden = (*rooms.hidden, str(settings.home))
        rooms = replace(rooms, judge=judge, hidden=hidden)
        yield Laboratory(rooms, make_redactor(settings), settings)


def _list_copies(suite: Suite, root: Path) -> Iterator[Path]:
    """Where else stands what samples expect: other results, old versions of the suite's files."""
    yield from (path.resolve().parent for path in root.parent.glob(f"*/{CONFIG}"))
    for folder in {path.resolve().parent for path in suite.hidden}:
        yield folder / ".ipynb_checkpoints"
        yield from (above / ".git" for above in (folder, *folder.parents))


@contextlib.contextmanager
def _judging(invocation: Invocation, plan: BenchPlan, paces: Paces) -> Iterator[Judging | None]:
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


def _equipment(plan: BenchPlan, suite: Suite, root: Path, token: str = "") -> Equipment:
    gateway = None
    if plan.gateway_url and plan.isolation:
        raise SetupError(
            "--isolation is of no use behind a gateway.", hint="Start the gateway in a container."
        )
    if plan.gateway_url:
        gateway = Gateway(plan.gateway_url, plan.gateway_kernel, token)
    # What samples expect stands in the suite and in the results.
    hidden = (root.resolve(), *suite.hidden, *_list_copies(suite, root))
    return Equipment(
        plan.kernel_choice,
        gateway,
        plan.environment_names,
        tuple(map(str, hidden)),
        bool(plan.allow_install),
    )


def make_rates(invocation: Invocation) -> Rates:
    """How often a model may be asked."""
    options = invocation.options
    return Rates(options.requests_per_minute, options.tokens_per_minute)


@dataclass(frozen=True)
class _Shared:
    """What all samples of a benchmark share here."""

    paces: Paces
    memory: SessionMemory


@contextlib.contextmanager
def _choosing(
    invocation: Invocation, plan: BenchPlan, suite: Suite, shared: _Shared
) -> Iterator[BestOf | None]:
    """How the best of several attempts is chosen, where there are several.

    Raises:
        SetupError: It cannot be chosen so.
    """
    if not plan.best_of:
        yield None
        return
    if plan.choose != "judge":
        yield make_best_of(plan.best_of, plan.choose, shared.memory)
        return
    if not plan.judge:
        raise SetupError("--choose judge needs a model.", hint="Name one: --judge MODEL")
    prices = known_prices(invocation.settings)
    with contextlib.closing(open_service(invocation.settings, plan.judge)) as service:
        lm, model = shared.paces.paced(service.lm, service.model), Parameters(service.model)
        price = None if service.is_free else price_for(service.model, prices)

        def ask(question: str, stop: Stop) -> JudgeReply:
            reply = ask_judge(lm, model, INSTRUCTIONS, question, stop)
            cost = None if price is None else cost_of(reply.usage, price)
            return replace(reply, cost_dollars=cost)

        yield make_best_of(plan.best_of, plan.choose, shared.memory, ask)


@contextlib.contextmanager
def _executor(
    invocation: Invocation, plan: BenchPlan, suite: Suite, root: Path, shared: _Shared
) -> Iterator[Executor]:
    """Where samples are run."""
    options = invocation.options
    if options.executor == "dask" and suite.is_in_order:
        raise SetupError(
            f"In {suite.name!r} samples go on from one another, so they run in one process.",
            hint="Leave out --executor dask.",
        )
    if options.executor == "dask":
        check_needs(suite, plan.kept_apart)
        cluster = Cluster(options.scheduler or "", make_rates(invocation))
        with contextlib.closing(cluster):
            yield cluster.executor(run_parcel, _equipment(plan, suite, root), plan.judge)
        return
    if options.scheduler:
        raise SetupError(
            f"--scheduler {options.scheduler!r} is of no use here.", hint="Add --executor dask."
        )
    with open_laboratory(invocation, plan, suite, root, shared.paces) as opened:
        laboratory = replace(opened, memory=shared.memory)
        yield ThreadExecutor(lambda job, stop: attempt(job, laboratory, stop))


def run_suite(invocation: Invocation, plan: BenchPlan, root: Path) -> int:
    """Run what has not been run of a plan; the exit code.

    Raises:
        SetupError: It cannot be run as it is.
    """
    suite = chosen_suite(plan)
    _check_judge(plan, suite)
    paces = Paces(make_rates(invocation))
    shared = _Shared(paces, _remembered(root, suite))
    with contextlib.ExitStack() as stack:
        best_of = stack.enter_context(_choosing(invocation, plan, suite, shared))
        executor = stack.enter_context(_executor(invocation, plan, suite, root, shared))
        agents = stack.enter_context(open_agents(invocation, plan, suite, paces))
        keep_plan(root, plan)  # now that it can be run: a mistake leaves no folder
        jobs = list_jobs(plan, suite, agents)
        lost = run_left(
            invocation, plan, root, jobs, partial(Runner, root, executor, best_of=best_of)
        )
    names = [agent.name for agent in agents]
    code = report(invocation, root, suite.name, names, places_of(plan, suite))
    return NOT_COMPLETED if lost > 0 else code


def _check_judge(plan: BenchPlan, suite: Suite) -> None:
    """Refuse checks that nobody can make before the first sample is paid for."""
    judged = [item.index for item in suite.items if needs_judge(item.checks)]
    if judged and not plan.judge:
        raise SetupError(
            f"A check of the sample {judged[0]!r} needs a model that judges.",
            hint="Name one: --judge MODEL",
        )


def run_left(
    invocation: Invocation,
    plan: BenchPlan,
    root: Path,
    jobs: list[Job],
    make_runner: Callable[[RunnerOptions, Shower], Runner],
) -> int:
    """Run what has no results yet; how many samples ended and are not there any more."""
    options, stop, left = invocation.options, Stop(), pending(root, jobs)
    invocation.console.note(f"{len(left)} of {len(jobs)} samples to run · {root}")
    budget = plan.total_budget_dollars
    spent = 0.0 if budget is None else _spent(root, jobs)
    left_dollars = None if budget is None else budget - spent
    wanted = RunnerOptions(options.jobs or 0, options.retries, cost_limit_dollars=left_dollars)
    runner = make_runner(wanted, Shower(invocation))
    with tell_how_to_go_on(invocation, root), stopping(stop):
        ended = runner.run(left, stop)
    if ended.done + ended.failures < ended.total:
        invocation.console.complain(
            f"cellwright: The samples cost ${spent + ended.cost_dollars:.4f} of "
            f"${budget:.4f}, so no more were begun. Go on with more: "
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
    return lost


def _spent(root: Path, jobs: list[Job]) -> float:
    """What the samples cost by now, attempts that were not ended or could not be run included."""
    places = {(job.agent.name, job.suite.name) for job in jobs}
    files = [ResultFiles(root, *place) for place in places]
    cost = sum(outcome.cost_dollars or 0.0 for each in files for outcome in outcomes(each))
    for each in files:
        ended = each.finished()
        failures = (line.get("cellwright") or {} for line in read_lines(each.errors))
        cost += sum(float(failure.get("cost_dollars", 0.0)) for failure in failures)
        cost += sum(
            attempt.cost_dollars or 0.0
            for attempt in each.list_attempts()
            if attempt.id.rpartition(":")[0] not in ended
        )
    return cost


def places_of(plan: BenchPlan, suite: Suite) -> set[Place]:
    """The samples that each agent of a plan is given."""
    epochs = range(1, plan.epochs + 1)
    return {(repr(item.index), epoch) for item in suite.items for epoch in epochs}


def list_jobs(plan: BenchPlan, suite: Suite, agents: list[Agent]) -> list[Job]:
    """All samples of a plan, each as often as it says and for each agent."""
    return [
        Job(suite, item, agent, epoch)
        for epoch in range(1, plan.epochs + 1)
        for item in suite.items
        for agent in agents
    ]


@contextlib.contextmanager
def tell_how_to_go_on(invocation: Invocation, root: Path) -> Iterator[None]:
    """Say it where what runs meanwhile is interrupted."""
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

    def __call__(self, progress: BenchProgress) -> None:
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
def open_agents(
    invocation: Invocation, plan: BenchPlan, suite: Suite, paces: Paces
) -> Iterator[list[Agent]]:
    """Who answers."""
    request = request_of(plan, invocation.settings)
    usual = request.assistant.model
    with contextlib.closing(ServiceCache()) as services:
        agents = [open_agent(name) for name in dict.fromkeys(plan.agents)]
        for model in dict.fromkeys(plan.models) or ((usual,) if not agents else ()):
            service = services.get(invocation.settings, model)
            if service.notice:
                told = f"cellwright: {service.notice} {service.notice_action}"
                invocation.console.complain(told.rstrip())
            _check_budgets(invocation, plan, suite, service)
            lm = paces.paced(service.lm, service.model)
            agents.append(model_agent(lm, service.model, service.base_url, is_free=service.is_free))
        yield [replace(agent, request=request) for agent in _distinct(agents)]


def request_of(plan: BenchPlan, settings: Settings) -> RunRequest:
    """How models are asked; what an assistant says counts as elsewhere.

    Raises:
        SetupError: There is no such assistant.
    """
    request = RunRequest(
        "",
        fill_parameters(Parameters(""), {"reasoning_effort": plan.effort or None}),
        mode=plan.mode,
        adapter=plan.adapter,
        assistant_name=plan.assistant,
        installable=plan.allow_install,
    )
    if not plan.assistant:
        return request
    listed = list_assistants(project_folders(Path.cwd()), settings.home)
    chosen = choose_assistant(request, AssistantChoice(listed))
    asked = with_assistant(request, chosen)
    return replace(asked, adapter=plan.adapter or asked.adapter)


def _check_budgets(invocation: Invocation, plan: BenchPlan, suite: Suite, service: Service) -> None:
    """Refuse budgets that could not be kept before the first sample is paid for."""
    prices = known_prices(invocation.settings)
    for limits in {item.limits for item in suite.items}:
        check_budget(service, limits, prices)
    check_budget(service, Limits(cost_limit_dollars=plan.total_budget_dollars), prices)


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
