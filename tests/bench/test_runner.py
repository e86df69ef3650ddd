"""The runner: how many at a time, what is tried again, what is lost when it is stopped."""

from __future__ import annotations

import _thread
import gc
import shutil
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_model import ScriptedLM, says

from cellwright.bench.agents import Agent, Answerer, open_agent
from cellwright.bench.checks import AnswerCheck
from cellwright.bench.environments import Rooms
from cellwright.bench.results import ResultFiles, read_lines
from cellwright.bench.runner import (
    BenchProgress,
    InfrastructureError,
    Job,
    Laboratory,
    Runner,
    RunnerOptions,
    attempt,
    pending,
)
from cellwright.bench.suites import Item, Suite
from cellwright.errors import RunCancelled, StoreError
from cellwright.exports.sample import SampleRecord, SampleTask, Score
from cellwright.stopping import Stop

ORACLE = open_agent("oracle")
QUICK = RunnerOptions(workers=4, retry_limit=2, backoff_seconds=0.01)


def jobs(count: int, *, concurrency: int = 16, agent: Agent = ORACLE) -> list[Job]:
    items = tuple(Item(number, "x") for number in range(count))
    suite = Suite("s", items, concurrency)
    return [Job(suite, item, agent) for item in items]


def done(job: Job, *, passed: bool = True) -> SampleRecord:
    score = Score("check", float(passed), passed=passed)
    task = SampleTask("s", job.item.index, epoch=job.epoch)
    return SampleRecord(job.id, task=task, status="completed", scores=(score,), cost_dollars=0.5)


class Counting:
    """Runs samples that take a moment, and counts how many are under way at a time."""

    def __init__(self, seconds: float = 0.02) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._now = 0
        self.most = 0

    def __call__(self, job: Job, stop: Stop) -> SampleRecord:
        with self._lock:
            self._now += 1
            self.most = max(self.most, self._now)
        stop.wait(self._seconds)
        with self._lock:
            self._now -= 1
        return done(job)


def test_all_samples_are_run_and_told_of(tmp_path: Path) -> None:
    told: list[BenchProgress] = []
    progress = Runner(tmp_path, Counting(), QUICK, told.append).run(jobs(9))
    assert (progress.total, progress.done, progress.passed, progress.running) == (9, 9, 9, 0)
    assert progress.cost_dollars == 4.5
    assert [seen.done for seen in told] == list(range(1, 10))
    assert told[0].seconds_left is not None
    assert BenchProgress(3).seconds_left is None
    assert len(list(ResultFiles(tmp_path, "oracle", "s").samples())) == 9


@pytest.mark.parametrize(("concurrency", "workers", "most"), [(2, 4, 2), (16, 3, 3), (1, 4, 1)])
def test_no_more_run_at_a_time_than_the_task_and_the_runner_allow(
    concurrency: int, workers: int, most: int, tmp_path: Path
) -> None:
    counting = Counting()
    Runner(tmp_path, counting, RunnerOptions(workers)).run(jobs(8, concurrency=concurrency))
    assert counting.most == most


def test_no_more_run_at_a_time_than_the_agent_allows(tmp_path: Path) -> None:
    alone = Agent("alone", ORACLE.answerer, concurrency=1)
    counting = Counting()
    Runner(tmp_path, counting, QUICK).run(jobs(5, agent=alone))
    assert counting.most == 1


