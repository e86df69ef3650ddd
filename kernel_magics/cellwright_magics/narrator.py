"""What is told of a run's events, whatever draws it: a notebook's cell or a terminal."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Literal

from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellFinished,
    Event,
    Notice,
    RunFinished,
    ToolStarted,
)
from cellwright.text.safe_markdown import plain_text
from cellwright.tools.tracebacks import summarise_error
from cellwright_magics import wording

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
        note = wording.cell_note(event)
        if note:
            self._draw(note, "note")

    def _notice(self, event: Notice) -> None:
        self._noticed = event.code
        self._draw(wording.notice(event), "remark")

    def _run_finished(self, event: RunFinished) -> None:
        if event.answer.strip() and event.answer.strip() != self._last_text.strip():
            self._draw_answer(event.answer)
        reason = wording.ending(event)
        if "\n" in reason:
            self._draw(reason, "block")
        elif reason and not (event.cause and event.cause == self._noticed):
            self._draw(reason, "remark")
