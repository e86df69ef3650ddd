"""``cellwright bench run`` and ``resume``: a suite of ours, or a task of AgentBench."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.bench.agentbench.assigning import (
    ModelTurns,
    TaskClient,
    run_foreign_sample,
    sum_up_task,
)
from cellwright.bench.agentbench.checkout import open_task
from cellwright.bench.agentbench.serving import LOCAL, TaskServer, TaskWorker
from cellwright.bench.agents import Agent
from cellwright.bench.rates import Paces
from cellwright.bench.results import ResultFiles
from cellwright.bench.runner import Job, Runner
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.summary import count_not_begun, open_failures
from cellwright.bench.task import AgentOutput, ChatHistoryItem
from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.bench_running import (
    AGENTBENCH,
    CONFIG,
    SHOWN,
    BenchPlan,
    choose_items,
    describe_not_run,
    keep_plan,
    list_jobs,
    make_rates,
    open_agents,
    places_of,
    plan_of,
    read_plan,
    run_left,
    run_suite,
)
from cellwright.commands.terminal import cut, one_line, stopping, table
from cellwright.errors import RunCancelled, SetupError
from cellwright.exports.sample import SampleRecord
from cellwright.record.messages import price_for
from cellwright.session.prices import known_prices
from cellwright.stopping import Stop

PARENT = "AGENTBENCH_SERVED_FOR"
"""Names the process that a served task ends with."""
HEADERS = ["agent", "<of>", "not run", "statuses"]
LINE_CHARACTERS = 160
LOOK_SECONDS = 1.0
RELEASE_SECONDS = 60.0
"""A task may take so long to let go of what it holds, such as containers."""
SERVE = "import sys; from cellwright.cli import main; sys.exit(main())"
ANY = Item(0, "")
"""The sample of whoever is asked from outside: nobody says which it is."""


def run(invocation: Invocation) -> int:
    """Run a suite, or serve a task of one."""
    options = invocation.options
    plan = plan_of(options)
    if options.serve is not None:
        if not plan.suite.startswith(AGENTBENCH):
            raise SetupError(f"{plan.suite!r} cannot be served.", hint="Name agentbench:TASK.")
        return _serve(invocation, plan)
    root = Path(options.output or f"runs/{time.strftime('%Y-%m-%d-%H%M%S')}")
    if (root / CONFIG).exists():
        raise SetupError(
            f"{str(root)!r} holds a benchmark already.",
            hint=f"Go on with it: cellwright bench resume {root}",
        )
    return _run_plan(invocation, plan, root)


def resume(invocation: Invocation) -> int:
    """Run what a benchmark that was interrupted has not run."""
    options = invocation.options
    root = Path(options.folder)
    plan = read_plan(root)
    if options.total_budget is not None:
        plan = replace(plan, total_budget_dollars=options.total_budget)
    return _run_plan(invocation, plan, root)


def _run_plan(invocation: Invocation, plan: BenchPlan, root: Path) -> int:
    is_foreign = plan.suite.startswith(AGENTBENCH)
    return (_run_task if is_foreign else run_suite)(invocation, plan, root)


def _run_task(invocation: Invocation, plan: BenchPlan, root: Path) -> int:
    _check(plan, invocation)
    invocation.console.note(f"Making {plan.suite}")  # a task may try for ever to reach something
    with _served(plan) as client:
        suite = choose_items(plan, _suite_of(client))
        return _carry_out(invocation, plan, root, client, suite)


def _check(plan: BenchPlan, invocation: Invocation) -> None:
    given = [
        *(f"--{name}" for name in ("gateway_url", "judge", "data") if getattr(plan, name)),
        *(f"the limit {name}" for name in plan.limits),
        *(f"--{name}" for name in ("adapter", "assistant", "effort") if getattr(plan, name)),
        *(["--best-of"] if plan.best_of else []),
        *(["--executor dask"] if invocation.options.executor == "dask" else []),
    ]
    if given:
        raise SetupError(
            f"{given[0].replace('_', '-')} is of no use here.",
            hint="A task of AgentBench has its own kernels, limits and scores.",
        )


def _suite_of(client: TaskClient) -> Suite:
    items = tuple(Item(index, "") for index in client.get_indices())
    return checked_suite(Suite(client.name, items, max(1, client.get_concurrency())))


def _carry_out(
    invocation: Invocation, plan: BenchPlan, root: Path, client: TaskClient, suite: Suite
) -> int:
    paces, prices = Paces(make_rates(invocation)), known_prices(invocation.settings)
    with open_agents(invocation, plan, suite, paces) as agents:
        keep_plan(root, plan)

        def attempt(job: Job, stop: Stop) -> SampleRecord:
            return run_foreign_sample(client, job, stop, price_for(job.agent.name, prices))

        jobs = list_jobs(plan, suite, agents)
        lost = run_left(invocation, plan, root, jobs, partial(Runner, root, attempt))
        planned = places_of(plan, suite)
        documents = []
        for agent in agents:
            files = ResultFiles(root, agent.name, suite.name)
            document = _sum_up(invocation, client, files, agent.name)
            documents.append({**document, "not_begun": count_not_begun(files, planned)})
    code = _report(invocation, root, suite.name, documents)
    return NOT_COMPLETED if lost > 0 else code


def _sum_up(
    invocation: Invocation, client: TaskClient, files: ResultFiles, agent: str
) -> dict[str, Any]:
    custom = sum_up_task(client, files)
    failures = open_failures(files)
    if failures:
        invocation.console.note(f"\n{agent}: {len(failures)} not run, all in {files.errors}")
    for line in failures[:SHOWN]:
        last = str(line["info"]).strip().rpartition("\n")[2]  # of a traceback what was raised
        text = one_line(f"{line['index']!r}: {line['error']}: {last}")
        invocation.console.note(f"  {cut(text, LINE_CHARACTERS)}")
    return {
        "agent": agent,
        "total": len(files.finished()),
        "by_status": dict(Counter(sample.status for sample in files.samples())),
        "failures": dict(Counter(line["error"] for line in failures)),
        "custom": custom,
    }


def _report(invocation: Invocation, root: Path, task: str, documents: list[dict[str, Any]]) -> int:
    rows = [
        [
            document["agent"],
            str(document["total"]),
            describe_not_run(document["failures"], document["not_begun"]),
            ", ".join(f"{n} {word}" for word, n in document["by_status"].items()),
        ]
        for document in documents
    ]
    lines = [table(HEADERS, rows)]
    for document in documents:
        lines.append(f"\n{document['agent']}, as {task} sums it up:")
        lines += [f"  {name}: {value}" for name, value in document["custom"].items()]
    invocation.console.result(
        {"task": task, "agents": documents, "folder": str(root)}, "\n".join(lines)
    )
    is_whole = not any(document["failures"] or document["not_begun"] for document in documents)
    return COMPLETED if is_whole and all(d["total"] for d in documents) else NOT_COMPLETED


# The task in a process of its own, which works in the checkout; or wherever it is served already.


@contextlib.contextmanager
def _served(plan: BenchPlan) -> Iterator[TaskClient]:
    name = plan.suite.removeprefix(AGENTBENCH)
    if plan.tasks.startswith(("http://", "https://")):
        yield TaskClient(name, plan.tasks)
        return
    with (
        tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as said,
        subprocess.Popen(
            [plan.python or sys.executable, "-c", SERVE, *_arguments(plan)],
            stdout=subprocess.PIPE,
            stderr=said,
            env={**os.environ, PARENT: str(os.getpid())},
            text=True,
        ) as process,
    ):
        try:
            document = _read_document(process)
            if "address" not in document:
                said.seek(0)
                failed = f"The task {name!r} cannot be served: {said.read().strip()[-2_000:]}"
                raise SetupError((document.get("error") or {}).get("message") or failed)
            yield TaskClient(document["task"], document["address"])
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(RELEASE_SECONDS)
            process.kill()


def _arguments(plan: BenchPlan) -> list[str]:
    """The command line that serves the task of a plan."""
    tasks = ["--tasks", plan.tasks] if plan.tasks else []
    containers = [word for service in plan.containers for word in ("--container", service)]
    python = ["--python", plan.python] if plan.python else []
    return ["bench", "run", plan.suite, "--serve", "0", "--json", *tasks, *containers, *python]


def _read_document(process: subprocess.Popen[str]) -> dict[str, Any]:
    """The JSON object that a process writes first; empty where it ends without."""
    text = ""
    for line in process.stdout or ():
        text += line
        with contextlib.suppress(ValueError):
            document: dict[str, Any] = json.loads(text)
            return document
    return {}


def _serve(invocation: Invocation, plan: BenchPlan) -> int:
    """Serve a task, and a model where one is named, until Ctrl-C."""
    options, stop = invocation.options, Stop()
    services = dict(service.partition("=")[::2] for service in plan.containers)
    with contextlib.ExitStack() as stack:
        # What a task prints is no result of this command.
        stack.enter_context(contextlib.redirect_stdout(sys.stderr))
        folder = Path(plan.tasks) if plan.tasks else None
        name, is_prepared = plan.suite.removeprefix(AGENTBENCH), bool(plan.python)
        worker = TaskWorker(open_task(name, folder, services, is_prepared=is_prepared))
        stack.enter_context(stopping(stop))  # while it is made, a signal ends it at once
        stack.callback(worker.close)
        server = _open_server(options.serve)
        stack.callback(server.close)
        server.add_worker(worker, options.controller or "")
        agents = _served_agents(invocation, plan, stack)
        for agent in agents:
            server.add_agent(partial(_answer, agent))
        _tell_where(invocation, server, worker.task.name, agents)
        parent = os.environ.get(PARENT)
        with contextlib.suppress(RunCancelled):
            while parent is None or parent == str(os.getppid()):
                stop.wait(LOOK_SECONDS)
    return COMPLETED


def _answer(agent: Agent, history: list[ChatHistoryItem]) -> AgentOutput:
    return ModelTurns(agent.answerer(ANY, 1)).ask(history, Stop())


def _open_server(place: str) -> TaskServer:
    host, _, port = place.rpartition(":")
    try:
        return TaskServer(host or LOCAL, int(port))
    except (OSError, ValueError, OverflowError) as error:
        raise SetupError(
            f"It cannot be served at {place!r}: {error}.", hint="Write --serve PORT."
        ) from error


def _served_agents(
    invocation: Invocation, plan: BenchPlan, stack: contextlib.ExitStack
) -> list[Agent]:
    """The model that is named; none is where none is."""
    if len(plan.models) + len(plan.agents) > 1:
        raise SetupError("One model is served at a time.", hint="Serve each at a port of its own.")
    if not plan.models and not plan.agents:
        return []
    paces = Paces(make_rates(invocation))
    return stack.enter_context(open_agents(invocation, plan, Suite("", ()), paces))


def _tell_where(invocation: Invocation, server: TaskServer, task: str, agents: list[Agent]) -> None:
    document, lines = {"task": task, "address": server.address}, [f"{server.address} serves {task}"]
    if agents:
        document["agent"] = f"{server.address}/agent"
        lines.append(f"{document['agent']} answers as {agents[0].name}")
    invocation.console.result(document, "\n".join([*lines, "Ctrl-C ends it."]))
