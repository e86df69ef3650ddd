"""The sources that every conversation has, and where its turns of long ago are found."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Sequence
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.context.assemble import Quoted
from cellwright.context.blocks import RECALLED, Block, BlockShelf, Recalled
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion, TurnSource
from cellwright.errors import LMError, SetupError
from cellwright.external.source import OutsideTools, Whereabouts, open_outside
from cellwright.installation import (
    CONTEXT,
    SOURCES,
    TOOLS,
    Plugin,
    list_entry_points,
    load_own,
    load_plugins,
)
from cellwright.knowledge.block_vectors import BlockVector, BlockVectors
from cellwright.knowledge.rank_fusion import fused
from cellwright.llm.embedding import Embedder, embedder_of
from cellwright.session.scene_source import SceneSource, classifier_of
from cellwright.settings import Settings
from cellwright.store.blocks import BlockStore
from cellwright.store.database import Database
from cellwright.tools import Component
from cellwright.tools.installed import make_tools
from cellwright.tools.registry import ToolSource

# Tools and context that installed packages add to every conversation.


CONTEXT_LIMIT = 8_000
"""Characters of one package's context; the rest of it is left out."""


OWN_SOURCES = ("memory", "library")
"""Those of cellwright itself that entry points name, in the order in which the model is told."""


def installed_sources(database: Database, settings: Settings) -> tuple[TurnSource, ...]:
    """Load what entry points name: our own sources, then the plug-ins for conversations."""
    found: list[TurnSource] = []
    problems: list[str] = []
    for name in OWN_SOURCES:
        try:
            found.append(load_own(SOURCES, name)(database, settings))
        except SetupError as error:
            problems.append(str(error))
    points = list_entry_points(TOOLS, CONTEXT)
    tools = make_tools(load_plugins(point for point in points if point.group == TOOLS))
    context = load_plugins(point for point in points if point.group == CONTEXT)
    problems += [*tools.problems, *context.problems]
    if tools.sources or problems:
        found.append(PluginTools(tools.sources, tuple(problems)))
    return (*found, *map(PluginContext, context.loaded))


class PluginTools:
    """The tools of installed packages, and what is wrong with their plug-ins.

    Args:
        sources: The tools, by package.
        problems: What a chat is told once.
    """

    name = "plug-ins"

    def __init__(self, sources: tuple[ToolSource, ...], problems: tuple[str, ...]) -> None:
        self._sources = sources
        self._problems = problems
        self._told: set[str] = set()

    def components(self) -> tuple[Component, ...]:
        """All of them."""
        return tuple(each for source in self._sources for each in source.components)

    def tool_sources(self, *, is_guest: bool = False) -> tuple[ToolSource, ...]:
        """The same by package; a guest gets none, as they run with the rights of the owner."""
        return () if is_guest else self._sources

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Say once in a chat what could not be loaded."""
        if turn.is_guest or turn.chat_id in self._told:
            return RetrievalResult()
        self._told.add(turn.chat_id)
        return RetrievalResult(problems=self._problems)


class PluginContext:
    """A context provider of an installed package: a function of the question that returns text.

    Args:
        plugin: The function.
    """

    def __init__(self, plugin: Plugin) -> None:
        self._plugin = plugin
        self.name = plugin.name

    def components(self) -> tuple[Component, ...]:
        """None; tools have a group of their own."""
        return ()

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Ask it, except for a guest.

        Raises:
            SetupError: It failed, or returned something else.
        """
        text = "" if turn.is_guest else self._plugin.call(turn)
        if not isinstance(text, str):
            raise self._plugin.refuse(f"returned {type(text).__name__} instead of str")
        return RetrievalResult((Quoted(self.name, text[:CONTEXT_LIMIT]),) if text.strip() else ())


# Turns of long ago, found by their words and by what they mean, joined by rank.
#
# A block gets its vector with the first question that comes after it: in the one request that the
# question's own vector takes, so that no run waits for it at its end.


NEAR = 0.3
"""A vector that is less near says nothing."""
TAKEN = 30
"""So many of each list are joined."""
QUERY_SECONDS = 2.0
EMBEDDED_AT_ONCE = 32
PAUSE_SECONDS = 60.0
"""After a failure of the service, words alone are looked for so long."""
BY_WORDS_ALONE = "Earlier turns of this chat were looked for by words alone: "


