"""A run in the order a reader wants it."""

from __future__ import annotations

from dataclasses import replace

from recorded_runs import (
    RIGHT,
    WRONG,
    analysis_run,
    called,
    cell_run,
    record_of,
    replied,
    result,
    started,
    user,
)

from cellwright.exports.timeline import Called, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.events import (
    CellAdded,
    CellRemoved,
    Event,
    ModelAsked,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import AssistantMessage, Parameters, ToolCall


def test_what_was_said_and_run_comes_in_its_order() -> None:
    items = timeline(record_of(analysis_run()))
    assert [item.kind for item in items] == ["said", "ran", "ran", "ran", "said"]
    runs = [item for item in items if isinstance(item, Ran)]
    assert [(run.execution.source, run.superseded) for run in runs][1:] == [
        (WRONG, True),
        (RIGHT, False),
    ]


def test_a_cell_that_was_taken_out_before_it_ran_is_left_out_and_its_calls_are_told() -> None:
    both = AssistantMessage(
        "", (ToolCall("a", "add_cell", "{}"), ToolCall("b", "arrange_cell", "{}"))
    )
    record = record_of(
        [
            started(),
            ModelAsked(1, (user("go"),)),
            replied(both),
            ToolStarted("a", "add_cell", {}),
            CellAdded("note", "# T", "markdown", call_id="a"),
            ToolFinished("a", "add_cell", result("a", "ok")),
            ToolStarted("b", "arrange_cell", {}),
            CellRemoved("note", "hash", "b"),
            ToolFinished("b", "arrange_cell", result("b", "ok")),
        ]
    )
    assert [item.kind for item in timeline(record)] == ["called", "called"]


def test_calls_without_a_cell_and_cells_that_never_ran_are_told() -> None:
    both = AssistantMessage("", (ToolCall("a", "add_cell", "{}"), ToolCall("b", "look", "{}")))
    record = record_of(
        [
            started(),
            ModelAsked(1, (user("go"),)),
            replied(both),
            ToolStarted("a", "add_cell", {}),
            CellAdded("note", "# T", "markdown", call_id="a"),
            ToolFinished("a", "add_cell", result("a", "ok")),
            ToolStarted("b", "look", {}),
        ]
    )
    wrote, looked = timeline(record)
    assert isinstance(wrote, Wrote)
    assert (wrote.cell.id, wrote.call_id) == ("note", "a")
    assert isinstance(looked, Called)
    assert looked.call.name == "look"


def test_what_was_said_before_the_run_is_left_out() -> None:
    first = RunStarted("again", "cli", "auto", Parameters("m"), earlier_messages=2)
    old = AssistantMessage("said in an earlier run")
    record = record_of(
        [first, ModelAsked(1, (user("go"), old, user("again"))), replied(AssistantMessage("new"))]
    )
    assert timeline(record) == (TimelineMessage("new"),)


def test_cells_that_no_call_names_come_before_the_last_word() -> None:
    record = record_of(
        [
            started(),
            *cell_run("lost", "a", "1"),
            ModelAsked(1, (user("go"),)),
            replied(AssistantMessage("done", reasoning="hm")),
        ]
    )
    assert [item.kind for item in timeline(record)] == ["ran", "said"]
    broken = replace(record, messages=())
    assert [item.kind for item in timeline(broken)] == ["ran"]


def test_the_answer_is_told_once() -> None:
    events: list[Event] = [
        started(),
        ModelAsked(1, (user("go"),)),
        replied(AssistantMessage("It is 42.\n")),
    ]
    same = record_of([*events, RunFinished("completed", "It is 42.")])
    other = record_of([*events, RunFinished("completed", "It is 43.")])
    assert [item.text for item in timeline(same) if isinstance(item, TimelineMessage)] == [
        "It is 42.\n"
    ]
    assert timeline(other)[-1] == TimelineMessage("It is 43.")


def test_a_refusal_is_what_was_said() -> None:
    refused = AssistantMessage("", refusal="I cannot do that.")
    record = record_of([started(), ModelAsked(1, ()), replied(called("c1")), replied(refused)])
    assert timeline(record)[-1] == TimelineMessage("I cannot do that.")
    empty = record_of([started(), ModelAsked(1, ()), replied(AssistantMessage())])
    assert timeline(empty) == ()
