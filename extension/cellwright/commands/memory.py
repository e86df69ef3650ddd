"""``memory``: what is kept for later conversations, listed and changed by the user."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePosixPath

from cellwright.commands import VerbContext
from cellwright.commands.records import make_redactor
from cellwright.commands.results import Result
from cellwright.knowledge.memory import Memory, Proposal, Scope, Whose, project_of
from cellwright.knowledge.memory.repository import MemoryKeeper, MemoryOutcome
from cellwright.record.values import to_dict
from cellwright.settings import not_for_guests
from cellwright.text.cleaning import plain_text

MEMORY_HEADINGS = ("id", "where", "since", "run", "text")
PROPOSAL_HEADINGS = ("id", "change", "where", "run", "why", "text")
OFF = "The memory is off: nothing is read or kept. Switch it on with: memory on"
CHANGES = {"add": "remember", "update": "change", "delete": "forget"}
OWNER = Whose().owner


@contextmanager
def _open(context: VerbContext) -> Iterator[MemoryKeeper]:
    not_for_guests(context.settings, "The memory")
    with context.open_store() as store:
        yield MemoryKeeper(store.database)


def list_memories(context: VerbContext) -> Result:
    """List what is kept, or what has a word in it."""
    with _open(context) as keeper:
        memories, is_on = keeper.all(OWNER, " ".join(context.words)), keeper.is_on(OWNER)
    text = "" if is_on else OFF
    if is_on and not memories:
        text = f"Nothing is kept yet. Keep something: {context.prefix}memory add TEXT"
    document = {"is_on": is_on, "memories": [to_dict(each) for each in memories]}
    return Result(text, MEMORY_HEADINGS, list(map(_memory_row, memories)), memories, document)


def list_proposals(context: VerbContext) -> Result:
    """List what waits for the user's word; of a change what it was before, too."""
    with _open(context) as keeper:
        proposals, memories = keeper.proposals(OWNER), keeper.all(OWNER)
    rows = [_proposal_row(each, memories) for each in proposals]
    text = "" if rows else "Nothing is proposed."
    document = {"proposals": [to_dict(each) for each in proposals]}
    return Result(text, PROPOSAL_HEADINGS, rows, proposals, document)


def add(context: VerbContext) -> Result:
    """Keep a text."""
    whose = Whose(OWNER, project_of(str(context.folder)))
    with _open(context) as keeper:
        scope: Scope = "project" if context.options.project else "user"
        kept = keeper.keep(whose, _clean(context), scope)
    return _say(_describe_kept(kept, f"{context.prefix}memory"))


def edit(context: VerbContext) -> Result:
    """Change what is kept."""
    with _open(context) as keeper:
        kept = keeper.edit(OWNER, context.words[0], _clean(context))
    return _say(_describe_kept(kept, f"{context.prefix}memory"))


def forget(context: VerbContext) -> Result:
    """Forget it for good."""
    with _open(context) as keeper:
        memory = keeper.forget(OWNER, context.words[0])
    return _say(_describe_forgotten(memory, f"{context.prefix}memory"))


def accept(context: VerbContext) -> Result:
    """Keep, change or forget what was proposed."""
    command = f"{context.prefix}memory"
    with _open(context) as keeper:
        proposal = keeper.proposal(OWNER, context.words[0])
        kept = keeper.decide(OWNER, proposal.proposal_id, accept=True)
    if kept is None:
        return _say(_describe_forgotten(proposal, command))
    return _say(_describe_kept(kept, command))


def reject(context: VerbContext) -> Result:
    """Do not keep what was proposed."""
    with _open(context) as keeper:
        keeper.decide(OWNER, context.words[0], accept=False)
    return _say("Rejected. It is not proposed again.")


def switch_on(context: VerbContext) -> Result:
    """Read and keep memories."""
    with _open(context) as keeper:
        keeper.switch(OWNER, is_on=True)
    return _say("The memory is on.")


def switch_off(context: VerbContext) -> Result:
    """Neither read nor keep any; what is kept stays."""
    with _open(context) as keeper:
        keeper.switch(OWNER, is_on=False)
    return _say("The memory is off. What is kept stays.")


def _say(done: str) -> Result:
    return Result(plain_text(done), document={"done": done})


def _clean(context: VerbContext) -> str:
    """The text without secrets and without the quotes around it."""
    text = make_redactor(context.settings).text(context.words[-1])
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text


def _memory_row(memory: Memory) -> tuple[str, ...]:
    since = time.strftime("%Y-%m-%d", time.localtime(memory.updated_at))
    where = _where(memory.project)
    return (memory.memory_id, where, since, memory.source_run, memory.text)


def _proposal_row(proposal: Proposal, memories: Sequence[Memory]) -> tuple[str, ...]:
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


def _describe_kept(kept: MemoryOutcome, command: str) -> str:
    memory = kept.memory
    if kept.change == "known":
        return f"That is kept already, as {memory.memory_id}."
    if kept.change == "changed":
        undo = f"To change it back: {command} edit {memory.memory_id} {kept.before}"
        return f"Changed {memory.memory_id}: {memory.text}\nBefore: {kept.before}\n{undo}"
    lines = [f"Kept as {memory.memory_id}, {_where(memory.project)}: {memory.text}"]
    lines += [f"Nearly the same is kept as {m.memory_id}: {m.text}" for m in kept.similar]
    return "\n".join(lines)


def _describe_forgotten(memory: Memory | Proposal, command: str) -> str:
    option = " --project" if memory.project else ""
    return f"Forgotten: {memory.text}\nTo keep it again: {command} add{option} {memory.text}"
