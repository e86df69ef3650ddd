"""The cells the demo model writes: pandas and matplotlib, as a person would write them."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.demo.columns import Column, TableColumns, cleaning_code, date_format
from cellwright.demo.lexicon import in_chinese, is_chinese, say
from cellwright.demo.query import Aggregate, Filter, Group, PartOfText, Query, UnclearError

PERIODS = {"year": "Y", "quarter": "Q", "month": "M", "week": "W", "day": "D", "hour": "h"}
IN_WEEK_ORDER = """\
.astype("category").cat.set_categories(
        ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
    )"""
"""The names of days as classes, which keeps them in the order of a week."""
DATE_PARTS = {
    "year": "year",
    "month_of_year": "month",
    "quarter_of_year": "quarter",
    "day_of_week": "dayofweek",
}
CHINESE_FONTS = (
    "Hiragino Sans GB",
    "Microsoft YaHei",
    "Noto Sans CJK SC",
    "SimHei",
    "WenQuanYi Micro Hei",
)
SHOWN_ROWS = 30
WHOLE_ROWS = 5
BAR_LIMIT = 20
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


def quoted(value: Any) -> str:
    """A literal in double quotes where it is text, as people write it."""
    text = repr(value)
    if isinstance(value, str) and text.startswith("'") and '"' not in text:
        return f'"{text[1:-1]}"'
    return text


def pick(name: str, column: Column) -> str:
    """The code that takes one column of a frame."""
    return f"{name}[{quoted(column.name)}]"


def reader_of(path: str) -> tuple[str, dict[str, Any]]:
    """The pandas function for this kind of file, and what it is told."""
    reader, options = READERS.get(path.rpartition(".")[2].lower(), ("read_csv", {}))
    return reader, dict(options)


def load_code(path: str, name: str, options: Mapping[str, Any]) -> str:
    """Read a file into a variable and look at it."""
    arguments = ", ".join([quoted(path), *(f"{k}={quoted(v)}" for k, v in options.items())])
    return f"import pandas as pd\n\n{name} = pd.{reader_of(path)[0]}({arguments})"


def look_code(name: str, as_text: str = "") -> str:
    """Show a table's columns, and the most frequent values of those that are not measured.

    Args:
        name: The table.
        as_text: ``.astype(str)`` where values cannot be counted as they are.
    """
    others = f'{name}.select_dtypes(exclude=["float", "datetime", "datetimetz"]){as_text}'
    return f"""\
{name}.info()
{{
    column: values.value_counts().head(12 if values.nunique() < 13 else 5).to_dict()
    for column, values in {others}.items()
}}"""


def find_code(name: str, columns: Sequence[Column], words: Sequence[str]) -> str:
    """Show which values of columns hold one of some words, or are one of two capitals."""
    whole = [f"^{word}$" if re.fullmatch("[A-Z]{2}", word) else re.escape(word) for word in words]
    pattern = quoted("|".join(whole))
    names = ", ".join(quoted(column.name) for column in columns)
    return f"""\
{{
    column: values[values.str.contains({pattern}, case=False, na=False)].unique().tolist()
    for column, values in {name}[[{names}]].items()
}}"""


def dates_code(name: str, columns: Iterable[Column], second: str | None = None) -> str:
    """Turn text into dates.

    Args:
        name: The frame.
        columns: Columns of text that look like dates.
        second: None to be strict; a second format to accept, empty for any.
    """
    lines = []
    for column in columns:
        place, form = pick(name, column), quoted(date_format(column.first))
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
        lines.append(_unread(place, raw, column))
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
        bare = cleaning_code([*column.first, culprit])
        lines += [
            f"{raw} = {place}",
            f'{place} = pd.to_numeric({raw}.astype(str){bare}, errors="coerce")',
            _unread(place, raw, column),
        ]
    return "\n".join(lines)


def missing_code(name: str, columns: Sequence[Column]) -> str:
    """Show how many values are missing, by column."""
    chosen = ", ".join(quoted(column.name) for column in columns)
    return f"{name}[[{chosen}]].isna().sum()"


def _unread(place: str, raw: str, column: Column) -> str:
    label = quoted(f"{column.name} not read:")
    return f"print({label}, {raw}[{place}.isna()].dropna().unique().tolist()[:5])"


# Rows.


def plain(value: Any) -> str:
    """A value as code; whole numbers without a point."""
    if isinstance(value, float) and value == int(value):
        return str(int(value))
    return quoted(value)


def condition(frame: str, chosen: Filter) -> str:
    """The code of one condition."""
    place, value, sign = pick(frame, chosen.column), chosen.value, chosen.sign
    some = f" & {place}.notna()" if chosen.column.missing else ""
    if sign in ("missing", "present"):
        return f"{place}.{'isna' if sign == 'missing' else 'notna'}()"
    if isinstance(value, Column):
        both = some + (f" & {pick(frame, value)}.notna()" if value.missing else "")
        return f"({place} {sign} {pick(frame, value)}){both if sign == '!=' else ''}"
    if chosen.column.reads_as == "date":
        return _date_condition(place, sign, value)
    if isinstance(value, PartOfText):
        way = "startswith({}" if value.at_start else "contains({}, case=False, regex=False"
        found = f"{place}.str.{way.format(quoted(value.word))}, na=False)"
        return found if sign == "==" else f"~{found}{some}"
    if isinstance(value, Aggregate):
        return f"({place} {sign} {place}.{called(value.function)})"
    if sign == "between":
        return f"{place}.between({plain(value[0])}, {plain(value[1])})"
    if sign in ("in", "not in"):
        found = f"{place}.isin([{', '.join(map(quoted, value))}])"
        return found if sign == "in" else f"~{found}{some}"
    if isinstance(value, bool):
        return f"{place}.eq({value != (sign == '!=')})"
    return f"({place} {sign} {plain(value)}){some if sign == '!=' else ''}"


def _date_condition(place: str, sign: str, value: Any) -> str:
    part, _, compare = sign.partition(" ")
    compare = compare or "=="
    if part == "quarter":
        year, quarter = value.split("Q")
        return f"({place}.dt.year == {year}) & ({place}.dt.quarter == {quarter})"
    if value == "weekend":
        return f"({place}.dt.dayofweek >= 5)"
    if isinstance(value, tuple):
        cut = DATE_PARTS.get(part, 'strftime("%Y-%m")')
        return f"{place}.dt.{cut}.isin({list(value)})"
    if part in DATE_PARTS:
        return f"({place}.dt.{DATE_PARTS[part]} {compare} {value})"
    if part == "month":
        return f'({place}.dt.strftime("%Y-%m") {compare} "{value}")'
    return f'({place}.dt.normalize() {compare} "{value}")'


def conditions(frame: str, filters: Sequence[Filter]) -> list[str]:
    """The code of several conditions, each safe beside an ``&``."""
    found = [condition(frame, each) for each in filters]
    if len(found) == 1:
        only = found[0]
        return [only[1:-1] if only.startswith("(") and ") " not in only else only]
    return [f"({c})" if ") & " in c and not c.startswith("((") else c for c in found]


def rows_of(frame: str, filters: Sequence[Filter], name: str = "picked") -> tuple[str, str]:
    """The name of the rows that count, and the line that picks them."""
    if not filters:
        return frame, ""
    found = conditions(frame, filters)
    if len(found) == 1:
        return name, f"{name} = {frame}[{found[0]}]\n"
    joined = "\n    & ".join(found)
    return name, f"{name} = {frame}[\n    {joined}\n]\n"


# Cells, by task.


def query_code(frame: str, query: Query, result: str, shown: Sequence[Column]) -> str:
    """The cell that answers a question.

    Args:
        frame: The table.
        query: The question.
        result: The variable for what is found.
        shown: Columns to show where whole rows are found.
    """
    rows, first = rows_of(frame, query.base if query.task == "share" else query.filters)
    rows, dated = _with_buckets(rows, [*query.by, *([query.subject] if query.subject else [])])
    code = first + dated + WRITERS[query.task](rows, query, result)
    if query.task in ("extreme", "rows", "sorted", "outliers"):
        if query.whole_rows:  # below each other, as all columns are too wide side by side
            return f"{code}\n{result}.head({WHOLE_ROWS}).T"
        names = ", ".join(quoted(column.name) for column in shown)
        return f"{code}\n{result}[[{names}]].head({SHOWN_ROWS})"
    return code


def strongest_code(frame: str, columns: Sequence[Column]) -> str:
    """Which two columns of numbers go together most."""
    names = ", ".join(quoted(column.name) for column in columns)
    return (
        f"correlations = {frame}[[{names}]].corr().stack().dropna()\n"
        "one, other = (correlations.index.get_level_values(level) for level in (0, 1))\n"
        "correlations[one < other].sort_values(key=abs).tail(1)"
    )


def unique_code(frame: str, query: Query) -> str:
    """Whether each value of the subject has one row only."""
    assert query.subject is not None
    rows, first = rows_of(frame, query.filters)
    return f"{first}{pick(rows, query.subject.column)}.is_unique"


def _number(rows: str, query: Query, result: str) -> str:
    if len(query.measures) * len(query.functions) == 1:
        call = called(query.functions[0])
        if call == "sum()" and query.filters:
            call = "sum(min_count=1)"  # the sum of no rows is none, not zero
        return f"{result} = {pick(rows, query.measures[0])}.{call}\nprint({result})"
    functions = ", ".join(map(quoted, query.functions))
    if len(query.measures) == 1 and not any("(" in f for f in query.functions):
        code = f"{result} = {pick(rows, query.measures[0])}.agg([{functions}])\n"
        gap = f'print({result}["max"] - {result}["min"])\n' if query.difference else ""
        return f"{code}{gap}{result}"
    if len(query.measures) == 1 and all("(" in f for f in query.functions):
        shares = ", ".join(f[9:-1] for f in query.functions)
        return f"{result} = {pick(rows, query.measures[0])}.quantile([{shares}])\n{result}"
    if any("(" in f for f in query.functions):
        raise UnclearError(list(query.functions), "one_function")
    names = ", ".join(quoted(column.name) for column in query.measures)
    return f"{result} = {rows}[[{names}]].agg([{functions}])\n{result}"


def called(function: str) -> str:
    """The call of a method; a quantile has its argument already."""
    return function if function.endswith(")") else f"{function}()"


def _count(rows: str, query: Query, result: str) -> str:
    if query.by:
        return _groups(rows, query, result)
    return f"{result} = len({rows})\nprint({result})"


def _distinct(rows: str, query: Query, result: str) -> str:
    column = query.measures[0]
    if query.by:
        grouped = f"{_grouped(rows, query.by)}[{quoted(column.name)}]"
        return f"{result} = {grouped}.nunique().reset_index()\n{result}"
    code = f"{result} = {pick(rows, column)}.nunique()\nprint({result})"
    return f"{code}\nprint({pick(rows, column)}.count())" if query.rule == "named" else code


def _values(rows: str, query: Query, result: str) -> str:
    counted = f"{pick(rows, query.measures[0])}.value_counts().reset_index()"
    return f"{result} = {counted}\nprint(len({result}))\n{result}"


def _duplicates(rows: str, query: Query, result: str) -> str:
    return f"{result} = {rows}.duplicated().sum()\nprint({result})"


def _missing(rows: str, query: Query, result: str) -> str:
    if query.rule == "complete":
        return f"{result} = {rows}.dropna()\nprint(len({result}))\n{result}.head()"
    if query.rule == "rows":
        return (
            f"{result} = {rows}[{rows}.isna().any(axis=1)]\nprint(len({result}))\n{result}.head()"
        )
    names = ", ".join(quoted(column.name) for column in query.measures)
    gaps = f"{rows}[[{names}]].isna()" if names else f"{rows}.isna()"
    if len(query.measures) == 1:
        gaps = f"{pick(rows, query.measures[0])}.isna()"
    share = query.rule == "share"
    counted = f"{gaps}.mean() * 100" if share else f"{gaps}.sum()"
    if len(query.measures) == 1:
        return f"{result} = {counted}\nprint({result})"
    return f"{result} = {f'({counted})' if share else counted}\n{result}"


def _share(rows: str, query: Query, result: str) -> str:
    """A share in percent, of rows or of a sum, of one part or of each."""
    measure = query.measure
    if not query.filters:
        if measure is None:
            code = (
                f"{rows}.value_counts({_keys(query.by)}, normalize=True, dropna=False)"
                '.mul(100).rename("percent").reset_index()'
            )
        else:
            sums = f"{_grouped(rows, query.by)}[{quoted(measure.name)}].sum()"
            code = f'({sums} / {pick(rows, measure)}.sum() * 100).rename("percent").reset_index()'
        return f"{result} = {code}\n{result}"
    first = f"matches = {' & '.join(conditions(rows, query.filters))}\n"
    if measure is not None:
        if query.by:
            raise UnclearError([g.label for g in query.by])
        return (
            first + f"{result} = {rows}.loc[matches, {quoted(measure.name)}].sum() / "
            f"{pick(rows, measure)}.sum() * 100\nprint({result})"
        )
    if query.by:
        keys = [f"{rows}[{_key(group)}]" for group in query.by]
        grouped = keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"
        code = f'matches.groupby({grouped}).mean().mul(100).rename("percent").reset_index()'
        if query.order:
            low = query.order == "low"
            code += f'\n{result} = {result}.sort_values("percent", ascending={low})'
        return f"{first}{result} = {code}\n{result}"
    return (
        f'{first}{result} = matches.mean() * 100\nprint(matches.sum(), "of", len(matches))\n'
        f"print({result})"
    )


def _extreme(rows: str, query: Query, result: str) -> str:
    assert query.measure is not None
    method = "nsmallest" if query.lowest else "nlargest"
    place = pick(rows, query.measure)
    if query.by:
        end = quoted("min" if query.lowest else "max")
        best = f"{_grouped(rows, query.by)}[{quoted(query.measure.name)}].transform({end})"
        kept = f"{rows}[{place} == best].sort_values({_keys(query.by)})"
        return f"best = {best}\n{result} = {kept}"
    if query.nth:
        return f"{result} = {rows}[{place} == {place}.{method}({query.limit}).iloc[-1]]"
    return f'{result} = {rows}.{method}({query.limit}, {quoted(query.measure.name)}, keep="all")'


def _per(rows: str, query: Query, result: str) -> str:
    sizes = f"{_grouped(rows, query.by)}.size()"
    return f"{result} = {sizes}.{called(query.functions[0])}\nprint({result})"


def _change(rows: str, query: Query, result: str) -> str:
    first, last = (each.value for each in sorted(query.base, key=lambda each: str(each.value)))
    year, name = query.base[0].column, quoted(query.measures[0].name)
    ends = f"{rows}[{pick(rows, year)}.isin([{first}, {last}])]"
    if query.functions:
        by_year = f"{ends}.groupby({quoted(year.name)})[{name}].{called(query.functions[0])}"
    else:
        by_year = f"{ends}.set_index({quoted(year.name)})[{name}]"
    change = f"by_year[{last}] - by_year[{first}]"
    if query.rule == "share":
        change = f"({change}) / by_year[{first}] * 100"
    return (
        f"by_year = {by_year}\n{result} = {change}\n"
        f"print(by_year[{first}], by_year[{last}])\nprint({result})"
    )


def _agree(rows: str, query: Query, result: str) -> str:
    assert query.measure is not None
    assert query.subject is not None
    end = "min" if query.lowest else "max"
    ways = ", ".join(map(quoted, [end, "mean", *(["sum"] if query.rule == "most" else [])]))
    chain = [
        f"{_grouped(rows, [query.subject])}[{quoted(query.measure.name)}]",
        f".agg([{ways}])",
        f".sort_values({quoted(end)}, ascending={query.lowest})",
        ".reset_index()",
    ]
    return f"{_chained(result, chain)}\n{result}.head({SHOWN_ROWS})"


def _rows(rows: str, query: Query, result: str) -> str:
    return f"{result} = {rows}\nprint(len({result}))"


def _lookup(rows: str, query: Query, result: str) -> str:
    filtered = [f.column for f in query.filters if f.sign == "in"]
    columns = list(dict.fromkeys([*filtered, *query.measures]))
    names = ", ".join(quoted(column.name) for column in columns)
    return f"{result} = {rows}[[{names}]]\n{result}"


def _head(rows: str, query: Query, result: str) -> str:
    return f"{result} = {rows}.{'tail' if query.lowest else 'head'}({query.limit})\n{result}"


def _sorted(rows: str, query: Query, result: str) -> str:
    low = query.order == "low"
    return (
        f"{result} = {rows}.sort_values({quoted(query.measures[0].name)}, ascending={low}, "
        "ignore_index=True)"
    )


def _best(rows: str, query: Query, result: str) -> str:
    groups = [*query.by, *([query.subject] if query.subject else [])]
    value = _value_name(query)
    chain = [
        *_summed(rows, query, groups),
        f".sort_values({quoted(value)}, ascending={query.lowest}, ignore_index=True)",
    ]
    if query.by:
        keys = [_key(group) for group in query.by]
        order = ", ".join([*keys, quoted(value)])
        ways = ", ".join([*["True"] * len(keys), str(query.lowest)])
        chain += [
            f".groupby({_keys(query.by)})",
            f".head({query.limit})",
            f".sort_values([{order}], ascending=[{ways}], ignore_index=True)",
        ]
    elif query.limit > 1 and not query.nth:
        chain.append(f".head({query.limit})")
    return f"{_chained(result, chain)}\n{result}.head({max(10, query.limit)})"


def _groups(rows: str, query: Query, result: str) -> str:
    chain = _summed(rows, query, query.by)
    in_order = any(g.bucket or g.column.reads_as != "text" for g in query.by) or len(query.by) > 1
    single = len(query.measures) < 2 and len(query.functions) < 2
    if single and (query.order or not in_order):
        low = query.order == "low"
        chain.append(
            f".sort_values({quoted(_value_name(query))}, ascending={low}, ignore_index=True)"
        )
    elif query.order:
        raise UnclearError([query.order], "one_function")
    code = f"{_chained(result, chain)}\n"
    value = pick_name(result, _value_name(query))
    if query.having is not None:
        code += f"{result} = {result}[{conditions(result, [query.having])[0]}]\n"
        code += f"print(len({result}))\n"
    elif query.difference:
        code += f"print({value}.max() - {value}.min())\n"
    elif _adds_up(query):
        code += f"print({value}.sum())\n"
    return f"{code}{result}"


def pick_name(name: str, column: str) -> str:
    """The code that takes a column of a result."""
    return f"{name}[{quoted(column)}]"


def _adds_up(query: Query) -> bool:
    """Whether the groups are values of one list, whose sum is asked for as well."""
    listed = any(f.sign == "in" for f in query.filters)
    return listed and len(query.by) == 1 and query.functions in ((), ("sum",))


def _correlation(rows: str, query: Query, result: str) -> str:
    first, second = query.measures
    if query.rule == "spearman":
        names = f"{quoted(first.name)}, {quoted(second.name)}"
        ranked = f'{rows}[[{names}]].corr(method="spearman")'
        return f"{result} = {ranked}.loc[{names}]\nprint({result})"
    return f"{result} = {pick(rows, first)}.corr({pick(rows, second)})\nprint({result})"


def _outliers(rows: str, query: Query, result: str) -> str:
    assert query.measure is not None
    place = pick(rows, query.measure)
    if query.rule == "z":
        return (
            f"distance = ({place} - {place}.mean()).abs() / {place}.std()\n"
            f"{result} = {rows}[distance > 3]\nprint(len({result}))"
        )
    return (
        f"low, high = {place}.quantile([0.25, 0.75])\nreach = 1.5 * (high - low)\n"
        f"{result} = {rows}[({place} < low - reach) | ({place} > high + reach)]\n"
        f"print(low - reach, high + reach)\nprint(len({result}))"
    )


WRITERS: Mapping[str, Callable[[str, Query, str], str]] = {
    "number": _number,
    "count": _count,
    "distinct": _distinct,
    "values": _values,
    "duplicates": _duplicates,
    "missing": _missing,
    "share": _share,
    "extreme": _extreme,
    "rows": _rows,
    "lookup": _lookup,
    "agree": _agree,
    "per": _per,
    "change": _change,
    "sorted": _sorted,
    "head": _head,
    "best": _best,
    "groups": _groups,
    "correlation": _correlation,
    "outliers": _outliers,
}


def _key(group: Group) -> str:
    return quoted(group.bucket or group.column.name)


def _keys(groups: Sequence[Group]) -> str:
    keys = [_key(group) for group in groups]
    return keys[0] if len(keys) == 1 else f"[{', '.join(keys)}]"


def _with_buckets(rows: str, groups: Sequence[Group]) -> tuple[str, str]:
    """The name of the rows with dates cut to units of time, and the line that cuts them."""
    cut = []
    for group in groups:
        place = f"{pick(rows, group.column)}{_naive(group.column)}.dt"
        if group.bucket == "weekday":
            cut.append(f"weekday={place}.day_name(){IN_WEEK_ORDER}")
        elif group.bucket == "hour_of_day":
            cut.append(f"hour_of_day={place}.hour")
        elif group.bucket == "month_of_year":
            cut.append(f"month_of_year={place}.month")
        elif group.bucket:
            cut.append(f'{group.bucket}={place}.to_period("{PERIODS[group.bucket]}")')
    if not cut:
        return rows, ""
    columns = ", ".join(cut)
    if IN_WEEK_ORDER in columns:
        columns = "".join(f"\n    {column}," for column in cut) + "\n"
    return "dated", f"dated = {rows}.assign({columns})\n"


def _naive(column: Column) -> str:
    return (
        ".dt.tz_localize(None)"
        if ", " in column.dtype or date_format(column.first).endswith("%z")
        else ""
    )


def _grouped(rows: str, groups: Sequence[Group]) -> str:
    classes = any(g.bucket == "weekday" or g.column.dtype == "category" for g in groups)
    observed = ", observed=True" if classes else ""
    return f"{rows}.groupby({_keys(groups)}{observed})"


def _summed(rows: str, query: Query, groups: Sequence[Group]) -> list[str]:
    grouped = _grouped(rows, groups)
    if not query.measures:
        return [grouped, '.size().reset_index(name="count")']
    if len(query.measures) > 1 or len(query.functions) > 1:
        names = ", ".join(quoted(column.name) for column in query.measures)
        if len(query.functions) == 1:
            return [f"{grouped}[[{names}]]", f".{called(query.functions[0])}.reset_index()"]
        functions = ", ".join(map(quoted, query.functions))
        one = quoted(query.measures[0].name)
        return [f"{grouped}[{one}]", f".agg([{functions}]).reset_index()"]
    return [
        f"{grouped}[{quoted(query.measures[0].name)}]",
        f".{called(query.functions[0])}.reset_index()",
    ]


def _value_name(query: Query) -> str:
    return str(query.measure.name) if query.measure is not None else "count"


def _chained(result: str, chain: Sequence[str]) -> str:
    if len("".join(chain)) < 70:
        return f"{result} = {''.join(chain)}"
    return "\n".join([f"{result} = (", *(f"    {line}" for line in chain), ")"])


def describe_code(frame: TableColumns, query: Query, result: str) -> str:
    """Sum up the table, or some of its columns."""
    names = ", ".join(quoted(column.name) for column in query.measures)
    place = f"{frame.name}[[{names}]]" if names else frame.name
    only = "" if names or frame.of_kind("number") or frame.of_kind("date") else 'include="all"'
    return f"{result} = {place}.describe({only})\n{result}"


def clean_code(frame: TableColumns, query: Query, result: str) -> str:
    """Fill the gaps of a copy."""
    gaps = [column for column in frame.columns if column.missing]
    lines = [f"{result} = {frame.name}.copy()"]
    for column in gaps:
        place = pick(result, column)
        if column.reads_as == "number":
            lines.append(f"{place} = {place}.fillna({place}.median())")
        elif column.reads_as == "text":
            as_text = ".astype(object)" if column.dtype in ("category", "bool", "boolean") else ""
            lines.append(f'{place} = {place}{as_text}.fillna("unknown")')
    if dates := [quoted(c.name) for c in gaps if c.reads_as == "date"]:
        lines.append(f"{result} = {result}.dropna(subset=[{', '.join(dates)}])")
    return "\n".join(
        [*lines, f"print({result}.isna().sum().sum())", f"print(len({result}))", f"{result}.head()"]
    )


# Charts: a title, named axes, nothing else.


@dataclass(frozen=True)
class Chart:
    """What is drawn of which rows."""

    query: Query
    rows: str
    """The code of the rows that it shows."""
    result: str
    """The variable for the values that are drawn."""

    @property
    def title(self) -> str:
        """What the chart shows."""
        query = self.query
        names = [str(column.name) for column in query.measures]
        if query.chart == "scatter":
            return say("title_scatter", first=words(names[0]), second=names[1])
        value = words(", ".join(names)) if names else say("title_rows")
        if query.chart == "hist":
            value = say("title_hist", value=names[0])
        if query.by:
            groups = say("title_and").join(map(self.name_of, query.by))
            value = say("title_by", value=value, groups=groups)
        if query.by and query.limit > 1 and query.chart != "hist":
            value += say("title_lowest" if query.lowest else "title_highest", many=query.limit)
        return value

    def name_of(self, group: Group) -> str:
        """What a group is called; a unit of time in the question's language."""
        return say(f"unit_{group.bucket}") if group.bucket else group.label

    @property
    def value_name(self) -> str:
        """What the axis of the values says."""
        query = self.query
        if query.measure is None:
            return say("title_rows")
        names = ", ".join(str(column.name) for column in query.measures)
        if not query.functions:
            return words(names)
        function = query.functions[0]
        if in_chinese() and "(" not in function:
            function = say(f"function_{function}")
        return say("title_of", function=function.capitalize(), value=names)

    def titles(self, x: str, y: str) -> str:
        """The code that names the chart and its axes."""
        title = self.title.replace('"', "'")
        return f"axes.set(title={quoted(title)}, xlabel={quoted(x)}, ylabel={quoted(y)})"


