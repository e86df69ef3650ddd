"""Parts of the chat outside of a kernel: widgets are real, nobody sees them."""

from __future__ import annotations

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
from cellwright_magics.chat import Asking, ChatOutputs, ChatParts, ChatView, WidgetChat
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
