"""Thinking that is written into the text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.thinking import Said, ThinkingFilter


def said(*pieces: str) -> Said:
    thinking = ThinkingFilter()
    whole = Said()
    for piece in pieces:
        whole += thinking.feed(piece)
    return whole + thinking.end()


CASES = [
    ("Answer.", Said("Answer.")),
    ("  Answer.", Said("  Answer.")),
    ("<think>Hm.</think>Answer.", Said("Answer.", "Hm.")),
    ("\n<think>Hm.</think>\n\n  Answer.", Said("Answer.", "Hm.")),
    ("<think>One.</think> <think>Two.</think>Answer.", Said("Answer.", "One.Two.")),
    ("<think>Never ended </thi", Said("", "Never ended </thi")),
    ("<think></think>Answer.", Said("Answer.")),
    ("Tags such as <think>x</think> stay.", Said("Tags such as <think>x</think> stay.")),
    ("<thin air", Said("<thin air")),
    ("<thi", Said("<thi")),
    ("", Said()),
]


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_only_thinking_at_the_start_is_taken_off(text: str, expected: Said) -> None:
    assert said(text) == expected


@given(st.sampled_from(CASES), st.integers(1, 5))
def test_the_pieces_do_not_matter(case: tuple[str, Said], size: int) -> None:
    text, expected = case
    assert said(*(text[at : at + size] for at in range(0, len(text), size))) == expected


def test_an_answer_is_not_held_back() -> None:
    assert ThinkingFilter().feed("A") == Said("A")


def test_a_thought_is_not_held_back() -> None:
    assert ThinkingFilter().feed("<think>Let me see") == Said("", "Let me see")
