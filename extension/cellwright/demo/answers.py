"""What is said of a cell's result: one sentence; tables and plots stand below their cell."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from cellwright.demo.cells import (
    chart_code,
    clean_code,
    describe_code,
    identifier,
    pick,
    query_code,
    title_of,
    unique_code,
)
from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.query import Filter, Group, Query, UnclearError
from cellwright.demo.steps import Steps, install, run_code
from cellwright.demo.transcript import CellFailure, frame_rows, labelled, scalars, series

FUNCTIONS = {
    "sum": ("sum", "总和"),
    "mean": ("mean", "平均值"),
    "median": ("median", "中位数"),
    "std": ("standard deviation", "标准差"),
    "var": ("variance", "方差"),
    "max": ("maximum", "最大值"),
    "min": ("minimum", "最小值"),
    "nunique": ("number of different values", "不同值个数"),
}
SIGNS = {
    "==": ("is", "为"),
    "!=": ("is not", "不为"),
    "in": ("is one of", "为"),
    "not in": ("is none of", "不为"),
    "between": ("is between", "介于"),
    "missing": ("is missing", "缺失"),
    "present": ("is not missing", "不缺失"),
    ">": ("is more than", "大于"),
    ">=": ("is at least", "不小于"),
    "<": ("is less than", "小于"),
    "<=": ("is at most", "不大于"),
}
DATE_SIGNS = {
    "": ("is in", "在"),
    ">": ("is after", "晚于"),
    ">=": ("is from", "不早于"),
    "<": ("is before", "早于"),
    "<=": ("is up to", "不晚于"),
}
DATE_PARTS = {
    "month_of_year": ("month", "月份"),
    "quarter_of_year": ("quarter", "季度"),
    "day_of_week": ("weekday (Monday is 0)", "星期（星期一为 0）"),
}
RULES = {
    "iqr": ("the 1.5 × IQR rule", "1.5 倍四分位距规则"),
    "z": ("the rule of 3 standard deviations from the mean", "距平均值超过 3 个标准差的规则"),
}
CHART_NAMES = {
    "scatter": ("a scatter plot", "散点图"),
    "line": ("lines", "折线图"),
    "bar": ("bars", "柱状图"),
    "hist": ("a histogram", "直方图"),
    "box": ("a box plot", "箱线图"),
}
QUANTILE = re.compile(r"^(0\.\d+)\s+(\S+)$", re.M)
YEAR = re.compile(r"\b(\d{4})(?:-\d\d|Q\d)")
PART_OF = re.compile(r"(\d+) of (\d+)")
WIDTH = 70
FEW = 8
LISTED_ROWS = 12
SHOWN_COLUMNS = 30


@dataclass(frozen=True)
class Work:
    """A query, the table it is about, the tools there are, and how to answer."""

    query: Query
    frame: TableColumns
    tools: frozenset[str]
    name: str
    """The variable for what is found."""
    chinese: bool = False

    def say(self, english: str, chinese: str) -> str:
        """The words in the question's language."""
        return chinese if self.chinese else english


def number(text: str) -> str:
    """A number as people read it; any other text as it is."""
    try:
        value = float(text)
    except ValueError:
        return text.removesuffix(" 00:00:00")
    if value != value or value in (float("inf"), float("-inf")):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        # pandas shows seven digits of a large number.
        about = "≈ " if "e+" in text and abs(value) >= 1e7 else ""
        return f"{about}{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.2f}"
    return f"{value:.4f}".rstrip("0") if abs(value) >= 1 else f"{value:.4g}"


def listing(columns: Iterable[Column]) -> str:
    """Column names in code style."""
    return ", ".join(f"`{column.name}`" for column in columns)


