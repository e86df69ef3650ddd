"""Time while a reply comes in."""

from __future__ import annotations

import pytest

from cellwright.errors import LMTimeoutError
from cellwright.llm.deltas import SplitDelta
from cellwright.llm.retries import Joiner, WaitTimes, Watch
from cellwright.record.events import ModelSilent, ReasoningDelta, TextDelta
from cellwright.settings import ServiceSettings

PACE = WaitTimes()
SERVICE = ServiceSettings(idle_timeout_seconds=60, deadline_seconds=600)


def watch() -> Watch:
    return Watch(SERVICE, PACE, "models.example:443", 0.0)


def test_the_first_delta_goes_out_at_once_and_the_next_ones_are_joined() -> None:
    joiner = Joiner(PACE)
    joiner.add(SplitDelta("a"))
    assert joiner.due(10.0) == [TextDelta("a")]
    joiner.add(SplitDelta("b"))
    joiner.add(SplitDelta("c"))
    assert joiner.due(10.01) == []
    assert joiner.wait_seconds(10.01, 1.0) == pytest.approx(0.04)
    assert joiner.due(10.06) == [TextDelta("bc")]
    assert joiner.due(10.2) == []


def test_the_last_deltas_do_not_wait() -> None:
    joiner = Joiner(PACE)
    joiner.add(SplitDelta("a"))
    joiner.due(10.0)
    joiner.add(SplitDelta("b"))
    assert joiner.rest() == [TextDelta("b")]
    assert joiner.wait_seconds(10.0, 1.0) == 1.0


def test_thinking_and_text_keep_their_order() -> None:
    joiner = Joiner(PACE)
    for said in (
        SplitDelta("", "Hm"),
        SplitDelta("", "."),
        SplitDelta("Yes", ""),
        SplitDelta("", "Or?"),
    ):
        joiner.add(said)
    assert joiner.rest() == [ReasoningDelta("Hm."), TextDelta("Yes"), ReasoningDelta("Or?")]


def test_silence_is_told_every_two_seconds_and_ends_with_content() -> None:
    clock = watch()
    told = [clock.look(now / 2) for now in range(11)]
    assert [silence for silence in told if silence] == [ModelSilent(2.0), ModelSilent(4.0)]
    clock.arrived(5.0, content=False)
    assert clock.look(6.0) == ModelSilent(6.0)
    clock.arrived(6.0, content=True)
    assert clock.look(7.9) is None
    assert clock.look(8.0) == ModelSilent(2.0)


def test_a_sign_of_life_puts_off_the_idle_timeout_and_not_the_deadline() -> None:
    clock = watch()
    clock.arrived(59.0, content=False)
    clock.look(118.0)
    with pytest.raises(LMTimeoutError, match="sent no data for 60 s"):
        clock.look(120.0)
    clock.arrived(599.0, content=False)
    with pytest.raises(LMTimeoutError, match="within 600 s") as caught:
        clock.look(600.1)
    assert not caught.value.retryable


def test_a_whole_reply_is_waited_for_a_moment() -> None:
    clock = watch()
    assert not clock.is_over(1.9)
    assert clock.is_over(2.1)
