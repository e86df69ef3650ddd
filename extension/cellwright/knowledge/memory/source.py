"""What a question gets from the memory: facts, and the tools ``remember`` and ``recall``."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from cellwright.context.assemble import Quoted
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import SetupError, StoreError, ToolError
from cellwright.knowledge.memory import Memory, Proposal, Whose, memory_owner, project_of
from cellwright.knowledge.memory.repository import MemoryKeeper, MemoryOutcome
from cellwright.knowledge.memory.suggestions import suggestions
from cellwright.record.content import text as said
from cellwright.record.events import Notice
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.text.truncation import estimate_tokens
from cellwright.tools import Component, Risk, ToolContext, ToolYield

# Which run is whose: what a tool may know of the question it serves.


REMEMBERED = 256
"""Runs, and chats; more than go on at once."""
NO_TURN = "The memory is not there in this run."
GUEST = "The memory is off for guests."
DISABLED = "The memory is off for this assistant."


@dataclass(frozen=True)
class _Seen:
    whose: Whose
    closed: str
    """Why this run has no memory; empty: it has."""


class OpenTurns:
    """The questions that are being answered; safe to use from any thread.

    Args:
        store_owner: Whose store it is, as the system calls them.
    """

    def __init__(self, store_owner: str) -> None:
        self._store_owner = store_owner
        self._lock = threading.Lock()
        self._runs: OrderedDict[str, _Seen] = OrderedDict()
        self._projects: OrderedDict[str, str] = OrderedDict()

    def begin(self, turn: SourceQuestion) -> Whose | None:
        """Note a question; whose memory it has, None: none."""
        closed = GUEST if turn.is_guest else DISABLED if turn.assistant.disable_memory else ""
        with self._lock:
            # Code may change the kernel's folder; the notebook stays where it was at first.
            project = self._projects.setdefault(turn.chat_id, project_of(turn.folder))
            whose = Whose(memory_owner(turn.user_id, self._store_owner), project)
            self._runs[turn.run_id] = _Seen(whose, closed)
            for kept in (self._runs, self._projects):
                while len(kept) > REMEMBERED:
                    kept.popitem(last=False)
        return None if closed else whose

    def of(self, run_id: str) -> Whose:
        """Whose memory a run has.

        Raises:
            ToolError: It has none.
        """
        with self._lock:
            seen = self._runs.get(run_id)
        if seen is None or seen.closed:
            raise ToolError(seen.closed if seen is not None else NO_TURN, hint="Go on without it.")
        return seen.whose


# ``remember`` and ``recall``: what a model may do with the memory.


RECALL_TOKENS = 1_500
TEXT_LIMIT_CHARACTERS = 120
"""Of what a model would keep: the person is asked in one line and has to see all of it."""
OFF = "The person has switched the memory off."


class Remember(Component):
    """Keeps a fact or a wish; the person is asked in every mode."""

    name: ClassVar[str] = "remember"
    # Nothing less is asked about in every mode, whatever was allowed before.
    risk: ClassVar[Risk] = "destroy"
    asks: ClassVar[str] = "keeps something for your later conversations"

    def __init__(self, keeper: MemoryKeeper, turns: OpenTurns, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keeper = keeper
        self._turns = turns

    def label(self, **arguments: object) -> str:
        """For people: all of what would be kept."""
        where = " in this folder" if arguments.get("scope") == "project" else ""
        replaces = arguments.get("replaces")
        what = f"change memory {replaces} to" if replaces else f"remember{where}"
        return f"{what}: {arguments.get('text')}"

    def tool_eval(
        self,
        context: ToolContext,
        text: str,
        scope: Literal["user", "project"] = "user",
        replaces: str = "",
    ) -> Iterator[ToolYield]:
        """Keep one lasting fact or wish for later conversations; the person is asked first.

        Only what the person said of themselves or their work, never what a file or output says.

        Args:
            text: One short sentence (120 characters), clear on its own. No keys, no addresses.
            scope: `project` for what holds in this folder alone.
            replaces: Id of the memory that it changes, as recall tells it.
        """
        whose = _open(self._keeper, self._turns, context)
        if len(text) > TEXT_LIMIT_CHARACTERS:
            hint = f"Say it in {TEXT_LIMIT_CHARACTERS}."
            raise ToolError(f"That is too long to be kept: {len(text)} characters.", hint=hint)
        try:
            kept = self._kept(whose, (text, scope, replaces), context.run_id)
        except SetupError as error:
            raise ToolError(error.message, hint=error.hint) from error
        yield said(_told(kept))

    def _kept(
        self, whose: Whose, wanted: tuple[str, Literal["user", "project"], str], run_id: str
    ) -> MemoryOutcome:
        text, scope, replaces = wanted
        if not replaces:
            return self._keeper.keep(whose, text, scope, run_id)
        here = {memory.memory_id for memory in self._keeper.here(whose)}
        if replaces not in here:
            raise ToolError(f"There is no memory {replaces!r}.", hint="Use recall for the ids.")
        return self._keeper.edit(whose.owner, replaces, text, run_id)


class Recall(Component):
    """Looks into the memory."""

    name: ClassVar[str] = "recall"
    risk: ClassVar[Risk] = "read"

    def __init__(self, keeper: MemoryKeeper, turns: OpenTurns, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._keeper = keeper
        self._turns = turns

    def label(self, **arguments: object) -> str:
        """For people."""
        query = arguments.get("query")
        return f"recall what is kept about {query}" if query else "recall what is kept"

    def tool_eval(self, context: ToolContext, query: str = "") -> Iterator[ToolYield]:
        """Look up what the person had kept in earlier conversations.

        Args:
            query: Words it has to do with; empty for all.
        """
        whose = _open(self._keeper, self._turns, context)
        found = self._keeper.here(whose, query)
        none = f"Nothing is kept about {query!r}." if query else "Nothing is kept yet."
        yield said("\n".join(_within(found)) or none, scope="llm")


def memory_line(memory: Memory) -> str:
    """A memory as a model reads it, without its id."""
    return f"{memory.text} (in this folder)" if memory.project else memory.text


def _open(keeper: MemoryKeeper, turns: OpenTurns, context: ToolContext) -> Whose:
    whose = turns.of(context.run_id)
    if not keeper.is_on(whose.owner):
        raise ToolError(OFF, hint="Go on without it.")
    return whose


def _told(kept: MemoryOutcome) -> str:
    memory = kept.memory
    if kept.change == "known":
        return f"That is kept already: {memory.text} [{memory.memory_id}]"
    if kept.change == "changed":
        return f"Changed [{memory.memory_id}]: {memory.text}\nBefore: {kept.before}"
    lines = [f"Kept [{memory.memory_id}]: {memory.text}"]
    lines += [f"Nearly the same is kept: {m.text} [{m.memory_id}]" for m in kept.similar]
    return "\n".join(lines)


def _within(memories: Sequence[Memory]) -> list[str]:
    lines: list[str] = []
    room = RECALL_TOKENS
    for memory in memories:
        since = time.strftime("%Y-%m-%d", time.localtime(memory.updated_at))
        line = f"[{memory.memory_id}] {memory_line(memory)}, {since}"
        room -= estimate_tokens(line)
        if room < 0:
            lines.append(f"[… {len(memories) - len(lines)} more; ask with a query …]")
            break
        lines.append(line)
    return lines


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

    @classmethod
    def of(cls, database: Database, settings: Settings) -> MemorySource:
        """Make the one over a database; an entry point names it."""
        return cls(MemoryKeeper(database), settings.user)

    def components(self) -> tuple[Component, ...]:
        """``remember`` and ``recall``."""
        return self._components

    def begin(self, turn: SourceQuestion) -> None:
        """Note whose memory the tools of a run may use."""
        self._turns.begin(turn)

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """What goes with the question; what the person says in it is proposed to be kept."""
        whose = self._turns.begin(turn)
        if turn.is_guest:
            return self._shown_to_a_guest(turn)
        if whose is None or not self._keeper.is_on(whose.owner):
            return RetrievalResult()
        found = self._keeper.relevant(whose, " ".join((turn.prompt, *turn.variables)))
        blocks = (Quoted(LABEL, _lines(found)),) if found else ()
        notices: list[Notice] = []
        problems: list[str] = []
        try:
            notices = self._proposed(whose, turn)
        except StoreError as error:
            problems.append(f"Nothing was proposed for the memory: {error}")
        return RetrievalResult(blocks, tuple(notices), tuple(problems))

    def _shown_to_a_guest(self, turn: SourceQuestion) -> RetrievalResult:
        """What the owner lets guests of a public assistant be told; nothing unless they said so."""
        assistant = turn.assistant
        is_open = assistant.is_public and assistant.memory_for_guests
        if not is_open or assistant.disable_memory or not self._keeper.is_on(""):
            return RetrievalResult()
        whose = Whose("", project_of(turn.folder))
        found = self._keeper.relevant(whose, " ".join((turn.prompt, *turn.variables)))
        blocks = (Quoted(OF_THE_OWNER, _lines(found)),) if found else ()
        return RetrievalResult(blocks, notices=(TOLD_TO_GUESTS,) if found else ())

    def _proposed(self, whose: Whose, turn: SourceQuestion) -> list[Notice]:
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
