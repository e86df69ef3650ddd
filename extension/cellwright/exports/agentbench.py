"""A sample as one line of AgentBench's ``runs.jsonl`` (layout of its version 0.2).

A plain AgentBench reader finds what it knows; everything else is under ``output.cellwright``.
Statuses it does not know are told as ``unknown``, with the word in ``result.reason``. The
conversation is flattened to turns of ``user`` and ``agent``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from cellwright.errors import SetupError
from cellwright.exports import SecretsFilter
from cellwright.exports.sample import SampleRecord, parse_messages, trimmed
from cellwright.exports.sampling import sample_of
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
)
from cellwright.record.run_record import RunRecord
from cellwright.record.values import json_or_none, safe_json

STATUSES = frozenset(
    {"running", "completed", "agent context limit", "agent validation failed"}
    | {"agent invalid action", "task limit reached", "task error", "unknown"}
)


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as one line of JSON, with its line break."""
    if redactor is not None:
        record = redactor.event(record)
    return text_of_line(line_of(sample_of(record, record.run_id, whole=True)))


def line_of(sample: SampleRecord) -> dict[str, Any]:
    """A sample as a line of ``runs.jsonl``: what a reader of AgentBench knows, then the rest."""
    return line_with(sample, trimmed(sample), history(parse_messages(sample.messages)))


def line_with(
    sample: SampleRecord, stored: Mapping[str, Any], turns: list[dict[str, str]]
) -> dict[str, Any]:
    """A line with the record as it is stored in that file, and what AgentBench calls history."""
    status, result = sample.status, sample.result
    if status not in STATUSES:
        status, result = "unknown", {"reason": sample.status, "result": sample.result}
    output = {"index": sample.task.index, "status": status, "result": result, "history": turns}
    return {
        "index": sample.task.index,
        "error": None,
        "info": None,
        "output": {**output, "cellwright": stored},
        "time": stamp(sample.time.started_at + sample.time.seconds),
    }


def sample_of_line(line: Mapping[str, Any]) -> SampleRecord:
    """The sample of a line that ``line_of`` made.

    Raises:
        SetupError: The line is of another writer.
    """
    return SampleRecord.from_dict(stored_in(line))


def stored_in(line: Mapping[str, Any]) -> Mapping[str, Any]:
    """The record in a line, as it is stored there.

    Raises:
        SetupError: The line is of another writer.
    """
    found = (line.get("output") or {}).get("cellwright")
    if not isinstance(found, Mapping) or "id" not in found:
        raise SetupError(
            f"The sample {line.get('index')!r} was not recorded by cellwright.",
            hint="Its full record is missing, so it can be read but not scored or compared.",
        )
    return found


def text_of_line(line: Mapping[str, Any]) -> str:
    """A line as it stands in the file."""
    return json.dumps(safe_json(line), ensure_ascii=False, separators=(",", ":")) + "\n"


def stamp(moment: float) -> dict[str, Any]:
    """A time as AgentBench writes it."""
    text = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(moment))
    return {"timestamp": int(moment * 1000), "str": text}


def history(messages: Iterable[Message]) -> list[dict[str, str]]:
    """The conversation as alternating turns of ``user`` and ``agent``, the first a user's."""
    turns: list[dict[str, str]] = []
    for message in messages:
        role = "agent" if isinstance(message, AssistantMessage) else "user"
        content = "\n\n".join(_pieces(message))
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = f"{turns[-1]['content']}\n\n{content}".strip()
        else:
            turns.append({"role": role, "content": content})
    if turns and turns[0]["role"] == "agent":
        turns.insert(0, {"role": "user", "content": ""})
    return turns


def _pieces(message: Message) -> Iterator[str]:
    if isinstance(message, SystemMessage):
        yield message.text
    elif isinstance(message, AssistantMessage):
        if message.text or message.refusal:
            yield message.text or message.refusal
        for call in message.tool_calls:
            yield _call(call)
    else:
        for part in message.parts:
            yield _part(part)


def _call(call: ToolCall) -> str:
    read = json_or_none(call.arguments)
    arguments = call.arguments if read is None else read
    told = {"id": call.id, "name": call.name, "arguments": arguments}
    return f"```json\n{json.dumps(told, ensure_ascii=False)}\n```"


def _part(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[image {part.mime}{f': {part.caption}' if part.caption else ''}]"
