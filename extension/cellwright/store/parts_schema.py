"""The tables of what the events of many runs have in common."""

from __future__ import annotations

import sqlite3

# Numbers, which grow, keep what is written together in few pages; names are in no order at all.
STATEMENTS = (
    "CREATE TABLE parts (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, data TEXT NOT NULL)",
    """CREATE TABLE part_uses (
        part INTEGER NOT NULL,
        used_by INTEGER NOT NULL,
        PRIMARY KEY (part, used_by)
    ) WITHOUT ROWID""",
    "CREATE INDEX part_uses_by_user ON part_uses (used_by)",
    """CREATE TABLE run_parts (
        run_id TEXT NOT NULL,
        part INTEGER NOT NULL,
        PRIMARY KEY (run_id, part)
    ) WITHOUT ROWID""",
    "CREATE INDEX run_parts_by_part ON run_parts (part)",
    """CREATE TRIGGER forget_uses_of_part AFTER DELETE ON parts BEGIN
        DELETE FROM part_uses WHERE used_by = OLD.id;
    END""",
)


def m010_parts(connection: sqlite3.Connection) -> None:
    """Parts of events, each stored once, and who uses them: runs, and parts that name others."""
    for statement in STATEMENTS:
        connection.execute(statement)
