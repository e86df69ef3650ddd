"""Chats: conversations of several runs, each with a title and mostly with a notebook."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.errors import SetupError, StoreError
from cellwright.store.chat_search import runs_that_say
from cellwright.store.database import Database, Statement
from cellwright.store.runs import RunStore

__all__ = ["Chat", "ChatStore", "automatic_title"]

TITLE_LIMIT_CHARACTERS = 60
EMPTY_CHAT_SECONDS = 86_400.0
"""A chat in which nothing was asked for so long is forgotten when another begins."""
COLUMNS = "chat_id, title, root, notebook_path, owner, created_at, updated_at, settings"
INSERT_CHAT = "INSERT OR REPLACE INTO chats VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
INSERT_RUN = "INSERT OR REPLACE INTO chat_runs VALUES (?, ?, ?)"
FORGET_EMPTY = """DELETE FROM chats WHERE updated_at < ? AND title = ''
    AND NOT EXISTS (SELECT 1 FROM chat_runs WHERE chat_runs.chat_id = chats.chat_id)"""

MAY_BE = """(notebook_path = ? OR notebook_path LIKE '%/' || ?
    OR (notebook_path != '' AND ? LIKE '%/' || notebook_path))"""
"""A path and one from another root end alike; what only seems to is left out later."""


@dataclass(frozen=True)
class Chat:
    """A conversation; its runs are in the store of runs."""

    chat_id: str
    title: str
    """The person's own, else the start of the first prompt; empty: nothing was asked yet."""
    notebook_path: str
    """Below the root; empty: a chat of its own."""
    owner: str
    """Who began it; empty: whoever uses the server."""
    created_at: float
    """Seconds since the epoch."""
    updated_at: float
    run_count: int = 0
    is_named: bool = False
    """Whether the title is the person's own."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    """The folder that the notebook's path starts from; empty: not one of this machine."""


