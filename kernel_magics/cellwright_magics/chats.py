"""Chats of the magics: what is asked in a notebook stays one chat, over restarts of its kernel too.

The panel lists them too. Where nobody can be asked (``jupyter execute``, papermill, CI) no chat is
kept: its runs are recorded, and that is all.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from cellwright.errors import CellwrightError, SetupError
from cellwright.record.run_record import RecordedEvent
from cellwright.session.conversation import Conversation
from cellwright.session.questions import Place
from cellwright.session.resuming import is_behind, resumed, with_notes
from cellwright.settings import Settings
from cellwright.store.chat_owners import guest_owner
from cellwright.store.chat_rows import Chat
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database
from cellwright.store.ids import find_id
from cellwright.store.runs import RunStore
from cellwright_magics.chat_words import ChatWords, HeldWords, KeptWords, OwnWords, hand_over
from cellwright_magics.reports import Advice, Table

LISTED = 20
NO_LIMIT = 1_000_000
EVERYWHERE = ("all", "find")


class ChatTable(Table):
    """Chats, the one used last first."""

    headings = ("chat", "title", "prompts", "last used", "notebook")
    empty = "There is no chat here yet."

    def __init__(self, chats: Sequence[Chat], current: str = "") -> None:
        self.chats = tuple(chats)
        self._current = current

    def __len__(self) -> int:
        return len(self.chats)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a chat; the one that goes on here has a mark."""
        return [
            (
                chat.chat_id + (" *" if chat.chat_id == self._current else ""),
                chat.title or "(nothing asked yet)",
                str(chat.run_count),
                time.strftime("%Y-%m-%d %H:%M", time.localtime(chat.updated_at)),
                chat.notebook_path,
            )
            for chat in self.chats
        ]


class Chats:
    """The chat of one shell, and the others of its record.

    Args:
        confirm: Asks the person; what they typed.
    """

    def __init__(self, confirm: Callable[[str], str] = input) -> None:
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

    def told_of(self, conversation: Conversation) -> Advice:
        """What the person is told of a chat that goes on."""
        chat = ChatStore(_database(conversation.place)).get(self.current)
        questions = f"{chat.run_count} question{'' if chat.run_count == 1 else 's'}"
        known = (
            f"The model knows what was said ({questions})"
            if conversation.messages
            else ("Nothing was answered yet")
        )
        own = " It has instructions of its own: %agent prompt shows them." if chat.prompt else ""
        return Advice(
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
                return Advice("The next question begins a new chat. Variables stay.")
            case "rename":
                chat = chats.rename(
                    _named(words[2], chats, path, owner).chat_id, " ".join(words[3:])
                )
                return Advice(f"Chat {chat.chat_id} is called {chat.title!r}.")
            case "delete":
                return self._delete(_named(words[2], chats, path, owner), chats)
        found = chats.list(here, " ".join(words[2:]), LISTED, owner=owner)
        return ChatTable([chat for chat in found if chat.run_count], self.current)

    def _delete(self, chat: Chat, chats: ChatStore) -> Advice:
        question = f"Delete {chat.title!r} with the record of its {chat.run_count} runs? [y/N] "
        if self._confirm(question).strip().lower() not in ("y", "yes"):
            return Advice("Nothing was deleted.")
        if chats.claims.is_held(chat.chat_id):
            raise SetupError("A run of this chat is going on.", hint="Stop it first.")
        chats.delete(chat.chat_id)
        self.current = "" if chat.chat_id == self.current else self.current
        return Advice(f"Chat {chat.title!r} is deleted.")


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


def _database(place: Place) -> Database:
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
