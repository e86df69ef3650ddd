"""A run's events in words and as code, the same for a notebook and a terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal

from cellwright.record.asked_calls import words_of
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    Event,
    ModelRetrying,
    Notice,
    RunFinished,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.record.messages import text_of
from cellwright.session.run import Run
from cellwright.text.cleaning import plain_text
from cellwright.tools.summaries import summarise_error

LINE_CHARACTERS = 160
LEVELS = {"info": "ℹ", "warning": "⚠", "error": "✗"}
REASON_CHARACTERS = 20_000
"""Addresses are told in full."""
STOPPED = ("stopped by the user", "interrupted by the person")


def indent(text: str) -> str:
    """Code as it stands below a line of text."""
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))


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
        return f"✓ allowed{event.after}"
    return f"✗ not run{event.after}{f': {one_line(event.reason)}' if event.reason else ''}"


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


# What is told of a run's events, whatever draws it: a notebook's cell or a terminal.


Style = Literal["block", "note", "remark"]
"""A text as it stands, a small line beside what it is about, a sentence of its own."""


class Narrator(ABC):
    """Tells a run as it goes on; a subclass draws it, and adds what it alone can tell.

    Args:
        show_code: Whether code is shown before it runs.
        short_errors: Whether errors of the code are shown here, in brief.
    """

    def __init__(self, *, show_code: bool, short_errors: bool) -> None:
        self._show_code = show_code
        self._short_errors = short_errors
        self._calls: dict[str, ToolStarted] = {}
        self._shown_code: dict[str, str] = {}
        self._last_text = ""
        self._noticed = ""
        self._handlers: dict[str, Callable[[Any], None]] = {
            "tool_started": self._tool_started,
            "cell_added": self._cell_added,
            "cell_edited": self._cell_edited,
            "cell_finished": self._cell_finished,
            "notice": self._notice,
            "run_finished": self._run_finished,
        }

    def show(self, event: Event) -> None:
        """Show what is to be seen of an event."""
        handler = self._handlers.get(event.kind)
        if handler is not None:
            handler(event)

    @abstractmethod
    def _draw(self, text: str, style: Style) -> None:
        """Show words of ours."""

    @abstractmethod
    def _draw_answer(self, markdown: str) -> None:
        """Show what the model answered."""

    @abstractmethod
    def _draw_code(self, call: ToolStarted | None, code: str) -> None:
        """Show code that is going to run, and what the call says of it."""

    def _tool_started(self, event: ToolStarted) -> None:
        self._calls[event.call_id] = event

    def _cell_added(self, event: CellAdded) -> None:
        self._code(event.call_id, event.source)

    def _cell_edited(self, event: CellEdited) -> None:
        self._code(event.call_id, event.source)

    def _code(self, call_id: str, source: str) -> None:
        code = plain_text(source)
        if self._shown_code.get(call_id) != code:
            self._shown_code[call_id] = code
            self._draw_code(self._calls.get(call_id), code)

    def _cell_finished(self, event: CellFinished) -> None:
        error = event.execution.error
        if error is not None and self._short_errors:
            self._draw(f"✗ {summarise_error(error)}", "block")
        note = cell_note(event)
        if note:
            self._draw(note, "note")

    def _notice(self, event: Notice) -> None:
        self._noticed = event.code
        self._draw(notice(event), "remark")

    def _run_finished(self, event: RunFinished) -> None:
        if event.answer.strip() and event.answer.strip() != self._last_text.strip():
            self._draw_answer(event.answer)
        reason = ending(event)
        if "\n" in reason:
            self._draw(reason, "block")
        elif reason and not (event.cause and event.cause == self._noticed):
            self._draw(reason, "remark")
