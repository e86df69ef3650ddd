"""What a chat looks like: ipywidgets, and no decision of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.record.outputs import Output, to_nbformat
from cellwright_magics.screen import Bundle
from cellwright_magics.widget_library import close_widget

WIDE = {"width": "auto"}
STOP_HINT = "Stop the answer. If code runs and goes on, interrupt the kernel."


@dataclass(frozen=True)
class Pressed:
    """What the person answered to a question."""

    word: str
    """``yes``, ``all`` or ``no``."""
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

    def ask(self, act: Callable[[Pressed], None], yes: str, *, offers_all: bool) -> None:
        """Show the answers to a question; call ``act`` with the one that is chosen.

        Args:
            act: Takes the answer.
            yes: What the button says that allows it.
            offers_all: Whether an answer for all that comes is offered.
        """
        reason = self._control(
            self._widgets.Text,
            placeholder="What to do instead (with Refuse)",
            layout={"flex": "1"},
        )
        allow = self._button(yes, "success", "Allow this call", disabled=True)
        allow_all = self._button("Run all", "", "Allow all calls of this answer", disabled=True)
        refuse = self._button("Refuse", "warning", "Refuse this call", disabled=True)
        buttons = [allow, allow_all, refuse] if offers_all else [allow, refuse]
        words = {allow: "yes", allow_all: "all", refuse: "no"}
        for button in buttons:
            word = words[button]
            button.on_click(lambda _, word=word: act(Pressed(word, reason.value.strip())))
        self._question = self._widgets.HBox([*buttons, reason])
        self._append(self._question)

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
        if self._subshell:
            # ipykernel 7.4 asks the comm where its messages go, and by itself says: to the main
            # thread, which is busy while code runs. Earlier and later ones may not ask.
            widget.comm._reply_subshell_for = lambda data, default: self._subshell
        return widget


def _displayed(bundle: Bundle) -> dict[str, Any]:
    return {"output_type": "display_data", "data": bundle.data(), "metadata": {}}
