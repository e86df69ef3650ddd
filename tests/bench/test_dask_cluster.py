"""Samples on a Dask cluster: one worker is killed, nothing is lost and nothing is there twice."""

from __future__ import annotations

import importlib
import os
import signal
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from cheats import can_limit_files
from fake_service import MODEL, FakeService, Request, Wire, text
from scripted_model import ScriptedLM

from cellwright.bench.agents import ScriptedPlan, model_agent, open_agent, scripted_agent
from cellwright.bench.best_of import make_best_of
from cellwright.bench.checks import Variable
from cellwright.bench.environments import InterpreterChoice
from cellwright.bench.judge_check import Judge
from cellwright.bench.rates import Rates
from cellwright.bench.results import ResultFiles, read_lines
from cellwright.bench.runner import (
    BenchProgress,
    Equipment,
    InfrastructureError,
    Job,
    Parcel,
    Runner,
    RunnerOptions,
    SessionMemory,
    pack,
    pending,
    unpacked,
)
from cellwright.bench.suites import Item, Suite
from cellwright.commands.bench_running import run_parcel
from cellwright.errors import RunCancelled, SetupError
from cellwright.exports.sample import SampleRecord, SampleTask
from cellwright.stopping import Stop

distributed = pytest.importorskip("distributed")
from cellwright.bench.runner import Cluster  # noqa: E402

EQUIPMENT = Equipment(InterpreterChoice(modules=("json",)))


@pytest.fixture(scope="module")
def workers() -> Iterator[Any]:
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as cluster:
        yield cluster


def suite_of(folder: Path, count: int) -> Suite:
    given = folder / "given.txt"
    given.write_text("7")
    code = "import time; time.sleep(0.2); x = int(open('given.txt').read())"
    return Suite(
        "far",
        tuple(
            Item(
                number,
                "x",
                files={"given.txt": given},
                checks=(Variable("x", 7),),
                reference=(code,),
            )
            for number in range(count)
        ),
    )


