"""Long lists of events, taken apart and put together again."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from event_strategies import events, json_values
from hypothesis import given, settings
from hypothesis import strategies as st

from cellwright.record.values import to_dict
from cellwright.store.event_rows import (
    KEY,
    Part,
    divided,
    has_parts,
    is_intact,
    joined,
    named_in,
    spliced,
)


def write(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def all_parts(parts: Iterable[Part]) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in parts:
        found |= {part.name: part.data, **all_parts(part.parts)}
    return found


def taken_apart(event: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    fields, parts = divided(event, write)
    return json.loads(write(fields)), all_parts(parts)


def put_together(fields: Any, parts: dict[str, str]) -> Any:
    return joined(fields, {name: json.loads(data) for name, data in parts.items()})


def asked(messages: list[Any]) -> dict[str, Any]:
    return {"kind": "model_asked", "step": 1, "messages": messages}


def finished(message: Any, **more: Any) -> dict[str, Any]:
    return {"call_id": "c", "name": "n", "message": message, "kind": "tool_finished", **more}


def told(number: int, characters: int = 300) -> dict[str, Any]:
    """A message."""
    return {"role": "user", "text": f"{number} ".ljust(characters, "x")}


def size(fields: Any, parts: dict[str, str]) -> int:
    return len(write(fields)) + sum(len(data) for data in parts.values())


@given(
    st.lists(
        st.one_of(
            json_values,
            st.integers(0, 9).map(lambda number: told(number)),
            st.integers(0, 9).map(lambda number: told(number, 20)),
        ),
        max_size=120,
    )
)
def test_any_list_comes_back_as_it_was(items: list[Any]) -> None:
    event = json.loads(write(asked(items)))
    fields, parts = taken_apart(event)
    assert put_together(fields, parts) == event
    assert all(is_intact(name, data) for name, data in parts.items())


@given(events)
@settings(max_examples=50)
def test_any_event_comes_back_as_it_was(event: Any) -> None:
    plain = json.loads(write(to_dict(event)))
    assert put_together(*taken_apart(plain)) == plain


@pytest.mark.parametrize("characters", [20, 300, 5_000])
def test_a_result_comes_back_as_value_and_as_text(characters: int) -> None:
    event = finished(told(1, characters), shown="x")
    fields, parts = taken_apart(event)
    assert put_together(fields, parts) == event
    assert spliced("tool_finished", write(fields), parts) == write(event)


def test_a_result_is_the_part_that_it_is_in_the_next_request() -> None:
    _, parts = taken_apart(finished(told(1, 2_000)))
    _, later = taken_apart(asked([told(number, 2_000) for number in range(3)]))
    assert len(parts) == 1
    assert parts.items() <= later.items()


def test_a_text_names_the_part_that_it_needs() -> None:
    fields, parts = taken_apart(finished(told(1)))
    text = write(fields)
    assert [named_in("tool_finished", text)] == list(parts)
    assert named_in("model_replied", text) == named_in("tool_finished", write(finished({}))) == ""
    assert spliced("tool_finished", text, {}) is None
    assert spliced("model_replied", text, {}) == text


@pytest.mark.parametrize(
    "items",
    [[told(1)] * 3_000, [told(1, 20)] * 3_000, [told(n) for n in range(3_000)]],
    ids=["all one", "all one and small", "all different"],
)
def test_a_list_of_any_length_leaves_a_short_row(items: list[Any]) -> None:
    fields, parts = taken_apart(asked(items))
    assert len(write(fields)) < 1_200
    assert put_together(fields, parts) == asked(items)


def test_what_is_short_stays_in_the_row() -> None:
    event = asked([told(1), told(2)])
    assert taken_apart(event) == (event, {})
    state = {"kind": "state_captured", "cells": [], "packages": {"pandas": "3"}}
    assert taken_apart(state) == (state, {})


def test_a_mapping_is_one_part() -> None:
    packages = {f"package-{number}": "1.0" for number in range(200)}
    event = {"kind": "state_captured", "packages": packages}
    fields, parts = taken_apart(event)
    assert len(parts) == 1
    assert put_together(fields, parts) == event


def test_fields_that_are_drawn_or_searched_for_stay_in_the_row() -> None:
    for event in (
        {"kind": "model_replied", "message": told(1, 9_000)},
        {"kind": "cell_output", "messages": [told(n) for n in range(50)]},
    ):
        assert taken_apart(event) == (event, {})


@pytest.mark.parametrize(
    "change",
    [
        lambda items: [*items, told(-1)],
        lambda items: items[150:],
        lambda items: [told(-1), *items[100:]],
        lambda items: [*items[:150], told(-1), *items[151:]],
        lambda items: [told(-1), *items],
    ],
    ids=["longer", "without its head", "summed up", "one changed", "one before"],
)
@pytest.mark.parametrize("characters", [60, 2_000])
def test_a_list_that_is_like_another_adds_little(change: Any, characters: int) -> None:
    items = [told(number, characters) for number in range(400)]
    _, before = taken_apart(asked(items))
    fields, parts = taken_apart(asked(change(items)))
    new = {name: data for name, data in parts.items() if name not in before}
    assert put_together(fields, parts) == asked(change(items))
    # A few groups of entries at each level, and the new item itself.
    assert size(fields, new) < 9_000 + characters


def test_a_conversation_that_grows_stores_what_is_new() -> None:
    stored: dict[str, str] = {}
    rows = 0
    for turns in range(1, 201):
        fields, parts = taken_apart(asked([told(number, 1_000) for number in range(turns)]))
        stored |= parts
        rows += len(write(fields))
    written = rows + sum(len(data) for data in stored.values())
    assert written < 200 * (1_000 + 2_500)


def test_equal_text_of_an_item_and_of_a_group_are_two_parts() -> None:
    group = [[f"{number}".ljust(200, "x")] for number in range(6)]
    fields, parts = taken_apart(asked([group, *(item for (item,) in group)]))
    assert put_together(fields, parts) == asked([group, *(item for (item,) in group)])
    assert len({data for name, data in parts.items() if name.startswith("i")}) == 1


def test_a_text_tells_whether_parts_are_needed() -> None:
    fields, _ = taken_apart(asked([told(number) for number in range(9)]))
    assert has_parts(write(fields))
    assert not has_parts(write(asked([told(1)])))


def test_what_looks_like_a_divided_list_in_another_place_stays_as_it_is() -> None:
    for event in (
        {"kind": "tool_started", "arguments": {KEY: ["iabc"]}},
        {"kind": "model_asked", "messages": [{KEY: ["iabc"]}]},
        {"kind": "state_captured", "packages": {KEY: "iabc"}},
        {"kind": "model_asked", "messages": {KEY: "iabc"}},
        {"kind": "model_asked", "messages": {KEY: ["iabc"], "more": 1}},
        {"kind": "tool_finished", "message": {KEY: ["iabc"]}},
        {"kind": "tool_finished", "message": {KEY: "iabc", "more": 1}},
        {"kind": "tool_finished", "contents": {KEY: "iabc"}},
    ):
        assert joined(event, {}) == event


@pytest.mark.parametrize("event", [asked([told(number) for number in range(9)]), finished(told(1))])
def test_a_part_that_is_missing_is_an_error_that_names_it(event: dict[str, Any]) -> None:
    fields, parts = taken_apart(event)
    name = sorted(parts)[0]
    del parts[name]
    with pytest.raises(ValueError, match=name):
        put_together(fields, parts)


def test_a_changed_part_does_not_fit_its_name() -> None:
    _, parts = taken_apart(asked([told(number) for number in range(9)]))
    name, data = parts.popitem()
    assert not is_intact(name, data.replace("x", "y"))
    assert not is_intact(name, f"{data} ")


@pytest.mark.parametrize("characters", [60, 2_000])
def test_where_a_group_ends_depends_on_what_is_in_it_alone(characters: int) -> None:
    """Two lists that are alike from some place on have their groups from there on in common."""
    items = [told(number, characters) for number in range(400)]

    def groups(some: list[Any]) -> set[str]:
        return {name for name in taken_apart(asked(some))[1] if name.startswith("g")}

    whole, moved = groups(items), groups([told(-1), *items])
    assert len(whole & moved) > len(whole) * 0.8
    # Of 400 entries one in sixteen ends a group, and no group has more than 64 of them.
    assert 400 / 64 < len(whole) < 400 / 8
