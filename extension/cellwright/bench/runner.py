"""Samples on threads, each in a fresh kernel; whoever stops it loses only what was under way."""

from __future__ import annotations

import contextlib
import functools
import heapq
import importlib
import pickle
import tempfile
import threading
import time
import uuid
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from cellwright import errors
from cellwright.agent.policy import ApprovalAnswer
from cellwright.bench.agents import Agent, Answerer, NoAnswerError
from cellwright.bench.checks import needs_run, score_all
from cellwright.bench.environments import (
    InterpreterChoice,
    Room,
    Rooms,
    RoomScene,
    SampleKernel,
    SetupFailedError,
    kernel_environment,
    kernels_of,
    own_samples_folder,
)
from cellwright.bench.judge_check import keep_thumbs
from cellwright.bench.rates import Rates, SharedRates, forget_paces, keep_paces
from cellwright.bench.results import Failure, ResultFiles
from cellwright.bench.scenes import BrokenSampleError
from cellwright.bench.suites import Item, Suite, shown_prompt
from cellwright.errors import KernelError, LMError, RunCancelled, SetupError, StoreError
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score
from cellwright.exports.sampling import OWN_FACTS, sample_of
from cellwright.installation import missing_extra
from cellwright.kernels.gateway import Gateway
from cellwright.llm.replay import ReplayLM
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import ToolStarted
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.session.composer import RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Settings
from cellwright.stopping import Inbox, Stop, WorkerThread, retry
from cellwright.store.runs import RunMemory
from cellwright.text.redaction import Redactor


class SessionMemory:
    """The code of samples that others go on from; safe on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._code: dict[tuple[str, int, str], dict[int, str]] = {}

    def note(self, sample: SampleRecord) -> None:
        """Keep what a sample's cells were; one of no session is let go of."""
        if not sample.task.session:
            return
        cells = [cell.source for cell in sample.cells if cell.is_kept]
        key = (sample.agent, sample.task.epoch, sample.task.session)
        with self._lock:
            self._code.setdefault(key, {})[sample.task.step] = "\n".join(cells)

    def before(self, agent: str, epoch: int, session: str) -> Mapping[int, str]:
        """By step what the agent did there so far."""
        with self._lock:
            return dict(self._code.get((agent, epoch, session), {}))


DEAD = ("kernel_died", "kernel_restarted")


class InfrastructureError(Exception):
    """The sample could not be run; it says nothing of the agent.

    Args:
        word: AgentBench's word for it.
        text: What happened.
        retryable: Whether trying again may help.
        cost_dollars: What the model's replies cost all the same.
    """

    def __init__(
        self, word: str, text: str, *, retryable: bool = True, cost_dollars: float = 0.0
    ) -> None:
        super().__init__(text)
        self.word = word
        self.retryable = retryable
        self.cost_dollars = cost_dollars


@dataclass(frozen=True)
class Job:
    """One sample for one agent, once."""

    suite: Suite
    item: Item
    agent: Agent
    epoch: int = 1
    attempt: int = 0
    """Which of several attempts at it, from 1; 0: there is one alone, or one is to be chosen."""
    attempt_count: int = 1

    @property
    def sample_id(self) -> str:
        """Names the sample and the epoch among those of one agent at one suite."""
        return f"{self.suite.name}:{self.item.index!r}:{self.epoch}"

    @property
    def id(self) -> str:
        """The same, and the attempt where there are several."""
        return f"{self.sample_id}:{self.attempt}" if self.attempt else self.sample_id

    @property
    def try_number(self) -> int:
        """How often the agent has been given the sample by then, from 1."""
        return (self.epoch - 1) * self.attempt_count + max(1, self.attempt)


@dataclass(frozen=True)
class Laboratory:
    """What all attempts share."""

    rooms: Rooms
    redactor: Redactor = field(default_factory=lambda: Redactor({}))
    settings: Settings = field(default_factory=Settings)
    """Adapter and prices of the agents."""
    memory: SessionMemory = field(default_factory=SessionMemory)
    """For suites whose samples go on from one another."""

    def rooms_of(self, suite: Suite) -> Rooms:
        """Rooms with what the suite wants in the kernels' environment, and hidden from them."""
        hidden = (*self.rooms.hidden, *map(str, suite.hidden))
        environ = {**self.rooms.environ, **suite.environ}
        return replace(self.rooms, environ=environ, hidden=hidden)


def attempt(job: Job, laboratory: Laboratory, stop: Stop) -> SampleRecord:
    """Run a sample and score it.

    Raises:
        InfrastructureError: It could not be run.
        RunCancelled: ``stop`` was set; nothing of the sample counts.
    """
    ran: list[RunRecord] = []
    try:
        return _attempt(job, laboratory, stop, ran)
    except InfrastructureError as error:
        error.cost_dollars = sum(record.cost_dollars or 0.0 for record in ran)
        raise


