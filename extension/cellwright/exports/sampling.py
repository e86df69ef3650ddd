"""A run as a sample, and a sample as the run it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.exports.sample import (
    NoticeGiven,
    ReplyGiven,
    SampleCell,
    SampleEvent,
    SampleRecord,
    SampleTask,
    SampleTime,
    ToolCalled,
    WrittenCell,
    arguments_said,
    format_messages,
    parse_messages,
)
from cellwright.record.events import BranchMark
from cellwright.record.messages import AssistantMessage, Manifest, Parameters, Usage
from cellwright.record.outputs import (
    Cell,
    ErrorOutput,
    Execution,
    FileChange,
    VariableSummary,
    from_nbformat,
    to_nbformat,
)
from cellwright.record.run_record import (
    RecordedCall,
    RecordedCell,
    RecordedExecution,
    RecordedStep,
    RunRecord,
)
from cellwright.record.values import from_dict, to_dict

RUN_FACTS = (
    "lane",
    "mode",
    "limits",
    "assistant",
    "adapter",
    "source_run",
    "continues",
    "earlier_messages",
    "history_replaced_at",
    "branch",
)
OWN_FACTS = ("process_id", "cwd", "session")
"""Of a kernel, what is another for each; a run's folder is among its own facts."""
DECIMALS = 6


def sample_of(record: RunRecord, name: str, *, whole: bool = False) -> SampleRecord:
    """The sample that a run is, before anything was scored.

    Args:
        record: The run.
        name: The sample's id.
        whole: Keep what is long and often the same: packages, the notebook's cells before, the
            folder.
    """
    gone = {made.cell.id for made in record.cells if made.is_removed}
    return SampleRecord(
        id=name,
        run_id=record.run_id,
        task=SampleTask(index=record.run_id),
        model=_given({**to_dict(record.parameters), "base_url": record.base_url}),
        input=record.prompt,
        files=dict(record.files),
        setup=record.start_executed,
        tools=tuple(to_dict(tool) for tool in record.tools),
        messages=format_messages(record.messages),
        cells=tuple(
            _cell(ran, record, is_kept=ran.cell_id not in gone) for ran in record.executions
        ),
        written=tuple(_written(record)),
        events=tuple(_events(record)),
        status=record.status,
        cause=record.cause,
        error=record.reason if record.status != "completed" else "",
        limit=record.cause if record.status == "task limit reached" else "",
        result=record.answer,
        usage=_counted(record.usage),
        cost_dollars=record.cost_dollars,
        time=SampleTime(round(record.started_at, 3), round(record.duration_seconds, DECIMALS)),
        env=_environment(record, whole=whole),
        notebook=_notebook(record, whole=whole),
        run=_run_facts(record, whole=whole),
        scores=record.scores,
    )


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value not in (None, "", {}, [], ())}


def _counted(usage: Usage) -> dict[str, Any]:
    return {key: value for key, value in to_dict(usage).items() if value}


def _cell(ran: RecordedExecution, record: RunRecord, *, is_kept: bool) -> SampleCell:
    at = _since(record, ran.started_at)
    ended = ran.execution
    outputs = tuple(to_nbformat(output) for output in ran.outputs)
    if ended is None:
        return SampleCell(
            ran.cell_id,
            ran.origin,
            ran.source,
            outputs=outputs,
            is_kept=is_kept,
            call_id=ran.call_id,
            at=at,
        )
    return SampleCell(
        ran.cell_id,
        ran.origin,
        ran.source,
        ended.status,
        ended.execution_count,
        outputs,
        f"{ended.error.ename}: {ended.error.evalue}" if ended.error is not None else "",
        round(ended.duration_seconds, DECIMALS),
        tuple(variable.name for variable in ended.changed),
        ended.removed,
        is_kept,
        {change.path: change.change for change in ended.files},
        ended.note,
        ran.call_id,
        at,
        None if ended.cpu_seconds is None else round(ended.cpu_seconds, DECIMALS),
        ended.rss_bytes,
    )


def _since(record: RunRecord, moment: float) -> float:
    return round(moment - record.started_at, DECIMALS) if moment else 0.0