def answer(work: Work) -> Steps[str]:
    """Run a query's cell and say what it found."""
    query = work.query
    if query.task == "columns":
        return _columns(work)
    if query.task == "agree":
        query = yield from _by_rows_or_groups(work)
        work = replace(work, query=query)
    if query.task == "chart":
        return (yield from _draw(work))
    writers = {"describe": describe_code, "clean": clean_code}
    if query.task in writers:
        code = writers[query.task](work.frame, query, work.name)
    else:
        code = query_code(work.frame.name, query, work.name, _labels(work))
    cut = _units_in_doubt(query)
    if query.subject in cut:
        place = pick(work.frame.name, cut[0].column)
        code = f'print("dates:", {place}.min(), "to", {place}.max())\n{code}'
    done = yield from run_code(work.say("I compute that.", "我来计算。"), code)
    said = "" if done.error else TELLERS[query.task](work, done.text)
    if not said:
        return no_result(work, done.error)
    if len(set(YEAR.findall(labelled(done.text, "dates")))) > 1:
        raise UnclearError([group.bucket for group in cut], "years")
    if cut and len(set(YEAR.findall(done.text))) > 1:
        said += work.say(
            " The dates cover several years; each period is that of one year.",
            "日期跨越多年；每个时段都是某一年的。",
        )
    if query.task in ("describe", "clean"):
        return said
    return said + _stays(work) + _gaps(work) + _few_rows(work, done.text)


def _few_rows(work: Work, text: str) -> str:
    """A short table of groups once more: who reads the answer alone does not see its cell."""
    query = work.query
    is_one = len(query.functions) < 2 and len(query.measures) < 2 and not query.difference
    if query.task not in ("groups", "count") or not query.by or not is_one:
        return ""
    value = "count" if query.measure is None else str(query.measure.name)
    header = [*(group.label for group in query.by), value]
    rows = frame_rows(text, header)
    if not 0 < len(rows) <= LISTED_ROWS:
        return ""
    lines = [header, ["---"] * len(header), *([*row[:-1], number(row[-1])] for row in rows)]
    return "\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _by_rows_or_groups(work: Work) -> Steps[Query]:
    """See whether each value of the subject has one row: then rows are compared, else groups."""
    query = work.query
    assert query.subject is not None
    name = query.subject.label
    if query.subject.bucket:
        return query
    said = work.say(f"Does each `{name}` have one row only?", f"每个 `{name}` 是否只有一行？")
    done = yield from run_code(said, unique_code(work.frame.name, query))
    if re.search(r"^(?:np\.)?True\b", done.text, re.M):
        return replace(query, task="extreme")
    if query.limit > 1:
        raise UnclearError([str(c.name) for c in query.measures], "name_function", query.measures)
    return query


def _units_in_doubt(query: Query) -> list[Group]:
    """Units that could mean one of each year or all years together."""
    best = query.subject and query.task == "best" and query.functions not in (("max",), ("min",))
    groups = [*query.by, *([query.subject] if query.subject and best else [])]
    in_year = any(f.sign in ("year", "month", "day", "quarter") for f in query.filters)
    if in_year or any(group.bucket == "year" for group in groups):
        return []
    return [group for group in groups if group.bucket in ("quarter", "month", "week")]


def no_result(work: Work, error: CellFailure | None) -> str:
    """What is said when a cell did not bring what it was to bring."""
    why = f": {error.name}: {error.message}" if error is not None else ""
    return (
        work.say("The cell did not give me a result I can read", "这个单元格没有给出我能读懂的结果")
        + why
        + "."
    )


def result_name(query: Query, frame: TableColumns) -> str:
    """A variable name that says what is found."""
    if query.task in ("clean", "describe"):
        return identifier(f"{frame.name}_{'clean' if query.task == 'clean' else 'summary'}")
    if query.task not in ("groups", "best", "chart"):
        return "result"
    groups = [*([query.subject] if query.subject else []), *query.by]
    by = ["by", *(g.label for g in groups)] if groups else []
    parts = [str(query.measure.name) if query.measure else "count", *by]
    name = identifier("_".join(parts), "result")
    name = name if name.isascii() and len(name) <= 40 else "result"
    return f"{name}_table" if name == frame.name else name


# Parts of sentences.


def _function(work: Work, name: str) -> str:
    if name in FUNCTIONS:
        return work.say(*FUNCTIONS[name])
    percent = f"{100 * float(name[9:-1]):g}"
    return work.say(f"{percent}th percentile", f"{percent}% 分位数")


def _what(work: Work) -> str:
    query = work.query
    if query.measure is None:
        return work.say("number of rows", "行数")
    functions = ", ".join(_function(work, name) for name in query.functions)
    return work.say(
        f"{functions} of {listing(query.measures)}", f"{listing(query.measures)} 的{functions}"
    )


