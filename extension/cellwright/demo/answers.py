"""Queries run as cells, and what they found in words, English or Chinese."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.demo.cells import (
    SHOWN_ROWS,
    chart_code,
    identifier,
    pick,
    query_code,
    quoted,
    shown_code,
    title_of,
)
from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.grammar import Filter, GrammarError, Group, Query
from cellwright.demo.steps import Done, Steps, install, run_code
from cellwright.demo.transcript import CellFailure, frame_rows, labelled, scalars, series

WORDS = {
    "sum": ("sum", "总和"),
    "mean": ("mean", "平均值"),
    "median": ("median", "中位数"),
    "std": ("standard deviation", "标准差"),
    "var": ("variance", "方差"),
    "max": ("maximum", "最大值"),
    "min": ("minimum", "最小值"),
}
PART_OF = re.compile(r"(\d+) of (\d+)")
SIGNS = {
    "==": ("is", "为"),
    "=": ("is", "为"),
    "year": ("is in", "在"),
    "month": ("is in", "在"),
    "month_of_year": ("is in month", "在月份"),
    "quarter_of_year": ("is in quarter", "在季度"),
    "day_of_week": ("is on weekday (Monday is 0)", "在星期（星期一为 0）"),
    "weekend": ("is on a", "在"),
    "day": ("is on", "为"),
    "!=": ("is not", "不为"),
    "in": ("is one of", "为"),
    "not in": ("is none of", "不为"),
    "between": ("is between", "介于"),
    ">": ("is more than", "大于"),
    ">=": ("is at least", "不小于"),
    "<": ("is less than", "小于"),
    "<=": ("is at most", "不大于"),
}
RULES = {
    "iqr": ("the 1.5 × IQR rule", "1.5 倍四分位距规则"),
    "z": ("the rule of 3 standard deviations from the mean", "距平均值超过 3 个标准差的规则"),
}
SHOWN_COLUMNS = 24
LABELS = 4


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
        return text
    if value != value or value in (float("inf"), float("-inf")):
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) >= 1000:
        return f"{value:,.2f}"
    return f"{value:.4f}".rstrip("0") if abs(value) >= 1 else f"{value:.4g}"


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    cells = ([text.replace("|", "\\|").replace("\n", " ") for text in line] for line in lines)
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def listing(columns: Iterable[Column]) -> str:
    """Column names in code style."""
    return ", ".join(f"`{column.name}`" for column in columns)


def answer(work: Work) -> Steps[str]:
    """Run a query's cell and say what it found."""
    query = work.query
    if query.task in OWN_CELLS:
        return (yield from OWN_CELLS[query.task](work))
    code = query_code(work.frame.name, query, work.name)
    if query.task in ("extreme", "rows", "head"):
        code = f"{code}\n{shown_code(work.name, _labels(work))}"
    cut = _units_in_doubt(query)
    if cut:
        years = f"{pick(work.frame.name, cut[0].column)}.dt.year.nunique()"
        code = f'print("years:", {years})\n{code}'
    done = yield from run_code(work.say("I compute that.", "我来计算。"), code)
    said = None if done.error else TELLERS[query.task](work, done.text)
    if cut and labelled(done.text, "years") not in ("1", ""):
        units = ", ".join(f"`{group.bucket}`" for group in cut)
        if query.subject in cut:
            raise GrammarError([group.bucket for group in cut], "years")
        said = said and said + work.say(
            f" The dates cover several years; each {units} is that of one year.",
            f"日期跨越多年；每个 {units} 都是某一年的。",
        )
    return said or no_result(work, done.error)


def _units_in_doubt(query: Query) -> list[Group]:
    """Units that could mean one of each year or all years together."""
    best = query.subject and query.task == "best" and query.functions not in (("max",), ("min",))
    groups = [*query.by, *([query.subject] if query.subject and best else [])]
    in_year = any(f.sign in ("year", "month", "day") for f in query.filters)
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


# What was found.


def _what(work: Work) -> str:
    query = work.query
    if query.measure is None:
        return work.say("number of rows", "行数")
    function = _function_words(query.functions[0])
    return work.say(
        f"{function[0]} of `{query.measure.name}`", f"`{query.measure.name}` 的{function[1]}"
    )


