"""Thinking that is written into the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.deltas import SplitDelta, ThinkingFilter


def said(*pieces: str) -> SplitDelta:
    thinking = ThinkingFilter()
    whole = SplitDelta()
    for piece in pieces:
        whole += thinking.feed(piece)
    return whole + thinking.end()


CASES = [
    ("Answer.", SplitDelta("Answer.")),
    ("  Answer.", SplitDelta("  Answer.")),
    ("<think>Hm.</think>Answer.", SplitDelta("Answer.", "Hm.")),
    ("\n<think>Hm.</think>\n\n  Answer.", SplitDelta("Answer.", "Hm.")),
    ("<think>One.</think> <think>Two.</think>Answer.", SplitDelta("Answer.", "One.Two.")),
    ("<think>Never ended </thi", SplitDelta("", "Never ended </thi")),
    ("<think></think>Answer.", SplitDelta("Answer.")),
    ("Tags such as <think>x</think> stay.", SplitDelta("Tags such as <think>x</think> stay.")),
    ("<thin air", SplitDelta("<thin air")),
    ("<thi", SplitDelta("<thi")),
    ("", SplitDelta()),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_only_thinking_at_the_start_is_taken_off(text: str, expected: SplitDelta) -> None:
    assert said(text) == expected


@given(st.sampled_from(CASES), st.integers(1, 5))
def test_the_pieces_do_not_matter(case: tuple[str, SplitDelta], size: int) -> None:
    text, expected = case
    assert said(*(text[at : at + size] for at in range(0, len(text), size))) == expected


def test_an_answer_is_not_held_back() -> None:
    assert ThinkingFilter().feed("A") == SplitDelta("A")


def test_a_thought_is_not_held_back() -> None:
    assert ThinkingFilter().feed("<think>Let me see") == SplitDelta("", "Let me see")
