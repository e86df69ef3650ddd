"""A sample as the run it was, for what shows runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from cellwright.exports.sample import NoticeGiven, ReplyGiven, SampleCell, SampleRecord, ToolCalled
from cellwright.exports.sample_messages import arguments_said, parse_messages
from cellwright.record.cells import Cell, Execution, FileChange, VariableSummary
from cellwright.record.outputs import ErrorOutput, from_nbformat
from cellwright.record.prompts import Manifest, Parameters
from cellwright.record.recorded_calls import RecordedCall, RecordedStep
from cellwright.record.recorded_cells import RecordedCell, RecordedExecution
from cellwright.record.run_record import RunRecord
from cellwright.record.usage import Usage
from cellwright.record.values import from_dict

FACTS = (
    "lane",
    "mode",
    "limits",
    "cwd",
    "source_run",
    "continues",
    "earlier_messages",
    "assistant",
    "adapter",
)


def run_of(sample: SampleRecord) -> RunRecord:
    """The run that a sample was."""
    messages = parse_messages(sample.messages)
    return replace(
        _head(sample),
        messages=messages,
        history_replaced_at=tuple(sample.run.get("history_replaced_at", ())),
        tools=tuple(from_dict(Manifest, _whole_tool(tool)) for tool in sample.tools),
        cells=tuple(_recorded_cells(sample)),
        executions=tuple(_execution(sample, cell) for cell in sample.cells),
        calls=tuple(_calls(sample, arguments_said(messages))),
        steps=tuple(_steps(sample)),
        notices=tuple(event.text for event in sample.events if isinstance(event, NoticeGiven)),
    )


def _head(sample: SampleRecord) -> RunRecord:
    """All but what was said and done."""
    status: Any = sample.status
    head = RunRecord(
        sample.run_id or sample.id,
        status,
        sample.input,
        from_dict(Parameters, {"model": sample.agent, **sample.model}),
    )
    facts: dict[str, Any] = {name: sample.run[name] for name in FACTS if name in sample.run}
    filters = sample.run.get("text_filters")
    return replace(
        head,
        base_url=str(sample.model.get("base_url", "")),
        answer=sample.result if isinstance(sample.result, str) else _as_text(sample.result),
        reason=sample.error or str(sample.run.get("reason", "")),
        cause=sample.cause,
        started_at=sample.time.started_at,
        duration_seconds=sample.time.seconds,
        files=sample.files,
        start_cells=tuple(from_dict(Cell, cell) for cell in sample.notebook.get("cells", ())),
        start_executed=sample.setup,
        packages=sample.env.get("packages", {}),
        kernel=sample.env.get("kernel", {}),
        notebook_path=str(sample.notebook.get("path", "")),
        usage=from_dict(Usage, sample.usage),
        cost_dollars=sample.cost_dollars,
        version=str(sample.env.get("version", "")),
        text_filters=None if filters is None else tuple(filters),
        **facts,
    )


def _as_text(result: Any) -> str:
    return "" if result is None else json.dumps(result, ensure_ascii=False)


def _whole_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": "", "description": "", "parameters": {}, **tool}


def _moment(sample: SampleRecord, at: float) -> float:
    return sample.time.started_at + at


def _execution(sample: SampleRecord, cell: SampleCell) -> RecordedExecution:
    outputs = tuple(from_nbformat(output) for output in cell.outputs)
    errors = [output for output in outputs if isinstance(output, ErrorOutput)]
    return RecordedExecution(
        cell.id,
        cell.source,
        cell.origin,
        outputs,
        _ended(cell, errors[0] if errors else None) if cell.status else None,
        cell.call_id,
        _moment(sample, cell.at),
    )


def _ended(cell: SampleCell, shown: ErrorOutput | None) -> Execution:
    status: Any = cell.status
    changes: Any = cell.files.items()
    name, _, value = cell.error.partition(": ")
    return Execution(
        status,
        cell.seconds,
        (shown or ErrorOutput(name, value)) if cell.error else None,
        cell.execution_count,
        changed=tuple(VariableSummary(changed, "", "") for changed in cell.changed),
        removed=cell.removed,
        files=tuple(FileChange(path, change) for path, change in changes),
        note=cell.note,
        cpu_seconds=cell.cpu_seconds,
        rss_bytes=cell.rss_bytes,
    )


def _recorded_cells(sample: SampleRecord) -> Iterator[RecordedCell]:
    written = {cell.id: cell for cell in sample.written}
    for cell in {cell.id: cell for cell in sample.cells}.values():
        ran, later = _execution(sample, cell), written.pop(cell.id, None)
        count = ran.execution.execution_count if ran.execution is not None else None
        source = later.source if later is not None else cell.source
        yield RecordedCell(
            Cell(cell.id, "code", source, ran.outputs, count),
            cell.origin,
            ran.execution,
            later.call_id if later is not None else cell.call_id,
            ran.started_at,
            is_removed=not cell.is_kept,
        )
    for only in written.values():
        kind: Any = only.cell_type
        made = Cell(only.id, kind, only.source)
        yield RecordedCell(made, only.origin, call_id=only.call_id, is_removed=not only.is_kept)


def _calls(sample: SampleRecord, said: Mapping[str, Any]) -> Iterator[RecordedCall]:
    for event in sample.events:
        if isinstance(event, ToolCalled):
            given = said.get(event.call_id) if event.arguments is None else event.arguments
            yield RecordedCall(
                event.call_id,
                event.name,
                given if isinstance(given, dict) else {},
                event.status,
                event.decision,
                event.seconds,
                _moment(sample, event.at),
                event.usage,
                event.contents,
            )


def _steps(sample: SampleRecord) -> Iterator[RecordedStep]:
    for event in sample.events:
        if isinstance(event, ReplyGiven):
            yield RecordedStep(
                event.number,
                event.model or str(sample.model.get("model", "")),
                event.finish_reason,
                from_dict(Usage, event.usage),
                event.cost_dollars,
                event.seconds,
                event.attempts,
                event.first_delta_seconds,
                _moment(sample, event.at),
            )
