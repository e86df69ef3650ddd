"""Where a run ends whatever the model says: steps, time, tokens, money and going in circles."""

from __future__ import annotations

import collections
import contextlib
import json
import math
import re
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from cellwright.record.events import CellFinished, CellOutput, CellStarted, Event
from cellwright.record.messages import ModelUsage, Price, Reply, Usage, cost_of, price_for
from cellwright.record.outputs import size_of
from cellwright.settings import Limits

T = TypeVar("T")
WINDOW = 12
WARN_AT = 3
STOP_AT = 5
TOLD_AT = 0.75
SHORTEST_TOLD = 4
"""With fewer steps there is nothing left to plan."""
NEARLY_OUT = (
    "Notice: {steps} of {limit} steps are used, {left} are left. Finish what matters most, then "
    "answer."
)
OUT_OF_STEPS = (
    "The run has reached a limit and no more tools can be called. In a few sentences: what did "
    "you do, what did you find, what is left?"
)
WHITESPACE = re.compile(r"\s+")
VOLATILE = re.compile(r"\[cell [^\]]*\]|Cell In\[\d+\]|read_output\(\"[^\"]*\"|\d+(?:\.\d+)? s\b")
"""What names a cell or tells the time in a result: new in every call, so not compared."""
NUMBERS = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,:]\d+)*")
SIMILAR_MORE = 2
SAID = ("title", "explanation", "reason", "rationale", "thought", "thoughts", "comment")
"""Arguments that only say what a call does and why."""
CODE = ("code", "source")
COMMENT = re.compile(r"(?<!\S)#[^\n]*")
"""Also where it stands in a text of the code: for telling calls apart that is good enough."""


@dataclass(frozen=True)
class LimitReached:
    """Which limit ended the run."""

    cause: str
    """``step_limit``, ``time_limit``, ``token_limit``, ``cost_limit``, ``cell_limit``,
    ``output_limit`` or ``month_budget``."""
    reason: str
    """For people, with how to raise it."""


class Spending(Protocol):
    """What all runs of a person use, held against what they may use."""

    def reached(self) -> LimitReached | None:
        """The limit that is reached, if any; asked before each call of the model."""
        ...


