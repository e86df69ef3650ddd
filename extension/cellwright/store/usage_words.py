"""Usage in words, the same in a notebook and a terminal."""

from __future__ import annotations

from cellwright.store.usage_table import MonthBudget, UsageRow

UNPRICED = (
    "{count:,} calls have no known price and do not count: give one in the table that "
    "CELLWRIGHT_PRICES names, or limit tokens (--budget-tokens N)."
)


def tokens(row: UsageRow) -> str:
    """Tokens that went in, with a mark where some were estimated."""
    return f"{'~' if row.is_estimated else ''}{row.input_tokens:,}"


def dollars(row: UsageRow) -> str:
    """What it cost; ``≥`` where some calls have no known price, empty where none has."""
    if row.cost_dollars is None:
        return ""
    return f"{'≥ ' if row.unpriced_calls else ''}${row.cost_dollars:.4f}"


def share(budget: MonthBudget) -> str:
    """How much of a month's budget is used."""
    if budget.name == "month_dollars":
        used, limit = f"${budget.used:.4f}", f"${budget.limit:.2f}"
    else:
        used, limit = f"{budget.used:,.0f}", f"{budget.limit:,.0f} tokens"
    share_used = f"{budget.used / budget.limit:.0%}"
    words = f"Budget of {budget.month}: {used} of {limit} used ({share_used})."
    if not budget.unpriced_calls:
        return words
    return f"{words} {UNPRICED.format(count=budget.unpriced_calls)}"