def _written(record: RunRecord) -> Iterator[WrittenCell]:
    """Cells that never ran, or were changed after they did."""
    last = {ran.cell_id: ran.source for ran in record.executions}
    for made in record.cells:
        cell = made.cell
        if last.get(cell.id) != cell.source:
            yield WrittenCell(
                cell.id,
                cell.cell_type,
                cell.source,
                made.origin,
                made.call_id,
                is_kept=not made.is_removed,
            )


def _events(record: RunRecord) -> Iterator[SampleEvent]:
    places = [
        number
        for number, message in enumerate(record.messages)
        if isinstance(message, AssistantMessage) and number >= record.earlier_messages
    ]
    replies = [
        _reply(record, step, places[number] if number < len(places) else None)
        for number, step in enumerate(record.steps)
    ]
    said = arguments_said(record.messages)
    calls = [_called(record, call, said.get(call.call_id)) for call in record.calls]
    timed: list[ReplyGiven | ToolCalled] = [*replies, *calls]
    yield from sorted(timed, key=lambda event: event.at)
    yield from (NoticeGiven(text) for text in record.notices)


def _reply(record: RunRecord, step: RecordedStep, place: int | None) -> ReplyGiven:
    first = step.first_delta_seconds
    return ReplyGiven(
        at=_since(record, step.ended_at),
        message=place,
        number=step.number,
        model="" if step.model == record.parameters.model else step.model,
        finish_reason=step.finish_reason,
        usage=_counted(step.usage),
        cost_dollars=step.cost_dollars,
        seconds=round(step.duration_seconds, DECIMALS),
        first_delta_seconds=None if first is None else round(first, DECIMALS),
        attempts=step.attempts,
    )


def _called(record: RunRecord, call: RecordedCall, said: Any) -> ToolCalled:
    return ToolCalled(
        at=_since(record, call.started_at),
        call_id=call.call_id,
        name=call.name,
        status=call.status,
        decision=call.decision,
        seconds=round(call.duration_seconds, DECIMALS),
        arguments=None if dict(call.arguments) == said else dict(call.arguments),
        usage=call.usage,
        contents=call.contents,
    )


def _environment(record: RunRecord, *, whole: bool) -> dict[str, Any]:
    kernel = _given({key: value for key, value in record.kernel.items() if key not in OWN_FACTS})
    packages = dict(record.packages) if whole else {}
    return _given({"kernel": kernel, "version": record.version, "packages": packages})


def _run_facts(record: RunRecord, *, whole: bool) -> dict[str, Any]:
    facts: dict[str, Any] = {name: to_dict(getattr(record, name, None)) for name in RUN_FACTS}
    facts["earlier_messages"] = record.earlier_messages or None
    facts["limits"] = _given(record.limits)
    if record.status == "completed":
        facts["reason"] = record.reason
    if whole:
        facts["cwd"] = record.cwd
    # That none is on is not the same as that nothing was chosen.
    chosen = {} if record.text_filters is None else {"text_filters": list(record.text_filters)}
    return {**_given(facts), **chosen}


def _notebook(record: RunRecord, *, whole: bool) -> dict[str, Any]:
    before = [(cell.id, cell.cell_type, cell.source) for cell in record.start_cells]
    ended: dict[str, tuple[str, str, str]] = {row[0]: row for row in before}
    for made in record.cells:
        ended[made.cell.id] = (made.cell.id, made.cell.cell_type, made.cell.source)
        if made.is_removed:
            del ended[made.cell.id]
    facts: dict[str, Any] = {"path": record.notebook_path}
    facts["before"] = _hash(before) if before else ""
    facts["after"] = _hash(list(ended.values())) if ended else ""
    if whole:
        facts["cells"] = [
            {"id": name, "cell_type": kind, "source": source} for name, kind, source in before
        ]
    return _given(facts)


def _hash(cells: Sequence[tuple[str, str, str]]) -> str:
    text = json.dumps([[kind, source] for _, kind, source in cells], ensure_ascii=True)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


# A sample as the run it was, for what shows runs.


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
    branch = sample.run.get("branch")
    return replace(
        head,
        branch=from_dict(BranchMark, branch) if branch else None,
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