def _attempt(job: Job, laboratory: Laboratory, stop: Stop, ran: list[RunRecord]) -> SampleRecord:
    """The same; ``ran`` gets the agent's run as soon as it has ended."""
    rooms = laboratory.rooms_of(job.suite)
    with _starting(), contextlib.ExitStack() as stack:
        answerer = job.agent.answerer(job.item, job.try_number)
        room = stack.enter_context(rooms.open(job.item, stop))
        if job.item.is_live:
            room.note_works()
        record = _run(job, answerer, room, laboratory, stop)
        ran.append(record)
        stop.check()
        if room.kernel.failure:
            raise InfrastructureError("START_FAILED", room.kernel.failure)
        _check_infrastructure(record)
        sample = _described(sample_of(record, job.id), job)
        if job.suite.is_in_order and not job.attempt:  # else that which is chosen is gone on from
            laboratory.memory.note(sample)
        scored = _scored(sample, job.item, room, rooms)
        # A check may be the first to need a kernel.
        return replace(scored, env={**scored.env, **_kernel_facts(room.kernel)})


@contextlib.contextmanager
def _starting() -> Iterator[None]:
    """Whatever keeps a sample from being run, as one kind of error."""
    try:
        yield
    except (BrokenSampleError, NoAnswerError, SetupError, SetupFailedError) as error:
        raise InfrastructureError("START_FAILED", str(error), retryable=False) from error
    except (KernelError, OSError) as error:
        text = f"{type(error).__name__}: {error}"
        raise InfrastructureError("START_FAILED", text) from error


class BoxApprover:
    """Lets cells run that a person would be asked about: nothing of theirs is in the box."""

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether it only runs code in the kernel."""
        return ApprovalAnswer(call.name == RUN_CELL, "batch", "The kernel is kept apart.")


RUN_CELL = "run_cell"


def _run(job: Job, answerer: Answerer, room: Room, laboratory: Laboratory, stop: Stop) -> RunRecord:
    item, settings = job.item, laboratory.settings
    own = laboratory.memory.before(job.agent.name, job.epoch, item.session)
    store, notebook = RunMemory(), MemoryNotebook()
    asked = job.agent.request
    is_boxed = laboratory.rooms.is_apart and asked.mode == "auto"
    place = RunContext(
        room.kernel,
        store,
        laboratory.redactor,
        "bench",
        BoxApprover() if is_boxed else None,
        notebook=notebook,
    )
    conversation = Conversation(replace(place, prices=known_prices(settings)))
    tools = asked.assistant.tools if item.tools is None else item.tools
    request = replace(
        asked,
        prompt=shown_prompt(item, own if job.suite.is_in_order else None),
        parameters=replace(asked.parameters, model=answerer.model),
        files=tuple(item.files),
        variables=item.mentions,
        reads_mentions=False,  # ``@mean[number]`` is the form of an answer
        assistant=replace(asked.assistant, tools=tools),
        limits=replace(item.limits, step_limit=max(item.limits.step_limit, answerer.replies + 1)),
    )
    environment = RunEnvironment(
        lambda _: answerer,
        lambda _: contextlib.nullcontext(conversation),
        settings,
        folder=Path(room.kernel.describe().cwd),
    )
    for _ in start_run(request, environment, stop):
        pass
    return store.record(store.last_started)


def _check_infrastructure(record: RunRecord) -> None:
    """Raise where not the agent failed but what it stands on."""
    if record.status != "task error" or (record.cause in DEAD and record.executions):
        return  # a kernel that its own code ended is what the agent did
    kind = getattr(errors, record.cause, None)
    if isinstance(kind, type) and issubclass(kind, LMError):
        is_network = issubclass(kind, (errors.LMConnectionError, errors.LMTimeoutError))
        word = "NETWORK_ERROR" if is_network else "AGENT_FAILED"
        raise InfrastructureError(
            word, f"{record.cause}: {record.reason}", retryable=kind.retryable
        )
    raise InfrastructureError("INTERACT_FAILED", f"{record.cause}: {record.reason}")


def _described(sample: SampleRecord, job: Job) -> SampleRecord:
    item = job.item
    task = SampleTask(
        job.suite.name,
        item.index,
        item.session,
        item.step,
        job.epoch,
        item.group,
        item.family,
        item.metadata,
        job.attempt,
    )
    target = item.reference_answer or "\n\n".join(item.reference)
    return replace(
        sample,
        suite=job.suite.name,
        task=task,
        agent=job.agent.name,
        target=target,
        setup=item.setup,
    )


def _kernel_facts(kernel: SampleKernel) -> dict[str, Any]:
    """How it was started, and what it is; behind a gateway nobody sets the seed of its hashes."""
    facts = {"hash_seed": "" if kernel.way == "gateway" else "0", "kernel_way": kernel.way}
    if kernel.began_as is None:
        return facts
    said = to_dict(kernel.began_as).items()
    return {**facts, "kernel": {key: value for key, value in said if key not in OWN_FACTS}}


def _scored(sample: SampleRecord, item: Item, room: Room, rooms: Rooms) -> SampleRecord:
    """The sample with its scores, made where its checks want them made."""
    if not room.kernel.is_alive():
        return replace(
            sample, scores=_all_failed(item, "the kernel did not survive the agent's code")
        )
    if item.is_live or not needs_run(item.checks):
        return _looked_at(sample, item, room, rooms)
    if not sample.cells:  # nothing of the agent's has run in it
        room.note_works()
        return _looked_at(sample, item, room, rooms)
    room.kernel.end()
    return _run_anew(sample, item, rooms, room.stop)


def _all_failed(item: Item, why: str) -> tuple[Score, ...]:
    return _weighted(
        item, (Score(check.score_name, 0.0, False, explanation=why) for check in item.checks)
    )


def _weighted(item: Item, scores: Iterable[Score]) -> tuple[Score, ...]:
    """The scores of a sample's checks, each with the points that it counts."""
    if not item.points:
        return tuple(scores)
    pairs = zip(scores, item.points, strict=True)
    return tuple(replace(score, points=points) for score, points in pairs)


