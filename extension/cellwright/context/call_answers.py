"""Every tool call answered exactly once, right after the message that made it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from cellwright.record.messages import AssistantMessage, Message, TextPart, ToolCall, ToolMessage

INTERRUPTED = json.dumps(
    {
        "error": "tool call interrupted",
        "retryable": True,
        "note": "It is not known how far it came: look before you call it again.",
    }
)
"""The result of a call that has none (requirements 002-52)."""

Results = dict[int, dict[str, list[ToolMessage]]]


def answer_calls(messages: Sequence[Message]) -> list[Message]:
    """The messages with results behind their calls, ids unique, and nothing without its call."""
    results = _results_by_turn(messages)
    seen: set[str] = set()
    answered: list[Message] = []
    for index, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            continue
        if not isinstance(message, AssistantMessage):
            answered.append(message)
            continue
        if not (message.text.strip() or message.tool_calls or message.refusal):
            continue
        own = results.get(index, {})
        calls = tuple(_unique(call, seen) for call in message.tool_calls)
        same = all(new is old for new, old in zip(calls, message.tool_calls, strict=True))
        answered.append(message if same else replace(message, tool_calls=calls))
        for old, new in zip(message.tool_calls, calls, strict=True):
            answered.append(_result_for(old, new, own))
    return answered


def orphans(messages: Sequence[Message]) -> tuple[str, ...]:
    """Ids of results that answer no call, or one that has its result: they are left out."""
    waiting: list[str] = []
    found: list[str] = []
    for message in messages:
        if isinstance(message, AssistantMessage) and message.tool_calls:
            waiting = [call.id for call in message.tool_calls]
        elif isinstance(message, ToolMessage):
            if message.call_id in waiting:
                waiting.remove(message.call_id)
            else:
                found.append(message.call_id)
    return tuple(found)


def _results_by_turn(messages: Sequence[Message]) -> Results:
    """Tool results under the index of the assistant message that made their call, by call id."""
    found: Results = {}
    made_by: dict[str, int] = {}
    turn = -1
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            turn = index
            made_by.update({call.id: index for call in message.tool_calls})
        elif isinstance(message, ToolMessage):
            # A late result belongs to its own call, whatever was said meanwhile.
            owner = made_by.get(message.call_id, turn)
            found.setdefault(owner, {}).setdefault(message.call_id, []).append(message)
    return found


def _unique(call: ToolCall, seen: set[str]) -> ToolCall:
    base, number, call_id = call.id or "call", 2, call.id or "call"
    while call_id in seen:
        call_id, number = f"{base}_{number}", number + 1
    seen.add(call_id)
    return call if call_id == call.id else replace(call, id=call_id)


def _result_for(old: ToolCall, new: ToolCall, own: dict[str, list[ToolMessage]]) -> ToolMessage:
    waiting = own.get(old.id) or []
    if not waiting:
        return ToolMessage(new.id, new.name, (TextPart(INTERRUPTED),), is_error=True)
    # Two calls of one message may share an id; each takes the next result.
    result = waiting.pop(0)
    return result if result.call_id == new.id else replace(result, call_id=new.id)