def chart_code(frame: str, query: Query, result: str) -> str:
    """Compute what a chart shows and draw it."""
    rows, first = rows_of(frame, query.filters)
    rows, dated = _with_buckets(rows, query.by)
    first += dated
    computed, drawn = CHARTS[query.chart](Chart(query, rows, result))
    lines = [
        "import matplotlib.pyplot as plt",
        *_font_lines(query),
        "",
        *filter(None, [f"{first}{computed}".rstrip("\n"), ""]),
    ]
    if first or computed:
        lines.append("")
    lines += ["figure, axes = plt.subplots(figsize=(8, 4))", *drawn, "figure.tight_layout()"]
    return "\n".join(lines)


def _font_lines(query: Query) -> list[str]:
    """Matplotlib's own font has no Chinese characters; it takes them from a font named after it."""
    names = [str(column.name) for column in query.measures]
    for group in query.by:
        names += [group.label, *map(str, group.column.counts)]
    if not in_chinese() and not any(map(is_chinese, names)):
        return []
    return [
        "from matplotlib import font_manager",
        "",
        f"fonts = {{{', '.join(map(quoted, CHINESE_FONTS))}}}",
        "installed = sorted(fonts.intersection(font_manager.get_font_names()))",
        'plt.rcParams["font.family"] = ["sans-serif", *installed]',
    ]


