"""Servers nearby that read a long prompt for minutes: waited for, told of, and stopped at once."""

from __future__ import annotations

import threading
import time

import pytest
from asking import Asked, ask, prompt_of, serving
from fake_service import Pause, after, chunk, raw_sse, text

from cellwright import settings as settings_module
from cellwright.errors import LMTimeoutError, RunCancelled
from cellwright.llm.retries import WaitTimes
from cellwright.record.events import ModelSilent
from cellwright.settings import ServiceSettings, from_env, is_nearby
from cellwright.stopping import Stop

USUAL = 0.4
PACE = WaitTimes(silence_seconds=0.2, backoff_seconds=0.01)


@pytest.fixture(autouse=True)
def usual_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_module, "IDLE_SECONDS", USUAL)


@pytest.mark.parametrize("begins_late", [True, False], ids=["no head", "a head at once"])
def test_the_first_data_may_come_late(*, begins_late: bool) -> None:
    """llama.cpp sends nothing while it reads the prompt, vLLM the head alone."""
    slow = after(text("Yes."), 1.5)
    if not begins_late:
        slow = raw_sse([Pause(1.5), chunk({"content": "Yes."}), chunk({}, "stop")])
    with serving([slow], pace=PACE, idle_timeout_seconds=USUAL) as (service, lm):
        asked = ask(lm)
    assert asked.reply is not None
    assert asked.reply.message.text == "Yes."
    assert len(service.requests) == 1
    assert max(silent.seconds for silent in asked.all(ModelSilent)) > 1.0


def test_silence_in_the_middle_of_a_reply_is_not_waited_for_so_long() -> None:
    broken = raw_sse([chunk({"content": "Ye"}), Pause(30)])
    with (
        serving([broken] * 2, pace=PACE, idle_timeout_seconds=USUAL) as (_, lm),
        pytest.raises(LMTimeoutError, match="CELLWRIGHT_IDLE_SECONDS"),
    ):
        ask(lm)


def test_what_a_person_set_counts() -> None:
    never = after(text("Yes."), 30)
    with (
        serving([never] * 2, pace=PACE, idle_timeout_seconds=USUAL / 2) as (service, lm),
        pytest.raises(LMTimeoutError, match="no data for 0.2 s"),
    ):
        ask(lm)
    assert len(service.requests) == 2


def test_the_deadline_ends_it_and_can_be_set() -> None:
    never = after(text("Yes."), 30)
    with (
        serving([never] * 2, pace=PACE, idle_timeout_seconds=USUAL, deadline_seconds=1.0) as (
            service,
            lm,
        ),
        pytest.raises(LMTimeoutError, match="CELLWRIGHT_DEADLINE_SECONDS"),
    ):
        ask(lm)
    assert len(service.requests) == 1
    assert from_env({"CELLWRIGHT_DEADLINE_SECONDS": "3600"}).service.deadline_seconds == 3_600


def test_stop_ends_the_wait_at_once() -> None:
    stop, asked = Stop(), Asked()
    with serving([after(text("Yes."), 30)], pace=PACE, idle_timeout_seconds=USUAL) as (service, lm):
        threading.Timer(0.8, stop.set).start()
        started = time.monotonic()
        with pytest.raises(RunCancelled):
            ask(lm, prompt_of("hi"), stop=stop, into=asked)
        assert time.monotonic() - started < 10
        assert service.wait_for_break()
    assert asked.all(ModelSilent)


@pytest.mark.parametrize(
    ("base_url", "nearby"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://[::1]:8080/v1", True),
        ("http://192.168.1.20:8000/v1", True),
        ("http://10.1.2.3/v1", True),
        ("http://localhost:11434/v1", True),
        ("http://gpu-box:8000/v1", True),
        ("http://nas.local:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("https://8.8.8.8/v1", False),
        ("https://my.company.com/llm/v1", False),
    ],
)
def test_which_servers_are_nearby(base_url: str, *, nearby: bool) -> None:
    assert is_nearby(base_url) == nearby
    service = ServiceSettings(base_url, idle_timeout_seconds=USUAL)
    assert (service.first_data_seconds > USUAL) == nearby
