"""Tools that live in the kernel, written as cells and called by the agent."""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any, Literal

import pytest
from component_samples import Both, Colour, component, context_with
from fakes import FakeKernel, FakeNotebook, Played, make_context
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cellwright.agent.policy import Policy
from cellwright.errors import KernelError, SetupError, ToolError
from cellwright.record.content import ComponentOutput, Content, for_model
from cellwright.record.events import CellAdded, CellFinished
from cellwright.record.messages import ImagePart, ModelUsage, TextPart, Usage
from cellwright.record.outputs import DisplayData, ErrorOutput, Execution, StreamOutput
from cellwright.tools import ToolContext
from cellwright.tools.functions import tool
from cellwright.tools.live_registry import (
    RESERVED_TOOLS,
    LiveOptions,
    LiveRegistry,
    LiveRow,
    find_value,
)
from cellwright.tools.live_tools import call_code, discovered, kernel_tool
from cellwright.tools.registry import Registry
from cellwright.tools.standard import standard_tools


def revenue(region: str, months: int | None = None, tags: list[str] | None = None) -> float:
    """Revenue of a region.

    Args:
        region: Which one.
        months: How many.
        tags: Labels.
    """
    return 1.0


def paint(colour: Colour) -> str:
    """Paint it."""
    return colour.name


async def fetch(word: Annotated[str, "W."], how: Literal["a", "b"] = "a") -> str:
    """Fetch it."""
    return word


def parts(count: int) -> Iterator[int]:
    """Yield them."""
    yield from range(count)


async def ticks(count: int) -> AsyncIterator[int]:
    """Tick."""
    yield count


def half(value: float, /) -> float:
    """Halve it."""
    return value / 2


def traced(ctx: ToolContext | None = None) -> str:
    """Trace it."""
    return str(ctx)


NAMESPACE: dict[str, Any] = {
    "revenue": revenue,
    "paint": paint,
    "fetch": fetch,
    "parts": parts,
    "ticks": ticks,
    "half": half,
    "traced": traced,
    "both": Both(),
    "decorated": tool(name="count", risk="read")(parts),
}


def row_of(expression: str, options: LiveOptions | None = None) -> LiveRow:
    registry = LiveRegistry()
    registry.add(expression, find_value(NAMESPACE, expression), options)
    (row,) = registry.rows(NAMESPACE)
    return LiveRow(**row)


CONVERTED = "from cellwright.tools.functions import converted as _converted\n"
MADE = "from cellwright.tools.functions import tool as _tool\n"


@pytest.mark.parametrize(
    ("expression", "arguments", "code"),
    [
        ("revenue", {"region": "a'b\n", "months": 3}, 'revenue(region="a\'b\\n", months=3)'),
        ("paint", {"colour": "red"}, CONVERTED + "paint(**_converted(paint, {'colour': 'red'}))"),
        ("fetch", {"word": "x"}, "await fetch(word='x')"),
        ("parts", {"count": 2}, "for _part in parts(count=2):\n    display(_part)"),
        ("ticks", {"count": 2}, "async for _part in ticks(count=2):\n    display(_part)"),
        ("both", {"word": "x"}, "both.evaluate_merged(word='x')"),
        ("half", {"value": 3}, MADE + "_tool(half).evaluate_merged(value=3)"),
        ("traced", {}, MADE + "_tool(traced).evaluate_merged()"),
    ],
)
def test_a_call_is_the_code_that_a_person_would_write(
    expression: str, arguments: dict[str, Any], code: str
) -> None:
    row = row_of(expression)
    assert call_code(row, arguments) == code
    made = kernel_tool(row)
    assert made.code_for(**arguments) == code
    assert made.label(**arguments) == code.splitlines()[-1]
    assert Policy("ask").risk_of(made, arguments) == "execute"


