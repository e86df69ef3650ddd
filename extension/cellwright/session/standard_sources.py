"""The sources that every conversation has."""

from __future__ import annotations

import threading
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.context.assemble import Quoted
from cellwright.context.blocks import BlockShelf
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion, TurnSource
from cellwright.errors import SetupError
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
from cellwright.knowledge.old_turns import BlockSearch
from cellwright.knowledge.project.source import ProjectSource
from cellwright.llm.embedding import embedder_of
from cellwright.session.scene_source import SceneSource, classifier_of
from cellwright.settings import Settings
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
        self._projects: dict[tuple[Path, ...], ProjectSource] = {}
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
            return (
                *self._made,
                self._project(database, settings, folders),
                self.outside(database, settings, folders),
            )

    def outside(
        self, database: Database, settings: Settings, folders: tuple[Path, ...] | None = None
    ) -> OutsideTools:
        """The outside tools of some folders; they are kept, and with them what was started."""
        found = open_outside(database, settings, self._whereabouts(folders))
        self._outside[folders] = found
        return found

    def _project(
        self, database: Database, settings: Settings, folders: tuple[Path, ...] | None
    ) -> ProjectSource:
        if folders is None:
            folders = project_folders(Path.cwd())
        if folders not in self._projects:
            self._projects[folders] = ProjectSource.of(database, settings, folders)
        return self._projects[folders]

    def blocks(self, database: Database, settings: Settings) -> BlockShelf | None:
        """Where turns of long ago are found; it remembers that a service failed just now."""
        with self._lock:
            self._make(database, settings)
            return self._blocks

    def _make(self, database: Database, settings: Settings) -> None:
        if self._made_for != (database, settings):
            self._made, self._projects = _standard(database, settings), {}
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
