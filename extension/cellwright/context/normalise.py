"""Chat messages to what a provider accepts; pure and idempotent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from cellwright.context.call_answers import answer_calls
from cellwright.context.text_filters import TextFilter, filtered, known_filters
from cellwright.llm import Capabilities
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    TextPart,
    ToolMessage,
    UserMessage,
    text_of,
)

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