def _where(work: Work, filters: Sequence[Filter] | None = None) -> str:
    """Which rows were taken, in brackets."""
    filters = work.query.filters if filters is None else filters
    if not filters:
        return ""
    joined = _conditions(work, filters)
    return work.say(f" (rows where {joined})", f"（{joined} 的行）")


def _conditions(work: Work, filters: Sequence[Filter]) -> str:
    place = int(work.chinese)
    parts = []
    for each in filters:
        value = each.value if isinstance(each.value, tuple) else (each.value,)
        between = work.say(" and " if each.sign == "between" else ", ", "、")
        part, _, sign = each.sign.partition(" ")
        verb = SIGNS.get(each.sign, DATE_SIGNS.get(sign, ("", "")))[place]
        unit = DATE_PARTS.get(part, ("", ""))[place] if each.value != "weekend" else ""
        shown = between.join(
            number(str(v))
            if isinstance(v, float) and not each.column.is_year
            else f"{v:g}"
            if isinstance(v, float)
            else str(v)
            for v in value
            if v is not None
        )
        parts.append(" ".join(filter(None, [f"`{each.column.name}`", verb, unit, shown])))
    return work.say(" and ", "且").join(parts)


def _stays(work: Work) -> str:
    return work.say(f" It is in `{work.name}`.", f"结果在 `{work.name}` 中。")


def _gaps(work: Work) -> str:
    query = work.query
    if query.task in ("missing", "duplicates", "describe", "clean"):
        return ""
    negative = [f.column for f in query.filters if f.sign in ("!=", "not in")]
    used = [*query.measures, *(group.column for group in query.by), *negative]
    named = ", ".join(f"`{c.name}` {c.missing:,}" for c in dict.fromkeys(used) if c.missing)
    return named and work.say(
        f" Missing values are left out (in the whole table: {named}).",
        f"缺失值未计入（全表：{named}）。",
    )


def _one(text: str) -> str:
    found = scalars(text)
    return number(found[-1]) if found else ""


def _end(work: Work) -> str:
    """Which end of the order is meant: highest, 3rd lowest."""
    query = work.query
    nth = {2: "2nd ", 3: "3rd "}.get(query.limit, f"{query.limit}th ")
    place = work.say(nth, f"第{query.limit}") if query.nth else work.say("", "最")
    return place + work.say("lowest" if query.lowest else "highest", "低" if query.lowest else "高")


def _labels(work: Work) -> list[Column]:
    """The columns to show of rows: those the question is about, those that name a row, then others.

    As many as stand side by side, for what is cut cannot be read back.
    """
    query, columns = work.query, work.frame.columns
    others = sorted(columns, key=lambda c: (not c.is_key, c.reads_as == "number", c.is_whole))
    chosen: list[Column] = []
    room = WIDTH
    for column in dict.fromkeys([*query.columns, *others]):
        sizes = [len(str(column.name)), 10, *map(len, column.examples)]
        room -= 2 + min(max(sizes), 50)
        if room < 0 and len(chosen) >= len(query.columns):
            break
        chosen.append(column)
    return [column for column in columns if column in chosen]


# Sentences, by task.


def _tell_number(work: Work, text: str) -> str:
    query = work.query
    if len(query.measures) * len(query.functions) > 1:
        return _tell_numbers(work, text)
    value = _one(text)
    if query.measure is not None and query.measure.reads_as == "date":
        value = number(text.strip().split("\n")[0])
    if value in ("–", "NaT"):
        return work.say(
            f"There is no {_what(work)}: no value fits{_where(work)}.",
            f"没有{_what(work)}：没有符合条件的值{_where(work)}。",
        )
    return value and work.say(
        f"The {_what(work)} is **{value}**{_where(work)}.",
        f"{_what(work)}是 **{value}**{_where(work)}。",
    )


def _tell_numbers(work: Work, text: str) -> str:
    """Several functions, or one of several columns."""
    query = work.query
    if len(query.measures) > 1:
        return _tell_table(work, text)
    labels = {name[9:-1] if name.endswith(")") else name: name for name in query.functions}
    shown = series(text, list(labels)) or QUANTILE.findall(text)
    pairs = shown.items() if isinstance(shown, dict) else shown
    short = {label.rstrip("0"): name for label, name in labels.items()}
    found = {short[label.rstrip("0")]: number(value) for label, value in pairs}
    if not found:
        return ""
    if query.functions == ("min", "max"):
        low, high = found["min"], found["max"]
        return work.say(
            f"{listing(query.measures)} goes from **{low}** to **{high}**{_where(work)}.",
            f"{listing(query.measures)} 从 **{low}** 到 **{high}**{_where(work)}。",
        )
    parts = [f"{_function(work, name)} **{value}**" for name, value in found.items()]
    return f"{listing(query.measures)}: {', '.join(parts)}{_where(work)}."


