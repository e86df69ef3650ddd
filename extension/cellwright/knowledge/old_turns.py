"""Turns of long ago in a chat, found by their words and by what they mean.

A block of a turn gets its vector with the first question that comes after it, so that no run
waits for it at its end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cellwright.context.blocks import RECALLED, Block, Recalled
from cellwright.knowledge.retrieval import LoadedVectors, Near, Retriever, find_nearest
from cellwright.llm.embedding import Embedder
from cellwright.store.blocks import OF_CHAT, BlockStore
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
TAKEN = 30
"""So many of each list are joined."""
BY_WORDS_ALONE = "Earlier turns of this chat were looked for by words alone: "


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

    def missing(self, chat_id: str, limit: int) -> Sequence[tuple[int, str]]:
        """Blocks of a chat without a vector, by id, the newest first."""
        rows = self._database.read(MISSING, (chat_id, self._model, limit))
        return [(int(block_id), str(text)) for block_id, text in rows]

    def of(self, chat_id: str, without: Collection[str] = ()) -> Mapping[int, bytes]:
        """The vectors of a chat's blocks, but for turns with these openings."""
        rows: dict[int, str] = dict(self._database.read(OF_MODEL, (chat_id, self._model, NEWEST)))
        known = self._read
        known = {**known, **self._vectors([i for i in rows if i not in known])}
        self._read = {i: known[i] for i in rows if i in known}
        return {i: v for i, v in self._read.items() if rows[i] not in without}

    def _vectors(self, ids: Sequence[int]) -> Mapping[int, bytes]:
        found: dict[int, bytes] = {}
        for start in range(0, len(ids), READ_AT_ONCE):
            some = ids[start : start + READ_AT_ONCE]
            sql = OF_IDS.format(", ".join("?" * len(some)))
            found.update(self._database.read(sql, (self._model, *some)))
        return found


@dataclass(frozen=True)
class _OldTurns:
    """The blocks that one question is compared with."""

    vectors: BlockVectors
    chat_id: str
    without: Collection[str]

    def missing(self, found: Sequence[int], limit: int) -> Sequence[tuple[int, str]]:
        return self.vectors.missing(self.chat_id, limit)

    def keep(self, vectors: Iterable[tuple[int, bytes]]) -> None:
        self.vectors.keep(vectors)

    def nearest(self, wanted: bytes, limit: int) -> Sequence[Near]:
        import numpy

        # vectors of another length are of another model of the same name
        of_chat = self.vectors.of(self.chat_id, self.without)
        alike = {i: vector for i, vector in of_chat.items() if len(vector) == len(wanted)}
        rows = numpy.frombuffer(b"".join(alike.values()), dtype="float32")
        query = numpy.frombuffer(wanted, dtype="float32")
        loaded = LoadedVectors(
            -numpy.array(list(alike), dtype="int64"),  # of equals, the newest comes first
            numpy.arange(len(alike)),
            rows.reshape(len(alike), len(query)),
        )
        return [Near(-item.text_id, item.cosine) for item in find_nearest(loaded, query, limit)]


class BlockSearch:
    """The blocks of one database; safe to use from any thread.

    Args:
        database: Where they are.
        embedder: Gives the question and the blocks vectors; None: words alone.
    """

    def __init__(self, database: Database, embedder: Embedder | None = None) -> None:
        self._store = BlockStore(database)
        self._retriever = Retriever(embedder)
        self._vectors = BlockVectors(database, embedder.model if embedder is not None else "")

    def keep(self, chat_id: str, block: Block) -> None:
        """Keep a block; one with the same text is kept once a chat."""
        self._store.keep(chat_id, block)

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        """The blocks of a chat that are most like a query."""
        by_words = self._store.by_words(chat_id, query, without)[:TAKEN]
        turns = _OldTurns(self._vectors, chat_id, without)
        ranking = self._retriever.rank(query, [by_words], turns, TAKEN)
        problem = f"{BY_WORDS_ALONE}{ranking.problem}" if ranking.problem else ""
        return Recalled(self._store.blocks([*ranking.scores][:RECALLED]), problem)
