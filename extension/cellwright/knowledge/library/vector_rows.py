"""Which rows of the record hold the vectors of a library's pieces, and in which parts to read them.

Rows are read in the order they lie in: to look each of them up takes twice as long.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cellwright.knowledge.library.store_vectors import BYTES_PER_NUMBER, rows_of
from cellwright.store.database import Database

READ_AT_ONCE_BYTES = 384 * 1_024
"""With more, getting the memory for them takes longer than comparing them."""


@dataclass(frozen=True)
class Part:
    """Some pieces in a sequence, and the rows that all of their vectors are in."""

    start: int
    end: int
    first_row: int
    last_row: int


@dataclass(frozen=True)
class VectorRows:
    """The pieces that have a vector, with the rows that hold it, in the order of the rows."""

    chunk_ids: Any
    rows: Any

    def parts(self, dimension: int) -> Iterator[Part]:
        """What is read at once; rows of other libraries between them are few."""
        import numpy

        at_once = max(1, READ_AT_ONCE_BYTES // (BYTES_PER_NUMBER * dimension))
        start = 0
        while start < len(self.rows):
            end = int(numpy.searchsorted(self.rows, self.rows[start] + at_once))
            yield Part(start, end, int(self.rows[start]), int(self.rows[end - 1]))
            start = end


def read_rows(database: Database, number: int, model: str, dimension: int) -> VectorRows:
    """The pieces of a library that have a vector of a model."""
    import numpy

    pages = rows_of(database, number, model, dimension)
    pairs = numpy.concatenate(
        [numpy.array(page, dtype="int64").reshape(len(page), 2) for page in pages]
    )
    pairs = pairs[numpy.argsort(pairs[:, 1], kind="stable")]
    return VectorRows(pairs[:, 0].copy(), pairs[:, 1].copy())
