"""``usage``: what models have cost, and how much a month may cost."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.commands import VerbContext
from cellwright.commands.results import Result
from cellwright.record.messages import UsageGroup
from cellwright.record.values import to_dict
from cellwright.store.usage_table import UsageRow, UsageTable, dollars, share, tokens

NUMBERS = ("<runs>", "<calls>", "<tokens in>", "<cached>", "<out>", "<cost>", "")
BAR_CHARACTERS = 12


def usage(context: VerbContext) -> Result:
    """Set budgets where some are given, then list what each took.

    Raises:
        SetupError: A budget is not above zero.
    """
    options = context.options
    group: UsageGroup = context.words[-1] if context.words else options.by  # type: ignore[assignment]
    amounts = {"month_dollars": options.budget, "month_tokens": options.budget_tokens}
    with context.open_store() as store:
        table = UsageTable(store.database)
        for name, amount in amounts.items():
            if amount is not None:
                table.set_budget(name, amount or None)
        rows, budgets = table.rows(group), table.budgets()
    sizes = measure(rows)
    most = max(sizes, default=0.0) or 1.0
    lines = [*([] if rows else ["No model was asked yet."]), *map(share, budgets)]
    return Result(
        "\n".join(lines),
        (group, *NUMBERS),
        [_row(row, size / most) for row, size in zip(rows, sizes, strict=True)],
        rows,
        {"rows": [to_dict(row) for row in rows], "budgets": [to_dict(b) for b in budgets]},
    )


def has_costs(rows: Sequence[UsageRow]) -> bool:
    """Whether the price of some row is known."""
    return any(row.cost_dollars for row in rows)


def measure(rows: Sequence[UsageRow]) -> list[float]:
    """Say how much each row took: in dollars, or in tokens where no price is known."""
    if has_costs(rows):
        return [row.cost_dollars or 0.0 for row in rows]
    return [float(row.input_tokens + row.output_tokens) for row in rows]


def _cached(row: UsageRow) -> str:
    rate = row.cached_tokens / row.input_tokens if row.input_tokens else 0.0
    return f"{row.cached_tokens:,} ({rate:.0%})" if rate else f"{row.cached_tokens:,}"


def _row(row: UsageRow, share_of_most: float) -> tuple[str, ...]:
    return (
        row.label,
        f"{row.runs:,}",
        f"{row.calls:,}",
        tokens(row),
        _cached(row),
        f"{row.output_tokens:,}",
        dollars(row),
        "▇" * round(BAR_CHARACTERS * share_of_most),
    )
