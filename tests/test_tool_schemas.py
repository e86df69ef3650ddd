"""Schemas of tools as providers take them (requirements 000-42, X-08)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cellwright.llm.openai_format import (
    accepted_schema,
    choice_in_words,
    flattened,
    missing_definitions,
    tool_to_openai,
    without_references,
)
from cellwright.record.messages import Manifest

IMAGE = {"type": "string", "description": "A picture."}
CHOICE = {
    "type": "object",
    "properties": {"img_name": IMAGE, "img_url": IMAGE},
    "anyOf": [{"required": ["img_name"]}, {"required": ["img_url"]}],
}


def test_x_08_a_choice_at_the_top_is_flattened_and_said_in_words() -> None:
    function = tool_to_openai(Manifest("animal", "Names an animal.", CHOICE))["function"]
    sent = {"type": "object", "properties": {"img_name": IMAGE, "img_url": IMAGE}}
    assert function["parameters"] == sent
    assert function["description"] == ("Names an animal. Give at least one of: img_name; img_url.")


def test_x_08_a_schema_that_every_provider_takes_goes_out_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"anyOf": [IMAGE, {"type": "null"}]}}}
    assert accepted_schema(schema) is schema
    assert tool_to_openai(Manifest("a", "A.", schema))["function"]["description"] == "A."


def test_x_08_what_every_branch_requires_stays_required() -> None:
    branches = [{"required": ["a"], "properties": {"b": IMAGE}}, {"required": ["a", "b"]}]
    assert flattened({"type": "object", "oneOf": branches})["required"] == ["a"]
    assert flattened({"type": "object", "allOf": branches})["required"] == ["a", "b"]
    assert flattened({"type": "object", "oneOf": branches})["properties"] == {"b": IMAGE}


@pytest.mark.parametrize(
    ("choice", "words"),
    [
        ({"oneOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}, "exactly one of: a and b; c."),
        ({"anyOf": [{"required": ["a"]}]}, ""),
        ({"anyOf": [{"required": ["a"]}, {"properties": {}}]}, ""),
        ({"anyOf": [True, {"required": None}]}, ""),
        ({"anyOf": None}, ""),
    ],
)
def test_x_08_only_a_real_choice_is_put_into_words(choice: dict[str, Any], words: str) -> None:
    said = choice_in_words({"type": "object", **choice})
    assert said == (f"Give {words}" if words else "")


@pytest.mark.parametrize("keyword", ["$schema", "$id", "$comment", "not", "enum"])
def test_x_08_keywords_that_are_refused_at_the_top_do_not_go_out(keyword: str) -> None:
    schema = {"type": "object", "properties": {}, keyword: {}}
    assert accepted_schema(schema) == {"type": "object", "properties": {}}
    inside = {"type": "object", "properties": {keyword: IMAGE, "definitions": IMAGE}}
    assert accepted_schema(inside) is inside


def test_000_42_an_object_without_properties_gets_none() -> None:
    assert accepted_schema({}) == {"type": "object", "properties": {}}


def test_000_42_references_are_resolved_and_a_circle_ends() -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/$defs/Node"}, "$ref": IMAGE}}
    schema = {
        "type": "object",
        "properties": {"first": {"$ref": "#/$defs/Node", "description": "First."}},
        "items": [{"$ref": "#/definitions/Gone"}],
        "examples": [{"$ref": "kept"}],
        "$defs": {"Node": node},
    }
    sent = accepted_schema(schema)
    first = sent["properties"]["first"]
    assert first["description"] == "First."
    assert first["properties"]["next"] == {"type": "object"}
    assert first["properties"]["$ref"] == IMAGE
    assert sent["items"] == [{}]
    assert sent["examples"] == [{"$ref": "kept"}]
    assert missing_definitions(schema) == ["#/definitions/Gone"]


names = st.sampled_from(["a", "b", "properties", "definitions", "$ref", "enum"])
schemas = st.recursive(
    st.sampled_from([{"type": "string"}, {"enum": ["x"]}, {"$ref": "#/$defs/D"}, {}]),
    lambda inner: st.one_of(
        st.builds(
            lambda found: {"type": "object", "properties": found}, st.dictionaries(names, inner)
        ),
        st.builds(lambda found: {"anyOf": found}, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda found: {"type": "array", "items": found}, inner),
    ),
    max_leaves=8,
)


@given(schemas)
def test_000_42_what_goes_out_is_a_schema_without_references_and_stays_the_same(
    inner: dict[str, Any],
) -> None:
    whole = {"type": "object", "properties": {"p": inner}, "$defs": {"D": {"type": "integer"}}}
    sent = accepted_schema(whole)
    Draft202012Validator.check_schema(dict(sent))
    assert missing_definitions(sent) == []
    assert "$defs" not in sent
    assert accepted_schema(sent) is sent
    assert json.dumps(without_references(sent)) == json.dumps(sent)
