"""What is in the context, part by part, and about how many tokens each part costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from cellwright.context.sizes import PICTURE_TOKENS, message_tokens, text_tokens
from cellwright.context.summary import is_summary
from cellwright.context.turns import pinned_run, question_of
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    ToolMessage,
    text_of,
)
from cellwright.record.prompts import Manifest

PARTS = (
    "instructions",
    "tools",
    "summary of earlier turns",
    "pinned",
    "questions",
    "put beside questions",
    "answers",
    "calls",
    "results",
    "pictures",
)
"""In the order in which they are told."""


@dataclass(frozen=True)
class ContextPart:
    """One part of what the next request begins with."""

    name: str
    pieces: int
    tokens: int


def context_parts(
    messages: Iterable[Message], tools: Sequence[Manifest] = ()
) -> tuple[ContextPart, ...]:
    """The parts that there are, in the order of ``PARTS``."""
    tokens: Counter[str] = Counter()
    pieces: Counter[str] = Counter()
    found = [*_of_tools(tools), *_of_all(messages)]
    for part in found:
        tokens[part.name] += part.tokens
        pieces[part.name] += part.pieces
    return tuple(ContextPart(name, pieces[name], tokens[name]) for name in PARTS if pieces[name])


def _of_tools(tools: Sequence[Manifest]) -> Iterator[ContextPart]:
    for tool in tools:
        text = f"{tool.name}{tool.description}{dict(tool.parameters)}"
        yield ContextPart("tools", 1, text_tokens(text))


def _of_all(messages: Iterable[Message]) -> Iterator[ContextPart]:
    is_after_pinned = False
    for message in messages:
        if pinned_run(message):
            yield ContextPart("pinned", 1, message_tokens(message))
        elif is_after_pinned and isinstance(message, AssistantMessage) and not message.tool_calls:
            yield ContextPart("pinned", 0, message_tokens(message))
        else:
            yield from _of(message)
        is_after_pinned = bool(pinned_run(message))


def _of(message: Message) -> Iterator[ContextPart]:
    whole = message_tokens(message)
    if isinstance(message, SystemMessage):
        yield ContextPart("instructions", 1, whole)
        return
    if isinstance(message, AssistantMessage):
        yield from _said(message, whole)
        return
    pictures = sum(isinstance(part, ImagePart) for part in message.parts)
    if pictures:
        yield ContextPart("pictures", pictures, pictures * PICTURE_TOKENS)
    rest = whole - pictures * PICTURE_TOKENS
    if isinstance(message, ToolMessage):
        yield ContextPart("results", 1, rest)
    elif is_summary(message):
        yield ContextPart("summary of earlier turns", 1, rest)
    else:
        beside = text_tokens(text_of(message)) - text_tokens(question_of(message))
        yield ContextPart("questions", 1, rest - beside)
        if beside > 0:
            yield ContextPart("put beside questions", 1, beside)


def _said(message: AssistantMessage, whole: int) -> Iterator[ContextPart]:
    called = sum(text_tokens(call.name + call.arguments) for call in message.tool_calls)
    if message.tool_calls:
        yield ContextPart("calls", len(message.tool_calls), called)
    if message.text or not message.tool_calls:
        yield ContextPart("answers", 1, whole - called)
