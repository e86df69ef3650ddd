"""The vectors of a library that is too large for memory: a question reads some at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from cellwright.knowledge.library import Library
from cellwright.knowledge.library.store_vectors import (
    BYTES_PER_NUMBER,
    newest_vector,
    vectors_between,
    vectors_of_pieces,
)
from cellwright.knowledge.library.vector_rows import Part, VectorRows, read_rows
from cellwright.store.database import Database


@dataclass(frozen=True)
class StoredVectors:
    """The vectors of pieces where they are kept."""

    database: Database
    model: str
    dimension: int
    pieces: VectorRows

    @property
    def chunk_ids(self) -> Any:
        """The pieces that have a vector."""
        return self.pieces.chunk_ids

    def cosines(self, wanted: Any) -> Any:
        """How near each piece is; nought for one whose vector has just gone."""
        import numpy

        cosines = numpy.zeros(len(self.chunk_ids), dtype="float32")
        for part in self.pieces.parts(self.dimension):
            self._compare(part, wanted, cosines[part.start : part.end])
        return cosines

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the pieces, by their positions."""
        return numbers_of(self.database, self.model, self.dimension, self.chunk_ids[positions])

    def _compare(self, part: Part, wanted: Any, cosines: Any) -> None:
        import numpy

        first, last = part.first_row, part.last_row
        read = vectors_between(self.database, first, last, self.model, self.dimension)
        if not read:
            return
        numbers, vectors = zip(*read, strict=True)
        matrix = numpy.frombuffer(b"".join(vectors), dtype="float32").reshape(len(read), -1)
        there, rows = numpy.array(numbers, dtype="int64"), self.pieces.rows[part.start : part.end]
        places = numpy.minimum(numpy.searchsorted(there, rows), len(there) - 1)
        # For so few rows a product waits longer for its threads than it takes.
        near = numpy.einsum("ij,j->i", matrix, wanted)
        cosines[:] = near[places] * (there[places] == rows)


def numbers_of(database: Database, model: str, dimension: int, chunk_ids: Any) -> Any:
    """The vectors of pieces; noughts for one whose vector has just gone."""
    import numpy

    wanted = chunk_ids.tolist()
    found = vectors_of_pieces(database, wanted, model, dimension)
    nothing = bytes(BYTES_PER_NUMBER * dimension)
    vectors = b"".join(found.get(chunk_id, nothing) for chunk_id in wanted)
    return numpy.frombuffer(vectors, dtype="float32").reshape(len(wanted), dimension)


class StoredTable:
    """Knows which row holds the vector of each piece; not to be used by two threads at once.

    Args:
        database: Where vectors are kept.
        model: Whose vectors.
        dimension: How many numbers each has.
    """

    def __init__(self, database: Database, model: str, dimension: int) -> None:
        self._database = database
        self._model = model
        self._dimension = dimension
        self._seen = (-1, -1)
        self._asked = (-1, -1)
        self._vectors: StoredVectors | None = None

    def is_asked_again(self, library: Library) -> bool:
        """Whether nothing has changed since the question before: it is worth to learn the rows."""
        before, self._asked = self._asked, (library.version, newest_vector(self._database))
        return before == self._asked

    def at(self, library: Library) -> StoredVectors:
        """The vectors of the library as it is now."""
        seen = (library.version, newest_vector(self._database))
        if self._vectors is None or seen != self._seen:
            pieces = read_rows(self._database, library.number, self._model, self._dimension)
            self._vectors = StoredVectors(self._database, self._model, self._dimension, pieces)
            self._seen = seen
        return self._vectors
