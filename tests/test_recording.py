"""The record of a run: its events, folded."""

from __future__ import annotations

from dataclasses import replace

import pytest
from event_strategies import events
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import (
    LOAD,
    PIXEL,
    RIGHT,
    RUN_ID,
    START,
    SYSTEM,
    WRONG,
    analysis_run,
    called,
    cell_run,
    record_of,
    recorded,
    replied,
    result,
    started,
    user,
)

from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
    Event,
    ModelAsked,
    ModelRetrying,
    Notice,
    ReasoningDelta,
    RunFinished,
    StateCaptured,
    TextDelta,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    TextPart,
    ToolCall,
    ToolMessage,
    Usage,
    text_of,
)
from cellwright.record.outputs import (
    Cell,
    DisplayData,
    DisplayUpdate,
    ExecuteResult,
    Execution,
    StreamOutput,
    source_hash,
)
from cellwright.record.run_record import RecordedCall, RecordedEvent, RunRecord, fold


def test_a_whole_run_is_told_as_one_value() -> None:
    record = record_of(analysis_run())
    assert record.run_id == RUN_ID
    assert record.schema == "cellwright.run/1"
    assert (record.status, record.answer) == ("completed", "North sold **most**.")
    assert record.prompt == "Which region sold most?"
    assert (record.lane, record.mode) == ("magic", "auto")
    assert record.parameters == Parameters("demo-analyst")
    assert record.base_url == "http://127.0.0.1:8000/v1"
    assert record.files == {"sales.csv": "ab" * 32}
    assert record.limits == {"step_limit": 12}
    assert record.start_cells == (Cell("own", "code", "x = 1"),)
    assert record.start_executed == ("x = 1",)
    assert record.packages == {"pandas": "3.1.1"}
    assert record.kernel["language"] == "python"
    assert (record.started_at, record.duration_seconds) == (START, 12.5)
    assert [tool.name for tool in record.tools] == ["run_cell"]
    assert record.notices == ("One file was read. See the list.",)
    assert record.usage == Usage(1_000, 40, 200)
    assert record.cost_dollars == pytest.approx(0.004)
    assert record.version == "0.1.0"


def test_the_transcript_holds_every_message_once() -> None:
    messages = record_of(analysis_run()).messages
    assert [message.role for message in messages] == [
        *("system", "user", "assistant", "tool", "assistant", "tool", "assistant", "tool"),
        "assistant",
    ]
    assert text_of(messages[-1]) == "North sold **most**."


def test_002_06_each_reply_has_its_own_usage_and_cost() -> None:
    steps = record_of(analysis_run()).steps
    assert [step.number for step in steps] == [1, 2, 3, 4]
    assert [step.usage.prompt_tokens for step in steps] == [100, 200, 300, 400]
    assert steps[0].finish_reason == "tool_calls"
    assert steps[-1].finish_reason == "stop"
    assert (steps[0].duration_seconds, steps[0].first_delta_seconds) == (0.5, 0.1)
    assert steps[0].model == "demo-analyst-1"


def test_a_repaired_cell_has_its_last_state_and_all_its_executions() -> None:
    record = record_of(analysis_run())
    first, repaired = record.cells
    assert first.cell.outputs == (StreamOutput("stdout", "320 rows\n"),)
    assert repaired.cell.source == RIGHT
    assert isinstance(repaired.cell.outputs[0], ExecuteResult)
    assert repaired.cell.outputs[1] == DisplayData({"image/png": PIXEL})
    assert repaired.execution is not None
    assert repaired.execution.status == "ok"
    assert (repaired.origin, repaired.call_id) == ("agent", "c3")
    assert [(e.cell_id, e.source, e.call_id) for e in record.executions] == [
        ("cell-1", LOAD, "c1"),
        ("cell-2", WRONG, "c2"),
        ("cell-2", RIGHT, "c3"),
    ]
    failed = record.executions[1]
    assert failed.execution is not None
    assert failed.execution.error is not None
    assert failed.execution.error.ename == "KeyError"


def test_a_call_has_its_decision_and_its_result() -> None:
    record = record_of(analysis_run())
    assert [call.call_id for call in record.calls] == ["c1", "c2", "c3"]
    assert record.calls[0] == RecordedCall(
        "c1", "run_cell", {"code": LOAD}, "ok", "allowed by mode", 0.3, START + 6
    )


