"""Keeps, changes, forgets and proposes: the one way into the memory.

Whoever calls ``keep``, ``edit``, ``forget`` or ``decide`` has the person's consent; ``propose``
needs none, because nothing is kept by it.

What this does not protect against: code that runs in the person's kernel and writes into the file
of the store itself. Where such code shows what it does, the policy asks about it.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from cellwright.errors import SetupError
from cellwright.knowledge.memory import Action, Memory, Proposal, Scope, Whose
from cellwright.knowledge.memory.ranking import (
    covered,
    fingerprint,
    likeness,
    matching,
    relevant,
    same_subject,
)
from cellwright.knowledge.memory.store import MemoryStore, ProposalStore
from cellwright.knowledge.memory.suggestions import Suggestion, screened
from cellwright.store.database import Database

ALIKE = 0.5
"""Above it a new text is taken for another version of one that is kept."""
MEANT = 0.6
"""So much of what is to go has to be said in the memory that is meant."""


@dataclass(frozen=True)
class MemoryOutcome:
    """What became of a text that the person wanted to be kept."""

    memory: Memory
    change: Literal["added", "changed", "known"]
    before: str = ""
    """What the memory said until now, where it changed."""
    similar: tuple[Memory, ...] = ()
    """Others that say nearly the same."""


class MemoryKeeper:
    """The memory of one store; safe to use from any thread.

    Args:
        database: Where it is written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._memories = MemoryStore(database, clock)
        self._proposals = ProposalStore(database, clock)

    def all(self, owner: str, query: str = "") -> tuple[Memory, ...]:
        """What is kept for a person, of every folder, the newest first.

        Args:
            owner: The person.
            query: Words that it has to do with; empty: all.
        """
        return _searched(self._memories.all(owner), query)

    def here(self, whose: Whose, query: str = "") -> tuple[Memory, ...]:
        """What counts for a person where they work."""
        return _searched(self._memories.of(whose), query)

    def relevant(self, whose: Whose, question: str) -> tuple[Memory, ...]:
        """What goes with a question; nothing where the person has switched it off."""
        return relevant(self._memories.of(whose), question) if self.is_on(whose.owner) else ()

    def is_on(self, owner: str) -> bool:
        """Whether the person wants a memory."""
        return self._memories.is_on(owner)

    def switch(self, owner: str, *, is_on: bool) -> None:
        """Switch the memory on or off; what is kept stays."""
        self._memories.switch(owner, is_on=is_on)

    def keep(
        self, whose: Whose, text: str, scope: Scope = "user", source_run: str = ""
    ) -> MemoryOutcome:
        """Keep a text that the person agreed to.

        Raises:
            SetupError: It is not to be kept, or there is no folder to keep it for.
        """
        text = screened(text)
        there = self._memories.of(whose)
        known = _known(there, text)
        if known is not None:
            return MemoryOutcome(known, "known")
        similar = _similar(there, text)
        memory = self._memories.add(_placed(whose, scope), text, source_run)
        self._withdraw(whose.owner, text)
        return MemoryOutcome(memory, "added", similar=similar)

    def edit(self, owner: str, memory_id: str, text: str, source_run: str = "") -> MemoryOutcome:
        """Give a memory another text.

        Raises:
            SetupError: It is not to be kept, or this person has no such memory.
        """
        text = screened(text)
        before = self._memories.get(owner, memory_id)
        changed = self._memories.change(owner, before.memory_id, text, source_run)
        if changed.memory_id != before.memory_id:
            self._proposals.drop_about(owner, before.memory_id)
        self._withdraw(owner, text)
        return MemoryOutcome(changed, "changed", before.text)

    def forget(self, owner: str, memory_id: str) -> Memory:
        """Forget a memory for good; what it said.

        Raises:
            SetupError: This person has no such memory.
        """
        memory = self._memories.delete(owner, memory_id)
        self._proposals.drop_about(owner, memory.memory_id)
        return memory

    def proposals(self, owner: str) -> tuple[Proposal, ...]:
        """What waits for the person's word, the newest first."""
        return self._proposals.open(owner)

    def proposal(self, owner: str, proposal_id: str) -> Proposal:
        """What waits under that id, or under one that begins so.

        Raises:
            SetupError: Nothing of the kind waits for this person.
        """
        return self._proposals.get(owner, proposal_id)

    def propose(self, whose: Whose, wanted: Suggestion, source_run: str = "") -> Proposal | None:
        """Let a suggestion wait for the person; None: there is nothing new in it.

        Raises:
            SetupError: It is not to be kept.
        """
        text = screened(wanted.text)
        there = self._memories.of(whose)
        found = _forgotten(there, text) if wanted.kind == "forget" else _new(there, text)
        if found is None:
            return None
        action, memory = found
        if memory is not None:
            text, project = text if action == "update" else memory.text, memory.project
        else:
            project = whose.project if wanted.scope == "project" else ""
        memory_id = memory.memory_id if memory is not None else ""
        proposal = Proposal("", action, text, project, memory_id, wanted.reason, source_run, 0.0)
        return self._proposals.add(whose.owner, proposal)

    def decide(self, owner: str, proposal_id: str, *, accept: bool) -> MemoryOutcome | None:
        """Do what the person says of a proposal; what is kept now, None: nothing.

        Raises:
            SetupError: Nothing of the kind waits for this person.
        """
        proposal = self._proposals.get(owner, proposal_id)
        kept = self._accepted(owner, proposal) if accept else None
        self._proposals.settle(owner, proposal, "accepted" if accept else "rejected")
        return kept

    def _accepted(self, owner: str, proposal: Proposal) -> MemoryOutcome | None:
        if proposal.action == "delete":
            self._memories.delete(owner, proposal.memory_id)
            return None
        if proposal.action == "update":
            return self.edit(owner, proposal.memory_id, proposal.text, proposal.source_run)
        whose = Whose(owner, proposal.project)
        return self.keep(whose, proposal.text, proposal.scope, proposal.source_run)

    def _withdraw(self, owner: str, text: str) -> None:
        """Take back what proposes what is kept now."""
        for proposal in self._proposals.open(owner):
            if proposal.action != "delete" and fingerprint(proposal.text) == fingerprint(text):
                self._proposals.settle(owner, proposal, "accepted")