def _tell_count(work: Work, text: str) -> str:
    if work.query.by:
        return _tell_groups(work, text)
    value = _one(text)
    return value and work.say(
        f"There are **{value}** rows{_where(work)}.", f"共有 **{value}** 行{_where(work)}。"
    )


def _tell_distinct(work: Work, text: str) -> str:
    if work.query.by:
        return _tell_table(work, text)
    value, column = _one(text), listing(work.query.measures)
    return value and work.say(
        f"{column} has **{value}** different values{_where(work)}.",
        f"{column} 有 **{value}** 个不同的值{_where(work)}。",
    )


def _tell_values(work: Work, text: str) -> str:
    column = listing(work.query.measures)
    value = _one(text)
    return value and work.say(
        f"{column} has **{value}** different values{_where(work)}; the table has them all.",
        f"{column} 有 **{value}** 个不同的值{_where(work)}，见表。",
    )


def _tell_duplicates(work: Work, text: str) -> str:
    value = _one(text)
    return value and work.say(
        f"**{value}** rows repeat an earlier row in every column{_where(work)}.",
        f"有 **{value}** 行与前面的行完全重复{_where(work)}。",
    )


def _tell_missing(work: Work, text: str) -> str:
    query = work.query
    unit = " %" if query.rule == "share" else ""
    value = _one(text)
    if query.rule == "rows":
        return value and work.say(
            f"**{value}** rows have at least one missing value{_where(work)}.",
            f"有 **{value}** 行至少有一个缺失值{_where(work)}。",
        )
    if len(query.measures) == 1:
        column = listing(query.measures)
        return value and work.say(
            f"**{value}{unit}** values are missing in {column}{_where(work)}.",
            f"{column} 中缺失 **{value}{unit}** 个值{_where(work)}。",
        )
    names = [str(c.name) for c in query.measures or work.frame.columns]
    found = series(text, sorted(names, key=len, reverse=True))
    if len(found) < len(names):
        return ""
    gaps = {name: float(value) for name, value in found.items() if float(value)}
    listed = ", ".join(
        f"`{n}` **{number(str(gaps[n]))}{unit}**" for n in sorted(gaps, key=lambda n: -gaps[n])
    )
    if not listed:
        return work.say("No value is missing.", "没有缺失值。")
    total = number(str(sum(gaps.values()) / (len(names) if unit else 1)))
    head = work.say(f"**{total}{unit}** values are missing", f"共缺失 **{total}{unit}** 个值")
    return f"{head}{_where(work)}{work.say(': ', '：')}{listed}{work.say('.', '。')}"


def _tell_share(work: Work, text: str) -> str:
    query = work.query
    rows = work.say("the rows", "行")
    whole = rows if not query.measures else work.say(
        f"the sum of {listing(query.measures)}", f"{listing(query.measures)} 总和"
    )  # fmt: skip
    whole += _where(work, query.base)
    if query.by:
        by = ", ".join(f"`{g.label}`" for g in query.by)
        part = _conditions(work, query.filters)
        part = part and work.say(f", rows where {part}", f"，{part} 的行")
        return work.say(
            f"The table has the percentage of {whole} in each {by}{part}.",
            f"表中是各 {by} 占{whole}的百分比{part}。",
        )
    value, part = _one(text), _conditions(work, query.filters)
    counts = None if query.measures else PART_OF.search(text)
    numbers = f" ({counts[1]} / {counts[2]})" if counts else ""
    verb = "comes from rows where" if query.measures else "are rows where"
    return value and work.say(
        f"**{value} %** of {whole}{numbers} {verb} {part}.",
        f"{part} 的行占{whole}的 **{value} %**{numbers}。",
    )


