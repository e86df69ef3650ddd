"""Arguments against manifests: what a call says arrives in the function as it was said."""

from __future__ import annotations

import ast
import json
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.adapters.native import BadArgumentsError, read_arguments
from cellwright.record.messages import ToolCall
from cellwright.tools.functions import tool
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.live_tools import call_code

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
taken: list[dict[str, Any]] = []


@tool
def order(
    code: str,
    count: int,
    price: float,
    kind: Literal["small", "large"],
    urgent: bool = False,
) -> str:
    """Order something.

    Args:
        code: Which thing.
        count: How many.
        price: For one.
        kind: Its size.
        urgent: Today.
    """
    taken.append(dict(locals()))
    return "ok"


(MANIFEST,) = order.tool_manifests()
GOOD = {"code": "5", "count": 2, "price": 1.5, "kind": "small"}
ARGUMENTS = st.fixed_dictionaries(
    {
        "code": TEXT,
        "count": st.integers(),
        "price": st.floats(allow_nan=False, allow_infinity=False),
        "kind": st.sampled_from(["small", "large"]),
    },
    optional={"urgent": st.booleans()},
)


def read(**changes: Any) -> dict[str, Any]:
    call = ToolCall("c", "order", json.dumps({**GOOD, **changes}))
    return read_arguments(call, MANIFEST.parameters)


@given(ARGUMENTS)
def test_004_32_what_fits_the_manifest_arrives_in_the_function_as_it_was_said(
    arguments: dict[str, Any],
) -> None:
    call = ToolCall("c", "order", json.dumps(arguments))
    given_ = read_arguments(call, MANIFEST.parameters)
    assert given_ == arguments
    taken.clear()
    order.evaluate_merged(None, **given_)
    assert taken == [{"urgent": False, **arguments}]


@given(st.dictionaries(st.sampled_from(["code", "kind", "n"]), TEXT | st.lists(TEXT) | st.none()))
def test_004_32_a_call_is_written_as_code_that_says_the_same(arguments: dict[str, Any]) -> None:
    written = ast.parse(call_code(LiveRow("f", "shop.f"), arguments), mode="eval").body
    assert isinstance(written, ast.Call)
    found = {str(each.arg): ast.literal_eval(each.value) for each in written.keywords}
    assert (found, written.args) == (arguments, [])


@pytest.mark.parametrize(
    ("name", "written", "value"),
    [
        ("price", "5", 5),
        ("price", "5.25", 5.25),
        ("count", "7", 7),
        ("urgent", "true", True),
    ],
)
def test_004_32_a_scalar_between_quotes_is_taken_for_what_it_says(
    name: str, written: str, value: Any
) -> None:
    """dspy refuses it; models write it."""
    found = read(**{name: written})[name]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("price", "five"),
        ("price", "NaN"),
        ("price", "true"),
        ("price", ""),
        ("price", "1" * 41),
        ("count", "7.5"),
        ("count", "[7]"),
        ("urgent", "yes"),
        ("urgent", "1"),
    ],
)
def test_004_32_nothing_is_guessed_and_the_argument_is_named(name: str, written: str) -> None:
    with pytest.raises(BadArgumentsError, match=f"'{name}'"):
        read(**{name: written})


def test_004_32_text_stays_text_and_what_may_be_several_things_stays_as_it_is() -> None:
    assert read(code="5")["code"] == "5"
    schema = {"properties": {"x": {"anyOf": [{"type": "number"}, {"type": "string"}]}, "y": {}}}
    call = ToolCall("c", "f", '{"x": "5", "y": "5"}')
    assert read_arguments(call, schema) == {"x": "5", "y": "5"}


def test_004_32_a_missing_argument_is_an_error_for_the_model_and_no_crash() -> None:
    with pytest.raises(BadArgumentsError, match="'kind' is a required property"):
        read_arguments(ToolCall("c", "order", '{"code": "5", "count": 1, "price": 2}'),
                       MANIFEST.parameters)  # fmt: skip


def test_004_32_the_manifest_says_what_the_docstring_and_the_annotations_say() -> None:
    properties = MANIFEST.parameters["properties"]
    assert MANIFEST.description == "Order something."
    assert properties["kind"]["enum"] == ["small", "large"]
    assert properties["count"]["description"] == "How many."
    assert MANIFEST.parameters["required"] == ["code", "count", "price", "kind"]


@pytest.mark.parametrize(
    "cut", ['{"code":"x=1"', '{"code":"import shutil\\nshutil.rmtree(\'build', '{"code": "x", "co']
)
def test_004_33_arguments_that_were_cut_off_are_never_completed(cut: str) -> None:
    """dspy mends them, and half a program would run."""
    with pytest.raises(BadArgumentsError, match="Nothing was run"):
        read_arguments(ToolCall("c", "run_cell", cut), MANIFEST.parameters)
