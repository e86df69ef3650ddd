"""Pieces by the nearness of their vectors; read once and kept until something changes."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from cellwright.library import Library
from cellwright.store.database import Database
from cellwright.store.library_vectors import newest_vector, vectors_of

__all__ = ["Near", "Nearness"]


@dataclass(frozen=True)
class Near:
    """A piece and how near it is."""

    chunk_id: int
    cosine: float


@dataclass(frozen=True)
class _Matrix:
    version: tuple[int, int]
    chunk_ids: Any
    rows: Any


class Nearness:
    """The vectors of one database in memory.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = threading.Lock()
        self._matrices: dict[tuple[int, str, int], _Matrix] = {}

    def nearest(self, library: Library, model: str, vector: bytes, limit: int) -> tuple[Near, ...]:
        """The pieces of a library whose vectors are nearest, the nearest first."""
        import numpy

        wanted = numpy.frombuffer(vector, dtype="float32")
        matrix = self._matrix(library, model, len(wanted))
        if not len(matrix.chunk_ids):
            return ()
        cosines = matrix.rows @ wanted
        count = min(limit, len(cosines))
        best = numpy.argpartition(-cosines, count - 1)[:count]
        ordered = sorted(best.tolist(), key=lambda at: -float(cosines[at]))
        return tuple(Near(int(matrix.chunk_ids[at]), float(cosines[at])) for at in ordered)

    def _matrix(self, library: Library, model: str, dimension: int) -> _Matrix:
        import numpy

        key = (library.number, model, dimension)
        version = (library.version, newest_vector(self._database))
        with self._reading:
            kept = self._matrices.get(key)
            if kept is None or kept.version != version:
                pairs = vectors_of(self._database, *key)
                ids = numpy.array([chunk_id for chunk_id, _ in pairs], dtype="int64")
                joined = b"".join(vector for _, vector in pairs)
                rows = numpy.frombuffer(joined, dtype="float32").reshape(len(pairs), dimension)
                kept = self._matrices[key] = _Matrix(version, ids, rows)
            return kept