def _function_words(function: str) -> tuple[str, str]:
    """What a function is called, in both languages."""
    if function in WORDS:
        return WORDS[function]
    percent = f"{100 * float(function[9:-1]):g}"
    return f"{percent}th percentile", f"{percent}% 分位数"


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
        value = each.value
        if isinstance(value, (list, tuple)):
            value = work.say(" and " if each.sign == "between" else ", ", "、").join(
                map(str, value)
            )
        parts.append(f"`{each.column.name}` {SIGNS[each.sign][place]} {value}")
    return work.say(" and ", "且").join(parts)


def _stays(work: Work) -> str:
    return work.say(f" It is in `{work.name}`.", f"结果在 `{work.name}` 中。")


def _gaps(work: Work) -> str:
    negative = [f.column for f in work.query.filters if f.sign in ("!=", "not in")]
    grouped = [group.column for group in work.query.by]
    columns = [c for c in (*work.query.measures, *grouped, *negative) if c.missing]
    named = ", ".join(f"`{c.name}` {c.missing:,}" for c in columns)
    if not named:
        return ""
    return work.say(
        f" Missing values are left out (in the whole table: {named}).",
        f"缺失值未计入（全表：{named}）。",
    )


def _one(text: str) -> str:
    found = scalars(text)
    return number(found[-1]) if found else ""


def _tell_number(work: Work, text: str) -> str:
    query = work.query
    if len(query.measures) * len(query.functions) > 1:
        found = frame_rows_by_name(
            text, [str(column.name) for column in query.measures], query.functions
        )
        parts = [
            f"{work.say(*_function_words(f))} · `{c.name}`: **{number(found[f][place])}**"
            for f in query.functions
            if f in found
            for place, c in enumerate(query.measures)
        ]
        return f"{'; '.join(parts)}{_where(work)}.{_stays(work)}{_gaps(work)}" if parts else ""
    value = _one(text)
    if value == "–":
        return work.say(
            f"There is no {_what(work)}: no value fits{_where(work)}.",
            f"没有{_what(work)}：没有符合条件的值{_where(work)}。",
        )
    if not value:
        return ""
    return (
        work.say(
            f"The {_what(work)} is **{value}**{_where(work)}.",
            f"{_what(work)}是 **{value}**{_where(work)}。",
        )
        + _stays(work)
        + _gaps(work)
    )


def frame_rows_by_name(
    text: str, header: Sequence[str], names: Sequence[str]
) -> dict[str, list[str]]:
    """The rows of a shown DataFrame by the name at their start."""
    found = {}
    for line in text.splitlines():
        cells = line.split()
        if cells and cells[0] in names and len(cells) == len(header) + 1:
            found[cells[0]] = cells[1:]
    return found


def _tell_count(work: Work, text: str) -> str:
    value = _one(text)
    return value and work.say(
        f"There are **{value}** rows{_where(work)}.", f"共有 **{value}** 行{_where(work)}。"
    ) + _stays(work) + _gaps(work)


def _tell_distinct(work: Work, text: str) -> str:
    subject = work.query.subject
    column = subject.label if subject else work.query.measures[0].name
    if work.query.by:
        return _table(
            work,
            text,
            [*(g.label for g in work.query.by), str(column)],
            work.say(f"Different values of `{column}`", f"`{column}` 的不同值个数"),
        )
    value = _one(text)
    found = re.search(r"^\[(.*)\]$", text, re.M)
    few = value.isdigit() and int(value) <= SHOWN_ROWS and found is not None
    shown = f": {found[1]}" if few and found is not None else ""
    return value and work.say(
        f"`{column}` has **{value}** different values{_where(work)}{shown}.",
        f"`{column}` 有 **{value}** 个不同的值{_where(work)}{shown}。",
    ) + _stays(work)


def _tell_values(work: Work, text: str) -> str:
    column = str(work.query.measures[0].name)
    return _table(
        work, text, [column, "count"], work.say(f"The values of `{column}`", f"`{column}` 的取值")
    )


def _tell_duplicates(work: Work, text: str) -> str:
    value = _one(text)
    return value and work.say(
        f"**{value}** rows repeat an earlier row in every column{_where(work)}.",
        f"有 **{value}** 行与前面的行完全重复{_where(work)}。",
    ) + _stays(work)


