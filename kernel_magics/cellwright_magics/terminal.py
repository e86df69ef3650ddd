"""A transcript as plain lines, for IPython in a terminal: nothing is drawn over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cellwright.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    RunFinished,
    ToolFinished,
    ToolStarted,
)
from cellwright.run import Run
from cellwright.safe_markdown import plain_text
from cellwright.tracebacks import summarise_error
from cellwright_magics import wording

__all__ = ["TerminalTranscript"]

SILENCE_SHOWN_SECONDS = 2.0


class TerminalTranscript:
    """Prints a run as it goes on.

    Args:
        write: Prints one line or several.
        show_code: Whether code is shown before it runs.
        short_errors: Whether errors of the code are shown here, in brief.
    """

    def __init__(
        self,
        write: Callable[[str], Any] = print,
        *,
        show_code: bool = True,
        short_errors: bool = True,
    ) -> None:
        self._write = write
        self._show_code = show_code
        self._short_errors = short_errors
        self._calls: dict[str, ToolStarted] = {}
        self._shown_code: dict[str, str] = {}
        self._last_text = ""
        self._noticed = ""
        self._said_waiting = False
        self._handlers: dict[str, Callable[[Any], None]] = {
            "model_silent": self._model_silent,
            "model_retrying": self._model_retrying,
            "model_replied": self._model_replied,
            "tool_started": self._tool_started,
            "tool_finished": self._tool_finished,
            "approval_asked": self._approval_asked,
            "approval_answered": self._approval_answered,
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

    def finish(self, run: Run) -> None:
        """Nothing: the run is the value of the cell, and the prompt that follows shows it."""

    def _model_silent(self, event: ModelSilent) -> None:
        if event.seconds >= SILENCE_SHOWN_SECONDS and not self._said_waiting:
            self._said_waiting = True
            self._write("… waiting for the model")

    def _model_retrying(self, event: ModelRetrying) -> None:
        self._write(f"! {wording.retrying(event, event.delay_seconds)}")

    def _model_replied(self, event: ModelReplied) -> None:
        self._said_waiting = False
        if event.message.text.strip():
            self._last_text = event.message.text
            self._write(plain_text(event.message.text.strip("\n")))

    def _tool_started(self, event: ToolStarted) -> None:
        self._calls[event.call_id] = event

    def _tool_finished(self, event: ToolFinished) -> None:
        call = self._calls.get(event.call_id)
        if call is None or event.call_id in self._shown_code or event.name == "submit":
            return
        self._write(wording.tool_line(call, event))
        if event.shown.strip() and event.status == "ok":
            self._write(_indented(plain_text(event.shown)))

    def _approval_asked(self, event: ApprovalAsked) -> None:
        call = self._calls[event.call_id]
        code = wording.code_of(call)
        self._shown_code[event.call_id] = code
        words = (wording.title_of(call), wording.question(call, event))
        self._write(f"▸ {' — '.join(part for part in words if part)}")
        self._write(_indented(code))

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        if not event.allowed:
            self._write(wording.answered(event))

    def _cell_added(self, event: CellAdded) -> None:
        self._code(event.call_id, event.source)

    def _cell_edited(self, event: CellEdited) -> None:
        self._code(event.call_id, event.source)

    def _code(self, call_id: str, source: str) -> None:
        code = plain_text(source)
        if self._shown_code.get(call_id) == code:
            return
        self._shown_code[call_id] = code
        call = self._calls.get(call_id)
        self._write(f"▸ {wording.title_of(call) if call is not None else ''}".rstrip())
        if self._show_code:
            self._write(_indented(code))

    def _cell_finished(self, event: CellFinished) -> None:
        error = event.execution.error
        if error is not None and self._short_errors:
            self._write(f"✗ {summarise_error(error)}")
        note = wording.cell_note(event)
        if note:
            self._write(note)

    def _notice(self, event: Notice) -> None:
        self._noticed = event.code
        self._write(wording.notice(event))

    def _run_finished(self, event: RunFinished) -> None:
        if event.answer.strip() and event.answer.strip() != self._last_text.strip():
            self._write(plain_text(event.answer.strip("\n")))
        reason = wording.ending(event)
        if reason and not (event.cause and event.cause == self._noticed):
            self._write(reason)


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.split("\n"))
