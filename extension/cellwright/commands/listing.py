"""``cellwright runs``, ``show`` and ``schema``: what is in the record."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.records import open_store
from cellwright.commands.terminal import one_line, table
from cellwright.commands.workplace import code_lines, output_lines
from cellwright.record.events import json_schema
from cellwright.record.run_record import RecordedExecution, RunRecord
from cellwright.record.values import to_dict
from cellwright.session.run import Run
from cellwright.store.runs import RunSummary
from cellwright.text.cleaning import plain_text

COLUMNS = ("ID", "STATUS", "STARTED", "MODEL", "<SECONDS>", "<TOKENS>", "<COST>", "PROMPT")


def runs(invocation: Invocation) -> int:
    """List the runs, with how many there are of each status."""
    options = invocation.options
    with open_store(invocation) as store:
        counts, found = store.counts(), store.list(options.limit, options.search)
    document = {
        "total": sum(counts.values()),
        "counts": counts,
        "runs": [to_dict(summary) for summary in found],
    }
    lines = [_counts_line(counts)]
    if found:
        lines += ["", table(COLUMNS, [_row(summary) for summary in found])]
    invocation.console.result(document, "\n".join(lines))
    return COMPLETED


def _counts_line(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    if not total:
        return "No runs yet. Ask something: cellwright run PROMPT"
    shares = [f"{status} {count} ({count / total:.0%})" for status, count in counts.items()]
    return f"{total} {'run' if total == 1 else 'runs'}: {', '.join(shares)}"


def _row(summary: RunSummary) -> tuple[str, ...]:
    tilde = "~" if summary.usage.estimated else ""
    return (
        summary.run_id,
        summary.status,
        _time(summary.started_at),
        one_line(summary.model),
        f"{summary.duration_seconds:.1f}",
        f"{tilde}{summary.usage.total_tokens:,}",
        _dollars(summary.cost_dollars),
        one_line(summary.prompt),
    )


def show(invocation: Invocation) -> int:
    """Show one run."""
    with open_store(invocation) as store:
        record = store.record(store.resolve(invocation.options.id))
    invocation.console.result(to_dict(record), "\n".join(_shown(record)))
    return COMPLETED


def _shown(record: RunRecord) -> list[str]:
    lines = [f"Run {record.run_id}  {Run(record).summary()}", *_facts(record), ""]
    lines += [f"> {line}" for line in plain_text(record.prompt).split("\n")]
    for number, execution in enumerate(record.executions, start=1):
        lines += ["", *_execution_lines(number, execution)]
    if record.answer:
        lines += ["", plain_text(record.answer)]
    if record.reason:
        lines += ["", plain_text(record.reason).rstrip()]
    return lines


def _facts(record: RunRecord) -> list[str]:
    facts = {
        "started": _time(record.started_at),
        "model": f"{one_line(record.parameters.model)} at {one_line(record.base_url)}",
        "assistant": one_line(record.assistant),
        "where": f"{record.lane}, mode {record.mode}, in {one_line(record.cwd)}",
        "files": ", ".join(one_line(name) for name in record.files),
        "repeats": record.source_run,
        "continues": record.continues,
        "cost": _dollars(record.cost_dollars),
        "notices": "; ".join(one_line(notice) for notice in record.notices),
    }
    return [f"{name:<10}{value}" for name, value in facts.items() if value]


def _execution_lines(number: int, execution: RecordedExecution) -> list[str]:
    ended = execution.execution
    status = f"{ended.status}, {ended.duration_seconds:.1f} s" if ended else "did not end"
    head = f"[{number}] cell {execution.cell_id} of the {execution.origin}: {status}"
    return [head, *code_lines(execution.source), *output_lines(execution.outputs)]


def schema(invocation: Invocation) -> int:
    """Print the JSON Schema of the events, which is JSON in any case."""
    document = json_schema()
    invocation.console.result(document, json.dumps(document, indent=2))
    return COMPLETED


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).strftime("%Y-%m-%d %H:%M:%S")


def _dollars(cost: float | None) -> str:
    return "" if cost is None else f"${cost:.4f}"