@pytest.mark.kernel
def test_a_worker_that_is_killed_costs_no_sample(workers: Any, tmp_path: Path) -> None:
    suite = suite_of(tmp_path, 12)
    killed: list[int] = []

    def kill(progress: BenchProgress) -> None:
        if progress.done == 4 and not killed:
            killed.append(next(iter(workers.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    cluster = Cluster(workers.scheduler_address)
    try:
        executor = cluster.executor(run_parcel, EQUIPMENT)
        assert executor.count_places() == 2
        jobs = [Job(suite, item, open_agent("oracle")) for item in suite.items]
        ended = Runner(tmp_path, executor, RunnerOptions(workers=4), kill).run(jobs)
    finally:
        cluster.close()
    assert killed
    assert (ended.done, ended.passed, ended.failures) == (12, 12, 0)
    files = ResultFiles(tmp_path, "oracle", "far")
    assert len(list(read_lines(files.runs))) == 12
    assert {sample.task.index for sample in files.samples()} == set(range(12))


@pytest.mark.kernel
def test_several_attempts_at_a_sample_run_on_the_cluster_and_one_is_chosen_here(
    workers: Any, tmp_path: Path
) -> None:
    answers = ["x = 0", "x = 7", "x = 8"]
    agent = scripted_agent("mixed", lambda item, number: ScriptedPlan((answers[number - 1],)))
    suite = suite_of(tmp_path, 2)
    cluster = Cluster(workers.scheduler_address)
    try:
        jobs = [Job(suite, item, agent) for item in suite.items]
        best_of = make_best_of(3, "check", SessionMemory())
        runner = Runner(tmp_path, cluster.executor(run_parcel, EQUIPMENT), best_of=best_of)
        ended = runner.run(jobs)
    finally:
        cluster.close()
    assert (ended.done, ended.passed, ended.failures) == (2, 2, 0)
    files = ResultFiles(tmp_path, "mixed", "far")
    assert [sample.task.attempt for sample in files.samples()] == [2, 2]
    assert len(list(read_lines(files.attempts))) == 6


@pytest.mark.kernel
def test_what_goes_wrong_on_a_worker_has_its_cause(workers: Any, tmp_path: Path) -> None:
    item = Item(1, "x", setup=("1 / 0",), reference=("1",))
    job = Job(Suite("wrong", (item,)), item, open_agent("oracle"))

    def broken(parcel: object, equipment: object) -> Any:
        raise ValueError("not mine")

    def failure_of(work: Any) -> InfrastructureError:
        executor = cluster.executor(work, EQUIPMENT)
        executor.begin([job], Stop())
        ((_, error),) = executor.take(Stop(), 60)
        assert isinstance(error, InfrastructureError)
        return error

    cluster = Cluster(workers.scheduler_address)
    try:
        error = failure_of(run_parcel)
        assert "ZeroDivisionError" in str(error)
        assert (error.word, error.retryable) == ("START_FAILED", False)
        error = failure_of(broken)
        assert "ValueError: not mine" in str(error)
        assert (error.word, error.retryable) == ("NETWORK_ERROR", True)
    finally:
        cluster.close()
    with pytest.raises(SetupError, match="scheduler is gone"):
        cluster.executor(run_parcel, EQUIPMENT).begin([job], Stop())


READ = """
def read(path):
    try:
        with open(path) as file: return file.read()
    except OSError as error: return type(error).__name__
"""


@pytest.mark.kernel
@pytest.mark.skipif(not can_limit_files(), reason="needs Landlock")
def test_a_kernel_on_a_worker_cannot_open_what_samples_expect(workers: Any, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text("7")
    with distributed.Client(workers.scheduler_address) as client:
        scratch = client.run(lambda dask_worker: dask_worker.local_directory)
    spilled = [Path(folder, "spilled") for folder in scratch.values()]
    for path in spilled:
        path.write_text("7")
    places = [str(tmp_path / "suite.yaml"), *map(str, spilled)]
    item = Item(
        1,
        "x",
        checks=(Variable("x", ["PermissionError"] * 3),),
        reference=(f"{READ}x = [read(path) for path in {places}]",),
    )
    suite, cluster = Suite("far", (item,)), Cluster(workers.scheduler_address)
    equipment = replace(EQUIPMENT, hidden=(places[0],))
    try:
        runner = Runner(tmp_path / "results", cluster.executor(run_parcel, equipment))
        ended = runner.run([Job(suite, item, open_agent("oracle"))])
    finally:
        cluster.close()
        for path in spilled:
            path.unlink()
    assert (ended.done, ended.passed) == (1, 1)


def nap(parcel: Parcel, equipment: Equipment) -> dict[str, Any]:
    time.sleep(0.2)  # so that a busy machine, too, has begun hundreds before the first has ended
    record = SampleRecord(f"far:{parcel.item.index!r}:1", task=SampleTask("far", parcel.item.index))
    return {"sample": record.to_dict()}


def test_one_thread_runs_hundreds_at_a_time_and_a_stop_loses_no_more(tmp_path: Path) -> None:
    items = tuple(Item(number, "x", reference=("1",)) for number in range(600))
    suite, stop = Suite("far", items), Stop()
    jobs = [Job(suite, item, open_agent("oracle")) for item in items]
    most = 0

    def look(progress: BenchProgress) -> None:
        nonlocal most
        most = max(most, progress.running)
        ours = [t for t in threading.enumerate() if t.name.startswith("cellwright-")]
        assert not ours
        if progress.done == 100:
            stop.set()

    with distributed.LocalCluster(
        n_workers=4,
        threads_per_worker=50,
        processes=False,
        protocol="tcp",
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as many:
        cluster = Cluster(many.scheduler_address)
        try:
            executor = cluster.executor(nap, EQUIPMENT)
            with pytest.raises(RunCancelled):
                Runner(tmp_path, executor, on_progress=look).run(jobs, stop)
            assert most > 150
            left = pending(tmp_path, jobs)
            assert len(left) <= 500
            ended = Runner(tmp_path, executor).run(left)
        finally:
            cluster.close()
    assert ended.done == len(left)
    files = ResultFiles(tmp_path, "oracle", "far")
    assert {sample.task.index for sample in files.samples()} == set(range(600))


def point_to(workers: Any, base_url: str) -> None:
    """Have the workers ask this service."""
    names = {"CELLWRIGHT_BASE_URL": base_url, "CELLWRIGHT_API_KEY": "none"}
    with distributed.Client(workers, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=30)
        assert len(set(client.run(os.getpid).values())) == 2
        client.run(lambda: os.environ.update(names))
        client.run(importlib.import_module, "openai")


@pytest.mark.kernel
def test_all_workers_together_keep_one_rate_for_answers_and_judges(
    workers: Any, tmp_path: Path
) -> None:
    at: list[float] = []

    def answer(request: Request) -> Wire:
        at.append(time.monotonic())
        return text('{"score": 1, "reason": "It is good."}')(request)

    items = tuple(Item(number, "Well?", checks=(Judge("It is good."),)) for number in range(4))
    jobs = [Job(Suite("far", items), item, model_agent(ScriptedLM([]), MODEL)) for item in items]
    with FakeService(answer) as service:
        point_to(workers, service.base_url)
        cluster = Cluster(workers.scheduler_address, Rates(requests_a_minute=300))
        try:
            kernels = Equipment(InterpreterChoice(is_forked=False))  # none is started
            executor = cluster.executor(run_parcel, kernels, judge=MODEL)
            ended = Runner(tmp_path, executor, RunnerOptions(workers=4, retry_limit=0)).run(jobs)
        finally:
            cluster.close()
    assert (ended.done, ended.passed, ended.failures) == (4, 4, 0)
    assert len(at) == 8
    # 0.2 s apart: 1.4 s in all; were each worker to count for itself it would be 0.6 s.
    assert at[-1] - at[0] > 1.0


@pytest.mark.kernel
def test_a_scheduler_that_cannot_keep_rates_is_told(workers: Any) -> None:
    def refuse(**told: object) -> None:
        raise ImportError("No module named 'cellwright'")

    handlers = workers.scheduler.handlers
    usual = handlers["run_function"]
    handlers["run_function"] = refuse
    try:
        with pytest.raises(SetupError, match="cannot keep the rates: ImportError") as caught:
            Cluster(workers.scheduler_address, Rates(tokens_a_minute=1000))
    finally:
        handlers["run_function"] = usual
    assert "Install cellwright where the scheduler runs" in caught.value.hint


def test_a_cluster_that_is_not_there_is_told() -> None:
    with pytest.raises(SetupError, match="needs a scheduler"):
        Cluster("")


def test_what_a_model_will_say_does_not_travel_nor_does_it_itself(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, 1)
    agent = model_agent(ScriptedLM([]), "m")
    parcel = pack(Job(suite, suite.items[0], agent, epoch=2))
    assert (parcel.replies, parcel.model, parcel.agent, parcel.epoch) == (None, "m", "m", 2)
    with unpacked(parcel, agent) as job:
        assert job.item.files["given.txt"].read_text() == "7"
        assert (job.id, job.agent.name) == ("far:0:2", "m")
    assert not job.item.files["given.txt"].exists()


def test_a_sample_that_cannot_travel_is_not_run(tmp_path: Path) -> None:
    item = Item(1, "x", files={"a": tmp_path / "none"}, reference=("1",))
    with pytest.raises(InfrastructureError, match="none"):
        pack(Job(Suite("s", (item,)), item, open_agent("oracle")))
