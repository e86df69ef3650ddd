"""Tool calls put together from pieces."""

from __future__ import annotations

from typing import Any

import pytest
from fake_answers import call_delta

from cellwright.llm.deltas import CallCollector


def collected(*pieces: Any) -> list[tuple[str, str]]:
    collector = CallCollector()
    for piece in pieces:
        collector.add(piece)
    return [(call.name, call.arguments) for call in collector.calls()]


def piece(index: int | None = 0, **fields: Any) -> Any:
    return call_delta(index, **fields)["tool_calls"][0]


@pytest.mark.parametrize(
    ("pieces", "calls"),
    [
        ([piece(0, id="x", name="a"), piece(0, arguments="{}")], [("a", "{}")]),
        (
            [piece(0, name="a"), piece(1, name="b"), piece(0, arguments="{}")],
            [("a", "{}"), ("b", "")],
        ),
        # no index and no id, once with the same name and once without any
        ([piece(None, name="a", arguments="{}")] * 2, [("a", "{}")] * 2),
        ([piece(0, name="a", arguments="{}"), piece(0, arguments="{}")], [("a", "{}")] * 2),
        # no index; pieces are told apart by their ids
        (
            [
                piece(None, id="x", name="a", arguments='{"n"'),
                piece(None, id="y", name="a", arguments='{"n"'),
                piece(None, id="x", arguments=": 1}"),
                piece(None, id="y", arguments=": 2}"),
            ],
            [("a", '{"n": 1}'), ("a", '{"n": 2}')],
        ),
        # one index for all; pieces come by turns and are told apart by their ids
        (
            [
                *(piece(0, id=id, name="a") for id in "xy"),
                *(piece(0, id=id, arguments=f'{{"n": "{id}"}}') for id in "xy"),
            ],
            [("a", '{"n": "x"}'), ("a", '{"n": "y"}')],
        ),
        # an empty object, then the arguments
        ([piece(0, id="x", name="a", arguments="{}"), piece(0, arguments='{"n": '),
          piece(0, arguments="1}")], [("a", '{"n": 1}')]),
        ([piece(0, id="x", name="a", arguments=text) for text in ("{}", '{"n": 1}')],
         [("a", '{"n": 1}')]),
        # the name again after whole arguments
        ([piece(0, name="a", arguments="{}"), piece(0, name="a")], [("a", "{}")]),
        # an object within an object does not begin a call
        ([piece(0, name="a", arguments='{"x": '), piece(0, arguments='{"y": {}}}')],
         [("a", '{"x": {"y": {}}}')]),
        # braces that only look like an end
        ([piece(0, name="a", arguments='{"x": "}'), piece(0, arguments='{"}')],
         [("a", '{"x": "}{"}')]),
        # the same id twice under one index, each with whole arguments
        ([piece(0, id="x", name="a", arguments="{}"), piece(0, id="x", name="a", arguments="{}")],
         [("a", "{}")] * 2),
        ([{"index": 0, "function": {"name": "a", "arguments": None}}], [("a", "")]),
        ([{"index": "0", "function": None, "name": "a", "arguments": "{}"}], [("a", "{}")]),
        ([None, "junk", {}], []),
    ],
)  # fmt: skip
def test_pieces_become_calls(pieces: list[Any], calls: list[tuple[str, str]]) -> None:
    assert collected(*pieces) == calls


def test_ids_are_unlike_each_other_and_unlike_used_ones() -> None:
    collector = CallCollector()
    for index in range(3):
        collector.add(piece(index, id="x", name="a"))
    ids = [call.id for call in collector.calls(used_ids={"x"})]
    assert len(set(ids)) == 3
    assert "x" not in ids


def test_characters_written_are_counted() -> None:
    collector = CallCollector()
    assert not collector
    collector.add(piece(0, name="a", arguments="{}"))
    assert collector
    assert collector.characters == 2
