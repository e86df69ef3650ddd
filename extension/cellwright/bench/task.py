"""What AgentBench calls a task: its names and values, and the session a sample is run in.

Source: requirements 001. A task written for AgentBench 0.2 runs as it is, its imports aside.
"""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, TypeAlias

from cellwright.errors import SetupError

JSONSerializable: TypeAlias = (
    "None | bool | int | float | str | list[JSONSerializable] | dict[str, JSONSerializable]"
)
SampleIndex = int | str
Role = Literal["user", "agent"]
ROLES: tuple[Role, ...] = ("user", "agent")


class SampleStatus(StrEnum):
    """How a sample ended; ``completed`` says nothing of whether the answer is right."""

    RUNNING = "running"
    COMPLETED = "completed"
    AGENT_CONTEXT_LIMIT = "agent context limit"
    AGENT_VALIDATION_FAILED = "agent validation failed"
    AGENT_INVALID_ACTION = "agent invalid action"
    TASK_LIMIT_REACHED = "task limit reached"
    UNKNOWN = "unknown"
    TASK_ERROR = "task error"
    CANCELLED = "cancelled"
    """Ours: AgentBench 0.2 has it for the agent's output only."""


class AgentOutputStatus(StrEnum):
    """How the agent's turn ended."""

    NORMAL = "normal"
    CANCELLED = "cancelled"
    AGENT_CONTEXT_LIMIT = "agent context limit"


@dataclass(frozen=True)
class AgentOutput:
    """One turn of the agent."""

    status: AgentOutputStatus = AgentOutputStatus.NORMAL
    content: str | None = None

    def __post_init__(self) -> None:
        if self.status == AgentOutputStatus.NORMAL and self.content is None:
            raise ValueError("content is None, which a turn with the status 'normal' cannot have")


@dataclass
class ChatHistoryItem:
    """One entry of the history.

    Not frozen: tasks of AgentBench shorten what they said before by setting ``content``.
    """

    role: Role
    content: str

    def __post_init__(self) -> None:
        if self.role not in ROLES:
            raise ValueError(f"role is {self.role!r}; it must be 'user' or 'agent'")


@dataclass(frozen=True)
class TaskSampleExecutionResult:
    """What ``start_sample`` returns. Name the status: a default cannot know how the sample went."""

    status: SampleStatus = SampleStatus.COMPLETED
    result: JSONSerializable = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "status", SampleStatus(self.status))  # AgentBench takes its text


def sample_result(
    status: SampleStatus, result: JSONSerializable = None
) -> TaskSampleExecutionResult:
    """What ``start_sample`` returns, with the status that has to be thought of (X-11)."""
    return TaskSampleExecutionResult(status, result)


@dataclass(frozen=True)
class TaskOutput:
    """A sample with what came of it, as ``calculate_overall`` is given it."""

    index: SampleIndex | None = None
    status: SampleStatus = SampleStatus.RUNNING
    result: JSONSerializable = None
    history: list[ChatHistoryItem] | None = None


Ask = Callable[[list[ChatHistoryItem]], AgentOutput]
"""The agent: the history so far in, its turn out. It is called on a thread of its own."""


class Session:
    """A sample's talk with the agent.

    Args:
        ask: The agent.
    """

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        self._is_asking = False
        self.history: list[ChatHistoryItem] = []

    def inject(self, item: Any) -> None:
        """Append to the history without waiting: an item, a dict of one, or (nested) lists.

        Raises:
            TypeError: It is something else.
        """
        if not item:
            return
        if isinstance(item, ChatHistoryItem):
            self.history.append(item)
        elif isinstance(item, dict):
            self.history.append(ChatHistoryItem(**item))
        elif isinstance(item, (list, tuple)):
            for part in item:
                self.inject(part)
        else:
            raise TypeError(f"item is {item!r}; it must be a ChatHistoryItem, a dict or a list")

    async def action(self, *injection: Any) -> AgentOutput:
        """Append ``injection``, then wait for the agent's turn.

        Raises:
            RuntimeError: The agent is being waited for already.
        """
        if self._is_asking:
            raise RuntimeError("The agent is asked already; wait for that turn first.")
        self.inject(list(injection))
        self._is_asking = True
        try:
            output = await asyncio.to_thread(self._ask, list(self.history))
        finally:
            self._is_asking = False
        if output.status == AgentOutputStatus.NORMAL:
            self.history.append(ChatHistoryItem("agent", output.content or ""))
        return output


