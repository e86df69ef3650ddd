"""The vectors of a library's pieces in memory: read once, then only what is new."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.knowledge.library import Library
from cellwright.knowledge.library.store_vectors import (
    newest_vector,
    pieces_of,
    vectors_after,
    vectors_between,
    vectors_of_texts,
)
from cellwright.knowledge.library.vector_rows import read_rows
from cellwright.store.database import Database

FEW = 64
"""Room that is made at least."""


@dataclass(frozen=True)
class Vectors:
    """The pieces that have a vector, and the rows those are in; never changed once it is made."""

    chunk_ids: Any
    places: Any
    rows: Any

    def cosines(self, wanted: Any) -> Any:
        """How near each piece is."""
        return (self.rows @ wanted)[self.places]

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the pieces, by their positions."""
        return self.rows[self.places[positions]]


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

    def at(self, library: Library) -> Vectors:
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
        self._vectors = Vectors(
            numpy.concatenate([before.chunk_ids, new.chunk_ids]),
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

    def _of(self, pieces: Mapping[int, str]) -> Vectors:
        import numpy

        places = [self._row_of[sha256] for sha256 in pieces.values()]
        return Vectors(
            numpy.array(list(pieces), dtype="int64"),
            numpy.array(places, dtype="int64"),
            self._room[: len(self._row_of)],
        )
