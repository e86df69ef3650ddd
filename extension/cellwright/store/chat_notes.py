"""What waits in a chat for its next question: notes, instructions, answers that a person brings.

They are kept with the chat and not with a program, so a kernel that ends loses none of them and
the question may be asked in a notebook or in the panel.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cellwright.context.roles import ROLES, message_as
from cellwright.errors import SetupError
from cellwright.record.messages import Message, TextPart
from cellwright.store.database import Database, Statement

NOTES_LIMIT = 100
WAITING = tuple(
    role.name for role in ROLES.values() if role.from_people and role.is_stored and not role.asks
)
"""Roles in which a person may say something that nobody answers at once."""
INSERT = "INSERT INTO chat_notes (note_id, chat_id, role, text, created_at) VALUES (?, ?, ?, ?, ?)"
SELECT = """SELECT note_id, role, text FROM chat_notes WHERE chat_id = ?
    ORDER BY created_at, rowid"""
FORGET = "DELETE FROM chat_notes WHERE chat_id = ? AND note_id = ?"
NO_TEXT = "There is no text in it."


@dataclass(frozen=True)
class ChatNote:
    """One thing that waits."""

    note_id: str
    role: str
    text: str

    @property
    def message(self) -> Message:
        """As it will stand before the question."""
        return message_as(self.role, (TextPart(self.text),))


class ChatNotes:
    """What waits in the chats of one database; safe to use from any thread.

    Args:
        database: Where it is written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def add(self, chat_id: str, role: str, text: str) -> ChatNote:
        """Let a text wait; secrets in it have been taken out before.

        Raises:
            SetupError: In that role nothing waits, it is empty, or too much waits.
        """
        note = ChatNote(secrets.token_hex(8), role, text.strip())
        if role not in WAITING:
            raise SetupError(
                f"A message cannot wait as {role!r}.", hint=f"Use one of {', '.join(WAITING)}."
            )
        if not note.text:
            raise SetupError(NO_TEXT, hint="Write what the next question is to take along.")
        if len(self.waiting(chat_id)) >= NOTES_LIMIT:
            raise SetupError(
                f"{NOTES_LIMIT} notes wait already.", hint="Ask something; it takes them along."
            )
        row = (note.note_id, chat_id, role, note.text, self._clock())
        self._database.write(Statement(INSERT, row))
        return note

    def waiting(self, chat_id: str) -> tuple[ChatNote, ...]:
        """What waits, in the order in which it was said."""
        rows = self._database.read(SELECT, (chat_id,))
        return tuple(ChatNote(*row) for row in rows)

    def forget(self, chat_id: str, notes: Iterable[str]) -> None:
        """Let these wait no more: a question took them along, or the person took them back."""
        self._database.write(*(Statement(FORGET, (chat_id, note)) for note in notes))
