"""A run as one line of AgentBench's ``runs.jsonl`` (layout of its version 0.2).

A plain AgentBench reader finds what it knows; everything else is under ``output.cellwright``.
Statuses it does not know are told as ``unknown``, with the word in ``result.reason``. The
conversation is flattened to turns of ``user`` and ``agent``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

from cellwright.exports import SecretsFilter
from cellwright.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
)
from cellwright.outputs import safe_json
from cellwright.recording import RunRecord
from cellwright.values import to_dict

__all__ = ["export", "history"]

STATUSES = frozenset(
    {"running", "completed", "agent context limit", "agent validation failed"}
    | {"agent invalid action", "task limit reached", "task error", "unknown"}
)


def export(record: RunRecord, redactor: SecretsFilter | None = None) -> str:
    """The run as one line of JSON, with its line break."""
    if redactor is not None:
        record = redactor.event(record)
    return json.dumps(safe_json(_line(record)), ensure_ascii=False) + "\n"


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


def _line(record: RunRecord) -> dict[str, Any]:
    ended = record.started_at + record.duration_seconds
    return {
        "index": record.run_id,
        "error": None,
        "info": None,
        "output": {
            "index": record.run_id,
            "status": record.status if record.status in STATUSES else "unknown",
            "result": _result(record),
            "history": history(record.messages),
            "cellwright": to_dict(record),
        },
        "time": {
            "timestamp": int(ended * 1000),
            "str": time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(ended)),
        },
    }


def _result(record: RunRecord) -> dict[str, Any]:
    result = {"answer": record.answer, "reason": record.reason, "cause": record.cause}
    if record.status not in STATUSES:
        return {**result, "reason": record.status, "detail": record.reason}
    return result


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
    try:
        arguments = json.loads(call.arguments)
    except ValueError:
        arguments = call.arguments
    told = {"id": call.id, "name": call.name, "arguments": arguments}
    return f"```json\n{json.dumps(told, ensure_ascii=False)}\n```"


def _part(part: TextPart | ImagePart) -> str:
    if isinstance(part, TextPart):
        return part.text
    return f"[image {part.mime}{f': {part.caption}' if part.caption else ''}]"