@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        (ApprovalAnswered("c1", True, "mode"), "allowed by mode"),
        (ApprovalAnswered("c1", False, "person", "no"), "refused by person: no"),
    ],
)
def test_who_decided_is_told(answer: ApprovalAnswered, decision: str) -> None:
    asked: list[Event] = [ToolStarted("c1", "run_cell", {}), ApprovalAsked("c1", "it runs code")]
    record = record_of([started(), *asked, answer])
    assert record.calls[0].decision == decision
    assert record.calls[0].status == "running"
    assert record_of([started(), *asked]).calls[0].decision == "asked: it runs code"


def test_an_id_that_comes_again_is_another_call() -> None:
    once: list[Event] = [
        ToolStarted("same", "run_cell", {}),
        ToolFinished("same", "run_cell", result("same", "x"), "error"),
    ]
    record = record_of([started(), *once, ToolStarted("same", "run_cell", {"n": 2})])
    assert [call.status for call in record.calls] == ["error", "running"]


def test_events_about_unknown_calls_and_cells_do_no_harm() -> None:
    record = record_of(
        [
            ApprovalAnswered("nowhere", True, "mode"),
            ToolFinished("nowhere", "run_cell", result("nowhere", "x")),
            CellEdited("far", "1", ""),
            CellFinished("farther", Execution("ok", 0.1)),
            CellOutput("farthest", StreamOutput("stdout", "hello")),
        ]
    )
    assert record.calls == ()
    assert [(c.cell.id, c.origin) for c in record.cells] == [
        ("far", "user"),
        ("farther", "user"),
        ("farthest", "user"),
    ]
    assert record.cells[2].cell.outputs == (StreamOutput("stdout", "hello"),)


class TestTranscript:
    def test_a_reply_that_broke_off_is_kept(self) -> None:
        record = record_of(
            [
                ModelAsked(1, (user("go"),)),
                ReasoningDelta("let me "),
                ReasoningDelta("see"),
                TextDelta("It is "),
            ]
        )
        assert record.messages[-1] == AssistantMessage("It is ", reasoning="let me see")

    def test_text_of_a_request_that_is_sent_again_is_void(self) -> None:
        retried = ModelRetrying(2, 0.5, "reset")
        half: list[Event] = [ModelAsked(1, ()), TextDelta("half"), retried]
        assert record_of([*half, TextDelta("It")]).messages == (AssistantMessage("It"),)
        assert record_of([*half, replied(called("c1"))]).messages == (called("c1"),)
        # When nobody answers any more, it is all that came.
        assert record_of([*half, retried]).messages == (AssistantMessage("half"),)

    def test_the_last_reply_and_its_results_count_until_they_are_sent(self) -> None:
        first: list[Event] = [
            ModelAsked(1, (user("go"),)),
            replied(called("c1")),
            ToolFinished("c1", "run_cell", result("c1", "1")),
        ]
        assert [m.role for m in record_of(first).messages] == ["user", "assistant", "tool"]
        asked = ModelAsked(2, (called("c1"), result("c1", "1")))
        assert record_of([*first, asked]).messages == record_of(first).messages

    def test_a_reply_that_no_request_repeats_is_kept(self) -> None:
        record = record_of(
            [ModelAsked(1, (user("go"),)), replied(called("c1")), ModelAsked(2, (user("nudge"),))]
        )
        assert [m.role for m in record.messages] == ["user", "assistant", "user"]

    def test_a_shortened_history_adds_only_what_is_new(self) -> None:
        long: list[Event] = [
            ModelAsked(1, (SYSTEM, user("go"))),
            replied(called("c1")),
            ToolFinished("c1", "run_cell", result("c1", "long " * 100)),
        ]
        shortened = (SYSTEM, user("go"), called("c1"), result("c1", "long"), user("sum up"))
        record = record_of([*long, ModelAsked(2, shortened, replaces_history=True)])
        assert [m.role for m in record.messages] == ["system", "user", "assistant", "tool", "user"]
        assert text_of(record.messages[3]) == "long " * 100, "the record keeps the whole text"
        assert record.history_replaced_at == (4,)


