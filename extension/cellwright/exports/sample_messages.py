"""Messages of a sample: OpenAI's chat format, and beside it what that format has no place for.

Readers that know the format alone find what they know: ``role``, ``content``, ``tool_calls``,
``tool_call_id``. Ours are ``reasoning_content``, ``refusal``, ``is_error``, the ``name`` of a tool
message's tool, a picture's ``caption`` and, where they say something, ``sent_as``, ``origin`` and
``author``; a tool message may hold pictures.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from cellwright.llm.openai_format import message_from_openai
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
)

JSON = dict[str, Any]


def format_messages(messages: Iterable[Message]) -> tuple[JSON, ...]:
    """Messages as a sample holds them; nothing of them is lost."""
    return tuple(_format(message) for message in messages)


def parse_messages(messages: Iterable[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages of a sample as values.

    Raises:
        ValueError: A message has a role that is not known.
    """
    return tuple(message_from_openai(message) for message in messages)


def arguments_said(messages: Iterable[Message]) -> dict[str, Any]:
    """What each call's message says its arguments are; None where that is no JSON."""
    found: dict[str, Any] = {}
    for message in messages:
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            try:
                found[call.id] = json.loads(call.arguments)
            except ValueError:
                found[call.id] = None
    return found


def _format(message: Message) -> JSON:
    match message:
        case SystemMessage():
            return {"role": "system", "content": message.text} | _marks(message, "system")
        case UserMessage():
            return {"role": "user", "content": _content(message.parts)} | _marks(message, "user")
        case ToolMessage():
            told: JSON = {"role": "tool", "tool_call_id": message.call_id, "name": message.name}
            told["content"] = _content(message.parts)
            origin = {"origin": message.origin} if message.origin else {}
            return told | ({"is_error": True} if message.is_error else {}) | origin
        case AssistantMessage():
            return _said(message)


def _said(message: AssistantMessage) -> JSON:
    calls = [
        {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}}
        for c in message.tool_calls
    ]
    said: JSON = {"role": "assistant", "content": message.text or (None if calls else "")}
    more = {
        "tool_calls": calls,
        "reasoning_content": message.reasoning,
        "refusal": message.refusal,
        "author": message.author,
        "origin": message.origin,
    }
    return said | {name: value for name, value in more.items() if value}


def _marks(message: SystemMessage | UserMessage, usual: str) -> JSON:
    sent_as = {"sent_as": message.sent_as} if message.sent_as != usual else {}
    origin = message.origin if isinstance(message, SystemMessage) else ""
    return sent_as | ({"origin": origin} if origin else {})


def _content(parts: tuple[Part, ...]) -> Any:
    if len(parts) == 1 and isinstance(parts[0], TextPart):
        return parts[0].text
    return [_format_part(part) for part in parts]


def _format_part(part: Part) -> JSON:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    url = {"url": f"data:{part.mime};base64,{part.data}"}
    caption = {"caption": part.caption} if part.caption else {}
    return {"type": "image_url", "image_url": url, **caption}
