"""What is said between the person, the model and the tools, and the prompts made of it.

Frozen values that know nothing of a provider's wire shape; ``llm.openai_format`` does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from cellwright.record.usage import Usage

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
class ProviderItems:
    """What a provider sent with a reply and wants back as it was; no other one is sent it.

    ``llm.provider_items`` makes them and puts them into requests.
    """

    service: str
    """Host and port."""
    api: str
    """``chat`` or ``responses``."""
    model: str
    """As it was asked for."""
    items: tuple[Mapping[str, Any], ...] = field(hash=False)


@dataclass(frozen=True)
class AssistantMessage:
    """What the model said and which tools it asked for."""

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    """Thinking the provider shows; sent back where ``provider_items`` says so."""
    refusal: str = ""
    author: str = ""
    """Name of the assistant that said it; empty: none was chosen."""
    origin: Origin = ""
    provider_items: ProviderItems | None = None
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


# What goes to a model and what comes back, before any provider's shape.


@dataclass(frozen=True)
class Manifest:
    """What the model is told of one tool."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema (draft 2020-12) of an object."""


@dataclass(frozen=True)
class Parameters:
    """Which model answers, and how."""

    model: str
    temperature: float | None = None
    """None: the provider's default."""
    max_output_tokens: int | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Sent as they are, such as ``reasoning_effort``."""


def fill_parameters(parameters: Parameters, usual: Mapping[str, Any]) -> Parameters:
    """The parameters, with what is usual where they say nothing.

    Args:
        parameters: What was asked for.
        usual: By the names of chat completions, ``max_output_tokens`` and ``extra_body``, whose
            fields go into the request beside the others.
    """
    given = {name: value for name, value in usual.items() if value is not None}
    temperature, limit = given.pop("temperature", None), given.pop("max_output_tokens", None)
    extra = {**given.pop("extra_body", {}), **given, **parameters.extra}
    if parameters.temperature is not None:
        temperature = parameters.temperature
    limit = parameters.max_output_tokens or limit
    return replace(parameters, temperature=temperature, max_output_tokens=limit, extra=extra)


@dataclass(frozen=True)
class Prompt:
    """One request: instructions and history, the tools, the parameters."""

    messages: tuple[Message, ...]
    tools: tuple[Manifest, ...]
    parameters: Parameters


@dataclass(frozen=True)
class Reply:
    """One whole answer of the model."""

    message: AssistantMessage
    finish_reason: str
    """``stop``, ``tool_calls``, ``length``, ``content_filter`` or the provider's own word."""
    usage: Usage
    model: str
    """The model's name as the service gave it, which may differ from the one asked for."""
    duration_seconds: float = 0.0
    first_delta_seconds: float | None = None
    attempts: int = 1
    request_id: str = ""
    dropped_parameters: tuple[str, ...] = ()
    """Parameters the model refused, left out of this request."""
    truncated: bool = False
    """The reply was cut off at a length limit or by a broken connection."""
    problem: str = ""
    """For the model: why its reply could not be read; set by the adapter that tried."""


# ``{{name}}`` in a prompt: put in as text, never evaluated (requirements 002-42).


VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d]\w*)[ \t]*\}\}")


def with_variables(text: str, values: Mapping[str, str]) -> str:
    """The text with the values of the names that are known; every other name stays as it is.

    What a value holds is text: names in it are not looked up again.
    """
    if not values:
        return text
    return VARIABLE.sub(lambda found: values.get(found[1], found[0]), text)
