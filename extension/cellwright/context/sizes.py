"""About how many tokens messages cost, by what they are made of."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.record.messages import AssistantMessage, ImagePart, Message, SystemMessage, text_of

BYTES_PER_TOKEN = 4
PICTURE_TOKENS = 800
FRAME_TOKENS = 4
"""What a message costs beside its text."""


def text_tokens(text: str) -> int:
    """Four bytes a token, so that a Chinese character is most of one."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)


def message_tokens(message: Message) -> int:
    """About what one message costs."""
    tokens = FRAME_TOKENS + text_tokens(text_of(message))
    if isinstance(message, SystemMessage):
        return tokens
    if isinstance(message, AssistantMessage):
        return tokens + sum(text_tokens(call.name + call.arguments) for call in message.tool_calls)
    return tokens + PICTURE_TOKENS * sum(isinstance(part, ImagePart) for part in message.parts)


def total_tokens(messages: Iterable[Message]) -> int:
    """About what messages cost together."""
    return sum(map(message_tokens, messages))
