"""The eleven roles of a chat: who may send which, what asks for an answer, what is shown.

Source: requirements 002-20 to 002-30. On the wire they become the four of ``messages``; what a
message was sent as stays in the record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cellwright.errors import SetupError
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Part,
    SystemMessage,
    TextPart,
    UserMessage,
    text_of,
)

NOTHING_TO_ANSWER = "There is nothing to answer; send a message."


@dataclass(frozen=True)
class Role:
    """One role."""

    name: str
    asks: bool = False
    """A message in it is answered at once."""
    is_shown: bool = True
    from_people: bool = True
    """A person may send it; the others come from the model, the tools or an upload."""
    is_stored: bool = True


ROLES: Mapping[str, Role] = {
    role.name: role
    for role in (
        Role("user", asks=True),
        Role("user_later"),
        Role("user_hide", asks=True, is_shown=False),
        Role("system"),
        Role("system_hide", is_shown=False),
        Role("assistant"),
        Role("system_override", is_shown=False, is_stored=False),
        Role("file", from_people=False),
        Role("assistant_call", from_people=False),
        Role("tool", from_people=False),
        Role("knowledge", from_people=False),
    )
}


def message_as(role: str, parts: tuple[Part, ...]) -> Message:
    """What a person sends in a role, for the record and the model.

    Raises:
        SetupError: There is no such role, or people cannot send it as a message.
    """
    found = ROLES.get(role)
    if found is None or not found.from_people or not found.is_stored:
        may = ", ".join(r.name for r in ROLES.values() if r.from_people and r.is_stored)
        raise SetupError(f"A message cannot be sent as {role!r}.", hint=f"Send it as one of {may}.")
    text = "\n".join(part.text for part in parts if isinstance(part, TextPart))
    match role:
        case "system" | "system_hide":
            return SystemMessage(text, role, "user")
        case "assistant":
            return AssistantMessage(text, origin="user")
        case "user" | "user_later" | "user_hide":
            return UserMessage(parts, role)
    raise AssertionError(role)


def is_note(message: Message) -> bool:
    """Whether a person let it wait for their next question."""
    match message:
        case UserMessage(sent_as="user_later") | SystemMessage(origin="user"):
            return True
        case AssistantMessage(origin="user"):
            return True
    return False


def shown_notes(notes: Sequence[Message]) -> tuple[str, ...]:
    """The texts of notes, those left out that are not shown."""
    hidden = [name for name, role in ROLES.items() if not role.is_shown]
    return tuple(text_of(note) for note in notes if getattr(note, "sent_as", "") not in hidden)
