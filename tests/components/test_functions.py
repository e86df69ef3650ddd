"""``@tool``: requirements 000-44 and its neighbours."""

from __future__ import annotations

import datetime
import enum
import json
import linecache
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from component_samples import Colour, context_with
from fakes import make_context
from jsonschema import Draft202012Validator
from pydantic import Field

from cellwright.errors import SetupError, ToolError
from cellwright.record.content import ComponentOutput, for_model
from cellwright.record.messages import TextPart
from cellwright.tools import Component, ToolContext
from cellwright.tools.functions import FunctionTool, converted, tool
from cellwright.tools.message import Message
from cellwright.tools.registry import Registry


@dataclass
class Point:
    """A point."""

    x: int
    y: int = 0


class Level(enum.IntEnum):
    """Levels."""

    LOW = 1
    HIGH = 2


@tool
def revenue(
    region: Literal["north", "south"],
    months: Annotated[int, Field(ge=1, le=12)] = 3,
    note: Annotated[str, "Written below."] = "",
    colour: Colour = Colour.RED,
) -> float:
    """Revenue of a region.

    Args:
        region: Which one.
        months: How many months back.
        colour: Of the bar.

    Returns:
        Euros.
    """
    return {"north": 10.0, "south": 20.0}[region] * months


def read(made: Component, context: ToolContext | None = None, /, **arguments: Any) -> str:
    output = made.evaluate_merged(context, **arguments)
    return "\n".join(p.text for p in for_model(output.content) if isinstance(p, TextPart))


def test_000_44_types_defaults_and_descriptions_become_json_schema() -> None:
    (manifest,) = revenue.tool_manifests()
    Draft202012Validator.check_schema(dict(manifest.parameters))
    assert (manifest.name, manifest.description) == ("revenue", "Revenue of a region.")
    assert manifest.parameters == {
        "type": "object",
        "properties": {
            "region": {
                "enum": ["north", "south"],
                "type": "string",
                "description": "Which one.",
            },
            "months": {
                "type": "integer",
                "minimum": 1,
                "maximum": 12,
                "description": "How many months back.",
                "default": 3,
            },
            "note": {"type": "string", "description": "Written below."},
            "colour": {
                "type": "string",
                "enum": ["red", "blue"],
                "description": "Of the bar.",
                "default": "red",
            },
        },
        "required": ["region"],
    }


def test_000_44_a_tool_stays_a_function_for_people() -> None:
    assert revenue("north", months=2) == 20.0
    assert revenue(Message({"region": "south"})).content == "60.0"
    assert revenue.__doc__ is not None
    assert revenue.__name__ == "revenue"


CHINESE = '''
def weather(city, days=1):
    """查询天气。

    参数:
        city (str, 必填): 城市名称。
        days (int): 天数。

    返回:
        str: 天气。
    """
    return f"{city} {days}"
'''


def defined(source: str, name: str, **names: Any) -> Any:
    """A function as a notebook defines it: by ``exec``, in a namespace of its own."""
    namespace: dict[str, Any] = {"__name__": "__main__", **names}
    file = f"<ipython-input-{name}>"
    linecache.cache[file] = (len(source), None, source.splitlines(True), file)
    exec(compile(source, file, "exec"), namespace)
    return namespace[name]


def test_000_44_chinese_headings_and_types_of_the_docstring_are_read() -> None:
    weather = tool(defined(CHINESE, "weather"))
    (manifest,) = weather.tool_manifests()
    assert manifest.description == "查询天气。"
    assert manifest.parameters["properties"] == {
        "city": {"type": "string", "description": "城市名称。"},
        "days": {"type": "integer", "description": "天数。", "default": 1},
    }


def test_000_44_a_function_of_a_cell_may_name_a_class_that_comes_later() -> None:
    source = (
        "from __future__ import annotations\n"
        "def far(to: Target, rest: 'list[Target]' = []) -> int:\n"
        "    '''Go far.'''\n"
        "    return to.x\n"
        "from dataclasses import dataclass\n"
        "@dataclass\nclass Target:\n    x: int\n"
    )
    far = tool(defined(source, "far"))
    assert far.tool_manifests()[0].parameters["properties"]["to"]["properties"] == {
        "x": {"type": "integer"}
    }
    assert read(far, to={"x": 4}) == "4"


def test_000_44_a_name_that_is_nowhere_is_an_error_that_names_it() -> None:
    source = "def lost(to: 'Nowhere') -> int:\n    '''Get lost.'''\n    return 1\n"
    with pytest.raises(SetupError, match="annotations cannot be read .*'Nowhere'"):
        tool(defined(source, "lost"))


def test_000_44_a_class_of_the_function_around_is_found() -> None:
    shelf = {"a": 1}

    def look(key: str) -> int:
        return shelf[key]

    assert read(tool(look), key="a") == "1"


