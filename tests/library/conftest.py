"""An empty library of a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from library.shelves import Shelf

from cellwright.knowledge.library.libraries import Libraries
from cellwright.settings import Settings
from cellwright.store.database import Database, open_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "home" / "runs.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def shelf(tmp_path: Path, database: Database) -> Shelf:
    """A project without documents."""
    folder = tmp_path / "project"
    (folder / ".git").mkdir(parents=True)
    return Shelf(folder, Libraries(database, Settings()))
