"""One event in, what a notebook's cell shows of it out: text, code, outputs, progress of tools.

The outputs of the code that runs are shown by the kernel itself; this draws what stands between
them: the model's words, the code before it runs, questions, notices and how it ended.
"""

from __future__ import annotations

import itertools
import re
import sys
import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from cellwright.record.asked_calls import code_of, language_of, written_by
from cellwright.record.content import drawn_contents, source_links
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellOutput,
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
from cellwright.record.outputs import ErrorOutput, Output, OutputMessage, StreamOutput, fold
from cellwright.session.run import Run
from cellwright.text.cleaning import as_text, fenced, plain_text, safe_markdown
from cellwright_magics import wording
from cellwright_magics.wording import Narrator, Style

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


# Where a transcript is drawn: displays of the calling cell, each of which can be changed later.


NOTHING = " "
"""An empty display would be dropped, or shown as its class name."""


@dataclass(frozen=True)
class Bundle:
    """The same thing for a notebook and for plain text."""

    markdown: str
    plain: str
    rich: Mapping[str, Any] = field(default_factory=dict)
    """What stands in place of the Markdown, by MIME type: a picture, a table, a chart."""

    def data(self) -> dict[str, Any]:
        """As a display message carries it."""
        if self.rich:
            return {**self.rich, "text/plain": self.plain or NOTHING}
        return {
            "text/markdown": self.markdown or NOTHING,
            "text/plain": self.plain or NOTHING,
        }


class Screen(Protocol):
    """Shows things under the calling cell."""

    def show(self, bundle: Bundle) -> str:
        """Show something new; the name under which it can be changed."""
        ...

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place."""
        ...

    def settle(self) -> None:
        """What was shown last is not going to change for a while."""
        ...


class NotebookScreen:
    """Display messages of the calling cell.

    Args:
        shell: The shell that publishes them.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        self._shell = shell
        self._prefix = f"cellwright-{uuid.uuid4().hex[:12]}"
        self._numbers = itertools.count(1)

    def show(self, bundle: Bundle) -> str:
        """Show something new; the name under which it can be changed."""
        name = f"{self._prefix}-{next(self._numbers)}"
        self._publish(name, bundle, update=False)
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place."""
        self._publish(name, bundle, update=True)

    def settle(self) -> None:
        """Nothing: a notebook draws each change."""

    def _publish(self, name: str, bundle: Bundle, *, update: bool) -> None:
        self._shell.display_pub.publish(
            data=bundle.data(), metadata={}, transient={"display_id": name}, update=update
        )


class SettledScreen(NotebookScreen):
    """For front ends that draw no change of a display, as ``jupyter console``.

    What is still being written is shown once it is whole; what changes after that is shown again.
    """

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._held: tuple[str, Bundle] | None = None

    def show(self, bundle: Bundle) -> str:
        """Show something new once it is settled; the name under which it can be changed."""
        self.settle()
        name = f"{self._prefix}-{next(self._numbers)}"
        self._held = (name, bundle)
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place, or below where it was shown already."""
        if self._held is not None and self._held[0] == name:
            self._held = (name, bundle)
        elif bundle.plain.strip():
            super().show(bundle)

    def settle(self) -> None:
        """Show what was held back."""
        held, self._held = self._held, None
        if held is not None and held[1].plain.strip():
            self._publish(*held, update=False)


# Text that is still being written: updated about ten times a second, finished parts left alone.


INTERVAL_SECONDS = 0.11
SLOW_INTERVAL_SECONDS = 0.25
LARGE_CHARACTERS = 20_000
FENCE_LINE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