def _new(there: tuple[Memory, ...], text: str) -> tuple[Action, Memory | None] | None:
    if _known(there, text) is not None:
        return None
    similar = _similar(there, text)
    return ("update", similar[0]) if similar else ("add", None)


def _forgotten(there: tuple[Memory, ...], text: str) -> tuple[Action, Memory] | None:
    likely = max(there, key=lambda memory: _meant(text, memory.text), default=None)
    if likely is None or _meant(text, likely.text) < MEANT:
        return None
    return "delete", likely


def _known(there: tuple[Memory, ...], text: str) -> Memory | None:
    same = fingerprint(text)
    return next((memory for memory in there if fingerprint(memory.text) == same), None)


def _similar(there: tuple[Memory, ...], text: str) -> tuple[Memory, ...]:
    alike = [(likeness(text, memory.text), memory) for memory in there]
    near = [item for item in alike if item[0] > ALIKE and same_subject(text, item[1].text)]
    near.sort(key=lambda item: -item[0])
    return tuple(memory for _, memory in near)


def _searched(memories: tuple[Memory, ...], query: str) -> tuple[Memory, ...]:
    if not query.strip():
        return memories
    wanted = query.casefold().strip()
    ranked = matching(memories, query)
    held = [m for m in memories if wanted in m.text.casefold() and m not in ranked]
    return (*ranked, *held)


def _placed(whose: Whose, scope: Scope) -> Whose:
    """Where a text of that scope is kept.

    Raises:
        SetupError: There is no folder to keep it for.
    """
    if scope == "user":
        return replace(whose, project="")
    if not whose.project:
        raise SetupError("There is no folder to keep this for.", hint="Keep it for everywhere.")
    return whose


def _meant(text: str, memory: str) -> float:
    """How likely a memory is what a text says does not hold any more."""
    return max(covered(text, memory), likeness(text, memory))