def test_an_argument_never_becomes_code() -> None:
    code = call_code(row_of("revenue"), {"region": "x'); import os; ('"})
    assert code == "revenue(region=\"x'); import os; ('\")"


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@given(st.fixed_dictionaries({"region": JSON, "months": JSON}))
def test_000_43_what_a_model_sends_is_what_the_function_gets(arguments: dict[str, Any]) -> None:
    code = call_code(LiveRow("revenue", "revenue"), arguments)
    given_to_it = eval(code, {"revenue": lambda **named: named})
    assert given_to_it == arguments


@given(
    st.fixed_dictionaries(
        {"region": st.text(), "months": st.integers()}, optional={"tags": st.lists(st.text())}
    )
)
def test_000_43_what_the_manifest_allows_the_function_takes(arguments: dict[str, Any]) -> None:
    made = tool(revenue)
    schema = dict(made.tool_manifests()[0].parameters)
    assert Draft202012Validator(schema).is_valid(arguments)
    assert made.evaluate_merged(**arguments).content[0].text == {"info": "1.0"}


def test_a_decorated_tool_keeps_its_name_and_its_risk() -> None:
    row = row_of("decorated")
    assert (row.name, row.expression, row.risk, row.form) == ("count", "decorated", "read", "each")
    assert row_of("revenue", LiveOptions("sales", "read", "Sales.")).description == "Sales."


def test_000_11_the_agents_own_names_are_reserved() -> None:
    assert {made.name for made in standard_tools(FakeNotebook())} == RESERVED_TOOLS
    registry = LiveRegistry()
    for name in ("run_cell", "_sys_traceid"):
        with pytest.raises(SetupError, match=f"'{name}' is a name of the agent's own"):
            registry.add("revenue", revenue, LiveOptions(name))
    assert registry.expressions() == ()


def test_000_01_two_tools_of_one_name_are_refused() -> None:
    registry = LiveRegistry()
    registry.add("revenue", revenue)
    registry.add("revenue", revenue)
    with pytest.raises(SetupError, match="'revenue' is offered as 'revenue' already"):
        registry.add("shop", revenue, LiveOptions("revenue"))


def test_a_tool_is_what_its_name_stands_for_now() -> None:
    registry, namespace = LiveRegistry(), {"revenue": revenue}
    registry.add("revenue", revenue)

    def other(city: str) -> int:
        """Another."""
        return 1

    namespace["revenue"] = other  # type: ignore[assignment]
    assert list(registry.rows(namespace)[0]["parameters"]["properties"]) == ["city"]
    del namespace["revenue"]
    assert "There is no 'revenue'" in registry.rows(namespace)[0]["problem"]
    registry.remove("revenue")
    assert registry.rows(namespace) == []
    with pytest.raises(SetupError, match="'revenue' is no tool"):
        registry.remove("revenue")
    registry.clear()


def test_000_41_several_tools_in_one_cannot_be_called_as_a_cell() -> None:
    schema = {"type": "object", "properties": {}}
    both = [{"name": name, "description": "D.", "parameters": schema} for name in ("a", "b")]
    made = component(lambda name, **kwargs: name, manifests=both)
    registry = LiveRegistry()
    registry.add("made", made)
    assert "several tools in one" in registry.rows({"made": made})[0]["problem"]


@pytest.mark.parametrize(
    ("expression", "told"),
    [("a b", "is no name"), ("missing", "no 'missing'"), ("revenue.x", "has no 'x'")],
)
def test_000_54_what_is_no_function_here_is_named(expression: str, told: str) -> None:
    with pytest.raises(SetupError, match=told):
        find_value(NAMESPACE, expression)
    assert find_value({"a": enum}, "a.Enum") is enum.Enum


def kernel_saying(code: str, *outputs: Any, status: str = "ok") -> FakeKernel:
    error = ErrorOutput("ValueError", "no such region", ()) if status == "error" else None
    execution = Execution(status, 0.1, error)  # type: ignore[arg-type]
    return FakeKernel({code: Played(outputs, execution)})


CODE = "revenue(region='north')"


