"""What the list of a chat's messages answers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class MessageAuthor:
    """The assistant that said something."""

    id: str
    name: str


@dataclass(frozen=True)
class MessageCall:
    """A tool that the model called."""

    id: str
    name: str
    arguments: str | None
    """As the model wrote them; null unless ``debug`` is given."""


@dataclass(frozen=True)
class ChatMessage:
    """One message of a chat, as a list of them shows it."""

    run: str
    role: str
    """One of the eleven of docs/context.md."""
    hidden: bool
    """Whether its role is one that is not shown; such ones are left out unless ``debug`` is given.
    """
    text: str
    assistant: MessageAuthor | None = None
    calls: tuple[MessageCall, ...] = ()
    tool: str = ""
    """Of a result: the tool it is of."""
    call: str = ""
    """Of a result: the id of its call."""
    is_error: bool = False


@dataclass(frozen=True)
class WaitingMessage:
    """What the next question takes along; nobody answers it on its own."""

    id: str
    role: str
    text: str


@dataclass(frozen=True)
class NewMessage:
    """A message that is to wait."""

    text: str = ""
    role: str = "user_later"


@dataclass(frozen=True)
class ChatMessages:
    """The newest messages of a chat, oldest first."""

    chat: str
    messages: tuple[ChatMessage, ...]
    before: str
    """Asked with ``before`` set to this, the messages that came earlier; empty: there are none."""
    waiting: tuple[WaitingMessage, ...] = ()