def _tell_missing(work: Work, text: str) -> str:
    query = work.query
    unit = " %" if query.rule == "share" else ""
    if query.chart == "by_column" or len(query.measures) > 1:
        names = [str(c.name) for c in query.measures or work.frame.columns]
        found = series(text, sorted(names, key=len, reverse=True))
        shown = [
            f"`{name}`: **{number(found[name])}{unit}**"
            for name in sorted(found, key=lambda n: -float(found[n]))
            if float(found[name])
        ]
        if not found:
            return ""
        listed = ", ".join(shown) or work.say("none", "无")
        return work.say(
            f"Columns with missing values, the most first{_where(work)}: {listed}.",
            f"有缺失值的列，由多到少{_where(work)}：{listed}。",
        ) + _stays(work)
    value = _one(text)
    what = work.say("values", "个值")
    if query.chart == "rows":
        what = work.say("rows with at least one missing value", "行至少有一个缺失值")
    place = (
        work.say(f" in `{query.measures[0].name}`", f"`{query.measures[0].name}` 中")
        if query.measures
        else ""
    )
    if query.chart == "rows":
        return value and work.say(
            f"There are **{value}{unit}** {what}{_where(work)}.",
            f"有 **{value}{unit}** {what}{_where(work)}。",
        ) + _stays(work)
    return value and work.say(
        f"**{value}{unit}** {what} are missing{place}{_where(work)}.",
        f"{place}缺失 **{value}{unit}** {what}{_where(work)}。",
    ) + _stays(work)


def _tell_share(work: Work, text: str) -> str:
    query = work.query
    measure = query.measure
    whole = (
        work.say("the rows", "行")
        if measure is None
        else work.say(f"the sum of `{measure.name}`", f"`{measure.name}` 总和")
    )
    whole += _where(work, query.base)
    if query.by:
        part = _where(work) or work.say(" in each group", "各组")
        by = listing(g.column for g in query.by)
        head = work.say(f"Percent of {whole} by {by}{part}", f"按 {by} 占{whole}的百分比{part}")
        return _table(work, text, [*(g.label for g in query.by), "percent"], head)
    value = _one(text)
    part = _conditions(work, query.filters)
    counts = PART_OF.search(text) if measure is None else None
    numbers = f" ({counts[1]} / {counts[2]})" if counts else ""
    verb = "are rows where" if measure is None else "comes from rows where"
    return value and work.say(
        f"**{value} %** of {whole}{numbers} {verb} {part}.",
        f"{part} 的行占{whole}的 **{value} %**{numbers}。",
    ) + _stays(work)


def _labels(work: Work) -> list[Column]:
    """The few columns by which rows are recognised, and those the question is about."""
    query, columns = work.query, work.frame.columns
    asked = list(query.columns)
    texts = [c for c in columns if c.reads_as == "text" and c not in asked]
    texts += [c for c in columns if c.reads_as == "date" and c.unique == work.frame.rows != 0]
    texts = [c for c in dict.fromkeys(texts) if c not in asked]
    texts.sort(key=lambda c: -c.unique)
    chosen = (
        [*asked, *texts[: max(0, LABELS - len(asked))]]
        if query.task != "head"
        else list(columns[:8])
    )
    return [column for column in columns if column in chosen]


def _end(work: Work) -> str:
    """Which end of the order is meant: highest, 3rd lowest."""
    query = work.query
    place = work.say(
        {2: "2nd ", 3: "3rd "}.get(query.limit, f"{query.limit}th "), f"第{query.limit}"
    )
    end = work.say("lowest" if query.lowest else "highest", "低" if query.lowest else "高")
    return (place if query.nth else work.say("", "最")) + end


