"""Values of fields: missing ones, casts, and what is said of those that do not fit."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from field_adapters import ADAPTERS, Colour, Point, one, read

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.field_values import validated
from cellwright.llm.adapters.json import JSONAdapter, response_format
from cellwright.llm.adapters.signature_adapter import AdapterParseError, FieldAdapter
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import Field, Signature

INSTANCES = [cls() for cls in ADAPTERS]


@pytest.mark.parametrize("adapter", INSTANCES)
@pytest.mark.parametrize(
    ("field", "expected"),
    [
        (Field("value", "output", str, default="d"), "d"),
        (Field("value", "output", str | None), None),
        (Field("value", "output", int, default=0), 0),
    ],
)
def test_004_21_a_missing_output_has_its_default(
    adapter: FieldAdapter, field: Field, expected: Any
) -> None:
    signature = Signature((field, Field("other", "output")))
    written = adapter.write_outputs({"other": "x"}, signature)
    assert adapter.parse(signature, written) == {"value": expected, "other": "x"}


def test_004_21_a_default_factory_is_called() -> None:
    from pydantic.fields import FieldInfo

    class Other:
        instructions = ""
        input_fields: dict[str, Any] = {}
        output_fields = {
            "a": FieldInfo(annotation=str),
            "b": FieldInfo(annotation=list[int], default_factory=list),
        }

    assert ChatAdapter().parse(Other(), "[[ ## a ## ]]\nx") == {"a": "x", "b": []}


@pytest.mark.parametrize("adapter", INSTANCES)
def test_004_21_no_text_at_all_may_leave_optional_outputs_out(adapter: FieldAdapter) -> None:
    if not isinstance(adapter, JSONAdapter):
        assert adapter.parse(one(str, "d"), "Nothing.") == {"value": "d"}


CASTS: list[tuple[Any, str, Any]] = [
    (str, "5", "5"),
    (int, "5", 5),
    (int, " 5 ", 5),
    (float, "1e3", 1000.0),
    (bool, "true", True),
    (bool, "False", False),
    (list[int], "[1, 2]", [1, 2]),
    (list[str], "['a', 'b']", ["a", "b"]),
    (dict[str, int], '```json\n{"a": 1}\n```', {"a": 1}),
    (Literal["low", "high"], '"low"', "low"),
    (Literal["low", "high"], "Literal['high']", "high"),
    (Literal[1, 2], "2", 2),
    (Colour, "b", Colour.BLUE),
    (Colour, "RED", Colour.RED),
    (Colour, "Colour.RED", Colour.RED),
    (Point, '{"x": 1}', Point(x=1)),
    (list[Point], '[{"x": 1, "y": 2}]', [Point(x=1, y=2)]),
    (int | None, "null", None),
    (int | None, "3", 3),
    (str | None, "5", "5"),
    (str | None, "None", None),
    (tuple[int, str], '[1, "a"]', (1, "a")),
    (Any, "free", "free"),
]


@pytest.mark.parametrize("adapter", [ChatAdapter(), XMLAdapter()])
@pytest.mark.parametrize(("kind", "text", "expected"), CASTS)
def test_004_22_text_becomes_what_the_field_says(
    adapter: FieldAdapter, kind: Any, text: str, expected: Any
) -> None:
    assert read(adapter, kind, text) == expected


@pytest.mark.parametrize(
    ("kind", "text", "culprit"),
    [
        (int, "three", "'value' must be int, not 'three'"),
        (int, "", "'value' must be int"),
        (list[int], "[1, 2", "'value' must be list[int]"),
        (list[int], "[1, 'x']", "1: Input should be a valid integer"),
        (Literal["low"], "middle", "'value' must be one of 'low', not 'middle'"),
        (Colour, "GREEN", "must be one of 'r', 'b'"),
        (Point, '{"y": 1}', "x: Field required"),
        (list[int], "[" * 3_000, "must be list[int]"),
    ],
)
def test_004_22_what_does_not_fit_names_its_field(kind: Any, text: str, culprit: str) -> None:
    with pytest.raises(AdapterParseError) as caught:
        read(ChatAdapter(), kind, text)
    assert culprit in str(caught.value)


@pytest.mark.parametrize("adapter", INSTANCES)
@pytest.mark.parametrize("value", [Colour.RED, Point(x=1, y=2), ["a"], 1.5, True, None, {"k": [1]}])
def test_004_22_values_are_written_so_that_they_are_read_back(
    adapter: FieldAdapter, value: Any
) -> None:
    kind = type(value) if value is not None else int | None
    signature = one(kind)
    written = adapter.format_assistant_message_content(signature, {"value": value})
    assert adapter.parse(signature, written) == {"value": value}


def test_004_22_sets_and_live_objects_are_written_as_what_json_knows() -> None:
    import pandas

    signature = Signature.parse("s: set[int], df: DataFrame -> a")
    table = pandas.DataFrame({"price": [1.0, 2.0]})
    written = ChatAdapter().format_user_message_content(signature, {"s": {1}, "df": table})
    assert "[1]" in written
    assert "price" in written
    assert "DataFrame" in written


class Own:
    """A class pydantic knows nothing of."""

    def __repr__(self) -> str:
        return "<own>"


def test_004_22_rules_say_what_a_value_must_look_like() -> None:
    signature = Signature.parse(
        "-> a: bool, b: int, c: float, d: list[int], e: Literal['x'], f: DataFrame, g: Code, h"
    )
    shown = ChatAdapter().format_field_structure(signature)
    for rule in (
        "{a}   (must be true or false)",
        "{b}   (must be one whole number and nothing else)",
        "{c}   (must be one number and nothing else)",
        '{d}   (must adhere to the JSON schema {"items": {"type": "integer"}, "type": "array"})',
        "{e}   (must be one of: x)",
        "{f}   (must be the name of a variable that holds a DataFrame)",
        "{g}\n",
        "{h}\n",
    ):
        assert rule in shown


def test_004_22_a_class_of_the_persons_own_is_written_as_a_summary() -> None:
    signature = Signature((Field("own", "input", Own), Field("a", "output", Own)))
    assert "<own>" in ChatAdapter().format_user_message_content(signature, {"own": Own()})
    assert "(must" not in ChatAdapter().format_field_structure(signature)
    properties = response_format(signature)["json_schema"]["schema"]["properties"]
    assert properties == {"a": {"type": "string"}}
    with pytest.raises(AdapterParseError, match="'a' must be Own, which text cannot say"):
        ChatAdapter().parse(signature, "[[ ## a ## ]]\nx")


def test_004_22_descriptions_are_shown_and_placeholders_are_not() -> None:
    signature = Signature((Field("a", "output", str, "What is left."), Field("b", "output")))
    shown = ChatAdapter().format_field_description(signature)
    assert "1. `a` (str): What is left.\n2. `b` (str)" in shown


def test_004_22_values_with_a_form_of_their_own_are_written_in_it() -> None:
    class Program:
        def format(self) -> str:
            return "x = 1"

    signature = Signature.parse("p, l: list, e -> a")
    written = ChatAdapter().format_user_message_content(
        signature, {"p": Program(), "l": [Program(), Colour.RED, Point(x=1)], "e": Colour.BLUE}
    )
    assert "[[ ## p ## ]]\nx = 1" in written
    assert '["x = 1", "r", {"x": 1, "y": 0}]' in written
    assert "[[ ## e ## ]]\nb" in written


def test_004_22_a_value_that_is_an_enum_already_is_taken() -> None:
    assert validated(Colour.RED, "value", Colour) is Colour.RED
    assert validated("RED", "value", Colour) is Colour.RED
