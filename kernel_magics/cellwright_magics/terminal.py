"""A transcript as plain lines, for IPython in a terminal: nothing is drawn over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cellwright.record.asked_calls import code_of, written_by
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.session.run import Run
from cellwright.text.cleaning import plain_text
from cellwright_magics import wording
from cellwright_magics.wording import Narrator, Style

SILENCE_SHOWN_SECONDS = 2.0


class TerminalTranscript(Narrator):
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
        super().__init__(show_code=show_code, short_errors=short_errors)
        self._write = write
        self._said_waiting = False
        self._handlers |= {
            "model_silent": self._model_silent,
            "model_retrying": self._model_retrying,
            "model_replied": self._model_replied,
            "tool_finished": self._tool_finished,
            "tool_progress": self._tool_progress,
            "approval_asked": self._approval_asked,
            "approval_answered": self._approval_answered,
        }

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
            self._draw_answer(event.message.text)

    def _tool_finished(self, event: ToolFinished) -> None:
        call = self._calls.get(event.call_id)
        if call is None or event.call_id in self._shown_code or event.name == "submit":
            return
        self._write(wording.tool_line(call, event))
        if event.shown.strip() and event.status == "ok":
            self._write(wording.indent(plain_text(event.shown)))

    def _tool_progress(self, event: ToolProgress) -> None:
        call = self._calls.get(event.call_id)
        if call is not None:
            self._write(wording.progress_line(call, event))

    def _approval_asked(self, event: ApprovalAsked) -> None:
        call = self._calls[event.call_id]
        self._shown_code[event.call_id] = plain_text(written_by(call))
        words = (wording.title_of(call), wording.question(call, event))
        self._write(f"▸ {' — '.join(part for part in words if part)}")
        code = code_of(call)
        if code:
            self._write(wording.indent(code))

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        if not event.allowed:
            self._write(wording.answered(event))

    def _draw(self, text: str, style: Style) -> None:
        self._write(text)

    def _draw_answer(self, markdown: str) -> None:
        self._write(plain_text(markdown.strip("\n")))

    def _draw_code(self, call: ToolStarted | None, code: str) -> None:
        self._write(f"▸ {wording.title_of(call) if call is not None else ''}".rstrip())
        if self._show_code:
            self._write(wording.indent(code))
