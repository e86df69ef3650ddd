"""Replies that come in a strange shape, or not whole: faults of the wire, over a real socket."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import RUN_CELL, Asked, answer_to, ask, prompt_of, serving
from fake_service import (
    MODEL,
    Answer,
    Pause,
    chunk,
    cut_after,
    html,
    in_bytes,
    json_body,
    pings,
    raw_sse,
    text,
    tool_call,
)

from cellwright.errors import (
    LMConnectionError,
    LMServerError,
    LMStreamError,
    LMTimeoutError,
)
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.retries import WaitTimes
from cellwright.record.events import ModelRetrying, ModelSilent, Notice, ReasoningDelta, TextDelta
from cellwright.record.messages import AssistantMessage, TextPart, ToolCall, UserMessage


def streamed(*deltas: dict[str, Any], finish: str | None = "tool_calls") -> Answer:
    """A stream of these deltas."""
    return raw_sse([*(chunk(delta) for delta in deltas), chunk({}, finish)])


@pytest.mark.parametrize(
    "answer", [text("", refusal="I will not."), text("I w", finish="content_filter")]
)
def test_a_refusal_is_told_from_an_answer(answer: Answer) -> None:
    """M15"""
    parsed = NativeAdapter().parse_reply(answer_to([answer]), ())
    assert parsed.problem == "refused"
    assert parsed.text.startswith("I w")


@pytest.mark.parametrize("words", ["", " \n ", "<think>Hm.</think>\n", "<think>Hm"])
def test_a_reply_without_words_or_calls_is_empty(words: str) -> None:
    """M16, M17"""
    reply = answer_to([text(words)])
    assert NativeAdapter().parse_reply(reply, ()).problem == "empty"


def test_thinking_written_into_the_text_is_told_apart() -> None:
    """M17"""
    pieces = ["<th", "ink>Let me", " see.</thi", "nk>\n\nThe ans", "wer."]
    with serving([text(pieces=pieces)]) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert asked.reply.message == AssistantMessage("The answer.", reasoning="Let me see.")
    assert "".join(event.text for event in asked.all(TextDelta)) == "The answer."
    assert "".join(event.text for event in asked.all(ReasoningDelta)) == "Let me see."


@pytest.mark.parametrize("name", ["reasoning_content", "reasoning"])
def test_thinking_in_a_field_of_its_own_is_told_apart(name: str) -> None:
    """M17"""
    reply = answer_to([streamed({name: "Hm."}, {"content": "Yes."}, finish="stop")])
    assert (reply.message.text, reply.message.reasoning) == ("Yes.", "Hm.")


def test_a_call_written_as_text_is_found_and_not_run() -> None:
    """M18"""
    words = '```json\n{"name": "run_cell", "arguments": {"code": "1"}}\n```'
    parsed = NativeAdapter().parse_reply(answer_to([text(words)]), (RUN_CELL,))
    assert (parsed.problem, parsed.calls) == ("tool call as text", ())


def test_text_survives_bytes_that_come_one_by_one() -> None:
    """M22"""
    events = 'data: {"choices":[{"index":0,"delta":{"content":"Grüße 🌍"}}]}\n\n'.encode()
    answer = in_bytes(raw_sse([events, chunk({}, "stop")]))
    assert answer_to([answer]).message.text == "Grüße 🌍"


def test_a_surrogate_pair_split_between_two_deltas_is_joined() -> None:
    """M23"""
    with serving([text(pieces=["ok \ud83d", "\ude00!"])]) as (_, lm):
        asked = ask(lm)
    assert "".join(event.text for event in asked.all(TextDelta)) == "ok 😀!"


@pytest.mark.parametrize("pieces", [["ok \ud83d"], ["ok \ud83d", "x"], ["ok ", "\ude00"]])
def test_half_a_surrogate_pair_is_replaced(pieces: list[str]) -> None:
    """M23"""
    said = answer_to([text(pieces=pieces)]).message.text
    assert said.startswith("ok ")
    assert "\N{REPLACEMENT CHARACTER}" in said
    said.encode()


def test_half_a_surrogate_pair_in_arguments_is_replaced() -> None:
    """M23: once as an escape of the inner JSON, once of the outer"""
    for arguments in ('{"code": "\\ud83d"}', '{"code": "\ud83d"}'):
        reply = answer_to([tool_call("run_cell", arguments)])
        (call,) = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
        assert call.arguments == {"code": "\N{REPLACEMENT CHARACTER}"}


BROKEN = {
    "M24 not UTF-8": (raw_sse([b'data: {"choices": "\xff\xfe"}\n\n']), "not UTF-8"),
    "M33 ended early": (raw_sse([chunk({"content": "Half"})], done=False), "ended early"),
    "M36 not JSON": (raw_sse(['data: {"choices": [']), "not JSON"),
}


@pytest.mark.parametrize(("answer", "words"), BROKEN.values(), ids=BROKEN)
def test_a_broken_stream_is_asked_for_once_more(answer: Answer, words: str) -> None:
    """M24, M33, M36"""
    with serving([answer, text("Whole.")]) as (service, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert (asked.reply.message.text, asked.reply.attempts) == ("Whole.", 2)
    (retrying,) = asked.all(ModelRetrying)
    assert words in retrying.reason
    assert len(service.requests) == 2


@pytest.mark.parametrize(("answer", "words"), BROKEN.values(), ids=BROKEN)
def test_a_stream_that_is_broken_twice_is_an_error(answer: Answer, words: str) -> None:
    """M24, M33, M36"""
    with serving([answer] * 4) as (service, lm), pytest.raises(LMStreamError, match=words):
        ask(lm)
    assert len(service.requests) == 2


def test_text_before_a_reset_is_void_when_the_retry_succeeds() -> None:
    """M32"""
    first = cut_after(text("Lost words"), 450)
    with serving([first, text("Kept words")]) as (_, lm):
        asked = ask(lm)
    shown = [type(event) for event in asked.events]
    assert shown == [TextDelta, ModelRetrying, TextDelta]
    assert asked.reply is not None
    assert asked.reply.message.text == "Kept words"


def test_text_before_the_last_reset_is_kept_in_the_error() -> None:
    """M32"""
    asked = Asked()
    answers = [cut_after(text("Half an answer"), 450)] * 2
    with serving(answers, retry_limit=1) as (_, lm), pytest.raises(LMConnectionError) as caught:
        ask(lm, into=asked)
    assert caught.value.detail == "Half an answer"
    assert "broke" in caught.value.message
    assert len(asked.all(TextDelta)) == 2


def test_a_reset_after_the_reason_to_finish_loses_nothing() -> None:
    """M32, M46"""
    answer = raw_sse([chunk({"content": "All of it."}), chunk({}, "stop")], done=False)
    with serving([cut_after(answer, 10_000)]) as (_, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert asked.reply.message.text == "All of it."
    assert asked.reply.usage.estimated


def test_silence_is_told_and_ends_at_the_idle_timeout() -> None:
    """M34"""
    stalled = raw_sse([chunk({"content": "So"}), Pause(30)])
    asked, pace = Asked(), WaitTimes(silence_seconds=0.1, backoff_seconds=0.01)
    with serving([stalled], pace=pace, idle_timeout_seconds=0.35, retry_limit=0) as (service, lm):
        with pytest.raises(LMTimeoutError, match=r"127\.0\.0\.1:\d+ sent no data for 0.35 s"):
            ask(lm, into=asked)
        assert service.wait_for_break()
    silences = [event.seconds for event in asked.all(ModelSilent)]
    assert len(silences) >= 2
    assert 0.2 <= silences[-1] <= 0.35


def test_a_stall_before_the_first_byte_ends_at_the_idle_timeout_and_is_tried_once_more() -> None:
    """M34"""
    stalled = raw_sse([Pause(30)])
    with serving([stalled] * 4, idle_timeout_seconds=0.3) as (service, lm):
        with pytest.raises(LMTimeoutError):
            ask(lm)
        assert len(service.requests) == 2


def test_comments_keep_a_request_alive_only_until_the_deadline() -> None:
    """M35"""
    answer = raw_sse([chunk({"content": "So"}), *pings(30, every=0.05)])
    with serving([answer] * 2, idle_timeout_seconds=0.2, deadline_seconds=0.5) as (service, lm):
        with pytest.raises(LMTimeoutError, match="did not finish its reply within 0.5 s") as caught:
            ask(lm)
        assert service.wait_for_break()
        assert len(service.requests) == 1
    assert caught.value.detail == "So"


def test_an_error_in_the_stream_is_told_in_the_words_of_the_service() -> None:
    """M37"""
    body = {"error": {"message": "The model choked.", "type": "model_error"}}
    with serving([raw_sse([chunk({"content": "So"}), body])] * 2) as (service, lm):
        with pytest.raises(LMServerError, match="The model choked"):
            ask(lm)
        assert len(service.requests) == 1


@pytest.mark.parametrize("fields", [{"type": "server_error"}, {"code": 502}])
def test_a_passing_error_in_the_stream_is_tried_again(fields: dict[str, Any]) -> None:
    """M37"""
    body = {"error": {"message": "Something broke.", **fields}}
    assert answer_to([raw_sse([body]), text("Fine.")]).attempts == 2


def test_an_error_as_a_bare_line_of_an_event_stream_is_found() -> None:
    """M37"""
    line = json.dumps({"error": {"message": "No slot free."}})
    with (
        serving([raw_sse([line], done=False)]) as (_, lm),
        pytest.raises(LMServerError, match="No slot free"),
    ):
        ask(lm)


def test_a_page_instead_of_a_reply_is_named() -> None:
    """M38"""
    page = "<html><head><title>Sign in to Wi-Fi</title></head></html>"
    with serving([html(page)] * 2) as (service, lm):
        with pytest.raises(LMStreamError, match="not an API endpoint: got HTML") as caught:
            ask(lm)
        assert len(service.requests) == 1
    assert "Sign in to Wi-Fi" in caught.value.message
    assert service.base_url in caught.value.message


def test_a_whole_reply_where_a_stream_was_asked_for_is_read() -> None:
    """M39"""
    call = {"id": "x", "function": {"name": "a", "arguments": "{}"}}
    message = {"role": "assistant", "content": "Here.", "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    counted = {"prompt_tokens": 5, "completion_tokens": 2}
    body = {"choices": [choice], "usage": counted, "model": MODEL}
    with serving([json_body(body)]) as (_, lm):
        asked = ask(lm)
    assert asked.events == [TextDelta("Here.")]
    assert asked.reply is not None
    assert asked.reply.message.tool_calls == (ToolCall("x", "a", "{}"),)
    assert asked.reply.usage.prompt_tokens == 5


def test_an_error_body_with_status_200_is_an_error() -> None:
    """M39"""
    with (
        serving([json_body({"error": {"message": "Bad luck."}})]) as (_, lm),
        pytest.raises(LMServerError, match="Bad luck"),
    ):
        ask(lm)


def test_json_that_is_no_reply_is_an_error() -> None:
    """M39"""
    with (
        serving([json_body({"hello": "world"})]) as (_, lm),
        pytest.raises(LMStreamError, match="no chat reply"),
    ):
        ask(lm)


@pytest.mark.parametrize("choices", [[], None, [None], "none"])
def test_chunks_without_choices_are_passed_over(choices: Any) -> None:
    """M40"""
    odd = chunk(None) | {"choices": choices}
    counted = chunk(None, usage={"prompt_tokens": 7, "completion_tokens": 1})
    reply = answer_to(
        [raw_sse([odd, chunk({"content": "Yes."}), odd, chunk({}, "stop"), counted, odd])]
    )
    assert (reply.message.text, reply.usage.prompt_tokens) == ("Yes.", 7)


@pytest.mark.parametrize("usage", [False, {"prompt_tokens": 0, "completion_tokens": 0}])
def test_usage_that_is_missing_or_nothing_is_estimated(usage: Any) -> None:
    """M46"""
    reply = answer_to([text("abcdefgh", usage=usage)], prompt_of("x" * 40))
    assert reply.usage.estimated
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (10, 2)


def test_cached_tokens_are_counted() -> None:
    """M46"""
    usage = {
        "prompt_tokens": 100,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 80, "cache_write_tokens": 7},
        "completion_tokens_details": {"reasoning_tokens": 4},
    }
    counted = answer_to([text("Yes.", usage=usage)]).usage
    assert (counted.cached_tokens, counted.cache_write_tokens) == (80, 7)
    assert (counted.reasoning_tokens, counted.estimated) == (4, False)


def test_a_prompt_that_the_service_cut_in_silence_is_noticed_once() -> None:
    """M42"""
    words = " ".join(f"word{n}" for n in range(4_000))
    cut = text("Yes.", usage={"prompt_tokens": 4_096, "completion_tokens": 2})
    with serving([cut, cut, text("Yes."), cut]) as (_, lm):
        told = [ask(lm, prompt_of(words)).all(Notice) for _ in range(4)]
    assert [len(notices) for notices in told] == [1, 0, 0, 1]
    (notice,) = told[0]
    assert (notice.code, notice.level) == ("context_truncated", "warning")
    assert "4096" in notice.text
    assert notice.action


def test_the_name_the_service_gives_its_model_is_kept() -> None:
    """M50"""
    reply = answer_to([text("Yes.", model="fake-model-2026-11")])
    assert reply.model == "fake-model-2026-11"


def test_a_history_with_half_a_surrogate_pair_can_be_sent() -> None:
    """M23"""
    with serving([text("Yes.")]) as (service, lm):
        ask(lm, prompt_of(UserMessage((TextPart("odd \ud800"),))))
        assert service.requests[0].last_text == "odd \N{REPLACEMENT CHARACTER}"
