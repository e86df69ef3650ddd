"""Vectors of pieces by hash of their words, model and dimension: nothing is embedded twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from cellwright.knowledge.library.store import id_range
from cellwright.store.database import Database, Statement

HashedVector = tuple[str, bytes]
"""The hash of a text, and its vector."""
BYTES_PER_NUMBER = 4
ASKED_AT_ONCE = 500
READ_AT_ONCE = 8_192
PIECES_AND_ROWS = """SELECT group_concat(pair, ' ') FROM (
    SELECT c.chunk_id || ' ' || v.rowid AS pair FROM library_chunks c JOIN library_vectors v
    ON v.sha256 = c.sha256 AND v.model = ? AND v.dimension = ?
    WHERE c.chunk_id > ? AND c.chunk_id <= ? ORDER BY c.chunk_id LIMIT ?)"""
MISSING = """SELECT c.chunk_id, c.sha256, c.heading, c.text FROM library_chunks c
    WHERE {} AND NOT EXISTS
    (SELECT 1 FROM library_vectors v WHERE v.sha256 = c.sha256 AND v.model = ?)
    ORDER BY c.chunk_id LIMIT ?"""


@dataclass(frozen=True)
class UnembeddedPiece:
    """A piece that has no vector of a model yet."""

    chunk_id: int
    sha256: str
    text: str
    """Its headings and words, as they are embedded."""


def unembedded(
    database: Database, number: int, model: str, limit: int, among: Sequence[int] = ()
) -> tuple[UnembeddedPiece, ...]:
    """Pieces of a library without a vector of this model.

    Args:
        database: Where they are.
        number: Of the library.
        model: The embedding model.
        limit: How many at most.
        among: Only these pieces; empty: all.
    """
    first, last = id_range(number)
    where = "c.chunk_id BETWEEN ? AND ?"
    values: tuple[int, ...] = (first, last)
    if among:
        where, values = f"c.chunk_id IN ({', '.join('?' * len(among))})", tuple(among)
    rows = database.read(MISSING.format(where), (*values, model, limit))
    return tuple(UnembeddedPiece(int(row[0]), str(row[1]), f"{row[2]}\n{row[3]}") for row in rows)


def keep_vectors(database: Database, model: str, vectors: Iterable[tuple[str, bytes]]) -> None:
    """Keep vectors by the hash of what they are of."""
    insert = "INSERT OR REPLACE INTO library_vectors VALUES (?, ?, ?, ?)"
    database.write(
        *(
            Statement(insert, (sha256, model, len(vector) // BYTES_PER_NUMBER, vector))
            for sha256, vector in vectors
        )
    )


def pieces_of(database: Database, number: int) -> tuple[tuple[int, str], ...]:
    """The ids of a library's pieces with the hashes of their texts."""
    # One text: beside a busy thread Python waits for milliseconds after each row it fetches.
    found = database.read(
        """SELECT group_concat(chunk_id || ' ' || sha256, ' ') FROM library_chunks
        WHERE chunk_id BETWEEN ? AND ?""",
        id_range(number),
    )
    words = [word for (text,) in found for word in (text or "").split()]
    return tuple(zip(map(int, words[::2]), words[1::2], strict=True))


def count_pieces(database: Database, number: int) -> int:
    """How many pieces a library has."""
    rows = database.read(
        "SELECT COUNT(*) FROM library_chunks WHERE chunk_id BETWEEN ? AND ?", id_range(number)
    )
    return sum(int(count) for (count,) in rows)


def rows_of(
    database: Database, number: int, model: str, dimension: int
) -> Iterator[list[tuple[int, int]]]:
    """The ids of a library's pieces with the numbers of the rows that hold their vectors.

    Some thousand at a time; those that wait to be written are left out.
    """
    after, last = id_range(number)
    after -= 1
    while True:
        values = (model, dimension, after, last, READ_AT_ONCE)
        found = database.read(PIECES_AND_ROWS, values, also_waiting=False)
        numbers = [int(word) for (text,) in found for word in (text or "").split()]
        yield [*zip(numbers[::2], numbers[1::2], strict=True)]
        if len(numbers) < 2 * READ_AT_ONCE:
            return
        after = max(numbers[::2])


def vectors_between(
    database: Database, first: int, last: int, model: str, dimension: int
) -> list[tuple[int, bytes]]:
    """The vectors of a model in rows from one to another, with the numbers of their rows."""
    rows = database.read(
        """SELECT rowid, vector FROM library_vectors
        WHERE rowid BETWEEN ? AND ? AND model = ? AND dimension = ? ORDER BY rowid""",
        (first, last, model, dimension),
        also_waiting=False,
    )
    return cast("list[tuple[int, bytes]]", rows)  # a copy would take as long as comparing them


def vectors_of_pieces(
    database: Database, chunk_ids: Sequence[int], model: str, dimension: int
) -> dict[int, bytes]:
    """The vectors of some pieces, as far as they have any."""
    rows = database.read(
        f"""SELECT c.chunk_id, v.vector FROM library_chunks c JOIN library_vectors v
        ON v.sha256 = c.sha256 AND v.model = ? AND v.dimension = ?
        WHERE c.chunk_id IN ({", ".join("?" * len(chunk_ids))})""",
        (model, dimension, *chunk_ids),
        also_waiting=False,
    )
    return {int(chunk_id): bytes(vector) for chunk_id, vector in rows}


def vectors_after(
    database: Database, first: int, last: int, model: str, dimension: int
) -> tuple[HashedVector, ...]:
    """The vectors that came after one, up to another; both as ``newest_vector`` tells them."""
    rows = database.read(
        """SELECT sha256, vector FROM library_vectors
        WHERE rowid > ? AND rowid <= ? AND model = ? AND dimension = ?""",
        (first, last, model, dimension),
    )
    return tuple((str(sha256), bytes(vector)) for sha256, vector in rows)


def vectors_of_texts(
    database: Database, hashes: Iterable[str], model: str, dimension: int
) -> dict[str, bytes]:
    """The vectors of texts, as far as there are any."""
    wanted = list(hashes)
    found: dict[str, bytes] = {}
    for start in range(0, len(wanted), ASKED_AT_ONCE):
        some = wanted[start : start + ASKED_AT_ONCE]
        rows = database.read(
            f"""SELECT sha256, vector FROM library_vectors
            WHERE sha256 IN ({", ".join("?" * len(some))}) AND model = ? AND dimension = ?""",
            (*some, model, dimension),
        )
        found |= {str(sha256): bytes(vector) for sha256, vector in rows}
    return found


def newest_vector(database: Database) -> int:
    """Grows with every vector that is kept: what was read before is out of date then."""
    rows = database.read("SELECT MAX(rowid) FROM library_vectors")
    return max(int(row[0] or 0) for row in rows) if rows else 0


# Which rows of the record hold the vectors of a library's pieces, and in which parts to read them.
#
# Rows are read in the order they lie in: to look each of them up takes twice as long.


READ_AT_ONCE_BYTES = 384 * 1_024
"""With more, getting the memory for them takes longer than comparing them."""


@dataclass(frozen=True)
class VectorSlice:
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

    def parts(self, dimension: int) -> Iterator[VectorSlice]:
        """What is read at once; rows of other libraries between them are few."""
        import numpy

        at_once = max(1, READ_AT_ONCE_BYTES // (BYTES_PER_NUMBER * dimension))
        start = 0
        while start < len(self.rows):
            end = int(numpy.searchsorted(self.rows, self.rows[start] + at_once))
            yield VectorSlice(start, end, int(self.rows[start]), int(self.rows[end - 1]))
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
