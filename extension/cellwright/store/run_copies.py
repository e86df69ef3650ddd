"""One run as statements that write it to another database, with all that belongs to it.

Rows are copied as they are; parts are named, not numbered, because the other database has numbers
of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.store.database import Read, Statement

AROUND = ("runs", "file_uses", "usage_calls", "cell_fates", "chat_runs")
"""Tables whose rows name their run, but for its events and what these are made of."""
CHATS = "SELECT * FROM chats WHERE chat_id IN (SELECT chat_id FROM chat_runs WHERE run_id = ?)"
OF_RUN = """WITH RECURSIVE found (id) AS (
        SELECT part FROM run_parts WHERE run_id = ?
        UNION SELECT part FROM part_uses JOIN found ON used_by = found.id)"""
PARTS = f"{OF_RUN} SELECT name, data FROM parts WHERE id IN (SELECT id FROM found)"
USES = f"""{OF_RUN} SELECT inner.name, outer.name FROM part_uses
    JOIN parts AS inner ON inner.id = part JOIN parts AS outer ON outer.id = used_by
    WHERE used_by IN (SELECT id FROM found)"""
USED = "SELECT name FROM run_parts JOIN parts ON parts.id = part WHERE run_id = ?"
INSERT_PART = "INSERT OR IGNORE INTO parts (name, data) VALUES (?, ?)"
INSERT_USE = """INSERT OR IGNORE INTO part_uses SELECT inner.id, outer.id
    FROM parts AS inner, parts AS outer WHERE inner.name = ? AND outer.name = ?"""
INSERT_USED = "INSERT OR IGNORE INTO run_parts SELECT ?, id FROM parts WHERE name = ?"


def copy_run(read: Read, run_id: str) -> tuple[Statement, ...]:
    """What writes a run to another database and leaves what that one has of it already.

    Args:
        read: Runs a query in the database that has the run.
        run_id: The run.
    """
    found = [*copy_rows(read, run_id), *copy_rows(read, run_id, ("events", "blob_uses"))]
    found += [Statement(INSERT_PART, row) for row in read(PARTS, (run_id,))]
    found += [Statement(INSERT_USE, row) for row in read(USES, (run_id,))]
    found += [Statement(INSERT_USED, (run_id, *row)) for row in read(USED, (run_id,))]
    return tuple(found)


def copy_rows(read: Read, run_id: str, tables: Sequence[str] = AROUND) -> tuple[Statement, ...]:
    """What writes a run's rows of some tables to another database; its chats with ``chat_runs``."""
    found: list[Statement] = []
    for table in tables:
        found += _copy_table(read, table, f"SELECT * FROM {table} WHERE run_id = ?", run_id)
    if "chat_runs" in tables:
        found += _copy_table(read, "chats", CHATS, run_id)
    return tuple(found)


def _copy_table(read: Read, table: str, sql: str, run_id: str) -> list[Statement]:
    columns = [str(row[0]) for row in read(f"SELECT name FROM pragma_table_info('{table}')", ())]
    marks = ", ".join("?" * len(columns))
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
    return [Statement(insert, row) for row in read(sql, (run_id,))]
