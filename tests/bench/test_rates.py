"""How often a service is asked, when many samples ask it."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator
from typing import Any, ClassVar

import pytest
from scripted_model import ScriptedLM, says

from cellwright.bench.rates import (
    REFUSAL_LIMIT,
    LocalPace,
    PacedLM,
    Paces,
    Rates,
    forget_paces,
    keep_paces,
    wait_for_turn,
)
from cellwright.errors import LMRateLimitError, RunCancelled
from cellwright.llm import Capabilities, LMEvent
from cellwright.record.events import ModelRetrying
from cellwright.record.messages import Parameters, Prompt, Reply
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


def asked_at(pace: LocalPace, clock: Clock, count: int) -> list[float]:
    found = []
    for _ in range(count):
        wait_for_turn(pace, clock)
        found.append(clock.now)
    return found


def test_requests_are_as_far_apart_as_the_rate_wants() -> None:
    clock = Clock()
    assert asked_at(LocalPace(Rates(requests_a_minute=30), clock), clock, 4) == [0.0, 2.0, 4.0, 6.0]


def test_without_rates_nobody_waits() -> None:
    clock = Clock()
    assert asked_at(LocalPace(clock=clock), clock, 3) == [0.0, 0.0, 0.0]


def test_a_long_reply_makes_the_next_one_wait() -> None:
    clock = Clock()
    pace = LocalPace(Rates(tokens_a_minute=600), clock)
    paced = PacedLM(ScriptedLM([says("one"), says("two")]), pace)
    for _ in range(2):
        list(paced.stream(PROMPT, clock))
    assert clock.now == pytest.approx(11.0)  # 110 tokens at 10 a second
    assert paced.capabilities("m") == Capabilities()


def test_what_a_service_asks_of_one_sample_holds_for_all() -> None:
    clock = Clock()
    pace = LocalPace(clock=clock)
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
    pace = LocalPace(clock=clock)
    list(PacedLM(Struggling([says("ok")]), pace).stream(PROMPT, clock))
    assert asked_at(pace, clock, 1) == [3.0]


def test_a_service_that_refuses_again_and_again_is_given_up() -> None:
    clock = Clock()
    script = [LMRateLimitError("slow")] * (REFUSAL_LIMIT + 1)
    with pytest.raises(LMRateLimitError):
        list(PacedLM(ScriptedLM(script), LocalPace(clock=clock)).stream(PROMPT, clock))
    assert clock.now == 5 + 10 + 20 + 40 + 80


def test_turns_that_were_given_before_a_pause_are_given_anew_after_it() -> None:
    clock = Clock()
    pace = LocalPace(Rates(requests_a_minute=60), clock)
    assert [pace.ask(has_turn=False) for _ in range(3)] == [0.0, 1.0, 2.0]
    pace.pause(10)
    clock.now = 1.0
    assert pace.ask(has_turn=True) == 9.0  # the second
    clock.now = 2.0
    assert pace.ask(has_turn=True) == 9.0  # the third, one second after it
    clock.now = 10.0
    assert pace.ask(has_turn=True) == 0.0


def test_models_of_one_name_share_a_pace() -> None:
    clock, paces = Stop(), Paces(Rates(requests_a_minute=600))
    started = time.monotonic()
    for name in ("m", "other", "m"):
        list(paces.paced(ScriptedLM([says("ok")]), name).stream(PROMPT, clock))
    assert 0.1 <= time.monotonic() - started < 5


def test_a_scheduler_keeps_the_pace_of_each_benchmark_and_model_until_it_is_over() -> None:
    class Scheduler:
        handlers: ClassVar[dict[str, Any]] = {}

    keep_paces(Scheduler)
    keep_paces(Scheduler)
    (keep,) = Scheduler.handlers.values()

    def told(step: str, amount: float = 0, benchmark: str = "a", model: str = "m") -> float:
        rates = [1, 60]
        return keep(benchmark=benchmark, step=step, model=model, rates=rates, amount=amount)

    assert told("ask") == 0.0
    assert 59 < told("ask") <= 60
    assert told("ask", model="another") == told("ask", benchmark="b") == 0.0
    assert told("note", 30) == told("pause", 20) == 0.0
    assert told("ask", model="another", amount=1) == 0.0
    assert 29 < told("ask", 1) <= 120  # the turn it had is gone
    forget_paces("a", Scheduler)
    assert told("ask") == 0.0
    assert 59 < told("ask", benchmark="b") <= 60


def test_stop_ends_a_wait() -> None:
    pace, stop = LocalPace(), Stop()
    pace.pause(60)
    threading.Timer(0.05, stop.set).start()
    with pytest.raises(RunCancelled):
        wait_for_turn(pace, stop)
