"""Cutting the middle out of long text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.agent.loop import counted_per_estimated
from cellwright.context.turns import FRAME_TOKENS, message_tokens
from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    Prompt,
    Reply,
    TextPart,
    Usage,
    UserMessage,
)
from cellwright.text.truncation import estimate_tokens, page_lines, shorten

LINES = "\n".join(f"line {n}" for n in range(1, 5_001))


def test_text_within_the_limit_stays_as_it_is() -> None:
    short = shorten("a\nb", 100, "c1")
    assert (short.text, short.was_cut) == ("a\nb", False)


def test_head_and_tail_stay_in_whole_lines_and_the_marker_says_how_to_read_on() -> None:
    short = shorten(LINES, 100, "c1")
    head, marker, tail = short.text.partition("\n[… ")
    assert short.was_cut
    assert head.splitlines()[0] == "line 1"
    assert short.text.splitlines()[-1] == "line 5000"
    assert all(line.startswith("line ") for line in head.splitlines())
    assert "characters, 4,955 lines left out" in tail
    first_left_out = len(head.splitlines()) + 1
    assert f'read_output("c1", {first_left_out}) shows them …]' in tail
    assert marker


def test_more_of_the_tail_stays_than_of_the_head() -> None:
    head, _, tail = shorten(LINES, 1_000, "c1").text.partition("[…")
    tail = tail.partition("…]")[2]
    assert 0.35 < len(head) / (len(head) + len(tail)) < 0.45


def test_one_endless_line_is_cut_inside_it() -> None:
    short = shorten("x" * 100_000, 100, "c1")
    assert short.text.startswith("x" * 100)
    assert short.text.endswith("x" * 100)
    assert '99,600 characters left out; read_output("c1") shows them' in short.text


def test_a_text_that_is_kept_nowhere_has_no_instruction() -> None:
    assert "read_output" not in shorten(LINES, 100, "").text


@given(st.text(max_size=3_000), st.integers(1, 200))
def test_a_cut_text_is_never_much_longer_than_its_limit(text: str, limit: int) -> None:
    assert estimate_tokens(shorten(text, limit, "c1").text) <= limit + 40


@given(st.text(max_size=3_000))
def test_pages_hold_every_character(text: str) -> None:
    assert "".join(page_lines(text)) == text.replace("\n", "")


def test_a_very_long_line_is_several_lines_of_a_page() -> None:
    assert [len(line) for line in page_lines("x" * 2_500 + "\ny")] == [1_000, 1_000, 500, 1]


def test_a_chinese_character_is_most_of_a_token() -> None:
    texts = ("", "abc", "April", "四月开始", "\ud800")
    assert [estimate_tokens(text) for text in texts] == [0, 1, 2, 3, 1]


def test_a_prompt_and_the_window_that_it_has_to_fit_are_estimated_alike() -> None:
    """How the service counts is learnt of prompts and corrects the window: both ways, one unit."""
    message = UserMessage((TextPart("把每个地区的收入加起来，然后画一张图。" * 20),))
    prompt = Prompt((message,), (), Parameters(""))
    assert estimated_prompt_tokens(prompt) == message_tokens(message) - FRAME_TOKENS
    counted = 250
    reply = Reply(AssistantMessage(""), "stop", Usage(counted), "m")
    assert message_tokens(message) * counted_per_estimated(prompt, reply) == pytest.approx(
        counted, rel=0.05
    )
