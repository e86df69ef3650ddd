"""Vectors of blocks, by block and embedding model."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.store.blocks import OF_CHAT
from cellwright.store.database import Database, Statement

INSERT = """INSERT OR REPLACE INTO block_vectors (block_id, model, vector)
    SELECT id, ?, ? FROM blocks WHERE id = ?"""
"""Of a block that was deleted meanwhile nothing is kept."""
OF_MODEL = f"""SELECT b.id, b.opening FROM block_vectors v JOIN blocks b
    ON b.id = v.block_id WHERE {OF_CHAT} AND v.model = ?2 ORDER BY b.id DESC LIMIT ?3"""
OF_IDS = "SELECT block_id, vector FROM block_vectors WHERE model = ? AND block_id IN ({})"
READ_AT_ONCE = 500
MISSING = f"""SELECT b.id, b.text FROM blocks b WHERE {OF_CHAT} AND NOT EXISTS
    (SELECT 1 FROM block_vectors v WHERE v.block_id = b.id AND v.model = ?2)
    ORDER BY b.id DESC LIMIT ?3"""
NEWEST = 5_000
"""So many blocks of one chat are compared: a few milliseconds."""


@dataclass(frozen=True)
class BlockVector:
    """A block's vector."""

    block_id: int
    opening: str
    vector: bytes


@dataclass(frozen=True)
class UnembeddedBlock:
    """A block that has no vector of a model yet."""

    block_id: int
    text: str


class BlockVectors:
    """The vectors of one model; safe to use from any thread.

    Those of the chat that was asked for last stay in memory: reading them takes longest.

    Args:
        database: Where the blocks are.
        model: The embedding model.
    """

    def __init__(self, database: Database, model: str) -> None:
        self._database = database
        self._model = model
        self._read: Mapping[int, bytes] = {}

    def keep(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        """Keep vectors by the ids of their blocks; they go with them."""
        self._database.write(*(Statement(INSERT, (self._model, v, i)) for i, v in vectors))

    def missing(self, chat_id: str, limit: int) -> tuple[UnembeddedBlock, ...]:
        """Blocks of a chat without a vector, the newest first."""
        rows = self._database.read(MISSING, (chat_id, self._model, limit))
        return tuple(UnembeddedBlock(*row) for row in rows)

    def of(self, chat_id: str, without: Collection[str] = ()) -> tuple[BlockVector, ...]:
        """The vectors of a chat's blocks.

        Args:
            chat_id: The chat.
            without: Openings of turns that are left out.
        """
        rows: dict[int, str] = dict(self._database.read(OF_MODEL, (chat_id, self._model, NEWEST)))
        known = self._read
        known = {**known, **self._vectors([i for i in rows if i not in known])}
        self._read = {i: known[i] for i in rows if i in known}
        openings = ((i, opening) for i, opening in rows.items() if opening not in without)
        return tuple(BlockVector(i, o, known[i]) for i, o in openings if i in known)

    def _vectors(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        found: dict[int, bytes] = {}
        for start in range(0, len(ids), READ_AT_ONCE):
            some = ids[start : start + READ_AT_ONCE]
            sql = OF_IDS.format(", ".join("?" * len(some)))
            found.update(self._database.read(sql, (self._model, *some)))
        return found
