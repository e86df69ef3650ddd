"""What AgentBench calls a task: its names and values, and the session a sample is run in.

Source: requirements 001. ``bench.agentbench`` runs tasks written for AgentBench 0.2 as they are.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Awaitable, Callable
from enum import IntEnum, StrEnum
from typing import Any, Literal, Self

from pydantic import BaseModel, model_validator

from cellwright.errors import SetupError

JSONSerializable = None | bool | int | float | str | list[Any] | dict[str, Any]
SampleIndex = int | str
Role = Literal["user", "agent"]


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


class WorkerStatus(IntEnum):
    """Whether a worker can be given samples."""

    ALIVE = 0
    COMA = 1
    DEAD = 2


class AgentBenchModel(BaseModel):
    """What AgentBench 0.2 sends and keeps; tasks call it by the names of pydantic 1."""

    def dict(self, **options: Any) -> dict[str, Any]:
        """The fields by name."""
        return self.model_dump(**options)

    def json(self, **options: Any) -> str:
        """The fields as JSON."""
        return self.model_dump_json(**options)

    @classmethod
    def parse_obj(cls, obj: Any) -> Self:
        """An object from its fields."""
        return cls.model_validate(obj)


class AgentOutput(AgentBenchModel):
    """One turn of the agent."""

    status: AgentOutputStatus = AgentOutputStatus.NORMAL
    content: str | None = None

    @model_validator(mode="after")
    def _has_content(self) -> Self:
        if self.status == AgentOutputStatus.NORMAL and self.content is None:
            raise ValueError("content is None, which a turn with the status 'normal' cannot have")
        return self


class ChatHistoryItem(AgentBenchModel):
    """One entry of the history; tasks shorten what they said before by setting ``content``."""

    role: Role
    content: str


class TaskSampleExecutionResult(AgentBenchModel):
    """What ``start_sample`` returns."""

    status: SampleStatus = SampleStatus.COMPLETED
    result: JSONSerializable = None


class TaskOutput(AgentBenchModel):
    """A sample with what came of it, as ``calculate_overall`` is given it."""

    index: SampleIndex | None = None
    status: SampleStatus = SampleStatus.RUNNING
    result: JSONSerializable = None
    history: list[ChatHistoryItem] | None = None


Ask = Callable[[list[ChatHistoryItem]], Awaitable[AgentOutput]]
"""The agent: what it is shown of the history in, its turn out."""

SHOWN_SEGMENTS = 3_500
SEGMENT = re.compile(r"[^\W\d_]{1,7}|[^ \n]")
"""As AgentBench 0.2 measures: seven letters of a word, or one other character."""


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

    def clear(self) -> None:
        """Forget what was said."""
        self.history = []

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
            output = await self._ask(shorten_history(self.history))
        finally:
            self._is_asking = False
        if output.status == AgentOutputStatus.NORMAL:
            self.history.append(ChatHistoryItem(role="agent", content=output.content or ""))
        return output


def shorten_history(history: list[ChatHistoryItem]) -> list[ChatHistoryItem]:
    """What the agent is shown, as AgentBench 0.2 does, or its scores could not be compared.

    The first item, which says how many are left out, and the newest that fit.
    """
    if not history:
        return []
    first, *others = history
    size, kept = _count_segments(first), list[ChatHistoryItem]()
    for item in reversed(others):
        size += _count_segments(item)
        if size >= SHOWN_SEGMENTS:
            break
        kept.insert(0, item)
    if kept and kept[0].role == "user" and len(kept) < len(others):
        kept.pop(0)
    omitted = len(others) - len(kept)
    notice = f"\n\n[NOTICE] {omitted} messages are omitted." if omitted else ""
    return [ChatHistoryItem(role=first.role, content=first.content + notice), *kept]


def _count_segments(item: ChatHistoryItem) -> int:
    return len(SEGMENT.findall(item.content))


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

    async def start_sample(
        self, index: SampleIndex, session: Session
    ) -> TaskSampleExecutionResult | TaskOutput:
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


async def run_sample(task: Task, index: SampleIndex, ask: Ask) -> TaskOutput:
    """Run one sample to its end; what goes wrong in it is ``task error``, with the traceback."""
    session = Session(ask)
    try:
        result = _checked_result(await task.start_sample(index, session))
    except (Exception, SystemExit):  # a sample that fails is recorded, and the others go on
        result = TaskSampleExecutionResult(
            status=SampleStatus.TASK_ERROR, result=traceback.format_exc()
        )
    return TaskOutput(
        index=index, status=result.status, result=result.result, history=session.history
    )


def _checked_result(result: Any) -> TaskSampleExecutionResult:
    if isinstance(result, (TaskSampleExecutionResult, TaskOutput)):
        return TaskSampleExecutionResult(status=result.status, result=result.result)
    raise TypeError(f"start_sample returned {result!r}; not a TaskSampleExecutionResult")


# The smallest task there is, ``agentbench:virtual-task``: to try an agent or an assigner with.


SAMPLES = 10
TURNS = 3


class VirtualTask(Task):
    """Ten samples of three turns each; the score is always 0.4."""

    def __init__(self, name: str = "virtual-task", concurrency: int = 1) -> None:
        super().__init__(name, concurrency)

    def get_indices(self) -> list[SampleIndex]:
        """0 to 9."""
        return list(range(SAMPLES))

    async def start_sample(
        self, index: SampleIndex, session: Session
    ) -> TaskSampleExecutionResult | TaskOutput:
        """Talk for three turns."""
        for turn in range(TURNS):
            output = await session.action({"role": "user", "content": f"Turn {turn}"})
            if output.status == AgentOutputStatus.CANCELLED:
                return TaskSampleExecutionResult(status=SampleStatus.CANCELLED)
            if output.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
                return TaskSampleExecutionResult(status=SampleStatus.AGENT_CONTEXT_LIMIT)
        return TaskSampleExecutionResult(status=SampleStatus.COMPLETED, result={"result": "ok"})

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        """The score, whatever happened."""
        return {"score": 0.4}
