"""What is said of a cell's result: one sentence; tables and plots stand below their cell."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.cells import (
    Chart,
    chart_code,
    clean_code,
    describe_code,
    identifier,
    pick,
    query_code,
    strongest_code,
    unique_code,
)
from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.lexicon import say
from cellwright.demo.phrases import NAME
from cellwright.demo.query import (
    DATE_SIGNS,
    Aggregate,
    Filter,
    Group,
    PartOfText,
    Query,
    UnclearError,
)
from cellwright.demo.steps import Steps, install, run_code
from cellwright.demo.transcript import (
    CellFailure,
    frame_rows,
    labelled,
    scalars,
    series,
    turned_rows,
)

DATE_UNITS = DATE_SIGNS[-3:]
QUANTILE = re.compile(r"^(0\.\d+)\s+(\S+)$", re.M)
YEAR = re.compile(r"\b(\d{4})(?:-\d\d|Q\d)")
NUMBER = r"-?\d+(?:\.\d+)?(?:e[+-]\d+)?"
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
    return f"{value:.4f}".rstrip("0").rstrip(".") if abs(value) >= 1 else f"{value:.4g}"


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
    if query.task in ("chart", "telling"):
        return (yield from (_draw if query.task == "chart" else _draw_most_telling)(work))
    writers = {"describe": describe_code, "clean": clean_code}
    if query.task in writers:
        code = writers[query.task](work.frame, query, work.name)
    else:
        code = query_code(work.frame.name, query, work.name, _labels(work))
    cut = _units_in_doubt(query)
    if query.subject in cut:
        place = pick(work.frame.name, cut[0].column)
        code = f'print("dates:", {place}.min(), "to", {place}.max())\n{code}'
    done = yield from run_code(say("compute"), code)
    said = "" if done.error else TELLERS[query.task](work, done.text)
    if not said:
        return no_result(work, done.error)
    if len(set(YEAR.findall(labelled(done.text, "dates")))) > 1:
        raise UnclearError([group.bucket for group in cut], "years")
    if cut and len(set(YEAR.findall(done.text))) > 1:
        said += say("several_years")
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
    said = say("one_row", name=name)
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
    return f"{say('no_result')}{why}."


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


def _function(name: str) -> str:
    if "(" in name:
        return say("quantile", percent=f"{100 * float(name[9:-1]):g}")
    return say(f"function_{name}")


def _what(work: Work) -> str:
    query = work.query
    if query.measure is None:
        return say("row_count")
    functions = ", ".join(_function(name) for name in query.functions)
    return say("function_of", functions=functions, columns=listing(query.measures))


def _where(work: Work, filters: Sequence[Filter] | None = None) -> str:
    """Which rows were taken, in brackets."""
    filters = work.query.filters if filters is None else filters
    return say("where", conditions=_conditions(filters)) if filters else ""


def _test_of_text(each: Filter) -> str:
    """How a column is held against a part of a text."""
    name = "starts" if each.value.at_start else "contains"
    return say(name if each.sign == "==" else f"{name}_not", word=each.value.word)


def _sign(sign: str) -> str:
    part, _, compare = sign.partition(" ")
    is_date = part in DATE_SIGNS
    return say(f"date_{compare}" if is_date else f"sign_{sign.replace(' ', '_')}")


def _conditions(filters: Sequence[Filter]) -> str:
    parts = []
    for each in filters:
        if isinstance(each.value, PartOfText):
            parts.append(f"`{each.column.name}` {_test_of_text(each)}")
            continue
        value = each.value if isinstance(each.value, tuple) else (each.value,)
        between = say("between_and" if each.sign == "between" else "list_comma")
        part = each.sign.partition(" ")[0]
        unit = say(part) if part in DATE_UNITS and each.value != "weekend" else ""
        shown = between.join(_value(each.column, v) for v in value if v is not None)
        verb = _sign(each.sign)
        parts.append(" ".join(filter(None, [f"`{each.column.name}`", verb, unit, shown])))
    return say("and").join(parts)


def _value(column: Column, value: Any) -> str:
    """A value of a condition."""
    if isinstance(value, Aggregate):
        return say("of_all_rows", function=_function(value.function))
    if isinstance(value, Column):
        return f"`{value.name}`"
    if isinstance(value, float):
        return f"{value:g}" if column.is_year else number(str(value))
    return str(value)


def _stays(work: Work) -> str:
    return say("stays", name=work.name)


def _gaps(work: Work) -> str:
    query = work.query
    if query.task in ("missing", "duplicates", "describe", "clean"):
        return ""
    if query.task == "share":
        parts = dict.fromkeys(each.column for each in query.filters if each.column.missing)
        named = ", ".join(f"`{c.name}` {c.missing:,}" for c in parts)
        return named and say("share_gaps", named=named)
    negative = [f.column for f in query.filters if f.sign in ("!=", "not in")]
    used = [*query.measures, *(group.column for group in query.by), *negative]
    named = ", ".join(f"`{c.name}` {c.missing:,}" for c in dict.fromkeys(used) if c.missing)
    return named and say("gaps", named=named)


def _one(text: str) -> str:
    found = scalars(text)
    return number(found[-1]) if found else ""


def _end(work: Work) -> str:
    """Which end of the order is meant: highest, 3rd lowest."""
    query = work.query
    is_date = query.measure is not None and query.measure.reads_as == "date"
    ends = ("earliest", "latest") if is_date else ("lowest", "highest")
    end = say(ends[0] if query.lowest else ends[1])
    if not query.nth:
        return say("most", end=end)
    nth = {2: "2nd", 3: "3rd"}.get(query.limit, f"{query.limit}th")
    return say("nth", nth=nth, place=query.limit, end=end)


def _labels(work: Work) -> list[Column]:
    """The columns to show of rows: those the question is about, those that name a row, then others.

    As many as stand side by side, for what is cut cannot be read back.
    """
    query, columns = work.query, work.frame.columns
    if query.whole_rows:
        return list(columns)
    others = sorted(
        columns,
        key=lambda c: (
            c.is_counter,
            not c.is_key,
            c.reads_as == "number" and not c.is_year,
            c.is_whole,
        ),
    )
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


def _tell(work: Work, name: str, value: str, /, **parts: object) -> str:
    """A sentence about a value; empty where none was found."""
    columns = listing(work.query.measures)
    if value == "1" and name in ("count", "rows"):
        name += "_one"
    return value and say(name, value=value, columns=columns, where=_where(work), **parts)


def _tell_number(work: Work, text: str) -> str:
    query = work.query
    if len(query.measures) * len(query.functions) > 1:
        return _tell_numbers(work, text)
    value = _one(text)
    if query.measure is not None and query.measure.reads_as == "date":
        value = number(text.strip().split("\n")[0])
    return _tell(work, "no_value" if value in ("–", "NaT") else "number", value, what=_what(work))


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
    if found and query.functions == ("min", "max"):
        gap = _one(text) if query.difference else ""
        told = say("gap", value=gap) if gap else ""
        return _tell(work, "range", found["min"], high=found["max"], gap=told)
    parts = [f"{_function(name)} **{value}**" for name, value in found.items()]
    return f"{listing(query.measures)}: {', '.join(parts)}{_where(work)}." if parts else ""


def _tell_missing(work: Work, text: str) -> str:
    query = work.query
    unit = " %" if query.rule == "share" else ""
    if query.rule == "rows":
        return _tell(work, "gap_rows", _one(text))
    if query.rule == "complete":
        return _tell(work, "complete_rows", number(next(iter(scalars(text)), "")))
    if len(query.measures) == 1:
        return _tell(work, "missing", _one(text), unit=unit)
    names = [str(c.name) for c in query.measures or work.frame.columns]
    found = series(text, sorted(names, key=len, reverse=True))
    if len(found) < len(names):
        return ""
    gaps = {name: float(value) for name, value in found.items() if float(value)}
    listed = ", ".join(
        f"`{n}` **{number(str(gaps[n]))}{unit}**" for n in sorted(gaps, key=lambda n: -gaps[n])
    )
    total = number(str(sum(gaps.values()) / (len(names) if unit else 1)))
    return _tell(work, "all_missing" if listed else "no_gap", total, unit=unit, listed=listed)


def _tell_share(work: Work, text: str) -> str:
    query = work.query
    columns, part = listing(query.measures), _conditions(query.filters)
    whole = say("whole_sum", columns=columns) if query.measures else say("whole_rows")
    whole += _where(work, query.base)
    if query.order:
        rows = frame_rows(text, [query.by[0].label, "percent"])
        best = ", ".join(f"**{row[0]}**" for row in rows if row[1] == rows[0][1])
        end = say("lowest" if query.order == "low" else "highest")
        return best and _tell(work, "best_share", number(rows[0][1]), best=best, end=end, part=part)
    if query.by:
        by = ", ".join(f"`{g.label}`" for g in query.by)
        part = part and say("share_part", part=part)
        return say("share_table", whole=whole, by=by, part=part)
    counts = None if query.measures else PART_OF.search(text)
    numbers = f" ({counts[1]} / {counts[2]})" if counts else ""
    name = "share_of_sum" if query.measures else "share_of_rows"
    return _tell(work, name, _one(text), whole=whole, numbers=numbers, part=part)


def _tell_extreme(work: Work, text: str) -> str:
    query, labels = work.query, _labels(work)
    header = [str(column.name) for column in labels]
    rows = turned_rows(text, header) if query.whole_rows else frame_rows(text, header)
    if not rows:
        return ""
    end = _end(work)
    if query.by:
        return _tell(work, "extremes_by", end, by=_by(work))
    if query.limit > 1 and not query.nth:
        return _tell(work, "extremes", end, many=len(rows))
    value = number(rows[0][header.index(str(query.measures[0].name))])
    keys = [c for c in labels if c.is_key and not c.is_counter]
    keys = [c for c in keys if c.reads_as != "number" or c.is_identifier]
    keys.sort(key=lambda c: c.reads_as != "text")
    # Where some have several rows, still what people know a row by: a name, or a number.
    names = [c for c in labels if NAME.search(str(c.name))]
    keys += names
    keys += [c for c in labels if c.is_identifier and not c.is_counter]
    named = query.subject.column if query.subject else next(iter(keys), None)
    is_tie = query.whole_rows and len(rows) > 1  # more may be equal than stand side by side
    if named is None or named not in labels or is_tie:
        told = _tell(work, "extreme", value, end=end)
    else:
        place = header.index(str(named.name))
        who = ", ".join(dict.fromkeys(number(row[place]) for row in rows))
        if named.is_identifier and names and len(rows) == 1:
            who += f" ({', '.join(rows[0][header.index(str(c.name))] for c in names)})"
        told = _tell(work, "extreme_of", value, end=end, who=who)
    others = [c for c in query.details if c in labels and c not in (named, query.measure)]
    if not others or len(rows) > 1:
        return told
    values = [(c, rows[0][header.index(str(c.name))]) for c in others]
    details = (f"`{c.name}`: **{v if c.is_year else number(v)}**" for c, v in values)
    return f"{told} {', '.join(details)}."


def _tell_rows(work: Work, text: str) -> str:
    return _tell(work, "rows", number(next(iter(scalars(text)), "")))


def _tell_lookup(work: Work, text: str) -> str:
    """The values of the one row that is meant; of several values, a row each."""
    listed = [f for f in work.query.filters if f.sign == "in"]
    columns = list(dict.fromkeys([*(f.column for f in listed), *work.query.measures]))
    names = [str(column.name) for column in columns]
    rows = frame_rows(text, names)
    if "Empty DataFrame" in text:
        return say("no_row", where=_where(work))
    if rows and len(rows) != (len(listed[0].value) if listed else 1):
        raise UnclearError(names[len(listed) :], "name_function", work.query.measures)
    parts = [
        ", ".join(f"`{n}`: **{number(v)}**" for n, v in zip(names, row, strict=True))
        for row in rows
    ]
    return f"{'; '.join(parts)}{_where(work)}." if parts else ""


def _by(work: Work) -> str:
    return ", ".join(f"`{group.label}`" for group in work.query.by)


def _tell_table(work: Work, text: str) -> str:
    query = work.query
    header = [g.label for g in query.by] or [str(c.name) for c in query.measures]
    if not all(name in text for name in header):
        return ""
    if not query.by:
        return f"{_what(work)}{_where(work)}{say('see_table')}".capitalize()
    counts = query.measures and not query.functions
    what = say("distinct_of", columns=listing(query.measures)) if counts else _what(work)
    return say("table", what=what, by=_by(work), where=_where(work))


def _tell_groups(work: Work, text: str) -> str:
    query = work.query
    value = "count" if query.measure is None else str(query.measure.name)
    if len(query.functions) > 1 or len(query.measures) > 1:
        return _tell_table(work, text)
    if "Empty DataFrame" in text and query.filters and query.having is None:
        return say("no_row", where=_where(work))
    rows = frame_rows(text, [*(group.label for group in query.by), value])
    told = _tell_table(work, text)
    printed = _one(text)
    if query.having is not None:
        test = _value(query.having.column, query.having.value)
        test = f"{_what(work)} {_sign(query.having.sign)} {test}"
        return _tell(work, "having", printed, by=_by(work), test=test)
    if not told or not printed:
        return told
    if query.difference and len(rows) == 1:
        return told + _tell(work, "only_one", number(rows[0][-1]), first=rows[0][0])
    if query.difference and len(rows) == 2:
        # Groups that are numbers or dates stand in their own order, not in that of the values.
        higher, lower = sorted(rows, key=lambda row: float(row[-1]), reverse=True)
        ends = {"more": number(higher[-1]), "less": number(lower[-1])}
        name = "higher" if float(higher[-1]) > float(lower[-1]) else "as_high"
        return told + _tell(work, name, printed, first=higher[0], second=lower[0], **ends)
    return told + _tell(work, "together", printed)


def _tell_best(work: Work, text: str) -> str:
    query = work.query
    assert query.subject is not None
    value = "count" if query.measure is None else str(query.measure.name)
    subject = query.subject.label
    rows = frame_rows(text, [*(group.label for group in query.by), subject, value])
    parts = {"subject": subject, "end": _end(work), "what": f"{_what(work)}{_where(work)}"}
    if not rows:
        return ""
    if query.by:
        each = [f"{', '.join(row[:-2])} **{row[-2]}** ({number(row[-1])})" for row in rows]
        told = say("each", each="; ".join(each)) if len(rows) <= FEW else say("in_table")
        return say("best_by", by=_by(work), told=told, **parts)
    if query.limit > 1 and not query.nth:
        return say("best_many", many=query.limit, **parts)
    first = rows[query.limit - 1 if query.nth else 0]
    named = ", ".join(f"**{row[0]}**" for row in rows if row[-1] == first[-1])
    return say("best", named=named, value=number(first[-1]), **parts)


def _tell_agree(work: Work, text: str) -> str:
    """The group that is first by its extreme row and by its mean; where these differ, no answer."""
    query = work.query
    assert query.subject is not None
    end = "min" if query.lowest else "max"
    ways = [end, "mean", *(["sum"] if query.rule == "most" else [])]
    rows = frame_rows(text, [query.subject.label, *ways])
    if not rows:
        return ""
    if query.limit > 1:
        return _tell_first(work, rows)
    best, others = rows[0], [row for row in rows[1:] if row[1] == rows[0][1]]
    ends = [
        (min if query.lowest else max)(float(row[place]) for row in rows)
        for place in range(2, len(ways) + 1)
    ]
    if [float(value) for value in best[2:]] != ends or others:
        raise UnclearError([str(c.name) for c in query.measures], "name_function", query.measures)
    parts = {"subject": query.subject.label, "end": _end(work), "mean": number(best[2])}
    return _tell(work, "agree", number(best[1]), best=best[0], **parts)


def _tell_first(work: Work, rows: Sequence[Sequence[str]]) -> str:
    """The first groups of which each has one row; of others it is not clear what is meant."""
    query = work.query
    assert query.subject is not None
    last = float(rows[min(query.limit, len(rows)) - 1][1])
    first = [r for r in rows if (float(r[1]) <= last if query.lowest else float(r[1]) >= last)]
    if any(float(row[1]) != float(row[2]) for row in first):
        raise UnclearError([str(c.name) for c in query.measures], "name_function", query.measures)
    named = ", ".join(f"**{row[0]}** ({number(row[1])})" for row in first)
    parts = {"subject": query.subject.label, "end": _end(work), "many": len(first)}
    return _tell(work, "first", named, **parts)


def _tell_change(work: Work, text: str) -> str:
    """From the one to the other, which must be one number each."""
    query = work.query
    found = re.search(rf"^({NUMBER}) ({NUMBER})\n({NUMBER})$", text, re.M)
    if found is None:
        raise UnclearError([str(c.name) for c in query.measures], "name_function", query.measures)
    first, last, change = map(number, found.groups())
    start, end = sorted(int(each.value) for each in query.base)
    what = _what(work) if query.functions else listing(query.measures)
    unit = " %" if query.rule == "share" else ""
    parts = {"first": first, "last": last, "start": start, "end": end, "unit": unit}
    return _tell(work, "change", change, what=what, **parts)


def _columns(work: Work) -> str:
    """The names of the columns, which the look has shown."""
    frame = work.frame
    parts = {"columns": len(frame.columns), "names": listing(frame.columns), "rows": frame.rows}
    return say("columns", name=frame.name, **parts)


def _draw(work: Work) -> Steps[str]:
    query = work.query
    code = chart_code(work.frame.name, query, work.name)
    title = Chart(query, work.frame.name, work.name).title
    done = yield from run_code(say("draw", title=title), code)
    if done.error is not None and done.error.name == "ModuleNotFoundError":
        if not (yield from install("matplotlib", work.tools)):
            return say("no_plot")
        done = yield from run_code(say("draw_again"), code)
    if done.error is not None:
        return no_result(work, done.error)
    if query.functions and query.measures:
        title += f" ({_function(query.functions[0])})"
    kind = say(f"chart_{query.chart}_name")
    told = say("plot", title=title, kind=kind, where=_where(work))
    return told + (_stays(work) if query.chart in ("bar", "line") and query.by else "")


def _draw_most_telling(work: Work) -> Steps[str]:
    """Draw the two columns of numbers that go together most, and say by which rule."""
    query = work.query
    code = strongest_code(work.frame.name, query.measures)
    done = yield from run_code(say("telling"), code)
    for first, second in itertools.permutations(query.measures, 2):
        names = rf"{re.escape(str(first.name))}\s+{re.escape(str(second.name))}"
        found = re.search(rf"^{names}\s+({NUMBER})$", done.text, re.M)
        if found is not None:
            chart = replace(query, task="chart", chart="scatter", measures=(second, first))
            drawn = yield from _draw(replace(work, query=chart))
            value = number(found[1])
            told = say("told_most", first=first.name, second=second.name, value=value)
            return f"{told}\n\n{drawn}"
    return no_result(work, done.error)


def _tell_describe(work: Work, text: str) -> str:
    """What the table holds, column by column; the ranges of numbers are in its own table."""
    frame = work.frame
    if work.query.measures:
        return say("sums_up", named=listing(work.query.measures)) + _stays(work)
    gaps = sum(column.missing for column in frame.columns)
    parts = {"rows": frame.rows, "columns": len(frame.columns), "gaps": gaps}
    head = say("profile", name=frame.name, **parts)
    lines = [f"- `{c.name}`: {_holds(work, c)}" for c in frame.columns[:SHOWN_COLUMNS]]
    return "\n".join([head + _stays(work), "", *lines])


def _holds(work: Work, column: Column) -> str:
    parts = [say(f"kind_{column.reads_as}")]
    if column.is_key:
        parts.append(say("all_different"))
    elif column.reads_as == "text" and column.counts:
        few = ", ".join(column.examples[:4])
        parts.append(few if column.is_whole and len(column.counts) < 5 else f"{few}, …")
    if column.missing:
        parts.append(say("some_missing", many=column.missing))
    return "; ".join(parts)


def _tell_clean(work: Work, text: str) -> str:
    frame, name, left = work.frame, work.name, scalars(text)
    gaps = [column for column in frame.columns if column.missing]
    if len(left) < 2:
        return ""
    if not gaps:
        return say("nothing_to_clean", name=frame.name, copy=name)
    lines = [
        f"- `{c.name}`: {say('some_missing', many=c.missing)}, {say(f'cleaned_{c.reads_as}')}"
        for c in gaps
    ]
    parts = {"left": number(left[1]), "rows": frame.rows, "gaps": number(left[0])}
    head = say("cleaned", name=frame.name, copy=name, **parts)
    return "\n".join([head + _stays(work), "", *lines])


def _tell_distinct(work: Work, text: str) -> str:
    """Different values; of "how many districts", where few names occur twice, rows before them."""
    if work.query.by:
        return _tell_table(work, text)
    value, *in_rows = scalars(text) or [""]
    if in_rows and ALMOST_ALL * float(in_rows[0]) <= float(value) < float(in_rows[0]):
        return _tell(work, "almost_distinct", number(in_rows[0]), distinct=number(value))
    return _tell(work, "distinct", number(value))


ALMOST_ALL = 0.9
"""From this share of the rows on, values that occur more than once may be rows by mistake."""
Teller = Callable[[Work, str], str]


def _plain(name: str, grouped: Teller | None = None) -> Teller:
    """A sentence around the one number that the cell shows, or another for a number a group."""
    return lambda work, text: (
        grouped(work, text) if grouped and work.query.by else _tell(work, name, _one(text))
    )


def _tell_per(work: Work, text: str) -> str:
    function = _function(work.query.functions[0])
    return _tell(work, "per", _one(text), function=function, by=_by(work))


def _tell_correlation(work: Work, text: str) -> str:
    first, second = (column.name for column in work.query.measures)
    kind = say(work.query.rule)
    return _tell(work, "correlation", _one(text), first=first, second=second, kind=kind)


def _tell_outliers(work: Work, text: str) -> str:
    return _tell(work, "outliers", _one(text), rule=say(f"rule_{work.query.rule}"))


TELLERS: Mapping[str, Teller] = {
    "number": _tell_number,
    "count": _plain("count", _tell_groups),
    "distinct": _tell_distinct,
    "values": _plain("values"),
    "duplicates": _plain("duplicates"),
    "missing": _tell_missing,
    "share": _tell_share,
    "extreme": _tell_extreme,
    "rows": _tell_rows,
    "lookup": _tell_lookup,
    "head": lambda work, _: _tell(
        work, "tail" if work.query.lowest else "head", str(work.query.limit)
    ),
    "sorted": lambda work, _: _tell(work, "sorted", say(f"sorted_{work.query.order}")),
    "best": _tell_best,
    "agree": _tell_agree,
    "per": _tell_per,
    "change": _tell_change,
    "groups": _tell_groups,
    "correlation": _tell_correlation,
    "outliers": _tell_outliers,
    "describe": _tell_describe,
    "clean": _tell_clean,
}
