"""A run as a sample: what is kept of it, and that nothing is lost on the way to a file."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from recorded_runs import (
    RUN_ID,
    SYSTEM,
    analysis_run,
    called,
    cell_run,
    record_of,
    replied,
    started,
    user,
)
from sample_schema_text import SCHEMA_FILE, sample_schema, schema_text
from sample_strategies import messages, samples

from cellwright.exports.sample import (
    NoticeGiven,
    ReplyGiven,
    SampleRecord,
    Score,
    ToolCalled,
    WrittenCell,
    format_messages,
    name_of,
    pack,
    parse_messages,
    resolved,
    trimmed,
    unpack,
)
from cellwright.exports.sampling import run_of, sample_of
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellFinished,
    CellRemoved,
    CellStarted,
    Event,
    ModelAsked,
    RunFinished,
)
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
)
from cellwright.record.outputs import Execution, FileChange, VariableSummary
from cellwright.record.values import safe_json

WHOLE = sample_of(record_of(analysis_run()), "s-1", whole=True)


def sample_from(events: Iterable[Event]) -> SampleRecord:
    return sample_of(record_of(events), "s")


@settings(deadline=None, max_examples=40)
@given(samples)
def test_a_sample_comes_back_from_json_as_it_was(record: SampleRecord) -> None:
    text = json.dumps(record.to_dict())
    again = SampleRecord.from_dict(json.loads(text))
    assert again.to_dict() == json.loads(text)
    assert SampleRecord.from_dict(json.loads(json.dumps(trimmed(again)))) == again
    kept: dict[str, Any] = {}

    def keep(value: Any) -> str:
        kept[name_of(value)] = json.loads(json.dumps(value))
        return name_of(value)

    packed = json.loads(json.dumps(pack(again, keep)))
    assert SampleRecord.from_dict(unpack(packed, kept.__getitem__)) == again
    assert resolved(SampleRecord.from_dict(packed), kept.__getitem__) == again


@settings(deadline=None, max_examples=40)
@given(messages)
def test_messages_come_back_as_they_were(given_messages: tuple[Message, ...]) -> None:
    plain = json.loads(json.dumps(safe_json(format_messages(given_messages))))
    again = parse_messages(plain)
    assert format_messages(again) == format_messages(given_messages)
    assert all(message["role"] in ("system", "user", "assistant", "tool") for message in plain)


def test_what_openai_has_no_place_for_is_kept_beside() -> None:
    picture = ImagePart("image/png", "AAAA", "a map")
    said: tuple[Message, ...] = (
        AssistantMessage("", (ToolCall("c", "run_cell", "{broken"),), "I think", "no"),
        ToolMessage("c", "run_cell", (TextPart("seen"), picture), is_error=True),
    )
    plain = format_messages(said)
    assert parse_messages(plain) == said
    assert plain[0]["content"] is None
    assert plain[1]["content"][1]["image_url"]["url"] == "data:image/png;base64,AAAA"
    foreign: list[dict[str, Any]] = [
        {"role": "developer", "content": "Be brief."},
        {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x:y"}}, 3]},
        {"role": "assistant", "content": None, "tool_calls": [{}]},
    ]
    assert [message["role"] for message in format_messages(parse_messages(foreign))] == [
        "system",
        "user",
        "assistant",
    ]
    with pytest.raises(ValueError, match="'critic'"):
        parse_messages([{"role": "critic"}])


def test_a_run_becomes_a_sample_with_its_messages_cells_and_costs() -> None:
    sample = sample_from(analysis_run())
    assert (sample.run_id, sample.status, sample.result) == (
        RUN_ID,
        "completed",
        "North sold **most**.",
    )
    assert [message["role"] for message in sample.messages[:3]] == ["system", "user", "assistant"]
    assert [cell.status for cell in sample.cells] == ["ok", "error", "ok"]
    assert sample.cells[1].error == "KeyError: 'regoin'"
    assert sample.cells[2].outputs[0]["output_type"] == "execute_result"
    assert sample.setup == ("x = 1",)
    assert sample.usage["prompt_tokens"] == 1000
    assert sample.files == {"sales.csv": "ab" * 32}
    assert sample.model == {"model": "demo-analyst", "base_url": "http://127.0.0.1:8000/v1"}
    assert sample.run == {"lane": "magic", "mode": "auto", "limits": {"step_limit": 12}}
    assert "packages" not in sample.env
    assert WHOLE.env["packages"] == {"pandas": "3.1.1"}
    assert WHOLE.notebook["cells"] == [{"id": "own", "cell_type": "code", "source": "x = 1"}]


def test_events_say_when_and_point_to_what_is_said_elsewhere() -> None:
    sample = sample_from(analysis_run())
    replies = [event for event in sample.events if isinstance(event, ReplyGiven)]
    calls = [event for event in sample.events if isinstance(event, ToolCalled)]
    times = [event.at for event in sample.events if isinstance(event, (ReplyGiven, ToolCalled))]
    assert len(times) == len(sample.events) - 1
    assert times == sorted(times)
    assert [sample.messages[r.message or 0]["role"] for r in replies] == ["assistant"] * 4
    assert (replies[0].seconds, replies[0].usage, replies[0].model) == (
        0.5,
        {"prompt_tokens": 100, "completion_tokens": 10, "cached_tokens": 50},
        "demo-analyst-1",
    )
    assert (calls[0].call_id, calls[0].decision, calls[0].seconds) == (
        "c1",
        "allowed by mode",
        0.3,
    )
    assert sample.events[-1] == NoticeGiven("One file was read. See the list.")


def test_arguments_are_repeated_only_where_the_message_says_others() -> None:
    asked = ModelAsked(1, (SYSTEM, user("go")))
    same = replied(called("c1", arguments='{"code": "1"}'))
    sample = sample_from([started(), asked, same, *cell_run("c1", "a", "1")])
    (call,) = [event for event in sample.events if isinstance(event, ToolCalled)]
    assert call.arguments is None
    assert run_of(sample).calls[0].arguments == {"code": "1"}
    broken = replied(called("c1", arguments="{bro"))
    sample = sample_from([started(), asked, broken, *cell_run("c1", "a", "1")])
    (call,) = [event for event in sample.events if isinstance(event, ToolCalled)]
    assert call.arguments == {"code": "1"}


def test_the_run_comes_back_from_the_sample() -> None:
    record = record_of(analysis_run())
    assert run_of(WHOLE) == record
    assert run_of(SampleRecord.from_dict(json.loads(json.dumps(WHOLE.to_dict())))) == record
    bare = run_of(SampleRecord("only an id", agent="oracle", result={"a": 1}))
    assert (bare.run_id, bare.parameters.model, bare.answer) == (
        "only an id",
        "oracle",
        '{"a": 1}',
    )
    assert run_of(SampleRecord("s")).answer == ""


def test_what_a_cell_changed_is_kept() -> None:
    ended = Execution(
        "ok",
        0.1,
        changed=(VariableSummary("x", "int", "1"),),
        removed=("y",),
        files=(FileChange("out.csv", "created", 10),),
        note="It was slow.",
    )
    events: list[Event] = [
        started(),
        CellAdded("a", "x = 1"),
        CellStarted("a"),
        CellFinished("a", ended),
        CellRemoved("a", "0" * 16),
    ]
    (cell,) = sample_from(events).cells
    assert (cell.changed, cell.removed, cell.files) == (("x",), ("y",), {"out.csv": "created"})
    assert (cell.note, cell.is_kept, cell.at) == ("It was slow.", False, 2.0)
    (again,) = run_of(sample_from(events)).cells
    assert again.is_removed
    assert again.execution is not None
    assert again.execution.files == (FileChange("out.csv", "created"),)


def test_cells_that_never_ran_and_later_edits_are_kept_apart() -> None:
    events: list[Event] = [
        started(),
        CellAdded("note", "# Why", "markdown", call_id="c0"),
        *cell_run("c1", "a", "x = 1"),
        CellEdited("a", "x = 2", "0" * 16, "c2"),
    ]
    sample = sample_from(events)
    assert sample.written == (
        WrittenCell("note", "markdown", "# Why", "agent", "c0"),
        WrittenCell("a", "code", "x = 2", "agent", "c2"),
    )
    again = {made.cell.id: made for made in run_of(sample).cells}
    assert again["a"].cell.source == "x = 2"
    assert again["note"].cell.cell_type == "markdown"
    assert run_of(sample).executions[0].source == "x = 1"


def test_the_notebook_is_told_by_its_hash_before_and_after() -> None:
    changed = WHOLE.notebook
    assert changed["before"] != changed["after"]
    assert len(changed["after"]) == 64
    events: list[Event] = [started(), CellAdded("a", "1"), CellRemoved("a", "0" * 16)]
    assert sample_from(events).notebook == {}
    assert sample_from([started()]).notebook == {}


def test_a_limit_is_named_and_a_reason_is_kept() -> None:
    ended = RunFinished("task limit reached", reason="12 steps.", cause="step_limit")
    sample = sample_from([started(), ended])
    assert (sample.limit, sample.error) == ("step_limit", "12 steps.")
    done = sample_from([started(), RunFinished("completed", reason="It said so.")])
    assert (done.error, run_of(done).reason) == ("", "It said so.")


def test_a_cell_that_had_not_ended_has_no_status() -> None:
    events = analysis_run()
    started_at = next(n for n, e in enumerate(events) if isinstance(e, CellStarted))
    sample = sample_from(events[: started_at + 1])
    assert sample.status == "running"
    assert [cell.status for cell in sample.cells] == [""]
    assert run_of(sample).executions[0].execution is None


def test_an_error_that_was_shown_nowhere_is_told_all_the_same() -> None:
    cell = replace(WHOLE.cells[1], outputs=())
    record = run_of(replace(WHOLE, cells=(cell,)))
    execution = record.executions[0].execution
    assert execution is not None
    assert execution.error is not None
    assert (execution.error.ename, execution.error.evalue) == ("KeyError", "'regoin'")


def test_a_sample_passes_when_all_its_checks_do_and_there_are_some() -> None:
    right, wrong = Score("a", 1.0, passed=True), Score("b", None, passed=False, error="crashed")
    assert SampleRecord("s", scores=(right,)).passed
    assert not SampleRecord("s", scores=(right, wrong)).passed
    assert not SampleRecord("s").passed


def test_another_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="cellwright.sample/1"):
        SampleRecord.from_dict({"id": "s", "schema": "other/1"})


def test_the_schema_in_the_docs_is_the_one_of_the_code() -> None:
    command = "python tests/sample_schema_text.py > docs/cellwright.sample-1.schema.json"
    assert Path(SCHEMA_FILE).read_text(encoding="utf-8") == schema_text(), f"run: {command}"


def test_records_are_what_the_schema_says() -> None:
    validator = jsonschema.Draft202012Validator(sample_schema())
    scored = replace(WHOLE, scores=(Score("a", None, passed=False),))
    for record in (WHOLE, scored, SampleRecord("bare")):
        validator.validate(record.to_dict())
        validator.validate(trimmed(record))
    assert not validator.is_valid({"id": 3})