class BlockSearch:
    """The blocks of one database; safe to use from any thread.

    Args:
        database: Where they are.
        embedder: Gives the question and the blocks vectors; None: words alone.
    """

    def __init__(self, database: Database, embedder: Embedder | None = None) -> None:
        self._store = BlockStore(database)
        self._embedder = embedder
        self._vectors = BlockVectors(database, embedder.model if embedder is not None else "")
        self._at_once = EMBEDDED_AT_ONCE
        self._paused_until = 0.0

    def keep(self, chat_id: str, block: Block) -> None:
        """Keep a block; one with the same text is kept once a chat."""
        self._store.keep(chat_id, block)

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        """The blocks of a chat that are most like a query."""
        by_words = self._store.by_words(chat_id, query, without)[:TAKEN]
        problem = ""
        by_meaning: tuple[int, ...] = ()
        try:
            by_meaning = self._by_meaning(chat_id, query, without)
        except LMError as error:
            problem = f"{BY_WORDS_ALONE}{error}"
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            # a service that was too slow for many may be quick enough for few
            self._at_once = max(1, self._at_once // 4)
        best = tuple(fused((by_words, by_meaning)))[:RECALLED]
        return Recalled(self._store.blocks(best), problem)

    def _by_meaning(self, chat_id: str, query: str, without: Collection[str]) -> tuple[int, ...]:
        """Ids of the nearest blocks, the nearest first; those without a vector are given one."""
        embedder = self._embedder
        if embedder is None or time.monotonic() < self._paused_until or not query.strip():
            return ()
        missing = self._vectors.missing(chat_id, self._at_once)
        texts = (query, *(block.text for block in missing))
        wanted, *vectors = embedder.embed(texts, QUERY_SECONDS)
        if missing:
            self._vectors.keep(zip((block.block_id for block in missing), vectors, strict=True))
            self._at_once = min(EMBEDDED_AT_ONCE, 2 * self._at_once)
        return _nearest(wanted, self._vectors.of(chat_id, without))


def _nearest(wanted: bytes, blocks: Sequence[BlockVector]) -> tuple[int, ...]:
    # vectors of another length are of another model of the same name
    alike = [block for block in blocks if len(block.vector) == len(wanted)]
    if not alike:
        return ()
    import numpy

    joined = b"".join(block.vector for block in alike)
    rows = numpy.frombuffer(joined, dtype="float32").reshape(len(alike), -1)
    cosines = (rows @ numpy.frombuffer(wanted, dtype="float32")).tolist()
    order = sorted(range(len(alike)), key=lambda place: -cosines[place])
    return tuple(alike[place].block_id for place in order[:TAKEN] if cosines[place] >= NEAR)


class Sources:
    """The sources of one process; the same ones for as long as database and settings are.

    A conversation keeps its tools, and with them the provider's cache of the prompt, only while
    they are the same objects.

    Args:
        folder: Where programs of outside tools are started; None: where the process is.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._start = folder
        self._outside: dict[tuple[Path, ...] | None, OutsideTools] = {}
        self._lock = threading.Lock()
        self._made_for: tuple[Database, Settings] | None = None
        self._made: tuple[TurnSource, ...] = ()
        self._blocks: BlockShelf | None = None

    def of(
        self, database: Database, settings: Settings, folders: tuple[Path, ...] | None = None
    ) -> tuple[TurnSource, ...]:
        """Those over a database, in the order in which the model is told of them.

        Args:
            database: Where all is kept.
            settings: Whose it is.
            folders: Where outside tools are looked for, the nearest first; None: from the folder
                of the process upwards.
        """
        with self._lock:
            self._make(database, settings)
            return (*self._made, self.outside(database, settings, folders))

    def outside(
        self, database: Database, settings: Settings, folders: tuple[Path, ...] | None = None
    ) -> OutsideTools:
        """The outside tools of some folders; they are kept, and with them what was started."""
        found = open_outside(database, settings, self._whereabouts(folders))
        self._outside[folders] = found
        return found

    def blocks(self, database: Database, settings: Settings) -> BlockShelf | None:
        """Where turns of long ago are found; it remembers that a service failed just now."""
        with self._lock:
            self._make(database, settings)
            return self._blocks

    def _make(self, database: Database, settings: Settings) -> None:
        if self._made_for != (database, settings):
            self._made = _standard(database, settings)
            self._blocks = BlockSearch(database, embedder_of(settings))
            self._made_for = (database, settings)

    def _whereabouts(self, folders: tuple[Path, ...] | None) -> Whereabouts:
        if self._start is None:
            # a cell may go to another folder; servers that run must not be started anew for it
            self._start = Path.cwd()
        if folders is None:
            folders = project_folders(Path.cwd())
        return Whereabouts(folders, self._start)


def _standard(database: Database, settings: Settings) -> tuple[TurnSource, ...]:
    return (
        SceneSource(classifier_of(settings)),
        *installed_sources(database, settings),
    )
