"""The tables of blocks: turns of long ago, an index of what they say, and their vectors."""

from __future__ import annotations

import sqlite3
from contextlib import suppress


def m007_blocks(connection: sqlite3.Connection) -> None:
    """Blocks by chat; where SQLite has it, an index of all their groups of three signs."""
    connection.execute(
        """CREATE TABLE blocks (
            id INTEGER PRIMARY KEY,
            chat_id TEXT NOT NULL,
            hash TEXT NOT NULL,
            run_id TEXT NOT NULL,
            opening TEXT NOT NULL,
            text TEXT NOT NULL,
            UNIQUE (chat_id, hash)
        )"""
    )
    connection.execute("CREATE INDEX blocks_by_run ON blocks (run_id)")
    # INSERT OR REPLACE fires no trigger of this kind, so a run that goes on keeps its block.
    connection.execute(
        """CREATE TRIGGER forget_blocks_of_run AFTER DELETE ON runs BEGIN
            DELETE FROM blocks WHERE run_id = OLD.run_id;
        END"""
    )
    # An older SQLite has no trigrams: then blocks are read through one by one.
    with suppress(sqlite3.OperationalError):
        connection.execute(
            """CREATE VIRTUAL TABLE block_words USING fts5(
                text, content='blocks', content_rowid='id', tokenize='trigram'
            )"""
        )
        connection.execute(
            """CREATE TRIGGER block_added AFTER INSERT ON blocks BEGIN
                INSERT INTO block_words (rowid, text) VALUES (NEW.id, NEW.text);
            END"""
        )
        connection.execute(
            """CREATE TRIGGER block_removed AFTER DELETE ON blocks BEGIN
                INSERT INTO block_words (block_words, rowid, text)
                VALUES ('delete', OLD.id, OLD.text);
            END"""
        )


def m011_block_vectors(connection: sqlite3.Connection) -> None:
    """Vectors of blocks, which go when their block goes."""
    connection.execute(
        """CREATE TABLE block_vectors (
            block_id INTEGER NOT NULL,
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (block_id, model)
        )"""
    )
    connection.execute(
        """CREATE TRIGGER block_vectors_removed AFTER DELETE ON blocks BEGIN
            DELETE FROM block_vectors WHERE block_id = OLD.id;
        END"""
    )
