"""Pieces by the nearness of their vectors: in memory, or read in parts for each question."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.knowledge.library import Library
from cellwright.knowledge.library.store_vectors import (
    BYTES_PER_NUMBER,
    VectorRows,
    VectorSlice,
    count_pieces,
    newest_vector,
    pieces_of,
    read_rows,
    vectors_after,
    vectors_between,
    vectors_of_pieces,
    vectors_of_texts,
)
from cellwright.knowledge.retrieval import LoadedVectors, Near, Vectors, find_nearest
from cellwright.store.database import Database

# The vectors of a library's pieces in memory: read once, then only what is new.


FEW = 64
"""Room that is made at least."""


class VectorTable:
    """Holds one row for each text of a library; not to be used by two threads at once.

    Args:
        database: Where vectors are kept.
        model: Whose vectors.
        dimension: How many numbers each has.
    """

    def __init__(self, database: Database, model: str, dimension: int) -> None:
        self._database = database
        self._model = model
        self._dimension = dimension
        self._version = -1
        self._newest = 0
        self._clear()

    def at(self, library: Library) -> LoadedVectors:
        """The vectors of the library as it is now."""
        newest = newest_vector(self._database)
        if (library.version, newest) != (self._version, self._newest):
            self._read(library, newest)
            self._version, self._newest = library.version, newest
        return self._vectors

    def _clear(self) -> None:
        import numpy

        self._row_of: dict[str, int] = {}
        self._missing: dict[str, list[int]] = {}
        """Pieces without a vector, by the hash of their text."""
        self._room = numpy.empty((FEW, self._dimension), dtype="float32")
        self._vectors = self._of({})

    def _read(self, library: Library, newest: int) -> None:
        if not self._row_of or newest < self._newest:
            self._read_all(library)
            return
        fresh = vectors_after(self._database, self._newest, newest, self._model, self._dimension)
        if library.version == self._version:
            self._fill(fresh)
        else:
            self._change(library, dict(fresh))

    def _read_all(self, library: Library) -> None:
        """Read all vectors, some at a time: they are in memory once only."""
        import numpy

        self._clear()
        database, model, dimension = self._database, self._model, self._dimension
        texts = dict(pieces_of(database, library.number))
        wanted = set(texts.values())
        self._room = numpy.empty((len(wanted) + FEW, dimension), dtype="float32")
        rows = read_rows(database, library.number, model, dimension)
        text_of = {
            row: texts[chunk_id]
            for chunk_id, row in zip(rows.chunk_ids.tolist(), rows.rows.tolist(), strict=True)
            if chunk_id in texts
        }
        for part in rows.parts(dimension):
            read = vectors_between(database, part.first_row, part.last_row, model, dimension)
            self._add({text_of[row]: vector for row, vector in read if row in text_of})
        if not database.is_durable:  # then some may wait to be written
            unknown = wanted - self._row_of.keys()
            self._add(vectors_of_texts(database, unknown, model, dimension))
        self._arrange(texts.items())

    def _fill(self, fresh: Iterable[tuple[str, bytes]]) -> None:
        """Give pieces that are there already the vectors that came since."""
        import numpy

        wanted = {sha256: vector for sha256, vector in fresh if sha256 in self._missing}
        self._add(wanted)
        more = {chunk_id: sha for sha in wanted for chunk_id in self._missing.pop(sha)}
        before, new = self._vectors, self._of(more)
        self._vectors = LoadedVectors(
            numpy.concatenate([before.text_ids, new.text_ids]),
            numpy.concatenate([before.places, new.places]),
            new.rows,
        )

    def _change(self, library: Library, fresh: Mapping[str, bytes]) -> None:
        """Other pieces are there now; most of them have the texts of before."""
        pieces = pieces_of(self._database, library.number)
        texts = {sha256 for _, sha256 in pieces}
        if len(texts & self._row_of.keys()) < len(self._row_of) // 2:
            self._read_all(library)
            return
        self._add({sha: fresh[sha] for sha in texts & fresh.keys()})
        unknown = texts - self._row_of.keys() - self._missing.keys()
        self._add(vectors_of_texts(self._database, unknown, self._model, self._dimension))
        self._arrange(pieces)

    def _arrange(self, pieces: Iterable[tuple[int, str]]) -> None:
        """Which pieces have a vector, and which wait for one."""
        self._missing = {}
        known: dict[int, str] = {}
        for chunk_id, sha256 in pieces:
            if sha256 in self._row_of:
                known[chunk_id] = sha256
            else:
                self._missing.setdefault(sha256, []).append(chunk_id)
        self._vectors = self._of(known)

    def _add(self, vectors: Mapping[str, bytes]) -> None:
        import numpy

        new = {sha: vector for sha, vector in vectors.items() if sha not in self._row_of}
        used = len(self._row_of)
        if used + len(new) > len(self._room):
            # room for what comes later, which costs no memory before it is written to
            room = numpy.empty((2 * (used + len(new)), self._dimension), dtype="float32")
            room[:used] = self._room[:used]
            self._room = room
        matrix = numpy.frombuffer(b"".join(new.values()), dtype="float32")
        self._room[used : used + len(new)] = matrix.reshape(len(new), self._dimension)
        self._row_of.update(zip(new, range(used, used + len(new)), strict=True))

    def _of(self, pieces: Mapping[int, str]) -> LoadedVectors:
        import numpy

        places = [self._row_of[sha256] for sha256 in pieces.values()]
        return LoadedVectors(
            numpy.array(list(pieces), dtype="int64"),
            numpy.array(places, dtype="int64"),
            self._room[: len(self._row_of)],
        )


# The vectors of a library that is too large for memory: a question reads some at a time.


@dataclass(frozen=True)
class StoredVectors:
    """The vectors of pieces where they are kept."""

    database: Database
    model: str
    dimension: int
    pieces: VectorRows

    @property
    def text_ids(self) -> Any:
        """The pieces that have a vector."""
        return self.pieces.chunk_ids

    def cosines(self, wanted: Any) -> Any:
        """How near each piece is; nought for one whose vector has just gone."""
        import numpy

        cosines = numpy.zeros(len(self.text_ids), dtype="float32")
        for part in self.pieces.parts(self.dimension):
            self._compare(part, wanted, cosines[part.start : part.end])
        return cosines

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the pieces; noughts for one whose vector has just gone."""
        import numpy

        wanted = self.text_ids[positions].tolist()
        found = vectors_of_pieces(self.database, wanted, self.model, self.dimension)
        nothing = bytes(BYTES_PER_NUMBER * self.dimension)
        read = b"".join(found.get(chunk_id, nothing) for chunk_id in wanted)
        return numpy.frombuffer(read, dtype="float32").reshape(len(wanted), self.dimension)

    def _compare(self, part: VectorSlice, wanted: Any, cosines: Any) -> None:
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
        self._vectors: StoredVectors | None = None

    def at(self, library: Library) -> StoredVectors:
        """The vectors of the library as it is now."""
        seen = (library.version, newest_vector(self._database))
        if self._vectors is None or seen != self._seen:
            pieces = read_rows(self._database, library.number, self._model, self._dimension)
            self._vectors = StoredVectors(self._database, self._model, self._dimension, pieces)
            self._seen = seen
        return self._vectors


