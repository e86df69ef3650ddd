"""A chat in a cell, for front ends without the panel: its widgets, its approvals, its outputs.

Each answer runs on a thread of its own (``own_kernel``), so that the buttons work and the person's
cells get their turn while the model thinks.
"""

from __future__ import annotations

import json
import threading
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from html import escape
from typing import Any
from urllib.parse import urlsplit

from cellwright.agent.policy import ApprovalAnswer
from cellwright.errors import CellwrightError, SetupError
from cellwright.kernels import carrying
from cellwright.llm.keys import load_settings
from cellwright.record.asked_calls import ASKED_ALONE, deed_of
from cellwright.record.events import (
    ApprovalAsked,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelAsked,
    Notice,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.outputs import (
    ErrorOutput,
    Output,
    OutputMessage,
    StreamOutput,
    fold,
    to_nbformat,
)
from cellwright.record.run_record import RunRecord
from cellwright.session.composer import start_run
from cellwright.session.conversation import Conversation
from cellwright.session.previewing import KEEP, PREVIEW, Previews, ask_with_previews
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.run import Run
from cellwright.settings import MODES
from cellwright.stopping import Inbox, Stop, WorkerThread
from cellwright.tools import FormField, FormRequest
from cellwright_magics.calling_cell import CallingCell
from cellwright_magics.display import Bundle, NotebookTranscript, ShownAtOnce
from cellwright_magics.own_kernel import OwnKernel
from cellwright_magics.run_view import as_html, conversation_text, folded_html, run_html
from cellwright_magics.session import ShellSession
from cellwright_magics.widgets import WidgetDisplay, close_widget, widget_library

# What a chat looks like: ipywidgets, and no decision of its own.


WIDE = {"width": "auto"}
KEEP_HINT = "Take over what the preview came to; the code does not run again"
STOP_HINT = "Stop the answer. If code runs and goes on, interrupt the kernel."


@dataclass(frozen=True)
class Pressed:
    """What the person answered to a question."""

    word: str
    """``yes``, ``all``, ``preview``, ``keep`` or ``no``."""
    reason: str
    """What to do instead."""


class ChatView:
    """Text, Send, Stop, mode, a question where one is asked, and what was said so far.

    Args:
        widgets: The module ``ipywidgets``.
        modes: What can be chosen.
        mode: What is chosen at first.
        subshell: The thread that handles what is typed and pressed, even while a cell runs;
            empty: the front end and the kernel decide.
    """

    def __init__(self, widgets: Any, modes: Sequence[str], mode: str, subshell: str = "") -> None:
        self._widgets = widgets
        self._subshell = subshell
        self._blocks: dict[str, Any] = {}
        self._turn: Any = None
        self._turns = widgets.VBox()
        self._question: Any = None
        self._prompt = self._control(
            widgets.Textarea, placeholder="Ask, or say what to do", rows=3, layout=WIDE
        )
        self._send = self._button("Send", "primary", "Send to the model")
        self._stop = self._button("Stop", "danger", STOP_HINT, disabled=True)
        self._close = self._button("Close", "", "End the chat; what was said stays below")
        self._mode = self._control(
            widgets.Dropdown,
            options=list(modes),
            value=mode,
            description="Mode",
            layout={"width": "12em"},
        )
        self._status = widgets.Label("", layout={"flex": "1"})
        row = widgets.HBox([self._send, self._stop, self._mode, self._status, self._close])
        self.widget = widgets.VBox([self._turns, self._prompt, row])

    @property
    def mode(self) -> str:
        """What the agent may do without asking."""
        return str(self._mode.value)

    def on_send(self, act: Callable[[str], None]) -> None:
        """Call this with the prompt when Send is pressed; an empty one is not sent."""

        def press(_: object) -> None:
            prompt = self._prompt.value.strip()
            if prompt:
                act(prompt)

        self._send.on_click(press)

    def on_stop(self, act: Callable[[], None]) -> None:
        """Call this when Stop is pressed."""
        self._stop.on_click(lambda _: act())

    def on_close(self, act: Callable[[], None]) -> None:
        """Call this when Close is pressed."""
        self._close.on_click(lambda _: act())

    def begin(self, prompt: str) -> None:
        """A turn begins: its prompt, as HTML, is shown and the box is emptied."""
        self._turn = self._widgets.VBox([self._widgets.HTML(prompt)])
        self._turns.children = (*self._turns.children, self._turn)
        self._blocks.clear()
        self._prompt.value = ""
        self._send.disabled, self._stop.disabled = True, False

    def end(self) -> None:
        """The turn is over."""
        self._send.disabled, self._stop.disabled = False, True
        self.tell("")

    def close(self) -> None:
        """Take everything away."""
        close_widget(self.widget)

    def tell(self, text: str) -> None:
        """Say what is going on now."""
        self._status.value = text

    def ask(
        self,
        act: Callable[[Pressed], None],
        yes: str,
        *,
        offers_all: bool,
        offers: Sequence[str],
    ) -> None:
        """Show the answers to a question; call ``act`` with the one that is chosen.

        Args:
            act: Takes the answer.
            yes: What the button says that allows it.
            offers_all: Whether an answer for all that comes is offered.
            offers: Of a preview and of keeping its result, what can be done.
        """
        reason = self._control(
            self._widgets.Text,
            placeholder="What to do instead (with Refuse)",
            layout={"flex": "1"},
        )
        offered = {
            "yes": (yes, "success", "Allow this call"),
            KEEP: ("Keep result", "", KEEP_HINT),
            "all": ("Run all", "", "Allow all calls of this answer"),
            PREVIEW: ("Preview", "", "Try it in a copy of the kernel"),
            "no": ("Refuse", "warning", "Refuse this call"),
        }
        left_out = {"all": not offers_all, PREVIEW: PREVIEW not in offers, KEEP: KEEP not in offers}
        buttons = []
        for word, (text, style, hint) in offered.items():
            if not left_out.get(word):
                button = self._button(text, style, hint, disabled=True)
                button.on_click(lambda _, word=word: act(Pressed(word, reason.value.strip())))
                buttons.append(button)
        self._question = self._widgets.HBox([*buttons, reason])
        self._append(self._question)

    def ask_form(self, form: FormRequest, act: Callable[[str], None]) -> None:
        """Show what a service wants, a field a value; call ``act`` with what is pressed, as JSON.

        Args:
            form: What it wants.
            act: Takes the answer, as ``FormAsker`` has it.
        """
        widgets = self._widgets
        shown = {each.name: self._form_field(each) for each in form.fields}

        def press(action: str) -> None:
            content = {name: _texts_of(widget.value) for name, widget in shown.items()}
            act(json.dumps({"action": action, "content": content if action == "accept" else {}}))

        labels = {"accept": "I have opened it" if form.url else "Accept"}
        labels |= {"decline": "Decline", "cancel": "Cancel"}
        buttons = []
        for action, label in labels.items():
            buttons.append(self._button(label, "success" if action == "accept" else "", ""))
            buttons[-1].on_click(lambda _, action=action: press(action))
        words = [f"<b>The MCP server “{escape(form.server)}” asks:</b> {escape(form.message)}"]
        if form.url:
            url, host = escape(form.url, quote=True), escape(urlsplit(form.url).netloc)
            words.append(f"<code>{url}</code> <a href='{url}' target='_blank' "
                         f"rel='noopener noreferrer'>Open {host}</a>")  # fmt: skip
        words += [f"<b>⚠ {escape(form.problem)}</b>"] if form.problem else []
        lines = [widgets.HTML("<br>".join(words)), *shown.values(), widgets.HBox(buttons)]
        self._question = widgets.VBox(lines)
        self._append(self._question)

    def _form_field(self, field: FormField) -> Any:
        """What the person fills in for a value."""
        widgets, given = self._widgets, field.given
        named: dict[str, Any] = {
            "description": field.title if field.required else f"{field.title} (optional)",
            "style": {"description_width": "initial"},
            "layout": WIDE,
        }
        options = [(option.title, option.value) for option in field.options]
        if field.kind == "boolean":
            return self._control(widgets.Checkbox, value=given == ("true",), **named)
        if field.kind == "choices":
            chosen = tuple(each for each in given if each in [value for _, value in options])
            return self._control(widgets.SelectMultiple, options=options, value=chosen, **named)
        first = given[0] if given else ""
        if field.kind == "choice":
            value = first if first in [value for _, value in options] else ""
            options = [("", ""), *options]
            return self._control(widgets.Dropdown, options=options, value=value, **named)
        about = field.description or field.format
        return self._control(widgets.Text, value=first, placeholder=about, **named)

    def take_answers(self) -> None:
        """The answers can be pressed from now on."""
        for button in self._question.children[:-1]:
            button.disabled = False

    def end_question(self) -> None:
        """Take the answers away."""
        question, self._question = self._question, None
        self._turn.children = tuple(child for child in self._turn.children if child is not question)
        close_widget(question)

    def show(self, bundle: Bundle) -> str:
        """Show something new in this turn; the name under which it can be changed."""
        name = f"block-{len(self._blocks) + 1}"
        self._place(name, (_displayed(bundle),))
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        """Show something else in its place."""
        self._blocks[name].outputs = (_displayed(bundle),)

    def settle(self) -> None:
        """Nothing: widgets draw each change."""

    def show_outputs(self, name: str, outputs: Sequence[Output]) -> None:
        """Show the outputs of a cell, in its place or in a new one."""
        shown = tuple(to_nbformat(output) for output in outputs)
        if name in self._blocks:
            self._blocks[name].outputs = shown
        else:
            self._place(name, shown)

    def _place(self, name: str, outputs: tuple[dict[str, Any], ...]) -> None:
        block = self._blocks[name] = self._widgets.Output(outputs=outputs)
        self._append(block)

    def _append(self, widget: Any) -> None:
        self._turn.children = (*self._turn.children, widget)

    def _button(self, text: str, style: str, hint: str, *, disabled: bool = False) -> Any:
        return self._control(
            self._widgets.Button,
            description=text,
            button_style=style,
            tooltip=hint,
            disabled=disabled,
        )

    def _control(self, kind: Callable[..., Any], **options: Any) -> Any:
        """A widget that the person uses; its messages stay in order, on one thread."""
        widget = kind(**options)
        # What is pressed and typed here changes no variable.
        carrying.disregard(str(widget.model_id))
        if self._subshell:
            # ipykernel 7.4 asks the comm where its messages go, and by itself says: to the main
            # thread, which is busy while code runs. Earlier and later ones may not ask.
            widget.comm._reply_subshell_for = lambda data, default: self._subshell
        return widget


def _texts_of(value: Any) -> list[str]:
    """What stands in a field, as texts."""
    if isinstance(value, bool):
        return [str(value).lower()]
    return [str(each) for each in value] if isinstance(value, (tuple, list)) else [str(value)]


def _displayed(bundle: Bundle) -> dict[str, Any]:
    return {"output_type": "display_data", "data": bundle.data(), "metadata": {}}


# What the cells of an answer show, drawn as it comes.


LARGE_CHARACTERS = 100_000
LARGE_SECONDS = 1.0
"""Outputs go over the wire whole each time, so large ones are drawn less often."""
DISPLAY_CHARACTERS = 1_000


class ChatOutputs:
    """Collects the outputs of cells.

    Args:
        view: Where they are drawn.
        clock: Seconds, for the pace.
    """

    def __init__(self, view: ChatView, clock: Callable[[], float] = time.monotonic) -> None:
        self._view = view
        self._clock = clock
        self._messages: defaultdict[str, list[OutputMessage]] = defaultdict(list)
        self._sizes: defaultdict[str, int] = defaultdict(int)
        self._drawn_at = float("-inf")

    def add(self, output: CellOutput) -> None:
        """A cell sent something."""
        message = output.message
        self._messages[output.cell_id].append(message)
        size = len(message.text) if isinstance(message, StreamOutput) else DISPLAY_CHARACTERS
        self._sizes[output.cell_id] += size
        is_large = self._sizes[output.cell_id] > LARGE_CHARACTERS
        if not is_large or self._clock() - self._drawn_at >= LARGE_SECONDS:
            self._draw(output.cell_id)

    def finish(self, cell_id: str) -> None:
        """A cell ended: draw what is not drawn yet."""
        if cell_id in self._messages:
            self._draw(cell_id)

    def _draw(self, cell_id: str) -> None:
        self._view.show_outputs(f"outputs of {cell_id}", fold(self._messages[cell_id]))
        self._drawn_at = self._clock()


CLOSING_SECONDS = 2.0
ENDING_SECONDS = 0.2
"""So long an answer may still hold on after Send can be pressed again."""
DOING = {
    ModelAsked: "waiting for the model…",
    CellStarted: "code runs…",
    ApprovalAsked: "may this run?",
    ToolFinished: "",
}


@dataclass(frozen=True)
class Asking:
    """A question on its way."""

    place: RunContext
    """Where it is answered."""
    start: Callable[[Conversation], Iterator[Event]]
    """Asks it in a conversation."""


@dataclass(frozen=True)
class ChatParts:
    """What a chat works with."""

    asking: Callable[[str, Stop], AbstractContextManager[Asking]]
    """For a prompt; while it is entered, no other run goes on in this kernel."""
    keep: Callable[[RunRecord], None]
    """Told of a run that has ended."""
    let_go: Callable[[], None]
    """Called when the chat is closed."""
    short_errors: bool = True
    """Whether errors of the code are shown in brief."""


class WidgetChat:
    """One conversation behind one view.

    Args:
        view: What the person sees and presses.
        parts: What it works with.
    """

    def __init__(self, view: ChatView, parts: ChatParts) -> None:
        self._view = view
        self._parts = parts
        self._conversation: Conversation | None = None
        self._stop = Stop()
        self._free = threading.Lock()
        """Held while an answer is on its way, and once the chat is closed."""
        self._thread: threading.Thread | None = None
        self._is_closed = False
        view.on_send(self.send)
        view.on_stop(self.stop)
        view.on_close(self.close)

    def send(self, prompt: str) -> None:
        """Begin to answer, unless an answer is on its way."""
        if not self._free.acquire(timeout=ENDING_SECONDS):
            return
        self._stop = Stop()
        shown = as_html(prompt).replace("\n", "<br>")
        self._view.begin(f"<b>{shown}</b>")
        self._thread = WorkerThread(self._answer, prompt, self._stop, name="chat")
        self._thread.start()

    def stop(self) -> None:
        """Stop the answer that is on its way."""
        self._stop.set()

    def close(self) -> None:
        """Stop what goes on, wait a moment until its end is recorded, and go from the page."""
        if self._is_closed:
            return
        self._is_closed = True
        self.stop()
        if self._thread is not None:
            self._thread.join(CLOSING_SECONDS)
        self._free.acquire(timeout=ENDING_SECONDS)
        self._parts.let_go()
        self._view.close()

    def _answer(self, prompt: str, stop: Stop) -> None:
        transcript = NotebookTranscript(self._view, short_errors=self._parts.short_errors)
        try:
            record = self._run(prompt, stop, transcript)
            transcript.finish(Run(record))
            self._parts.keep(record)
        except CellwrightError as error:
            transcript.show(Notice("error", error.message, error.hint))
        except Exception as error:  # nobody else would ever see it
            words = "".join(traceback.format_exception_only(error)).strip()
            transcript.show(Notice("error", f"cellwright failed: {words}"))
        finally:
            self._view.end()
            self._free.release()

    def _run(self, prompt: str, stop: Stop, transcript: NotebookTranscript) -> RunRecord:
        outputs = ChatOutputs(self._view)
        showing = ShownAtOnce(lambda event: self._show(event, transcript, outputs))
        with self._parts.asking(prompt, stop) as asking:
            place = replace(asking.place, on_progress=showing.at_once)
            conversation = self._conversation_at(place)
            for event in asking.start(conversation):
                showing.show(event)
        return asking.place.store.record(conversation.last_run_id)

    def _conversation_at(self, place: RunContext) -> Conversation:
        if self._conversation is None:
            self._conversation = Conversation(place)
        conversation = self._conversation
        conversation.move(place)
        if conversation.last_run_id:
            # What counts the cells of earlier answers as ours is new with every connection.
            record = place.store.record(conversation.last_run_id)
            log = (*record.start_executed, *(ran.source for ran in record.executions))
            conversation.resume(conversation.messages, log)
        return conversation

    def _show(self, event: Event, transcript: NotebookTranscript, outputs: ChatOutputs) -> None:
        if isinstance(event, CellOutput):
            if not (self._parts.short_errors and isinstance(event.message, ErrorOutput)):
                outputs.add(event)
            return
        doing = DOING.get(type(event))
        if doing is not None:
            self._view.tell(doing)
        if isinstance(event, CellFinished):
            outputs.finish(event.cell_id)
        transcript.show(event)


# Asks the person with buttons, on the thread of a chat's run.


SETTLE_SECONDS = 0.4
"""The second click of a double click must not answer the next question, which nobody has read."""


class ButtonApprover:
    """Shows buttons under what would run and waits until one is pressed, or Stop is.

    Args:
        view: Where they are.
        stop: Of the run that asks.
        previews: Tries calls in copies of the kernel.
    """

    def __init__(self, view: ChatView, stop: Stop, previews: Previews) -> None:
        self._view = view
        self._stop = stop
        self._previews = previews
        self._all = False

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        if self._all and call.risk in ("edit", "execute"):
            return ApprovalAnswer(True, reason="all in this run")
        pressed = Pressed("no", "")

        def read(offers: Sequence[str]) -> str:
            nonlocal pressed
            pressed = self._wait(call, offers)
            return pressed.word

        def show(bundle: dict[str, str]) -> None:
            self._view.show(Bundle("", bundle["text/plain"], bundle))

        said = ask_with_previews(call, self._previews, read, show, self._stop)
        self._all = self._all or pressed.word == "all"
        reason = pressed.reason if pressed.word == "no" else ""
        return ApprovalAnswer(
            pressed.word != "no", reason=reason, previewed=said.previewed, adopted=said.adopted
        )

    def _wait(self, call: ToolStarted, offers: Sequence[str]) -> Pressed:
        # One for each question: a press that comes late cannot answer the next one.
        answers: Inbox[Pressed] = Inbox()
        offers_all = call.risk not in ASKED_ALONE
        self._view.ask(
            answers.put,
            f"{deed_of(call).capitalize()} it",
            offers_all=offers_all,
            offers=offers,
        )
        try:
            self._stop.wait(SETTLE_SECONDS)
            self._view.take_answers()
            return answers.take(self._stop)
        finally:
            self._view.end_question()


class WidgetForms:
    """Shows what a service asks under the answer: a ``FormAsker``.

    Args:
        view: Where it is shown.
    """

    def __init__(self, view: ChatView) -> None:
        self._view = view

    def __call__(self, form: FormRequest) -> WidgetForm:
        """Show it; the answer comes when a button is pressed."""
        return WidgetForm(self._view, form)


class WidgetForm:
    """A form that is shown: a ``PendingInput``.

    Args:
        view: Where it is shown.
        form: What is wanted.
    """

    def __init__(self, view: ChatView, form: FormRequest) -> None:
        self._view = view
        self._pressed: list[str] = []
        view.ask_form(form, self._pressed.append)

    def value(self) -> str | None:
        """What was pressed and given; None: nothing yet."""
        return self._pressed[0] if self._pressed else None

    def close(self) -> None:
        """Take it away."""
        self._view.end_question()


# Opens a chat under the calling cell.


TITLE = "A chat with the agent. What was said is kept below."
NOTHING_YET = "Nothing has been said yet."
WAITING = "waiting for a cell of yours to end…"


class SavedChat:
    """What was said so far, for the saved file.

    Args:
        display: Where it is kept.
    """

    def __init__(self, display: WidgetDisplay) -> None:
        self._display = display
        self._texts: list[str] = []
        self._html: list[str] = []

    def add(self, record: RunRecord) -> None:
        """A run has ended."""
        self._texts.append(conversation_text((record,)))
        self._html.append(run_html(record))
        self._keep(is_open=False)

    def close(self) -> None:
        """The chat goes; what was said takes its place on the page."""
        if self._html:
            self._keep(is_open=True)
        self._display.close()

    def _keep(self, *, is_open: bool) -> None:
        answers = "1 answer" if len(self._html) == 1 else f"{len(self._html)} answers"
        html = folded_html(answers, "<hr>".join(self._html), is_open=is_open)
        self._display.keep("\n\n".join(self._texts), html)


class ChatWorkplace:
    """Where the answers of a chat are worked out.

    Args:
        session: Whose record and services are used.
        kernel: Where code runs.
        view: Where the person is told and asked.
        request_in: What is asked in a mode, but for the prompt.
    """

    def __init__(
        self,
        session: ShellSession,
        kernel: OwnKernel,
        view: ChatView,
        request_in: Callable[[str], RunRequest],
    ) -> None:
        self._session, self._kernel = session, kernel
        self._view, self._request_in = view, request_in

    @contextmanager
    def asking(self, prompt: str, stop: Stop) -> Iterator[Asking]:
        """A question on its way, with a connection for as long as it is."""
        session, view = self._session, self._view
        settings = load_settings()
        request = replace(self._request_in(view.mode), prompt=prompt)
        with session.at_work(), self._kernel.connected(self._tell_waiting) as connected:

            def start(conversation: Conversation) -> Iterator[Event]:
                environment = session.environment(
                    settings, conversation.messages, lambda _: nullcontext(conversation)
                )
                return start_run(request, environment, stop)

            approver = ButtonApprover(view, stop, session.previews_of(connected.ask_snapshots))
            place = session.place_with(settings, connected, approver)
            yield Asking(replace(place, form_asker=WidgetForms(view)), start)

    def _tell_waiting(self, waits: bool) -> None:
        self._view.tell(WAITING if waits else "")


def open_chat(
    session: ShellSession,
    calling: CallingCell,
    request_in: Callable[[str], RunRequest],
    *,
    short_errors: bool,
) -> WidgetChat:
    """Show a chat under the calling cell.

    Args:
        session: Whose record and services it uses.
        calling: The cell.
        request_in: What is asked in a mode, but for the prompt; empty: the one to begin with.
        short_errors: Whether errors of the code are shown in brief.

    Raises:
        SetupError: Widgets cannot be shown here.
    """
    if not calling.rich:
        raise SetupError(
            "A chat needs a notebook; this is a terminal.", hint="Ask with %agent and a prompt."
        )
    widgets, mode = widget_library(), request_in("").mode
    kernel = OwnKernel(calling.shell)
    subshell = kernel.open_subshell()
    view = ChatView(widgets, MODES, mode, subshell)
    display = WidgetDisplay(calling.shell, view.widget, TITLE)

    kept = SavedChat(display)

    def let_go() -> None:
        kept.close()
        if subshell:
            kernel.close_subshell(subshell)

    display.show(NOTHING_YET, f"<p><small>{NOTHING_YET}</small></p>")
    work = ChatWorkplace(session, kernel, view, request_in)
    return WidgetChat(view, ChatParts(work.asking, kept.add, let_go, short_errors))
