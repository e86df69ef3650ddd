"""The plain part of JSON Schema, held against the library."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from cellwright.llm.adapters.native import TYPES, plainly_fits

STRING = {"type": "string", "description": "Some text."}
TOOL = {
    "type": "object",
    "title": "Tool",
    "properties": {
        "code": STRING,
        "mode": {"enum": ["fast", "slow"]},
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
        "rows": {"type": "array", "items": {"type": ["number", "boolean"]}},
        "more": {"type": "object", "additionalProperties": True},
    },
    "required": ["code"],
    "additionalProperties": False,
}
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)
plain = st.recursive(
    st.sampled_from([{"type": name} for name in TYPES])
    | st.just({"enum": ["a", "b"]})
    | st.just({"type": ["string", "null"], "description": "odd"}),
    lambda inner: st.one_of(
        inner.map(lambda items: {"type": "array", "items": items}),
        st.lists(inner, min_size=1, max_size=2).map(lambda options: {"anyOf": options}),
        st.dictionaries(st.sampled_from(["a", "b"]), inner).map(
            lambda fields: {"type": "object", "properties": fields, "required": list(fields)}
        ),
    ),
    max_leaves=4,
)


@given(values, plain)
def test_what_plainly_fits_fits_the_library_too(value: Any, schema: dict[str, Any]) -> None:
    if plainly_fits(value, schema):
        Draft202012Validator(schema).validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"code": "1"},
        {"code": "1", "mode": "fast", "limit": 5, "rows": [1, 2.5, True], "more": {"x": 1}},
        {"code": "1", "limit": None, "rows": [], "more": {}},
    ],
)
def test_good_arguments_of_a_plain_tool_fit(value: dict[str, Any]) -> None:
    assert plainly_fits(value, TOOL)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"code": 1},
        {"code": "1", "mode": "odd"},
        {"code": "1", "limit": True},
        {"code": "1", "rows": ["x"]},
        {"code": "1", "rows": 1},
        {"code": "1", "more": []},
        {"code": "1", "extra": 1},
        [],
    ],
)
def test_bad_arguments_do_not(value: Any) -> None:
    assert not plainly_fits(value, TOOL)


@pytest.mark.parametrize(
    "schema", [{"minimum": 1}, {"$ref": "#/$defs/x"}, {"type": "odd"}, {"enum": [5]}, True]
)
def test_what_is_not_plain_is_left_to_the_library(schema: Any) -> None:
    assert not plainly_fits(5, schema)


def test_rules_for_objects_that_are_not_plain_are_left_to_the_library() -> None:
    assert not plainly_fits({"code": "1"}, {**TOOL, "minProperties": 1})


def test_good_arguments_are_read_without_the_library() -> None:
    code = (
        "import sys\n"
        "from cellwright.llm.adapters.native import read_arguments\n"
        "from cellwright.record.messages import ToolCall\n"
        f"read_arguments(ToolCall('c', 'a', '{{\"code\": \"1\"}}'), {TOOL!r})\n"
        "print('jsonschema' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
