"""The outside tools of a process: one set for a record, whatever else is set meanwhile."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path

from cellwright.outside.book import ToolBook
from cellwright.outside.services import Services
from cellwright.outside.source import OutsideTools
from cellwright.outside.web import Surroundings
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.store.tools import ToolStore

__all__ = ["open_outside"]

LOCK = threading.Lock()
OPEN: weakref.WeakValueDictionary[tuple[int, str, str, str], OutsideTools] = (
    weakref.WeakValueDictionary()
)
"""Settings change from question to question; servers that run must not be started anew for it."""


def open_outside(
    database: Database, settings: Settings, folder: Path | None = None
) -> OutsideTools:
    """The tools that are written down for this person and this folder; nothing is started.

    Args:
        database: What was connected and agreed to.
        settings: Whose they are, and cellwright's own folder.
        folder: Where the person works; None: where the process does.
    """
    place = folder or Path.cwd()
    key = (id(database), str(settings.home), settings.user, str(place))
    with LOCK:
        found = OPEN.get(key)
        if found is None:
            store = ToolStore(database, settings.user)
            services = Services(store, Surroundings(os.environ, str(place)))
            found = OutsideTools(ToolBook(store, settings.home, place), services)
            weakref.finalize(found, services.close)
            OPEN[key] = found
        return found
