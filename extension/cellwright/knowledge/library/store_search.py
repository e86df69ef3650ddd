"""Which pieces of a library hold some words; every answer is bounded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from cellwright.knowledge.library import Hit
from cellwright.knowledge.library.store import id_range
from cellwright.store.database import Database

IndexName = Literal["words", "trigrams"]
WEIGHTS = "bm25(1.0, 2.0)"
"""A word in a heading counts twice."""
HITS = """SELECT c.chunk_id, c.document_id, d.name, d.place, c.heading, c.anchor, c.text
    FROM library_chunks c JOIN library_documents d ON d.document_id = c.document_id
    WHERE c.chunk_id IN ({})"""


def matching(
    database: Database, index: IndexName, expression: str, number: int, limit: int
) -> tuple[int, ...]:
    """Ids of the pieces that fit an FTS5 expression, the best first."""
    table = f"library_{index}"
    rows = database.read(
        f"""SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?
        AND rank MATCH '{WEIGHTS}' ORDER BY rank LIMIT ?""",
        (expression, *id_range(number), limit),
    )
    return tuple(int(chunk_id) for (chunk_id,) in rows)


def count_matching(
    database: Database, index: IndexName, expression: str, number: int, limit: int
) -> int:
    """How many pieces fit; counting stops at ``limit``."""
    table = f"library_{index}"
    rows = database.read(
        f"""SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ?
        AND rowid BETWEEN ? AND ? LIMIT ?)""",
        (expression, *id_range(number), limit),
    )
    return sum(int(count) for (count,) in rows)


def trigrams_from(database: Database, start: str, limit: int) -> tuple[str, ...]:
    """Trigrams of the index that begin with one or two signs."""
    after = start[:-1] + chr(ord(start[-1]) + 1)
    rows = database.read(
        "SELECT term FROM library_trigram_terms WHERE term >= ? AND term < ? LIMIT ?",
        (start, after, limit),
    )
    return tuple(str(term) for (term,) in rows if "\0" not in str(term))


def hits_of(database: Database, chunk_ids: Iterable[int]) -> dict[int, Hit]:
    """The pieces of these ids."""
    wanted = tuple(chunk_ids)
    rows = database.read(HITS.format(", ".join("?" * len(wanted))), wanted)
    return {int(row[0]): Hit(*row) for row in rows}
