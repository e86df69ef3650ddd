"""``cellwright usage``: what models have cost, and how much a month may cost."""

from __future__ import annotations

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.records import open_store
from cellwright.commands.terminal import one_line, table
from cellwright.record.values import to_dict
from cellwright.store.usage_table import UsageRow, UsageTable, dollars, share, tokens

NUMBERS = ("<RUNS>", "<CALLS>", "<TOKENS IN>", "<CACHED>", "<OUT>", "<COST>")


def usage(invocation: Invocation) -> int:
    """Set budgets where some are given, then list what each took."""
    options = invocation.options
    amounts = {"month_dollars": options.budget, "month_tokens": options.budget_tokens}
    with open_store(invocation) as store:
        found = UsageTable(store.database)
        for name, amount in amounts.items():
            if amount is not None:
                found.set_budget(name, amount or None)
        rows, budgets = found.rows(options.by), found.budgets()
    document = {"rows": [to_dict(row) for row in rows], "budgets": [to_dict(b) for b in budgets]}
    lines = ["No model was asked yet."]
    if rows:
        lines = [table((options.by.upper(), *NUMBERS), [_row(row) for row in rows])]
    lines += [share(budget) for budget in budgets]
    invocation.console.result(document, "\n".join(lines))
    return COMPLETED


def _row(row: UsageRow) -> tuple[str, ...]:
    return (
        one_line(row.label),
        f"{row.runs:,}",
        f"{row.calls:,}",
        tokens(row),
        f"{row.cached_tokens:,}",
        f"{row.output_tokens:,}",
        dollars(row),
    )
