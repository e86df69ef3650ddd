"""Parts of the chat outside of a kernel: widgets are real, nobody sees them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ipywidgets
import pytest

from cellwright.errors import SetupError
from cellwright.record.events import CellOutput
from cellwright.record.outputs import StreamOutput
from cellwright.settings import MODES
from cellwright.stopping import Stop
from cellwright.tools import FormField, FormOption, FormRequest
from cellwright_magics.chat import (
    Asking,
    ChatOutputs,
    ChatParts,
    ChatView,
    WidgetChat,
    WidgetForms,
)
from cellwright_magics.own_kernel import OwnKernel
from cellwright_magics.widgets import close_widget


@pytest.fixture
def view() -> Iterator[ChatView]:
    view = ChatView(ipywidgets, MODES, "ask")
    yield view
    view.close()


def widgets(root: Any, kind: type) -> list[Any]:
    found = [root] if isinstance(root, kind) else []
    return found + [w for child in getattr(root, "children", ()) for w in widgets(child, kind)]


def button(view: ChatView, name: str) -> Any:
    return next(b for b in widgets(view.widget, ipywidgets.Button) if b.description == name)


def outputs(view: ChatView) -> list[Any]:
    return [output for w in widgets(view.widget, ipywidgets.Output) for output in w.outputs]


def test_a_service_asks_with_a_form_under_the_answer(view: ChatView) -> None:
    view.begin("book")
    seats = (FormOption("a", "Aisle"), FormOption("w", "Window"))
    fields = (
        FormField("n", "Guests", "number", required=True, given=("12",)),
        FormField("b", "Quiet", "boolean", given=("true",)),
        FormField("c", "Seat", "choice", options=seats),
        FormField("m", "Days", "choices", options=seats, given=("a", "gone")),
    )
    pending = WidgetForms(view)(FormRequest("desk", "Which <table>?", fields, problem="Too many."))
    (words,) = [w.value for w in widgets(view.widget, ipywidgets.HTML) if "desk" in w.value]
    assert "Which &lt;table&gt;?" in words
    assert "Too many." in words
    assert pending.value() is None
    (guests,) = widgets(view.widget, ipywidgets.Text)
    guests.value = "3"
    chosen = [w for w in widgets(view.widget, ipywidgets.Dropdown) if w.description != "Mode"]
    chosen[0].value = "w"
    button(view, "Accept").click()
    content = {"n": ["3"], "b": ["true"], "c": ["w"], "m": ["a"]}
    assert json.loads(str(pending.value())) == {"action": "accept", "content": content}
    pending.close()
    assert widgets(view.widget, ipywidgets.Checkbox) == []


def test_an_address_that_a_service_wants_opened_is_a_link_and_can_be_declined(
    view: ChatView,
) -> None:
    view.begin("visit")
    form = FormRequest("desk", "Sign in.", url="https://sign.example/in?a=1&b='2'")
    pending = WidgetForms(view)(form)
    (words,) = [w.value for w in widgets(view.widget, ipywidgets.HTML) if "desk" in w.value]
    assert "href='https://sign.example/in?a=1&amp;b=&#x27;2&#x27;'" in words
    assert "Open sign.example" in words
    button(view, "Decline").click()
    assert json.loads(str(pending.value())) == {"action": "decline", "content": {}}
    pending.close()


def test_an_empty_prompt_is_not_sent(view: ChatView) -> None:
    sent: list[str] = []
    view.on_send(sent.append)
    button(view, "Send").click()
    (box,) = widgets(view.widget, ipywidgets.Textarea)
    box.value = "  \n"
    button(view, "Send").click()
    box.value = " hello "
    button(view, "Send").click()
    assert sent == ["hello"]


def test_an_error_that_nobody_expected_is_shown_and_the_chat_goes_on(view: ChatView) -> None:
    prompts: list[str] = []
    closed: list[bool] = []

    @contextmanager
    def broken(prompt: str, stop: Stop) -> Iterator[Asking]:
        prompts.append(prompt)
        raise LookupError("no <such> thing")
        yield

    chat = WidgetChat(view, ChatParts(broken, lambda record: None, lambda: closed.append(True)))
    chat.send("one")
    chat.send("two")
    chat.close()
    chat.close()
    assert prompts == ["one", "two"]
    assert closed == [True]
    texts = [output["data"]["text/plain"] for output in outputs(view)]
    assert texts == ["✗ cellwright failed: LookupError: no <such> thing"] * 2
    assert "&#60;such&#62;" in outputs(view)[0]["data"]["text/markdown"]


def test_large_outputs_are_drawn_less_often_and_whole_in_the_end(view: ChatView) -> None:
    now = [0.0]
    drawn = ChatOutputs(view, lambda: now[0])
    view.begin("<b>Print</b>")

    def shown() -> int:
        return sum(len(output["text"]) for output in outputs(view))

    for seconds, expected in ((0.0, 60_000), (0.1, 60_000), (1.2, 180_000), (1.3, 180_000)):
        now[0] = seconds
        drawn.add(CellOutput("cell", StreamOutput("stdout", "x" * 59_999 + "\n")))
        assert shown() == expected
    drawn.finish("cell")
    assert shown() == 240_000
    drawn.finish("a cell that printed nothing")
    assert len(outputs(view)) == 1


def test_a_process_that_is_no_kernel_cannot_be_connected_to() -> None:
    class Shell:
        kernel = None

    with pytest.raises(SetupError, match="can be connected to; this one cannot"):
        OwnKernel(Shell())


def test_closing_a_widget_closes_its_parts_and_does_no_harm_twice() -> None:
    before = set(ipywidgets.widgets.widget._instances)
    box = ipywidgets.HBox([ipywidgets.Button(), ipywidgets.VBox([ipywidgets.Label("x")])])
    close_widget(box)
    close_widget(box)
    assert set(ipywidgets.widgets.widget._instances) == before
