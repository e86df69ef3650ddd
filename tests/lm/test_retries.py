"""When a failed request is sent again."""

from __future__ import annotations

import pytest

from cellwright.errors import (
    LMAccessError,
    LMConnectionError,
    LMError,
    LMRateLimitError,
    LMServerError,
    LMStreamError,
    LMTimeoutError,
)
from cellwright.llm.retries import next_delay, retry_after_seconds
from cellwright.settings import ServiceSettings

SERVICE = ServiceSettings(retry_limit=3, retry_after_limit_seconds=60)
DOWN = LMServerError("down")


def delay_after(*failures: LMError) -> float | None:
    return next_delay(failures, SERVICE, 0.5)


def test_the_wait_doubles_with_each_failure() -> None:
    for count, longest in ((1, 0.5), (2, 1.0), (3, 2.0)):
        delay = delay_after(*[DOWN] * count)
        assert delay is not None
        assert longest * 0.75 <= delay <= longest


def test_the_wait_has_an_upper_limit() -> None:
    delay = next_delay([DOWN] * 9, ServiceSettings(retry_limit=10), 0.5)
    assert delay is not None
    assert delay <= 8


def test_the_number_of_retries_has_a_limit() -> None:
    assert delay_after(*[DOWN] * 4) is None


def test_what_waiting_does_not_mend_is_not_tried_again() -> None:
    assert delay_after(LMAccessError("wrong key")) is None


@pytest.mark.parametrize("once", [LMStreamError("cut"), LMTimeoutError("slow")])
def test_broken_and_silent_streams_are_tried_once_more(once: LMError) -> None:
    assert delay_after(once) is not None
    assert delay_after(DOWN, once) is not None
    assert delay_after(once, DOWN) is not None
    assert delay_after(once, once) is None
    assert delay_after(once, LMStreamError("cut")) is None


def test_a_lost_connection_is_tried_as_often_as_a_failing_service() -> None:
    lost = LMConnectionError("reset")
    assert delay_after(lost, lost, lost) is not None


@pytest.mark.parametrize(("asked", "delay"), [(60.0, 60.0), (60.1, None)])
def test_the_wait_asked_for_is_made_up_to_a_limit(asked: float, delay: float | None) -> None:
    assert delay_after(LMRateLimitError("busy", retry_after_seconds=asked)) == delay


def test_a_busy_service_that_does_not_say_how_long_is_waited_for() -> None:
    assert delay_after(LMRateLimitError("busy")) is not None


@pytest.mark.parametrize(
    ("headers", "text", "seconds"),
    [
        ({"retry-after": "2"}, "", 2.0),
        ({"retry-after": "2.5", "retry-after-ms": "700"}, "", 0.7),
        ({"retry-after": "inf"}, "", None),
        ({"retry-after": "soon"}, "", None),
        ({"retry-after": "soon"}, "Please try again in 1.5s.", 1.5),
        ({}, "Try again in 20ms", 0.1),
        ({}, "Please try again in 9m57.024s. Need more tokens?", 597.024),
        ({}, "Please try again in 7m12s", 432.0),
        ({}, "Please retry after 26 seconds.", 26.0),
        ({}, "Try again later.", None),
    ],
)
def test_the_wait_is_read_from_headers_and_words(
    headers: dict[str, str], text: str, seconds: float | None
) -> None:
    assert retry_after_seconds(headers, text) == seconds


def test_a_date_without_a_clock_to_hold_it_against_uses_ours() -> None:
    past = {"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}
    assert retry_after_seconds(past) == pytest.approx(0.1)
