"""Chats: conversations of several runs, each with a title and mostly with a notebook.

With what belongs to a chat: its runs in order, its pinned turns, and notes for its next question.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cellwright.context.pins import PINNED_TOKENS, PinnedTurn, pinned_turn
from cellwright.context.roles import ROLES, message_as
from cellwright.errors import SetupError, StoreError
from cellwright.record.messages import Message, TextPart
from cellwright.record.run_record import Runs
from cellwright.store.chat_rows import (
    COLUMNS,
    FIELDS,
    GUEST_SECONDS,
    TITLE_LIMIT_CHARACTERS,
    Chat,
    automatic_title,
    chat_of_row,
    checked_expiry,
    checked_prompt,
    checked_title,
    inserted,
    is_guest,
    may_open,
    written,
)
from cellwright.store.database import Database, Statement
from cellwright.store.process_claims import ChatClaims
from cellwright.store.runs import RunStore
from cellwright.store.search_index import forget_words, runs_that_say

# What waits in a chat for its next question: notes, instructions, answers that a person brings.
#
# They are kept with the chat and not with a program, so a kernel that ends loses none of them and
# the question may be asked in a notebook or in the panel.


NOTES_LIMIT = 100
WAITING = tuple(
    role.name for role in ROLES.values() if role.from_people and role.is_stored and not role.asks
)
"""Roles in which a person may say something that nobody answers at once."""
INSERT_NOTE = (
    "INSERT INTO chat_notes (note_id, chat_id, role, text, created_at) VALUES (?, ?, ?, ?, ?)"
)
SELECT_NOTES = """SELECT note_id, role, text FROM chat_notes WHERE chat_id = ?
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
        self._database.write(Statement(INSERT_NOTE, row))
        return note

    def waiting(self, chat_id: str) -> tuple[ChatNote, ...]:
        """What waits, in the order in which it was said."""
        rows = self._database.read(SELECT_NOTES, (chat_id,))
        return tuple(ChatNote(*row) for row in rows)

    def forget(self, chat_id: str, notes: Iterable[str]) -> None:
        """Let these wait no more: a question took them along, or the person took them back."""
        self._database.write(*(Statement(FORGET, (chat_id, note)) for note in notes))


# Which runs a chat has, in order, and which of them a later one took the place of.
#
# A run that was superseded stays: it is drawn folded, and the model is not told of it.


SELECT_RUNS = "SELECT chat_id, run_id, position, superseded_by, beside FROM chat_runs"
INSERT_RUN = """INSERT INTO chat_runs (chat_id, run_id, position, beside)
    SELECT ?, ?, 1 + MAX(?, COALESCE(MAX(position), 0)), ? FROM chat_runs WHERE chat_id = ?
    ON CONFLICT (chat_id, run_id) DO NOTHING"""
"""Two processes may add to one chat: the place is looked up where it is taken."""
KEEP_RUN = """INSERT INTO chat_runs (chat_id, run_id, position, superseded_by, beside)
    VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (chat_id, run_id) DO UPDATE SET superseded_by = excluded.superseded_by"""


@dataclass(frozen=True)
class ChatRun:
    """A run as one chat has it."""

    run_id: str
    position: int
    superseded_by: str = ""
    """The run that was asked in its place; empty: it counts."""
    beside: str = ""
    """What the person put beside the prompt, as the panel has it; empty: nothing."""


def members(database: Database, chats: Iterable[str]) -> Mapping[str, Sequence[ChatRun]]:
    """The runs of each chat that has any, in order."""
    wanted = set(chats)
    if not wanted:
        return {}
    only = " WHERE chat_id = ?" if len(wanted) == 1 else ""
    rows = database.read(SELECT_RUNS + only, tuple(wanted) if only else ())
    # A row that waits in memory comes last, and is newer than the one in the file.
    newest = {(row[0], row[1]): row for row in rows if row[0] in wanted}
    found: dict[str, list[ChatRun]] = {}
    for chat_id, *fields in newest.values():
        found.setdefault(chat_id, []).append(ChatRun(*fields))
    for runs in found.values():
        runs.sort(key=lambda run: (run.position, run.run_id))
    return found


def active(runs: Sequence[ChatRun]) -> tuple[str, ...]:
    """Those that nothing took the place of."""
    return tuple(run.run_id for run in runs if not run.superseded_by)


def before(runs: Sequence[ChatRun], run_id: str) -> tuple[str, ...]:
    """Those that count and came before a run; empty id: all that count."""
    places = {run.run_id: run.position for run in runs}
    end = places.get(run_id)
    return active([run for run in runs if end is None or run.position < end])


def added_run(
    chat_id: str, run_id: str, runs: Sequence[ChatRun], supersedes: str, beside: str = ""
) -> tuple[Statement, ...]:
    """What puts a run at the end of a chat.

    Args:
        chat_id: The chat.
        run_id: The new run.
        runs: What the chat has.
        supersedes: It takes the place of this run and of what followed; empty: of none.
        beside: What was put beside its prompt.
    """
    last = max((run.position for run in runs), default=0)
    known = {run.run_id: run.position for run in runs if run.run_id != run_id}
    first = known.get(supersedes)
    gone = [run for run in runs if first is not None and run.position >= first]
    return (
        Statement(INSERT_RUN, (chat_id, run_id, last, beside, chat_id)),
        *(
            Statement(KEEP_RUN, (chat_id, run.run_id, run.position, run_id, run.beside))
            for run in gone
            if not run.superseded_by and run.run_id != run_id
        ),
    )