@dataclass
class RunBudget:
    """What a run has used so far, held against its limits."""

    limits: Limits
    price: Price | None = None
    clock: Callable[[], float] = time.monotonic
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    cells: int = 0
    output_bytes: int = 0
    started: float = 0.0
    waited_seconds: float = 0.0
    """How long the user was waited for: no time of the run."""
    prices: Mapping[str, Price] = field(default_factory=dict)
    """Of the models that tools ask themselves."""
    spending: Spending | None = None
    """What all runs may use together."""

    def __post_init__(self) -> None:
        self.started = self.clock()

    def add(self, reply: Reply) -> float | None:
        """Count a reply; its cost in dollars, where the model's price is known."""
        self.steps += 1
        self.usage += reply.usage
        if self.price is None:
            return None
        cost = cost_of(reply.usage, self.price)
        self.cost_dollars = (self.cost_dollars or 0.0) + cost
        return cost

    def add_of_tools(self, usages: Iterable[ModelUsage]) -> None:
        """Count what tools spent on models of their own: tokens always, money where it is known."""
        for spent in usages:
            self.usage += spent.usage
            price = price_for(spent.model, self.prices)
            if price is not None:
                self.cost_dollars = (self.cost_dollars or 0.0) + cost_of(spent.usage, price)

    def counted(self, events: Generator[Event, None, T]) -> Generator[Event, None, T]:
        """The same events, with the cells and outputs among them counted."""
        with contextlib.closing(events):
            while True:
                try:
                    event = next(events)
                except StopIteration as ended:
                    result: T = ended.value
                    return result
                self._count(event)
                yield event

    def _count(self, event: Event) -> None:
        if isinstance(event, CellStarted):
            self.cells += 1
        elif isinstance(event, CellOutput):
            self.output_bytes += size_of(event.message)
        elif isinstance(event, CellFinished):
            self.waited_seconds += event.execution.waited_seconds

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Stop the run's clock while the user is asked for an approval."""
        since = self.clock()
        try:
            yield
        finally:
            self.waited_seconds += self.clock() - since

    def elapsed_seconds(self) -> float:
        """Seconds since the run began, without those for which the user was waited for."""
        return self.clock() - self.started - self.waited_seconds

    def left_seconds(self) -> float:
        """Seconds until the run has to end."""
        return self.limits.wall_seconds - self.elapsed_seconds()

    def out_of_time(self) -> LimitReached:
        """The limit on the run's time, as it is told."""
        seconds = self.limits.wall_seconds
        words = f"The run reached {seconds:g} s. Raise it with --max-seconds."
        return LimitReached("time_limit", words)

    def exceeded(self) -> LimitReached | None:
        """The limit the run has reached, if any."""
        limits = self.limits
        if self.steps >= limits.step_limit:
            return LimitReached(
                "step_limit",
                f"The run reached its {limits.step_limit} steps. Raise it with --max-steps.",
            )
        if self.left_seconds() <= 0:
            return self.out_of_time()
        if limits.token_limit is not None and self.usage.total_tokens >= limits.token_limit:
            return LimitReached(
                "token_limit",
                f"The run used {self.usage.total_tokens} of {limits.token_limit} tokens. "
                "Raise it with --max-tokens.",
            )
        return self._cells() or self._money() or self._of_all_runs()

    def _of_all_runs(self) -> LimitReached | None:
        return self.spending.reached() if self.spending is not None else None

    def note(self) -> str:
        """What the model is told when three quarters of its steps are used; empty else."""
        limit = self.limits.step_limit
        if limit < SHORTEST_TOLD or self.steps != math.ceil(TOLD_AT * limit):
            return ""
        left = limit - self.steps
        return NEARLY_OUT.format(steps=self.steps, limit=limit, left=left)

    def _cells(self) -> LimitReached | None:
        cells, size = self.limits.cell_limit, self.limits.output_limit_bytes
        if cells is not None and self.cells >= cells:
            return LimitReached("cell_limit", f"The run ran {self.cells} of {cells} cells.")
        if size is not None and self.output_bytes >= size:
            reason = f"The cells put out {self.output_bytes:,} of {size:,} bytes."
            return LimitReached("output_limit", reason)
        return None

    def _money(self) -> LimitReached | None:
        limit = self.limits.cost_limit_dollars
        if limit is None or self.cost_dollars is None or self.cost_dollars < limit:
            return None
        return LimitReached(
            "cost_limit",
            f"The run cost ${self.cost_dollars:.4f} of ${limit:.4f}. Raise it with --budget.",
        )


class RepeatDetector:
    """Counts equal calls with equal results among the last twelve.

    Arguments are compared without their whitespace, comments and words for people, so that a model
    that only adds blanks or says something else is caught as well (faults M19, M20). Results that
    differ in their numbers alone (a time, an address, a loss) may be progress, so ``SIMILAR_MORE``
    more of them are let go by.
    """

    def __init__(self) -> None:
        self._recent: collections.deque[tuple[str, str]] = collections.deque(maxlen=WINDOW)

    def count(self, name: str, arguments: Mapping[str, Any], result: str) -> int:
        """How often this call with this result is among the recent ones, this one included."""
        does = {key: value for key, value in arguments.items() if key not in SAID}
        does |= {key: COMMENT.sub("", does[key]) for key in CODE if isinstance(does.get(key), str)}
        text = json.dumps(does, sort_keys=True, default=repr, ensure_ascii=False)
        plain = WHITESPACE.sub("", text.replace("\\n", "").replace("\\t", ""))
        call, shown = f"{name}\0{plain}\0", VOLATILE.sub("", result)
        same = call + shown
        self._recent.append((same, call + NUMBERS.sub("#", shown)))
        equal = sum(known == same for known, _ in self._recent)
        if arguments.get("wait_seconds"):
            return equal  # it waits for what still runs, and numbers are all that changes
        similar = sum(known == self._recent[-1][1] for _, known in self._recent)
        return max(equal, similar - SIMILAR_MORE)
