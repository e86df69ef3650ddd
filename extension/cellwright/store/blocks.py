"""Blocks of all chats in the database, found by their words."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

from cellwright.context.blocks import RECALLED, Block, Recalled, best_of, terms_of
from cellwright.store.database import Database, Statement

INSERT = (
    "INSERT OR IGNORE INTO blocks (chat_id, hash, run_id, opening, text) VALUES (?, ?, ?, ?, ?)"
)
COLUMNS = "b.id, b.run_id, b.opening, b.text"
OF_CHAT = """(b.chat_id = ?1 OR b.run_id IN (SELECT run_id FROM chat_runs WHERE chat_id = ?1))
    AND NOT EXISTS (SELECT 1 FROM chat_runs c WHERE c.chat_id = ?1 AND c.run_id = b.run_id
        AND c.superseded_by != '')"""
"""The blocks of a chat, and those it has of the chat it was branched from; not of runs that
another took the place of."""
INDEXED = f"""SELECT {COLUMNS} FROM block_words w JOIN blocks b ON b.id = w.rowid
    WHERE block_words MATCH ?2 AND {OF_CHAT} ORDER BY w.rank LIMIT {{}}"""
READ_THROUGH = f"""SELECT {COLUMNS} FROM blocks b
    WHERE {OF_CHAT} AND ({{}}) ORDER BY b.id DESC LIMIT {{}}"""
OF_IDS = f"SELECT {COLUMNS} FROM blocks b WHERE b.id IN ({{}})"
TRIGRAM = 3
CANDIDATES = 60


class BlockStore:
    """Blocks in a database; safe to use from any thread.

    Args:
        database: Where they are written.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def keep(self, chat_id: str, block: Block) -> None:
        """Keep a block; one with the same text is kept once a chat."""
        row = (chat_id, block.hash_in(chat_id), block.run_id, block.opening, block.text)
        self._database.write(Statement(INSERT, row))

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        """The blocks of a chat that are most like a query."""
        return Recalled(self.blocks(self.by_words(chat_id, query, without)[:RECALLED]))

    def by_words(self, chat_id: str, query: str, without: Collection[str]) -> tuple[int, ...]:
        """Ids of the blocks that hold most words of a query, the best first."""
        terms = terms_of(query)
        rows = self._candidates(chat_id, terms, CANDIDATES + len(without))
        kept = [
            (i, block.text) for i, block in sorted(rows.items()) if block.opening not in without
        ]
        return tuple(kept[place][0] for place in best_of([text for _, text in kept], terms))

    def blocks(self, ids: Iterable[int]) -> tuple[Block, ...]:
        """The blocks of these ids, oldest first."""
        wanted = tuple(ids)
        rows = self._rows(OF_IDS.format(", ".join("?" * len(wanted))), wanted) if wanted else {}
        return tuple(block for _, block in sorted(rows.items()))

    def _candidates(self, chat_id: str, terms: Sequence[str], wanted: int) -> Mapping[int, Block]:
        indexed = [term for term in terms if len(term) >= TRIGRAM and self._has_index()]
        rows: dict[int, Block] = {}
        if indexed:
            match = " OR ".join(f'"{term}"' for term in indexed)
            rows |= self._rows(INDEXED.format(wanted), (chat_id, match))
        others = [term for term in terms if term not in indexed]
        if others:
            # "_" stands for any sign there, which finds no less
            likes = " OR ".join(f"b.text LIKE ?{place}" for place in range(2, len(others) + 2))
            patterns = (f"%{term}%" for term in others)
            rows |= self._rows(READ_THROUGH.format(likes, wanted), (chat_id, *patterns))
        return rows

    def _rows(self, sql: str, parameters: Sequence[str | int]) -> dict[int, Block]:
        return {row[0]: Block(*row[1:]) for row in self._database.read(sql, parameters)}

    def _has_index(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE name = 'block_words'"
        return bool(self._database.read(sql))