def _tell_extreme(work: Work, text: str) -> str:
    query, labels = work.query, _labels(work)
    header = [str(column.name) for column in labels]
    rows = frame_rows(text, header)
    if not rows:
        return ""
    end, column = _end(work), listing(query.measures)
    if query.limit > 1 and not query.nth:
        return work.say(
            f"The table has the {len(rows)} rows with the {end} {column}{_where(work)}.",
            f"表中是 {column} {end}的 {len(rows)} 行{_where(work)}。",
        )
    value = number(rows[0][header.index(str(query.measures[0].name))])
    keys = sorted((c for c in labels if c.is_key), key=lambda c: c.reads_as != "text")
    named = query.subject.column if query.subject else next(iter(keys), None)
    who = ""
    if named is not None and named in labels:
        place = header.index(str(named.name))
        who = ", ".join(dict.fromkeys(number(row[place]) for row in rows))
    return work.say(
        (f"**{who}** has the" if who else "The") + f" {end} {column}: **{value}**{_where(work)}.",
        f"{column} {end}的是" + (f" **{who}**：" if who else "：") + f"**{value}**{_where(work)}。",
    )


def _tell_rows(work: Work, text: str) -> str:
    count = next(iter(scalars(text)), "")
    return count and work.say(
        f"**{number(count)}** rows{_where(work)}; the table has the first of them.",
        f"共 **{number(count)}** 行{_where(work)}；表中是前几行。",
    )


def _tell_lookup(work: Work, text: str) -> str:
    """The values of the one row that is meant; of several values, a row each."""
    listed = [f for f in work.query.filters if f.sign == "in"]
    columns = list(dict.fromkeys([*(f.column for f in listed), *work.query.measures]))
    names = [str(column.name) for column in columns]
    rows = frame_rows(text, names)
    if "Empty DataFrame" in text:
        return work.say(f"No row fits{_where(work)}.", f"没有符合条件的行{_where(work)}。")
    if rows and len(rows) != (len(listed[0].value) if listed else 1):
        named = [str(c.name) for c in work.query.measures]
        raise UnclearError(named, "name_function", work.query.measures)
    parts = [
        ", ".join(f"`{n}`: **{number(v)}**" for n, v in zip(names, row, strict=True))
        for row in rows
    ]
    return f"{'; '.join(parts)}{_where(work)}." if parts else ""


def _tell_head(work: Work, text: str) -> str:
    which = work.say(
        "last" if work.query.lowest else "first", "最后" if work.query.lowest else "前"
    )
    many = work.query.limit
    return work.say(f"Here are the {which} {many} rows.", f"这是{which} {many} 行。")


def _tell_sorted(work: Work, text: str) -> str:
    low, column = work.query.order == "low", listing(work.query.measures)
    return work.say(
        f"The table is sorted by {column}, {'lowest' if low else 'highest'} first{_where(work)}.",
        f"表已按 {column} {'从低到高' if low else '从高到低'}排序{_where(work)}。",
    )


def _by(work: Work) -> str:
    return ", ".join(f"`{group.label}`" for group in work.query.by)


def _tell_table(work: Work, text: str) -> str:
    header = [g.label for g in work.query.by] or [str(c.name) for c in work.query.measures]
    if not all(name in text for name in header):
        return ""
    if not work.query.by:
        return f"{_what(work)}{_where(work)}{work.say(' are in the table.', '见表。')}".capitalize()
    what = _what(work) if work.query.functions or not work.query.measures else work.say(
        f"number of different values of {listing(work.query.measures)}",
        f"{listing(work.query.measures)} 的不同值个数",
    )  # fmt: skip
    return work.say(
        f"The table has the {what} by {_by(work)}{_where(work)}.",
        f"表中是按 {_by(work)} 的{what}{_where(work)}。",
    )


def _tell_groups(work: Work, text: str) -> str:
    query = work.query
    value = "count" if query.measure is None else str(query.measure.name)
    if len(query.functions) > 1 or len(query.measures) > 1:
        return _tell_table(work, text)
    rows = frame_rows(text, [*(group.label for group in query.by), value])
    told = _tell_table(work, text)
    if not told:
        return ""
    printed = _one(text)
    if query.difference and len(rows) == 2 and printed:
        (first, *_, more), (second, *_, less) = rows
        more, less = number(more), number(less)
        return told + work.say(
            f" **{first}** is higher than {second} by **{printed}** ({more} and {less}).",
            f"**{first}** 比 {second} 高 **{printed}**（{more} 与 {less}）。",
        )
    if printed:
        told += work.say(f" Together: **{printed}**.", f"合计 **{printed}**。")
    return told


