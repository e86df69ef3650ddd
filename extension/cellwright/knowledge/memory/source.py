"""What the memory has for a question, and what the question has for the memory."""

from __future__ import annotations

from cellwright.context.assemble import Quoted
from cellwright.context.turn_sources import Found, Turn
from cellwright.errors import SetupError, StoreError
from cellwright.knowledge.memory import Memory, Proposal, Whose, project_of
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.suggestions import suggestions
from cellwright.knowledge.memory.tools import Recall, Remember, memory_line
from cellwright.knowledge.memory.turns import OpenTurns
from cellwright.record.events import Notice
from cellwright.tools import Component

LABEL = "memory (what the person had kept; use what fits, their words now count more)"
OF_THE_OWNER = "memory of this server's owner, who lets guests of this assistant be told"
TOLD_TO_GUESTS = "This assistant is told what the owner of this server had remembered."
PROPOSED = "memory_proposed"
"""Code of the notice of a proposal."""


class MemorySource:
    """The memory beside a conversation.

    Args:
        keeper: The memory.
        store_owner: Whose store it is, as the system calls them.
    """

    name = "memory"

    def __init__(self, keeper: MemoryKeeper, store_owner: str) -> None:
        self._keeper = keeper
        self._turns = OpenTurns(store_owner)
        self._components = (Remember(keeper, self._turns), Recall(keeper, self._turns))

    def components(self) -> tuple[Component, ...]:
        """``remember`` and ``recall``."""
        return self._components

    def look_up(self, turn: Turn) -> Found:
        """What goes with the question; what the person says in it is proposed to be kept."""
        whose = self._turns.begin(turn)
        if turn.is_guest:
            return self._shown_to_a_guest(turn)
        if whose is None or not self._keeper.is_on(whose.owner):
            return Found()
        found = self._keeper.relevant(whose, " ".join((turn.prompt, *turn.variables)))
        blocks = (Quoted(LABEL, _lines(found)),) if found else ()
        notices: list[Notice] = []
        problems: list[str] = []
        try:
            notices = self._proposed(whose, turn)
        except StoreError as error:
            problems.append(f"Nothing was proposed for the memory: {error}")
        return Found(blocks, tuple(notices), tuple(problems))

    def _shown_to_a_guest(self, turn: Turn) -> Found:
        """What the owner lets guests of a public assistant be told; nothing unless they said so."""
        assistant = turn.assistant
        is_open = assistant.is_public and assistant.memory_for_guests
        if not is_open or assistant.disable_memory or not self._keeper.is_on(""):
            return Found()
        whose = Whose("", project_of(turn.folder))
        found = self._keeper.relevant(whose, " ".join((turn.prompt, *turn.variables)))
        blocks = (Quoted(OF_THE_OWNER, _lines(found)),) if found else ()
        return Found(blocks, notices=(TOLD_TO_GUESTS,) if found else ())

    def _proposed(self, whose: Whose, turn: Turn) -> list[Notice]:
        notices = []
        for suggestion in suggestions(turn.prompt):
            try:
                proposal = self._keeper.propose(whose, suggestion, turn.run_id)
            except SetupError as error:
                notices.append(Notice("info", error.message, "", "memory_refused"))
                continue
            if proposal is not None:
                notices.append(self._notice(whose, proposal))
        return notices

    def _notice(self, whose: Whose, proposal: Proposal) -> Notice:
        name = proposal.proposal_id
        text = f"{self._question(whose, proposal)} (proposal {name})"
        action = f"Keep it: %agent memory accept {name}. Else: %agent memory reject {name}."
        return Notice("info", text, action, PROPOSED)

    def _question(self, whose: Whose, proposal: Proposal) -> str:
        where = " in this folder" if proposal.project else ""
        if proposal.action == "delete":
            return f"Forget “{proposal.text}”?"
        if proposal.action == "update":
            kept = {memory.memory_id: memory.text for memory in self._keeper.here(whose)}
            before = kept.get(proposal.memory_id, "")
            return f"Remember “{proposal.text}”{where} instead of “{before}”?"
        return f"Remember “{proposal.text}”{where}?"


def _lines(memories: tuple[Memory, ...]) -> str:
    return "\n".join(f"- {memory_line(memory)}" for memory in memories)
