"""One event in, what a notebook's cell shows of it out.

The outputs of the code that runs are shown by the kernel itself; this draws what stands between
them: the model's words, the code before it runs, questions, notices and how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Protocol

from cellwright.record.asked_calls import code_of, language_of, written_by
from cellwright.record.content_drawing import drawn_contents, source_links
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellStarted,
    Event,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    ReasoningDelta,
    TextDelta,
    ToolFinished,
    ToolProgress,
    ToolStarted,
)
from cellwright.session.run import Run
from cellwright.text.safe_inline import as_text
from cellwright.text.safe_markdown import fenced, plain_text, safe_markdown
from cellwright_magics import wording
from cellwright_magics.live_text import LiveText
from cellwright_magics.narrator import Narrator, Style
from cellwright_magics.screen import Bundle, Screen

SILENCE_SHOWN_SECONDS = 2.0
ANSWERING = "submit"
SHOWN_CHARACTERS = 4_000
LOOKING = ("read", "install", "")
"""Risks of calls that show no cell; ``""`` is a call that could not be understood."""
GROWING = (
    *("text_delta", "reasoning_delta", "model_silent", "model_retrying"),
    *("tool_started", "tool_progress"),
)
"""Events after which what is shown is likely to change at once."""
STYLES: dict[Style, Callable[[str], str]] = {
    "block": lambda text: fenced(text, "text"),
    "note": lambda text: f"<small>{as_text(text)}</small>",
    "remark": lambda text: f"> {as_text(text)}",
}


class Transcript(Protocol):
    """Shows a run while it goes on."""

    def show(self, event: Event) -> None:
        """Show what is to be seen of an event."""
        ...

    def finish(self, run: Run) -> None:
        """Show how the run ended."""
        ...


class NotebookTranscript(Narrator):
    """A transcript as displays of a notebook's cell.

    Args:
        screen: Where it is drawn.
        show_code: Whether code is shown before it runs.
        short_errors: Whether errors of the code are shown here, in brief.
        folder: The notebook's, from which sources of an answer are opened; None: not known.
    """

    def __init__(
        self,
        screen: Screen,
        *,
        show_code: bool = True,
        short_errors: bool = True,
        folder: Path | None = None,
    ) -> None:
        super().__init__(show_code=show_code, short_errors=short_errors)
        self._screen = screen
        self._folder = folder
        self._text = LiveText(screen)
        self._thought_characters = 0
        self._retrying: ModelRetrying | None = None
        self._lines: dict[str, str] = {}
        self._lines_name = ""
        self._question_name = ""
        self._handlers |= {
            "text_delta": self._text_delta,
            "reasoning_delta": self._reasoning_delta,
            "model_silent": self._model_silent,
            "model_retrying": self._model_retrying,
            "model_replied": self._model_replied,
            "tool_finished": self._tool_finished,
            "tool_progress": self._tool_progress,
            "approval_asked": self._approval_asked,
            "approval_answered": self._approval_answered,
            "cell_started": self._cell_started,
        }

    def show(self, event: Event) -> None:
        """Show what is to be seen of an event."""
        super().show(event)
        if event.kind not in GROWING:
            self._screen.settle()

    def finish(self, run: Run) -> None:
        """Show how the run ended."""
        self._draw(wording.status_line(run), "note")
        self._screen.settle()

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
        super()._tool_started(event)
        if event.risk in LOOKING and event.name != ANSWERING:
            self._line(event, None)

    def _tool_finished(self, event: ToolFinished) -> None:
        call = self._calls.get(event.call_id)
        if call is None or event.name == ANSWERING:
            return  # the answer is shown when the run ends
        code_is_shown = event.call_id in self._shown_code
        if event.call_id in self._lines or (event.status != "ok" and not code_is_shown):
            self._line(call, event)
        if event.contents:
            self._draw_contents(event, code_is_shown=code_is_shown)
        elif event.shown.strip() and event.status == "ok":
            shown = plain_text(event.shown)[:SHOWN_CHARACTERS]
            self._draw(shown, "block")

    def _draw_contents(self, event: ToolFinished, *, code_is_shown: bool) -> None:
        """What the tool says to the person; what a cell showed, the kernel has drawn already."""
        contents = [item for item in event.contents if not item.is_error]
        if code_is_shown:
            contents = [item for item in contents if item.visible_scope == "user"]
        for drawn in drawn_contents(contents, self._folder):
            self._put(Bundle(drawn.markdown, drawn.plain, drawn.rich))

    def _tool_progress(self, event: ToolProgress) -> None:
        call = self._calls.get(event.call_id)
        line = wording.progress_line(call, event) if call is not None else ""
        if line and self._lines.get(event.call_id) != line:
            self._lines[event.call_id] = line
            self._draw_lines()

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
        return Bundle("  \n".join(map(STYLES["note"], plain.split("\n"))), plain)

    def _notice(self, event: Notice) -> None:
        words = wording.notice(event)
        links = source_links(event.contents, self._folder)
        if not links:
            super()._notice(event)
            return
        head = words.partition(": ")[0]
        self._put(Bundle(f"> {as_text(head)}: {links}", words))

    def _approval_asked(self, event: ApprovalAsked) -> None:
        call = self._calls[event.call_id]
        question = wording.question(call, event)
        self._question_name = self._put(self._asked_bundle(call, question))
        self._shown_code[event.call_id] = plain_text(written_by(call))

    def _approval_answered(self, event: ApprovalAnswered) -> None:
        call = self._calls[event.call_id]
        if not self._question_name:
            return  # the mode refused; the result says why
        self._screen.update(self._question_name, self._asked_bundle(call, wording.answered(event)))
        self._question_name = ""

    def _cell_added(self, event: CellAdded) -> None:
        if event.cell_type == "markdown":
            self._draw_answer(event.source)
            self._shown_code[event.call_id] = event.source
        else:
            super()._cell_added(event)

    def _cell_started(self, event: CellStarted) -> None:
        # What comes now is the kernel's; what follows it needs a new place.
        self._end_lines()
        self._text = LiveText(self._screen)

    def _draw(self, text: str, style: Style) -> None:
        self._put(Bundle(STYLES[style](text), text))

    def _draw_answer(self, markdown: str) -> None:
        self._put(Bundle(safe_markdown(markdown), plain_text(markdown)))

    def _draw_code(self, call: ToolStarted | None, code: str) -> None:
        if self._show_code:
            self._put(self._code_bundle(call, code, ""))

    def _asked_bundle(self, call: ToolStarted, note: str) -> Bundle:
        """All of what a call would do, whole."""
        return self._code_bundle(call, code_of(call), note, language_of(call))

    def _code_bundle(
        self, call: ToolStarted | None, code: str, note: str, language: str = "python"
    ) -> Bundle:
        title = wording.title_of(call) if call is not None else ""
        head = [f"**{as_text(title)}**"] if title else []
        tail = [STYLES["note"](note)] if note else []
        markdown = "\n\n".join([*head, fenced(code, language), *tail])
        return Bundle(markdown, "\n".join(filter(None, (title, code, note))))

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
