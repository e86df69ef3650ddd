"""What is left out of the tools is told to the person and to the record, never in silence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from fakes import FakeKernel, FakeNotebook
from scripted_model import ScriptedLM, says

from cellwright.record.events import ModelAsked, Notice
from cellwright.record.messages import Parameters
from cellwright.record.values import to_dict
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools.live_registry import LiveRow
from cellwright.tools.standard import ToolOffer

ROW = LiveRow("t", "t", "A tool.", {"type": "object", "properties": {}})
BROKEN = replace(ROW, name="broken", problem="There is no 'broken' in this kernel.")
SAID = "'broken' is not offered: There is no 'broken' in this kernel."


def kernel(count: int, *others: LiveRow) -> FakeKernel:
    """A kernel with so many tools."""
    rows = [*(replace(ROW, name=f"t{number}") for number in range(count)), *others]
    return FakeKernel(probes={"live_tools": [to_dict(row) for row in rows]})


@pytest.fixture
def store() -> Iterator[RunStore]:
    database = open_database(None)
    yield RunStore(database)
    database.close()


def ask(conversation: Conversation) -> list[Any]:
    question = RunRequest("Hi.", Parameters("scripted"), mode="auto")
    return list(conversation.ask(question, ScriptedLM([says("Hello.")])))


def left_out(events: list[Any]) -> list[str]:
    return [e.text for e in events if isinstance(e, Notice) and e.code == "tool_left_out"]


def test_x_13_the_person_and_the_record_are_told_which_tools_are_left_out(
    store: RunStore,
) -> None:
    conversation = Conversation(RunContext(kernel(66, BROKEN), store, Redactor({}), "cli"))
    shown = ask(conversation)
    recorded = [item.event for item in store.events(conversation.last_run_id)]
    for events in (shown, recorded):
        assert left_out(events) == [
            SAID,
            "2 tools of 'kernel' not offered, a source may have 64: 't64', 't65'.",
            "70 tools are offered to the model; past 40 it may choose badly.",
        ]
    (asked,) = [event for event in recorded if isinstance(event, ModelAsked)]
    names = [manifest.name for manifest in asked.tools]
    assert "t63" in names
    assert "t64" not in names
    assert "run_cell" in names


def test_x_13_it_is_told_once_and_again_when_something_changes(store: RunStore) -> None:
    place = RunContext(kernel(1, BROKEN), store, Redactor({}), "cli")
    conversation = Conversation(place)
    assert left_out(ask(conversation)) == [SAID]
    assert left_out(ask(conversation)) == []
    other = replace(BROKEN, name="other")
    conversation.move(replace(place, kernel=kernel(1, BROKEN, other)))
    assert left_out(ask(conversation)) == [SAID.replace("'broken' is", "'other' is")]
    conversation.move(replace(place, kernel=kernel(70, BROKEN)))
    report, _ = left_out(ask(conversation))
    assert report.startswith("6 tools of 'kernel' not offered")


def test_x_13_the_agents_own_tools_are_never_left_out() -> None:
    offer = ToolOffer()
    offer.renew(kernel(200), FakeNotebook())
    names = offer.registry.names()
    assert len(names) == 64 + 10
    assert {"run_cell", "submit", "t0", "t63"} <= set(names)
