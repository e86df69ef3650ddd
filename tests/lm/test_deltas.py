"""The chunks of a reply put together."""

from __future__ import annotations

from typing import Any

import pytest
from fake_answers import chunk

from cellwright.llm.deltas import ReplyAssembler, SplitDelta, usage_from_openai
from cellwright.record.messages import AssistantMessage, Usage


def test_a_reply_is_what_its_chunks_say() -> None:
    assembler = ReplyAssembler()
    assert not assembler.started
    said = [assembler.add(chunk({"content": word})) for word in ("Good ", "day")]
    assembler.add(chunk({}, "stop"))
    assert said == [SplitDelta("Good "), SplitDelta("day")]
    assert assembler.end() == SplitDelta()
    assert assembler.message() == AssistantMessage("Good day")
    assert (assembler.finished, assembler.started) == (True, True)
    assert assembler.written_characters == 8


@pytest.mark.parametrize(
    ("word", "reason"),
    [("end_turn", "stop"), ("MAX_TOKENS", "length"), ("function_call", "tool_calls"),
     ("SAFETY", "content_filter"), ("refusal", "content_filter"), ("SPII", "content_filter"),
     ("stop", "stop"), ("something new", "something new"),
     ("sensitive", "content_filter"), ("content_filter: PROHIBITED_CONTENT", "content_filter")],
)  # fmt: skip
def test_reasons_to_finish_have_one_name_each(word: str, reason: str) -> None:
    assembler = ReplyAssembler()
    assembler.add(chunk({}, word))
    assert assembler.finish_reason == reason


def test_content_in_parts_is_text() -> None:
    parts = [{"type": "text", "text": "One "}, {"type": "text", "text": "two"}, {"text": 3}, None]
    assembler = ReplyAssembler()
    assert assembler.add(chunk({"content": parts})) == SplitDelta("One two")


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"choices": [{"delta": None}]},
        {"choices": [{"delta": "text"}]},
        {"choices": [{"delta": {"content": 5, "tool_calls": None, "refusal": None}}]},
        {"choices": [{"delta": {"reasoning": {"text": "no string"}}}]},
    ],
)
def test_odd_chunks_say_nothing(odd: dict[str, Any]) -> None:
    assembler = ReplyAssembler()
    assert assembler.add(odd) == SplitDelta()
    assert assembler.message() == AssistantMessage()


def test_half_a_pair_at_the_end_is_replaced() -> None:
    assembler = ReplyAssembler()
    assembler.add(chunk({"content": "x"}))
    assert assembler.add(chunk({"content": "\ud83d"})) == SplitDelta()
    assert assembler.end() == SplitDelta("\N{REPLACEMENT CHARACTER}")
    assert assembler.text == "x\N{REPLACEMENT CHARACTER}"


def thought(**more: int) -> dict[str, Any]:
    details = {"completion_tokens_details": {"reasoning_tokens": 2}}
    return {"prompt_tokens": 9, "completion_tokens": 3, **details, **more}


@pytest.mark.parametrize(
    ("raw", "usage"),
    [
        ({"prompt_tokens": 9, "completion_tokens": 3}, Usage(9, 3)),
        ({"input_tokens": 9, "output_tokens": 3}, Usage(9, 3)),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 5}, Usage(9, 0, 5)),
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}}, Usage(9, 0, 5)),
        ({"prompt_tokens": 9, "prompt_tokens_details": None}, Usage(9)),
        (
            {"prompt_tokens": 9, "cache_read_input_tokens": 2, "cache_creation_input_tokens": 4},
            Usage(9, 0, 2, 4),
        ),
        ({"prompt_tokens": 9, "completion_tokens": "many"}, Usage(9)),
        ({"prompt_tokens": 9, "completion_tokens": -1}, Usage(9)),
        ({"prompt_tokens": 9, "completion_tokens": float("inf")}, Usage(9)),
        ({"prompt_tokens": float("nan"), "completion_tokens": 3}, None),
        ({"prompt_tokens": 10**400}, None),
        ({"prompt_tokens": 9, "cached_tokens": 5}, Usage(9, 0, 5)),
        (thought(total_tokens=12), Usage(9, 3, reasoning_tokens=2)),
        (thought(), Usage(9, 3, reasoning_tokens=2)),
        (thought(total_tokens=14), Usage(9, 5, reasoning_tokens=2)),
        ({"prompt_tokens": 0, "completion_tokens": 3}, None),
        ({}, None),
        (None, None),
        ("many", None),
    ],
)
def test_counts_are_read_under_every_name(raw: Any, usage: Usage | None) -> None:
    assert usage_from_openai(raw) == usage


@pytest.mark.parametrize(
    "last",
    [
        chunk({}, "stop", x_groq={"usage": {"prompt_tokens": 4}}),
        {"choices": [{"delta": {}, "finish_reason": "stop", "usage": {"prompt_tokens": 4}}]},
    ],
    ids=["Groq", "Moonshot"],
)
def test_counts_in_a_place_of_their_own_are_found(last: dict[str, Any]) -> None:
    assembler = ReplyAssembler()
    assembler.add(last)
    assembler.add(chunk(None))
    assert assembler.usage == Usage(4)
