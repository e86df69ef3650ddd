"""``%agent usage``: what models have cost, as a table and a plot; and how much a month may cost."""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cellwright.record.messages import UsageGroup
from cellwright.store.database import Database
from cellwright.store.usage_table import MonthBudget, UsageRow, UsageTable, dollars, share, tokens
from cellwright_magics.reports import TextTable

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

BAR_CHARACTERS = 12
BAR_INCHES = 0.35


class UsagePlot:
    """Usage as a picture, whether or not the notebook draws figures by itself.

    Args:
        figure: What is drawn.
        words: The same as text.
    """

    def __init__(self, figure: Figure, words: str) -> None:
        self.figure = figure
        self._words = words

    def __repr__(self) -> str:
        return self._words

    def _repr_png_(self) -> bytes:
        picture = io.BytesIO()
        self.figure.savefig(picture, format="png", dpi=110)
        return picture.getvalue()


class UsageReport(TextTable):
    """What each month, model, assistant, chat or run took.

    Args:
        group: What the rows are.
        usage: The rows.
        budgets: What is set for this month.
    """

    empty = "No model was asked yet."

    def __init__(
        self, group: str, usage: Sequence[UsageRow], budgets: Sequence[MonthBudget] = ()
    ) -> None:
        self.group = group
        self.usage = tuple(usage)
        self.budgets = tuple(budgets)
        self.headings = (group, "runs", "calls", "tokens in", "cached", "out", "cost", "")

    def __iter__(self) -> Iterator[UsageRow]:
        return iter(self.usage)

    def __len__(self) -> int:
        return len(self.usage)

    def rows(self) -> list[tuple[str, ...]]:
        """One row each, with a bar of what it took beside the others."""
        most = max((self._amount(row) for row in self.usage), default=0)
        return [
            (
                row.label,
                f"{row.runs:,}",
                f"{row.calls:,}",
                tokens(row),
                f"{row.cached_tokens:,}",
                f"{row.output_tokens:,}",
                dollars(row),
                "▇" * round(BAR_CHARACTERS * self._amount(row) / most) if most else "",
            )
            for row in self.usage
        ]

    def to_dataframe(self) -> pandas.DataFrame:
        """The rows with their numbers as they are."""
        import pandas

        return pandas.DataFrame([vars(row) for row in self.usage])

    def plot(self) -> UsagePlot:
        """A bar for each: dollars, or tokens where no price is known."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(7, 1 + BAR_INCHES * max(1, len(self.usage))), layout="tight")
        axes = figure.subplots()
        labels = [row.label for row in self.usage]
        axes.barh(range(len(labels)), [self._amount(row) for row in self.usage], color="#4c78a8")
        axes.set_yticks(range(len(labels)), labels)
        axes.invert_yaxis()
        axes.set_xlabel("US dollars" if self._has_costs else "tokens, in and out")
        axes.set_title(f"Usage by {self.group}")
        return UsagePlot(figure, repr(self))

    def __repr__(self) -> str:
        return "\n".join([super().__repr__(), *(share(budget) for budget in self.budgets)])

    def _repr_markdown_(self) -> str:
        budgets = "\n\n".join(share(budget) for budget in self.budgets)
        return f"{super()._repr_markdown_()}\n\n{budgets}".strip()

    @property
    def _has_costs(self) -> bool:
        return any(row.cost_dollars for row in self.usage)

    def _amount(self, row: UsageRow) -> float:
        if self._has_costs:
            return row.cost_dollars or 0.0
        return float(row.input_tokens + row.output_tokens)


def usage_command(group: UsageGroup, arguments: argparse.Namespace, database: Database) -> Any:
    """Do what ``%agent usage …`` says: set budgets, then the table, or the plot.

    Raises:
        SetupError: A budget is not above zero.
    """
    table = UsageTable(database)
    for name, amount in (
        ("month_dollars", arguments.budget),
        ("month_tokens", arguments.budget_tokens),
    ):
        if amount is not None:
            table.set_budget(name, amount or None)
    report = UsageReport(group, table.rows(group), table.budgets())
    return report.plot() if arguments.plot else report
