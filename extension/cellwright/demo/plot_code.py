"""The matplotlib code the demo model writes: a title, named axes, nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from cellwright.demo.columns import Column
from cellwright.demo.matching import Group, Query
from cellwright.demo.pandas_code import pick, query_code, quoted

BAR_LIMIT = 20


@dataclass(frozen=True)
class Chart:
    """What is drawn, and of what."""

    kind: Literal["line", "bar", "hist", "scatter"]
    query: Query
    title: str
    table: str = ""
    """The variable of the table that is drawn; none for single values."""


def chart_code(frame: str, chart: Chart) -> str:
    """Compute what a chart shows, print it and draw it."""
    query = chart.query
    if chart.kind == "hist" and query.measure is not None:
        computed, drawn = _histogram(frame, query.measure)
    elif chart.kind == "scatter" and query.measure is not None and query.second is not None:
        computed, drawn = _scatter(frame, query.measure, query.second)
    else:
        computed = query_code(frame, query, chart.table, for_plot=True)
        drawn = [*_draw_table(chart), _titles(chart, query.by[0].label, _value_title(query))]
    lines = [
        "import matplotlib.pyplot as plt",
        "",
        computed,
        "",
        "figure, axes = plt.subplots(figsize=(8, 4))",
        *drawn,
        "figure.tight_layout()",
    ]
    titled = "\n".join(lines)
    return titled.replace("{title}", chart.title.replace('"', "'"))


def _histogram(frame: str, measure: Column) -> tuple[str, list[str]]:
    place = pick(frame, measure)
    computed = f'print({place}.describe().to_csv(header=["value"], index_label="statistic"))'
    return computed, [
        f'axes.hist({place}.dropna(), bins=30, edgecolor="white")',
        f'axes.set(title="{{title}}", xlabel={_title(str(measure.name))}, ylabel="Rows")',
    ]


def _scatter(frame: str, measure: Column, second: Column) -> tuple[str, list[str]]:
    first, other = pick(frame, second), pick(frame, measure)
    return f'print("correlation:", {first}.corr({other}))', [
        f"axes.scatter({first}, {other}, s=12, alpha=0.6)",
        f'axes.set(title="{{title}}", xlabel={_title(str(second.name))}, '
        f"ylabel={_title(str(measure.name))})",
    ]


def _draw_table(chart: Chart) -> list[str]:
    return _lines(chart) if chart.kind == "line" else _bars(chart)


def _bars(chart: Chart) -> list[str]:
    x, value = chart.query.by[0], quoted(_value_column(chart.query))
    if len(chart.query.by) == 1:
        many = x.column.unique > BAR_LIMIT and not x.bucket
        rows = f"{chart.table}.nlargest({BAR_LIMIT}, {value})" if many else chart.table
        return [f"{rows}.plot.bar(x={_key(x)}, y={value}, legend=False, ax=axes)"]
    return [_pivot(chart), "wide.plot.bar(ax=axes)"]


def _lines(chart: Chart) -> list[str]:
    """Lines drawn by matplotlib: pandas 2's own time axis warns under newer versions of it."""
    x, table = chart.query.by[0], chart.table
    value = quoted(_value_column(chart.query))
    slanted = ["figure.autofmt_xdate()"] if x.column.reads_as == "date" else []
    if len(chart.query.by) == 1:
        values = f"{table}[{_key(x)}]"
        values += ".dt.to_timestamp()" if x.bucket else "" if slanted else ".astype(str)"
        return [f'axes.plot({values}, {table}[{value}], marker="o")', *slanted]
    index = "wide.index" + ("" if slanted else ".astype(str)")
    return [
        _pivot(chart) + (".to_timestamp()" if x.bucket else ""),
        f'axes.plot({index}, wide, marker="o", label=wide.columns)',
        f"axes.legend(title={_key(chart.query.by[1])})",
        *slanted,
    ]


def _pivot(chart: Chart) -> str:
    first, second = map(_key, chart.query.by)
    columns = f"index={first}, columns={second}, values={quoted(_value_column(chart.query))}"
    return f"wide = {chart.table}.pivot(\n    {columns}\n)"


def _titles(chart: Chart, x: str, y: str) -> str:
    return f'axes.set(title="{{title}}", xlabel={_title(x)}, ylabel={quoted(y)})'


def _value_column(query: Query) -> str:
    return "count" if query.measure is None else query.measure.name


def _value_title(query: Query) -> str:
    if query.measure is None:
        return "Number of rows"
    return f"{query.function.capitalize()} of {query.measure.name}"


def _key(group: Group) -> str:
    return quoted(group.bucket or group.column.name)


def _title(name: str) -> str:
    return quoted(name.replace("_", " ").capitalize() if name.islower() else name)
