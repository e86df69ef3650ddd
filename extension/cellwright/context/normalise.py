"""Chat messages to what a provider accepts; pure and idempotent."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace

from cellwright.context.text_filters import TextFilter, filtered, known_filters
from cellwright.llm import Capabilities
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)

# Every tool call answered exactly once, right after the message that made it.


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


FOUND = "Based on the conversation, the following content was found in the knowledge base."
NOTHING_FOUND = "According to the user conversation, no results were found in the knowledge base."
GOES_ON = "(The conversation goes on here.)"
BROKEN_OFF = "(This answer was broken off.)"
STANDARD = Capabilities()


def normalise(
    messages: Iterable[Message],
    capabilities: Capabilities = STANDARD,
    *,
    answering: str | None = None,
    text_filters: Iterable[str] | None = None,
) -> tuple[Message, ...]:
    """Messages a strict provider accepts.

    One system message, first; files with the words of the person that follow them; neighbouring
    messages of the person merged, and of the model; every tool call answered exactly once, right
    after the message that made it; call ids unique; results without a call dropped; empty
    messages of the model dropped. Applying it twice changes nothing more.

    Args:
        messages: What was said, in order.
        capabilities: What the model takes.
        answering: Name of the assistant that answers now; what others said is marked as theirs.
            None: nothing is marked.
        text_filters: Names of what is done to the person's words outside of code, in order;
            unknown ones are left out. None: all, in the standard order.

    Source: requirements 002-40 to 002-56, faults M10, M47, M48.
    """
    pending, filters = _placed(messages, capabilities), known_filters(text_filters)
    head = _head(pending)
    said = [message for message in pending if not _is_head(message)]
    body = _merged(_plain(message, filters, answering) for message in _with_files(said))
    if capabilities.alternates:
        body = _alternating(body)
    return tuple(body + head if capabilities.system_position == "last" else head + body)


def _placed(messages: Iterable[Message], capabilities: Capabilities) -> list[Message]:
    """The messages with late instructions in the words of the person, where the model wants that.

    They go to the head otherwise, which changes the start of the prompt once.
    """
    placed: list[Message] = []
    for message in messages:
        in_place = capabilities.system_notes == "in_place" and bool(placed)
        if in_place and isinstance(message, SystemMessage) and message.origin == "user":
            note = f"[System note]\n{message.text.strip()}"
            message = UserMessage((TextPart(note),), "user_later")
        placed.append(message)
    return placed


def _is_head(message: Message) -> bool:
    if isinstance(message, UserMessage):
        return message.sent_as == "knowledge"
    return isinstance(message, SystemMessage)


def _head(messages: Sequence[Message]) -> list[Message]:
    """The one system message: instructions in their order, then what was found last."""
    texts = [m.text for m in messages if isinstance(m, SystemMessage) and m.text.strip()]
    known = [m for m in messages if isinstance(m, UserMessage) and m.sent_as == "knowledge"]
    if known:
        found = text_of(known[-1]).strip()
        texts.append(f"{FOUND}\n{found}" if found else NOTHING_FOUND)
    return [SystemMessage("\n\n".join(texts))] if texts else []


def _with_files(messages: Sequence[Message]) -> list[Message]:
    """Calls answered, and files where the words stand that follow them; the last ones wait."""
    ordered: list[Message] = []
    files: list[Message] = []
    for message in answer_calls(messages):
        if isinstance(message, UserMessage) and message.sent_as == "file":
            files.append(message)
        elif isinstance(message, UserMessage):
            ordered += [*files, message]
            files = []
        else:
            ordered.append(message)
    return ordered


def _plain(message: Message, filters: tuple[TextFilter, ...], answering: str | None) -> Message:
    """The message as it is sent, without what is only for the record."""
    if isinstance(message, UserMessage):
        parts = tuple(_plain_part(part, filters) for part in message.parts)
        same = all(new is old for new, old in zip(parts, message.parts, strict=True))
        return message if same and message.sent_as == "user" else UserMessage(parts)
    if isinstance(message, AssistantMessage) and (message.author or message.origin):
        is_other = answering is not None and message.author not in ("", answering)
        mark = f"[said by {message.author!r}]\n" if is_other and message.text else ""
        return replace(message, text=mark + message.text, author="", origin="")
    return message


def _plain_part(part: Part, filters: tuple[TextFilter, ...]) -> Part:
    if not isinstance(part, TextPart):
        return part
    text = filtered(part.text, filters)
    return part if text == part.text else TextPart(text)


def _merged(messages: Iterable[Message]) -> list[Message]:
    merged: list[Message] = []
    for message in messages:
        joined = _joined(merged[-1], message) if merged else None
        if joined is None:
            merged.append(message)
        else:
            merged[-1] = joined
    return merged


def _joined(last: Message, message: Message) -> Message | None:
    """Two neighbours as one; None where they stay two."""
    if isinstance(last, UserMessage) and isinstance(message, UserMessage):
        return UserMessage(last.parts + message.parts)
    if not (isinstance(last, AssistantMessage) and isinstance(message, AssistantMessage)):
        return None
    texts = [text for said in (last, message) if (text := said.text or said.refusal)]
    return replace(message, text="\n\n".join(texts), refusal="")


def _alternating(messages: Sequence[Message]) -> list[Message]:
    """The person first, and the model's words between results and the person's next ones."""
    alternating: list[Message] = []
    for message in messages:
        last = alternating[-1] if alternating else None
        if last is None and not isinstance(message, UserMessage):
            alternating.append(UserMessage((TextPart(GOES_ON),)))
        if isinstance(last, ToolMessage) and isinstance(message, UserMessage):
            alternating.append(AssistantMessage(BROKEN_OFF))
        alternating.append(message)
    return alternating
