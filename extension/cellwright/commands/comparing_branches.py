"""Attempts from one state, side by side: what each came to, and what it would change."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line
from cellwright.exports.html import duration_text
from cellwright.record.outputs import DisplayData, DisplayUpdate, ExecuteResult
from cellwright.record.run_record import RunRecord

HEADINGS = (
    "branch",
    "what",
    "status",
    "answer",
    "changes",
    "<cells>",
    "<time>",
    "<tokens>",
    "<cost>",
)
ANSWER_CHARACTERS = 160
NAMES_SHOWN = 6
PICTURE = "image/png"


@dataclass(frozen=True)
class BranchRow:
    """One attempt in numbers."""

    number: int
    label: str
    run_id: str
    status: str
    answer: str
    variables: tuple[str, ...]
    files: tuple[str, ...]
    cells: int
    seconds: float
    tokens: int
    cost_dollars: float | None


def describe_branch(record: RunRecord) -> BranchRow:
    """What an attempt came to."""
    ended = [ran.execution for ran in record.executions if ran.execution is not None]
    mark = record.branch
    return BranchRow(
        mark.number if mark is not None else 1,
        mark.label if mark is not None else "",
        record.run_id,
        record.status,
        record.answer or record.reason_line,
        tuple(dict.fromkeys(v.name for execution in ended for v in execution.changed)),
        tuple(dict.fromkeys(file.path for execution in ended for file in execution.files)),
        len(record.executions),
        record.duration_seconds or max(0.0, time.time() - record.started_at),
        record.usage.total_tokens,
        record.cost_dollars,
    )


def tabulate_branches(records: Sequence[RunRecord], text: str = "") -> Result:
    """A row for each attempt.

    Args:
        records: The runs, in the order of the branches.
        text: Stands above the rows.
    """
    found = [describe_branch(record) for record in records]
    rows = [
        (
            str(row.number),
            row.label or record.parameters.model,
            row.status,
            one_line(row.answer)[:ANSWER_CHARACTERS],
            ", ".join(_shortened((*row.variables, *row.files))) or "nothing",
            str(row.cells),
            duration_text(row.seconds),
            f"{row.tokens:,}",
            f"${row.cost_dollars:.4f}" if row.cost_dollars is not None else "",
        )
        for row, record in zip(found, records, strict=True)
    ]
    return Result(text, HEADINGS, rows, found)


def _shortened(names: Sequence[str]) -> Iterator[str]:
    yield from names[:NAMES_SHOWN]
    if len(names) > NAMES_SHOWN:
        yield f"{len(names) - NAMES_SHOWN} more"


def pictures_side_by_side(records: Sequence[RunRecord]) -> str:
    """The last picture that each attempt drew, as HTML that loads nothing; empty: none drew one."""
    drawn = [(describe_branch(record), last_picture(record)) for record in records]
    if not any(picture for _, picture in drawn):
        return ""
    columns = "".join(
        f'<figure style="margin:0"><figcaption>{row.number}. {escape(row.label)}</figcaption>'
        + (
            f'<img alt="The plot of branch {row.number}" style="max-width:100%" '
            f'src="data:{PICTURE};base64,{escape(picture, quote=True)}">'
            if picture
            else "no plot"
        )
        + "</figure>"
        for row, picture in drawn
    )
    return (
        '<div style="display:grid;gap:1em;grid-auto-flow:column;'
        f'grid-auto-columns:minmax(12em,1fr);overflow-x:auto">{columns}</div>'
    )


def last_picture(record: RunRecord) -> str:
    """The last PNG that a run drew, in base64; empty: it drew none."""
    for ran in reversed(record.executions):
        for output in reversed(ran.outputs):
            if isinstance(output, (DisplayData, DisplayUpdate, ExecuteResult)):
                picture = output.data.get(PICTURE)
                if isinstance(picture, str):
                    return "".join(picture.split())
    return ""
