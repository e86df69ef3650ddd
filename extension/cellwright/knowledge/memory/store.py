"""Memories and proposals in the store; everything is read and changed for one owner."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from cellwright.knowledge.memory import Memory, Proposal, Whose
from cellwright.knowledge.memory.ranking import fingerprint
from cellwright.store.database import Database, Statement
from cellwright.store.ids import find_id

COLUMNS = "memory_id, text, project, source_run, created_at, updated_at"
SELECT = f"SELECT {COLUMNS} FROM memories WHERE owner = ?"
# A whole row, not a change of one: while the file cannot be written, rows are kept in memory.
SAVE = """INSERT INTO memories
    (memory_id, owner, project, text, fingerprint, source_run, created_at, updated_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (memory_id) DO UPDATE SET text = excluded.text,
        fingerprint = excluded.fingerprint, source_run = excluded.source_run,
        updated_at = excluded.updated_at
    ON CONFLICT (owner, project, fingerprint) DO NOTHING"""
SWITCH = "INSERT OR REPLACE INTO memory_switches VALUES (?, ?)"


class MemoryStore:
    """The memories of one database; safe to use from any thread.

    Args:
        database: Where they are written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def all(self, owner: str) -> tuple[Memory, ...]:
        """What is kept for a person, of every folder, the newest first."""
        found = self._found(f"{SELECT} ORDER BY updated_at, memory_id", (owner,))
        return tuple(sorted(found, key=lambda memory: -memory.updated_at))

    def of(self, whose: Whose) -> tuple[Memory, ...]:
        """What counts for a person where they work, the newest first."""
        return tuple(m for m in self.all(whose.owner) if m.project in ("", whose.project))

    def get(self, owner: str, name: str) -> Memory:
        """The memory of that id, or whose id begins so.

        Raises:
            SetupError: This person has none, or several.
        """
        ids = [memory.memory_id for memory in self.all(owner)]
        wanted = find_id(name, ids, "memory")
        return next(memory for memory in self.all(owner) if memory.memory_id == wanted)

    def same(self, owner: str, project: str, text: str) -> Memory | None:
        """The memory of that folder that says the same; None: there is none."""
        found = self._found(
            f"{SELECT} AND project = ? AND fingerprint = ?", (owner, project, fingerprint(text))
        )
        return found[-1] if found else None

    def add(self, whose: Whose, text: str, source_run: str = "") -> Memory:
        """Keep a text for the folder, or everywhere where that is empty; the same text once."""
        now = self._clock()
        made = Memory(secrets.token_hex(4), text, whose.project, source_run, now, now)
        self._save(whose.owner, made)
        return self.same(whose.owner, whose.project, text) or made

    def change(self, owner: str, name: str, text: str, source_run: str = "") -> Memory:
        """Give a memory another text; where another one says the same, that one stays alone.

        Raises:
            SetupError: This person has no such memory.
        """
        before = self.get(owner, name)
        same = self.same(owner, before.project, text)
        if same is not None and same.memory_id != before.memory_id:
            self.delete(owner, before.memory_id)
            return same
        changed = replace(
            before,
            text=text,
            source_run=source_run or before.source_run,
            updated_at=self._clock(),
        )
        self._save(owner, changed)
        return changed

    def delete(self, owner: str, name: str) -> Memory:
        """Forget a memory; what it said.

        Raises:
            SetupError: This person has no such memory.
        """
        memory = self.get(owner, name)
        self._database.write(
            Statement(
                "DELETE FROM memories WHERE memory_id = ? AND owner = ?", (memory.memory_id, owner)
            )
        )
        return memory

    def is_on(self, owner: str) -> bool:
        """Whether the person wants a memory; they do unless they said otherwise."""
        rows = self._database.read("SELECT is_on FROM memory_switches WHERE owner = ?", (owner,))
        return bool(rows[-1][0]) if rows else True

    def switch(self, owner: str, *, is_on: bool) -> None:
        """Switch the memory of a person on or off; what is kept stays."""
        self._database.write(Statement(SWITCH, (owner, int(is_on))))

    def _save(self, owner: str, memory: Memory) -> None:
        row = (
            memory.memory_id,
            owner,
            memory.project,
            memory.text,
            fingerprint(memory.text),
            memory.source_run,
            memory.created_at,
            memory.updated_at,
        )
        self._database.write(Statement(SAVE, row))

    def _found(self, sql: str, parameters: tuple[str, ...]) -> list[Memory]:
        rows = (Memory(*row) for row in self._database.read(sql, parameters))
        # What waits to be written comes after what is in the file, and is newer.
        return list({memory.memory_id: memory for memory in rows}.values())


# Proposals to change the memory, until the person has decided about them.


OPEN_LIMIT = 50
"""Of one person; the oldest give way."""
PROPOSAL_COLUMNS = "proposal_id, action, text, project, memory_id, reason, source_run, created_at"
SAVE_PROPOSAL = """INSERT OR REPLACE INTO memory_proposals
    (proposal_id, owner, project, action, text, fingerprint, memory_id, reason, source_run, state,
    created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
OPEN = f"""SELECT {PROPOSAL_COLUMNS} FROM memory_proposals WHERE owner = ? AND state = 'open'
    ORDER BY created_at, rowid"""
SEEN = """SELECT 1 FROM memory_proposals
    WHERE owner = ? AND project = ? AND action = ? AND fingerprint = ?
    AND state IN ('open', 'rejected')"""
DROP_OLDEST = """DELETE FROM memory_proposals WHERE owner = ? AND state = 'open'
    AND proposal_id NOT IN (SELECT proposal_id FROM memory_proposals
        WHERE owner = ? AND state = 'open' ORDER BY created_at DESC, rowid DESC LIMIT ?)"""
ABOUT = "DELETE FROM memory_proposals WHERE owner = ? AND memory_id = ? AND state = 'open'"


class ProposalStore:
    """The proposals of one database; safe to use from any thread.

    Args:
        database: Where they are written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def open(self, owner: str) -> tuple[Proposal, ...]:
        """Those that wait for the person, the newest first."""
        rows = (Proposal(*row) for row in self._database.read(OPEN, (owner,)))
        found = {proposal.proposal_id: proposal for proposal in rows}
        return tuple(reversed(found.values()))

    def get(self, owner: str, name: str) -> Proposal:
        """The open proposal of that id, or whose id begins so.

        Raises:
            SetupError: Nothing of the kind waits for this person.
        """
        waiting = {proposal.proposal_id: proposal for proposal in self.open(owner)}
        return waiting[find_id(name, list(waiting), "open proposal")]

    def add(self, owner: str, wanted: Proposal) -> Proposal | None:
        """Let a proposal wait; None: the same waits already, or the person did not want it.

        Args:
            owner: Whom it is for.
            wanted: What is proposed; it gets its id and its time here.
        """
        same = (owner, wanted.project, wanted.action, fingerprint(wanted.text))
        if self._database.read(SEEN, same):
            return None
        made = replace(wanted, proposal_id=secrets.token_hex(4), created_at=self._clock())
        self._database.write(
            self._statement(owner, made, "open"),
            Statement(DROP_OLDEST, (owner, owner, OPEN_LIMIT)),
        )
        return made

    def settle(
        self, owner: str, proposal: Proposal, state: Literal["accepted", "rejected"]
    ) -> None:
        """Note what the person decided; of what it said only the fingerprint stays."""
        self._database.write(self._statement(owner, proposal, state))

    def drop_about(self, owner: str, memory_id: str) -> None:
        """Take back what waits about a memory that is gone."""
        self._database.write(Statement(ABOUT, (owner, memory_id)))

    def _statement(self, owner: str, proposal: Proposal, state: str) -> Statement:
        is_open = state == "open"
        row = (
            proposal.proposal_id,
            owner,
            proposal.project,
            proposal.action,
            proposal.text if is_open else "",
            fingerprint(proposal.text),
            proposal.memory_id,
            proposal.reason if is_open else "",
            proposal.source_run,
            state,
            proposal.created_at,
        )
        return Statement(SAVE_PROPOSAL, row)
