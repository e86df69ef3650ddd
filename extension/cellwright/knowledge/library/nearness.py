"""Pieces by the nearness of their vectors, whether those are in memory or are read each time."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass
from typing import Any

from cellwright.knowledge.library import Library
from cellwright.knowledge.library.nearest_pieces import (
    Candidates,
    Near,
    Vectors,
    candidates_among,
    margin_of,
    nearest_of,
)
from cellwright.knowledge.library.store_vectors import BYTES_PER_NUMBER, count_pieces
from cellwright.knowledge.library.stored_vectors import StoredTable, numbers_of
from cellwright.knowledge.library.vector_extension import Wanted, compare_all
from cellwright.knowledge.library.vector_table import VectorTable
from cellwright.store.database import Database

IDLE_SECONDS = 600.0
"""Vectors that nobody asked for so long make room for others."""

Key = tuple[int, str, int]
"""A library's number, a model, and how many numbers its vectors have."""


@dataclass
class _Held:
    """Vectors in memory."""

    table: VectorTable
    size_bytes: int = 0
    asked_at: float = 0.0


class Nearness:
    """The vectors of one database.

    Those of a library are kept in memory where they fit beside the others, else each question
    reads them anew; it finds the same, in the same order.

    Args:
        database: Where they are kept.
        memory_bytes: How much memory they may take.
    """

    def __init__(self, database: Database, memory_bytes: int) -> None:
        self._database = database
        self._memory_bytes = memory_bytes
        self._reading = threading.Lock()
        self._held: dict[Key, _Held] = {}
        self._stored: dict[Key, StoredTable] = {}
        self._pieces: dict[int, tuple[int, int]] = {}
        """How many pieces a library of some version has."""

    def nearest(self, library: Library, model: str, vector: bytes, limit: int) -> tuple[Near, ...]:
        """The pieces of a library whose vectors are nearest, the nearest first."""
        import numpy

        wanted = numpy.frombuffer(vector, dtype="float32")
        key = (library.number, model, len(wanted))
        with self._reading:
            vectors = self._vectors(library, key)
        candidates = self._compared(key, vector, limit) if vectors is None else None
        if candidates is None:
            if vectors is None:
                with self._reading:
                    vectors = self._stored_table(key).at(library)
            if not len(vectors.chunk_ids):
                return ()
            candidates = candidates_among(vectors, wanted, limit)
        return nearest_of(candidates, wanted, limit) if candidates.count else ()

    def _vectors(self, library: Library, key: Key) -> Vectors | None:
        """What to compare; None: it is in the record, and it is not known yet where."""
        _, model, dimension = key
        size = self._count(library) * dimension * BYTES_PER_NUMBER
        if not self._fits(key, size):
            self._held.pop(key, None)
            stored = self._stored_table(key)
            return stored.at(library) if stored.is_asked_again(library) else None
        self._stored.pop(key, None)
        held = self._held.setdefault(key, _Held(VectorTable(self._database, model, dimension)))
        held.size_bytes, held.asked_at = size, time.monotonic()
        return held.table.at(library)

    def _stored_table(self, key: Key) -> StoredTable:
        _, model, dimension = key
        return self._stored.setdefault(key, StoredTable(self._database, model, dimension))

    def _compared(self, key: Key, vector: bytes, limit: int) -> Candidates | None:
        """What one statement finds, without learning where vectors are; None: it cannot."""
        import numpy

        number, model, dimension = key
        wanted = Wanted(number, model, vector, limit, margin_of(dimension))
        found = compare_all(self._database.path, wanted)
        if found is None:
            return None
        chunk_ids = numpy.array(found.nearest, dtype="int64")

        def numbers(some: slice) -> Any:
            return numbers_of(self._database, model, dimension, chunk_ids[some])

        return Candidates(chunk_ids, numbers, found.count, found.mean, found.deviation)

    def _fits(self, key: Key, size_bytes: int) -> bool:
        """Whether there is memory for a library, once what nobody asks for has gone."""
        room = self._memory_bytes - size_bytes
        if room < 0:
            return False
        others = {other: held for other, held in self._held.items() if other != key}
        if sum(held.size_bytes for held in others.values()) <= room:
            return True
        idle_since = time.monotonic() - IDLE_SECONDS
        for other, held in others.items():
            if held.asked_at < idle_since:
                del self._held[other]
        left = (held.size_bytes for other, held in self._held.items() if other != key)
        return sum(left) <= room

    def _count(self, library: Library) -> int:
        version, count = self._pieces.get(library.number, (-1, 0))
        if version != library.version:
            count = count_pieces(self._database, library.number)
            self._pieces[library.number] = (library.version, count)
        return count
