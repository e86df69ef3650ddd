"""A run as AgentBench reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_runs import RUN_ID, SYSTEM, analysis_run, record_of, replied, result, started, user

from cellwright.errors import SetupError
from cellwright.exports.agentbench import export, history, sample_of_line
from cellwright.exports.sampling import run_of
from cellwright.record.events import ModelAsked, RunFinished, RunStatus
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor

V02_STATUSES = {
    "running",
    "completed",
    "agent context limit",
    "agent validation failed",
    "agent invalid action",
    "task limit reached",
    "unknown",
    "task error",
}


def line_of(record: RunRecord) -> dict[str, Any]:
    text = export(record)
    assert text.endswith("\n")
    assert text.count("\n") == 1
    line: dict[str, Any] = json.loads(text)
    return line


def test_a_line_has_the_layout_of_runs_jsonl() -> None:
    line = line_of(record_of(analysis_run()))
    assert set(line) == {"index", "error", "info", "output", "time"}
    assert line["index"] == line["output"]["index"] == RUN_ID
    assert line["output"]["status"] == "completed"
    assert line["output"]["result"] == "North sold **most**."
    assert line["time"] == {"timestamp": 1_795_253_427_500, "str": "2026-11-21 09:30:27"}


def test_turns_alternate_and_hold_text_only() -> None:
    turns = line_of(record_of(analysis_run()))["output"]["history"]
    assert [turn["role"] for turn in turns] == ["user", "agent"] * 4
    assert turns[0]["content"] == "You work in a notebook.\n\nWhich region sold most?"
    assert '```json\n{"id": "c1", "name": "run_cell", "arguments": {}}\n```' in turns[1]["content"]
    assert turns[2]["content"] == "seen"


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("cancelled", "unknown"),
        ("task limit reached", "task limit reached"),
        ("unknown", "unknown"),
    ],
)
def test_a_status_that_agentbench_does_not_know_is_told_as_unknown(
    status: RunStatus, told: str
) -> None:
    run = record_of([started(), RunFinished(status, reason="Run stopped by the user.")])
    output = line_of(run)["output"]
    assert output["status"] == told
    assert output["status"] in V02_STATUSES
    assert output["result"] == ({"reason": status, "result": ""} if status != told else "")
    assert output["cellwright"]["error"] == "Run stopped by the user."


def test_parallel_calls_pictures_and_empty_replies_are_flattened() -> None:
    calls = (ToolCall("a", "run_cell", '{"code": "1"}'), ToolCall("b", "run_cell", "{broken"))
    picture = ToolMessage(
        "b", "run_cell", (TextPart("drawn"), ImagePart("image/png", "AA==", "map"))
    )
    turns = history(
        [
            AssistantMessage("", calls),
            result("a", "1"),
            picture,
            AssistantMessage(""),
            UserMessage((ImagePart("image/png", "AA=="),)),
            AssistantMessage(refusal="no"),
        ]
    )
    assert [turn["role"] for turn in turns] == ["user", "agent"] * 3
    assert turns[1]["content"].count("```json") == 2
    assert '"arguments": "{broken"' in turns[1]["content"]
    assert turns[2]["content"] == "1\n\ndrawn\n\n[image image/png: map]"
    assert [turn["content"] for turn in turns[3:]] == ["", "[image image/png]", "no"]
    assert history([]) == []


def test_the_whole_run_can_be_read_back_from_the_line() -> None:
    record = record_of(analysis_run())
    assert run_of(sample_of_line(line_of(record))) == record
    with pytest.raises(SetupError, match="not recorded by cellwright"):
        sample_of_line({"index": 1, "output": {"status": "completed"}})


def test_numbers_that_json_lacks_and_lone_surrogates_do_not_break_the_line() -> None:
    run = record_of([started("half \ud83d"), RunFinished("completed", cost_dollars=float("nan"))])
    assert line_of(run)["output"]["cellwright"]["cost_dollars"] is None
    export(run).encode("utf-8")


def test_what_is_known_as_secret_by_now_is_taken_out() -> None:
    secret = "correct-horse"
    asked = ModelAsked(1, (SYSTEM, user(f"my password is {secret}")))
    run = record_of([started(secret), asked, replied(AssistantMessage(secret))])
    assert secret not in export(run, Redactor({"PASSWORD": secret}))