def _tell_extreme(work: Work, text: str) -> str:
    query, labels = work.query, _labels(work)
    assert query.measure is not None
    header = [str(column.name) for column in labels]
    rows = frame_rows(text, header)
    if not rows:
        return ""
    end = _end(work)
    value = number(rows[0][header.index(str(query.measure.name))])
    subject = ""
    names = [c for c in labels if c == (query.subject and query.subject.column)] or [
        c for c in labels if c.reads_as == "text" and c.unique > work.frame.rows / 2
    ]
    is_one = query.limit == 1 or query.nth
    if names and is_one:
        subject = (
            "**"
            + ", ".join(dict.fromkeys(row[header.index(str(names[0].name))] for row in rows))
            + "** — "
        )
    many = "row" if len(rows) == 1 else f"{len(rows)} rows"
    head = work.say(
        f"{subject}{'the' if subject else 'The'} {many} with the {end} "
        f"`{query.measure.name}`" + (f", **{value}**" if is_one else "") + f"{_where(work)}",
        f"{subject}`{query.measure.name}` {end}的 {len(rows)} 行"
        + (f"，**{value}**" if is_one else "")
        + _where(work),
    )
    return f"{head}:\n\n{markdown_table(header, _formatted(rows, labels))}\n\n{_table_stays(work)}"


def _formatted(rows: list[list[str]], columns: Sequence[Column]) -> list[list[str]]:
    return [
        [
            number(t) if c.kind == "number" and not _is_year(c) else t
            for t, c in zip(row, columns, strict=True)
        ]
        for row in rows
    ]


def _is_year(column: Column) -> bool:
    return "year" in str(column.name).lower() or column.is_identifier


def _table_stays(work: Work) -> str:
    return work.say(f"The table is in `{work.name}`.", f"表格在 `{work.name}` 中。")


def _tell_rows(work: Work, text: str) -> str:
    count = next(map(number, scalars(text)), "")
    labels = _labels(work)
    header = [str(column.name) for column in labels]
    rows = frame_rows(text, header)
    head = work.say(f"**{count}** rows{_where(work)}", f"共 **{count}** 行{_where(work)}")
    shown = f"\n\n{markdown_table(header, rows)}" if rows else ""
    return f"{head}:{shown}\n\n{_table_stays(work)}" if count else ""


def _tell_lookup(work: Work, text: str) -> str:
    """The values of the one row that is meant; more rows are no answer."""
    names = [str(column.name) for column in work.query.measures]
    counts, rows = scalars(text), frame_rows(text, names)
    parts = next((f.value for f in work.query.filters if f.sign == "in"), ())
    if counts and len(rows) == int(float(counts[0])) == len(parts) and len(names) > 1:
        header = work.say("What I found", "结果")
        shown = [[*row[:-1], number(row[-1])] for row in rows]
        return f"{header}{_where(work)}:\n\n{markdown_table(names, shown)}\n\n{_table_stays(work)}"
    if counts and int(float(counts[0])) != 1:
        named = ", ".join(f"“{name}”" for name in names)
        return work.say(
            f"I cannot answer this: {counts[0]} rows fit{_where(work)}, so say what to do "
            f"with {named}: the mean, the sum …",
            f"这个我不会回答：符合条件的有 {counts[0]} 行{_where(work)}，请说明{named}取平"
            "均值、总和还是别的。",
        )
    values = (
        ", ".join(f"`{n}`: **{number(v)}**" for n, v in zip(names, rows[0], strict=True))
        if rows
        else ""
    )
    return values and f"{values}{_where(work)}." + _stays(work)


def _tell_head(work: Work, text: str) -> str:
    header = [str(column.name) for column in _labels(work)]
    rows = frame_rows(text, header)
    which = work.say(
        "last" if work.query.lowest else "first", "最后" if work.query.lowest else "前"
    )
    head = work.say(
        f"The {which} {work.query.limit} rows{_where(work)}",
        f"{which} {work.query.limit} 行{_where(work)}",
    )
    return (
        f"{head}:\n\n{markdown_table(header, rows)}\n\n{_table_stays(work)}"
        if rows
        else f"{head}. {_table_stays(work)}"
    )


def _table(work: Work, text: str, header: Sequence[str], head: str) -> str:
    rows = frame_rows(text, header)
    if not rows:
        return ""
    shown = [[*row[:-1], number(row[-1])] for row in rows]
    more = (
        work.say(
            f" Only its first {SHOWN_ROWS} rows are shown here.",
            f"这里最多显示前 {SHOWN_ROWS} 行。",
        )
        if len(rows) == SHOWN_ROWS
        else ""
    )
    return f"{head}:\n\n{markdown_table(header, shown)}\n\n{_table_stays(work)}{more}{_gaps(work)}"


