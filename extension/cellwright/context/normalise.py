"""Chat messages to what a provider accepts; pure and idempotent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cellwright.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

__all__ = ["normalise"]

INTERRUPTED = "Interrupted: this call did not finish, and it is not known how far it came."


def normalise(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Messages a strict provider accepts.

    One system message, first; every tool call answered exactly once, right after the message
    that made it; call ids unique; results without a call dropped; neighbouring user messages
    merged; empty assistant messages dropped. Applying it twice changes nothing more.

    Source: requirements 002-4x, faults M10, M47, M48.
    """
    pending = list(messages)
    systems = [m.text for m in pending if isinstance(m, SystemMessage) and m.text.strip()]
    rest = [m for m in pending if not isinstance(m, SystemMessage)]
    body = _merge_users(_answer_calls(rest))
    head: list[Message] = [SystemMessage("\n\n".join(systems))] if systems else []
    return tuple(head + body)


def _answer_calls(messages: Sequence[Message]) -> list[Message]:
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
        answered.append(replace(message, tool_calls=calls))
        for old, new in zip(message.tool_calls, calls, strict=True):
            answered.append(_result_for(old, new, own))
    return answered


def _results_by_turn(messages: Sequence[Message]) -> dict[int, dict[str, list[ToolMessage]]]:
    """Tool results under the index of the assistant message they follow, by call id."""
    found: dict[int, dict[str, list[ToolMessage]]] = {}
    turn = -1
    for index, message in enumerate(messages):
        if isinstance(message, AssistantMessage) and message.tool_calls:
            turn = index
        elif isinstance(message, ToolMessage):
            found.setdefault(turn, {}).setdefault(message.call_id, []).append(message)
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


def _merge_users(messages: list[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            merged[-1] = UserMessage(last.parts + message.parts)
        else:
            merged.append(message)
    return merged
