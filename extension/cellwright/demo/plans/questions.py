"""Sums, means, counts, the best and the top N of columns, by groups or over all rows."""

from __future__ import annotations

from cellwright.demo.matching import Query, read_query
from cellwright.demo.pandas_code import pick, query_code, table_name
from cellwright.demo.reading import labelled, table
from cellwright.demo.steps import Steps, run_code
from cellwright.demo.timing import cut_dates
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
