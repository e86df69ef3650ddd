"""Chats: conversations of several runs, each with a title and mostly with a notebook."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.errors import SetupError, StoreError
from cellwright.store.chat_claims import ChatClaims
from cellwright.store.chat_notes import ChatNotes
from cellwright.store.chat_owners import GUEST_SECONDS, is_guest, may_open
from cellwright.store.chat_pins import ChatPins
from cellwright.store.chat_rows import (
    COLUMNS,
    FIELDS,
    TITLE_LIMIT_CHARACTERS,
    Chat,
    automatic_title,
    chat_of_row,
    checked_expiry,
    checked_prompt,
    checked_title,
    inserted,
    written,
)
from cellwright.store.chat_runs import (
    ChatRun,
    active,
    added_run,
    branched_runs,
    context_of,
    members,
)
from cellwright.store.chat_search import forget_words, runs_that_say
from cellwright.store.database import Database, Statement
from cellwright.store.runs import RunStore

EMPTY_CHAT_SECONDS = 86_400.0
"""A chat in which nothing was asked for so long is forgotten when another begins."""
PURGE_LIMIT = 1_000
PROMPTS_AT_ONCE = 500
BRANCH = " (branch)"
FORGET_EMPTY = """DELETE FROM chats WHERE updated_at < ? AND title = ''
    AND NOT EXISTS (SELECT 1 FROM chat_runs WHERE chat_runs.chat_id = chats.chat_id)
    AND NOT EXISTS (SELECT 1 FROM chat_notes WHERE chat_notes.chat_id = chats.chat_id)"""
EXPIRED = """SELECT chat_id FROM chats WHERE expires_at > 0 AND expires_at <= ?
    ORDER BY expires_at LIMIT ?"""
IS_ANSWERED = """SELECT status = 'completed'
        OR EXISTS (SELECT 1 FROM events WHERE run_id = ?
            AND kind IN ('model_replied', 'text_delta'))
    FROM runs WHERE run_id = ?"""
DELETE_FROM = "DELETE FROM {} WHERE chat_id = ?"

MAY_BE = """(notebook_path = ? OR notebook_path LIKE '%/' || ?
    OR (notebook_path != '' AND ? LIKE '%/' || notebook_path))"""
"""A path and one from another root end alike; what only seems to is left out later."""


class ChatStore:
    """The chats of one database; safe to use from any thread.

    Args:
        database: Where chats, and the runs they are made of, are written.
        clock: Seconds since the epoch.
        root: The folder that paths start from. Chats of notebooks outside of it, which another
            server made, are not listed; those of a server that starts from another folder are,
            where the notebook is in this one too.
    """

    def __init__(
        self, database: Database, clock: Callable[[], float] = time.time, root: str = ""
    ) -> None:
        self._database = database
        self._clock = clock
        self._root = root.rstrip("/")
        self._runs = RunStore(database, clock)
        self._changing = threading.RLock()
        self.claims = ChatClaims(database, clock)
        """Who works in which chat."""
        self.notes = ChatNotes(database, clock)
        """What waits in a chat for its next question."""
        self.pins = ChatPins(database, self._runs, clock)
        """Whose words stay in a chat's context."""

    def create(self, notebook_path: str = "", owner: str = "") -> Chat:
        """A new chat, in which nothing was asked yet; a guest's is gone after a day."""
        now = self._clock()
        ends = now + GUEST_SECONDS if is_guest(owner) else 0.0
        chat = Chat(_new_id(), "", notebook_path, owner, now, now, root=self._root, expires_at=ends)
        forget = Statement(FORGET_EMPTY, (now - EMPTY_CHAT_SECONDS,))
        self._database.write(forget, inserted(chat))
        return chat

    def branch(self, chat_id: str, run_id: str, owner: str = "") -> Chat:
        """A new chat with what had been said up to and with a run, which both have from then on.

        Raises:
            SetupError: There is no such chat, or it has no such run.
        """
        chat, now = self.get(chat_id), self._clock()
        runs = context_of(self.runs(chat_id), run_id)
        if not runs:
            raise SetupError(f"The chat has no run {run_id!r}.", hint="Reload the page.")
        branch = replace(
            chat,
            chat_id=_new_id(),
            title=_branch_title(chat, self._prompt_of(runs[0].run_id)),
            is_named=True,
            owner=owner,
            created_at=now,
            updated_at=now,
            expires_at=now + GUEST_SECONDS if is_guest(owner) else 0.0,
            branched_from=chat_id,
        )
        pinned = self.pins.copied(chat_id, branch.chat_id, (run.run_id for run in runs))
        self._database.write(inserted(branch), *branched_runs(branch.chat_id, runs), *pinned)
        return self.get(branch.chat_id)

    def find(self, chat_id: str) -> Chat | None:
        """The chat of that id; None: there is none, or it has expired."""
        found = self._chats(f"SELECT {COLUMNS} FROM chats WHERE chat_id = ?", (chat_id,))
        return found[-1] if found else None

    def get(self, chat_id: str) -> Chat:
        """The chat of that id.

        Raises:
            SetupError: There is none.
        """
        chat = self.find(chat_id)
        if chat is None:
            raise SetupError(f"There is no chat {chat_id!r}.", hint="See the list of chats.")
        return chat

    def list(
        self, notebook: str = "", query: str = "", limit: int = 200, *, owner: str | None = None
    ) -> tuple[Chat, ...]:
        """The chats that were used last first.

        Args:
            notebook: Path of a notebook; empty: chats of all, and those without one.
            query: Words, each of which is in the title, a prompt or an answer.
            limit: How many at most.
            owner: Only chats that this person may open; None: all.
        """
        found: Sequence[Chat] = [c for c in self._about(notebook) if self._is_here(c)]
        if owner is not None:
            found = [chat for chat in found if may_open(owner, chat.owner)]
        for word in query.split():
            found = self._with(word, found)
        found = sorted(found, key=lambda chat: (chat.updated_at, chat.chat_id), reverse=True)
        return tuple(found[:limit])

    def rename(self, chat_id: str, title: str) -> Chat:
        """Give a chat a title; an empty one brings the automatic title back.

        Raises:
            SetupError: There is no such chat, or the title is too long.
        """
        line = checked_title(title)
        return self._change(chat_id, title=line, is_named=bool(line))

    def move(self, chat_id: str, notebook_path: str) -> Chat:
        """Let a chat belong to another notebook; empty: to none.

        Raises:
            SetupError: There is no such chat.
        """
        return self._change(chat_id, notebook_path=notebook_path, root=self._root)

    def instruct(self, chat_id: str, prompt: str, *, adds: bool = False) -> Chat:
        """Give a chat instructions of its own; empty: the assistant's count.

        Args:
            chat_id: The chat.
            prompt: The instructions.
            adds: They stand beside the assistant's, not in their place.

        Raises:
            SetupError: There is no such chat, or they are too long.
        """
        text = checked_prompt(prompt)
        return self._change(chat_id, prompt=text, prompt_adds=adds and bool(text))

    def expire(self, chat_id: str, moment: float) -> Chat:
        """Say when a chat goes; 0: never.

        Raises:
            SetupError: There is no such chat, or the moment is past or too far away.
        """
        return self._change(chat_id, expires_at=checked_expiry(moment, self._clock()))

    def keep_settings(self, chat_id: str, settings: Mapping[str, Any]) -> Chat:
        """Replace what was chosen for a chat.

        Raises:
            SetupError: There is no such chat.
        """
        return self._change(chat_id, settings=dict(settings))

    def touch(self, chat_id: str) -> Chat:
        """Note that a chat was used now.

        Raises:
            SetupError: There is no such chat.
        """
        return self._change(chat_id, updated_at=self._clock())

    def rename_path(self, old: str, new: str) -> tuple[Chat, ...]:
        """Follow a file, or a folder with all in it, that was moved; the chats that changed."""
        with self._changing:
            chats = self._chats(f"SELECT {COLUMNS} FROM chats WHERE notebook_path != ''")
            moved = [
                replace(chat, notebook_path=new + chat.notebook_path[len(old) :])
                for chat in chats
                if old
                and self._is_here(chat)
                and f"{chat.notebook_path}/".startswith(f"{old.rstrip('/')}/")
            ]
            if moved:
                self._database.write(*(written(chat, "root", "notebook_path") for chat in moved))
        return tuple(moved)

    def rename_notebook(self, old: str, new: str, person: str) -> tuple[Chat, ...]:
        """Follow one notebook for the chats that a person may open; the chats that changed."""
        with self._changing:
            moved = [
                replace(chat, notebook_path=new)
                for chat in self._about(old)
                if self._is_here(chat) and may_open(person, chat.owner)
            ]
            if moved:
                self._database.write(*(written(chat, "root", "notebook_path") for chat in moved))
        return tuple(moved)

    def delete(self, chat_id: str) -> None:
        """Remove a chat and the runs that no other chat has, from the disk too.

        Raises:
            StoreError: The file does not take the change now.
        """
        self._remove(chat_id)
        forget_words(self._database)

    def purge_expired(
        self, limit: int = PURGE_LIMIT, may_go_on: Callable[[], bool] = lambda: True
    ) -> int:
        """Remove chats that have expired and in which nothing goes on; how many.

        Args:
            limit: How many at most.
            may_go_on: Asked before each of them.

        Raises:
            StoreError: The file does not take the change now.
        """
        rows = self._database.read(EXPIRED, (self._clock(), limit))
        count = 0
        for chat_id in dict.fromkeys(str(row[0]) for row in rows):
            if not may_go_on():
                break
            if not self.claims.is_held(chat_id):
                self._remove(chat_id)
                count += 1
        if count:
            forget_words(self._database)
        return count

    def add_run(self, chat_id: str, run_id: str, supersedes: str = "", beside: str = "") -> None:
        """Put a run at the end of a chat, which is thereby used now.

        Args:
            chat_id: The chat.
            run_id: The run.
            supersedes: It takes the place of this run and of all that followed; empty: of none.
            beside: What was put beside its prompt, to be asked with it again.

        Raises:
            SetupError: There is no such chat.
        """
        with self._changing:
            chat = replace(self.get(chat_id), updated_at=self._clock())
            runs = self.runs(chat_id)
            self._database.write(
                *added_run(chat_id, run_id, runs, supersedes, beside), written(chat, "updated_at")
            )

    def runs(self, chat_id: str) -> Sequence[ChatRun]:
        """The runs of a chat in order, with those that a later one took the place of."""
        return members(self._database, (chat_id,)).get(chat_id, ())

    def run_ids(self, chat_id: str) -> tuple[str, ...]:
        """All runs of a chat, in the order in which they were asked for."""
        return tuple(run.run_id for run in self.runs(chat_id))

    def active_run_ids(self, chat_id: str) -> tuple[str, ...]:
        """The runs of a chat that count, in order."""
        return active(self.runs(chat_id))

    def prompts(self, chat_id: str) -> Mapping[str, str]:
        """What was asked in each run of a chat that counts, in order."""
        runs = self.active_run_ids(chat_id)
        prompts = self._prompts(runs)
        return {run_id: prompts.get(run_id, "") for run_id in runs}

    def unanswered(self, chat_id: str) -> str:
        """The last run that counts, where the person saw nothing of an answer; empty: they did.

        To be asked while nothing goes on in the chat.
        """
        last = self.active_run_ids(chat_id)[-1:]
        return last[0] if last and not self.is_answered(last[0]) else ""

    def is_answered(self, run_id: str) -> bool:
        """Whether the person saw anything of an answer; also true of a run that is not known."""
        rows = self._database.read(IS_ANSWERED, (run_id, run_id))
        return not rows or any(row[0] for row in rows)

    def chat_of(self, run_id: str) -> str:
        """Id of the chat that a run was asked in; empty: in none."""
        rows = self._database.read(
            "SELECT chat_id FROM chat_runs WHERE run_id = ? ORDER BY rowid", (run_id,)
        )
        return str(rows[0][0]) if rows else ""

    def _change(self, chat_id: str, **changes: Any) -> Chat:
        with self._changing:
            chat = replace(self.get(chat_id), **changes)
            fields = [name for name in changes if name in FIELDS]
            self._database.write(written(chat, *fields))
            return self.get(chat_id)

    def _remove(self, chat_id: str) -> None:
        for run_id in self.run_ids(chat_id):
            sql = "SELECT 1 FROM chat_runs WHERE run_id = ? AND chat_id != ?"
            if not self._database.read(sql, (run_id, chat_id)):
                self._runs.delete(run_id)
        tables = ("chat_runs", "chat_claims", "chats")
        deletions = (Statement(DELETE_FROM.format(table), (chat_id,)) for table in tables)
        try:
            self._database.change(*deletions)
        except StoreError as error:
            raise StoreError(f"Chat {chat_id!r} is not deleted.", hint=error.message) from error

    def _chats(self, sql: str, parameters: tuple[Any, ...] = ()) -> Sequence[Chat]:
        # A row that waits in memory comes last, and is newer than the one in the file.
        rows = {row[0]: row for row in self._database.read(sql, parameters)}
        runs = {chat_id: active(found) for chat_id, found in members(self._database, rows).items()}
        prompts = self._prompts({found[0] for found in runs.values() if found})
        pins, now = self.pins.of_all(rows), self._clock()
        chats = (
            chat_of_row(row, runs.get(chat_id, ()), prompts, pins.get(chat_id, ()))
            for chat_id, row in rows.items()
        )
        return [
            self._placed(chat) for chat in chats if not chat.expires_at or now < chat.expires_at
        ]

    def _about(self, notebook: str) -> Sequence[Chat]:
        """The chats of a notebook; empty: all."""
        if not notebook:
            return self._chats(f"SELECT {COLUMNS} FROM chats")
        found = self._chats(f"SELECT {COLUMNS} FROM chats WHERE {MAY_BE}", (notebook,) * 3)
        return [chat for chat in found if chat.notebook_path == notebook]

    def _placed(self, chat: Chat) -> Chat:
        """The chat with its path from this root, where its notebook is below it."""
        whole = f"{chat.root}/{chat.notebook_path}"
        if not chat.root or not self._root or not whole.startswith(f"{self._root}/"):
            return chat
        return replace(chat, root=self._root, notebook_path=whole[len(self._root) + 1 :])

    def _is_here(self, chat: Chat) -> bool:
        """Whether the chat has no notebook, or one below this root."""
        return not chat.notebook_path or chat.root == self._root

    def _prompt_of(self, run_id: str) -> str:
        return self._prompts([run_id]).get(run_id, "")

    def _prompts(self, runs: Iterable[str]) -> Mapping[str, str]:
        wanted = sorted(runs)
        found: dict[str, str] = {}
        for start in range(0, len(wanted), PROMPTS_AT_ONCE):
            some = wanted[start : start + PROMPTS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            sql = f"SELECT run_id, prompt FROM runs WHERE run_id IN ({marks})"
            found.update(self._database.read(sql, some))
        return found

    def _with(self, word: str, chats: Sequence[Chat]) -> Sequence[Chat]:
        """The chats that have a word in their title, prompts or answers."""
        runs = runs_that_say(self._database, word)
        rows = self._database.read("SELECT run_id, chat_id FROM chat_runs")
        saying = {chat_id for run_id, chat_id in rows if run_id in runs}
        folded = word.casefold()
        return [chat for chat in chats if chat.chat_id in saying or folded in chat.title.casefold()]


def _new_id() -> str:
    return secrets.token_hex(8)


def _branch_title(chat: Chat, prompt: str) -> str:
    if not chat.is_named:
        return automatic_title(prompt) + BRANCH
    stem = chat.title.removesuffix(BRANCH)
    return automatic_title(stem, TITLE_LIMIT_CHARACTERS - len(BRANCH)) + BRANCH
