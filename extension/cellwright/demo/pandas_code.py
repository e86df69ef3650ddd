"""The pandas and matplotlib code the demo model writes: short, and shown to people."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, Literal

from cellwright.demo.columns import Column, TableColumns, cleaning_code, date_format
from cellwright.demo.matching import Group, Query
from cellwright.demo.steps import Steps, run_code
from cellwright.demo.transcript import labelled
from cellwright.demo.wishes import Bucket

PERIODS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h"}
SHOWN_ROWS = 30
READERS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "tsv": ("read_csv", {"sep": "\t"}),
    "xlsx": ("read_excel", {}),
    "xls": ("read_excel", {}),
    "json": ("read_json", {}),
    "jsonl": ("read_json", {"lines": True}),
    "ndjson": ("read_json", {"lines": True}),
    "parquet": ("read_parquet", {}),
}


def identifier(text: str, fallback: str = "data") -> str:
    """``text`` as a variable name that hides no builtin."""
    name = re.sub(r"\W+", "_", text).strip("_").lower()
    if not name or name[0].isdigit():
        name = f"{fallback}_{name}".rstrip("_")
    return f"{name}_{fallback}" if keyword.iskeyword(name) or hasattr(builtins, name) else name


def is_delimited(path: str) -> bool:
    """Whether a file is read as lines of separated values, as every unknown kind is."""
    return READERS.get(_ending(path), ("read_csv", {}))[0] == "read_csv"


def reader_options(path: str) -> dict[str, Any]:
    """What the reader of this kind of file is told."""
    return dict(READERS.get(_ending(path), ("read_csv", {}))[1])


def load_code(path: str, name: str, options: Mapping[str, Any]) -> str:
    """Read a file into a variable and look at it."""
    reader = READERS.get(_ending(path), ("read_csv", {}))[0]
    arguments = ", ".join([quoted(path), *(f"{k}={quoted(v)}" for k, v in options.items())])
    read = f"import pandas as pd\n\n{name} = pd.{reader}({arguments})\n"
    return read + overview_code(name, with_import=False)


def overview_code(name: str, *, with_import: bool = True) -> str:
    """Print each column's type, gaps, number of values and examples, one JSON object a line."""
    code = f"""\
print(len({name}), "rows")
print(
    pd.DataFrame({{
        "column": {name}.columns,
        "dtype": {name}.dtypes.astype(str).to_list(),
        "missing": {name}.isna().sum().to_list(),
        "unique": {name}.nunique().to_list(),
        "examples": [{name}[c].dropna().head(3).astype(str).str[:40].to_list() for c in {name}],
    }}).to_json(orient="records", lines=True, force_ascii=False)
)
{name}.head()"""
    return f"import pandas as pd\n\n{code}" if with_import else code


def dates_code(name: str, columns: Iterable[Column], second: str | None = None) -> str:
    """Turn text into dates.

    Args:
        name: The frame.
        columns: Columns of text that look like dates.
        second: None to be strict; a second format to accept, empty for any.
    """
    lines = []
    for column in columns:
        place, form = pick(name, column), quoted(date_format(column.examples))
        if second is None:
            lines.append(f"{place} = pd.to_datetime({place}, format={form})")
            continue
        raw = f"raw_{identifier(str(column.name))}"
        lines.append(f"{raw} = {place}")
        if second:
            lines += [
                f'{place} = pd.to_datetime({raw}, format={form}, errors="coerce").fillna(',
                f'    pd.to_datetime({raw}, format={quoted(second)}, errors="coerce")',
                ")",
            ]
        else:
            lines.append(f'{place} = pd.to_datetime({raw}, format="mixed", errors="coerce")')
        lines += _unread(place, raw, column)
    return "\n".join(lines)


def numbers_code(name: str, columns: Iterable[Column], culprit: str | None = None) -> str:
    """Turn text into numbers.

    Args:
        name: The frame.
        columns: Columns of text that look like numbers.
        culprit: None to be strict; the text that could not be read, to be tolerant.
    """
    lines = []
    for column in columns:
        place = pick(name, column)
        if culprit is None:
            lines.append(f"{place} = {place}.astype(float)")
            continue
        raw = f"raw_{identifier(str(column.name))}"
        bare = cleaning_code([*column.examples, culprit])
        lines += [
            f"{raw} = {place}",
            f"{place} = pd.to_numeric(",
            f'    {raw}.astype(str){bare}, errors="coerce"',
            ")",
        ]
        lines += _unread(place, raw, column)
    return "\n".join(lines)


def missing_code(name: str, columns: Sequence[Column] | None = None) -> str:
    """Print how many values are missing, by column."""
    chosen = "" if columns is None else f"[[{', '.join(quoted(c.name) for c in columns)}]]"
    return f"""\
print(
    {name}{chosen}
    .isna()
    .sum()
    .to_csv(header=["missing"], index_label="column")
)"""


