"""How a run ended: in a line, in a few fields, as an exit code."""

from __future__ import annotations

from cellwright.commands import COMPLETED, INTERRUPTED, NOT_COMPLETED, SERVICE_FAILED, Invocation
from cellwright.commands.terminal import one_line
from cellwright.recording import RunRecord
from cellwright.run import Run
from cellwright.safe_markdown import plain_text
from cellwright.values import to_dict

__all__ = ["exit_code", "report", "run_document"]


def report(record: RunRecord, invocation: Invocation, **more: object) -> int:
    """Say how a run ended and give its answer; the exit code.

    Args:
        record: The run.
        invocation: Where to say it.
        more: Further fields of the JSON document.
    """
    console = invocation.console
    console.note(f"{Run(record).summary()} · run {record.run_id}")
    if record.reason.strip():
        # The last line is what a traceback comes to.
        console.complain(f"cellwright: {one_line(record.reason.strip().splitlines()[-1])}")
    refused = [call.name for call in record.calls if call.status == "refused"]
    if refused and not console.is_interactive:
        names = ", ".join(sorted(set(refused)))
        console.complain(f"cellwright: refused, since nobody could be asked: {names}.")
    console.result({**run_document(record), **more}, plain_text(record.answer))
    return exit_code(record)


def exit_code(record: RunRecord) -> int:
    """How the run ended, as an exit code."""
    if record.status == "completed":
        return COMPLETED
    if record.status == "cancelled":
        return INTERRUPTED
    return SERVICE_FAILED if record.cause.startswith("LM") else NOT_COMPLETED


def run_document(record: RunRecord) -> dict[str, object]:
    """A run in a few fields."""
    return {
        "id": record.run_id,
        "status": record.status,
        "cause": record.cause,
        "reason": record.reason,
        "answer": record.answer,
        "model": record.parameters.model,
        "steps": len(record.steps),
        "cells": len(record.cells),
        "errors": _failed_executions(record),
        "usage": to_dict(record.usage),
        "cost_dollars": record.cost_dollars,
        "seconds": round(record.duration_seconds, 3),
        "exit_code": exit_code(record),
    }


def _failed_executions(record: RunRecord) -> int:
    return sum(
        run.execution is not None and run.execution.status == "error" for run in record.executions
    )
