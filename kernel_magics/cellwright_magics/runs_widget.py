"""A browser of recorded runs: found by words, one looked into, two compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cellwright.errors import CellwrightError
from cellwright.record.run_record import RunRecord
from cellwright.store.run_summaries import RunSummary
from cellwright_magics.reports import RunList
from cellwright_magics.run_comparison import Comparison, compare_runs
from cellwright_magics.run_view import (
    answer_html,
    as_html,
    cells_html,
    folded_html,
    messages_html,
    run_html,
)
from cellwright_magics.runs_frame import ORDERS, narrowed, runs_frame, table_html
from cellwright_magics.widget_display import WidgetDisplay
from cellwright_magics.widget_library import close_widget, widget_library

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
        self._display.show(repr(RunList(self._runs)), folded_html(count, table_html(self._frame)))

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


def comparison_html(comparison: Comparison) -> str:
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
