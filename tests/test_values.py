"""Values to plain data and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import pytest
from event_strategies import EVENT_CLASSES, events, values_of
from hypothesis import given, settings
from recorded_runs import analysis_run, record_of

from cellwright.record.events import Event, TextDelta
from cellwright.record.messages import AssistantMessage, Message, ToolCall
from cellwright.record.run_record import RunRecord
from cellwright.record.values import from_dict, tag_of, to_dict


@dataclass(frozen=True)
class Leaf:
    """A value without a tag."""

    number: int = 0


@dataclass(frozen=True)
class Tree:
    """A value that holds others in every way the decoder knows."""

    leaf: Leaf | None
    leaves: tuple[Leaf, ...] = ()
    by_name: Mapping[str, Leaf] = field(default_factory=dict)
    count: int | None = None
    anything: Any = None
    role: Literal["tree"] = field(default="tree", init=False)


@settings(deadline=None)
@given(event=events)
def test_every_event_comes_back_from_json(event: Event) -> None:
    assert from_dict(Event, json.loads(json.dumps(to_dict(event)))) == event


@settings(deadline=None)
@given(message=values_of(Message))
def test_every_message_comes_back_from_json(message: Message) -> None:
    assert from_dict(Message, json.loads(json.dumps(to_dict(message)))) == message


def test_a_whole_record_comes_back_from_json() -> None:
    record = record_of(analysis_run())
    assert from_dict(RunRecord, json.loads(json.dumps(to_dict(record)))) == record


@settings(deadline=None)
@given(tree=values_of(Tree))
def test_values_inside_values_come_back(tree: Tree) -> None:
    assert from_dict(Tree, json.loads(json.dumps(to_dict(tree)))) == tree


def test_every_event_has_a_tag_of_its_own() -> None:
    tags = [tag_of(cls) for cls in EVENT_CLASSES]
    assert None not in tags
    assert len(set(tags)) == len(tags)
    assert tag_of(AssistantMessage) == "assistant"
    assert tag_of(ToolCall) is None


def test_what_a_newer_version_added_is_ignored() -> None:
    data = {"kind": "text_delta", "text": "a", "added_later": 1}
    assert from_dict(Event, data) == TextDelta("a")


@pytest.mark.parametrize(
    ("cls", "data", "message"),
    [
        (Event, {"kind": "nonsense"}, "unknown kind 'nonsense'; known: .*text_delta"),
        (Event, {"text": "a"}, "unknown kind None"),
        (Event, {"kind": "text_delta"}, "TextDelta: .*text"),
        (Leaf, [1], "Leaf needs an object, got .1."),
    ],
)
def test_data_that_describes_nothing_is_refused(cls: Any, data: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        from_dict(cls, data)


def test_nothing_is_nothing_where_that_is_allowed() -> None:
    assert from_dict(Tree, {"leaf": None}) == Tree(None)
    assert from_dict(Event | None, None) is None
