"""A browser of recorded runs: found by words, one looked into, two compared."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from cellwright.commands.listing import list_runs
from cellwright.errors import CellwrightError
from cellwright.exports.timeline import Called, Item, Ran, TimelineMessage, Wrote, timeline
from cellwright.record.run_record import RunRecord
from cellwright.store.runs import RunSummary
from cellwright_magics.run_view import (
    answer_html,
    as_html,
    cells_html,
    folded_html,
    messages_html,
    run_html,
)
from cellwright_magics.widgets import WidgetDisplay, close_widget, widget_library
from cellwright_magics.wording import one_line

if TYPE_CHECKING:
    import pandas


# Runs as a table of pandas: found, narrowed down and put in order.


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


# Two runs held against each other: figures, and the first step in which they differ.


@dataclass(frozen=True)
class Row:
    """One thing about both runs."""

    name: str
    first: str
    second: str


@dataclass(frozen=True)
class RunComparison:
    """How two runs differ."""

    rows: tuple[Row, ...]
    step: int
    """Number of the first item in which they differ; 0: in none."""
    difference: Row | None = None
    """What it is in each."""


def compare_runs(first: RunRecord, second: RunRecord) -> RunComparison:
    """Hold one run against another."""
    names_and_texts = zip(_figures(first), _figures(second), strict=True)
    rows = tuple(Row(name, one, other) for (name, one), (_, other) in names_and_texts)
    items = zip_longest(timeline(first), timeline(second))
    for number, (one, other) in enumerate(items, start=1):
        if _essence(one) != _essence(other):
            kinds = " / ".join(dict.fromkeys(item.kind for item in (one, other) if item))
            return RunComparison(rows, number, Row(kinds, _told(one), _told(other)))
    return RunComparison(rows, 0)


def _figures(record: RunRecord) -> list[tuple[str, str]]:
    cost = record.cost_dollars
    return [
        ("run", record.run_id),
        ("prompt", one_line(record.prompt)),
        ("model", record.parameters.model),
        ("status", record.status),
        ("steps", str(len(record.steps))),
        ("cells", str(len(record.executions))),
        ("tokens", f"{record.usage.total_tokens:,}"),
        ("cost", "not known" if cost is None else f"${cost:.4f}"),
        ("seconds", f"{record.duration_seconds:.1f}"),
    ]


def _essence(item: Item | None) -> object:
    """What has to be the same for a step to be the same; times do not."""
    match item:
        case None:
            return None
        case TimelineMessage():
            return ("said", item.text.strip())
        case Called():
            arguments = json.dumps(dict(item.call.arguments), sort_keys=True, default=str)
            return ("called", item.call.name, arguments, item.call.status)
        case Wrote():
            return ("wrote", item.cell.source)
        case Ran():
            ran = item.execution
            status = ran.execution.status if ran.execution is not None else "running"
            return ("ran", ran.source, status, tuple(repr(output) for output in ran.outputs))


def _told(item: Item | None) -> str:
    match item:
        case None:
            return "(it had ended)"
        case TimelineMessage():
            return item.text
        case Called():
            arguments = json.dumps(dict(item.call.arguments), ensure_ascii=False, default=str)
            return f"{item.call.name} {arguments} · {item.call.status}"
        case Wrote():
            return item.cell.source
        case Ran():
            status = item.execution.execution.status if item.execution.execution else "running"
            return f"{item.execution.source}\n· {status}"


TITLE = "A browser of recorded runs. The list is kept below."
ANY = "any status"
PAGES = ("Answer", "Cells", "Messages", "All of it")
HINT = "<small>Choose one run to look into it, two to compare them (Ctrl and click).</small>"


class RunsBrowser:
    """The widget and what it does.

    Args:
        shell: Where it is shown.
        runs: The runs it knows, the newest first.
        record: Reads a run.

    Raises:
        SetupError: Widgets cannot be shown here.
    """

    def __init__(
        self, shell: Any, runs: Sequence[RunSummary], record: Callable[[str], RunRecord]
    ) -> None:
        widgets = widget_library()
        self._widgets = widgets
        self._frame = runs_frame(runs)
        self._runs = runs
        self._record = record
        statuses = sorted(set(self._frame["status"]))
        self._words = widgets.Text(placeholder="Words in the prompt, model or id")
        self._status = widgets.Dropdown(options=[ANY, *statuses], description="Status")
        self._order = widgets.Dropdown(options=list(ORDERS), description="Order")
        self._chosen = widgets.SelectMultiple(rows=8, layout={"width": "auto"})
        self._table = widgets.HTML()
        self._detail = widgets.VBox([widgets.HTML(HINT)])
        for control in (self._words, self._status, self._order):
            control.observe(self._narrow, "value")
        self._chosen.observe(self._look, "value")
        controls = widgets.HBox([self._words, self._status, self._order])
        overview = widgets.Accordion([self._table], titles=("Table",), selected_index=None)
        self._widget = widgets.VBox([controls, self._chosen, overview, self._detail])
        self._display = WidgetDisplay(shell, self._widget, TITLE)
        self._narrow(None)

    def show(self) -> None:
        """Show it, with the list as text and as a table for the saved file."""
        count = "1 run" if len(self._runs) == 1 else f"{len(self._runs)} runs"
        self._display.show(repr(list_runs(self._runs)), folded_html(count, table_html(self._frame)))

    def close(self) -> None:
        """Take it away; the list stays as text."""
        close_widget(self._widget)
        self._display.close()

    def _narrow(self, _: object) -> None:
        status = "" if self._status.value == ANY else self._status.value
        shown = narrowed(self._frame, self._words.value, status, self._order.value)
        self._table.value = table_html(shown)
        before = self._chosen.value
        rows = zip(shown["run"], shown["status"], shown["model"], shown["prompt"], strict=True)
        options = [
            (f"{run} · {status} · {model} · {text}", run) for run, status, model, text in rows
        ]
        self._chosen.options = options
        known = {run for _, run in options}
        self._chosen.value = tuple(run for run in before if run in known)

    def _look(self, _: object) -> None:
        before = self._detail.children
        try:
            detail = self._drawn(self._chosen.value)
        except CellwrightError as error:  # such as a run that was deleted meanwhile
            detail = self._widgets.HTML(f"<p>{as_html(str(error))}</p>")
        self._detail.children = (detail,)
        for widget in before:
            close_widget(widget)

    def _drawn(self, chosen: Sequence[str]) -> Any:
        if len(chosen) == 1:
            return self._pages(self._record(chosen[0]))
        if len(chosen) == 2:
            compared = compare_runs(*(self._record(run) for run in chosen))
            return self._widgets.HTML(comparison_html(compared))
        return self._widgets.HTML(HINT)

    def _pages(self, record: RunRecord) -> Any:
        drawn = (answer_html, cells_html, messages_html, run_html)
        pages = [self._widgets.HTML(draw(record)) for draw in drawn]
        return self._widgets.Tab(pages, titles=PAGES)


def comparison_html(comparison: RunComparison) -> str:
    """The figures of both runs and the first step in which they differ."""
    body = "".join(
        f"<tr><th>{row.name}</th><td>{as_html(row.first)}</td><td>{as_html(row.second)}</td></tr>"
        for row in comparison.rows
    )
    table = f"<table>{body}</table>"
    difference = comparison.difference
    if difference is None:
        return f"{table}<p>Every step is the same.</p>"
    columns = "".join(
        f"<td><pre>{as_html(text)}</pre></td>" for text in (difference.first, difference.second)
    )
    words = f"They first differ in step {comparison.step} ({as_html(difference.name)}):"
    return f"{table}<p>{words}</p><table><tr>{columns}</tr></table>"
