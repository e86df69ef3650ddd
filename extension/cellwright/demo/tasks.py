"""What the demo model can do: each kind of task is a generator of steps."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from cellwright.demo.columns import Column
from cellwright.demo.matching import Query, read_query
from cellwright.demo.mending import KnownNames, mend
from cellwright.demo.pandas_code import (
    Chart,
    chart_code,
    cut_dates,
    identifier,
    pick,
    query_code,
    quoted,
    table_name,
)
from cellwright.demo.steps import DemoCall, Done, Steps, attempt, install, run_code
from cellwright.demo.transcript import CellFailure, facts, labelled, table
from cellwright.demo.work import Work, listing, markdown_table, no_result, number

WORDS = {
    "sum": "sum",
    "mean": "mean",
    "median": "median",
    "std": "standard deviation",
    "max": "maximum",
    "min": "minimum",
    "count": "number",
}
SHOWN_ROWS = 12


def answer_question(work: Work) -> Steps[str]:
    """Compute what is asked, leave it in a variable, and say what it is."""
    query = read_query(work.wish, work.frame)
    if query is None:
        return (
            "I could not tell which columns the question is about. "
            f"`{work.frame.name}` has {listing(work.frame.columns)}."
        )
    if query.subject is None and not query.by:
        if query.measure is not None and work.wish.limit:
            return (yield from _largest_rows(work, query))
        return (yield from _one_number(work, query))
    query = yield from cut_dates(work.frame, query)
    return (yield from _by_groups(work, query))


def _one_number(work: Work, query: Query) -> Steps[str]:
    name = work.target_of("question") or "result"
    column = query.measure
    if column is None:
        label, code = "number of rows", f"{name} = len({work.frame.name})"
    else:
        label = f"{WORDS[query.function]} of {column.name}"
        code = f"{name} = {pick(work.frame.name, column)}.{query.function}()"
    done = yield from run_code(
        f"I compute the {label}.", f'{code}\nprint("{_plain(label)}:", {name})'
    )
    value = labelled(done.text, _plain(label))
    if done.error is not None or not value:
        return no_result(done.error)
    what = "number of rows" if column is None else f"{WORDS[query.function]} of `{column.name}`"
    left_out = f", {column.missing:,} missing values left out" if column and column.missing else ""
    return (
        f"The {what} is **{number(value)}** (all {work.frame.rows:,} rows{left_out}). "
        f"It is in `{name}`."
    )


def _largest_rows(work: Work, query: Query) -> Steps[str]:
    assert query.measure is not None
    name = work.target_of("question") or "result"
    method = "nsmallest" if query.lowest else "nlargest"
    column = query.measure
    chosen = f'{work.frame.name}.{method}({query.limit}, "{column.name}")'
    done = yield from run_code(
        f"I take the {query.limit} rows with the {_end(query)} `{column.name}`.",
        f"{name} = {chosen}\nprint({name}.head(30).to_csv(index=False))\n{name}",
    )
    header = [str(column.name) for column in work.frame.columns]
    rows = table(done.text, header)
    if not rows:
        return no_result(done.error)
    return (
        f"The {len(rows)} rows with the {_end(query)} `{column.name}` are in `{name}`:\n\n"
        + markdown_table(header, rows[:SHOWN_ROWS])
    )


def _by_groups(work: Work, query: Query) -> Steps[str]:
    name = work.target_of("question") or _free_name(work, table_name(query))
    code = query_code(work.frame.name, query, name)
    what = _what(query)
    groups = [*query.by, *([query.subject] if query.subject else [])]
    by = " and ".join(f"`{group.label}`" for group in groups)
    done = yield from run_code(f"I compute the {what} by {by}.", f"{code}\n{name}")
    header = [*(group.label for group in groups), query.value_label]
    rows = table(done.text, header)
    if not rows:
        return no_result(done.error)
    shown = [[*row[:-1], number(row[-1])] for row in rows[:SHOWN_ROWS]]
    lines = [
        _headline(query, rows),
        "",
        markdown_table(header, shown),
        "",
        f"The table is in `{name}`.",
    ]
    if len(rows) > SHOWN_ROWS:
        lines[-1] += f" Only its first {SHOWN_ROWS} rows are shown here."
    return "\n".join(lines) + _left_out(query)


def _headline(query: Query, rows: list[list[str]]) -> str:
    what, end = _what(query), _end(query)
    if query.subject is None:
        return f"The {what} by {' and '.join(f'`{group.label}`' for group in query.by)}:"
    subject = query.subject.label
    if query.by:
        each = " and ".join(f"`{group.label}`" for group in query.by)
        many = f"{query.limit} values of `{subject}`" if query.limit > 1 else f"`{subject}`"
        return f"For each {each}, the {many} with the {end} {what}:"
    first = rows[0]
    if query.limit > 1:
        return f"The {min(query.limit, len(rows))} `{subject}` with the {end} {what}:"
    return f"**{first[0]}** is the `{subject}` with the {end} {what}: **{number(first[-1])}**."


def _what(query: Query) -> str:
    return (
        "number of rows"
        if query.measure is None
        else f"{WORDS[query.function]} of `{query.measure.name}`"
    )


def _end(query: Query) -> str:
    return "lowest" if query.lowest else "highest"


def _left_out(query: Query) -> str:
    gaps = [f"`{column.name}` {column.missing:,}" for column in query.columns if column.missing]
    return f" Missing values are left out: {', '.join(gaps)}." if gaps else ""


def _free_name(work: Work, name: str) -> str:
    return f"{name}_table" if name == work.frame.name else name


def _plain(label: str) -> str:
    return label.replace('"', "'")


# Missing values: numbers get the median, text a word, rows without a date go.


FILL_WORD = "unknown"


def clean_missing(work: Work) -> Steps[str]:
    """Clean a copy of the table, and say what was done to which column."""
    frame = work.frame
    name = work.target_of("clean") or f"{frame.name}_clean"
    gaps = [column for column in frame.columns if column.missing]
    if not gaps:
        kept = f" `{name}` is a copy of it." if work.target_of("clean") else ""
        if kept:
            yield from run_code(
                f"I leave a copy in `{name}`.", f"{name} = {frame.name}.copy()\n{name}.head()"
            )
        return f"Nothing is missing in `{frame.name}`, so there is nothing to clean.{kept}"
    done = yield from run_code(
        f"I fill or drop the gaps of {listing(gaps)} in a copy, `{name}`.",
        _code(frame.name, name, gaps),
    )
    rows = table(done.text, ["column", "before", "after"])
    if not rows:
        return no_result(done.error)
    how = {str(column.name): _how(column) for column in gaps}
    shown = [
        [f"`{column}`", number(before), number(after), how.get(column, "")]
        for column, before, after in rows
        if before not in ("0", "0.0")
    ]
    left = labelled(done.text, "rows left")
    return "\n".join(
        [
            f"`{name}` is the cleaned table: {number(left)} of {frame.rows:,} rows. "
            f"`{frame.name}` keeps its gaps.",
            "",
            markdown_table(["column", "missing before", "missing after", "what I did"], shown),
        ]
    )


def _code(frame: str, name: str, gaps: list[Column]) -> str:
    numbers = [column for column in gaps if column.reads_as == "number"]
    texts = [column for column in gaps if column.reads_as == "text"]
    dates = [column for column in gaps if column.reads_as == "date"]
    lines = [f"{name} = {frame}.copy()"]
    for column in numbers:
        place = pick(name, column)
        lines.append(f"{place} = {place}.fillna({place}.median())")
    for column in texts:
        place = pick(name, column)
        as_text = ".astype(object)" if column.dtype in ("category", "bool", "boolean") else ""
        lines.append(f"{place} = {place}{as_text}.fillna({quoted(FILL_WORD)})")
    if dates:
        names = ", ".join(quoted(column.name) for column in dates)
        lines.append(f"{name} = {name}.dropna(subset=[{names}])")
    return "\n".join([
        *lines,
        f'gaps = {{"before": {frame}.isna().sum(), "after": {name}.isna().sum()}}',
        'print(pd.DataFrame(gaps).to_csv(index_label="column"))',
        f'print("rows left:", len({name}))',
        f"{name}.head()",
    ])  # fmt: skip


def _how(column: Column) -> str:
    if column.reads_as == "number":
        return "filled with the median"
    return "rows dropped" if column.reads_as == "date" else f"filled with {FILL_WORD!r}"


# The person's own code: the cell that failed last, or code written in the prompt.


LAST_ERROR = """\
def _last_error():
    import difflib
    import json
    import linecache
    import sys
    import traceback
    from pathlib import Path

    error = getattr(sys, "last_value", None)
    trace = traceback.extract_tb(getattr(error, "__traceback__", None))
    places = [frame.filename for frame in trace] + [getattr(error, "filename", None) or ""]
    cells = ["".join(linecache.getlines(place)) for place in places if not Path(place).exists()]
    there = {name: value for name, value in globals().items() if name[0] != "_"}
    tables = [value for value in there.values() if hasattr(value, "columns")]
    wrong, owner = getattr(error, "name", None) or "", getattr(error, "obj", None)
    facts = {
        "error": type(error).__name__,
        "message": str(error),
        "source": next(filter(None, cells), ""),
        "columns": list(dict.fromkeys(str(c) for table in tables for c in table.columns))[:80],
        "names": difflib.get_close_matches(wrong, there, 5),
        "attributes": difflib.get_close_matches(wrong, dir(owner), 5),
        "files": sorted(path.as_posix() for path in Path().glob("*.*"))[:60],
    }
    return "\\n".join(json.dumps({key: value}) for key, value in facts.items())


