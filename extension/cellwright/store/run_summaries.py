"""Runs in one line each, kept up to date event by event."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.record.events import (
    Event,
    ModelReplied,
    RunFinished,
    RunStarted,
    RunStatus,
    ToolFinished,
)
from cellwright.record.usage import Usage
from cellwright.record.values import from_dict, to_dict
from cellwright.store.owners import is_alive

INTERRUPTED_REASON = "The process ended before the run did."
INCOMPLETE_CAUSE = "record_incomplete"
RUN_COLUMNS = (
    "run_id",
    "status",
    "prompt",
    "model",
    "lane",
    "cause",
    "reason",
    "source_run",
    "started_at",
    "last_at",
    "duration_seconds",
    "usage",
    "cost_dollars",
    "owner",
)


@dataclass(frozen=True)
class RunSummary:
    """A run in one line of a list."""

    run_id: str
    status: RunStatus
    """A run whose process is gone has ended with ``task error``, cause ``interrupted``."""
    prompt: str
    model: str
    lane: str
    started_at: float
    """Seconds since the epoch."""
    duration_seconds: float
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    cause: str = ""
    reason: str = ""
    source_run: str = ""


def summed(summary: RunSummary, event: Event, now: float) -> RunSummary:
    """The summary of a run after one more event."""
    summary = replace(summary, duration_seconds=max(0.0, now - summary.started_at))
    if isinstance(event, RunStarted):
        return replace(
            summary,
            prompt=_storable(event.prompt),
            model=_storable(event.parameters.model),
            lane=_storable(event.lane),
            source_run=event.source_run,
        )
    if isinstance(event, ModelReplied):
        cost = summary.cost_dollars
        if event.cost_dollars is not None:
            cost = (cost or 0.0) + event.cost_dollars
        return replace(summary, usage=summary.usage + event.usage, cost_dollars=cost)
    if isinstance(event, ToolFinished):
        spent = sum((item.usage for item in event.usage), summary.usage)
        return replace(summary, usage=spent)
    if isinstance(event, RunFinished):
        cost = summary.cost_dollars if event.cost_dollars is None else event.cost_dollars
        return replace(
            summary,
            cost_dollars=cost,
            status=event.status,
            cause=_storable(event.cause),
            reason=_storable(event.reason),
            duration_seconds=event.duration_seconds or summary.duration_seconds,
        )
    return summary


def incomplete(summary: RunSummary, missing: int, total: int) -> RunSummary:
    """The summary of a run some of whose events are lost: nobody can say how it went."""
    reason = incomplete_reason(summary.status, missing, total)
    return replace(summary, status="unknown", cause=INCOMPLETE_CAUSE, reason=reason)


def incomplete_reason(status: str, missing: int, total: int) -> str:
    """Why a run does not count as what its end says."""
    ended = "" if status == "running" else f" It ended as {status!r}."
    return f"{missing} of its {total} events are not in the record.{ended}"


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def run_row(summary: RunSummary, owner: str, now: float) -> tuple[Any, ...]:
    """The row of a run."""
    values = {
        **{name: getattr(summary, name, None) for name in RUN_COLUMNS},
        "last_at": now,
        "usage": json.dumps(to_dict(summary.usage)),
        "owner": owner,
    }
    return tuple(values[name] for name in RUN_COLUMNS)


def summary_of_row(row: tuple[Any, ...], now: float) -> RunSummary:
    """The summary of a row of ``RUN_COLUMNS``; a run whose process is gone is interrupted."""
    values = dict(zip(RUN_COLUMNS, row, strict=True))
    owner, last_at = values.pop("owner"), values.pop("last_at")
    with suppress(ValueError):
        if values["status"] == "running" and not is_alive(json.loads(owner), now - last_at):
            values |= {
                "status": "task error",
                "cause": "interrupted",
                "reason": INTERRUPTED_REASON,
            }
    values["usage"] = from_dict(Usage, json.loads(values["usage"]))
    return RunSummary(**values)


def mentions(summary: RunSummary, words: list[str]) -> bool:
    """Whether every word, in lower case, is in the id, status, model, lane or prompt."""
    parts = (summary.run_id, summary.status, summary.model, summary.lane, summary.prompt)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)
