"""The sources that every conversation has."""

from __future__ import annotations

import threading
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.context.blocks import BlockShelf
from cellwright.context.turn_sources import TurnSource
from cellwright.external.source import OutsideTools, Whereabouts, open_outside
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.source import LibrarySource
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.source import MemorySource
from cellwright.knowledge.old_turns import BlockSearch
from cellwright.llm.embedding import embedder_of
from cellwright.session.installed_sources import installed_sources
from cellwright.session.scene_source import SceneSource, classifier_of
from cellwright.settings import Settings
from cellwright.store.database import Database


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
    # one line for each source
    return (
        SceneSource(classifier_of(settings)),
        MemorySource(MemoryKeeper(database), settings.user),
        LibrarySource(Libraries(database, settings)),
        *installed_sources(),
    )
