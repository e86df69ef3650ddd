"""A run in the order a reader wants it: what was said, called, written and run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from cellwright.record.messages import AssistantMessage
from cellwright.record.outputs import Cell
from cellwright.record.run_record import (
    RecordedCall,
    RecordedExecution,
    RecordedStep,
    RunRecord,
)


@dataclass(frozen=True)
class TimelineMessage:
    """The model said something."""

    text: str
    reasoning: str = ""
    kind: Literal["said"] = field(default="said", init=False)


@dataclass(frozen=True)
class Called:
    """The model called a tool that ran no cell, or was refused."""

    call: RecordedCall
    kind: Literal["called"] = field(default="called", init=False)


@dataclass(frozen=True)
class Wrote:
    """A cell came into being and was not run."""

    cell: Cell
    call_id: str = ""
    kind: Literal["wrote"] = field(default="wrote", init=False)


@dataclass(frozen=True)
class Ran:
    """A cell ran."""

    execution: RecordedExecution
    superseded: bool = False
    """It was changed and run again later."""
    kind: Literal["ran"] = field(default="ran", init=False)


Item = TimelineMessage | Called | Wrote | Ran


def timeline(record: RunRecord) -> tuple[Item, ...]:
    """The items of a run, in order; the answer is the last one where nothing has said it yet."""
    return tuple(_Timeline(record).items())


class _Timeline:
    def __init__(self, record: RunRecord) -> None:
        self._record = record
        self._messages = [
            message
            for message in record.messages[record.earlier_messages :]
            if isinstance(message, AssistantMessage)
        ]
        self._named = {call.id for message in self._messages for call in message.tool_calls}
        self._calls: dict[str, RecordedCall] = {call.call_id: call for call in record.calls}
        self._runs: defaultdict[str, list[Ran]] = defaultdict(list)
        self._written: defaultdict[str, list[Wrote]] = defaultdict(list)
        last = {execution.cell_id: execution for execution in record.executions}
        for execution in record.executions:
            ran = Ran(execution, superseded=last[execution.cell_id] is not execution)
            self._runs[execution.call_id].append(ran)
        for recorded in record.cells:
            if recorded.cell.id not in last and not recorded.is_removed:
                self._written[recorded.call_id].append(Wrote(recorded.cell, recorded.call_id))

    def items(self) -> Iterator[Item]:
        said = ""
        for message in self._messages:
            said = message.text or message.refusal or said
            if not message.tool_calls:
                yield from self._unclaimed()
            if message.text or message.refusal or message.reasoning:
                yield TimelineMessage(message.text or message.refusal, message.reasoning)
            for call in message.tool_calls:
                yield from self._answered(call.id)
        yield from self._unclaimed()
        if self._record.answer.strip() and self._record.answer.strip() != said.strip():
            yield TimelineMessage(self._record.answer)

    def _unclaimed(self) -> Iterator[Item]:
        """Cells of calls that no message names: the run broke off, or a person ran them."""
        for call_id in dict.fromkeys([*self._written, *self._runs]):
            if call_id not in self._named:
                yield from self._answered(call_id)

    def _answered(self, call_id: str) -> Iterator[Item]:
        written, runs = self._written.pop(call_id, []), self._runs.pop(call_id, [])
        call = self._calls.get(call_id)
        if call is not None and not written and not runs:
            yield Called(call)
        yield from written
        yield from runs


# Which reply asked for which tool call, and so what a step took.


def reply_of_calls(record: RunRecord) -> dict[str, RecordedStep]:
    """The reply that made each call; of several calls in one reply only the first is named."""
    said = [
        message
        for message in record.messages[record.earlier_messages :]
        if isinstance(message, AssistantMessage)
    ]
    pairs = zip(said, record.steps, strict=False)
    return {message.tool_calls[0].id: step for message, step in pairs if message.tool_calls}
