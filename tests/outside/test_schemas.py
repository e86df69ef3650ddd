"""Schemas of strangers, made fit for a model."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.errors import SetupError
from cellwright.external.schemas import object_schema, pointed_at, told

EMPTY = {"type": "object", "properties": {}}


def test_what_is_missing_is_put_in_and_what_says_nothing_left_out() -> None:
    assert object_schema({}) == EMPTY
    given = {**EMPTY, "title": "Args", "$schema": "x", "x-more": 1, "required": None}
    assert object_schema(given) == EMPTY
    named = {"type": "object", "properties": {"title": {"type": "string", "title": "T"}}}
    assert object_schema(named) == {"type": "object", "properties": {"title": {"type": "string"}}}


def test_references_are_resolved_in_the_document_alone() -> None:
    given = {
        "$defs": {"a/b": {"type": "integer"}},
        "properties": {
            "x": {"$ref": "#/$defs/a~1b", "description": "X."},
            "y": {"$ref": "https://elsewhere.example/schema.json"},
            "z": {"$ref": "#/nothing"},
        },
    }
    assert object_schema(given)["properties"] == {
        "x": {"type": "integer", "description": "X."},
        "y": {},
        "z": {},
    }


def test_pointers_lead_through_lists_and_nowhere() -> None:
    document = {"a": [{"b": 1}], "c": 2}
    assert pointed_at(document, "#/a/0/b") == 1
    assert pointed_at(document, "#") == document
    for reference in ("#/a/1", "#/a/x", "#/c/d", "other.json#/a", "#/z"):
        assert pointed_at(document, reference) is None


def test_references_that_multiply_are_refused() -> None:
    definitions: dict[str, Any] = {"d0": {"type": "string"}}
    for number in range(1, 30):
        inner = {"$ref": f"#/$defs/d{number - 1}"}
        definitions[f"d{number}"] = {"type": "object", "properties": {"a": inner, "b": inner}}
    with pytest.raises(SetupError, match="too large"):
        object_schema({"$defs": definitions, "properties": {"x": {"$ref": "#/$defs/d29"}}})
    deep: Any = {}
    for _ in range(40):
        deep = {"items": deep}
    with pytest.raises(SetupError, match="too large"):
        object_schema({"properties": {"x": deep}})
    with pytest.raises(SetupError, match="too large"):
        object_schema({"properties": {"x": {"enum": ["y" * 40_000]}}})


def test_patterns_that_take_for_ever_are_left_out() -> None:
    given = {"properties": {"a": {"pattern": "(a+)+$"}, "b": {"pattern": "^[a-z]+$"}}}
    assert object_schema(given)["properties"] == {"a": {}, "b": {"pattern": "^[a-z]+$"}}


def test_words_of_the_older_openapi_are_understood() -> None:
    given = {
        "properties": {
            "a": {"type": "number", "minimum": 1, "exclusiveMinimum": True, "nullable": True},
            "b": {"nullable": True, "exclusiveMaximum": 3},
        }
    }
    assert object_schema(given)["properties"] == {
        "a": {"type": ["number", "null"], "minimum": 1},
        "b": {"exclusiveMaximum": 3},
    }


def test_what_is_no_schema_of_an_object_is_refused() -> None:
    with pytest.raises(SetupError, match="of type 'array', not 'object'"):
        object_schema({"type": "array"})
    with pytest.raises(SetupError, match=r"no JSON Schema \(properties\.a\.minimum: .*\)"):
        object_schema({"properties": {"a": {"minimum": "x"}}})


def test_words_that_people_do_not_see_are_taken_out() -> None:
    assert told("look\u200b here\U000e0041\x1b[31m") == "look here"
    assert told(None) == ""
    assert len(told("x" * 5_000)) == 1_024
    described = object_schema({"properties": {"a": {"description": "b\u202ec"}}})
    assert described["properties"]["a"]["description"] == "bc"
