"""Events in words and as code, the same for a notebook and a terminal."""

from __future__ import annotations

from cellwright.record.asked_calls import words_of
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellFinished,
    ModelRetrying,
    Notice,
    RunFinished,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import text_of
from cellwright.session.run import Run
from cellwright.text.safe_markdown import plain_text

LINE_CHARACTERS = 160
LEVELS = {"info": "ℹ", "warning": "⚠", "error": "✗"}
REASON_CHARACTERS = 20_000
"""Addresses are told in full."""
STOPPED = ("stopped by the user", "interrupted by the person")


def one_line(text: str, limit: int = LINE_CHARACTERS) -> str:
    """The text on one line, cut where it is long."""
    line = " ".join(plain_text(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1]}…"


def title_of(call: ToolStarted) -> str:
    """What the model says a piece of code does; empty when it says nothing."""
    return one_line(str(call.arguments.get("title") or ""))


def notice(event: Notice) -> str:
    """A notice with what to do about it."""
    parts = (LEVELS[event.level], one_line(event.text, 600), event.action)
    return " ".join(part for part in parts if part)


def retrying(event: ModelRetrying, left_seconds: float) -> str:
    """That a request is sent again."""
    seconds = max(1, round(left_seconds))
    reason = one_line(event.reason).rstrip(".")
    return f"{reason}. Trying again in {seconds} s (attempt {event.attempt})."


def label_of(call: ToolStarted) -> str:
    """What a call does, on one line."""
    return one_line(call.label or call.name)


def tool_line(call: ToolStarted, finished: ToolFinished | None) -> str:
    """A call that shows no cell of its own."""
    label = label_of(call)
    if finished is None or finished.status == "ok":
        return f"▸ {label}"
    reason = one_line(text_of(finished.message))
    return f"✗ {label}: {reason}"


def progress_line(call: ToolStarted, event: ToolProgress) -> str:
    """How far a call is."""
    said = one_line(event.text)
    share = f" {event.fraction:.0%}" if event.fraction is not None else ""
    return f"▸ {label_of(call)}: {said}{share}"


def question(call: ToolStarted, event: ApprovalAsked) -> str:
    """Why a call is asked about; what it does, too, where no code says so, and to which cell."""
    reason = one_line(event.reason, REASON_CHARACTERS)
    if call.name == "run_cell":
        return reason
    return f"{one_line(words_of(call), REASON_CHARACTERS)} — {reason}"


def answered(event: ApprovalAnswered) -> str:
    """What was decided about a call."""
    if event.allowed:
        return "✓ allowed"
    return f"✗ not run{f': {one_line(event.reason)}' if event.reason else ''}"


def cell_note(event: CellFinished) -> str:
    """What its outputs do not tell about a cell's end; mostly nothing."""
    execution = event.execution
    note = one_line(execution.note, 600)
    if execution.status == "interrupted" and note in STOPPED:
        return ""  # the run's own ending says so
    marks = {"timeout": "■", "interrupted": "■", "died": "✗", "aborted": "✗"}
    return f"{marks.get(execution.status, 'ℹ')} {note}" if note else ""


def ending(event: RunFinished) -> str:
    """Why a run ended, where it did not simply end."""
    if event.status != "cancelled":
        return plain_text(event.reason)
    by_person = any(words in event.reason for words in STOPPED)
    return "■ Stopped." if by_person else f"■ Stopped. {event.reason}"


def status_line(run: Run) -> str:
    """The last line of a transcript."""
    return f"{run.summary()} · run {run.id}"