class Task:
    """A set of samples, and how one of them is run.

    Args:
        name: Usually from the configuration.
        concurrency: How many samples may run at a time.

    Raises:
        SetupError: The name or the number cannot be used.
    """

    def __init__(self, name: str, concurrency: int = 1, *args: Any, **kwargs: Any) -> None:
        if not name or "/" in name or "\\" in name or name in (".", ".."):
            raise SetupError(
                f"The task's name is {name!r}.", hint="It names a folder: use no slash."
            )
        if concurrency < 1:
            raise SetupError(f"concurrency is {concurrency!r}.", hint="It must be at least 1.")
        self.name = name
        self.concurrency = concurrency

    def get_indices(self) -> list[SampleIndex]:
        """The indices of all samples."""
        raise NotImplementedError

    async def start_sample(self, index: SampleIndex, session: Session) -> TaskSampleExecutionResult:
        """Run one sample."""
        raise NotImplementedError

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        """Sum up; what it returns is ``custom`` in ``overall.json``."""
        raise NotImplementedError

    def release(self) -> None:
        """Let go of what the task holds; called once, after all samples."""


def checked_indices(task: Task) -> list[SampleIndex]:
    """The task's indices; 1 and "1" are two different ones.

    Raises:
        SetupError: One is there twice.
    """
    indices = list(task.get_indices())
    seen: set[tuple[type, SampleIndex]] = set()
    for index in indices:
        if (type(index), index) in seen:
            raise SetupError(
                f"Task {task.name!r} has the index {index!r} twice.", hint="Give each sample one."
            )
        seen.add((type(index), index))
    return indices


def run_sample(task: Task, index: SampleIndex, ask: Ask) -> TaskOutput:
    """Run one sample to its end; what goes wrong in it is ``task error``, with the traceback."""
    session = Session(ask)
    try:
        result = _checked_result(asyncio.run(task.start_sample(index, session)))
    except Exception:  # a sample that fails is recorded, and the others go on
        result = TaskSampleExecutionResult(SampleStatus.TASK_ERROR, traceback.format_exc())
    return TaskOutput(index, result.status, result.result, session.history)


def _checked_result(result: Any) -> TaskSampleExecutionResult:
    if isinstance(result, TaskSampleExecutionResult):
        return result
    reason = f"start_sample returned {result!r}; it must return a TaskSampleExecutionResult"
    return TaskSampleExecutionResult(SampleStatus.TASK_ERROR, {"reason": reason})


# The smallest task there is: three turns, then done. To try a recorder or an agent with.


SAMPLES = 10
TURNS = 3


class VirtualTask(Task):
    """Ten samples of three turns each; the score is always 0.4."""

    def __init__(self, name: str = "virtual-task", concurrency: int = 1) -> None:
        super().__init__(name, concurrency)

    def get_indices(self) -> list[SampleIndex]:
        """0 to 9."""
        return list(range(SAMPLES))

    async def start_sample(self, index: SampleIndex, session: Session) -> TaskSampleExecutionResult:
        """Talk for three turns."""
        for turn in range(TURNS):
            output = await session.action({"role": "user", "content": f"Turn {turn}"})
            if output.status == AgentOutputStatus.CANCELLED:
                return TaskSampleExecutionResult(SampleStatus.CANCELLED)
            if output.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
                return TaskSampleExecutionResult(SampleStatus.AGENT_CONTEXT_LIMIT)
        return TaskSampleExecutionResult(SampleStatus.COMPLETED, {"result": "ok"})

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        """The score, whatever happened."""
        return {"score": 0.4}
