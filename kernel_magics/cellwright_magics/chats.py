"""Chats of the magics: what is asked in a notebook stays one chat, over restarts of its kernel too.

The panel lists them too. Where nobody can be asked (``jupyter execute``, papermill, CI) no chat is
kept: its runs are recorded, and that is all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from cellwright.commands.results import Result
from cellwright.context.normalise import checked_filters
from cellwright.context.roles import message_as
from cellwright.errors import CellwrightError, SetupError
from cellwright.record.messages import SystemMessage, TextPart, UserMessage, text_of
from cellwright.record.run_record import RecordedEvent
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext
from cellwright.session.resuming import is_behind, resumed, with_notes
from cellwright.settings import Settings
from cellwright.store.chat_rows import Chat, checked_prompt, filters_of, guest_owner, with_filters
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database
from cellwright.store.ids import find_id
from cellwright.store.runs import RunStore
from cellwright_magics.approval import read_line

# What a person gave a conversation beside their questions: instructions, notes, text filters.
#
# They belong to its chat, so the panel has them too and a new kernel goes on with them. Before the
# first question there is no chat yet: then they are kept here.


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


LISTED = 20
NO_LIMIT = 1_000_000
EVERYWHERE = ("all", "find")


def tabulate_chats(chats: Sequence[Chat], current: str = "") -> Result:
    """Make one row a chat, the one used last first; the one that goes on here has a mark."""
    rows = [
        (
            chat.chat_id + (" *" if chat.chat_id == current else ""),
            chat.title or "(nothing asked yet)",
            str(chat.run_count),
            time.strftime("%Y-%m-%d %H:%M", time.localtime(chat.updated_at)),
            chat.notebook_path,
        )
        for chat in chats
    ]
    text = "" if rows else "There is no chat here yet."
    return Result(text, ("chat", "title", "<prompts>", "last used", "notebook"), rows, chats)


class Chats:
    """The chat of one shell, and the others of its record.

    Args:
        confirm: Asks the person; what they typed.
    """

    def __init__(self, confirm: Callable[[str], str] = read_line) -> None:
        self._confirm = confirm
        self.current = ""
        """The chat that goes on here; empty: the next question begins one."""
        self._held = HeldWords()

    def leave(self) -> None:
        """Let the next question begin another chat."""
        self.current = ""
        self._held.clear()

    def words(self, conversation: Conversation, notebook: Path | None) -> ChatWords:
        """The notes and instructions of the conversation that goes on here."""
        if self.current:
            chats = _store(_database(conversation.place), notebook)
            if chats.find(self.current) is not None:
                return KeptWords(conversation, chats, self.current)
        return OwnWords(conversation, self._held)

    @contextmanager
    def answering(
        self, conversation: Conversation, notebook: Path | None
    ) -> Iterator[Conversation]:
        """The conversation to ask in, which nobody else does meanwhile.

        Raises:
            ChatBusyError: Another program answers in this chat.
        """
        chats = _store(_database(conversation.place), notebook)
        if not self.current or chats.find(self.current) is None:
            place, name = conversation.place, notebook.name if notebook is not None else ""
            self.current = chats.create(
                name, _owner(place.user_id, is_guest=place.is_guest)
            ).chat_id
            own = OwnWords(conversation, self._held)
            hand_over(own, KeptWords(conversation, chats, self.current))
        with chats.claims.held(self.current):
            if is_behind(conversation, chats, self.current):
                conversation = resumed(conversation.place, chats, self.current)
            place = replace(conversation.place, chat_id=self.current)
            conversation.move(replace(place, listener=_Keeper(chats, self.current)))
            try:
                with with_notes(conversation, chats, self.current):
                    yield conversation
            finally:
                conversation.move(replace(conversation.place, listener=None))

    def resume(self, name: str, before: Conversation, notebook: Path | None) -> Conversation:
        """The conversation of a chat, to go on with here.

        Args:
            name: The chat.
            before: What went on here; its notes that no chat has go along.
            notebook: The notebook's file.

        Raises:
            SetupError: There is no such chat.
        """
        chats = _store(_database(before.place), notebook)
        place = before.place
        owner = _owner(place.user_id, is_guest=place.is_guest)
        chat = _named(name, chats, notebook, owner)
        self.leave()
        self.current = chat.chat_id
        hand_over(OwnWords(before), KeptWords(before, chats, self.current))
        return resumed(before.place, chats, chat.chat_id)

    def told_of(self, conversation: Conversation) -> Result:
        """What the person is told of a chat that goes on."""
        chat = ChatStore(_database(conversation.place)).get(self.current)
        questions = f"{chat.run_count} question{'' if chat.run_count == 1 else 's'}"
        known = (
            f"The model knows what was said ({questions})"
            if conversation.messages
            else ("Nothing was answered yet")
        )
        own = " It has instructions of its own: %agent prompt shows them." if chat.prompt else ""
        return Result(
            f"{chat.title!r} goes on. {known}; variables of a kernel that has ended are gone.{own}"
        )

    def run(
        self, words: Sequence[str], database: Database, path: Path | None, owner: str = ""
    ) -> object:
        """Do what a line about chats asks for, but for ``resume``.

        Args:
            words: The line.
            database: Where the chats are.
            path: The notebook's file.
            owner: Who asks; guests see and change their own chats alone.

        Raises:
            SetupError: There is no such chat, or it cannot be changed so.
        """
        chats, action = _store(database, path), words[1] if len(words) > 1 else ""
        here = path.name if path is not None and action not in EVERYWHERE else ""
        match action:
            case "new":
                self.leave()
                return Result("The next question begins a new chat. Variables stay.")
            case "rename":
                chat = chats.rename(
                    _named(words[2], chats, path, owner).chat_id, " ".join(words[3:])
                )
                return Result(f"Chat {chat.chat_id} is called {chat.title!r}.")
            case "delete":
                return self._delete(_named(words[2], chats, path, owner), chats)
        found = chats.list(here, " ".join(words[2:]), LISTED, owner=owner)
        return tabulate_chats([chat for chat in found if chat.run_count], self.current)

    def _delete(self, chat: Chat, chats: ChatStore) -> Result:
        question = f"Delete {chat.title!r} with the record of its {chat.run_count} runs? [y/N] "
        if self._confirm(question).strip().lower() not in ("y", "yes"):
            return Result("Nothing was deleted.")
        if chats.claims.is_held(chat.chat_id):
            raise SetupError("A run of this chat is going on.", hint="Stop it first.")
        chats.delete(chat.chat_id)
        self.current = "" if chat.chat_id == self.current else self.current
        return Result(f"Chat {chat.title!r} is deleted.")


class _Keeper:
    """Notes that a run was asked in a chat; never in its way.

    Args:
        chats: Where it is noted.
        chat_id: The chat.
    """

    def __init__(self, chats: ChatStore, chat_id: str) -> None:
        self._chats, self._chat_id = chats, chat_id
        self._kept = ""

    def __call__(self, recorded: tuple[RecordedEvent, ...]) -> None:
        run_id = recorded[0].run_id if recorded else ""
        if run_id and run_id != self._kept:
            self._kept = run_id
            with suppress(CellwrightError):
                self._chats.add_run(self._chat_id, run_id)


def _database(place: RunContext) -> Database:
    assert isinstance(place.store, RunStore)
    return place.store.database


def _store(database: Database, notebook: Path | None) -> ChatStore:
    """The chats as seen from the notebook's folder: servers that start above it find them too."""
    root = notebook.resolve().parent.as_posix() if notebook is not None else ""
    return ChatStore(database, root=root)


def _owner(user: str, *, is_guest: bool) -> str:
    return guest_owner(user) if is_guest else ""


def owner_of(settings: Settings) -> str:
    """The name that chats of this account are kept under; a guest's are kept for a day."""
    return _owner(settings.user, is_guest=settings.is_guest)


def _named(name: str, chats: ChatStore, path: Path | None, owner: str) -> Chat:
    """The one chat that a name means: ``last``, or a part of its id.

    Raises:
        SetupError: There is none, or there are several.
    """
    here = chats.list(path.name, owner=owner) if name == "last" and path is not None else ()
    listed = (*here, *chats.list(owner=owner, limit=NO_LIMIT))
    known = {chat.chat_id: chat for chat in listed if chat.run_count or name != "last"}
    try:
        return known[find_id(name, list(known), "chat")]
    except SetupError as error:
        raise SetupError(error.message, hint="See %agent chats.") from error
