"""What a person gave a conversation beside their questions: instructions, and notes that wait.

They belong to its chat, so the panel has them too and a new kernel goes on with them. Before the
first question there is no chat yet: then they are kept here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from cellwright.context.roles import message_as
from cellwright.conversation import Conversation
from cellwright.errors import SetupError
from cellwright.messages import SystemMessage, TextPart, UserMessage, text_of
from cellwright.store.chat_rows import checked_prompt
from cellwright.store.chats import ChatStore

__all__ = ["ChatPrompt", "ChatWords", "KeptWords", "OwnWords", "hand_over"]

NO_TEXT = "There is no text in it."


@dataclass(frozen=True)
class ChatPrompt:
    """The conversation's own words for the system message."""

    text: str = ""
    adds: bool = False
    """They stand beside an assistant's words, not in their place."""


class ChatWords(Protocol):
    """Where notes and instructions are."""

    @property
    def prompt(self) -> ChatPrompt:
        """The instructions."""
        ...

    def instruct(self, prompt: ChatPrompt) -> None:
        """Give the conversation instructions of its own; an empty text: none.

        Raises:
            SetupError: They are too long.
        """
        ...

    def note(self, role: str, text: str) -> None:
        """Let a text wait for the next question.

        Raises:
            SetupError: It is empty, or too much waits.
        """
        ...


@dataclass
class OwnWords:
    """Those of a conversation that is no chat.

    Args:
        conversation: Before whose next question notes stand.
    """

    conversation: Conversation
    held: list[ChatPrompt] = field(default_factory=list)
    """The instructions, at most one; other conversations of a shell begin with none."""

    @property
    def prompt(self) -> ChatPrompt:
        """The instructions."""
        return self.held[-1] if self.held else ChatPrompt()

    def instruct(self, prompt: ChatPrompt) -> None:
        """Give the conversation instructions of its own."""
        self.held[:] = [ChatPrompt(checked_prompt(prompt.text), prompt.adds)]

    def note(self, role: str, text: str) -> None:
        """Let a text wait for the next question."""
        if not text.strip():
            raise SetupError(NO_TEXT, hint="Write what the next question is to take along.")
        self.conversation.notes.append(message_as(role, (TextPart(text.strip()),)))


@dataclass(frozen=True)
class KeptWords:
    """Those of a chat.

    Args:
        conversation: The chat's, as it goes on here.
        chats: Where the chat is.
        chat_id: Its id.
    """

    conversation: Conversation
    chats: ChatStore
    chat_id: str

    @property
    def prompt(self) -> ChatPrompt:
        """The instructions, also where they were written in the panel."""
        chat = self.chats.get(self.chat_id)
        return ChatPrompt(chat.prompt, chat.prompt_adds)

    def instruct(self, prompt: ChatPrompt) -> None:
        """Give the chat instructions of its own."""
        self.chats.instruct(self.chat_id, self._clean(prompt.text), adds=prompt.adds)

    def note(self, role: str, text: str) -> None:
        """Let a text wait for the chat's next question."""
        self.chats.notes.add(self.chat_id, role, self._clean(text))

    def _clean(self, text: str) -> str:
        return self.conversation.place.redactor.text(text)


def hand_over(own: OwnWords, kept: ChatWords) -> None:
    """Let a chat that begins have what was said before it was there."""
    for message in own.conversation.notes:
        if isinstance(message, (SystemMessage, UserMessage)):
            kept.note(message.sent_as, text_of(message))
    own.conversation.notes.clear()
    if own.prompt.text:
        kept.instruct(own.prompt)
    own.held.clear()
