"""A record in a file of its own, for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cellwright.store.database import Database, open_database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "runs.sqlite")
    yield opened
    opened.close()
