"""What goes to a model and what comes back, before any provider's shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.record.messages import AssistantMessage, Message
from cellwright.record.usage import Usage


@dataclass(frozen=True)
class Manifest:
    """What the model is told of one tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema (draft 2020-12) of an object."""


@dataclass(frozen=True)
class Parameters:
    """Which model answers, and how."""

    model: str
    temperature: float | None = None
    """None: the provider's default."""
    max_output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent as they are, such as ``reasoning_effort``."""


@dataclass(frozen=True)
class Prompt:
    """One request: instructions and history, the tools, the parameters."""

    messages: tuple[Message, ...]
    tools: tuple[Manifest, ...]
    parameters: Parameters


@dataclass(frozen=True)
class Reply:
    """One whole answer of the model."""

    message: AssistantMessage
    finish_reason: str
    """``stop``, ``tool_calls``, ``length``, ``content_filter`` or the provider's own word."""
    usage: Usage
    model: str
    """The model's name as the service gave it, which may differ from the one asked for."""
    duration_seconds: float = 0.0
    first_delta_seconds: float | None = None
    attempts: int = 1
    request_id: str = ""
    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, left out of this request."""
    truncated: bool = False
    """The reply was cut off at a length limit or by a broken connection."""
    problem: str = ""
    """For the model: why its reply could not be read; set by the adapter that tried."""
