"""How often a service is asked, shared by all samples that ask it."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass

from cellwright.errors import LMRateLimitError
from cellwright.events import ModelRetrying
from cellwright.lm import LM, Capabilities, LMEvent
from cellwright.prompts import Prompt, Reply
from cellwright.stopping import Stop

__all__ = ["Pace", "PacedLM", "Rates"]

MINUTE_SECONDS = 60.0
USUAL_PAUSE_SECONDS = 5.0
"""Where a service refuses and does not say for how long."""
LONGEST_PAUSE_SECONDS = 600.0
REFUSAL_LIMIT = 5


@dataclass(frozen=True)
class Rates:
    """What a service allows."""

    requests_a_minute: float | None = None
    tokens_a_minute: float | None = None


class Pace:
    """Lets one request after the other go, so far apart that the rates hold.

    When the service asks one sample to wait, all of them wait.

    Args:
        rates: None of them: only what the service itself says counts.
        clock: Seconds that only grow.
    """

    def __init__(
        self, rates: Rates | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rates = rates or Rates()
        self._clock = clock
        self._lock = threading.Lock()
        self._free_at = clock()

    def wait(self, stop: Stop) -> None:
        """Return when it is our turn.

        Raises:
            RunCancelled: ``stop`` was set.
        """
        while (seconds := self._take_turn()) > 0:
            stop.wait(seconds)
        stop.check()

    def pause(self, seconds: float) -> None:
        """Nobody asks before so many seconds have passed."""
        with self._lock:
            until = self._clock() + min(seconds, LONGEST_PAUSE_SECONDS)
            self._free_at = max(self._free_at, until)

    def note(self, tokens: int) -> None:
        """A reply took so many tokens."""
        limit = self._rates.tokens_a_minute
        if limit:
            with self._lock:
                self._free_at = max(self._free_at, self._clock()) + tokens * MINUTE_SECONDS / limit

    def _take_turn(self) -> float:
        """How long to wait before the next try; 0: it is ours."""
        with self._lock:
            now = self._clock()
            if now < self._free_at:
                return self._free_at - now
            limit = self._rates.requests_a_minute
            self._free_at = now + (MINUTE_SECONDS / limit if limit else 0.0)
            return 0.0


class PacedLM:
    """A model asked at a pace that several samples share; ``lm.LM``.

    A sample's time limit counts its waits here.
    """

    def __init__(self, lm: LM, pace: Pace) -> None:
        self._lm = lm
        self._pace = pace

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        return self._lm.capabilities(model)

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield pieces of the reply as they come and return the whole."""
        refusals = 0
        while True:
            self._pace.wait(stop)
            try:
                reply = yield from self._told(self._lm.stream(prompt, stop))
            except LMRateLimitError as error:
                refusals += 1
                seconds = error.retry_after_seconds or USUAL_PAUSE_SECONDS * 2 ** (refusals - 1)
                self._pace.pause(seconds)
                if refusals > REFUSAL_LIMIT:
                    raise
                yield ModelRetrying(refusals + 1, seconds, error.message)
            else:
                self._pace.note(reply.usage.total_tokens)
                return reply

    def _told(self, events: Generator[LMEvent, None, Reply]) -> Generator[LMEvent, None, Reply]:
        """The events; a wait of one sample for the service is one of all."""
        with contextlib.closing(events):
            while True:
                try:
                    event = next(events)
                except StopIteration as ended:
                    reply: Reply = ended.value
                    return reply
                if isinstance(event, ModelRetrying):
                    self._pace.pause(event.delay_seconds)
                yield event