class TestCells:
    def test_a_cell_that_was_taken_out_is_still_told_of(self) -> None:
        record = record_of(
            [
                StateCaptured(cells=(Cell("own", "code", "x = 1"),)),
                *cell_run("c1", "a", "1"),
                CellMoved("a", "own", "c2"),
                CellRemoved("a", "hash", "c3"),
                CellRemoved("own", "hash", "c4"),
            ]
        )
        assert [(c.cell.source, c.origin, c.is_removed) for c in record.cells] == [
            ("1", "agent", True),
            ("x = 1", "user", True),
        ]
        assert record.cells[0].call_id == "c1"
        assert len(record.executions) == 1

    def test_a_cell_of_the_person_is_known_by_its_source(self) -> None:
        record = record_of(
            [
                StateCaptured(cells=(Cell("own", "code", "x = 1"),)),
                ToolStarted("c1", "run_cell", {}),
                CellStarted("own"),
                CellOutput("own", StreamOutput("stdout", "a")),
                CellFinished("own", Execution("ok", 0.1, execution_count=4)),
                CellEdited("own", "x = 2", ""),
            ]
        )
        (own,) = record.cells
        assert own.origin == "user"
        assert own.cell.source == "x = 2"
        assert own.cell.execution_count == 4
        assert own.started_at == START + 2
        assert record.executions[0].source == "x = 1"
        assert record.executions[0].call_id == "c1"

    @pytest.mark.parametrize(
        ("written", "origin"), [("x = 1", "agent"), ("x = 9", "human-edit"), ("", "user")]
    )
    def test_a_cell_of_an_earlier_run_tells_whether_a_person_changed_it(
        self, written: str, origin: str
    ) -> None:
        made = {"cellwright": {"hash": source_hash(written) if written else ""}}
        events: list[Event] = [
            StateCaptured(cells=(Cell("own", "code", "x = 1", metadata=made),)),
            ToolStarted("c1", "run_cell", {}),
            CellStarted("own"),
            CellFinished("own", Execution("ok", 0.1)),
        ]
        (own,) = record_of(events).cells
        assert own.origin == origin
        (ran,) = record_of(events).executions
        assert ran.origin == origin
        edited = record_of([*events, CellEdited("own", "x = 2", "c2")]).cells[0]
        assert edited.origin == ("user" if origin == "user" else "agent")

    def test_output_that_comes_late_goes_to_its_own_cell(self) -> None:
        record = record_of(
            [
                *cell_run("c1", "a", "thread()", StreamOutput("stdout", "1\n")),
                *cell_run("c2", "b", "pass"),
                CellOutput("a", StreamOutput("stdout", "late\n")),
            ]
        )
        assert [c.cell.outputs for c in record.cells] == [
            (StreamOutput("stdout", "1\nlate\n"),),
            (),
        ]

    def test_an_update_reaches_every_cell_that_shows_the_display(self) -> None:
        shown = DisplayData({"text/plain": "0 %"}, display_id="bar")
        record = record_of(
            [
                *cell_run("c1", "a", "show()", shown, shown),
                *cell_run("c2", "b", "show()", shown),
                *cell_run("c3", "c", "go()", DisplayUpdate("bar", {"text/plain": "100 %"})),
                *cell_run("c4", "d", "go()", DisplayUpdate("other", {"text/plain": "lost"})),
            ]
        )
        texts = [
            [output.data["text/plain"] for output in cell.cell.outputs if hasattr(output, "data")]
            for cell in record.cells
        ]
        assert texts == [["100 %", "100 %"], ["100 %"], [], []]

    def test_a_cell_that_runs_again_begins_empty(self) -> None:
        record = record_of(
            [
                *cell_run("c1", "a", "1", StreamOutput("stdout", "old")),
                CellStarted("a"),
            ]
        )
        (cell,) = record.cells
        assert cell.cell.outputs == ()
        assert cell.execution is None
        assert [e.execution is None for e in record.executions] == [False, True]

    def test_a_cell_that_runs_between_two_calls_is_of_none(self) -> None:
        record = record_of([*cell_run("c1", "a", "1"), CellAdded("b", "2"), CellStarted("b")])
        assert [(cell.cell.id, cell.call_id) for cell in record.cells] == [("a", "c1"), ("b", "")]
        assert [execution.call_id for execution in record.executions] == ["c1", ""]

    def test_a_cell_is_of_the_call_that_ran_it_last(self) -> None:
        record = record_of(
            [*cell_run("c1", "a", "1"), ToolStarted("c2", "run_cell", {}), CellStarted("a")]
        )
        assert record.cells[0].call_id == "c2"
        assert [execution.call_id for execution in record.executions] == ["c1", "c2"]

    def test_a_cell_that_was_only_added_has_not_run(self) -> None:
        (cell,) = record_of([CellAdded("a", "# T", "markdown", call_id="c1")]).cells
        assert (cell.cell.cell_type, cell.execution, cell.started_at) == ("markdown", None, None)
        assert cell.call_id == "c1"


