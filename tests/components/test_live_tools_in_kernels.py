"""Tools of a cell, called in real kernels: nested in the magic's, and over a connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from component_samples import context_with
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from cellwright.kernels.client import ClientKernel
from cellwright.record.content import ComponentOutput, for_model
from cellwright.record.events import CellAdded, CellOutput
from cellwright.record.messages import (
    AssistantMessage,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.outputs import ExecuteResult
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import kernel_tool

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

CELL = '''
import asyncio, enum
import pandas as pd
from cellwright.tools import Component, ToolContext
from cellwright.tools.functions import tool
from cellwright.tools.live_registry import LIVE

class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"

def revenue(region: str) -> pd.DataFrame:
    """Revenue of a region."""
    return pd.DataFrame({"month": [1, 2], "euros": [10.5, 20.25]})

async def fetch(word: str) -> str:
    """Fetch it."""
    await asyncio.sleep(0)
    return word.upper()

def paint(colour: Colour) -> str:
    """Paint it."""
    return colour.name

def scoped():
    """Say it in scopes."""
    made = Component().create_output
    yield made(text="only drawn", visible_scope="user")
    yield made(text="only read", visible_scope="llm")

def fails(number: int) -> float:
    """Fail."""
    return 1 / number

class Shout(Component):
    name = "shout"
    def tool_eval(self, word: str):
        """Shout.

        Args:
            word: What is shouted.
        """
        yield word.upper() + "!"

shout = Shout()

def told(ctx: ToolContext) -> str:
    """Say what it was told."""
    ctx.notify("half of it", 0.5)
    return f"{ctx.prompt}/{ctx.run_id}/{ctx.tool_name}/{[m.role for m in ctx.history]}"

class Faithful(Component):
    name = "faithful"
    def tool_eval(self, **kwargs):
        """Say what it was told."""
        return f"{kwargs['_sys_origin_query']} {kwargs['model_configs']}"

for each in (revenue, fetch, paint, scoped, fails, shout, told, Faithful):
    LIVE.add(getattr(each, "__name__", "") or each.name, each)
'''
ROWS = "__import__('json').dumps(LIVE.rows(globals()))"
NESTED = """
import itertools
from dataclasses import replace
from cellwright.tools import ToolContext
from cellwright.tools.live_registry import LIVE, LiveRow
from cellwright.tools.live_tools import kernel_tool
from cellwright.record.content import ComponentOutput, for_model
from cellwright.kernels.shell import ShellKernel
from cellwright.tools import Shelf
from cellwright.stopping import Stop
_numbers = itertools.count(1)
from cellwright.record.messages import AssistantMessage, TextPart, UserMessage
_context = ToolContext(ShellKernel(get_ipython()), None, Shelf(), Stop(), lambda o: o,
                       lambda: f"c{next(_numbers)}", prompt="how many?", run_id="run1",
                       tool_name="told", model_configs={"model": "m"},
                       history=(UserMessage((TextPart("Hi"),)), AssistantMessage("Hello.")))
def _call(name, arguments):
    rows = {row["name"]: LiveRow(**row) for row in LIVE.rows(globals())}
    said = list(kernel_tool(rows[name]).evaluate(_context, **arguments))
    contents = tuple(c for o in said if isinstance(o, ComponentOutput) for c in o.content)
    return "\\n".join(getattr(part, "text", "picture") for part in for_model(contents))