def _looked_at(sample: SampleRecord, item: Item, room: Room, rooms: Rooms) -> SampleRecord:
    """The sample with its checks made in this room."""
    scene = RoomScene(room, rooms, item, str(sample.result), sample.cells)
    scores = _weighted(item, score_all(item.checks, scene))
    changed = list(room.list_changed_works())
    env = {key: value for key, value in sample.env.items() if key != TAMPERING}
    return replace(sample, scores=scores, env={**env, TAMPERING: changed} if changed else env)


TAMPERING = "tampering"
"""What of the kernel's own works the agent's code had changed, in a sample's ``env``."""


def _run_anew(sample: SampleRecord, item: Item, rooms: Rooms, stop: Stop) -> SampleRecord:
    """The sample, scored on what its cells do in a fresh kernel and folder."""
    with rooms.open(item, stop) as room:
        room.note_works()
        try:
            ran = [_again(cell, item, room) for cell in sample.cells]
        except KernelError as error:
            return replace(sample, scores=_all_failed(item, f"{ENDS}: {error}"))
        scored = _looked_at(sample, item, room, rooms)
    broken = [
        again.error
        for cell, again in zip(sample.cells, ran, strict=True)
        if cell.status == "ok" != again.status
    ]
    if not broken:
        return scored
    why = f"run anew, a cell fails: {broken[0]}"
    return replace(scored, scores=tuple(_explained(score, why) for score in scored.scores))


ENDS = "run anew, the agent's code ends the kernel"


def _explained(score: Score, why: str) -> Score:
    if score.passed:
        return score
    return replace(score, explanation=f"{score.explanation}; {why}" if score.explanation else why)


def rescored(sample: SampleRecord, item: Item, rooms: Rooms, stop: Stop) -> SampleRecord:
    """A recorded sample with its checks made again; the agent is not asked.

    Its cells run anew where a check needs a kernel; what a person said of it is kept.

    Raises:
        KernelError: A kernel did not start.
        SetupFailedError: The setup fails now.
    """
    if any(cell.status == "died" for cell in sample.cells):
        return sample  # there is nothing left of it to look at
    is_run = needs_run(item.checks)
    with rooms.open(item if is_run else replace(item, setup=(), files={}), stop) as room:
        cells = sample.cells
        if is_run:
            room.note_works()
            try:
                cells = tuple(_again(cell, item, room) for cell in sample.cells)
            except KernelError as error:
                failed = _all_failed(item, f"{ENDS}: {error}")
                return replace(sample, scores=keep_thumbs(sample.scores, failed))
        found = _looked_at(replace(sample, cells=cells), item, room, rooms)
        scores = keep_thumbs(sample.scores, found.scores)
        return replace(sample, scores=scores, env=found.env)


def _again(cell: SampleCell, item: Item, room: Room) -> SampleCell:
    """Run a cell once more; one that the agent gave more time has it again.

    One whose time was over does not get more than it had: it would do now what it did not do then.
    """
    is_over = cell.status == "timeout"
    usual = max(item.limits.cell_timeout_seconds, 2 * cell.seconds)
    seconds = cell.seconds if is_over else usual
    ran = room.run(cell.source, seconds, cell.id)
    return replace(ran, origin=cell.origin, is_kept=cell.is_kept)


Attempt = Callable[[Job, Stop], SampleRecord]
LOOK_SECONDS = 0.2
CHOICE_SECONDS = 0.02
"""Where no model is asked, the best of several attempts is chosen at once."""
END_SECONDS = 30.0
LOCAL_WORKERS = 2
BATCH = 100
"""So many samples are begun before it is looked whether others have ended."""


