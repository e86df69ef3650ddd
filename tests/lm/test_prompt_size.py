"""How long a prompt is, and whether all of it was read."""

from __future__ import annotations

import pytest
from asking import RUN_CELL, prompt_of

from cellwright.llm.faults import Endpoint
from cellwright.llm.prompt_size import estimated_prompt_tokens, looks_cut, window_advice
from cellwright.record.messages import AssistantMessage, ToolCall

LONG = " ".join(f"word{number}" for number in range(4_000))


def test_everything_that_is_sent_is_counted() -> None:
    said = AssistantMessage("yes", (ToolCall("c", "run_cell", "{}" * 50),))
    plain, with_call = prompt_of("hi"), prompt_of("hi", said)
    with_tools = prompt_of("hi", said, tools=(RUN_CELL,))
    counts = [estimated_prompt_tokens(prompt) for prompt in (plain, with_call, with_tools)]
    assert counts[0] == 1
    assert counts[1] == pytest.approx((2 + 3 + 8 + 100) / 4, abs=1)
    assert counts[2] > counts[1] + 20


@pytest.mark.parametrize(
    ("words", "counted", "cut"),
    [
        (LONG, 4_096, True),
        (LONG, 8_000, False),
        ("short", 1, False),
        ("-" * 40_000, 600, False),
        ("a  " * 20_000, 11_000, False),
    ],
)
def test_far_fewer_tokens_than_expected_mean_a_cut(words: str, counted: int, cut: bool) -> None:
    """M42"""
    assert bool(looks_cut(prompt_of(words), counted)) is cut


@pytest.mark.parametrize(
    ("url", "advice"),
    [
        ("http://localhost:11434/v1", "OLLAMA_CONTEXT_LENGTH"),
        ("http://localhost:8000/v1", "larger context window"),
    ],
)
def test_a_longer_window_is_set_where_the_service_has_it(url: str, advice: str) -> None:
    """M42"""
    assert advice in window_advice(Endpoint(url, "big"))
