"""The pandas and matplotlib code the demo model writes: short, and shown to people."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cellwright.demo.columns import Column, cleaning_code, date_format
from cellwright.demo.matching import Group, Query

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
