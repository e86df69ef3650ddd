"""One event in, what a notebook's cell shows of it out.

The outputs of the code that runs are shown by the kernel itself; this draws what stands between
them: the model's words, the code before it runs, questions, notices and how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from cellwright.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    CellStarted,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.run import Run
from cellwright.safe_inline import as_text
from cellwright.safe_markdown import fenced, plain_text, safe_markdown
from cellwright.tracebacks import summarise_error
from cellwright_magics import wording
from cellwright_magics.live_text import LiveText
from cellwright_magics.screen import Bundle, Screen

__all__ = ["NotebookTranscript", "QuietTranscript", "Transcript"]

SILENCE_SHOWN_SECONDS = 2.0
ANSWERING = "submit"
SHOWN_CHARACTERS = 4_000
LOOKING = ("read", "install", "")
"""Risks of calls that show no cell; ``""`` is a call that could not be understood."""


class Transcript(Protocol):
    """Shows a run while it goes on."""

    def show(self, event: Event) -> None:
        """Show what is to be seen of an event."""
        ...

    def finish(self, run: Run) -> None:
        """Show how the run ended."""
        ...


class NotebookTranscript:
    """A transcript as displays of a notebook's cell.

    Args:
        screen: Where it is drawn.
        show_code: Whether code is shown before it runs.
        short_errors: Whether errors of the code are shown here, in brief.
    """

    def __init__(
        self, screen: Screen, *, show_code: bool = True, short_errors: bool = True
    ) -> None:
        self._screen = screen
        self._show_code = show_code
        self._short_errors = short_errors
        self._text = LiveText(screen)
        self._thought_characters = 0
        self._retrying: ModelRetrying | None = None
        self._calls: dict[str, ToolStarted] = {}
        self._cells: dict[str, str] = {}
        self._shown_code: dict[str, str] = {}
        self._lines: dict[str, str] = {}
        self._lines_name = ""
        self._question_name = ""
        self._last_text = ""
        self._noticed = ""
        self._handlers: dict[str, Callable[[Any], None]] = {
            "text_delta": self._text_delta,
            "reasoning_delta": self._reasoning_delta,
            "model_silent": self._model_silent,
            "model_retrying": self._model_retrying,
            "model_replied": self._model_replied,
            "tool_started": self._tool_started,
            "tool_finished": self._tool_finished,
            "approval_asked": self._approval_asked,
            "approval_answered": self._approval_answered,
            "cell_added": self._cell_added,
            "cell_edited": self._cell_edited,
            "cell_started": self._cell_started,
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
        """Show how the run ended."""
        line = wording.status_line(run)
        self._put(Bundle(f"<small>{line}</small>", line))

    def _text_delta(self, event: TextDelta) -> None:
        self._retrying = None
        self._text.add(event.text)

    def _reasoning_delta(self, event: ReasoningDelta) -> None:
        self._retrying = None
        before = self._thought_characters // 200
        self._thought_characters += len(event.text)
        if not self._text.has_text and (not before or self._thought_characters // 200 > before):
            self._text.wait(f"thinking… {self._thought_characters:,} characters")

    def _model_silent(self, event: ModelSilent) -> None:
        if self._retrying is not None:
            left = self._retrying.delay_seconds - event.seconds
            self._text.wait(wording.retrying(self._retrying, left))
        elif event.seconds >= SILENCE_SHOWN_SECONDS:
            self._text.wait(f"waiting for the model… {event.seconds:.0f} s")

    def _model_retrying(self, event: ModelRetrying) -> None:
        self._retrying = event
        self._text.void(wording.retrying(event, event.delay_seconds))

    def _model_replied(self, event: ModelReplied) -> None:
        self._retrying, self._thought_characters = None, 0
        text = event.message.text
        if text.strip():
            self._text.finish(text)
            self._text, self._last_text = LiveText(self._screen), text
            self._end_lines()

    def _tool_started(self, event: ToolStarted) -> None:
        self._calls[event.call_id] = event
        if event.risk in LOOKING and event.name != ANSWERING:
            self._line(event, None)

    def _tool_finished(self, event: ToolFinished) -> None:
        call = self._calls.get(event.call_id)
        if call is None or event.name == ANSWERING:
            return  # the answer is shown when the run ends
        code_is_shown = event.call_id in self._shown_code
        if event.call_id in self._lines or (event.status != "ok" and not code_is_shown):
            self._line(call, event)
        if event.shown.strip() and event.status == "ok":
            shown = plain_text(event.shown)[:SHOWN_CHARACTERS]
            self._put(Bundle(fenced(shown, "text"), shown))

    def _line(self, call: ToolStarted, finished: ToolFinished | None) -> None:
        """Calls that show no cell share one display for as long as nothing else is shown."""
        self._lines[call.call_id] = wording.tool_line(call, finished)
        self._draw_lines()

    def _draw_lines(self) -> None:
        bundle = self._lines_bundle(self._lines.values())
        if self._lines_name:
            self._screen.update(self._lines_name, bundle)
        else:
            self._lines_name = self._place(bundle)

    @staticmethod
    def _lines_bundle(lines: Iterable[str]) -> Bundle:
        plain = "\n".join(lines)
        small = (f"<small>{as_text(line)}</small>" for line in plain.split("\n"))
        return Bundle("  \n".join(small), plain)

    def _approval_asked(self, event: ApprovalAsked) -> None:
        call = self._calls[event.call_id]
        question = wording.question(call, event)
        self._question_name = self._put(self._code_bundle(call, wording.code_of(call), question))
        self._shown_code[event.call_id] = wording.code_of(call)

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        call = self._calls[event.call_id]
        if not self._question_name:
            return  # the mode refused; the result says why
        bundle = self._code_bundle(call, wording.code_of(call), wording.answered(event))
        self._screen.update(self._question_name, bundle)
        self._question_name = ""

    def _cell_added(self, event: CellAdded) -> None:
        self._cells[event.cell_id] = event.source
        if event.cell_type == "markdown":
            self._put(Bundle(safe_markdown(event.source), plain_text(event.source)))
            self._shown_code[event.call_id] = event.source
        else:
            self._code(event.call_id, event.source)

    def _cell_edited(self, event: CellEdited) -> None:
        self._cells[event.cell_id] = event.source
        self._code(event.call_id, event.source)

    def _cell_started(self, event: CellStarted) -> None:
        # What comes now is the kernel's; what follows it needs a new place.
        self._end_lines()
        self._text = LiveText(self._screen)

    def _code(self, call_id: str, source: str) -> None:
        code = plain_text(source)
        if self._shown_code.get(call_id) == code:
            return
        self._shown_code[call_id] = code
        if self._show_code:
            call = self._calls.get(call_id)
            self._put(self._code_bundle(call, code, ""))

    def _code_bundle(self, call: ToolStarted | None, code: str, note: str) -> Bundle:
        title = wording.title_of(call) if call is not None else ""
        head = [f"**{as_text(title)}**"] if title else []
        tail = [f"<small>{as_text(note)}</small>"] if note else []
        markdown = "\n\n".join([*head, fenced(code, "python"), *tail])
        return Bundle(markdown, "\n".join(filter(None, (title, code, note))))

    def _cell_finished(self, event: CellFinished) -> None:
        error = event.execution.error
        if error is not None and self._short_errors:
            text = summarise_error(error)
            self._put(Bundle(fenced(f"✗ {text}", "text"), f"✗ {text}"))
        note = wording.cell_note(event)
        if note:
            self._put(Bundle(f"<small>{as_text(note)}</small>", note))

    def _notice(self, event: Notice) -> None:
        self._noticed = event.code
        text = wording.notice(event)
        self._put(Bundle(f"> {as_text(text)}", text))

    def _run_finished(self, event: RunFinished) -> None:
        if event.answer.strip() and event.answer.strip() != self._last_text.strip():
            self._put(Bundle(safe_markdown(event.answer), plain_text(event.answer)))
        reason = wording.ending(event)
        if "\n" in reason:
            self._put(Bundle(fenced(reason, "text"), reason))
        elif reason and not (event.cause and event.cause == self._noticed):
            self._put(Bundle(f"> {as_text(reason)}", reason))

    def _put(self, bundle: Bundle) -> str:
        """Show something that stands for itself."""
        self._end_lines()
        return self._place(bundle)

    def _place(self, bundle: Bundle) -> str:
        """The next free place: that of a note which is no longer true, or a new one."""
        if self._text.has_text:
            return self._screen.show(bundle)
        name = self._text.replace(bundle)
        self._text = LiveText(self._screen)
        return name

    def _end_lines(self) -> None:
        self._lines, self._lines_name = {}, ""


class QuietTranscript:
    """Shows nothing but what the person is asked.

    Args:
        inner: Shows the questions.
    """

    def __init__(self, inner: Transcript) -> None:
        self._inner = inner
        self._calls: dict[str, Event] = {}

    def show(self, event: Event) -> None:
        """Show a question and what became of it."""
        if isinstance(event, ToolStarted):
            self._calls[event.call_id] = event
        elif isinstance(event, ApprovalAsked):
            self._inner.show(self._calls[event.call_id])
            self._inner.show(event)
        elif isinstance(event, ApprovalAnswered):
            self._inner.show(event)

    def finish(self, run: Run) -> None:
        """Nothing: the run itself is returned."""