@pytest.mark.serial
def test_a_free_place_is_taken_within_50_milliseconds(tmp_path: Path) -> None:
    ended: list[float] = []
    delays: list[float] = []

    def note(job: Job, stop: Stop) -> SampleRecord:
        if ended:
            delays.append(time.monotonic() - ended[-1])
        stop.wait(0.01)
        ended.append(time.monotonic())
        return done(job)

    Runner(tmp_path, note, QUICK).run(jobs(20, concurrency=1))
    assert sorted(delays)[len(delays) // 2] < 0.05


class Failing:
    """Fails so many times for each sample before it runs it."""

    def __init__(self, times: int, *, retryable: bool = True, cost_dollars: float = 0.0) -> None:
        self._times = times
        self._retryable = retryable
        self._cost_dollars = cost_dollars
        self.calls: dict[object, int] = {}

    def __call__(self, job: Job, stop: Stop) -> SampleRecord:
        self.calls[job.item.index] = self.calls.get(job.item.index, 0) + 1
        if self.calls[job.item.index] <= self._times:
            raise InfrastructureError(
                "NETWORK_ERROR",
                "no route",
                retryable=self._retryable,
                cost_dollars=self._cost_dollars,
            )
        return done(job)


def test_a_failure_of_the_infrastructure_is_tried_again_and_counted(tmp_path: Path) -> None:
    progress = Runner(tmp_path, Failing(2), QUICK).run(jobs(2))
    assert (progress.done, progress.failures) == (2, 0)
    assert [s.retries for s in ResultFiles(tmp_path, "oracle", "s").samples()] == [2, 2]


@pytest.mark.parametrize(("retryable", "attempts"), [(True, 3), (False, 1)])
def test_what_cannot_be_run_is_kept_apart_with_its_cause(
    retryable: bool, attempts: int, tmp_path: Path
) -> None:
    progress = Runner(tmp_path, Failing(99, retryable=retryable), QUICK).run(jobs(1))
    assert (progress.done, progress.failures, progress.seconds_left) == (0, 1, 0.0)
    files = ResultFiles(tmp_path, "oracle", "s")
    (line,) = read_lines(files.errors)
    assert (line["error"], line["info"]) == ("NETWORK_ERROR", "no route")
    assert line["cellwright"]["attempts"] == attempts
    assert list(files.samples()) == []


def test_what_was_paid_for_samples_that_could_not_be_run_counts(tmp_path: Path) -> None:
    options = replace(QUICK, workers=1, cost_limit_dollars=3.0)
    progress = Runner(tmp_path, Failing(99, cost_dollars=1.0), options).run(jobs(9))
    assert (progress.failures, progress.cost_dollars) == (1, 3.0)
    (line,) = read_lines(ResultFiles(tmp_path, "oracle", "s").errors)
    assert line["cellwright"]["cost_dollars"] == 3.0


def stopping_after(count: int, stop: Stop) -> Callable[[BenchProgress], None]:
    def look(progress: BenchProgress) -> None:
        if progress.done == count:
            stop.set()

    return look


def test_a_stop_loses_only_what_was_under_way_and_the_rest_can_be_run_later(tmp_path: Path) -> None:
    stop, all_jobs = Stop(), jobs(12)
    runner = Runner(tmp_path, Counting(), RunnerOptions(2), stopping_after(4, stop))
    with pytest.raises(RunCancelled):
        runner.run(all_jobs, stop)
    left = pending(tmp_path, all_jobs)
    assert 6 <= len(left) <= 8
    Runner(tmp_path, Counting(), QUICK).run(left)
    samples = list(ResultFiles(tmp_path, "oracle", "s").samples())
    assert sorted(s.task.index for s in samples) == list(range(12))
    assert len(list(read_lines(ResultFiles(tmp_path, "oracle", "s").runs))) == 12
    assert pending(tmp_path, all_jobs) == []


def test_our_own_failure_ends_the_benchmark_and_is_raised(tmp_path: Path) -> None:
    def broken(job: Job, stop: Stop) -> SampleRecord:
        raise ZeroDivisionError("ours")

    with pytest.raises(ZeroDivisionError):
        Runner(tmp_path, broken, QUICK).run(jobs(3))


def test_an_interrupt_stops_the_workers_and_goes_on(tmp_path: Path) -> None:
    stop = Stop()

    def interrupt(progress: BenchProgress) -> None:
        if progress.done == 1:
            _thread.interrupt_main()

    with pytest.raises(KeyboardInterrupt):
        Runner(tmp_path, Counting(), RunnerOptions(2), interrupt).run(jobs(500), stop)
    assert stop.is_set()
    assert not [thread for thread in threading.enumerate() if thread.name == "cellwright-sample"]


def test_what_ended_while_all_was_stopped_is_kept(tmp_path: Path) -> None:
    stop = Stop()

    def one(job: Job, stop: Stop) -> SampleRecord:
        if job.item.index == 0:
            return done(job)
        while not stop.is_set():
            time.sleep(0.005)
        return done(job)  # it was paid for

    runner = Runner(tmp_path, one, RunnerOptions(3), stopping_after(1, stop))
    with pytest.raises(RunCancelled):
        runner.run(jobs(9), stop)
    assert len(list(ResultFiles(tmp_path, "oracle", "s").samples())) >= 3


def test_as_many_run_at_a_time_as_are_asked_for(tmp_path: Path) -> None:
    together = threading.Barrier(200)

    def one(job: Job, stop: Stop) -> SampleRecord:
        together.wait(60)
        return done(job)

    progress = Runner(tmp_path, one, RunnerOptions(200)).run(jobs(200, concurrency=0))
    assert (progress.done, progress.failures) == (200, 0)


def test_no_sample_is_begun_once_the_money_is_spent(tmp_path: Path) -> None:
    options = RunnerOptions(workers=1, cost_limit_dollars=1.2)
    progress = Runner(tmp_path, Counting(), options).run(jobs(9))
    assert (progress.total, progress.done, progress.cost_dollars) == (9, 3, 1.5)
    assert len(pending(tmp_path, jobs(9))) == 6


def test_a_full_suite_keeps_no_other_waiting(tmp_path: Path) -> None:
    begun: list[str] = []
    lock = threading.Lock()

    def note(job: Job, stop: Stop) -> SampleRecord:
        with lock:
            begun.append(job.suite.name)
        stop.wait(0.05)
        return done(job)

    narrow = jobs(3, concurrency=1)
    wide = [replace(job, suite=replace(job.suite, name="w", concurrency=16)) for job in jobs(3)]
    Runner(tmp_path, note, RunnerOptions(workers=3)).run([*narrow, *wide])
    assert begun[:3] == ["s", "w", "w"]


def test_jobs_run_in_their_order(tmp_path: Path) -> None:
    order: list[object] = []

    def note(job: Job, stop: Stop) -> SampleRecord:
        order.append((job.agent.name, job.item.index))
        return done(job)

    other = replace(ORACLE, name="other")
    both = [job for pair in zip(jobs(3), jobs(3, agent=other), strict=True) for job in pair]
    Runner(tmp_path, note, RunnerOptions(workers=1)).run(both)
    assert order == [(job.agent.name, job.item.index) for job in both]


def test_what_a_sample_took_is_given_back_when_it_has_ended(tmp_path: Path) -> None:
    item_count = 150
    counts: list[int] = []
    item = Item(0, "Say 42.", checks=(AnswerCheck(exact="42"),))
    suite = Suite("s", tuple(replace(item, index=number) for number in range(item_count)))
    agent = Agent("mock", lambda item, epoch: Answerer(ScriptedLM([says("42")]), "m"))
    laboratory = Laboratory(Rooms({}))

    def note(progress: BenchProgress) -> None:
        if progress.done in (50, item_count):
            gc.collect()
            # Of ours: other threads of these tests' process, such as Dask's, make and drop more.
            kept = (e for e in gc.get_objects() if str(type(e).__module__).startswith("cellwright"))
            counts.append(sum(1 for _ in kept))

    runner = Runner(
        tmp_path, lambda job, stop: attempt(job, laboratory, stop), RunnerOptions(1), note
    )
    ended = runner.run(Job(suite, item, agent) for item in suite.items)
    assert ended.passed == item_count
    assert counts[0] > 50
    assert counts[1] - counts[0] < 50


def test_a_sample_that_takes_long_is_told_of_before_it_ends(tmp_path: Path) -> None:
    told: list[BenchProgress] = []

    def slow(job: Job, stop: Stop) -> SampleRecord:
        stop.wait(0.3)
        return done(job)

    Runner(tmp_path, slow, RunnerOptions(beat_seconds=0.01), told.append).run(jobs(1))
    seen = [(progress.done, progress.running, progress.seconds_left) for progress in told]
    assert (seen[0], seen[-1]) == ((0, 1, None), (1, 0, 0.0))


def test_no_jobs_are_no_work(tmp_path: Path) -> None:
    assert Runner(tmp_path, Counting()).run([]).total == 0


def test_a_sample_that_has_ended_is_written_as_soon_as_that_can_be_done(tmp_path: Path) -> None:
    root = tmp_path / "out"
    root.write_text("a file where the folder is to be")
    timer = threading.Timer(1.0, root.unlink)
    timer.start()
    progress = Runner(root, Counting(), QUICK).run(jobs(3))
    timer.join()
    assert progress.done == 3
    assert not pending(root, jobs(3))


def test_samples_that_cannot_be_written_are_counted_apart_from_those_on_disk(
    tmp_path: Path,
) -> None:
    root = tmp_path / "out"

    def spoil(progress: BenchProgress) -> None:
        if progress.done == 1:
            shutil.rmtree(root)
            root.write_text("a file where the folder is to be")

    runner = Runner(root, Counting(), replace(QUICK, workers=1, writing_seconds=0.5), spoil)
    with pytest.raises(StoreError) as failed:
        runner.run(jobs(5))
    assert failed.value.message.startswith("1 sample ended and cannot be written")
    assert "1 are on disk" in failed.value.message
    assert f"bench resume {root}" in failed.value.hint
