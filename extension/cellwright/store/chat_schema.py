"""The tables of chats as they grew: branches, superseded runs, owners that go, claims."""

from __future__ import annotations

import sqlite3

NEW_COLUMNS = (
    "prompt TEXT NOT NULL DEFAULT ''",
    "expires_at REAL NOT NULL DEFAULT 0",
    "branched_from TEXT NOT NULL DEFAULT ''",
)


def m006_chats_more(connection: sqlite3.Connection) -> None:
    """Runs that several chats share or that a later one took the place of, and who works where."""
    for column in NEW_COLUMNS:
        connection.execute(f"ALTER TABLE chats ADD COLUMN {column}")
    connection.execute("DROP TRIGGER forget_deleted_run")
    connection.execute(
        """CREATE TABLE chat_runs_new (
            chat_id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            position INTEGER NOT NULL,
            superseded_by TEXT NOT NULL DEFAULT '',
            beside TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (chat_id, run_id)
        )"""
    )
    connection.execute(
        "INSERT INTO chat_runs_new SELECT chat_id, run_id, position, '', '' FROM chat_runs"
    )
    connection.execute("DROP TABLE chat_runs")
    connection.execute("ALTER TABLE chat_runs_new RENAME TO chat_runs")
    connection.execute("CREATE INDEX chat_runs_by_run ON chat_runs (run_id)")
    # INSERT OR REPLACE fires no trigger of this kind, so a run that goes on keeps its chats.
    connection.execute(
        """CREATE TRIGGER forget_deleted_run AFTER DELETE ON runs BEGIN
            DELETE FROM chat_runs WHERE run_id = OLD.run_id;
            DELETE FROM cell_fates WHERE run_id = OLD.run_id;
        END"""
    )
    connection.execute(
        """CREATE TABLE chat_claims (
            chat_id TEXT PRIMARY KEY,
            token TEXT NOT NULL,
            owner TEXT NOT NULL,
            at REAL NOT NULL
        )"""
    )


def m012_chat_notes(connection: sqlite3.Connection) -> None:
    """What waits for a chat's next question, and whose words its instructions stand beside."""
    connection.execute("ALTER TABLE chats ADD COLUMN prompt_adds INTEGER NOT NULL DEFAULT 0")
    connection.execute(
        """CREATE TABLE chat_notes (
            note_id TEXT PRIMARY KEY,
            chat_id TEXT NOT NULL,
            role TEXT NOT NULL,
            text TEXT NOT NULL,
            created_at REAL NOT NULL
        )"""
    )
    connection.execute("CREATE INDEX chat_notes_by_chat ON chat_notes (chat_id)")
    connection.execute(
        """CREATE TRIGGER forget_notes_of_deleted_chat AFTER DELETE ON chats BEGIN
            DELETE FROM chat_notes WHERE chat_id = OLD.chat_id;
        END"""
    )


def m013_chat_pins(connection: sqlite3.Connection) -> None:
    """Which turns of a chat stay in its context word for word."""
    connection.execute(
        """CREATE TABLE chat_pins (
            chat_id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            created_at REAL NOT NULL,
            PRIMARY KEY (chat_id, run_id)
        )"""
    )
    connection.execute("CREATE INDEX chat_pins_by_run ON chat_pins (run_id)")
    connection.execute(
        """CREATE TRIGGER forget_pins_of_deleted_chat AFTER DELETE ON chats BEGIN
            DELETE FROM chat_pins WHERE chat_id = OLD.chat_id;
        END"""
    )
    connection.execute(
        """CREATE TRIGGER forget_pins_of_deleted_run AFTER DELETE ON runs BEGIN
            DELETE FROM chat_pins WHERE run_id = OLD.run_id;
        END"""
    )