class TestEnding:
    def test_a_run_that_has_not_ended_is_running(self) -> None:
        record = record_of(analysis_run()[:-1])
        assert record.status == "running"
        waited = 1  # for an approval
        assert record.duration_seconds == len(analysis_run()) - 2 - waited

    def test_a_run_without_an_end_does_not_count_the_wait_for_an_approval(self) -> None:
        events: list[Event] = [
            started("sum"),
            ApprovalAsked("a", "runs code"),
            ApprovalAnswered("a", True, "person"),
        ]
        moments = (100.0, 101.0, 161.0)
        history = [
            RecordedEvent("r", number, moment, event)
            for number, (moment, event) in enumerate(zip(moments, events, strict=True))
        ]
        assert fold(history).duration_seconds == 1.0

    def test_no_events_are_an_empty_record(self) -> None:
        assert fold([]) == RunRecord("", "running", "", Parameters(""))

    def test_numbers_of_the_ending_stand_in_where_no_step_was_made(self) -> None:
        ending = RunFinished("task error", "", "why", "kernel_died", Usage(1, 2), 0.5)
        record = record_of([started(), ending])
        assert (record.reason, record.cause) == ("why", "kernel_died")
        assert (record.usage, record.cost_dollars) == (Usage(1, 2), 0.5)
        assert record.duration_seconds == 1.0

    def test_an_unknown_cost_stays_unknown(self) -> None:
        free = replace(replied(AssistantMessage("a")), cost_dollars=None)
        assert record_of([started(), free]).cost_dollars is None

    def test_a_notice_without_an_action_is_its_text(self) -> None:
        assert record_of([Notice("info", "text")]).notices == ("text",)


@settings(max_examples=60, deadline=None)
@given(history=st.lists(events, max_size=12), cut=st.integers(0, 12))
def test_any_events_in_any_order_can_be_folded(history: list[Event], cut: int) -> None:
    whole, part = recorded(history), recorded(history[:cut])
    assert fold(whole) == fold(whole)
    record = fold(part)
    assert len(record.steps) == sum(event.kind == "model_replied" for event in history[:cut])


def test_every_prefix_of_a_real_run_can_be_folded() -> None:
    history = analysis_run()
    sizes = [len(record_of(history[:size]).messages) for size in range(len(history) + 1)]
    assert sizes[0] == 0
    assert sizes[-1] == 9


def test_a_call_with_a_picture_is_the_same_message_when_it_is_sent() -> None:
    call = AssistantMessage("", (ToolCall("c1", "run_cell", "{}"),))
    answer = ToolMessage("c1", "run_cell", (TextPart("x"),))
    record = record_of(
        [
            ModelAsked(1, (user("go"),)),
            replied(call),
            ToolFinished("c1", "run_cell", answer),
            ModelAsked(2, (call, answer)),
            replied(AssistantMessage("done")),
        ]
    )
    assert record.messages == (user("go"), call, answer, AssistantMessage("done"))


def test_of_two_calls_with_one_id_the_last_is_meant() -> None:
    first, second = (ToolStarted("c1", "run_cell", {"code": code}) for code in ("1", "2"))
    ends = ToolFinished("c1", "run_cell", result("c1", "done"), "ok", 0.5)
    record = record_of([started(), first, ends, second, replace(ends, status="error")])
    assert [call.status for call in record.calls] == ["ok", "error"]


def test_files_that_were_named_stay_where_no_hash_was_taken() -> None:
    named = replace(started(), files=("a.csv", "b.csv"))
    record = record_of([named, StateCaptured(files={"a.csv": "abc"})])
    assert record.files == {"a.csv": "abc", "b.csv": ""}