def called(kernel: FakeKernel, **changes: Any) -> tuple[list[Any], ComponentOutput]:
    context = context_with(kernel=kernel, **changes)
    items = list(kernel_tool(row_of("revenue")).evaluate(context, region="north"))
    said = [item for item in items if isinstance(item, ComponentOutput) and item.content]
    return items, said[0]


def test_a_call_is_a_cell_that_everybody_sees() -> None:
    items, said = called(kernel_saying(CODE, StreamOutput("stdout", "12.5\n")))
    assert items[0] == CellAdded("c1", CODE, call_id="call_1")
    assert any(isinstance(item, CellFinished) for item in items)
    assert for_model(said.content)[0] == TextPart("12.5")


def test_an_exception_of_the_function_is_the_calls_error() -> None:
    _, said = called(kernel_saying(CODE, status="error"))
    assert said.content[0].is_error
    assert "ValueError: no such region" in said.content[0].text["info"]


def display_of(*contents: Content, **changes: Any) -> DisplayData:
    output = ComponentOutput(contents, **changes)
    return DisplayData(output._repr_mimebundle_())


PICTURE = Content("image", {"base64": "AAAA", "mime_type": "image/png"})


def test_000_26_scopes_hold_through_the_kernel() -> None:
    shown = display_of(
        Content("text", {"info": "drawn"}, visible_scope="user"),
        Content("text", {"info": "read"}, visible_scope="llm"),
        Content("image", PICTURE.text, visible_scope="user"),
    )
    _, said = called(kernel_saying(CODE, shown), sees_images=True)
    assert for_model(said.content) == (TextPart("read"),)
    assert "drawn" in shown.data["text/plain"]
    assert "read" not in shown.data["text/plain"]


def test_a_picture_for_all_goes_to_a_model_that_sees() -> None:
    _, said = called(kernel_saying(CODE, display_of(PICTURE)), sees_images=True)
    assert ImagePart("image/png", "AAAA") in for_model(said.content)
    _, said = called(kernel_saying(CODE, display_of(PICTURE)))
    assert all(isinstance(part, TextPart) for part in for_model(said.content))


def test_errors_and_usage_of_a_component_in_the_kernel_are_the_calls() -> None:
    usage = (ModelUsage("m", Usage(3)),)
    failed = display_of(Content("text", {"info": "no"}, is_error=True), usage=usage)
    _, said = called(kernel_saying(CODE, failed))
    assert (said.content[0].is_error, said.usage) == (True, usage)


def test_an_output_of_a_newer_version_is_read_as_its_text() -> None:
    data = {"text/plain": "x", "application/vnd.cellwright.output+json": {"role": "queen"}}
    _, said = called(kernel_saying(CODE, DisplayData(data)))
    assert for_model(said.content) == (TextPart("x"),)


def test_a_tool_of_the_kernel_is_not_called_by_hand() -> None:
    with pytest.raises(ToolError, match="runs in a kernel"):
        list(kernel_tool(row_of("revenue")).evaluate(region="x"))


def test_the_tools_of_a_kernel_are_discovered_with_what_is_wrong() -> None:
    registry = LiveRegistry()
    registry.add("revenue", revenue)
    registry.add("gone", paint)
    kernel = FakeKernel(probes={"live_tools": lambda: registry.rows(NAMESPACE)})
    found_there = discovered(kernel)
    assert Registry(found_there.source.components).names() == ("revenue",)
    assert found_there.problems == (
        "'gone' is not offered: There is no 'gone' in this kernel. Run its cell first.",
    )


def test_a_kernel_that_cannot_tell_has_no_tools() -> None:
    def fails() -> None:
        raise KernelError("busy")

    assert discovered(FakeKernel(probes={"live_tools": fails})).source.components == ()
    assert discovered(FakeKernel()).source.components == ()


def test_the_samples_do_what_they_say() -> None:
    assert (paint(Colour.RED), list(parts(2)), half(3.0), traced()) == ("RED", [0, 1], 1.5, "None")
    assert asyncio.run(fetch("x")) == "x"
    assert (revenue("a"), make_context().call_id) == (1.0, "call_1")