class Ended(NamedTuple):
    """A sample that is not under way any more."""

    job: Job
    result: SampleRecord | BaseException


class Executor(Protocol):
    """Where samples run; one thread begins them all and takes what they came to."""

    def begin(self, jobs: Sequence[Job], stop: Stop) -> None:
        """Begin these samples; it does not wait for them."""

    def take(self, stop: Stop, seconds: float) -> list[Ended]:
        """Those that have ended, once there are some or so much time has passed."""

    def count_places(self) -> int:
        """How many can run at a time where nobody says how many should."""

    def abandon(self) -> list[Ended]:
        """Let go of all; those that have ended."""


class ThreadExecutor:
    """Runs each sample on a thread of its own; ``Executor``.

    Args:
        attempt: Runs one.
    """

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._ended: Inbox[Ended] = Inbox()
        self._threads: set[WorkerThread] = set()

    def begin(self, jobs: Sequence[Job], stop: Stop) -> None:
        """Begin these samples."""
        self._threads = {thread for thread in self._threads if thread.is_alive()}
        for job in jobs:
            thread = WorkerThread(self._run, job, stop, name="sample")
            self._threads.add(thread)
            thread.start()

    def take(self, stop: Stop, seconds: float) -> list[Ended]:
        """Those that have ended."""
        return self._ended.take_all(stop, seconds)

    def count_places(self) -> int:
        """As many as a small machine has cores for."""
        return LOCAL_WORKERS

    def abandon(self) -> list[Ended]:
        """Wait for the threads, which their stop has ended; those that ended by themselves."""
        until = time.monotonic() + END_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))
        return self._ended.take_all(Stop(), 0)

    def _run(self, job: Job, stop: Stop) -> None:
        try:
            self._ended.put(Ended(job, self._attempt(job, stop)))
        except BaseException as error:  # it belongs to whoever takes it
            self._ended.put(Ended(job, error))


@dataclass(frozen=True)
class RunnerOptions:
    """How a benchmark is run."""

    workers: int = 0
    """How many samples run at a time; 0: as many as the executor has places for."""
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

    @property
    def running(self) -> int:
        """How many were taken and have not ended."""
        return self.busy.total() // 2

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
        limits = ((agent, job.agent.concurrency), (suite, job.suite.concurrency))
        return all(not limit or self.busy[place] < limit for place, limit in limits)


@dataclass(order=True)
class _Retry:
    """A sample that is begun again, and when."""

    at: float
    number: int
    job: Job = field(compare=False)


@dataclass
class _State:
    """How far a benchmark is."""

    waiting: _Queue
    progress: BenchProgress
    retries: list[_Retry] = field(default_factory=list)
    """A heap; their places are kept for them."""
    failures: Counter[tuple[str, ...]] = field(default_factory=Counter)
    """How often each sample under way could not be run."""
    paid: dict[tuple[str, ...], float] = field(default_factory=lambda: defaultdict(float))
    """What each of them has cost, in dollars, where it could not be run."""
    choosing: int = 0
    """Samples of which the best attempt is being chosen."""
    failed: set[tuple[str, ...]] = field(default_factory=set)
    """Samples that could not be run; several attempts at one may have failed."""
    unwritten: int = 0
    """Samples that ended and could not be written down."""


@dataclass(frozen=True)
class BestOf:
    """Several attempts at each sample, of which one becomes its result."""

    count: int
    choose: Callable[[Job, Sequence[SampleRecord], Stop], SampleRecord]
    """The sample, of all attempts in order.

    Raises:
        InfrastructureError: None could be chosen.
    """


