"""How often a service is asked: one rate for all samples, also on a Dask cluster."""

from __future__ import annotations

import contextlib
import importlib
import threading
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any, Protocol

from cellwright.errors import LMRateLimitError
from cellwright.llm import LM, Capabilities, LMEvent
from cellwright.record.events import ModelRetrying
from cellwright.record.messages import Prompt, Reply
from cellwright.stopping import Stop

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


class ServiceRate(Protocol):
    """Whose turn it is to ask, of all who share a service."""

    def ask(self, *, has_turn: bool) -> float:
        """How long to wait for a turn, in seconds; 0: it is ours.

        Args:
            has_turn: The turn that was given has come. Where the service asked for a pause
                meanwhile, there is a new one to wait for.
        """

    def pause(self, seconds: float) -> None:
        """Nobody asks before so many seconds have passed."""

    def note(self, tokens: int) -> None:
        """A reply took so many tokens."""


class LocalPace:
    """Gives turns so far apart that the rates hold; ``Pace`` for the threads of one process.

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
        self._next_turn = self._blocked_until = clock()

    def ask(self, *, has_turn: bool) -> float:
        """How long to wait for a turn; the turns of all who wait are kept for them."""
        with self._lock:
            now = self._clock()
            if has_turn and now >= self._blocked_until:
                return 0.0
            turn = max(now, self._blocked_until, self._next_turn)
            limit = self._rates.requests_a_minute
            self._next_turn = turn + (MINUTE_SECONDS / limit if limit else 0.0)
            return turn - now

    def pause(self, seconds: float) -> None:
        """Nobody asks before so many seconds have passed."""
        with self._lock:
            until = self._clock() + min(seconds, LONGEST_PAUSE_SECONDS)
            self._blocked_until = max(self._blocked_until, until)

    def note(self, tokens: int) -> None:
        """A reply took so many tokens: nobody asks for as long as the rate gives for them."""
        limit = self._rates.tokens_a_minute
        if limit:
            with self._lock:
                start = max(self._blocked_until, self._clock())
                self._blocked_until = start + tokens * MINUTE_SECONDS / limit


def wait_for_turn(pace: ServiceRate, stop: Stop) -> None:
    """Return when it is our turn.

    Raises:
        RunCancelled: ``stop`` was set.
    """
    seconds = pace.ask(has_turn=False)
    while seconds > 0:
        stop.wait(seconds)
        seconds = pace.ask(has_turn=True)
    stop.check()


class PacedLM:
    """A model asked at a pace that several samples share; ``lm.LM``.

    A sample's time limit counts its waits here.
    """

    def __init__(self, lm: LM, pace: ServiceRate) -> None:
        self._lm = lm
        self._pace = pace

    def capabilities(self, model: str) -> Capabilities:
        """What is known of ``model`` so far."""
        return self._lm.capabilities(model)

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield pieces of the reply as they come and return the whole."""
        refusals = 0
        while True:
            wait_for_turn(self._pace, stop)
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


class Paces:
    """The models of one process: who asks the same one shares its pace.

    Args:
        rates: Of each model.
    """

    def __init__(self, rates: Rates | None = None) -> None:
        self._rates = rates
        self._lock = threading.Lock()
        self._paces: dict[str, LocalPace] = {}

    def paced(self, lm: LM, model: str) -> PacedLM:
        """The model, asked at its pace."""
        with self._lock:
            return PacedLM(lm, self._paces.setdefault(model, LocalPace(self._rates)))


# One pace for all workers of a Dask cluster.
#
# The scheduler keeps it: one clock counts, and a worker that dies takes nothing of it along.


OPERATION = "cellwright_pace"
Keeper = Callable[..., float]


@dataclass(frozen=True)
class SharedRates:
    """Rates that hold for all samples of a benchmark together, wherever they run."""

    benchmark: str
    rates: Rates = field(default_factory=Rates)


def keep_paces(dask_scheduler: Any) -> None:
    """Have the scheduler keep paces; it runs there."""
    dask_scheduler.handlers.setdefault(OPERATION, _keeper({}))


def forget_paces(benchmark: str, dask_scheduler: Any) -> None:
    """Have the scheduler drop those of a benchmark that is over; it runs there."""
    dask_scheduler.handlers[OPERATION](benchmark=benchmark, step="forget")


def _keeper(paces: dict[tuple[str, str], LocalPace]) -> Keeper:
    """Answers the workers; only the scheduler's one thread calls it."""

    def keep(*, benchmark: str, step: str, model: str = "", **told: Any) -> float:
        if step == "forget":
            for key in [key for key in paces if key[0] == benchmark]:
                del paces[key]
            return 0.0
        pace = paces.setdefault((benchmark, model), LocalPace(Rates(*told["rates"])))
        if step == "ask":
            return pace.ask(has_turn=bool(told["amount"]))
        getattr(pace, step)(told["amount"])
        return 0.0

    return keep


class ClusterPace:
    """The pace that the scheduler keeps, for one model; ``rates.Pace``.

    It is made in a task on a worker.
    """

    def __init__(self, shared: SharedRates, model: str) -> None:
        distributed: Any = importlib.import_module("distributed")
        self._client = distributed.get_client()
        self._shared = shared
        self._model = model

    def ask(self, *, has_turn: bool) -> float:
        """How long to wait for a turn."""
        return self._told("ask", int(has_turn))

    def pause(self, seconds: float) -> None:
        """Nobody asks before so many seconds have passed."""
        self._told("pause", seconds)

    def note(self, tokens: int) -> None:
        """A reply took so many tokens."""
        if self._shared.rates.tokens_a_minute:
            self._told("note", tokens)

    def _told(self, step: str, amount: float) -> float:
        rates = self._shared.rates
        scheduler = self._client.scheduler
        seconds: float = self._client.sync(
            getattr(scheduler, OPERATION),
            benchmark=self._shared.benchmark,
            step=step,
            model=self._model,
            rates=[rates.requests_a_minute, rates.tokens_a_minute],
            amount=amount,
        )
        return seconds
