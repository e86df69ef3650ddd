"""``%agent usage --plot``: what models have cost, as a picture."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from cellwright.commands.results import Result
from cellwright.commands.usage import has_costs, measure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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


def plot_usage(usage: Result) -> UsagePlot:
    """Draw a bar for each row: dollars, or tokens where no price is known."""
    from matplotlib.figure import Figure

    rows = usage.items
    figure = Figure(figsize=(7, 1 + BAR_INCHES * max(1, len(rows))), layout="tight")
    axes = figure.subplots()
    axes.barh(range(len(rows)), measure(rows), color="#4c78a8")
    axes.set_yticks(range(len(rows)), [row.label for row in rows])
    axes.invert_yaxis()
    axes.set_xlabel("US dollars" if has_costs(rows) else "tokens, in and out")
    axes.set_title(f"Usage by {usage.headings[0]}")
    return UsagePlot(figure, repr(usage))
