"""The arguments of a component that is called by hand."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.record.messages import Manifest
from cellwright.server.component_envelopes import ArgumentsRefusal, checked_arguments

SCHEMA = {
    "type": "object",
    "properties": {
        "region": {"type": "string", "enum": ["north", "south"]},
        "months": {"type": "integer", "minimum": 1},
        "a/b~c": {"type": "array", "items": {"type": "number"}},
    },
    "required": ["region"],
}


def refused(arguments: Any, schema: Any = SCHEMA) -> ArgumentsRefusal:
    with pytest.raises(ArgumentsRefusal) as caught:
        checked_arguments(Manifest("revenue", "", schema), arguments)
    return caught.value


def places(refusal: ArgumentsRefusal) -> list[tuple[str, str]]:
    return [(error["path"], error["schema_path"]) for error in refusal.details["errors"]]


def test_000_32_what_fits_is_what_the_tool_gets() -> None:
    manifest = Manifest("revenue", "", SCHEMA)
    given = {"region": "north", "months": 2, "a/b~c": [1.5]}
    assert checked_arguments(manifest, given) == given


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({}, ("", "/required")),
        ({"region": "west"}, ("/region", "/properties/region/enum")),
        ({"region": None}, ("/region", "/properties/region/type")),
        ({"region": "north", "months": 0}, ("/months", "/properties/months/minimum")),
        ({"region": "north", "months": "5"}, ("/months", "/properties/months/type")),
        (
            {"region": "north", "a/b~c": ["x"]},
            ("/a~1b~0c/0", "/properties/a~1b~0c/items/type"),
        ),
        ({"region": "north", "year": 1}, ("/year", "/properties")),
    ],
)
def test_000_32_what_does_not_fit_is_named_with_its_place_in_the_schema(
    arguments: dict[str, Any], place: tuple[str, str]
) -> None:
    refusal = refused(arguments)
    assert place in places(refusal)
    assert (refusal.status_code, refusal.code) == (400, "arguments")
    assert refusal.message.startswith("'revenue' cannot be called with these arguments: ")


def test_000_32_all_that_is_wrong_is_told_at_once() -> None:
    assert len(places(refused({"months": 0, "year": 1}))) == 3


def test_000_32_a_long_list_of_complaints_is_cut() -> None:
    assert len(places(refused({f"x{number}": 1 for number in range(500)}))) == 20


def test_000_11_system_names_are_refused() -> None:
    refusal = refused({"region": "north", "_sys_traceid": "spoofed"}, {"type": "object"})
    assert refusal.code == "reserved"
    assert places(refusal) == [("/_sys_traceid", "")]


def test_names_that_a_schema_leaves_open_are_let_through() -> None:
    manifest = Manifest("open", "", {"type": "object"})
    assert checked_arguments(manifest, {"any": 1}) == {"any": 1}
    manifest = Manifest("open", "", {**SCHEMA, "additionalProperties": {"type": "string"}})
    assert checked_arguments(manifest, {"region": "north", "any": "x"})["any"] == "x"
    wrong = refused({"region": "north", "any": 1}, manifest.parameters)
    assert places(wrong) == [("/any", "/additionalProperties/type")]


def test_what_is_nested_without_end_is_refused_before_anything_reads_it() -> None:
    deep: Any = {}
    for _ in range(100):
        deep = {"a": [deep]}
    assert "nested too deeply" in refused(deep).message


def test_what_no_text_can_hold_is_replaced() -> None:
    manifest = Manifest("open", "", {"type": "object"})
    given = checked_arguments(manifest, {"half": "\ud800", "number": float("nan")})
    assert given == {"half": "\ufffd", "number": None}


def test_a_schema_that_refers_elsewhere_is_not_looked_for_there() -> None:
    properties = {"a": {"$ref": "https://schemas.example/a.json"}}
    refusal = refused({"a": 1}, {"type": "object", "properties": properties})
    assert "refers to 'https://schemas.example/a.json', which is not there" in refusal.message
