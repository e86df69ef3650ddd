"""Missing values: numbers get the median, text a word, rows without a date go."""

from __future__ import annotations

from cellwright.demo.columns import Column
from cellwright.demo.pandas_code import pick, quoted
from cellwright.demo.reading import labelled, table
from cellwright.demo.steps import Steps, run_code
from cellwright.demo.work import Work, listing, markdown_table, no_result, number

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