class Runner:
    """Runs jobs.

    Args:
        root: Folder of the results.
        attempt: Runs one sample on a thread here; or what runs them elsewhere.
        options: How many at a time, and retries.
        on_progress: Told whenever a sample has ended, and at every beat in which none has.
        best_of: How often each sample is attempted; None: once.
    """

    def __init__(
        self,
        root: Path,
        attempt: Attempt | Executor,
        options: RunnerOptions | None = None,
        on_progress: Callable[[BenchProgress], None] | None = None,
        best_of: BestOf | None = None,
    ) -> None:
        self._root = root
        self._best_of = best_of
        self._attempts: dict[tuple[str, ...], dict[int, SampleRecord]] = {}
        """Those of samples under way, by number."""
        self._choosers = ThreadExecutor(self._choose)
        self._executor = ThreadExecutor(attempt) if callable(attempt) else attempt
        self._options = options or RunnerOptions()
        self._on_progress = on_progress or (lambda progress: None)
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
        jobs = list(jobs)
        queue = _Queue(self._split(jobs))
        state = _State(queue, BenchProgress(len(jobs)))
        try:
            while self._begin(state, stop):
                for ended in self._executor.take(stop, self._seconds_to_wait(state)):
                    self._end(state, ended, stop)
                for ended in self._choosers.take(stop, 0) if state.choosing else ():
                    self._end(state, ended, stop)
                self._beat(state)
        except BaseException as error:
            stop.set("because the benchmark ended")
            self._keep_ended(state)
            if isinstance(error, OSError) and state.unwritten:
                raise self._unwritten(state, error) from error
            raise
        return state.progress

    def _split(self, jobs: Sequence[Job]) -> Iterator[Job]:
        """The attempts that are left of each sample; of one that has all, the choice."""
        if self._best_of is None:
            yield from jobs
            return
        left = {self._key(job) for job in jobs}
        for files in {id(files): files for files in map(self._results, jobs)}.values():
            for sample in files.list_attempts():
                key = (sample.agent, sample.suite, sample.id.rpartition(":")[0])
                if key in left and 1 <= sample.task.attempt <= self._best_of.count:
                    self._attempts.setdefault(key, {})[sample.task.attempt] = sample
        for job in jobs:
            known = self._attempts.setdefault(self._key(job), {})
            numbers = [n for n in range(1, self._best_of.count + 1) if n not in known]
            for number in numbers or [0]:
                yield replace(job, attempt=number, attempt_count=self._best_of.count)

    @staticmethod
    def _key(job: Job) -> tuple[str, ...]:
        return (job.agent.name, job.suite.name, job.sample_id)

    def _choose(self, job: Job, stop: Stop) -> SampleRecord:
        assert self._best_of is not None
        found = self._attempts[self._key(job)]
        attempts = [found[number] for number in range(1, self._best_of.count + 1)]
        return self._best_of.choose(job, attempts, stop)

    def _begin(self, state: _State, stop: Stop) -> bool:
        """Begin as many as there is room for; whether any are under way."""
        stop.check()
        jobs = []
        while state.retries and state.retries[0].at <= time.monotonic():
            jobs.append(heapq.heappop(state.retries).job)
        places = self._options.workers or self._executor.count_places()
        while len(jobs) < BATCH and state.waiting.running < places:
            job = None if self._is_spent(state.progress) else state.waiting.take()
            if job is None:
                break
            jobs.append(job)
        choices = [job for job in jobs if self._is_choice(job)]
        if choices:
            self._begin_choices(state, choices, stop)
        if len(jobs) > len(choices):
            self._executor.begin([job for job in jobs if not self._is_choice(job)], stop)
        return state.waiting.running > 0

    def _is_spent(self, progress: BenchProgress) -> bool:
        limit = self._options.cost_limit_dollars
        return limit is not None and progress.cost_dollars >= limit

    def _is_choice(self, job: Job) -> bool:
        """Whether all attempts are there, and one is to be chosen."""
        return self._best_of is not None and not job.attempt

    def _begin_choices(self, state: _State, jobs: Sequence[Job], stop: Stop) -> None:
        state.choosing += len(jobs)
        self._choosers.begin(jobs, stop)

    @staticmethod
    def _seconds_to_wait(state: _State) -> float:
        longest = CHOICE_SECONDS if state.choosing else LOOK_SECONDS
        if not state.retries:
            return longest
        return min(longest, max(0.0, state.retries[0].at - time.monotonic()))

    def _end(self, state: _State, ended: Ended, stop: Stop) -> None:
        """Write down what came of a sample, or have it begun again.

        Raises:
            BaseException: What is not the sample's: our own fault, or a full disk.
        """
        job, result = ended
        key = (*_places(job), job.id)
        state.choosing -= self._is_choice(job)
        if isinstance(result, InfrastructureError):
            state.failures[key] += 1
            attempts = state.failures[key]
            state.paid[key] += result.cost_dollars
            cost = state.progress.cost_dollars + result.cost_dollars
            state.progress = replace(state.progress, cost_dollars=cost)
            if result.retryable and attempts <= self._options.retry_limit:
                at = time.monotonic() + self._options.backoff_seconds * 2 ** (attempts - 1)
                heapq.heappush(state.retries, _Retry(at, state.failures.total(), job))
                return
            word, text, paid = result.word, str(result), state.paid[key]
            failure = Failure(job.item.index, job.epoch, word, text, attempts, paid)
            self._finish(state, job, failure)
        elif isinstance(result, SampleRecord):
            sample = replace(result, retries=result.retries + state.failures[key])
            if job.attempt and self._finish_attempt(state, job, sample):
                # Its place is held until one is chosen, so that what goes on from it waits.
                self._begin_choices(state, [replace(job, attempt=0)], stop)
                self._forget_failures(state, key)
                return
            if not job.attempt:
                self._finish(state, job, sample)
        elif not (isinstance(result, RunCancelled) and stop.is_set()):
            raise result
        self._forget_failures(state, key)
        state.waiting.leave(job)

    @staticmethod
    def _forget_failures(state: _State, key: tuple[str, ...]) -> None:
        del state.failures[key]
        state.paid.pop(key, None)

    def _keep_ended(self, state: _State) -> None:
        """Write down what ended before all was stopped: it was paid for."""
        for job, result in (*self._executor.abandon(), *self._choosers.abandon()):
            if isinstance(result, SampleRecord):
                finish = self._finish_attempt if job.attempt else self._finish
                with contextlib.suppress(OSError):
                    finish(state, job, result, writing_seconds=0.0)

    def _unwritten(self, state: _State, error: OSError) -> StoreError:
        noun = "sample" if state.unwritten == 1 else "samples"
        return StoreError(
            f"{state.unwritten} {noun} ended and cannot be written: {error}. "
            f"{state.progress.done} are on disk.",
            hint=f"Make room, then: cellwright bench resume {self._root}",
        )

    def _finish_attempt(
        self,
        state: _State,
        job: Job,
        attempt: SampleRecord,
        writing_seconds: float | None = None,
    ) -> bool:
        """Write down one of several attempts; whether it is the last of its sample."""
        assert self._best_of is not None
        self._write(state, lambda: self._results(job).add_attempt(attempt), writing_seconds)
        found = self._attempts[self._key(job)]
        found[job.attempt] = attempt
        cost = state.progress.cost_dollars + (attempt.cost_dollars or 0.0)
        state.progress = replace(state.progress, cost_dollars=cost)
        return len(found) == self._best_of.count

    def _finish(
        self,
        state: _State,
        job: Job,
        ended: SampleRecord | Failure,
        writing_seconds: float | None = None,
    ) -> None:
        files = self._results(job)

        def add() -> None:
            if isinstance(ended, Failure):
                files.add_failure(ended)
            else:
                files.add(ended)

        self._write(state, add, writing_seconds)
        state.progress = self._advanced(state, job, ended)
        self._tell(state)

    def _write(self, state: _State, add: Callable[[], None], writing_seconds: float | None) -> None:
        """Write down what has ended.

        Raises:
            OSError: It cannot be written; it is counted as lost.
        """
        seconds = self._options.writing_seconds if writing_seconds is None else writing_seconds
        try:
            retry(add, OSError, seconds, LOOK_SECONDS)
        except OSError:
            state.unwritten += 1
            raise

    def _beat(self, state: _State) -> None:
        if time.monotonic() - self._told_at < self._options.beat_seconds:
            return
        seconds = time.monotonic() - self._started
        state.progress = replace(state.progress, seconds=seconds, running=state.waiting.running)
        self._tell(state)

    def _tell(self, state: _State) -> None:
        self._told_at = time.monotonic()
        self._on_progress(state.progress)

    def _advanced(self, state: _State, job: Job, ended: SampleRecord | Failure) -> BenchProgress:
        old = replace(
            state.progress,
            seconds=time.monotonic() - self._started,
            running=state.waiting.running - 1,
        )
        if isinstance(ended, Failure):
            state.failed.add(self._key(job))
            return replace(old, failures=len(state.failed))
        paid = sum(a.cost_dollars or 0.0 for a in self._attempts.pop(self._key(job), {}).values())
        cost = old.cost_dollars + (ended.cost_dollars or 0.0) - paid
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


