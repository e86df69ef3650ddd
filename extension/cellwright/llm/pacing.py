"""Time while a reply comes in: how often it is shown, how long silence may last."""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.errors import LMTimeoutError
from cellwright.llm.thinking import Said
from cellwright.record.events import ModelSilent, ReasoningDelta, TextDelta
from cellwright.settings import ServiceSettings


@dataclass(frozen=True)
class Pace:
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

    def __init__(self, pace: Pace) -> None:
        self._gap = pace.delta_seconds
        self._next = 0.0
        self._waiting: list[TextDelta | ReasoningDelta] = []

    def add(self, said: Said) -> None:
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


class Watch:
    """The clock of one request.

    A sign of life, such as a comment in the stream, puts off the idle timeout and not the
    deadline; only content ends a silence.
    """

    def __init__(self, service: ServiceSettings, pace: Pace, place: str, now: float) -> None:
        self._service = service
        self._pace = pace
        self._place = place
        self._started = self._alive = self._content = now
        self._told = 0

    def arrived(self, now: float, *, content: bool) -> None:
        """Something came."""
        self._alive = now
        if content:
            self._content, self._told = now, 0

    def is_over(self, now: float) -> bool:
        """Whether a reply that is whole has been waited for long enough."""
        return now - self._content > self._pace.after_finish_seconds

    def look(self, now: float) -> ModelSilent | None:
        """The silence to tell of, if it is time.

        Raises:
            LMTimeoutError: Nothing came for too long, or the deadline passed.
        """
        idle, deadline = self._service.idle_timeout_seconds, self._service.deadline_seconds
        if now - self._started > deadline:
            error = LMTimeoutError(
                f"{self._place} did not finish its reply within {deadline:g} s.",
                hint="Ask for less at once, or raise the deadline.",
            )
            error.retryable = False
            raise error
        if now - self._alive > idle:
            hint = "The service may be busy or stuck; try again or choose another model."
            raise LMTimeoutError(f"{self._place} sent no data for {idle:g} s.", hint=hint)
        return self._silence(now)

    def _silence(self, now: float) -> ModelSilent | None:
        silent = now - self._content
        if int(silent / self._pace.silence_seconds) <= self._told:
            return None
        self._told = int(silent / self._pace.silence_seconds)
        return ModelSilent(round(silent, 1))
