"""sqlite-vec: compares the vectors of a library in one statement of SQLite, where it can be loaded.

What Python fetches row by row it waits for, where another of its threads is busy.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.knowledge.library.store import id_range
from cellwright.knowledge.library.store_vectors import BYTES_PER_NUMBER

COMPARED = """WITH compared AS MATERIALIZED (
        SELECT c.chunk_id, COALESCE(1 - vec_distance_cosine(v.vector, ?), 0) AS cosine
        FROM library_chunks c JOIN library_vectors v
        ON v.sha256 = c.sha256 AND v.model = ? AND v.dimension = ?
        WHERE c.chunk_id BETWEEN ? AND ?),
    nearest AS (SELECT cosine FROM compared ORDER BY cosine DESC LIMIT ?)
    SELECT chunk_id, 0.0, 0.0 FROM compared WHERE cosine >= (SELECT MIN(cosine) FROM nearest) - ?
    UNION ALL SELECT COUNT(*), AVG(cosine), AVG(cosine * cosine) FROM compared"""


@dataclass(frozen=True)
class Compared:
    """How near the pieces of a library are to what was asked."""

    nearest: tuple[int, ...]
    """Ids of as many as were wanted, and of all that are as near within the margin."""
    count: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class ComparedWith:
    """What is compared with."""

    number: int
    """Of the library."""
    model: str
    vector: bytes
    limit: int
    margin: float


@functools.cache
def extension_problem() -> str:
    """Why sqlite-vec cannot be used in this process; empty: it can."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        return load(connection)


def compare_all(path: Path | None, wanted: ComparedWith) -> Compared | None:
    """Compare all pieces of a library that have a vector of the model; None: it cannot be done.

    The connection is one of its own, which only reads, for this one question: others do not wait
    for it, and nothing of it is left to another thread or to a fork.
    """
    if path is None or extension_problem():
        return None
    dimension = len(wanted.vector) // BYTES_PER_NUMBER
    what = (wanted.vector, wanted.model, dimension, *id_range(wanted.number))
    try:
        with _opened(path) as connection:
            rows = connection.execute(COMPARED, (*what, wanted.limit, wanted.margin)).fetchall()
    except sqlite3.Error:
        return None  # it is read the other way, which knows what to do about the file
    *nearest, (count, mean, squares) = rows
    mean, squares = mean or 0.0, squares or 0.0
    deviation = max(0.0, squares - mean * mean) ** 0.5
    return Compared(tuple(int(row[0]) for row in nearest), int(count), mean, deviation)


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(
        sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    ) as connection:
        (journal,) = connection.execute("PRAGMA journal_mode").fetchone()
        if journal != "wal":
            raise sqlite3.NotSupportedError("Without a log it would need the others' way to lock.")
        load(connection)
        yield connection


def load(connection: Any) -> str:
    """Load sqlite-vec into a connection, and nothing else; why that cannot be done.

    Args:
        connection: Of ``sqlite3``; some builds cannot load anything.
    """
    if not hasattr(connection, "enable_load_extension"):
        return "this Python loads no extensions of SQLite"
    try:
        sqlite_vec = importlib.import_module("sqlite_vec")
    except ImportError:
        return "sqlite-vec is not installed"
    try:
        connection.enable_load_extension(True)
        try:
            sqlite_vec.load(connection)
        finally:
            connection.enable_load_extension(False)
    except sqlite3.Error as error:
        return f"sqlite-vec cannot be loaded ({error})"
    return ""
