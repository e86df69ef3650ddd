"""What is said between the person, the model and the tools, as frozen values.

The values know nothing of a provider's wire shape; ``lm.openai_format`` does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Origin = Literal["", "user"]
"""Who a message is from where that is not plain: ``user`` put it there in another's place."""
SystemRole = Literal["system", "system_hide"]
UserRole = Literal["user", "user_later", "user_hide", "file", "knowledge"]
"""What stands on the person's side; ``context.roles`` tells what each is for."""


@dataclass(frozen=True)
class TextPart:
    """Plain text."""

    text: str
    kind: Literal["text"] = field(default="text", init=False)


@dataclass(frozen=True)
class ImagePart:
    """A picture for a model that sees."""

    mime: str
    """Such as ``image/png``."""
    data: str = field(metadata={"is_binary": True})
    """Base64, without line breaks."""
    caption: str = ""
    """What a model that does not see is told instead."""
    kind: Literal["image"] = field(default="image", init=False)


Part = TextPart | ImagePart


@dataclass(frozen=True)
class ToolCall:
    """One call the model asks for."""

    id: str
    name: str
    arguments: str
    """The JSON text as the model wrote it; it may be broken."""


@dataclass(frozen=True)
class SystemMessage:
    """Instructions that stay the same for the whole conversation."""

    text: str
    sent_as: SystemRole = "system"
    origin: Origin = ""
    role: Literal["system"] = field(default="system", init=False)


@dataclass(frozen=True)
class UserMessage:
    """What the person said, with what was attached for them."""

    parts: tuple[Part, ...]
    sent_as: UserRole = "user"
    role: Literal["user"] = field(default="user", init=False)


@dataclass(frozen=True)
class AssistantMessage:
    """What the model said and which tools it asked for."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """Thinking the provider shows; never sent back."""
    refusal: str = ""
    author: str = ""
    """Name of the assistant that said it; empty: none was chosen."""
    origin: Origin = ""
    role: Literal["assistant"] = field(default="assistant", init=False)


@dataclass(frozen=True)
class ToolMessage:
    """The one answer to one tool call."""

    call_id: str
    name: str
    parts: tuple[Part, ...]
    is_error: bool = False
    origin: Origin = ""
    """``user``: a person refused the call, and these are their words."""
    role: Literal["tool"] = field(default="tool", init=False)


Message = SystemMessage | UserMessage | AssistantMessage | ToolMessage


def text_of(message: Message) -> str:
    """The text of a message, pictures left out."""
    if isinstance(message, (SystemMessage, AssistantMessage)):
        return message.text
    return "\n".join(part.text for part in message.parts if isinstance(part, TextPart))