def _tell_best(work: Work, text: str) -> str:
    query = work.query
    assert query.subject is not None
    value = "count" if query.measure is None else str(query.measure.name)
    rows = frame_rows(text, [*(group.label for group in query.by), query.subject.label, value])
    end, subject = _end(work), query.subject.label
    what = f"{_what(work)}{_where(work)}"
    if not rows:
        return ""
    if query.by:
        each = [f"{', '.join(row[:-2])} **{row[-2]}** ({number(row[-1])})" for row in rows]
        told = work.say(": ", "：") + "; ".join(each)
        told = told if len(rows) <= FEW else work.say(" (see the table)", "见表")
        return work.say(
            f"For each {_by(work)}, the `{subject}` with the {end} {what}{told}.",
            f"每个 {_by(work)} 中{what}{end}的 `{subject}`{told}。",
        )
    if query.limit > 1 and not query.nth:
        return work.say(
            f"The table has the {query.limit} `{subject}` with the {end} {what}.",
            f"表中是{what}{end}的 {query.limit} 个 `{subject}`。",
        )
    first = rows[query.limit - 1 if query.nth else 0]
    best = [row[0] for row in rows if row[-1] == first[-1]]
    named = ", ".join(f"**{name}**" for name in best)
    return work.say(
        f"{named} is the `{subject}` with the {end} {what}: **{number(first[-1])}**.",
        f"{what}{end}的 `{subject}` 是 {named}：**{number(first[-1])}**。",
    )


def _tell_agree(work: Work, text: str) -> str:
    """The group that is first by its extreme row and by its mean; where these differ, no answer."""
    query = work.query
    assert query.subject is not None
    end = "min" if query.lowest else "max"
    rows = frame_rows(text, [query.subject.label, end, "mean"])
    if not rows:
        return ""
    best, others = rows[0], [row for row in rows[1:] if row[1] == rows[0][1]]
    mean = (min if query.lowest else max)(float(row[2]) for row in rows)
    if float(best[2]) != mean or others:
        raise UnclearError([str(c.name) for c in query.measures], "name_function", query.measures)
    side, name = _end(work), listing(query.measures)
    row, middle = number(best[1]), number(best[2])
    return work.say(
        f"**{best[0]}** is the `{query.subject.label}` with the {side} {name}, by its {side} row "
        f"(**{row}**) and by its mean (**{middle}**){_where(work)}.",
        f"{name} {side}的 `{query.subject.label}` 是 **{best[0]}**：{side}的一行是 **{row}**，"
        f"平均值是 **{middle}**{_where(work)}。",
    )


def _tell_correlation(work: Work, text: str) -> str:
    first, second = (column.name for column in work.query.measures)
    value = _one(text)
    return value and work.say(
        f"The (Pearson) correlation of `{first}` and `{second}` is **{value}**{_where(work)}.",
        f"`{first}` 与 `{second}` 的（皮尔逊）相关系数是 **{value}**{_where(work)}。",
    )


def _tell_outliers(work: Work, text: str) -> str:
    rule, column = work.say(*RULES[work.query.rule]), listing(work.query.measures)
    value = _one(text)
    return value and work.say(
        f"By {rule}, {column} has **{value}** outliers{_where(work)}.",
        f"按{rule}，{column} 有 **{value}** 个异常值{_where(work)}。",
    )


def _columns(work: Work) -> str:
    """The names of the columns, which the look has shown."""
    frame = work.frame
    return work.say(
        f"`{frame.name}` has **{len(frame.columns)}** columns ({listing(frame.columns)}) and "
        f"{frame.rows:,} rows.",
        f"`{frame.name}` 有 **{len(frame.columns)}** 列（{listing(frame.columns)}）、"
        f"{frame.rows:,} 行。",
    )


