"""What models have cost, and how much a month may cost."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.record.messages import USAGE_GROUPS
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.routes import Refusal, Route, RouteTable
from cellwright.store.chat_rows import may_open
from cellwright.store.usage_table import MonthBudget, UsageRow, UsageTable


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
class UsageTotals:
    """Usage in rows, and the budgets of this month."""

    rows: tuple[UsageLine, ...]
    budgets: tuple[Budget, ...]


@dataclass(frozen=True)
class WantedBudgets:
    """What a month may cost; 0: as much as it will. What is missing stays."""

    month_dollars: float = 0.0
    month_tokens: float = 0.0


NAMES = ("month_dollars", "month_tokens")


class UsageRoute(Route):
    """What each month, model, assistant, chat or run took."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The rows, and the budgets of this month."""
        word, owner = self.word("by") or "month", self.owner
        by = next((group for group in USAGE_GROUPS if group == word), None)
        if by is None:
            known = ", ".join(USAGE_GROUPS)
            raise Refusal(400, f"Usage is not told by {word!r}.", f"Use one of: {known}.")

        def told(shared: Application) -> UsageTotals:
            table = UsageTable(shared.runs.database)
            rows = [row for row in table.rows(by) if _is_visible(shared, by, row.key, owner)]
            return UsageTotals(tuple(map(_line, rows)), _budgets(table))

        self.send(to_dict(await self.answer(told)))


class BudgetsRoute(Route):
    """How much a month may cost."""

    @web.authenticated
    @authorized
    async def put(self) -> None:
        """Set or change budgets; 0 takes one away, one that is not named stays."""
        amounts = _checked(self.fields(month_dollars=float, month_tokens=float))

        def set_all(shared: Application) -> UsageTotals:
            table = UsageTable(shared.runs.database)
            for name, amount in amounts.items():
                table.set_budget(name, amount or None)
            return UsageTotals(tuple(map(_line, table.rows("month"))), _budgets(table))

        self.send(to_dict(await self.answer(set_all)))


def _checked(amounts: dict[str, float]) -> dict[str, float]:
    """The amounts of a body.

    Raises:
        Refusal: There is none, or one is below zero.
    """
    if not amounts:
        raise Refusal(400, "Nothing is to be changed.", f"Give {' or '.join(NAMES)}.")
    for name, value in amounts.items():
        if not (value >= 0 and math.isfinite(value)):
            raise Refusal(400, f"{name!r} is {value!r}.", "It is at least 0; 0 is no limit.")
    return amounts


def _is_visible(shared: Application, by: str, key: str, owner: str) -> bool:
    """Whether a person may see a row: what others' chats say is theirs."""
    if by not in ("chat", "run"):
        return True
    chat = shared.chats.find(key if by == "chat" else shared.chats.chat_of(key))
    return chat is None or may_open(owner, chat.owner)


def _line(row: UsageRow) -> UsageLine:
    return UsageLine(
        row.key,
        row.label,
        row.runs,
        row.calls,
        row.input_tokens,
        row.cached_tokens,
        row.output_tokens,
        row.cost_dollars,
    )


def _budgets(table: UsageTable) -> tuple[Budget, ...]:
    return tuple(map(_budget, table.budgets()))


def _budget(budget: MonthBudget) -> Budget:
    is_money = budget.name == "month_dollars"
    return Budget(
        budget.name,
        budget.used,
        budget.month,
        limit_dollars=budget.limit if is_money else None,
        limit_tokens=None if is_money else round(budget.limit),
        unpriced_calls=budget.unpriced_calls,
    )


ROUTES: RouteTable = (("usage", UsageRoute), ("budgets", BudgetsRoute))