def test_000_44_without_a_docstring_the_name_stands_for_it() -> None:
    def sum_up(values: list[int]) -> int:
        return sum(values)

    (manifest,) = tool(sum_up).tool_manifests()
    assert manifest.description == "sum up"
    assert manifest.parameters["properties"]["values"]["type"] == "array"


def test_000_44_variadic_parameters_and_the_context_are_not_shown() -> None:
    def report(ctx: ToolContext, title: str, *rest: int, **options: int) -> str:
        """Report.

        Args:
            title: Shown above.
        """
        return f"{title} for {ctx.prompt!r}"

    made = tool(report)
    assert list(made.tool_manifests()[0].parameters["properties"]) == ["title"]
    assert read(made, context_with(prompt="q"), title="T") == "T for 'q'"


def test_000_44_a_parameter_of_that_name_with_a_type_is_the_tools_own() -> None:
    def summarise(context: str) -> str:
        """Sum up."""
        return context.upper()

    assert read(tool(summarise), make_context(), context="abc") == "ABC"


def test_000_44_a_default_that_is_no_json_stays_in_the_function() -> None:
    def late(day: datetime.date = datetime.date(2026, 1, 1), mark: Any = ...) -> str:
        """Say when."""
        return day.isoformat()

    made = tool(late)
    assert "default" not in made.tool_manifests()[0].parameters["properties"]["day"]
    assert read(made) == "2026-01-01"
    assert read(made, day="2026-02-03") == "2026-02-03"


def test_000_44_a_type_that_no_schema_can_say_is_named() -> None:
    def draw(canvas: Figureless) -> None:
        """Draw."""

    with pytest.raises(SetupError, match="'canvas' has a type no schema can say"):
        tool(draw)


class Figureless:
    """No type for JSON."""


def test_arguments_are_made_into_the_types_that_the_function_wants() -> None:
    def far(to: Point, level: Level, when: datetime.date, share: float) -> str:
        return f"{to.x} {level.name} {when.year} {share}"

    given = {"to": {"x": "3"}, "level": 2, "when": "2026-11-21", "share": "5"}
    assert read(tool(far), **given) == "3 HIGH 2026 5.0"


def test_arguments_that_do_not_fit_are_all_named() -> None:
    with pytest.raises(ToolError) as caught:
        converted(revenue.function, {"region": "west", "months": 13, "unknown": 1})
    assert "'region': Input should be 'north' or 'south', not 'west'" in str(caught.value)
    assert "'months'" in str(caught.value)


def test_positional_only_parameters_can_be_called() -> None:
    def half(value: float, /, places: int = 0) -> float:
        return round(value / 2, places)

    assert read(tool(half), value=5, places=1) == "2.5"


@tool(name="count_words", description="Counts words.", risk="read", version="v2")
async def counting(text: str) -> int:
    """Count."""
    return len(text.split())


@tool
async def streaming(words: list[str]) -> AsyncIterator[str]:
    """Say them."""
    for word in words:
        yield word


@tool
def yielding(count: int) -> Iterator[Any]:
    """Yield contents."""
    for number in range(count):
        yield Component().create_output("urls", f"https://example.org/{number}", name="links")


def test_async_functions_and_generators_are_tools() -> None:
    assert read(counting, text="a b c") == "3"
    assert read(streaming, words=["a", "b"]) == "ab"
    assert read(yielding, count=3).count("https://") == 3
    assert (counting.name, counting.risk, counting.version) == ("count_words", "read", "v2")
    assert counting.tool_manifests()[0].description == "Counts words."


def test_000_22_an_event_with_three_files_keeps_all_three_in_order() -> None:
    @tool
    def files() -> list[Any]:
        """Make files."""
        made = [Component().create_output("files", {"filename": f"{n}.csv"}) for n in "abc"]
        return [item for output in made for item in output.content]

    assert read(files) == "a.csv\nb.csv\nc.csv"


def test_000_23_interleaved_names_stay_separate() -> None:
    @tool
    def interleaved() -> Iterator[ComponentOutput]:
        """Two streams at once."""
        for one, two in (("a", "1"), ("b", "2")):
            yield Component().create_output(text=one, name="letters")
            yield Component().create_output(text=two, name="digits")

    assert read(interleaved) == "ab\n12"


@pytest.mark.parametrize("wrong", ["text", revenue, Point])
def test_what_is_no_function_is_refused(wrong: Any) -> None:
    with pytest.raises(SetupError, match="is no function"):
        tool(wrong)


def test_a_tool_function_is_found_in_a_registry_by_its_name() -> None:
    registry = Registry([revenue, counting])
    assert registry.names() == ("revenue", "count_words")
    assert isinstance(registry.find("revenue"), FunctionTool)
    assert revenue.label(region="north") == "revenue(region)"
    assert json.dumps([vars(manifest) for manifest in registry.manifests])
