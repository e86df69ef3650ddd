"""What a person gave a conversation beside their questions: instructions, notes, text filters.

They belong to its chat, so the panel has them too and a new kernel goes on with them. Before the
first question there is no chat yet: then they are kept here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from cellwright.context.roles import message_as
from cellwright.context.text_filters import checked_filters
from cellwright.errors import SetupError
from cellwright.record.messages import SystemMessage, TextPart, UserMessage, text_of
from cellwright.session.conversation import Conversation
from cellwright.store.chat_rows import checked_prompt
from cellwright.store.chat_settings import filters_of, with_filters
from cellwright.store.chats import ChatStore

NO_TEXT = "There is no text in it."


@dataclass(frozen=True)
class ChatPrompt:
    """The conversation's own words for the system message."""

    text: str = ""
    adds: bool = False
    """They stand beside an assistant's words, not in their place."""


class ChatWords(Protocol):
    """Where notes, instructions and the choice of text filters are."""

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

    @property
    def text_filters(self) -> tuple[str, ...] | None:
        """What is done to the person's words, by name and in order; None: all there is."""
        ...

    def choose_filters(self, names: Sequence[str] | None) -> None:
        """Have these text filters, in this order; None: the standard ones.

        Raises:
            SetupError: There is no filter of a name.
        """
        ...

    def note(self, role: str, text: str) -> None:
        """Let a text wait for the next question.

        Raises:
            SetupError: It is empty, or too much waits.
        """
        ...


@dataclass
class HeldWords:
    """What was chosen before there is a chat; other conversations of a shell begin without."""

    prompt: ChatPrompt = ChatPrompt()
    text_filters: tuple[str, ...] | None = None

    def clear(self) -> None:
        """Forget it."""
        self.prompt, self.text_filters = ChatPrompt(), None


@dataclass
class OwnWords:
    """Those of a conversation that is no chat.

    Args:
        conversation: Before whose next question notes stand.
    """

    conversation: Conversation
    held: HeldWords = field(default_factory=HeldWords)

    @property
    def prompt(self) -> ChatPrompt:
        """The instructions."""
        return self.held.prompt

    def instruct(self, prompt: ChatPrompt) -> None:
        """Give the conversation instructions of its own."""
        self.held.prompt = ChatPrompt(checked_prompt(prompt.text), prompt.adds)

    @property
    def text_filters(self) -> tuple[str, ...] | None:
        """What is done to the person's words."""
        return self.held.text_filters

    def choose_filters(self, names: Sequence[str] | None) -> None:
        """Have these text filters, in this order."""
        self.held.text_filters = None if names is None else checked_filters(names)

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

    @property
    def text_filters(self) -> tuple[str, ...] | None:
        """What is done to the person's words, also where it was chosen in the panel."""
        return filters_of(self.chats.get(self.chat_id).settings)

    def choose_filters(self, names: Sequence[str] | None) -> None:
        """Have these text filters, in this order."""
        settings = self.chats.get(self.chat_id).settings
        self.chats.keep_settings(self.chat_id, with_filters(settings, names))

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
    if own.text_filters is not None:
        kept.choose_filters(own.text_filters)
    own.held.clear()
