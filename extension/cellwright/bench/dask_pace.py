"""One pace for all workers of a Dask cluster.

The scheduler keeps it: one clock counts, and a worker that dies takes nothing of it along.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from cellwright.bench.rates import LocalPace, Rates

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