IDLE_SECONDS = 600.0
"""Vectors that nobody asked for so long make room for others."""

Key = tuple[int, str, int]
"""A library's number, a model, and how many numbers its vectors have."""


@dataclass
class _HeldVectors:
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
        self._held: dict[Key, _HeldVectors] = {}
        self._stored: dict[Key, StoredTable] = {}
        self._pieces: dict[int, tuple[int, int]] = {}
        """How many pieces a library of some version has."""

    def nearest(self, library: Library, model: str, vector: bytes, limit: int) -> tuple[Near, ...]:
        """The pieces of a library whose vectors are nearest, the nearest first."""
        import numpy

        wanted = numpy.frombuffer(vector, dtype="float32")
        with self._reading:
            vectors = self._vectors(library, (library.number, model, len(wanted)))
        return find_nearest(vectors, wanted, limit)

    def _vectors(self, library: Library, key: Key) -> Vectors:
        """What to compare: in memory where it fits, else where the record holds it."""
        _, model, dimension = key
        size = self._count(library) * dimension * BYTES_PER_NUMBER
        if not self._fits(key, size):
            self._held.pop(key, None)
            stored = StoredTable(self._database, model, dimension)
            return self._stored.setdefault(key, stored).at(library)
        self._stored.pop(key, None)
        held = self._held.setdefault(
            key, _HeldVectors(VectorTable(self._database, model, dimension))
        )
        held.size_bytes, held.asked_at = size, time.monotonic()
        return held.table.at(library)

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