def _tell_groups(work: Work, text: str) -> str:
    query = work.query
    groups = [group.label for group in query.by]
    if len(query.functions) > 1 or len(query.measures) > 1:
        last = (
            list(query.functions)
            if len(query.functions) > 1
            else [str(c.name) for c in query.measures]
        )
        rows = frame_rows(text, [*groups, *last])
        shown = [[*row[: len(groups)], *map(number, row[len(groups) :])] for row in rows]
        return (
            f"{markdown_table([*groups, *last], shown)}\n\n{_table_stays(work)}{_gaps(work)}"
            if rows
            else ""
        )
    value = "count" if query.measure is None else str(query.measure.name)
    by = ", ".join(f"`{group}`" for group in groups)
    rows = frame_rows(text, [*groups, value])
    is_part = query.measure is None and any(f.sign == "in" for f in query.filters)
    if rows and is_part and len(rows) < SHOWN_ROWS:
        total = sum(int(row[-1]) for row in rows)
        by += work.say(f", together **{total:,}**", f"（合计 **{total:,}**）")
    head = work.say(
        f"The {_what(work)} by {by}{_where(work)}", f"按 {by} 的{_what(work)}{_where(work)}"
    )
    told = _table(work, text, [*groups, value], head)
    if query.difference and len(rows) == 2:
        (first, high), (second, low) = ((row[0], float(row[-1])) for row in rows)
        gap = number(f"{high - low:.10g}")
        told += work.say(
            f" **{first}** is higher than {second} by **{gap}**.",
            f"**{first}** 比 {second} 高 **{gap}**。",
        )
    return told


def _tell_best(work: Work, text: str) -> str:
    query = work.query
    assert query.subject is not None
    value = "count" if query.measure is None else str(query.measure.name)
    groups = [*(group.label for group in query.by), query.subject.label]
    rows = frame_rows(text, [*groups, value])
    if not rows:
        return ""
    end = _end(work)
    what, subject = f"{_what(work)}{_where(work)}", query.subject.label
    if query.by:
        each = ", ".join(f"`{group.label}`" for group in query.by)
        head = work.say(
            f"For each {each}, the `{subject}` with the {end} {what}",
            f"每个 {each} 中{what}{end}的 `{subject}`",
        )
    elif query.limit > 1 and not query.nth:
        head = work.say(
            f"The {len(rows)} `{subject}` with the {end} {what}",
            f"{what}{end}的 {len(rows)} 个 `{subject}`",
        )
    else:
        best = [row[0] for row in rows if row[-1] == rows[0][-1]]
        named = ", ".join(f"**{name}**" for name in best)
        head = work.say(
            f"{named} is the `{subject}` with the {end} {what}: **{number(rows[0][-1])}**.",
            f"{what}{end}的 `{subject}` 是 {named}：**{number(rows[0][-1])}**。",
        ).removesuffix(":")
        return _table(work, text, [*groups, value], head).replace(f"{head}:", head, 1)
    return _table(work, text, [*groups, value], head)


def _tell_correlation(work: Work, text: str) -> str:
    first, second = (column.name for column in work.query.measures)
    value = _one(text)
    return value and work.say(
        f"The (Pearson) correlation of `{first}` and `{second}` is **{value}**{_where(work)}.",
        f"`{first}` 与 `{second}` 的（皮尔逊）相关系数是 **{value}**{_where(work)}。",
    ) + _stays(work)


def _tell_outliers(work: Work, text: str) -> str:
    query = work.query
    assert query.measure is not None
    rule = RULES[query.rule][int(work.chinese)]
    value = _one(text)
    return value and work.say(
        f"By {rule}, `{query.measure.name}` has **{value}** outliers{_where(work)}. The "
        f"rows are in `{work.name}`.",
        f"按{rule}，`{query.measure.name}` 有 **{value}** 个异常值{_where(work)}。这些行在 "
        f"`{work.name}` 中。",
    )


TELLERS: Mapping[str, Callable[[Work, str], str]] = {
    "number": _tell_number,
    "count": lambda work, text: (
        _tell_groups(work, text) if work.query.by else _tell_count(work, text)
    ),
    "distinct": _tell_distinct,
    "values": _tell_values,
    "duplicates": _tell_duplicates,
    "missing": _tell_missing,
    "share": _tell_share,
    "extreme": _tell_extreme,
    "rows": _tell_rows,
    "lookup": _tell_lookup,
    "head": _tell_head,
    "best": _tell_best,
    "groups": _tell_groups,
    "correlation": _tell_correlation,
    "outliers": _tell_outliers,
}


