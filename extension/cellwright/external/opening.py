"""The outside tools of a process: one set for a record, whatever else is set meanwhile."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import dataclass
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.external.consent_store import ToolBook
from cellwright.external.services import Services
from cellwright.external.source import OutsideTools
from cellwright.external.web import Surroundings
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.store.tools import ToolStore

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
    return Services(store, Surroundings(os.environ, str(start)))


def _let_go(key: Key) -> None:
    """The last one to use a pool ends it."""
    with LOCK:
        pool = POOLS[key]
        pool.users -= 1
        if pool.users:
            return
        del POOLS[key]
    pool.services.close()
