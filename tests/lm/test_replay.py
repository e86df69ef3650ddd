"""Recorded answers."""

from __future__ import annotations

import pytest
from asking import ask

from cellwright.errors import LMError, RunCancelled
from cellwright.llm.replay import ReplayLM
from cellwright.record.events import ReasoningDelta, TextDelta
from cellwright.record.messages import AssistantMessage, Reply, ToolCall, Usage
from cellwright.stopping import Stop

SAID = Reply(AssistantMessage("Yes.", reasoning="Hm."), "stop", Usage(1, 1), "big")
CALLED = Reply(AssistantMessage("", (ToolCall("c", "a", "{}"),)), "tool_calls", Usage(1, 1), "big")


def test_replies_come_in_their_order_with_their_text_at_once() -> None:
    lm = ReplayLM([CALLED, SAID])
    first, second = ask(lm), ask(lm)
    assert (first.reply, first.events) == (CALLED, [])
    assert (second.reply, second.events) == (SAID, [ReasoningDelta("Hm."), TextDelta("Yes.")])


def test_a_record_without_more_replies_says_so() -> None:
    lm = ReplayLM([SAID])
    ask(lm)
    with pytest.raises(LMError, match="has 1 replies and one more is asked for"):
        ask(lm)


def test_a_run_that_broke_off_ends_its_replay_as_it_ended() -> None:
    lm = ReplayLM([SAID], RunCancelled("ended here"))
    ask(lm)
    with pytest.raises(RunCancelled, match="ended here"):
        ask(lm)


def test_stop_is_looked_at() -> None:
    stop = Stop()
    stop.set()
    with pytest.raises(RunCancelled):
        ask(ReplayLM([SAID]), stop=stop)


def test_a_replay_can_do_what_the_recorded_model_could() -> None:
    capabilities = ReplayLM([]).capabilities("any")
    assert capabilities.vision
    assert capabilities.tools