class LiveText:
    """One reply of the model on the screen.

    Only what changes is sent again: past 20,000 characters the finished paragraphs become a
    display of their own.

    Args:
        screen: Where it is shown.
        clock: Seconds, for the pace.
    """

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._name = ""
        self._sealed: list[str] = []
        self._sealed_text = ""
        self._text = ""
        self._note = ""
        self._updated_at = float("-inf")

    @property
    def has_text(self) -> bool:
        """Whether something of the reply is shown."""
        return bool(self._sealed_text.strip() or self._text.strip())

    @property
    def is_shown(self) -> bool:
        """Whether it has a place on the screen."""
        return bool(self._name)

    def add(self, text: str) -> None:
        """More of the reply."""
        self._text += text
        self._note = ""
        large = len(self._text) > LARGE_CHARACTERS
        interval = SLOW_INTERVAL_SECONDS if large else INTERVAL_SECONDS
        if self._clock() - self._updated_at < interval:
            return
        if large:
            # Here and not with each piece: it looks through the whole text.
            self._seal()
        if self._text.strip():
            self._draw()

    def wait(self, note: str) -> None:
        """Say for the moment what is waited for; the next text takes its place."""
        if note != self._note:
            self._note = note
            self._draw()

    def void(self, note: str) -> None:
        """Take back what was shown: the reply is asked for anew."""
        self._withdraw_sealed()
        self._text = ""
        self.wait(note)

    def finish(self, text: str) -> None:
        """The whole reply is there."""
        self._note = ""
        if text.startswith(self._sealed_text):
            self._text = text[len(self._sealed_text) :]
        else:
            self._withdraw_sealed()
            self._text = text
        if self._text.strip() or self._name:
            self._draw()

    def replace(self, bundle: Bundle) -> str:
        """Give the place on the screen to something else; its name."""
        if self._name:
            self._screen.update(self._name, bundle)
            return self._name
        return self._screen.show(bundle)

    def _seal(self) -> None:
        cut = self._text.rfind("\n\n", 0, len(self._text) - 1)
        if cut < 0 or len(FENCE_LINE.findall(self._text, 0, cut)) % 2:
            return
        done, self._text = self._text[: cut + 2], self._text[cut + 2 :]
        self._sealed.append(self.replace(_bundle(done)))
        self._sealed_text += done
        self._name = ""

    def _withdraw_sealed(self) -> None:
        for name in self._sealed:
            self._screen.update(name, Bundle("", ""))
        self._sealed, self._sealed_text = [], ""

    def _draw(self) -> None:
        self._name = self.replace(_bundle(self._text, self._note))
        self._updated_at = self._clock()


def _bundle(text: str, note: str = "") -> Bundle:
    markdown, plain = safe_markdown(text.strip("\n")), plain_text(text.strip("\n"))
    if not note:
        return Bundle(markdown, plain)
    shown = f"*{note}*"
    return Bundle(
        "\n\n".join(filter(None, (markdown, shown))), "\n\n".join(filter(None, (plain, note)))
    )


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


class RunDisplay(Protocol):
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

    def __init__(self, inner: RunDisplay) -> None:
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


# Outputs that another kernel made, or made earlier, shown between what a transcript shows.


class ReplayedOutputs:
    """A transcript that shows outputs too: here no kernel shows them by itself.

    Args:
        transcript: Shows everything else, errors included.
        shell: Where outputs are displayed.
    """

    def __init__(self, transcript: RunDisplay, shell: InteractiveShell) -> None:
        self._transcript = transcript
        self._shell = shell
        self._waiting: list[OutputMessage] = []

    def show(self, event: Event) -> None:
        """Show an event; the outputs of a cell come together, as they were in the end."""
        if isinstance(event, CellOutput):
            self._waiting.append(event.message)
            return
        for output in fold(self._waiting):
            self._publish(output)
        self._waiting.clear()
        self._transcript.show(event)

    def finish(self, run: Run) -> None:
        """Show how the run ended."""
        self._transcript.finish(run)

    def _publish(self, output: Output) -> None:
        if isinstance(output, StreamOutput):
            stream = sys.stderr if output.name == "stderr" else sys.stdout
            stream.write(output.text)
            stream.flush()
        elif not isinstance(output, ErrorOutput):
            self._shell.display_pub.publish(data=dict(output.data), metadata=dict(output.metadata))


# What a tool says while it works, shown when it says it and not when the run hands it on.


class ShownAtOnce:
    """Shows the events of a run, and a tool's progress before its turn.

    Args:
        show: Shows one event; called on the thread that made this alone, since displays of
            another thread would not find their cell.
    """

    def __init__(self, show: Callable[[Event], None]) -> None:
        self._show = show
        self._thread = threading.get_ident()
        self._early: deque[ToolProgress] = deque()

    def at_once(self, event: ToolProgress) -> None:
        """A tool says something now."""
        if threading.get_ident() == self._thread:
            self._early.append(event)
            self._show(event)

    def show(self, event: Event) -> None:
        """The run hands something on; what was shown before is not shown again."""
        if self._early and self._early[0] is event:
            self._early.popleft()
        else:
            self._show(event)
