"""Proposals to change the memory, until the person has decided about them."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from cellwright.knowledge.memory import Proposal
from cellwright.knowledge.memory.words import fingerprint
from cellwright.store.database import Database, Statement
from cellwright.store.ids import find_id

OPEN_LIMIT = 50
"""Of one person; the oldest give way."""
COLUMNS = "proposal_id, action, text, project, memory_id, reason, source_run, created_at"
SAVE = """INSERT OR REPLACE INTO memory_proposals
    (proposal_id, owner, project, action, text, fingerprint, memory_id, reason, source_run, state,
    created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
OPEN = f"""SELECT {COLUMNS} FROM memory_proposals WHERE owner = ? AND state = 'open'
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
        return Statement(SAVE, row)