def _draw(work: Work) -> Steps[str]:
    query = work.query
    code = chart_code(work.frame.name, query, work.name)
    title = title_of(query)
    done = yield from run_code(work.say(f"I draw a plot: {title}.", f"我来画图：{title}。"), code)
    if done.error is not None and done.error.name == "ModuleNotFoundError":
        if not (yield from install("matplotlib", work.tools)):
            return work.say(
                "There is no plot: matplotlib is not installed here.",
                "没有画图：这里没有安装 matplotlib。",
            )
        done = yield from run_code("With it installed, I draw the plot again.", code)
    if done.error is not None:
        return no_result(work, done.error)
    kind = work.say(*CHART_NAMES[query.chart])
    counted = (
        f" ({_function(work, query.functions[0])})" if query.functions and query.measures else ""
    )
    told = work.say(
        f"The plot shows {title}{counted} as {kind}{_where(work)}.",
        f"图中用{kind}展示 {title}{counted}{_where(work)}。",
    )
    return told + (_stays(work) if query.chart in ("bar", "line") and query.by else "")


def _tell_describe(work: Work, text: str) -> str:
    """What the table holds, column by column; the ranges of numbers are in its own table."""
    frame = work.frame
    if work.query.measures:
        named = listing(work.query.measures)
        return work.say(f"The table sums up {named}.", f"表中是 {named} 的概括。") + _stays(work)
    gaps = sum(column.missing for column in frame.columns)
    head = work.say(
        f"`{frame.name}` has **{frame.rows:,} rows** and **{len(frame.columns)} columns**; "
        f"{gaps:,} values are missing.",
        f"`{frame.name}` 有 **{frame.rows:,} 行**、**{len(frame.columns)} 列**；缺失 "
        f"{gaps:,} 个值。",
    )
    lines = [f"- `{c.name}`: {_holds(work, c)}" for c in frame.columns[:SHOWN_COLUMNS]]
    return "\n".join([head + _stays(work), "", *lines])


def _holds(work: Work, column: Column) -> str:
    kinds = {"number": ("numbers", "数值"), "date": ("dates", "日期"), "text": ("text", "文本")}
    parts = [work.say(*kinds[column.reads_as])]
    if column.is_key:
        parts.append(work.say("all different", "各不相同"))
    elif column.reads_as == "text" and column.counts:
        few = ", ".join(column.examples[:4])
        parts.append(few if column.is_whole and len(column.counts) < 5 else f"{few}, …")
    if column.missing:
        parts.append(work.say(f"{column.missing:,} missing", f"缺失 {column.missing:,}"))
    return "; ".join(parts)


def _tell_clean(work: Work, text: str) -> str:
    frame, name, left = work.frame, work.name, scalars(text)
    gaps = [column for column in frame.columns if column.missing]
    if len(left) < 2:
        return ""
    if not gaps:
        return work.say(
            f"Nothing is missing in `{frame.name}`; `{name}` is a copy of it.",
            f"`{frame.name}` 没有缺失值；`{name}` 是它的副本。",
        )
    how = {
        "number": ("filled with the median", "用中位数填充"),
        "date": ("rows dropped", "删除行"),
        "text": ("filled with 'unknown'", "用 'unknown' 填充"),
    }
    lines = [
        f"- `{c.name}`: {c.missing:,} {work.say('missing', '缺失')}, {work.say(*how[c.reads_as])}"
        for c in gaps
    ]
    head = work.say(
        f"`{name}` is the cleaned table: {number(left[1])} of {frame.rows:,} rows, "
        f"{number(left[0])} values missing. `{frame.name}` keeps its gaps.",
        f"`{name}` 是清理后的表：{number(left[1])}/{frame.rows:,} 行，缺失 {number(left[0])} 个值。"
        f"`{frame.name}` 保持不变。",
    )
    return "\n".join([head + _stays(work), "", *lines])


TELLERS: Mapping[str, Callable[[Work, str], str]] = {
    "number": _tell_number,
    "count": _tell_count,
    "distinct": _tell_distinct,
    "values": _tell_values,
    "duplicates": _tell_duplicates,
    "missing": _tell_missing,
    "share": _tell_share,
    "extreme": _tell_extreme,
    "rows": _tell_rows,
    "lookup": _tell_lookup,
    "head": _tell_head,
    "sorted": _tell_sorted,
    "best": _tell_best,
    "agree": _tell_agree,
    "groups": _tell_groups,
    "correlation": _tell_correlation,
    "outliers": _tell_outliers,
    "describe": _tell_describe,
    "clean": _tell_clean,
}