def query_code(name: str, query: Query, result: str, *, for_plot: bool = False) -> str:
    """Compute a query into ``result`` and print it as CSV.

    Args:
        name: The frame.
        query: What to compute; it has a group.
        result: The variable the table goes to.
        for_plot: Keep the groups in order, and print the lowest and the highest row only.
    """
    groups = [*query.by, *([query.subject] if query.subject else [])]
    start = _cut_dates(name, groups)
    chain = [*_summed(query, groups), *([] if for_plot else _ordered(query))]
    chain = [start, *chain] if start != name else [f"{name}{chain[0]}", *chain[1:]]
    lines = [f"{result} = (", *(f"    {line}" for line in chain), ")"]
    if not for_plot:
        return "\n".join([*lines, f"print({result}.head({SHOWN_ROWS}).to_csv(index=False))"])
    shown = [f".sort_values({_value_key(query)})", ".dropna()", ".iloc[[0, -1]]"]
    chain = [result, *shown, ".to_csv(index=False)"]
    return "\n".join([*lines, "print(", *(f"    {line}" for line in chain), ")"])


def table_name(query: Query) -> str:
    """A variable name that says what the table holds."""
    groups = [*([query.subject] if query.subject else []), *query.by]
    words = [query.value_label, *(["by", *(group.label for group in groups)] if groups else [])]
    name = identifier("_".join(words), "result")
    return name if name.isascii() and len(name) <= 40 else "result"


def pick(name: str, column: Column) -> str:
    """The code that takes one column of a frame."""
    return f"{name}[{quoted(column.name)}]"


def _ending(path: str) -> str:
    return path.rpartition(".")[2].lower()


def quoted(value: Any) -> str:
    """A literal in double quotes where it is text, as people write it."""
    text = repr(value)
    if isinstance(value, str) and text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


def _unread(place: str, raw: str, column: Column) -> list[str]:
    return [
        "print(",
        f"    {quoted(f'{column.name} not read:')},",
        f"    {raw}[{place}.isna()].dropna().unique().tolist()[:5],",
        ")",
    ]


def _cut_dates(name: str, groups: Sequence[Group]) -> str:
    cut = []
    for group in groups:
        if group.bucket:
            naive = ".dt.tz_localize(None)" if _has_zone(group.column) else ""
            period = f'.dt.to_period("{PERIODS[group.bucket]}")'
            cut.append(f"{group.bucket}={pick(name, group.column)}{naive}{period}")
    return f"{name}.assign({', '.join(cut)})" if cut else name


def _has_zone(column: Column) -> bool:
    return ", " in column.dtype or date_format(column.examples).endswith("%z")


def _summed(query: Query, groups: Sequence[Group]) -> list[str]:
    keys = [group.bucket or group.column.name for group in groups]
    by = quoted(keys[0]) if len(keys) == 1 else f"[{', '.join(map(quoted, keys))}]"
    observed = ", observed=True" if any(g.column.dtype == "category" for g in groups) else ""
    start = f".groupby({by}, as_index=False{observed})"
    if query.measure is None:
        return [start, ".size()", '.rename(columns={"size": "count"})']
    return [f"{start}[{quoted(query.measure.name)}]", f".{query.function}()"]


def _value_key(query: Query) -> str:
    return quoted("count" if query.measure is None else query.measure.name)


def _ordered(query: Query) -> list[str]:
    value = _value_key(query)
    ascending = str(query.lowest)
    if query.subject is None:
        in_time = any(g.bucket or g.column.reads_as == "date" for g in query.by)
        return [] if in_time else [f".sort_values({value}, ascending=False, ignore_index=True)"]
    best_first = f".sort_values({value}, ascending={ascending}, ignore_index=True)"
    if not query.by:
        return [best_first, *([f".head({query.limit})"] if query.limit > 1 else [])]
    keys = [group.bucket or group.column.name for group in query.by]
    by = quoted(keys[0]) if len(keys) == 1 else f"[{', '.join(map(quoted, keys))}]"
    again = ", ".join([*map(quoted, keys), value])
    order = ", ".join([*["True"] * len(keys), ascending])
    return [
        best_first,
        f".groupby({by})",
        f".head({query.limit})",
        f".sort_values([{again}], ascending=[{order}], ignore_index=True)",
    ]


# The matplotlib code the demo model writes: a title, named axes, nothing else.


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


# Dates cut to units of time that suit how far they reach.


FEW_DATES = 12
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def cut_dates(frame: TableColumns, query: Query) -> Steps[Query]:
    """The query with a unit of time for each date that has none; asks the kernel for the range."""
    cut = []
    for group in query.by:
        column = group.column
        if group.bucket or column.reads_as != "date" or 0 < column.unique <= FEW_DATES:
            cut.append(group)
        else:
            cut.append(Group(column, (yield from _bucket(frame, column))))
    return replace(query, by=tuple(cut))


def _bucket(frame: TableColumns, column: Column) -> Steps[Bucket]:
    place = pick(frame.name, column)
    code = f'print("from:", {place}.min())\nprint("to:", {place}.max())'
    done = yield from run_code(f"I look how far `{column.name}` reaches.", code)
    first, last = _day(labelled(done.text, "from")), _day(labelled(done.text, "to"))
    if first is None or last is None:
        return "month"
    days = (last - first).days
    limits: tuple[tuple[int, Bucket], ...] = ((4000, "year"), (70, "month"), (3, "day"))
    return next((bucket for limit, bucket in limits if days >= limit), "hour")


def _day(text: str) -> date | None:
    found = DAY.search(text)
    return date(*map(int, found.groups())) if found else None