def words(name: str) -> str:
    """A name as it stands in a title."""
    return (name[:1].upper() + name[1:]).replace("_", " ")


def _hist(chart: Chart) -> tuple[str, list[str]]:
    rows, name = chart.rows, chart.query.measures[0].name
    titles = chart.titles(words(str(name)), say("title_rows_axis"))
    if not chart.query.by:
        return "", [
            f'axes.hist({rows}[{quoted(name)}].dropna(), bins=30, edgecolor="white")',
            titles,
        ]
    return "", [
        f"for label, part in {_grouped(rows, chart.query.by)}:",
        f"    axes.hist(part[{quoted(name)}].dropna(), bins=30, alpha=0.6, label=label)",
        "axes.legend()",
        titles,
    ]


def _scatter(chart: Chart) -> tuple[str, list[str]]:
    rows, by = chart.rows, chart.query.by
    second, first = chart.query.measures
    titles = chart.titles(words(str(first.name)), words(str(second.name)))
    if by:
        return "", [
            f"for label, part in {_grouped(rows, [by[0]])}:",
            f"    axes.scatter({pick('part', first)}, {pick('part', second)}, s=12, label=label)",
            "axes.legend()",
            titles,
        ]
    return "", [f"axes.scatter({pick(rows, first)}, {pick(rows, second)}, s=12, alpha=0.6)", titles]