# Tasks with cells of their own.


def _columns(work: Work) -> Steps[str]:
    """The names of the columns, which the look has shown."""
    yield from ()
    columns = work.frame.columns
    return work.say(
        f"`{work.frame.name}` has **{len(columns)}** columns ({listing(columns)}) and "
        f"{work.frame.rows:,} rows.",
        f"`{work.frame.name}` 有 **{len(columns)}** 列（{listing(columns)}）、"
        f"{work.frame.rows:,} 行。",
    )


def _draw(work: Work) -> Steps[str]:
    code = chart_code(work.frame.name, work.query, work.name)
    title = title_of(work.query)
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
    query = work.query
    kind = {
        "scatter": ("a scatter plot", "散点图"),
        "line": ("lines", "折线图"),
        "bar": ("bars", "柱状图"),
        "hist": ("a histogram", "直方图"),
        "box": ("a box plot", "箱线图"),
    }[query.chart][int(work.chinese)]
    counted = (
        f" ({_function_words(query.functions[0])[0]})" if query.functions and query.measures else ""
    )
    table = " " + _table_stays(work) if query.chart in ("bar", "line") else ""
    return work.say(
        f"The plot shows {title}{counted} as {kind}{_where(work)}.{table}",
        f"图中用{kind}展示 {title}{counted}{_where(work)}。{table}",
    )


def _describe(work: Work) -> Steps[str]:
    """Sum the table up in one cell, and say what it holds column by column."""
    frame = work.frame
    if work.query.measures and all(c.reads_as == "number" for c in work.query.measures):
        return (yield from _describe_numbers(work))
    columns = work.query.measures or frame.columns
    numbers = [c for c in columns if c.reads_as == "number"]
    lines = []
    if numbers:
        names = ", ".join(quoted(c.name) for c in numbers)
        lines.append(f'{work.name} = {frame.name}[[{names}]].agg(["min", "median", "max"]).T')
    lines += [
        f'print("{c.name}:", {pick(frame.name, c)}.min(), "to", {pick(frame.name, c)}.max())'
        for c in columns
        if c.reads_as == "date"
    ]
    lines += [f"print({work.name}.to_string())"] if numbers else []
    text = ""
    if lines:
        done = yield from run_code(
            work.say(f"I sum up `{frame.name}`.", f"我来概括 `{frame.name}`。"), "\n".join(lines)
        )
        if done.error is not None:
            return no_result(work, done.error)
        text = done.text
    gaps = sum(column.missing for column in columns)
    ranges = series(text, [str(c.name) for c in numbers])
    rows = [
        [f"`{c.name}`", c.reads_as, f"{c.missing:,}", _holds(work, c, text, ranges)]
        for c in columns[:SHOWN_COLUMNS]
    ]
    head = work.say(
        f"`{frame.name}` has **{frame.rows:,} rows** and **{len(frame.columns)} columns**; "
        f"{gaps:,} values are missing.",
        f"`{frame.name}` 有 **{frame.rows:,} 行**、**{len(frame.columns)} 列**；缺失 "
        f"{gaps:,} 个值。",
    )
    header = (
        ["column", "type", "missing", "holds"]
        if not work.chinese
        else ["列", "类型", "缺失", "内容"]
    )
    cut = work.say(
        f"\n\nOnly the first {SHOWN_COLUMNS} columns are shown.",
        f"\n\n只显示前 {SHOWN_COLUMNS} 列。",
    )
    return f"{head}\n\n{markdown_table(header, rows)}{cut if len(columns) > SHOWN_COLUMNS else ''}"


def _describe_numbers(work: Work) -> Steps[str]:
    names = ", ".join(quoted(c.name) for c in work.query.measures)
    code = (
        f"{work.name} = {work.frame.name}[[{names}]].describe().T\nprint({work.name}.to_string())"
    )
    done = yield from run_code(work.say("I compute that.", "我来计算。"), code)
    found = series(done.text, [str(c.name) for c in work.query.measures])
    header = ["count", "mean", "std", "min", "25%", "50%", "75%", "max"]
    rows = [[f"`{name}`", *map(number, values.split())] for name, values in found.items()]
    if done.error is not None or any(len(row) != len(header) + 1 for row in rows) or not rows:
        return no_result(work, done.error)
    column = work.say("column", "列")
    return f"{markdown_table([column, *header], rows)}\n\n{_table_stays(work)}"


