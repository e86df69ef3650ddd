"""Calls of tools and replies of the model in a run, put together from what was reported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.record.content import Content
from cellwright.record.usage import ModelUsage, Usage


@dataclass(frozen=True)
class RecordedCall:
    """A tool call with its decision and its one result."""

    call_id: str
    name: str
    arguments: Mapping[str, Any]
    status: str
    """``ok``, ``error``, ``refused``, ``cancelled`` or ``running``."""
    decision: str = ""
    """Who allowed or refused it, and why."""
    duration_seconds: float = 0.0
    started_at: float = 0.0
    """Seconds since the epoch."""
    usage: tuple[ModelUsage, ...] = ()
    """Tokens of models that the tool itself asked."""
    contents: tuple[Content, ...] = ()
    """What it said to the person, as typed pieces."""


@dataclass(frozen=True)
class RecordedStep:
    """One model reply and what it cost."""

    number: int
    model: str
    finish_reason: str
    usage: Usage
    cost_dollars: float | None
    duration_seconds: float
    attempts: int
    first_delta_seconds: float | None = None
    ended_at: float = 0.0
    """Seconds since the epoch."""
