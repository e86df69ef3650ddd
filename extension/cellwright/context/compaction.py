"""Making a conversation shorter, in rare big steps, when the model's window is full."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cellwright.record.messages import Message, TextPart, ToolMessage, text_of

KEPT_RESULTS = 2
STUB_CHARACTERS = 200
NEWEST_CHARACTERS = 4_000


def compact(messages: Sequence[Message]) -> list[Message] | None:
    """The messages with old tool results cut to their first line, or None when nothing is to gain.

    The newest two results keep up to 4,000 characters. One pass, so that the prompt cache is
    broken once and not every turn (experience.md, C3).
    """
    positions = [i for i, message in enumerate(messages) if isinstance(message, ToolMessage)]
    recent = set(positions[-KEPT_RESULTS:])
    shorter = [
        _cut(message, NEWEST_CHARACTERS if index in recent else STUB_CHARACTERS)
        for index, message in enumerate(messages)
    ]
    return None if shorter == list(messages) else shorter


def _cut(message: Message, limit: int) -> Message:
    if not isinstance(message, ToolMessage):
        return message
    text = text_of(message)
    has_picture = any(not isinstance(part, TextPart) for part in message.parts)
    if len(text) <= limit and not has_picture:
        return message
    kept = text if len(text) <= limit else f"{text[:limit]} [… cut to make room]"
    return replace(message, parts=(TextPart(kept),))
