"""Two runs held against each other: figures, and the first step in which they differ."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import zip_longest

from cellwright.exports.timeline import Called, Item, Ran, Said, Wrote, timeline
from cellwright.record.run_record import RunRecord
from cellwright_magics.wording import one_line


@dataclass(frozen=True)
class Row:
    """One thing about both runs."""

    name: str
    first: str
    second: str


@dataclass(frozen=True)
class Comparison:
    """How two runs differ."""

    rows: tuple[Row, ...]
    step: int
    """Number of the first item in which they differ; 0: in none."""
    difference: Row | None = None
    """What it is in each."""


def compare_runs(first: RunRecord, second: RunRecord) -> Comparison:
    """Hold one run against another."""
    names_and_texts = zip(_figures(first), _figures(second), strict=True)
    rows = tuple(Row(name, one, other) for (name, one), (_, other) in names_and_texts)
    items = zip_longest(timeline(first), timeline(second))
    for number, (one, other) in enumerate(items, start=1):
        if _essence(one) != _essence(other):
            kinds = " / ".join(dict.fromkeys(item.kind for item in (one, other) if item))
            return Comparison(rows, number, Row(kinds, _told(one), _told(other)))
    return Comparison(rows, 0)


def _figures(record: RunRecord) -> list[tuple[str, str]]:
    cost = record.cost_dollars
    return [
        ("run", record.run_id),
        ("prompt", one_line(record.prompt)),
        ("model", record.parameters.model),
        ("status", record.status),
        ("steps", str(len(record.steps))),
        ("cells", str(len(record.executions))),
        ("tokens", f"{record.usage.total_tokens:,}"),
        ("cost", "not known" if cost is None else f"${cost:.4f}"),
        ("seconds", f"{record.duration_seconds:.1f}"),
    ]


def _essence(item: Item | None) -> object:
    """What has to be the same for a step to be the same; times do not."""
    match item:
        case None:
            return None
        case Said():
            return ("said", item.text.strip())
        case Called():
            arguments = json.dumps(dict(item.call.arguments), sort_keys=True, default=str)
            return ("called", item.call.name, arguments, item.call.status)
        case Wrote():
            return ("wrote", item.cell.source)
        case Ran():
            ran = item.execution
            status = ran.execution.status if ran.execution is not None else "running"
            return ("ran", ran.source, status, tuple(repr(output) for output in ran.outputs))


def _told(item: Item | None) -> str:
    match item:
        case None:
            return "(it had ended)"
        case Said():
            return item.text
        case Called():
            arguments = json.dumps(dict(item.call.arguments), ensure_ascii=False, default=str)
            return f"{item.call.name} {arguments} · {item.call.status}"
        case Wrote():
            return item.cell.source
        case Ran():
            status = item.execution.execution.status if item.execution.execution else "running"
            return f"{item.execution.source}\n· {status}"