# Where samples run: kernels here or behind a gateway, on threads or on a Dask cluster.
#
# A sample that goes far away travels as a ``Parcel``: what is asked, its files and checks, and what
# the agent will say where that is known. No key travels: who asks a model there takes the service
# and its key from the settings there.


@dataclass(frozen=True)
class Equipment:
    """Which kernels samples run in."""

    kernels: InterpreterChoice = field(default_factory=InterpreterChoice)
    gateway: Gateway | None = None
    """Where they run; None: here."""
    environment_names: tuple[str, ...] = ()
    """Variables that kernels are given beside those that all of them are."""
    hidden: tuple[str, ...] = ()
    """Files and folders that kernels cannot open, wherever they run."""
    may_install: bool = False
    """Kernels may write into the environment of their interpreter."""


class Equipped(NamedTuple):
    """Rooms with such kernels."""

    rooms: Rooms
    notice: str = ""
    """What the person should know of them."""


@contextlib.contextmanager
def equipped(equipment: Equipment, environ: Mapping[str, str]) -> Iterator[Equipped]:
    """Rooms with the kernels that were chosen.

    Args:
        equipment: Which.
        environ: What the suite wants in their environment.

    Raises:
        SetupError: The interpreter cannot start a kernel.
    """
    if equipment.gateway is not None:
        gateway = replace(equipment.gateway, environment_names=equipment.environment_names)
        yield Equipped(Rooms(environ, gateway.start, is_local=False))
        return
    names = equipment.environment_names
    is_apart = bool(equipment.kernels.isolation.program)
    with kernels_of(equipment.kernels, kernel_environment(environ, names)) as kernels:
        rooms = Rooms(
            environ,
            kernels.start,
            environment_names=names,
            hidden=equipment.hidden,
            writable=kernels.packages() if equipment.may_install else (),
            is_apart=is_apart,
        )
        yield Equipped(rooms, kernels.notice)


