"""What a person may have done with the memory, the same for ``%agent memory`` and the shell."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from cellwright.knowledge.memory import Memory, MemoryAction, Proposal, Scope, Whose
from cellwright.knowledge.memory.repository import MemoryKeeper, MemoryOutcome

MEMORY_HEADINGS = ("id", "where", "since", "run", "text")
PROPOSAL_HEADINGS = ("id", "change", "where", "run", "why", "text")
OFF = "The memory is off: nothing is read or kept. Switch it on with: memory on"
CHANGES = {"add": "remember", "update": "change", "delete": "forget"}


@dataclass(frozen=True)
class MemoryOrder:
    """One thing to do."""

    action: MemoryAction
    name: str = ""
    """Id of a memory or a proposal, or how it begins."""
    text: str = ""
    scope: Scope = "user"


def carried_out(
    keeper: MemoryKeeper, whose: Whose, order: MemoryOrder, command: str = "%agent /memory"
) -> str:
    """Do what changes something; what was done, and how it is undone.

    Args:
        keeper: Where the memory is.
        whose: Whose it is.
        order: What is to be done.
        command: What the person writes before such an order.

    Raises:
        SetupError: There is nothing of that id, or the text is not to be kept.
    """
    acts: dict[str, Callable[[], str]] = {
        "add": lambda: _kept(keeper.keep(whose, order.text, order.scope), command),
        "edit": lambda: _kept(keeper.edit(whose.owner, order.name, order.text), command),
        "forget": lambda: _forgotten(keeper.forget(whose.owner, order.name), command),
        "accept": lambda: _accepted(keeper, whose.owner, order.name, command),
        "reject": lambda: _rejected(keeper, whose.owner, order.name),
        "on": lambda: _switched(keeper, whose.owner, is_on=True),
        "off": lambda: _switched(keeper, whose.owner, is_on=False),
    }
    return acts[order.action]()


def memory_row(memory: Memory) -> tuple[str, ...]:
    """A memory under ``MEMORY_HEADINGS``."""
    since = time.strftime("%Y-%m-%d", time.localtime(memory.updated_at))
    where = _where(memory.project)
    return (memory.memory_id, where, since, memory.source_run, memory.text)


def proposal_row(proposal: Proposal, memories: Sequence[Memory]) -> tuple[str, ...]:
    """A proposal under ``PROPOSAL_HEADINGS``; of a change what it was before too.

    Args:
        proposal: What is proposed.
        memories: What is kept.
    """
    before = {memory.memory_id: memory.text for memory in memories}.get(proposal.memory_id, "")
    text = f"{before} → {proposal.text}" if proposal.action == "update" else proposal.text
    return (
        proposal.proposal_id,
        CHANGES[proposal.action],
        _where(proposal.project),
        proposal.source_run,
        proposal.reason,
        text,
    )


def _where(project: str) -> str:
    return f"folder {PurePosixPath(project).name or project}" if project else "everywhere"


def _kept(kept: MemoryOutcome, command: str) -> str:
    memory = kept.memory
    if kept.change == "known":
        return f"That is kept already, as {memory.memory_id}."
    if kept.change == "changed":
        undo = f"To change it back: {command} edit {memory.memory_id} {kept.before}"
        return f"Changed {memory.memory_id}: {memory.text}\nBefore: {kept.before}\n{undo}"
    lines = [f"Kept as {memory.memory_id}, {_where(memory.project)}: {memory.text}"]
    lines += [f"Nearly the same is kept as {m.memory_id}: {m.text}" for m in kept.similar]
    return "\n".join(lines)


def _forgotten(memory: Memory | Proposal, command: str) -> str:
    option = " --project" if memory.project else ""
    return f"Forgotten: {memory.text}\nTo keep it again: {command} add{option} {memory.text}"


def _accepted(keeper: MemoryKeeper, owner: str, name: str, command: str) -> str:
    proposal = keeper.proposal(owner, name)
    kept = keeper.decide(owner, proposal.proposal_id, accept=True)
    return _kept(kept, command) if kept is not None else _forgotten(proposal, command)


def _rejected(keeper: MemoryKeeper, owner: str, name: str) -> str:
    keeper.decide(owner, name, accept=False)
    return "Rejected. It is not proposed again."


def _switched(keeper: MemoryKeeper, owner: str, *, is_on: bool) -> str:
    keeper.switch(owner, is_on=is_on)
    return "The memory is on." if is_on else "The memory is off. What is kept stays."