def _box(chart: Chart) -> tuple[str, list[str]]:
    rows, by, measure = chart.rows, chart.query.by, chart.query.measures[0]
    label = words(str(measure.name))
    if not by:
        return "", [f"axes.boxplot({pick(rows, measure)}.dropna())", chart.titles("", label)]
    parts = f"{{str(k): v.dropna() for k, v in {_grouped(rows, by)}[{quoted(measure.name)}]}}"
    return f"parts = {parts}", [
        "axes.boxplot(list(parts.values()), tick_labels=list(parts))",
        chart.titles(by[0].label, label),
    ]


def _table(chart: Chart) -> str:
    query, rows, result = chart.query, chart.rows, chart.result
    if query.measure is not None and not query.functions:  # a row for each
        return f"{result} = {rows}[[{_key(query.by[0])}, {quoted(query.measure.name)}]]"
    return _chained(result, _summed(rows, query, query.by))


def _wide(query: Query, result: str) -> str:
    first, second = (_key(group) for group in query.by)
    return (
        f"wide = {result}.pivot(index={first}, columns={second}, "
        f"values={quoted(_value_name(query))})"
    )


def _bars(chart: Chart) -> tuple[str, list[str]]:
    query, result = chart.query, chart.result
    x, value = query.by[0], quoted(_value_name(query))
    titles = chart.titles(words(chart.name_of(x)), chart.value_name)
    if query.chart == "pie":
        parts = f"{result}.set_index({_key(x)})[{value}]"
        drawn = f'{parts}.plot.pie(ax=axes, autopct="%.0f%%")'
        return _table(chart), [drawn, chart.titles("", "")]
    if len(query.by) == 2:
        return _table(chart), [_wide(query, result), "wide.plot.bar(ax=axes)", titles]
    many = x.column.reads_as == "text" and not x.column.is_whole
    limit = query.limit if query.limit > 1 else BAR_LIMIT if many else 0
    order = "nsmallest" if query.lowest else "nlargest"
    drawn = f"{result}.{order}({limit}, {value})" if limit else result
    if query.order and not limit:
        drawn = f"{result}.sort_values({value}, ascending={query.order == 'low'})"
    return _table(chart), [
        f"{drawn}.plot.bar(x={_key(x)}, y={value}, legend=False, ax=axes)",
        titles,
    ]


