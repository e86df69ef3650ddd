"""Requirements 002-73 and 002-74: pieces of a reply are what they are, and failures keep why."""

from __future__ import annotations

import pytest
from asking import RUN_CELL, answer_to, ask, prompt_of, serving
from fake_service import Answer, after, chunk, error, raw_sse, status, text, tool_call

from cellwright.errors import LMError
from cellwright.record.events import ReasoningDelta, TextDelta
from cellwright.record.messages import AssistantMessage

CALL = '[{"id": "1", "type": "function", "function": {"name": "run_cell", "arguments": "{}"}}]'
SECRET = "sk-" + "proj-" + "a1B2" * 8


@pytest.mark.parametrize(
    "pieces",
    [
        ["42"],
        ["4", "2"],
        ["[]"],
        ['[{"x": 1}]'],
        ['{"a": ', "null}"],
        [CALL],
        ["", "so", "", "?"],
        ["null", "true"],
    ],
)
def test_002_73_numbers_json_and_empty_pieces_are_text_and_nothing_else(pieces: list[str]) -> None:
    with serving([text(pieces=pieces)]) as (_, lm):
        asked = ask(lm, prompt_of("go", tools=(RUN_CELL,)))
    assert asked.reply is not None
    assert asked.reply.message == AssistantMessage("".join(pieces))
    assert "".join(event.text for event in asked.all(TextDelta)) == "".join(pieces)


def test_002_73_text_thoughts_and_calls_are_told_apart() -> None:
    answer = tool_call("run_cell", {"code": "1"}, text="[1]")
    thinking = raw_sse([chunk({"reasoning_content": "[2]"}), chunk({"content": "[3]"}, "stop")])
    with serving([answer, thinking]) as (_, lm):
        called, thought = (ask(lm, prompt_of("go", tools=(RUN_CELL,))) for _ in range(2))
    assert called.reply is not None
    assert called.reply.message.text == "[1]"
    assert [call.name for call in called.reply.message.tool_calls] == ["run_cell"]
    assert [event.text for event in thought.all(ReasoningDelta)] == ["[2]"]
    assert [event.text for event in thought.all(TextDelta)] == ["[3]"]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (error(401, f"Incorrect API key provided: {SECRET}."), "does not accept the key"),
        (error(404, "The model `m` does not exist."), "no model"),
        (error(429, "Too many requests."), "asks to slow down"),
        (after(text("late"), 5), "0.2 s"),
        (status(200, "{not json", {"content-type": "application/json"}), "127.0.0.1"),
    ],
)
def test_002_74_a_failure_keeps_its_cause_and_never_the_key(answer: Answer, words: str) -> None:
    answers = [answer, answer]
    with (
        serving(answers, api_key=SECRET, retry_limit=0, idle_timeout_seconds=0.2) as (_, lm),
        pytest.raises(LMError) as caught,
    ):
        ask(lm)
    assert words in caught.value.message
    shown = f"{caught.value!s}{caught.value.hint}{caught.value.detail}{caught.value.__cause__!r}"
    assert SECRET not in shown


@pytest.mark.parametrize(
    ("sent", "is_told"), [("req_01:a.b-c", True), ("two words", False), ("x" * 101, False)]
)
def test_002_74_the_person_is_told_the_id_that_the_service_knows_the_request_by(
    sent: str, is_told: bool
) -> None:
    failing = error(500, "Oh.", headers={"x-request-id": sent})
    with serving([failing], retry_limit=0) as (_, lm), pytest.raises(LMError) as caught:
        ask(lm)
    assert (f"knows the request as {sent}." in caught.value.hint) is is_told
    assert answer_to([text("Fine.")]).message.text == "Fine."
