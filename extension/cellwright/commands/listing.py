"""``runs``, ``show`` and ``schema``: what is in the record."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from cellwright.commands import COMPLETED, Invocation, VerbContext
from cellwright.commands.results import Result
from cellwright.commands.terminal import cut, one_line
from cellwright.commands.workplace import code_lines, output_lines, unfinished_lines
from cellwright.record.events import json_schema
from cellwright.record.run_record import RecordedExecution, RunRecord, Score, sum_points
from cellwright.record.values import to_dict
from cellwright.session.run import Run
from cellwright.store.runs import RunSummary
from cellwright.text.cleaning import plain_text

RUN_HEADINGS = (*("id", "status", "started", "model", "<seconds>", "<tokens>", "<cost>", "prompt"),)
RUNS_LISTED = 20
PROMPT_CHARACTERS = 160


def runs(context: VerbContext) -> Result:
    """List the newest runs, with how many there are of each status."""
    options = context.options
    limit = int(context.words[0]) if context.words else options.limit or RUNS_LISTED
    with context.open_store() as store:
        counts, found = store.counts(), store.list(limit, options.find)
        unwritten = store.unwritten()
    document = {
        "total": sum(counts.values()),
        "counts": counts,
        "runs": [to_dict(summary) for summary in found],
    }
    listed, count = list_runs(found, unwritten), _count(counts, context.prefix)
    text = f"{count}\n{listed.text}" if counts else count
    return replace(listed, text=text.rstrip(), document=document)


def list_runs(runs: Sequence[RunSummary], unwritten: Collection[str] = ()) -> Result:
    """Make the table of runs.

    Args:
        runs: Those that are listed.
        unwritten: Ids of runs that are not on disk.
    """
    rows = [_row(run, is_on_disk=run.run_id not in unwritten) for run in runs]
    return Result("" if runs else "No run fits.", RUN_HEADINGS, rows, runs)


def _count(counts: Mapping[str, int], prefix: str) -> str:
    total = sum(counts.values())
    if not total:
        ask = "%agent PROMPT" if prefix.startswith("%") else f"{prefix}run PROMPT"
        return f"No runs yet. Ask something: {ask}"
    shares = [f"{status} {count} ({count / total:.0%})" for status, count in counts.items()]
    return f"{total} {'run' if total == 1 else 'runs'}: {', '.join(shares)}"


def _row(run: RunSummary, *, is_on_disk: bool) -> tuple[str, ...]:
    # These repeat a question that was asked, or are about its answers.
    mark = f"({run.lane}) " if run.lane in ("replay", "branch", "judge") else ""
    tilde = "~" if run.usage.estimated else ""
    return (
        run.run_id,
        run.status if is_on_disk else f"{run.status}, not on disk",
        _time(run.started_at),
        run.model,
        f"{run.duration_seconds:.1f}",
        f"{tilde}{run.usage.total_tokens:,}",
        _dollars(run.cost_dollars),
        f"{mark}{cut(one_line(run.prompt), PROMPT_CHARACTERS)}",
    )


def show(context: VerbContext) -> Result:
    """Show one run: its prompt, every cell that ran, the answer."""
    with context.open_store() as store:
        record = store.record(store.resolve(context.words[0]))
    return Result("\n".join(_shown(record)), document=to_dict(record))


def _shown(record: RunRecord) -> list[str]:
    lines = [f"Run {record.run_id}  {Run(record).summary()}", *_facts(record), ""]
    lines += [f"> {line}" for line in plain_text(record.prompt).split("\n")]
    for number, execution in enumerate(record.executions, start=1):
        lines += ["", *_execution_lines(number, execution)]
    if record.answer:
        lines += ["", plain_text(record.answer)]
    if unfinished := unfinished_lines(record):
        lines += ["", *unfinished]
    if record.reason:
        lines += ["", plain_text(record.reason).rstrip()]
    if record.scores:
        lines += ["", *score_lines(record.scores)]
    return lines


def score_lines(scores: Sequence[Score]) -> list[str]:
    """What a run is worth, check by check."""
    lines = [f"Score: {sum_points(scores)}"]
    for score in scores:
        word = "passed" if score.passed else "failed"
        if score.value is None:
            word = "comment" if score.passed else "could not be made"
        why = one_line(score.error or score.explanation)
        points = f", {score.earned:g} of {score.points:g}" if score.value is not None else ""
        lines.append(f"  {one_line(score.name)}: {word}{points}{f': {why}' if why else ''}")
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
    if ended is not None and ended.note:
        status += f", {one_line(ended.note)}"
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
