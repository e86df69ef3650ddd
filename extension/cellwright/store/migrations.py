"""The schema, as an append-only list of named steps.

A step is never changed once it was released; a new one is added at the end. Each runs in one
transaction together with the row that says it ran.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress

from cellwright.store.blocks_schema import m007_blocks, m011_block_vectors
from cellwright.store.chat_schema import m006_chats_more, m012_chat_notes, m013_chat_pins
from cellwright.store.files_schema import m009_file_uses
from cellwright.store.library_schema import m004_library
from cellwright.store.memories_schema import m003_memories
from cellwright.store.parts_schema import m010_parts
from cellwright.store.tools_schema import m008_tools
from cellwright.store.usage_schema import m005_usage

Migration = Callable[[sqlite3.Connection], None]


def m001_runs_and_events(connection: sqlite3.Connection) -> None:
    """Runs, their append-only events, and which large texts lie in files."""
    connection.execute(
        """CREATE TABLE runs (
            run_id TEXT PRIMARY KEY,
            status TEXT NOT NULL,
            prompt TEXT NOT NULL DEFAULT '',
            model TEXT NOT NULL DEFAULT '',
            lane TEXT NOT NULL DEFAULT '',
            cause TEXT NOT NULL DEFAULT '',
            reason TEXT NOT NULL DEFAULT '',
            source_run TEXT NOT NULL DEFAULT '',
            started_at REAL NOT NULL,
            last_at REAL NOT NULL,
            duration_seconds REAL NOT NULL DEFAULT 0,
            usage TEXT NOT NULL DEFAULT '{}',
            cost_dollars REAL,
            owner TEXT NOT NULL DEFAULT '{}'
        )"""
    )
    connection.execute("CREATE INDEX runs_by_start ON runs (started_at)")
    connection.execute(
        """CREATE TABLE events (
            run_id TEXT NOT NULL,
            sequence INTEGER NOT NULL,
            time REAL NOT NULL,
            kind TEXT NOT NULL,
            data TEXT NOT NULL,
            sha TEXT NOT NULL,
            PRIMARY KEY (run_id, sequence)
        )"""
    )
    connection.execute(
        """CREATE TABLE blob_uses (
            sha TEXT NOT NULL,
            run_id TEXT NOT NULL,
            PRIMARY KEY (sha, run_id)
        )"""
    )


def m002_chats(connection: sqlite3.Connection) -> None:
    """Chats, which runs each has, and what became of the cells a run made."""
    connection.execute(
        """CREATE TABLE chats (
            chat_id TEXT PRIMARY KEY,
            title TEXT NOT NULL DEFAULT '',
            root TEXT NOT NULL DEFAULT '',
            notebook_path TEXT NOT NULL DEFAULT '',
            owner TEXT NOT NULL DEFAULT '',
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL,
            settings TEXT NOT NULL DEFAULT '{}'
        )"""
    )
    connection.execute(
        """CREATE TABLE chat_runs (
            chat_id TEXT NOT NULL,
            run_id TEXT PRIMARY KEY,
            position INTEGER NOT NULL
        )"""
    )
    connection.execute("CREATE INDEX chat_runs_by_chat ON chat_runs (chat_id, position)")
    connection.execute(
        """CREATE TABLE cell_fates (
            run_id TEXT NOT NULL,
            cell_id TEXT NOT NULL,
            fate TEXT NOT NULL,
            at REAL NOT NULL,
            PRIMARY KEY (run_id, cell_id)
        )"""
    )
    # A search reads what was said and steps over the large rows of everything else.
    connection.execute(
        """CREATE INDEX spoken_events ON events (run_id)
        WHERE kind IN ('model_replied', 'run_finished')"""
    )
    # INSERT OR REPLACE fires no trigger of this kind, so a run that goes on keeps its chat.
    connection.execute(
        """CREATE TRIGGER forget_deleted_run AFTER DELETE ON runs BEGIN
            DELETE FROM chat_runs WHERE run_id = OLD.run_id;
            DELETE FROM cell_fates WHERE run_id = OLD.run_id;
        END"""
    )


MIGRATIONS: tuple[Migration, ...] = (
    m001_runs_and_events,
    m002_chats,
    m003_memories,
    m004_library,
    m005_usage,
    m006_chats_more,
    m007_blocks,
    m008_tools,
    m009_file_uses,
    m010_parts,
    m011_block_vectors,
    m012_chat_notes,
    m013_chat_pins,
)


ADDING = frozenset({"m010_parts", "m011_block_vectors", "m012_chat_notes", "m013_chat_pins"})
"""Steps that only make what was not there; a record of gigabytes is not copied for them."""


def applied(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Names of the steps this database has been through."""
    found = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
    if found is None:
        return ()
    rows = connection.execute("SELECT name FROM migrations ORDER BY applied_at, name")
    return tuple(str(name) for (name,) in rows)


def apply(connection: sqlite3.Connection, migration: Migration) -> None:
    """Run one step with its record, unless another process has just done it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, applied_at REAL)"
        )
        if migration.__name__ not in applied(connection):
            migration(connection)
            row = (migration.__name__, time.time())
            connection.execute("INSERT INTO migrations VALUES (?, ?)", row)
        connection.execute("COMMIT")
    except BaseException:
        rolled_back(connection)
        raise


def rolled_back(connection: sqlite3.Connection) -> None:
    """Leave a transaction, whatever state it is in."""
    with suppress(sqlite3.Error):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