"""
READ: dict[str, tuple[dict[str, Any], str]] = {
    "revenue": ({"region": "north"}, "20.25"),
    "fetch": ({"word": "hi"}, "'HI'"),
    "paint": ({"colour": "red"}, "'RED'"),
    "scoped": ({}, "only read"),
    "fails": ({"number": 0}, "ZeroDivisionError: division by zero"),
    "shout": ({"word": "hi"}, "HI!"),
    "told": ({}, "how many?/run1/told/['user', 'assistant']"),
    "faithful": ({}, "how many? {'model': 'm'}"),
}


class Lanes:
    """One kernel, and what a model reads of a call in either lane."""

    def __init__(self, client: BlockingKernelClient) -> None:
        self._client = client
        self.rows: dict[str, LiveRow] = {}
        self.events: list[Any] = []

    def value(self, code: str, expression: str) -> Any:
        """Run code; the JSON value of an expression after it."""
        asked = {"answer": expression}
        reply = self._client.execute(code, reply=True, timeout=60, user_expressions=asked)
        content = reply["content"]
        assert content["status"] == "ok", content
        return json.loads(eval(content["user_expressions"]["answer"]["data"]["text/plain"]))

    def nested(self, name: str, arguments: dict[str, Any]) -> str:
        """As the magic calls it: from a cell that runs."""
        code = f"_read = _call({name!r}, {arguments!r})"
        return str(self.value(code, "__import__('json').dumps(_read)"))

    def connected(self, name: str, arguments: dict[str, Any]) -> str:
        """As the panel calls it: over a connection of its own."""
        context = context_with(
            kernel=ClientKernel(self._client),
            prompt="how many?",
            run_id="run1",
            tool_name="told",
            model_configs={"model": "m"},
            history=(UserMessage((TextPart("Hi"),)), AssistantMessage("Hello.")),
        )
        self.events = list(kernel_tool(self.rows[name]).evaluate(context, **arguments))
        said = (item for item in self.events if isinstance(item, ComponentOutput))
        contents = tuple(content for output in said for content in output.content)
        return text_of(ToolMessage("c", name, for_model(contents)))


@pytest.fixture(scope="module")
def lanes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lanes]:
    folder = tmp_path_factory.mktemp("kernel")
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(folder))
    try:
        made = Lanes(client)
        rows = made.value(CELL + NESTED, ROWS)
        made.rows = {row["name"]: LiveRow(**row) for row in rows}
        yield made
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.parametrize("name", READ)
def test_a_tool_of_a_cell_is_called_from_the_magic(lanes: Lanes, name: str) -> None:
    arguments, expected = READ[name]
    read = lanes.nested(name, arguments)
    assert expected in read
    assert "only drawn" not in read


@pytest.mark.parametrize("name", READ)
def test_a_tool_of_a_cell_is_called_from_the_panel(lanes: Lanes, name: str) -> None:
    arguments, expected = READ[name]
    read = lanes.connected(name, arguments)
    assert expected in read
    assert "only drawn" not in read


def test_a_table_is_drawn_in_the_calls_cell(lanes: Lanes) -> None:
    lanes.connected("revenue", {"region": "north"})
    added = next(item for item in lanes.events if isinstance(item, CellAdded))
    assert added.source == "revenue(region='north')"
    drawn = [item.message for item in lanes.events if isinstance(item, CellOutput)]
    shown = [message.data for message in drawn if isinstance(message, ExecuteResult)]
    assert ["<table" in data["text/html"] for data in shown] == [True]


def test_000_34_progress_of_a_live_tool_is_drawn_and_the_model_is_not_told(lanes: Lanes) -> None:
    read = lanes.connected("told", {})
    drawn = [item.message for item in lanes.events if isinstance(item, CellOutput)]
    assert any("half of it 50%" in str(getattr(message, "data", "")) for message in drawn)
    assert "half of it" not in read


def test_000_13_by_hand_in_a_kernel_a_tool_is_told_of_no_run(lanes: Lanes) -> None:
    lanes.value("_by_hand = shout.evaluate_merged(word='hi')", "__import__('json').dumps('')")
    code = "_by_hand = tool(told).evaluate_merged().content[0].text['info']"
    assert lanes.value(code, "__import__('json').dumps(_by_hand)") == "//told/[]"


def test_000_01_a_class_of_a_cell_is_offered_under_its_name(lanes: Lanes) -> None:
    assert lanes.rows["shout"].form == "output"
    assert lanes.rows["faithful"].expression == "Faithful()", "a class is made for each call"
    assert lanes.rows["shout"].parameters == {
        "type": "object",
        "properties": {"word": {"type": "string", "description": "What is shouted."}},
        "required": ["word"],
    }


def test_000_44_functions_of_cells_have_schemas(lanes: Lanes) -> None:
    properties = {name: (row.parameters or {})["properties"] for name, row in lanes.rows.items()}
    assert properties["paint"]["colour"]["enum"] == ["red", "blue"]
    assert lanes.rows["paint"].converts
