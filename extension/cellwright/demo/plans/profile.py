"""What a table holds: types, gaps, ranges, the commonest values."""

from __future__ import annotations

from cellwright.demo.columns import Column
from cellwright.demo.pandas_code import identifier, pick
from cellwright.demo.reading import labelled, table
from cellwright.demo.steps import Steps, run_code
from cellwright.demo.work import Work, markdown_table, no_result, number

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
        return _answer(work, "")
    done = yield from run_code(
        f"I sum up `{frame.name}`: ranges and the commonest values.", "\n".join(lines)
    )
    if done.error is not None and not table(done.text, STATISTICS):
        return no_result(done.error)
    return _answer(work, done.text)


def _categories(work: Work) -> list[Column]:
    texts = [c for c in work.frame.of_kind("text") if 1 < c.unique <= max(20, work.frame.rows // 5)]
    return texts[:CATEGORY_LIMIT]


def _answer(work: Work, text: str) -> str:
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