def _holds(work: Work, column: Column, text: str, ranges: Mapping[str, str]) -> str:
    found = ranges.get(str(column.name), "").split()
    if column.reads_as == "number" and len(found) == 3:
        low, middle, high = map(number, found)
        return work.say(f"{low} to {high}, median {middle}", f"{low} 到 {high}，中位数 {middle}")
    if column.reads_as == "date" and (reach := labelled(text, str(column.name))):
        return reach.replace(" 00:00:00", "")
    examples = ", ".join(column.examples[:3])
    values = work.say(f"{column.unique:,} values", f"{column.unique:,} 个值")
    return (
        f"{values}, {work.say('such as', '例如')} {examples}"
        if examples
        else work.say("nothing", "无")
    )


FILL_WORD = "unknown"


def _clean(work: Work) -> Steps[str]:
    """Clean a copy of the table, and say what was done to which column."""
    frame, name = work.frame, work.name
    gaps = [column for column in frame.columns if column.missing]
    lines = [f"{name} = {frame.name}.copy()"]
    for column in gaps:
        place = pick(name, column)
        if column.reads_as == "number":
            lines.append(f"{place} = {place}.fillna({place}.median())")
        elif column.reads_as == "text":
            as_text = ".astype(object)" if column.dtype in ("category", "bool", "boolean") else ""
            lines.append(f"{place} = {place}{as_text}.fillna({quoted(FILL_WORD)})")
    if dates := [quoted(c.name) for c in gaps if c.reads_as == "date"]:
        lines.append(f"{name} = {name}.dropna(subset=[{', '.join(dates)}])")
    lines.append(f"print({name}.isna().sum().sum())\nprint(len({name}))\n{name}.head()")
    done: Done = yield from run_code(
        work.say(f"I clean a copy, `{name}`.", f"我来清理一份副本 `{name}`。"), "\n".join(lines)
    )
    left = scalars(done.text)
    if done.error is not None or len(left) < 2:
        return no_result(work, done.error)
    if not gaps:
        return work.say(
            f"Nothing is missing in `{frame.name}`; `{name}` is a copy of it.",
            f"`{frame.name}` 没有缺失值；`{name}` 是它的副本。",
        )
    rows = [[f"`{c.name}`", f"{c.missing:,}", _how(work, c)] for c in gaps]
    head = work.say(
        f"`{name}` is the cleaned table: {number(left[1])} of {frame.rows:,} rows, "
        f"{number(left[0])} values missing. "
        f"`{frame.name}` keeps its gaps.",
        f"`{name}` 是清理后的表：{number(left[1])}/{frame.rows:,} 行，缺失 "
        f"{number(left[0])} 个值。`{frame.name}` 保持不变。",
    )
    return f"{head}\n\n{markdown_table(['column', 'missing before', 'what I did'], rows)}"


def _how(work: Work, column: Column) -> str:
    if column.reads_as == "number":
        return work.say("filled with the median", "用中位数填充")
    if column.reads_as == "date":
        return work.say("rows dropped", "删除行")
    return work.say(f"filled with {FILL_WORD!r}", f"用 {FILL_WORD!r} 填充")


OWN_CELLS: Mapping[str, Callable[[Work], Steps[str]]] = {
    "columns": _columns,
    "chart": _draw,
    "describe": _describe,
    "clean": _clean,
}


def result_name(query: Query, frame: TableColumns) -> str:
    """A variable name that says what is found."""
    if query.task == "clean":
        return f"{frame.name}_clean"
    if query.task == "describe":
        return identifier(f"{frame.name}_summary")
    if query.task not in ("groups", "best", "chart"):
        return "result"
    groups = [*([query.subject] if query.subject else []), *query.by]
    parts = [
        str(query.measure.name) if query.measure else "count",
        *(["by", *(g.label for g in groups)] if groups else []),
    ]
    name = identifier("_".join(parts), "result")
    name = name if name.isascii() and len(name) <= 40 else "result"
    return f"{name}_table" if name == frame.name else name
