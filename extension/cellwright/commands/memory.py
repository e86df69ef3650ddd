"""``cellwright memory``: what is kept for later conversations."""

from __future__ import annotations

from pathlib import Path

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.records import make_redactor, open_store
from cellwright.commands.terminal import one_line, table
from cellwright.errors import SetupError
from cellwright.knowledge.memory import Whose, project_of
from cellwright.knowledge.memory.commands import (
    MEMORY_HEADINGS,
    OFF,
    PROPOSAL_HEADINGS,
    MemoryOrder,
    carried_out,
    memory_row,
    proposal_row,
)
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.record.values import to_dict
from cellwright.settings import not_for_guests

WITH_ID = ("edit", "forget", "accept", "reject")
WITH_TEXT = ("add", "edit")


def memory(invocation: Invocation) -> int:
    """List or change what is kept."""
    options = invocation.options
    not_for_guests(invocation.settings, "The memory")
    with open_store(invocation) as store:
        keeper = MemoryKeeper(store.database)
        whose = Whose("", project_of(str(Path.cwd())))
        if options.action == "list":
            return _list(invocation, keeper, whose)
        if options.action == "proposals":
            return _proposals(invocation, keeper, whose)
        done = carried_out(keeper, whose, _order(invocation), "cellwright memory")
        invocation.console.result({"done": done}, "\n".join(map(one_line, done.split("\n"))))
    return COMPLETED


def _list(invocation: Invocation, keeper: MemoryKeeper, whose: Whose) -> int:
    found = keeper.all(whose.owner, " ".join(invocation.options.words))
    is_on = keeper.is_on(whose.owner)
    lines = [] if is_on else [OFF]
    if found:
        rows = [tuple(map(one_line, memory_row(each))) for each in found]
        lines.append(table([name.upper() for name in MEMORY_HEADINGS], rows))
    elif is_on:
        lines.append("Nothing is kept yet. Keep something: cellwright memory add TEXT")
    document = {"is_on": is_on, "memories": [to_dict(each) for each in found]}
    invocation.console.result(document, "\n".join(lines))
    return COMPLETED


def _proposals(invocation: Invocation, keeper: MemoryKeeper, whose: Whose) -> int:
    found, kept = keeper.proposals(whose.owner), keeper.all(whose.owner)
    rows = [tuple(map(one_line, proposal_row(each, kept))) for each in found]
    text = table([name.upper() for name in PROPOSAL_HEADINGS], rows) if rows else ""
    document = {"proposals": [to_dict(each) for each in found]}
    invocation.console.result(document, text or "Nothing is proposed.")
    return COMPLETED


def _order(invocation: Invocation) -> MemoryOrder:
    """What is to be done.

    Raises:
        SetupError: An id or a text is missing, or there is a word too many.
    """
    options, words = invocation.options, list(invocation.options.words)
    name = words.pop(0) if options.action in WITH_ID and words else ""
    text = make_redactor(invocation.settings).text(" ".join(words))
    wanted = [(options.action in WITH_ID, "ID", name), (options.action in WITH_TEXT, "TEXT", text)]
    if any(is_wanted != bool(given) for is_wanted, _, given in wanted):
        form = " ".join(["memory", options.action, *(form for is_, form, _ in wanted if is_)])
        raise SetupError(f"It is written: cellwright {form}.", hint="See cellwright memory list.")
    return MemoryOrder(options.action, name, text, "project" if options.project else "user")
