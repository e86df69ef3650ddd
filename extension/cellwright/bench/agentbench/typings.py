"""What a task finds under ``src.typings``; ``checkout`` puts it there."""

from __future__ import annotations

import importlib

# Tasks take these from here as well: they write ``from src.typings import *``.
from typing import Any, Dict, List, Literal, Union  # noqa: UP035

from pydantic import field_validator

from cellwright.bench.task import (
    AgentBenchModel,
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    JSONSerializable,
    SampleIndex,
    SampleStatus,
    TaskOutput,
    TaskSampleExecutionResult,
    WorkerStatus,
)


class AgentBenchException(Exception):  # noqa: N818 - the name is AgentBench's
    """What AgentBench raises."""


class ClientException(AgentBenchException):
    """The agent's side failed, or the way to it.

    Args:
        reason: One word.
        detail: What happened.
    """

    def __init__(self, reason: str, detail: str | None = None) -> None:
        super().__init__()
        self.reason = reason
        self.detail = detail

    def __str__(self) -> str:
        text = f"{type(self).__name__}[{self.reason}]"
        return f"{text}: {self.detail}" if self.detail else text


class ServerException(AgentBenchException):
    """The task's side failed."""


class AgentClientException(ClientException):
    """The agent failed."""


class TaskClientException(ClientException):
    """The task could not be reached."""


class AgentContextLimitException(AgentClientException):
    """The conversation is too long for the agent."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__("agent_context_limit", detail)


class AgentTimeoutException(AgentClientException):
    """The agent did not answer in time."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__("agent_timeout", detail)


class AgentNetworkException(AgentClientException):
    """There is no connection to the agent."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__("agent_network", detail)


class TaskTimeoutException(TaskClientException):
    """The task did not answer in time."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__("task_timeout", detail)


class TaskNetworkException(TaskClientException):
    """There is no connection to the task."""

    def __init__(self, detail: str | None = None) -> None:
        super().__init__("task_network", detail)


class InstanceFactory(AgentBenchModel):
    """A class by its dotted name, and what it is made with."""

    module: str
    parameters: dict[str, Any] = {}

    @field_validator("parameters", mode="before")
    @classmethod
    def _fill(cls, value: Any) -> Any:
        return {} if value is None else value

    def create(self) -> Any:
        """Make one."""
        path, _, name = self.module.rpartition(".")
        made = getattr(importlib.import_module(path or "builtins"), name)
        return made(**self.parameters)


class Assignment(AgentBenchModel):
    """Which agent does which task."""

    agent: str
    task: str


class TaskClientOutput(AgentBenchModel):
    """What an assigner keeps of a sample."""

    error: str | None = None
    info: str | None = None
    output: TaskOutput | None = None


# What goes over HTTP.


class RegisterRequest(AgentBenchModel):
    """A worker tells a controller what it has, again at each heartbeat."""

    name: str
    address: str
    concurrency: int
    indices: list[SampleIndex]


class HeartbeatRequest(AgentBenchModel):
    """A worker is still there."""

    name: str
    address: str


class StartSampleRequest(AgentBenchModel):
    """A controller is asked to start a sample."""

    name: str
    index: SampleIndex


class WorkerStartSampleRequest(AgentBenchModel):
    """A worker is asked to start a sample."""

    index: SampleIndex
    session_id: int


class InteractRequest(AgentBenchModel):
    """The agent's turn."""

    session_id: int
    agent_response: AgentOutput


class CancelRequest(AgentBenchModel):
    """A sample is to end early."""

    session_id: int


class SampleStatusRequest(AgentBenchModel):
    """How far a sample is."""

    session_id: int


class CalculateOverallRequest(AgentBenchModel):
    """The task is to sum up."""

    name: str
    results: list[TaskOutput]


__all__ = [
    "AgentBenchException",
    "AgentClientException",
    "AgentContextLimitException",
    "AgentNetworkException",
    "AgentOutput",
    "AgentOutputStatus",
    "AgentTimeoutException",
    "Any",
    "Assignment",
    "CalculateOverallRequest",
    "CancelRequest",
    "ChatHistoryItem",
    "ClientException",
    "Dict",
    "HeartbeatRequest",
    "InstanceFactory",
    "InteractRequest",
    "JSONSerializable",
    "List",
    "Literal",
    "RegisterRequest",
    "SampleIndex",
    "SampleStatus",
    "SampleStatusRequest",
    "ServerException",
    "StartSampleRequest",
    "TaskClientException",
    "TaskClientOutput",
    "TaskNetworkException",
    "TaskOutput",
    "TaskSampleExecutionResult",
    "TaskTimeoutException",
    "Union",
    "WorkerStartSampleRequest",
    "WorkerStatus",
]
