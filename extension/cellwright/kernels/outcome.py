"""How a cell ended, put together from what the kernel says and what the probe found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.errors import KernelError, ToolError
from cellwright.record.cells import Execution, ExecutionStatus, FileChange, VariableSummary
from cellwright.record.outputs import ErrorOutput, safe_json, safe_text
from cellwright.record.values import from_dict

INTERRUPTED = "interrupted by the person"
STUCK = (
    "The code did not react to being interrupted and may still run. To end it, restart the kernel "
    "(menu Kernel, Restart Kernel…; in a terminal Ctrl-\\ ends IPython): its variables are lost."
)
ENDED = (
    "The code did not react to being interrupted, so its kernel was ended: its variables are lost."
)


def execution(
    status: ExecutionStatus,
    duration_seconds: float,
    report: Mapping[str, Any],
    *,
    error: ErrorOutput | None = None,
    note: str = "",
) -> Execution:
    """The value of a finished cell.

    Args:
        duration_seconds: From its start to its end, with the time in which the user typed.
        report: What ``cell_watch.after_cell`` found; empty where there is no probe.
    """
    notes = [*([note] if note else []), *report.get("notes", ())]
    waited = float(report.get("waited_seconds", 0.0))
    return Execution(
        status=status,
        duration_seconds=max(0.0, duration_seconds - waited),
        error=error if status == "error" else None,
        execution_count=report.get("execution_count"),
        result_summary=safe_text(report.get("result_summary", "")),
        changed=tuple(_variable(row) for row in report.get("changed", ())),
        removed=tuple(safe_text(name) for name in report.get("removed", ())),
        files=tuple(from_dict(FileChange, row) for row in report.get("files", ())),
        cwd=safe_text(report.get("cwd", "")),
        figures=tuple(safe_text(text) for text in report.get("figures", ())),
        cpu_seconds=report.get("cpu_seconds"),
        rss_bytes=report.get("rss_bytes"),
        waited_seconds=waited,
        note=" ".join(notes),
    )


def answered(function: str, found: Mapping[str, Any]) -> Any:
    """The value in a probe's answer.

    Raises:
        ToolError: The function refused.
        KernelError: It failed.
    """
    if "refused" in found:
        raise ToolError(safe_text(found["refused"]))
    if "value" not in found:
        raise KernelError(f"{function} failed in the kernel: {safe_text(found.get('failed'))}")
    return safe_json(found["value"])


def reason_text(reason: str, timeout_seconds: float | None) -> str:
    """Why a cell was stopped, for the model and the person."""
    if reason == "timeout":
        return f"Stopped after {timeout_seconds:g} s, its time limit; output so far is kept."
    if reason == "output":
        return "Stopped: it sent far more output than is allowed; print less."
    return ""


def _variable(row: Mapping[str, str]) -> VariableSummary:
    return VariableSummary(safe_text(row["name"]), safe_text(row["type"]), safe_text(row["text"]))
