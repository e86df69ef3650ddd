"""Runs as a table of pandas: found, narrowed down and put in order."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import TYPE_CHECKING

from cellwright.store.run_summaries import RunSummary
from cellwright_magics.wording import one_line

if TYPE_CHECKING:
    import pandas

COLUMNS = ("run", "status", "model", "tokens", "cost", "seconds", "started", "prompt")
ORDERS = {
    "newest": ("started", False),
    "oldest": ("started", True),
    "most tokens": ("tokens", False),
    "most expensive": ("cost", False),
    "longest": ("seconds", False),
    "model": ("model", True),
    "status": ("status", True),
}
"""Names of orders, each with its column and whether it ascends."""


def runs_frame(runs: Iterable[RunSummary]) -> pandas.DataFrame:
    """One row a run."""
    import pandas

    frame = pandas.DataFrame([_row(run) for run in runs], columns=list(COLUMNS))
    return frame.astype({"cost": "float64"})


def narrowed(frame: pandas.DataFrame, words: str, status: str, order: str) -> pandas.DataFrame:
    """The runs whose text has all the words, with this status (empty: any), in this order."""
    shown = frame
    for word in words.lower().split():
        text = shown["prompt"] + " " + shown["model"] + " " + shown["run"]
        shown = shown[text.str.lower().str.contains(word, regex=False)]
    if status:
        shown = shown[shown["status"] == status]
    column, ascends = ORDERS[order]
    return shown.sort_values(column, ascending=ascends, kind="stable", na_position="last")


def table_html(frame: pandas.DataFrame) -> str:
    """The table as HTML, all text escaped."""
    if frame.empty:
        return "<p>No run fits.</p>"
    shown = frame.assign(started=[_when(seconds) for seconds in frame["started"]])
    formats = {"cost": "{:.4f}".format, "seconds": "{:.1f}".format, "tokens": "{:,}".format}
    return str(shown.to_html(index=False, border=0, escape=True, na_rep="", formatters=formats))


def _row(run: RunSummary) -> tuple[object, ...]:
    tokens, cost = run.usage.total_tokens, run.cost_dollars
    prompt = one_line(run.prompt, 80)
    figures = (tokens, cost, run.duration_seconds, run.started_at)
    return (run.run_id, run.status, run.model, *figures, prompt)


def _when(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