@dataclass(frozen=True)
class Parcel:
    """A sample for one agent, once, as it travels."""

    suite: str
    environ: Mapping[str, str]
    item: Item
    """Without its files; its prompt shows what was before it."""
    files: Mapping[str, bytes]
    epoch: int
    attempt: int
    attempt_count: int
    agent: str
    model: str
    replies: Answerer | None
    """What will be said; None: a model is to be asked."""
    request: RunRequest
    """How the agent is asked."""
    judge: str = ""
    """The model that checks ask; empty: none."""
    shared: SharedRates | None = None
    """How often models are asked from all samples together; None: as often as they answer."""


def pack(job: Job) -> Parcel:
    """The job as it travels.

    Raises:
        InfrastructureError: There is nothing that could be run.
    """
    try:
        answerer = job.agent.answerer(job.item, job.try_number)
        files = {name: path.read_bytes() for name, path in job.item.files.items()}
    except (NoAnswerError, OSError) as error:
        raise InfrastructureError("START_FAILED", str(error), retryable=False) from error
    return Parcel(
        job.suite.name,
        job.suite.environ,
        replace(job.item, prompt=shown_prompt(job.item), history=(), files={}),
        files,
        job.epoch,
        job.attempt,
        job.attempt_count,
        job.agent.name,
        answerer.model,
        answerer if isinstance(answerer.lm, ReplayLM) else None,
        job.agent.request,
    )


@contextlib.contextmanager
def unpacked(parcel: Parcel, agent: Agent | None = None) -> Iterator[Job]:
    """The job again, its files in a folder for as long as the ``with`` lasts.

    Args:
        parcel: What came.
        agent: Asks the model, where no replies came with it.
    """
    with tempfile.TemporaryDirectory(prefix="cw-parcel-", dir=own_samples_folder()) as folder:
        files = {}
        for name, content in parcel.files.items():
            files[name] = Path(folder, name)
            files[name].parent.mkdir(parents=True, exist_ok=True)
            files[name].write_bytes(content)
        item = replace(parcel.item, files=files)
        suite = Suite(parcel.suite, (item,), environ=parcel.environ)
        known = parcel.replies
        if known is not None:
            agent = Agent(parcel.agent, lambda item, epoch: known)
        assert agent is not None, "a sample for a model came without an agent"
        agent = replace(agent, name=parcel.agent, request=parcel.request)
        yield Job(suite, item, agent, parcel.epoch, parcel.attempt, parcel.attempt_count)


# Samples on the workers of a Dask cluster; each that ends is recorded here, once.
#
# One thread begins them and takes what they came to, however many run at a time. A sample whose
# worker dies is run again on another one by Dask itself; what the first had done of it is recorded
# nowhere. After Ctrl-C, samples that are under way end on their workers and are not looked at.


Work = Callable[[Parcel, Equipment], Mapping[str, Any]]
"""Runs a sample on a worker: ``{"sample": its record}``, or ``{"failure": word, ...}``."""
CONNECT_SECONDS = 20.0
GATHER_SECONDS = 20.0
"""A worker may be gone with what it had to give; the sample is then run once more."""
COUNT_SECONDS = 2.0
LOST = "NETWORK_ERROR"


class Cluster:
    """A connection to a scheduler.

    Args:
        address: Such as ``tcp://10.0.0.1:8786``.
        rates: How often models are asked from all workers together.

    Raises:
        SetupError: dask is not installed, there is no scheduler, or it cannot keep the rates.
    """

    def __init__(self, address: str, rates: Rates | None = None) -> None:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError as error:
            raise missing_extra(
                f"--executor dask needs the package distributed: {error}.", "dask"
            ) from error
        if not address:
            raise SetupError(
                "--executor dask needs a scheduler.", hint="Name one: --scheduler tcp://HOST:PORT"
            )
        try:
            self._client = distributed.Client(
                address, timeout=CONNECT_SECONDS, set_as_default=False
            )
        except (OSError, ValueError) as error:
            raise SetupError(
                f"There is no Dask scheduler at {address!r}: {error}.",
                hint="Start one with `dask scheduler`.",
            ) from error
        self._shared = self._kept(rates) if rates and rates != Rates() else None

    def executor(self, work: Work, equipment: Equipment, judge: str = "") -> ClusterExecutor:
        """Runs samples on whichever worker is free; ``judge`` is the model that checks ask."""
        return ClusterExecutor(self._client, work, equipment, (judge, self._shared))

    def close(self) -> None:
        """Let go of the cluster; it stays."""
        if self._shared is not None:
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.run_on_scheduler(forget_paces, self._shared.benchmark)
        self._client.close()

    def _kept(self, rates: Rates) -> SharedRates:
        try:
            self._client.run_on_scheduler(keep_paces)
        except Exception as error:  # whatever keeps the scheduler's own Python from it
            self._client.close()
            raise SetupError(
                f"The Dask scheduler cannot keep the rates: {type(error).__name__}: {error}.",
                hint="Install cellwright where the scheduler runs, or leave the rates out.",
            ) from error
        return SharedRates(uuid.uuid4().hex, rates)