print(_last_error())"""


def fix_last_cell(tools: frozenset[str]) -> Steps[str]:
    """Look at the last error and its cell, change the code and run it."""
    done = yield from run_code("I look at the last error and the cell it came from.", LAST_ERROR)
    known = facts(done.text)
    if not {"error", "message", "source"} <= set(known):
        return "I could not read what the kernel told me about the last error."
    if known["error"] == "NoneType" or not known["source"]:
        return "The kernel remembers no error of a cell, so there is nothing to fix."
    error = CellFailure(str(known["error"]), str(known["message"]).split("\n")[0])
    source = str(known["source"]).rstrip("\n")
    if error.name == "ModuleNotFoundError":
        return (yield from _with_package(source, error, tools))
    around = _surroundings(known)
    mended = mend(source, error, around)
    if mended is None:
        return (
            f"Your cell failed with `{error.name}: {error.message}`. I have no rule that mends "
            "this one, so I changed nothing."
        )
    again = yield from attempt(f"{mended.reason} I run it mended.", mended.code, around)
    return _report(error, [mended.reason, *again.repairs], again)


def run_snippet(code: str, tools: frozenset[str]) -> Steps[str]:
    """Run the code of the prompt; when it fails, mend it where rules know how."""
    done = yield from run_code("I run the code you gave.", code)
    if done.error is None:
        return "The code ran without an error."
    return (yield from fix_last_cell(tools))


def _with_package(source: str, error: CellFailure, tools: frozenset[str]) -> Steps[str]:
    module = error.message.strip("'\"").split("'")[-1].split(".")[0] or error.message
    if not (yield from install(module, tools)):
        return f"`{module}` is not installed, and I have no tool that installs packages."
    again = yield from run_code("With it installed, I run your cell again.", source)
    return _report(error, [f"The package `{module}` was missing."], again)


def _surroundings(known: dict[str, object]) -> KnownNames:
    def texts(key: str) -> tuple[str, ...]:
        found = known.get(key)
        return tuple(map(str, found)) if isinstance(found, list) else ()

    return KnownNames(texts("columns"), texts("names"), texts("files"), texts("attributes"))


def _report(error: CellFailure, reasons: list[str], done: Done) -> str:
    changes = "\n".join(f"- {reason}" for reason in reasons)
    if done.error is None:
        return (
            f"Fixed: your cell failed with `{error.name}: {error.message}`.\n\n{changes}\n\n"
            "The mended cell ran without an error."
        )
    return (
        f"Your cell failed with `{error.name}: {error.message}`. I tried:\n\n{changes}\n\nIt still "
        f"fails, now with `{done.error.name}: {done.error.message}`."
    )


# Questions that the person's documents answer: the demo model looks them up and quotes.


TOOL = "search_library"
ASKS = re.compile(
    r"\b(?:librar(?:y|ies)|handbook|guidelines?|documentation"
    r"|(?:my|our|the|these|project) (?:documents?|docs|notes|rules))\b",
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"\b(?:what|does|do|did|the|our|my|these|project|library|libraries|documents?|docs|notes|rules"
    r"|handbook|guidelines?|documentation|say|says|tell|me|about|according|to|in|from|is|are|look"
    r"|up|search|for|find|please|of|on|a|an|how|many|much|which|when|who|why|we|i|and|use|sources?"
    r"|with)\b",
    re.IGNORECASE,
)
PIECE = re.compile(r"^\[(?P<number>\d+)\] (?P<place>.+)\n(?P<text>(?:(?!^\[\d+\] ).*\n?)*)", re.M)
SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\d)[^.!?\n]*)*[.!?]?")
WORD = re.compile(r"\w{3,}")
SENTENCES = 2
STEM_CHARACTERS = 5


@dataclass(frozen=True)
class _Said:
    """A sentence of a document."""

    number: str
    place: str
    text: str
    shared: int
    """How many telling words of the question it has."""


def asks_library(prompt: str) -> bool:
    """Whether the words ask for what documents say."""
    return ASKS.search(prompt) is not None


def answer_from_library(prompt: str) -> Steps[str]:
    """Search the documents and quote the sentences that share most with the question."""
    query = " ".join(ABOUT.sub(" ", prompt).split()).strip(" ?!.,:") or prompt
    found = yield DemoCall("I look that up in the library.", TOOL, {"query": query})
    said = _sentences(found, query)
    if not said:
        return f"The library says nothing about {query!r} that I can quote."
    best = sorted(said, key=lambda each: -each.shared)[:SENTENCES]
    most = best[0].shared
    quoted = [f"{each.text} [{each.number}]" for each in best if each.shared == most]
    sources = dict.fromkeys((each.number, each.place) for each in best if each.shared == most)
    listed = "\n".join(f"- [{number}] {place}" for number, place in sources)
    return "\n\n".join([" ".join(quoted), f"Sources:\n\n{listed}"])


def _sentences(found: str, query: str) -> list[_Said]:
    wanted = set(_stems(query))
    said: list[_Said] = []
    for piece in PIECE.finditer(found):
        for sentence in SENTENCE.findall(piece["text"]):
            text = " ".join(sentence.split()).lstrip("-*#|> ")
            shared = len(wanted & set(_stems(text)))
            if shared and len(text.split()) > 3:
                said.append(_Said(piece["number"], piece["place"], text, shared))
    return said


def _stems(words: str) -> Iterable[str]:
    return (word.lower()[:STEM_CHARACTERS] for word in WORD.findall(words))


# Lines over time, bars by group, histograms and scatter plots.


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
    return _answer_with_chart(chart, done)


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


def _answer_with_chart(chart: Chart, done: Done) -> str:
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


# What a table holds: types, gaps, ranges, the commonest values.


CATEGORY_LIMIT = 5
SHOWN_COLUMNS = 24
STATISTICS = ["column", "count", "mean", "std", "min", "25%", "50%", "75%", "max"]


def describe(work: Work) -> Steps[str]:
    """Sum the table up in one cell, and say what it holds column by column."""
    frame = work.frame
    numbers, dates = frame.of_kind("number"), frame.of_kind("date")
    categories = _categories(work)
    name = work.target_of("profile") or identifier(f"{frame.name}_summary")
    lines = []
    if numbers:
        lines += [
            f'{name} = {frame.name}.describe(include="number").T.round(2)',
            f'print({name}.to_csv(index_label="column"))',
        ]
    lines += [
        f'print("{c.name}:", {pick(frame.name, c)}.min(), "to", {pick(frame.name, c)}.max())'
        for c in dates
    ]
    lines += [
        f'print({pick(frame.name, c)}.value_counts().head(3).to_csv(header=["rows"]))'
        for c in categories
    ]
    if numbers:
        lines.append(name)
    if not lines:
        return _answer_with_profile(work, "")
    done = yield from run_code(
        f"I sum up `{frame.name}`: ranges and the commonest values.", "\n".join(lines)
    )
    if done.error is not None and not table(done.text, STATISTICS):
        return no_result(done.error)
    return _answer_with_profile(work, done.text)


def _categories(work: Work) -> list[Column]:
    texts = [c for c in work.frame.of_kind("text") if 1 < c.unique <= max(20, work.frame.rows // 5)]
    return texts[:CATEGORY_LIMIT]


def _answer_with_profile(work: Work, text: str) -> str:
    frame = work.frame
    gaps = sum(column.missing for column in frame.columns)
    rows = [
        [f"`{c.name}`", c.reads_as, f"{c.missing:,}", _holds(c, text)]
        for c in frame.columns[:SHOWN_COLUMNS]
    ]
    lines = [
        f"`{frame.name}` has **{frame.rows:,} rows** and **{len(frame.columns)} columns**; "
        f"{gaps:,} values are missing.",
        "",
        markdown_table(["column", "type", "missing", "holds"], rows),
    ]
    if len(frame.columns) > SHOWN_COLUMNS:
        lines += ["", f"Only the first {SHOWN_COLUMNS} columns are shown."]
    return "\n".join(lines)


def _holds(column: Column, text: str) -> str:
    if column.reads_as == "number":
        for row in table(text, STATISTICS):
            if row[0] == str(column.name):
                low, middle, high = (number(row[place]) for place in (4, 6, 8))
                return f"{low} to {high}, median {middle}"
    if column.reads_as == "date":
        return labelled(text, str(column.name)).replace(" 00:00:00", "")
    common = table(text, [str(column.name), "rows"])
    if common:
        shown = ", ".join(f"{value} ({rows})" for value, rows in common)
        return f"{column.unique:,} values, most often {shown}"
    examples = ", ".join(column.examples[:2])
    return f"{column.unique:,} values, such as {examples}" if examples else "nothing"


# Answers that need no tool.


NOTICE = (
    "I am cellwright's demo model, a set of rules, not a language model: set OPENAI_API_KEY or "
    "CELLWRIGHT_BASE_URL for a real one."
)
GREETING = "Hello! I can work on tables for you; ask what I can do."
ABILITIES = """\
I only know a few kinds of requests, about a CSV file or a DataFrame:

- `profile sales.csv`
- `plot revenue by month`, also as bars, a histogram or a scatter plot
- `what is the mean of units by region`, also sum, max, min, median, count, top 5
- `which month had the best revenue, by region`
- `clean missing values`
- `fix the error in my last cell`

Add "leave the table in `name`" to choose the variable. For anything else you need a real model."""
NO_TOOL = "I work by running cells, and this request offers no `run_cell` tool."


# What the demo model can do: one file a kind of task, each a generator of steps.
