"""How often a service is asked, when many samples ask it."""

from __future__ import annotations

import threading
from collections.abc import Generator

import pytest
from scripted_model import ScriptedLM, says

from cellwright.bench.rates import REFUSAL_LIMIT, Pace, PacedLM, Rates
from cellwright.errors import LMRateLimitError, RunCancelled
from cellwright.events import ModelRetrying
from cellwright.lm import Capabilities, LMEvent
from cellwright.prompts import Parameters, Prompt, Reply
from cellwright.stopping import Stop

PROMPT = Prompt((), (), Parameters("m"))


class Clock(Stop):
    """Time passes only where somebody waits."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.check()
        self.now += seconds


def asked_at(pace: Pace, clock: Clock, count: int) -> list[float]:
    found = []
    for _ in range(count):
        pace.wait(clock)
        found.append(clock.now)
    return found


def test_requests_are_as_far_apart_as_the_rate_wants() -> None:
    clock = Clock()
    assert asked_at(Pace(Rates(requests_a_minute=30), clock), clock, 4) == [0.0, 2.0, 4.0, 6.0]


def test_without_rates_nobody_waits() -> None:
    clock = Clock()
    assert asked_at(Pace(clock=clock), clock, 3) == [0.0, 0.0, 0.0]


def test_a_long_reply_makes_the_next_one_wait() -> None:
    clock = Clock()
    pace = Pace(Rates(tokens_a_minute=600), clock)
    paced = PacedLM(ScriptedLM([says("one"), says("two")]), pace)
    for _ in range(2):
        list(paced.stream(PROMPT, clock))
    assert clock.now == pytest.approx(11.0)  # 110 tokens at 10 a second
    assert paced.capabilities("m") == Capabilities()


def test_what_a_service_asks_of_one_sample_holds_for_all() -> None:
    clock = Clock()
    pace = Pace(clock=clock)
    refused = PacedLM(
        ScriptedLM([LMRateLimitError("slow", retry_after_seconds=7.0), says("ok")]), pace
    )
    other = PacedLM(ScriptedLM([says("ok")]), pace)
    events = refused.stream(PROMPT, clock)
    assert next(events) == ModelRetrying(2, 7.0, "slow")
    list(other.stream(PROMPT, clock))
    assert clock.now == 7.0
    list(events)


def test_a_wait_of_the_services_own_client_is_one_of_all() -> None:
    class Struggling(ScriptedLM):
        def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
            yield ModelRetrying(2, 3.0, "500")
            return (yield from super().stream(prompt, stop))

    clock = Clock()
    pace = Pace(clock=clock)
    list(PacedLM(Struggling([says("ok")]), pace).stream(PROMPT, clock))
    assert asked_at(pace, clock, 1) == [3.0]


def test_a_service_that_refuses_again_and_again_is_given_up() -> None:
    clock = Clock()
    script = [LMRateLimitError("slow")] * (REFUSAL_LIMIT + 1)
    with pytest.raises(LMRateLimitError):
        list(PacedLM(ScriptedLM(script), Pace(clock=clock)).stream(PROMPT, clock))
    assert clock.now == 5 + 10 + 20 + 40 + 80


def test_stop_ends_a_wait() -> None:
    pace, stop = Pace(), Stop()
    pace.pause(60)
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(RunCancelled):
        pace.wait(stop)
