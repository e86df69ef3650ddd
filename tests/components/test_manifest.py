"""Manifests made from signatures and docstrings."""

from __future__ import annotations

import enum
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import Field

from cellwright.errors import SetupError
from cellwright.tools.manifest import function_manifest, read_docstring, tool_name


class Colour(enum.Enum):
    """Colours."""

    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    """A point."""

    x: int
    y: int = 0


@dataclass
class Tree:
    """A node that holds nodes."""

    name: str
    children: list[Tree]


def draw(
    self: object,
    context: object,
    title: str,
    size: Annotated[int, Field(ge=1, le=9)] = 3,
    *rest: int,
    **options: int,
) -> None:
    """Draw a chart of
    the data.

    A second paragraph.

    Args:
        title: Shown ``above``
            the chart.
        size (int): How big.

    Returns:
        Nothing: not an argument.
    """


def place(
    kind: Literal["line", "bar"] = "line",
    colour: Colour = Colour.RED,
    limit: float | None = None,
    where: Point | None = None,
    tags: list[str] | str = "",
) -> None:
    """Place a chart.

    Args:
        kind: Lines or bars.
        colour: Which one: red or blue.
        limit: Upper end.
        where: Its corner.
        tags: Words.
    """


def test_a_signature_and_its_docstring_become_a_schema() -> None:
    manifest = function_manifest(draw)
    assert manifest.name == "draw"
    assert manifest.description == "Draw a chart of the data. A second paragraph."
    assert manifest.parameters == {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "Shown `above` the chart."},
            "size": {
                "type": "integer",
                "minimum": 1,
                "maximum": 9,
                "description": "How big.",
                "default": 3,
            },
        },
        "required": ["title"],
    }
    Draft202012Validator.check_schema(dict(manifest.parameters))


def test_choices_classes_and_optional_values_are_said_without_noise() -> None:
    assert function_manifest(place).parameters["properties"] == {
        "kind": {
            "type": "string",
            "enum": ["line", "bar"],
            "description": "Lines or bars.",
            "default": "line",
        },
        "colour": {
            "type": "string",
            "enum": ["red", "blue"],
            "description": "Which one: red or blue.",
            "default": "red",
        },
        "limit": {"type": "number", "description": "Upper end."},
        "where": {
            "type": "object",
            "properties": {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}},
            "required": ["x"],
            "description": "Its corner.",
        },
        "tags": {
            "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "string"}],
            "description": "Words.",
        },
    }


def test_the_same_function_gives_the_same_bytes() -> None:
    assert function_manifest(draw) is function_manifest(draw)
    text = json.dumps(function_manifest(draw).parameters)
    function_manifest.cache_clear()
    assert json.dumps(function_manifest(draw).parameters) == text


def test_a_type_within_itself_becomes_an_object() -> None:
    def grow(tree: Tree) -> None:
        """Grow a tree.

        Args:
            tree: It.
        """

    tree = function_manifest(grow).parameters["properties"]["tree"]
    assert tree["properties"]["children"] == {"type": "array", "items": {"type": "object"}}
    Draft202012Validator.check_schema(tree)


def test_two_choices_or_null_keep_their_choices() -> None:
    def pick(what: int | str | None = None) -> None:
        """Pick.

        Args:
            what: It.
        """

    assert function_manifest(pick).parameters["properties"]["what"] == {
        "anyOf": [{"type": "integer"}, {"type": "string"}],
        "description": "It.",
    }


def test_a_parameter_without_annotation_takes_the_type_its_docstring_names() -> None:
    def search(query, count=5, anything=None):
        """搜索文档。

        参数:
            query (str, optional): 查询内容
            count（ignored）: x
            anything: 其他

        返回:
            结果: 文本
        """

    with pytest.raises(SetupError, match="'count' has no description"):
        function_manifest(search)
    search.__doc__ = (search.__doc__ or "").replace("count（ignored）: x", "count (integer)： 数量")
    assert function_manifest(search, "s").parameters["properties"] == {
        "query": {"type": "string", "description": "查询内容"},
        "count": {"type": "integer", "description": "数量", "default": 5},
        "anything": {"description": "其他"},
    }


def test_a_function_without_parameters_has_an_empty_object() -> None:
    def now() -> None:
        """Tell the time."""

    assert function_manifest(now).parameters == {"type": "object", "properties": {}}


def undescribed(a: int, _sys_traceid: str) -> None:
    """Do it.

    Args:
        b: No such parameter.
    """


def untold(a: int) -> None: ...


def unreadable(a: Missing) -> None:  # type: ignore[name-defined]  # noqa: F821
    """Do it.

    Args:
        a: It.
    """


def unsayable(a: Callable[[int], int], b: object) -> None:
    """Do it.

    Args:
        a: It.
        b: It.
    """


@pytest.mark.parametrize(
    ("function", "complaints"),
    [
        (undescribed, ["'a' has no description", "'_sys_traceid' is reserved", "'b', which is no"]),
        (untold, ["it has no description", "'a' has no description"]),
        (unreadable, ["its annotations cannot be read", "Missing"]),
        (unsayable, ["'a' has a type no schema can say"]),
    ],
)
def test_all_complaints_about_a_tool_are_made_at_once(
    function: Callable[..., Any], complaints: list[str]
) -> None:
    with pytest.raises(SetupError) as caught:
        function_manifest(function)
    assert function.__name__ in caught.value.message
    assert [words for words in complaints if words not in caught.value.message] == []


def test_names_providers_refuse_are_shortened_and_stay_apart() -> None:
    assert tool_name("run_cell") == "run_cell"
    long = [tool_name("x" * 70 + end) for end in "ab"]
    assert [len(name) for name in long] == [64, 64]
    assert long[0] != long[1]
    assert tool_name("my tool!").startswith("my_tool_")


def test_a_docstring_without_arguments_is_all_description() -> None:
    read = read_docstring("Do it.\n\nNote:\n    Carefully.")
    assert read.description == "Do it."
    assert read.arguments == {}


def test_lines_before_the_first_argument_are_skipped() -> None:
    assert read_docstring("D.\n\nArgs:\n    just words\n    a: It.").arguments == {"a": "It."}
