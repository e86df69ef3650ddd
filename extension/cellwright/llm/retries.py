"""When a failed request is sent again, and after how long."""

from __future__ import annotations

import math
import random
import re
import time
from collections.abc import Mapping, Sequence
from email.utils import parsedate_to_datetime

from cellwright.errors import LMError, LMRateLimitError, LMStreamError, LMTimeoutError
from cellwright.settings import ServiceSettings

LONGEST_BACKOFF_SECONDS = 8.0
JITTER = 0.25
SHORTEST_WAIT_SECONDS = 0.1
"""A service whose clock is ahead may ask for a moment that is over already."""
ONCE = (LMStreamError, LMTimeoutError)
"""Failures that one more try either mends or shows to be lasting."""
TRY_AGAIN_IN = re.compile(r"try again in (\d+(?:\.\d+)?)\s*(ms|s)\b", re.IGNORECASE)


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
    if not newest.retryable or len(failures) > service.retry_limit:
        return None
    if isinstance(newest, ONCE) and sum(isinstance(error, ONCE) for error in failures) > 1:
        return None
    asked = newest.retry_after_seconds if isinstance(newest, LMRateLimitError) else None
    if asked is not None:
        return asked if asked <= service.retry_after_limit_seconds else None
    delay: float = min(backoff_seconds * 2 ** (len(failures) - 1), LONGEST_BACKOFF_SECONDS)
    return delay * random.uniform(1 - JITTER, 1)


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
    if found := TRY_AGAIN_IN.search(text):
        seconds = float(found[1]) / (1000.0 if found[2].lower() == "ms" else 1.0)
        return max(SHORTEST_WAIT_SECONDS, seconds)
    return None


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
