"""Blocks of all chats in the database; ``context.blocks.BlockShelf``."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from cellwright.context.blocks import Block, best_of, terms_of
from cellwright.store.database import Database, Statement

__all__ = ["BlockStore"]

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

    def find(self, chat_id: str, query: str, without: Collection[str]) -> tuple[Block, ...]:
        """The blocks of a chat that are most like a query, oldest first."""
        terms = terms_of(query)
        wanted = CANDIDATES + len(without)
        indexed = [term for term in terms if len(term) >= TRIGRAM and self._has_index()]
        rows: dict[int, Block] = {}
        if indexed:
            match = " OR ".join(f'"{term}"' for term in indexed)
            rows |= self._blocks(INDEXED.format(wanted), (chat_id, match))
        others = [term for term in terms if term not in indexed]
        if others:
            # "_" stands for any sign there, which finds no less
            likes = " OR ".join(f"b.text LIKE ?{place}" for place in range(2, len(others) + 2))
            patterns = (f"%{term}%" for term in others)
            rows |= self._blocks(READ_THROUGH.format(likes, wanted), (chat_id, *patterns))
        found = [block for _, block in sorted(rows.items()) if block.opening not in without]
        return best_of(found, terms)

    def _blocks(self, sql: str, parameters: Sequence[str]) -> dict[int, Block]:
        return {row[0]: Block(*row[1:]) for row in self._database.read(sql, parameters)}

    def _has_index(self) -> bool:
        sql = "SELECT 1 FROM sqlite_master WHERE name = 'block_words'"
        return bool(self._database.read(sql))
