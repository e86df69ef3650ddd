"""How a run ended: in a line, in a few fields, as an exit code."""

from __future__ import annotations

from cellwright.commands import (
    COMPLETED,
    INTERRUPTED,
    NOT_COMPLETED,
    NOT_RECORDED,
    SERVICE_FAILED,
    WRONG_USE,
    Invocation,
)
from cellwright.commands.records import EndedRun
from cellwright.commands.terminal import one_line
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.session.run import Run
from cellwright.text.safe_markdown import plain_text


def report(ended: EndedRun, invocation: Invocation, **more: object) -> int:
    """Say how a run ended and give its answer; the exit code.

    Args:
        ended: The run.
        invocation: Where to say it.
        more: Further fields of the JSON document.
    """
    console, record = invocation.console, ended.record
    console.note(f"{Run(record, ended.problem).summary()} · run {record.run_id}")
    if record.reason.strip():
        # The last line is what a traceback comes to.
        console.complain(f"cellwright: {one_line(record.reason.strip().splitlines()[-1])}")
    refused = [call.name for call in record.calls if call.status == "refused"]
    if refused and not console.is_interactive:
        names = ", ".join(sorted(set(refused)))
        console.complain(f"cellwright: refused, since nobody could be asked: {names}.")
    say_where(ended, invocation)
    document = {**run_document(record), **storage_document(ended), **more}
    console.result(document, plain_text(record.answer))
    return final_code(ended)


def say_where(ended: EndedRun, invocation: Invocation) -> None:
    """Say what of a run is not where it should be."""
    if ended.unwritten:
        invocation.console.complain(f"cellwright: {ended.unwritten}")
    if ended.file:
        invocation.console.complain(
            f"cellwright: {ended.storage.problem or 'Run ' + ended.record.run_id + ' is on disk.'} "
            f"{ended.file!r} holds its record, too; put it into the record of another time with: "
            f"cellwright doctor --repair {ended.file}"
        )
    elif ended.problem:
        invocation.console.complain(
            f"cellwright: {ended.problem} It is lost now. Next time name a file for it: "
            "--record FILE"
        )


def storage_document(ended: EndedRun) -> dict[str, object]:
    """Where a run's record is, in a few fields."""
    storage = ended.storage
    return {
        "recorded": not storage.problem,
        "events_on_disk": storage.on_disk,
        "events_lost": 0 if ended.file else storage.in_memory + storage.missing,
        "record_file": ended.file or None,
        "exit_code": final_code(ended),
    }


def final_code(ended: EndedRun) -> int:
    """How the run ended, as an exit code; also whether it was recorded."""
    code = exit_code(ended.record)
    if code == COMPLETED and ended.problem:
        return NOT_RECORDED
    return WRONG_USE if code == COMPLETED and ended.unwritten else code


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
