"""Pieces by the nearness of their vectors."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass
from typing import Any

from cellwright.library import Library
from cellwright.library.vector_table import VectorTable
from cellwright.store.database import Database

__all__ = ["Near", "Nearness"]

FEW_PIECES = 20
"""Among fewer, how near most of them are says nothing."""
CLEARLY_NEAR = 0.35
CLEARLY_NEAR_OF_FEW = 0.5


@dataclass(frozen=True)
class Near:
    """A piece and how near it is."""

    chunk_id: int
    cosine: float
    stands_out: bool = False
    """Nearer than any is by chance: it fits also where it shares no word."""


class Nearness:
    """The vectors of one database in memory.

    Args:
        database: Where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._reading = threading.Lock()
        self._tables: dict[tuple[int, str, int], VectorTable] = {}

    def nearest(self, library: Library, model: str, vector: bytes, limit: int) -> tuple[Near, ...]:
        """The pieces of a library whose vectors are nearest, the nearest first."""
        import numpy

        wanted = numpy.frombuffer(vector, dtype="float32")
        key = (library.number, model, len(wanted))
        with self._reading:
            if key not in self._tables:
                self._tables[key] = VectorTable(self._database, model, len(wanted))
            vectors = self._tables[key].at(library)
        if not len(vectors.chunk_ids):
            return ()
        cosines = vectors.cosines(wanted)
        count = min(limit, len(cosines))
        best = numpy.argpartition(-cosines, count - 1)[:count]
        ordered = sorted(best.tolist(), key=lambda at: -float(cosines[at]))
        least = _least(cosines)
        return tuple(
            Near(int(vectors.chunk_ids[at]), float(cosines[at]), float(cosines[at]) >= least)
            for at in ordered
        )


def _least(cosines: Any) -> float:
    """How near a piece has to be to fit by its meaning alone.

    Models differ in how near they put texts that have nothing in common, and of many such pieces
    the nearest is further from their mean: by about the square root of 2 ln n deviations.
    """
    count = len(cosines)
    if count < FEW_PIECES:
        return CLEARLY_NEAR_OF_FEW
    chance = max(3.0, math.sqrt(2 * math.log(count)))
    return max(CLEARLY_NEAR, float(cosines.mean()) + chance * float(cosines.std()))