def context_of(runs: Sequence[ChatRun], run_id: str) -> tuple[ChatRun, ...]:
    """What had been said up to and with a run, as it counted then; empty: it is none of these."""
    places = {run.run_id: run.position for run in runs}
    end = places.get(run_id)
    if end is None:
        return ()
    return tuple(
        run
        for run in runs
        if run.position <= end
        and (not run.superseded_by or places.get(run.superseded_by, end + 1) > end)
    )


def branched_runs(chat_id: str, runs: Sequence[ChatRun]) -> tuple[Statement, ...]:
    """What lets a new chat have these runs too; all of them count there."""
    return tuple(
        Statement(KEEP_RUN, (chat_id, run.run_id, position, "", run.beside))
        for position, run in enumerate(runs, start=1)
    )


# Which turns of a chat are pinned: their words stay in its context however long it gets.


PINS_LIMIT = 20
INSERT_PIN = """INSERT INTO chat_pins (chat_id, run_id, created_at) VALUES (?, ?, ?)
    ON CONFLICT (chat_id, run_id) DO NOTHING"""
SELECT_PINS = "SELECT chat_id, run_id FROM chat_pins{} ORDER BY created_at, rowid"
OF_ONE = " WHERE chat_id = ?"
DELETE = "DELETE FROM chat_pins WHERE chat_id = ? AND run_id = ?"
COPY_PIN = """INSERT INTO chat_pins (chat_id, run_id, created_at)
    SELECT ?, run_id, created_at FROM chat_pins WHERE chat_id = ? AND run_id = ?"""
UNPIN = "Unpin something first."


class PinsFullError(SetupError):
    """More cannot be pinned in the chat."""


@dataclass(frozen=True)
class ChatPins:
    """The pins of the chats of one database; safe to use from any thread.

    Args:
        database: Where they are written.
        runs: Knows what was said.
        clock: Seconds since the epoch.
    """

    database: Database
    runs: Runs
    clock: Callable[[], float] = time.time

    def of(self, chat_id: str) -> tuple[str, ...]:
        """The runs that are pinned in a chat, in the order in which they were."""
        return self.of_all((chat_id,)).get(chat_id, ())

    def of_all(self, chats: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """The same for each of these chats that has any."""
        wanted = set(chats)
        only = OF_ONE if len(wanted) == 1 else ""
        rows = self.database.read(SELECT_PINS.format(only), tuple(wanted) if only else ())
        found: dict[str, dict[str, None]] = {}
        for chat_id, run_id in rows:
            if chat_id in wanted:
                found.setdefault(chat_id, {})[run_id] = None
        return {chat_id: tuple(runs) for chat_id, runs in found.items()}

    def pin(self, chat_id: str, run_id: str) -> None:
        """Let the words of a run stay; one that is pinned stays so.

        Raises:
            PinsFullError: Too many are pinned, or they are too long together.
            SetupError: The chat has no such run that counts.
        """
        runs = active(members(self.database, (chat_id,)).get(chat_id, ()))
        if run_id not in runs:
            raise SetupError(f"The chat has no run {run_id!r}.", hint="See %agent runs.")
        pinned = [run for run in self.of(chat_id) if run in runs]
        if run_id in pinned:
            return
        if len(pinned) >= PINS_LIMIT:
            raise PinsFullError(f"{PINS_LIMIT} turns are pinned already.", hint=UNPIN)
        self._must_fit(run_id, sum(turn.tokens for turn in self._read(pinned)))
        self.database.write(Statement(INSERT_PIN, (chat_id, run_id, self.clock())))

    def unpin(self, chat_id: str, run_id: str) -> None:
        """Let the words of a run go, with the next turns that are left out."""
        self.database.write(Statement(DELETE, (chat_id, run_id)))

    def turns(
        self, chat_id: str, until: str, known: Sequence[PinnedTurn] = ()
    ) -> tuple[PinnedTurn, ...]:
        """The pinned turns of a chat that count, in the order in which they were asked.

        Args:
            chat_id: The chat.
            until: The last run that is looked at; a run that takes the place of others comes
                after it.
            known: Turns that were read before and need not be again.
        """
        pinned = self.of(chat_id)
        if not pinned:
            return ()
        runs = active(members(self.database, (chat_id,)).get(chat_id, ()))
        runs = runs[: runs.index(until) + 1] if until in runs else ()
        return self._read([run for run in runs if run in pinned], known)

    def copied(self, chat_id: str, to: str, runs: Iterable[str]) -> tuple[Statement, ...]:
        """What pins in another chat those of these runs that are pinned in this one."""
        pinned = self.of(chat_id)
        return tuple(Statement(COPY_PIN, (to, chat_id, run)) for run in runs if run in pinned)

    def _read(
        self, runs: Iterable[str], known: Sequence[PinnedTurn] = ()
    ) -> tuple[PinnedTurn, ...]:
        # A run that is not answered yet is read again.
        there = {turn.run_id: turn for turn in known if turn.answer.text}
        found: list[PinnedTurn] = []
        for run_id in runs:
            with suppress(SetupError):  # nothing of it was written
                found.append(there.get(run_id) or pinned_turn(self.runs.record(run_id)))
        return tuple(found)

    def _must_fit(self, run_id: str, others: int) -> None:
        own = pinned_turn(self.runs.record(run_id)).tokens
        if own + others <= PINNED_TOKENS:
            return
        together = f", {own + others:,} with what is pinned already" if others else ""
        raise PinsFullError(
            f"This turn has about {own:,} tokens{together}; at most {PINNED_TOKENS:,} can be "
            "pinned.",
            hint=UNPIN if others else "Have its gist said in a turn of its own and pin that.",
        )


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
