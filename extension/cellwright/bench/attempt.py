"""One attempt at one sample: a room, a run, its checks, the record."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from cellwright import errors
from cellwright.assistants import Assistant
from cellwright.bench.agents import Agent, Answerer, NoAnswerError
from cellwright.bench.checks import needs_run, score_all
from cellwright.bench.environments import Room, Rooms, RoomScene, SetupFailedError
from cellwright.bench.judge_check import keep_thumbs
from cellwright.bench.scenes import BrokenSampleError
from cellwright.bench.suites import Item, Suite, shown_prompt
from cellwright.errors import KernelError, LMError, RunCancelled, SetupError
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.composer import RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.runs import RunMemory
from cellwright.text.redaction import Redactor

# What an agent did itself in the earlier samples of a session.


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
CELL_SECONDS = 300.0


class InfrastructureError(Exception):
    """The sample could not be run; it says nothing of the agent.

    Args:
        word: AgentBench's word for it.
        text: What happened.
        retryable: Whether trying again may help.
    """

    def __init__(self, word: str, text: str, *, retryable: bool = True) -> None:
        super().__init__(text)
        self.word = word
        self.retryable = retryable


@dataclass(frozen=True)
class Job:
    """One sample for one agent, once."""

    suite: Suite
    item: Item
    agent: Agent
    epoch: int = 1

    @property
    def id(self) -> str:
        """Names the sample and the epoch among those of one agent at one suite."""
        return f"{self.suite.name}:{self.item.index!r}:{self.epoch}"


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
        """Rooms with what the suite wants in the kernels' environment."""
        return replace(self.rooms, environ={**self.rooms.environ, **suite.environ})


def attempt(job: Job, laboratory: Laboratory, stop: Stop) -> SampleRecord:
    """Run a sample and score it.

    Raises:
        InfrastructureError: It could not be run.
        RunCancelled: ``stop`` was set; nothing of the sample counts.
    """
    rooms = laboratory.rooms_of(job.suite)
    with _starting(), contextlib.ExitStack() as stack:
        answerer = job.agent.answerer(job.item, job.epoch)
        room = stack.enter_context(rooms.open(job.item, stop))
        record = _run(job, answerer, room, laboratory, stop)
        stop.check()
        if room.kernel.failure:
            raise InfrastructureError("START_FAILED", room.kernel.failure)
        _check_infrastructure(record)
        sample = _described(sample_of(record, job.id), job)
        scene = RoomScene(room, rooms, job.item, str(sample.result), sample.cells)
        if job.suite.is_in_order:
            laboratory.memory.note(sample)
        scores = _scores(job.item, scene, room)
        # A check may be the first to need a kernel.
        return replace(sample, scores=scores, env={**sample.env, **_kernel_facts(room.kernel.way)})


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


def _run(job: Job, answerer: Answerer, room: Room, laboratory: Laboratory, stop: Stop) -> RunRecord:
    item, settings = job.item, laboratory.settings
    own = laboratory.memory.before(job.agent.name, job.epoch, item.session)
    store, notebook = RunMemory(), MemoryNotebook()
    place = RunContext(room.kernel, store, laboratory.redactor, "bench", notebook=notebook)
    conversation = Conversation(replace(place, prices=settings.prices))
    request = RunRequest(
        shown_prompt(item, own if job.suite.is_in_order else None),
        Parameters(answerer.model),
        files=tuple(item.files),
        mode="auto",
        assistant=Assistant("", tools=item.tools),
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
    if record.status == "cancelled":
        raise RunCancelled(record.reason)
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
        job.suite.name, item.index, item.session, item.step, job.epoch, item.group, item.family
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


def _kernel_facts(way: str) -> dict[str, str]:
    """How the kernel was started; behind a gateway nobody sets the seed of its hashes."""
    return {"hash_seed": "" if way == "gateway" else "0", "kernel_way": way}


def _scores(item: Item, scene: RoomScene, room: Room) -> tuple[Score, ...]:
    if not room.kernel.is_alive():
        why = "the kernel did not survive the agent's code"
        return tuple(Score(check.kind, 0.0, passed=False, explanation=why) for check in item.checks)
    return score_all(item.checks, scene)


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
        cells = tuple(_again(cell, room) for cell in sample.cells) if is_run else sample.cells
        scene = RoomScene(room, rooms, item, str(sample.result), cells)
        return replace(sample, scores=keep_thumbs(sample.scores, score_all(item.checks, scene)))


def _again(cell: SampleCell, room: Room) -> SampleCell:
    ran = room.run(cell.source, CELL_SECONDS, cell.id)
    return replace(ran, origin=cell.origin, is_kept=cell.is_kept)
