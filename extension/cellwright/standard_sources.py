"""The sources that every conversation has: what stands beside the tools and the notebook."""

from __future__ import annotations

import threading

from cellwright.library.libraries import Libraries
from cellwright.library.source import LibrarySource
from cellwright.memory.keeping import MemoryKeeper
from cellwright.memory.source import MemorySource
from cellwright.outside.opening import open_outside
from cellwright.scene_source import SceneSource
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.turn_sources import TurnSource

__all__ = ["Sources"]


class Sources:
    """The sources of one process; the same ones for as long as database and settings are.

    A conversation keeps its tools, and with them the provider's cache of the prompt, only while
    they are the same objects.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._made_for: tuple[Database, Settings] | None = None
        self._made: tuple[TurnSource, ...] = ()

    def of(self, database: Database, settings: Settings) -> tuple[TurnSource, ...]:
        """Those over a database, in the order in which the model is told of them."""
        with self._lock:
            if self._made_for != (database, settings):
                self._made = _standard(database, settings)
                self._made_for = (database, settings)
            return self._made


def _standard(database: Database, settings: Settings) -> tuple[TurnSource, ...]:
    # one line for each source
    return (
        SceneSource(),
        MemorySource(MemoryKeeper(database), settings.user),
        LibrarySource(Libraries(database, settings)),
        open_outside(database, settings),
    )
