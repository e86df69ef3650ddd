"""``%agent memory``: what is kept for later conversations, seen and changed by the person."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from cellwright.knowledge.memory import Memory, MemoryAction, Proposal, Whose, project_of
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
from cellwright.settings import Settings, not_for_guests
from cellwright.text.redaction import Redactor
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.reports import Advice, TextTable
from cellwright_magics.session import ShellSession, saved_notebook

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


class MemoryTable(TextTable):
    """What is kept, everywhere and for folders."""

    headings = MEMORY_HEADINGS

    def __init__(self, memories: Sequence[Memory], *, is_on: bool = True) -> None:
        self.memories = tuple(memories)
        none = "Nothing is kept yet. %agent /memory add TEXT keeps something."
        self._note = "" if is_on else OFF
        self.empty = self._note or none

    def __len__(self) -> int:
        return len(self.memories)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a memory."""
        return [memory_row(memory) for memory in self.memories]

    def __repr__(self) -> str:
        return self._with_note(super().__repr__())

    def _repr_markdown_(self) -> str:
        return self._with_note(super()._repr_markdown_())

    def _with_note(self, table: str) -> str:
        return f"{table}\n\n{self._note}" if self._note and self.memories else table


class ProposalTable(TextTable):
    """What waits for the person's word."""

    headings = PROPOSAL_HEADINGS
    empty = "Nothing is proposed."

    def __init__(self, proposals: Sequence[Proposal], memories: Sequence[Memory]) -> None:
        self.proposals = tuple(proposals)
        self._memories = tuple(memories)

    def __len__(self) -> int:
        return len(self.proposals)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a proposal."""
        return [proposal_row(proposal, self._memories) for proposal in self.proposals]


def memory_command(
    line: CommandLine, settings: Settings, session: ShellSession, shell: InteractiveShell
) -> object:
    """Do what ``%agent memory …`` says.

    Args:
        line: The command.
        settings: Where the memory is.
        session: The agent of the shell, which must not be at work: its code has no say here.
        shell: Where it was typed.

    Raises:
        SetupError: There is nothing of that id, the text is not to be kept, or a run goes on; a
            guest asked.
    """
    not_for_guests(settings, "The memory")
    keeper = MemoryKeeper(session.store(settings).database)
    notebook = saved_notebook(shell.user_ns, os.environ)
    folder = Path(notebook.path).parent if notebook is not None else Path.cwd()
    whose = Whose("", project_of(str(folder)))
    words = line.words
    action = words[1] if len(words) > 1 else "list"
    if action == "list":
        found = keeper.all(whose.owner, words[2] if len(words) > 2 else "")
        return MemoryTable(found, is_on=keeper.is_on(whose.owner))
    if action == "proposals":
        return ProposalTable(keeper.proposals(whose.owner), keeper.all(whose.owner))
    redactor = Redactor.from_environment(os.environ, settings.service.api_key)
    with session.at_work():
        return Advice(carried_out(keeper, whose, _order(line, redactor)))


def _order(line: CommandLine, redactor: Redactor) -> MemoryOrder:
    action = cast("MemoryAction", line.words[1])
    name = line.words[2] if action not in ("add", "on", "off") else ""
    text = _unquoted(redactor.text("\n".join(filter(None, (line.text, line.body)))))
    is_for_project = getattr(line.arguments, "project", False)
    return MemoryOrder(action, name, text, "project" if is_for_project else "user")


def _unquoted(text: str) -> str:
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if is_quoted else text