def automatic_title(prompt: str) -> str:
    """The start of a prompt as a title: one line, whole words where they fit."""
    line = " ".join(prompt.split())
    if len(line) <= TITLE_LIMIT_CHARACTERS:
        return line
    head = line[: TITLE_LIMIT_CHARACTERS - 1]
    before, space, _ = head.rpartition(" ")
    # Chinese has no spaces, and a long path is no reason to keep one word of a sentence.
    return (before if space and len(before) > len(head) // 2 else head).rstrip() + "…"


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

    def create(self, notebook_path: str = "", owner: str = "") -> Chat:
        """A new chat, in which nothing was asked yet."""
        now = self._clock()
        chat = Chat(secrets.token_hex(8), "", notebook_path, owner, now, now, root=self._root)
        forget = Statement(FORGET_EMPTY, (now - EMPTY_CHAT_SECONDS,))
        self._database.write(forget, Statement(INSERT_CHAT, _row_of(chat)))
        return chat

    def find(self, chat_id: str) -> Chat | None:
        """The chat of that id; None: there is none."""
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
            owner: Only chats of this person, and of nobody in particular; None: all.
        """
        found: Sequence[Chat] = [c for c in self._about(notebook) if self._is_here(c)]
        if owner is not None:
            found = [chat for chat in found if chat.owner in ("", owner)]
        for word in query.split():
            found = self._with(word, found)
        found = sorted(found, key=lambda chat: (chat.updated_at, chat.chat_id), reverse=True)
        return tuple(found[:limit])

    def rename(self, chat_id: str, title: str) -> Chat:
        """Give a chat a title; an empty one brings the automatic title back.

        Raises:
            SetupError: There is no such chat.
        """
        line = " ".join(title.split())
        return self._change(chat_id, title=line, is_named=bool(line))

    def move(self, chat_id: str, notebook_path: str) -> Chat:
        """Let a chat belong to another notebook; empty: to none.

        Raises:
            SetupError: There is no such chat.
        """
        return self._change(chat_id, notebook_path=notebook_path)

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
                self._database.write(*(Statement(INSERT_CHAT, _row_of(chat)) for chat in moved))
        return tuple(moved)

    def delete(self, chat_id: str) -> None:
        """Remove a chat and its runs, from the disk too.

        Raises:
            StoreError: The file does not take the change now.
        """
        for run_id in self.run_ids(chat_id):
            self._runs.delete(run_id)
        self._database.write(
            Statement("DELETE FROM chat_runs WHERE chat_id = ?", (chat_id,)),
            Statement("DELETE FROM chats WHERE chat_id = ?", (chat_id,)),
        )
        if not self._database.is_durable and self._database.path is not None:
            raise StoreError(
                f"Chat {chat_id!r} is not deleted.", hint="The file cannot be written."
            )

    def add_run(self, chat_id: str, run_id: str) -> None:
        """Put a run at the end of a chat, which is thereby used now.

        Raises:
            SetupError: There is no such chat.
        """
        with self._changing:
            chat = replace(self.get(chat_id), updated_at=self._clock())
            position = len(self.run_ids(chat_id)) + 1
            self._database.write(
                Statement(INSERT_RUN, (chat_id, run_id, position)),
                Statement(INSERT_CHAT, _row_of(chat)),
            )

    def run_ids(self, chat_id: str) -> tuple[str, ...]:
        """The runs of a chat, in the order in which they were asked for."""
        return tuple(self._runs_of((chat_id,)).get(chat_id, ()))

    def chat_of(self, run_id: str) -> str:
        """Id of the chat that a run belongs to; empty: to none."""
        rows = self._database.read("SELECT chat_id FROM chat_runs WHERE run_id = ?", (run_id,))
        return str(rows[-1][0]) if rows else ""

    def _change(self, chat_id: str, **changes: Any) -> Chat:
        with self._changing:
            chat = replace(self.get(chat_id), **changes)
            self._database.write(Statement(INSERT_CHAT, _row_of(chat)))
            return self.get(chat_id)

    def _chats(self, sql: str, parameters: tuple[Any, ...] = ()) -> Sequence[Chat]:
        # A row that waits in memory comes last, and is newer than the one in the file.
        rows = {row[0]: row for row in self._database.read(sql, parameters)}
        runs = self._runs_of(rows)
        firsts = {runs[chat_id][0] for chat_id, row in rows.items() if chat_id in runs}
        prompts = self._prompts(firsts)
        found = (_chat_of(row, runs.get(chat_id, ()), prompts) for chat_id, row in rows.items())
        return [self._placed(chat) for chat in found]

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

    def _runs_of(self, chats: Iterable[str]) -> Mapping[str, Sequence[str]]:
        """The runs of each chat that has any, in order."""
        wanted = set(chats)
        sql, parameters = "SELECT position, run_id, chat_id FROM chat_runs", tuple(wanted)
        if len(wanted) == 1:
            rows = self._database.read(f"{sql} WHERE chat_id = ?", parameters)
        else:
            rows = self._database.read(sql)
        found: dict[str, list[str]] = {}
        for _, run_id, chat_id in sorted(set(rows)):
            if chat_id in wanted:
                found.setdefault(chat_id, []).append(run_id)
        return found

    def _prompts(self, runs: Iterable[str]) -> Mapping[str, str]:
        wanted = set(runs)
        sql = "SELECT run_id, prompt FROM runs"
        if len(wanted) == 1:
            return dict(self._database.read(f"{sql} WHERE run_id = ?", tuple(wanted)))
        return dict(self._database.read(sql)) if wanted else {}

    def _with(self, word: str, chats: Sequence[Chat]) -> Sequence[Chat]:
        """The chats that have a word in their title, prompts or answers."""
        runs = runs_that_say(self._database, word)
        rows = self._database.read("SELECT run_id, chat_id FROM chat_runs")
        saying = {chat_id for run_id, chat_id in rows if run_id in runs}
        folded = word.casefold()
        return [chat for chat in chats if chat.chat_id in saying or folded in chat.title.casefold()]


def _row_of(chat: Chat) -> tuple[Any, ...]:
    return (
        chat.chat_id,
        chat.title if chat.is_named else "",
        chat.root,
        chat.notebook_path,
        chat.owner,
        chat.created_at,
        chat.updated_at,
        json.dumps(dict(chat.settings), ensure_ascii=False),
    )


def _chat_of(row: tuple[Any, ...], runs: Sequence[str], prompts: Mapping[str, str]) -> Chat:
    chat_id, title, root, path, owner, created_at, updated_at, settings = row
    automatic = automatic_title(prompts.get(runs[0], "")) if runs and not title else ""
    return Chat(
        chat_id=chat_id,
        title=title or automatic,
        notebook_path=path,
        owner=owner,
        created_at=created_at,
        updated_at=updated_at,
        run_count=len(runs),
        is_named=bool(title),
        settings=json.loads(settings),
        root=root,
    )
