"""Which runs use which stored files."""

from __future__ import annotations

import json
import sqlite3
from contextlib import suppress

from cellwright.record.stored_names import stored_hashes

FIRST_EVENTS = """SELECT runs.run_id, events.data FROM runs
    JOIN events ON events.run_id = runs.run_id AND events.sequence = 1
    WHERE events.kind = 'run_started'"""


def m009_file_uses(connection: sqlite3.Connection) -> None:
    """The files that runs were given, so that those that no run was given can go."""
    connection.execute(
        """CREATE TABLE file_uses (
            sha TEXT NOT NULL,
            run_id TEXT NOT NULL,
            PRIMARY KEY (sha, run_id)
        )"""
    )
    # INSERT OR REPLACE fires no trigger of this kind, so a run that goes on keeps its files.
    connection.execute(
        """CREATE TRIGGER forget_file_uses AFTER DELETE ON runs BEGIN
            DELETE FROM file_uses WHERE run_id = OLD.run_id;
        END"""
    )
    for run_id, data in connection.execute(FIRST_EVENTS).fetchall():
        uses = [(sha, run_id) for sha in stored_hashes(_files(data))]
        connection.executemany("INSERT OR IGNORE INTO file_uses VALUES (?, ?)", uses)


def _files(data: str) -> tuple[str, ...]:
    with suppress(ValueError, TypeError, AttributeError):
        return tuple(str(file) for file in json.loads(data).get("files", ()))
    return ()
