"""What the routes of usage take and answer, for the OpenAPI description."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class UsageLine:
    """What one month, model, assistant, chat or run took."""

    key: str
    label: str
    runs: int
    calls: int
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    cost_dollars: float | None
    """None: no price of it is known."""


@dataclass(frozen=True)
class Budget:
    """What may be used in a month, and what was."""

    name: str
    """``month_dollars`` or ``month_tokens``."""
    used: float
    month: str
    limit_dollars: float | None = None
    limit_tokens: int | None = None
    unpriced_calls: int = 0
    """Calls of the month that a limit in dollars does not see: their price is not known."""


@dataclass(frozen=True)
class Usage:
    """Usage in rows, and the budgets of this month."""

    rows: tuple[UsageLine, ...]
    budgets: tuple[Budget, ...]


@dataclass(frozen=True)
class WantedBudgets:
    """What a month may cost; 0: as much as it will. What is missing stays."""

    month_dollars: float = 0.0
    month_tokens: float = 0.0
