"""Lines over time, bars by group, histograms and scatter plots."""

from __future__ import annotations

from dataclasses import replace

from cellwright.demo.matching import Query, read_query
from cellwright.demo.pandas_code import table_name
from cellwright.demo.plot_code import Chart, chart_code
from cellwright.demo.reading import labelled, table
from cellwright.demo.steps import Done, Steps, install, run_code
from cellwright.demo.timing import cut_dates
from cellwright.demo.work import Work, listing, no_result, number

LINES_LIMIT = 12


def draw_plot(work: Work) -> Steps[str]:
    """Draw what is asked for, and say what it shows."""
    query = _query(work)
    if query is None:
        return (
            f"I could not tell what to plot. `{work.frame.name}` has {listing(work.frame.columns)}."
        )
    if query.by:
        query = yield from cut_dates(work.frame, query)
    chart = _chart(work, query)
    code = chart_code(work.frame.name, chart)
    text = f"I draw a plot: {chart.title[0].lower()}{chart.title[1:]}."
    done = yield from run_code(text, code)
    if done.error is not None and done.error.name == "ModuleNotFoundError":
        if not (yield from install("matplotlib", work.tools)):
            return "There is no plot: matplotlib is not installed here."
        done = yield from run_code("With it installed, I draw the plot again.", code)
    return _answer(chart, done)


def _query(work: Work) -> Query | None:
    """What to draw: the question's own groups, time first, at most two of them."""
    query = read_query(work.wish, work.frame)
    if query is None:
        return _first_guess(work)
    groups = [*query.by, *([query.subject] if query.subject else [])]
    groups.sort(key=lambda group: group.column.reads_as != "date")
    kept = groups[:1] + [g for g in groups[1:2] if g.column.unique <= LINES_LIMIT]
    if not kept and query.measure is None:
        return None
    return replace(query, by=tuple(kept), subject=None, limit=1)


def _first_guess(work: Work) -> Query | None:
    """Nothing is named: the first number that measures something."""
    numbers = [c for c in work.frame.of_kind("number") if not c.is_identifier]
    return Query(numbers[0], "mean") if numbers else None


def _chart(work: Work, query: Query) -> Chart:
    measure = "" if query.measure is None else str(query.measure.name)
    if not query.by:
        if query.second is not None and work.wish.chart != "hist":
            return Chart("scatter", query, f"{_words(measure)} by {query.second.name}")
        return Chart("hist", query, f"Distribution of {measure}")
    value = "Number of rows" if query.measure is None else _words(measure)
    title = f"{value} by {' and '.join(group.label for group in query.by)}"
    in_time = query.by[0].column.reads_as == "date"
    wanted = work.wish.chart
    kind = "line" if wanted == "line" or (in_time and wanted != "bar") else "bar"
    name = work.target_of("plot") or table_name(query)
    name = f"{name}_table" if name == work.frame.name else name
    return Chart("line" if kind == "line" else "bar", query, title, name)


def _answer(chart: Chart, done: Done) -> str:
    if done.error is not None:
        return no_result(done.error)
    query = chart.query
    if chart.kind == "scatter":
        value = number(labelled(done.text, "correlation"))
        return f"The plot shows {chart.title}; their correlation is **{value}**."
    if chart.kind == "hist":
        found = {row[0]: number(row[1]) for row in table(done.text, ["statistic", "value"])}
        parts = [f"{name} {found[key]}" for name, key in _STATISTICS if key in found]
        return f"The plot shows the distribution of {chart.title[16:]}: {', '.join(parts)}."
    rows = table(done.text, [*(group.label for group in query.by), query.value_label])
    if len(rows) != 2:
        return no_result(None)
    low, high = rows
    return (
        f"The plot shows {chart.title[0].lower()}{chart.title[1:]} "
        f"({'counted' if query.measure is None else query.function}): highest at {_place(high)}, "
        f"lowest at {_place(low)}. Its table is in `{chart.table}`."
    )


_STATISTICS = (("median", "50%"), ("mean", "mean"), ("from", "min"), ("to", "max"))


def _place(row: list[str]) -> str:
    return f"{', '.join(row[:-1])} (**{number(row[-1])}**)"


def _words(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]
