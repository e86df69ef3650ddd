"""Outside tools beside the standard ones, the same for a whole conversation."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.external import Definition
from cellwright.external.consent_store import Pages, ToolBook
from cellwright.external.services import OutsideTool, Services, ToolService
from cellwright.external.web import ProcessEnvironment
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.store.tools import ToolStore
from cellwright.tools import Component
from cellwright.tools.registry import ToolSource

START_SECONDS = 2.0
EVERY_CHAT = "*"
Shape = Mapping[str, str]
"""What a model is told of each tool, by its name."""


@dataclass(frozen=True)
class ToolRow:
    """A tool in a list for people."""

    name: str
    kind: str
    source: str
    description: str
    enabled: bool
    problem: str = ""
    risk: str = ""


class OutsideTools:
    """The tools of all services that a person uses.

    Args:
        book: What is written down.
        services: What is open.
    """

    name = "outside"

    def __init__(self, book: ToolBook, services: Services) -> None:
        self.book = book
        self.services = services
        self.start_seconds = START_SECONDS
        """How long a question waits for services that were never asked what they can do."""
        self._lock = threading.RLock()
        self._shapes: dict[str, Shape] = {}
        self._changes: list[str] = []
        self._told: dict[str, int] = {}
        self._warned: dict[str, set[str]] = {}

    def components(self) -> tuple[Component, ...]:
        """All tools, in the order in which their services are written down."""
        return tuple(tool for source in self.tool_sources() for tool in source.components)

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """The same by service: each may have as many as a source may.

        Args:
            is_guest: Whoever asks is not the person whose keys they are called with: none.
        """
        if is_guest:
            return ()
        return tuple(
            ToolSource(service.definition.name, service.tools().tools)
            for service in self._used(self.book.pages())
        )

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Which tools have changed since the last question, and which are missing."""
        if turn.is_guest:
            return RetrievalResult()
        pages = self.book.pages()
        used = self._used(pages)
        self._note_changes(used)
        unused = [entry.problem for entry in pages.entries if entry.problem]
        with self._lock:
            told = self._told.get(turn.chat_id, len(self._changes))
            changes = self._changes[told:]
            self._told[turn.chat_id] = len(self._changes)
            problems = self._new(turn.chat_id, [*pages.problems, *_problems(used)])
            # files of other programs may lie there on purpose: told in one chat alone
            notices = (*changes, *self._new(EVERY_CHAT, unused))
        return RetrievalResult(notices=notices, problems=problems)

    def rows(self) -> tuple[ToolRow, ...]:
        """What there is, for people; starts nothing."""
        rows: list[ToolRow] = []
        for entry in self.book.pages().entries:
            if entry.problem:
                rows.append(_row(entry.definition, entry.problem))
                continue
            service = self.services.service(entry.definition)
            tools = service.tools().tools
            rows += [_tool_row(tool) for tool in tools]
            if not tools:
                words = service.problem or "It was not asked yet what it can do."
                rows.append(_row(entry.definition, words))
        return tuple(rows)

    def close(self) -> None:
        """End the servers that were started."""
        self.services.close()

    def _new(self, chat: str, told: list[str]) -> tuple[str, ...]:
        known = self._warned.setdefault(chat, set())
        new = tuple(words for words in dict.fromkeys(told) if words not in known)
        known.update(new)
        return new

    def _used(self, pages: Pages) -> list[ToolService]:
        definitions = [entry.definition for entry in pages.entries if entry.is_agreed]
        self.services.keep_only(definitions, self)
        used = [self.services.service(each) for each in definitions]
        self.services.ask_all(used, self.start_seconds)
        return used

    def _note_changes(self, used: list[ToolService]) -> None:
        with self._lock:
            for service in used:
                if service.listing is None:
                    continue
                name, shape = service.definition.name, _shape(service)
                before = self._shapes.get(name, shape)
                self._shapes[name] = shape
                if before != shape:
                    self._changes.append(_change(name, before, shape))


def _problems(used: list[ToolService]) -> list[str]:
    found: list[str] = []
    for service in used:
        name = service.definition.name
        if service.listing is None:
            still = f"{name!r} is still starting; its tools come with the next question."
            found.append(service.problem or still)
        found += [f"A function of {name!r} is left out: {p}." for p in service.tools().problems]
    return found


def _shape(service: ToolService) -> Shape:
    manifests = [tool.tool_manifests()[0] for tool in service.tools().tools]
    return {m.name: f"{m.description}\n{m.parameters!r}" for m in manifests}


def _change(name: str, before: Shape, now: Shape) -> str:
    new = [tool for tool in now if tool not in before]
    gone = [tool for tool in before if tool not in now]
    other = [tool for tool in now if tool in before and now[tool] != before[tool]]
    parts = [
        f"{word} {', '.join(names[:8])}{' …' if len(names) > 8 else ''}"
        for word, names in (("new:", new), ("gone:", gone), ("described otherwise:", other))
        if names
    ]
    return f"The tools of {name!r} have changed; {'; '.join(parts)}."


def _row(definition: Definition, problem: str) -> ToolRow:
    return ToolRow(
        definition.name,
        definition.kind,
        definition.source,
        definition.description,
        enabled=False,
        problem=problem,
    )


def _tool_row(tool: OutsideTool) -> ToolRow:
    definition = tool.definition
    words = tool.function.description
    return ToolRow(tool.name, definition.kind, definition.name, words, enabled=True, risk=tool.risk)


# The outside tools of a process: one set for a record, whatever else is set meanwhile.


Key = tuple[int, str, str, Path]


@dataclass(frozen=True)
class Whereabouts:
    """Where a person works."""

    folders: tuple[Path, ...]
    """Where files that name services are looked for, the nearest first."""
    start: Path
    """Where programs are started that name no folder."""


@dataclass
class _Pool:
    """Services that are started once, for all folders in which they are used."""

    services: Services
    users: int = 0


LOCK = threading.RLock()
"""May be taken again by what is collected while it is held."""
OPEN: weakref.WeakValueDictionary[tuple[Key, tuple[Path, ...]], OutsideTools] = (
    weakref.WeakValueDictionary()
)
"""Settings change from question to question; servers that run must not be started anew for it."""
POOLS: dict[Key, _Pool] = {}


def open_outside(
    database: Database, settings: Settings, where: Whereabouts | None = None
) -> OutsideTools:
    """The tools that are written down for this person and these folders; nothing is started.

    Args:
        database: What was connected and agreed to.
        settings: Whose they are, and cellwright's own folder.
        where: Where the person works; None: where the process does, up to the folder of git.
    """
    where = where or Whereabouts(project_folders(Path.cwd()), Path.cwd())
    key = (id(database), str(settings.home), settings.user, where.start)
    with LOCK:
        found = OPEN.get((key, where.folders))
        if found is None:
            store = ToolStore(database, settings.user)
            pool = POOLS.setdefault(key, _Pool(_services(store, where.start)))
            pool.users += 1
            found = OutsideTools(ToolBook(store, settings.home, where.folders), pool.services)
            weakref.finalize(found, _let_go, key)
            OPEN[(key, where.folders)] = found
        return found


def _services(store: ToolStore, start: Path) -> Services:
    return Services(store, ProcessEnvironment(os.environ, str(start)))


def _let_go(key: Key) -> None:
    """The last one to use a pool ends it."""
    with LOCK:
        pool = POOLS[key]
        pool.users -= 1
        if pool.users:
            return
        del POOLS[key]
    pool.services.close()
