"""A memory in a database that is in memory itself, with a clock that goes on by itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.store.database import Database, open_database


@dataclass
class Clock:
    """A second later each time it is looked at."""

    now: float = 1_000.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database() -> Iterator[Database]:
    opened = open_database(None)
    yield opened
    opened.close()


@pytest.fixture
def keeper(database: Database, clock: Clock) -> MemoryKeeper:
    return MemoryKeeper(database, clock)
