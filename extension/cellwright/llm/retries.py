"""Waits of a request: when it is sent again, how often a reply is shown, how long silence lasts."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from cellwright.errors import (
    LMError,
    LMRateLimitError,
    LMServerError,
    LMStreamError,
    LMTimeoutError,
)
from cellwright.llm.deltas import SplitDelta
from cellwright.record.events import ModelSilent, ReasoningDelta, TextDelta
from cellwright.settings import ServiceSettings

LONGEST_BACKOFF_SECONDS = 8.0
LOADING_BACKOFFS = 4
"""A model that loads is asked for after so many first waits, for as long as a reply may take."""
JITTER = 0.25
SHORTEST_WAIT_SECONDS = 0.1
"""A service whose clock is ahead may ask for a moment that is over already."""
ONCE = (LMStreamError, LMTimeoutError)
"""Failures that one more try either mends or shows to be lasting."""
TRY_AGAIN_IN = re.compile(
    r"(?:try again|retry) (?:in|after) (?:(\d+)h)?(?:(\d+)m(?!s))?"
    r"(?:(\d+(?:\.\d+)?)\s*(ms|s)(?:econds)?\b)?",
    re.IGNORECASE,
)
"""Such as "in 8.2s", "in 120 ms", "in 9m57.024s" (Groq, OpenAI) and "after 26 seconds" (Azure)."""


def next_delay(
    failures: Sequence[LMError], service: ServiceSettings, backoff_seconds: float
) -> float | None:
    """Seconds to wait before the request is sent again; None when it is not.

    Args:
        failures: Why it failed so far, the newest last.
        service: Its limits.
        backoff_seconds: The first wait; it doubles with each failure.
    """
    newest = failures[-1]
    if isinstance(newest, LMServerError) and newest.is_loading:
        return _until_loaded(failures, service, LOADING_BACKOFFS * backoff_seconds)
    failures = [error for error in failures if not getattr(error, "is_loading", False)]
    if not newest.retryable or len(failures) > service.retry_limit:
        return None
    if isinstance(newest, ONCE) and sum(isinstance(error, ONCE) for error in failures) > 1:
        return None
    asked = None
    if isinstance(newest, (LMRateLimitError, LMServerError)):
        asked = newest.retry_after_seconds
    if asked is not None:
        return asked if asked <= service.retry_after_limit_seconds else None
    delay: float = min(backoff_seconds * 2 ** (len(failures) - 1), LONGEST_BACKOFF_SECONDS)
    return delay * random.uniform(1 - JITTER, 1)


def _until_loaded(
    failures: Sequence[LMError], service: ServiceSettings, seconds: float
) -> float | None:
    """Seconds until a server is asked again that loads its model; None: it takes too long."""
    asked = sum(getattr(error, "is_loading", False) for error in failures)
    return seconds if (asked - 1) * seconds < service.deadline_seconds else None


def retry_after_seconds(headers: Mapping[str, str], text: str = "") -> float | None:
    """How long a service asks to wait, by its headers or by its words; None when it does not say.

    A date is held against the service's own clock where it sends one, since ours may differ.
    """
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        if (seconds := _number(headers.get(name, ""))) is not None:
            return max(SHORTEST_WAIT_SECONDS, seconds / unit)
    moment = _moment(headers.get("retry-after", ""))
    if moment is not None:
        now = _moment(headers.get("date", "")) or time.time()
        return max(SHORTEST_WAIT_SECONDS, moment - now)
    found = TRY_AGAIN_IN.search(text)
    if found is None or not any(found.groups()):
        return None
    hours, minutes, rest, suffix = found.groups(default="0")
    divisor = 1000.0 if suffix.lower() == "ms" else 1.0
    asked = int(hours) * 3600 + int(minutes) * 60 + float(rest) / divisor
    return max(SHORTEST_WAIT_SECONDS, asked)


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _moment(value: str) -> float | None:
    """An HTTP date as seconds since 1970."""
    try:
        return parsedate_to_datetime(value).timestamp()
    except (ValueError, TypeError, OverflowError):
        return None


# Time while a reply comes in: how often it is shown, how long silence may last.


@dataclass(frozen=True)
class WaitTimes:
    """Waits that no person has a reason to set."""

    poll_seconds: float = 0.05
    """How often Stop is looked at."""
    delta_seconds: float = 0.05
    """Deltas are joined, so that they are handed on no more often than this."""
    silence_seconds: float = 2.0
    """Silence is told after this long, and again each time it has grown by as much."""
    backoff_seconds: float = 0.5
    after_finish_seconds: float = 2.0
    """A reply is whole once its reason to end is known; the counts that follow may be missing."""


class Joiner:
    """Joins deltas that come faster than anybody reads; the first one goes out at once."""

    def __init__(self, pace: WaitTimes) -> None:
        self._gap = pace.delta_seconds
        self._next = 0.0
        self._waiting: list[TextDelta | ReasoningDelta] = []

    def add(self, said: SplitDelta) -> None:
        """Take more of the reply."""
        for kind, text in ((ReasoningDelta, said.reasoning), (TextDelta, said.text)):
            if not text:
                continue
            if self._waiting and isinstance(self._waiting[-1], kind):
                text = self._waiting.pop().text + text
            self._waiting.append(kind(text))

    def due(self, now: float) -> list[TextDelta | ReasoningDelta]:
        """What is to be handed on now."""
        if not self._waiting or now < self._next:
            return []
        self._next = now + self._gap
        return self.rest()

    def rest(self) -> list[TextDelta | ReasoningDelta]:
        """All that waits."""
        waiting, self._waiting = self._waiting, []
        return waiting

    def wait_seconds(self, now: float, longest: float) -> float:
        """How long there is nothing to hand on."""
        return min(longest, max(0.0, self._next - now)) if self._waiting else longest


class RepetitionWatch:
    """Sees when a model says the same few words over and over, which it never ends by itself."""

    def __init__(self) -> None:
        self._tail = ""
        self._unread = 0

    def feed(self, text: str) -> bool:
        """Take more of a reply; True when its end has been one repetition for long."""
        self._tail = (self._tail + text)[-DRAWN_CHARACTERS:]
        self._unread += len(text)
        if self._unread < LOOK_EACH_CHARACTERS or len(self._tail) < REPEATED_CHARACTERS:
            return False
        self._unread = 0
        tail = self._tail[-REPEATED_CHARACTERS:]
        period = next((p for p in range(1, LONGEST_PERIOD) if tail[p:] == tail[:-p]), 0)
        if not period or re.search(r"[^\W\d_]", tail[:period]):
            return bool(period)
        # A ruled line or a column of zeros may be a drawing, which is over some time.
        whole = self._tail
        return len(whole) == DRAWN_CHARACTERS and whole[period:] == whole[:-period]


REPEATED_CHARACTERS = 2_400
DRAWN_CHARACTERS = 4_800
LONGEST_PERIOD = 400
LOOK_EACH_CHARACTERS = 400


class Watch:
    """The clock of one request.

    A sign of life, such as a comment in the stream, puts off the idle timeout and not the
    deadline; only content ends a silence.
    """

    def __init__(self, service: ServiceSettings, pace: WaitTimes, place: str, now: float) -> None:
        self._service = service
        self._pace = pace
        self._place = place
        self._started = self._alive = self._content = now
        self._has_begun = False
        self._told = 0

    def arrived(self, now: float, *, content: bool) -> None:
        """Something came."""
        self._alive = now
        if content:
            self._content, self._told, self._has_begun = now, 0, True

    def is_over(self, now: float) -> bool:
        """Whether a reply that is whole has been waited for long enough."""
        return now - self._content > self._pace.after_finish_seconds

    def look(self, now: float) -> ModelSilent | None:
        """The silence to tell of, if it is time.

        Raises:
            LMTimeoutError: Nothing came for too long, or the deadline passed.
        """
        service = self._service
        idle = service.idle_timeout_seconds if self._has_begun else service.first_data_seconds
        deadline = service.deadline_seconds
        if now - self._started > deadline:
            error = LMTimeoutError(
                f"{self._place} did not finish its reply within {deadline:g} s.",
                hint="Ask for less at once, or raise CELLWRIGHT_DEADLINE_SECONDS.",
            )
            error.retryable = False
            raise error
        if now - self._alive > idle:
            hint = (
                "The service may be busy or stuck; try again, choose another model, or raise "
                "CELLWRIGHT_IDLE_SECONDS."
            )
            raise LMTimeoutError(f"{self._place} sent no data for {idle:g} s.", hint=hint)
        return self._silence(now)

    def _silence(self, now: float) -> ModelSilent | None:
        silent = now - self._content
        if int(silent / self._pace.silence_seconds) <= self._told:
            return None
        self._told = int(silent / self._pace.silence_seconds)
        return ModelSilent(round(silent, 1))