class ClusterExecutor:
    """Runs samples on the workers of a cluster; ``Executor``.

    Args:
        client: Of Dask.
        work: Runs one on a worker.
        equipment: Which kernels they run in.
        services: The model that checks ask, and the rates that hold for all workers.
    """

    def __init__(
        self,
        client: Any,
        work: Work,
        equipment: Equipment,
        services: tuple[str, SharedRates | None] = ("", None),
    ) -> None:
        self._client = client
        self._work = functools.partial(_run_payload, work)
        self._equipment = equipment
        self._judge, self._shared = services
        self._done: Inbox[Any] = Inbox()
        self._running: dict[str, tuple[Job, Any]] = {}
        self._refused: list[Ended] = []
        self._places, self._counted_at = 0, 0.0

    def begin(self, jobs: Sequence[Job], stop: Stop) -> None:
        """Hand these samples to the scheduler."""
        if self._client.status not in ("running", "connecting"):
            raise SetupError(
                "The Dask scheduler is gone.", hint="Go on with another: cellwright bench resume"
            )
        payloads: dict[str, bytes] = {}
        sent: dict[str, Job] = {}
        for job in jobs:
            try:
                payload = self._payload(job)
            except InfrastructureError as error:
                self._refused.append(Ended(job, error))
                continue
            key = f"cellwright-{uuid.uuid4().hex}"
            payloads[key], sent[key] = payload, job
        if not sent:
            return
        futures = self._client.map(self._work, [*payloads.values()], key=[*payloads], pure=False)
        for future in futures:
            self._running[future.key] = (sent[future.key], future)
            future.add_done_callback(self._done.put)

    def take(self, stop: Stop, seconds: float) -> list[Ended]:
        """Those that have ended, fetched together."""
        refused, self._refused = self._refused, []
        return [*refused, *self._fetch(self._done.take_all(stop, 0 if refused else seconds))]

    def count_places(self) -> int:
        """The workers' threads now, and some more: no worker waits for what we send next."""
        if time.monotonic() - self._counted_at > COUNT_SECONDS:
            threads = sum(self._client.nthreads().values())
            self._places = max(1, threads + threads // 8)
            self._counted_at = time.monotonic()
        return self._places

    def abandon(self) -> list[Ended]:
        """Those that have ended; the others end on their workers, unseen."""
        ended: list[Ended] = []
        with contextlib.suppress(Exception):  # the scheduler may be gone
            ended = self._fetch(self._done.take_all(Stop(), 0))
            self._client.cancel([future for _, future in self._running.values()])
        self._running.clear()
        return ended

    def _payload(self, job: Job) -> bytes:
        parcel = replace(pack(job), judge=self._judge, shared=self._shared)
        # Bytes: Dask would look through every part of a sample to give it a name.
        dumps: Any = importlib.import_module("cloudpickle").dumps
        payload: bytes = dumps((parcel, self._equipment))
        return payload

    def _fetch(self, futures: Sequence[Any]) -> list[Ended]:
        futures = [future for future in futures if future.key in self._running]
        finished = [future for future in futures if future.status == "finished"]
        found: dict[str, Any] = {}
        try:
            gather = functools.partial(self._client.gather, asynchronous=True)
            values = self._client.sync(gather, finished, callback_timeout=GATHER_SECONDS)
            found = {future.key: value for future, value in zip(finished, values, strict=True)}
        except Exception:  # a worker is gone with its result, and Dask runs the sample once more
            for future in finished:
                future.add_done_callback(self._done.put)
            futures = [future for future in futures if future not in finished]
        return [self._ended(future, found.get(future.key)) for future in futures]

    def _ended(self, future: Any, found: Mapping[str, Any] | None) -> Ended:
        job, _ = self._running.pop(future.key)
        if found is None:
            return Ended(job, _lost(future))
        if "failure" in found:
            error = InfrastructureError(
                found["failure"],
                found["text"],
                retryable=bool(found["retryable"]),
                cost_dollars=float(found.get("cost_dollars", 0.0)),
            )
            return Ended(job, error)
        return Ended(job, SampleRecord.from_dict(found["sample"]))


def _run_payload(work: Work, payload: bytes) -> Mapping[str, Any]:
    """Run a sample that came to a worker."""
    return work(*pickle.loads(payload))


def _lost(future: Any) -> InfrastructureError:
    """Why no worker could: all that had it died, or the worker's program raised."""
    try:
        error = future.exception(timeout=GATHER_SECONDS)
    except Exception as cancelled:
        error = cancelled
    return InfrastructureError(LOST, f"{type(error).__name__}: {error}")