def _lines(chart: Chart) -> tuple[str, list[str]]:
    """Lines drawn by matplotlib: pandas 2's own time axis warns under newer versions of it."""
    query, result = chart.query, chart.result
    x, is_period = query.by[0], query.by[0].bucket in PERIODS
    names = [quoted(column.name) for column in query.measures] or [quoted("count")]
    drawn, label = [], ""
    at, lines = f"{result}[{_key(x)}]", f"{result}[{names[0]}]"
    if len(query.by) == 2:
        drawn = [_wide(query, result) + (".to_timestamp()" if is_period else "")]
        at, lines, label = "wide.index", "wide", ", label=wide.columns"
    elif is_period:
        at += ".dt.to_timestamp()"
    if len(names) > 1:
        lines, label = f"{result}[[{', '.join(names)}]]", f", label=[{', '.join(names)}]"
    at += ".astype(str)" if x.column.reads_as == "text" else ""
    drawn.append(f'axes.plot({at}, {lines}, marker="o"{label})')
    drawn += [f"axes.legend({f'title={_key(query.by[1])}' if query.by[1:] else ''})"] * bool(label)
    drawn += ["figure.autofmt_xdate()"] * (x.column.reads_as == "date")
    titles = chart.titles(words(chart.name_of(x)), chart.value_name)
    return _table(chart), [*drawn, titles]


CHARTS: Mapping[str, Callable[[Chart], tuple[str, list[str]]]] = {
    "hist": _hist,
    "scatter": _scatter,
    "box": _box,
    "bar": _bars,
    "line": _lines,
    "pie": _bars,
}
