"""Samples on threads, each in a fresh kernel; whoever stops it loses only what was under way."""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.bench.attempt import InfrastructureError, Job
from cellwright.bench.results import Failure, ResultFiles
from cellwright.errors import RunCancelled, StoreError
from cellwright.exports.sample import SampleRecord
from cellwright.stopping import Stop, WorkerThread, retry

Attempt = Callable[[Job, Stop], SampleRecord]
LOOK_SECONDS = 0.2
END_SECONDS = 30.0


@dataclass(frozen=True)
class RunnerOptions:
    """How a benchmark is run."""

    workers: int = 2
    retry_limit: int = 2
    """How often a sample starts again after a failure of the infrastructure."""
    backoff_seconds: float = 1.0
    """Before the first retry; twice as long before each further one."""
    cost_limit_dollars: float | None = None
    """No sample is begun once all of them together cost so much."""
    beat_seconds: float = 30.0
    """Where no sample ends for so long, it is told all the same how far it is."""
    writing_seconds: float = 10.0
    """How long it is tried to write a sample down that has ended: it was paid for."""


@dataclass(frozen=True)
class BenchProgress:
    """How far a benchmark is."""

    total: int
    done: int = 0
    passed: int = 0
    failures: int = 0
    """Samples that could not be run; they are not in the denominator."""
    running: int = 0
    seconds: float = 0.0
    cost_dollars: float = 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the speed so far; None before anything is done."""
        ended = self.done + self.failures
        return self.seconds / ended * (self.total - ended) if ended else None


class _Queue:
    """Jobs in order, those of each agent and suite for themselves: a full place hides no other."""

    def __init__(self, jobs: Iterable[Job]) -> None:
        self.busy: Counter[str] = Counter()
        self._lines: dict[tuple[str, str, str], deque[tuple[int, Job]]] = {}
        self._going: set[tuple[str, str, str]] = set()
        self.total = 0
        for job in jobs:
            self._lines.setdefault(_line(job), deque()).append((self.total, job))
            self.total += 1

    def __bool__(self) -> bool:
        return bool(self._lines)

    def take(self) -> Job | None:
        """The first job for whose agent and suite there is room."""
        heads = [(jobs[0], line) for line, jobs in self._lines.items() if self._fits(jobs[0][1])]
        if not heads:
            return None
        (_, job), line = min(heads, key=lambda head: head[0][0])
        self._lines[line].popleft()
        if not self._lines[line]:
            del self._lines[line]
        self.busy.update(_places(job))
        self._going.add(line)
        return job

    def leave(self, job: Job) -> None:
        """A job has ended."""
        self.busy.subtract(_places(job))
        self._going.discard(_line(job))

    def _fits(self, job: Job) -> bool:
        if job.suite.is_in_order and _line(job) in self._going:
            return False
        agent, suite = _places(job)
        return self.busy[agent] < job.agent.concurrency and self.busy[suite] < job.suite.concurrency


@dataclass
class _State:
    """What the workers share, under one lock."""

    waiting: _Queue
    progress: BenchProgress
    broken: BaseException | None = None
    unwritten: int = 0
    """Samples that ended and could not be written down."""


class Runner:
    """Runs jobs.

    Args:
        root: Folder of the results.
        attempt: Runs one sample.
        options: Threads and retries.
        on_progress: Told whenever a sample has ended, and at every beat in which none has; from
            any thread, one call at a time.
    """

    def __init__(
        self,
        root: Path,
        attempt: Attempt,
        options: RunnerOptions | None = None,
        on_progress: Callable[[BenchProgress], None] | None = None,
    ) -> None:
        self._root = root
        self._attempt = attempt
        self._options = options or RunnerOptions()
        self._on_progress = on_progress or (lambda progress: None)
        self._changed = threading.Condition()
        self._files: dict[tuple[str, str], ResultFiles] = {}
        self._started = self._told_at = 0.0

    def run(self, jobs: Iterable[Job], stop: Stop | None = None) -> BenchProgress:
        """Run all jobs; how far it came.

        Raises:
            RunCancelled: ``stop`` was set; what had ended by then is in the files.
            KeyboardInterrupt: The same, by Ctrl-C.
            StoreError: Results cannot be written; what was written before is in the files.
        """
        stop = stop or Stop()
        self._started = self._told_at = time.monotonic()
        queue = _Queue(jobs)
        state = _State(queue, BenchProgress(queue.total))
        count = min(self._options.workers, queue.total)
        threads = [WorkerThread(self._work, state, stop, name="sample") for _ in range(count)]
        for thread in threads:
            thread.start()
        try:
            for thread in threads:
                while thread.is_alive():
                    thread.join(LOOK_SECONDS)
                    if thread.is_alive():
                        self._beat(state)
        except BaseException:
            stop.set()
            self._wait_for(threads)
            raise
        if isinstance(state.broken, OSError) and state.unwritten:
            noun = "sample" if state.unwritten == 1 else "samples"
            raise StoreError(
                f"{state.unwritten} {noun} ended and cannot be written: {state.broken}. "
                f"{state.progress.done} are on disk.",
                hint=f"Make room, then: cellwright bench resume {self._root}",
            ) from state.broken
        if state.broken is not None:
            raise state.broken
        stop.check()
        return state.progress

    @staticmethod
    def _wait_for(threads: Sequence[threading.Thread]) -> None:
        until = time.monotonic() + END_SECONDS
        for thread in threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _work(self, state: _State, stop: Stop) -> None:
        while (job := self._next(state, stop)) is not None:
            try:
                self._finish(state, job, self._try(job, stop))
            except RunCancelled:
                return
            except BaseException as error:  # our own fault, or a full disk: nothing more is begun
                state.broken = state.broken or error
                stop.set("because the benchmark failed")
                return
            finally:
                with self._changed:
                    state.waiting.leave(job)
                    self._changed.notify_all()

    def _next(self, state: _State, stop: Stop) -> Job | None:
        """The next job; None when there are no more, or no more money."""
        with self._changed, contextlib.suppress(RunCancelled):
            while state.waiting and not self._is_spent(state.progress):
                stop.check()
                job = state.waiting.take()
                if job is not None:
                    return job
                stop.wait_on(self._changed)
        return None

    def _is_spent(self, progress: BenchProgress) -> bool:
        limit = self._options.cost_limit_dollars
        return limit is not None and progress.cost_dollars >= limit

    def _try(self, job: Job, stop: Stop) -> SampleRecord | Failure:
        """Run a job, again where the infrastructure failed and that may pass."""
        attempts = 0
        while True:
            attempts += 1
            try:
                return replace(self._attempt(job, stop), retries=attempts - 1)
            except InfrastructureError as error:
                if not error.retryable or attempts > self._options.retry_limit:
                    return Failure(job.item.index, job.epoch, error.word, str(error), attempts)
                stop.wait(self._options.backoff_seconds * 2 ** (attempts - 1))

    def _finish(self, state: _State, job: Job, ended: SampleRecord | Failure) -> None:
        with self._changed:
            files = self._results(job)
        try:
            self._write(files, ended)
        except OSError:
            with self._changed:
                state.unwritten += 1
            raise
        with self._changed:
            state.progress = self._advanced(state, ended)
            self._tell(state)

    def _write(self, files: ResultFiles, ended: SampleRecord | Failure) -> None:
        def add() -> None:
            if isinstance(ended, Failure):
                files.add_failure(ended)
            else:
                files.add(ended)

        retry(add, OSError, self._options.writing_seconds, LOOK_SECONDS)

    def _beat(self, state: _State) -> None:
        with self._changed:
            if time.monotonic() - self._told_at < self._options.beat_seconds:
                return
            seconds, running = time.monotonic() - self._started, state.waiting.busy.total() // 2
            state.progress = replace(state.progress, seconds=seconds, running=running)
            self._tell(state)

    def _tell(self, state: _State) -> None:
        self._told_at = time.monotonic()
        self._on_progress(state.progress)

    def _advanced(self, state: _State, ended: SampleRecord | Failure) -> BenchProgress:
        old = replace(
            state.progress,
            seconds=time.monotonic() - self._started,
            running=state.waiting.busy.total() // 2 - 1,
        )
        if isinstance(ended, Failure):
            return replace(old, failures=old.failures + 1)
        cost = old.cost_dollars + (ended.cost_dollars or 0.0)
        return replace(old, done=old.done + 1, passed=old.passed + ended.passed, cost_dollars=cost)

    def _results(self, job: Job) -> ResultFiles:
        key = (job.agent.name, job.suite.name)
        if key not in self._files:
            self._files[key] = ResultFiles(self._root, *key)
        return self._files[key]


def _line(job: Job) -> tuple[str, str, str]:
    """Jobs that wait behind one another; where there is an order, those of a session."""
    return (*_places(job), f"{job.epoch} {job.item.session}" if job.suite.is_in_order else "")


def _places(job: Job) -> tuple[str, str]:
    return f"agent {job.agent.name}", f"suite {job.suite.name}"


def pending(root: Path, jobs: Iterable[Job]) -> list[Job]:
    """The jobs that have no recorded sample yet."""
    finished: dict[tuple[str, str], set[str]] = {}
    left = []
    for job in jobs:
        key = (job.agent.name, job.suite.name)
        if key not in finished:
            finished[key] = ResultFiles(root, *key).finished()
        if job.id not in finished[key]:
            left.append(job)
    return left
