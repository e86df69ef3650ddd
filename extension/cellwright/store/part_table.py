"""The parts of events in a database: written with the events, read for a run, gone with the last.

A part that is there has all its own parts: they came in one transaction, and none goes as long as
something uses it.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import Any

from cellwright.store.database import Database, Statement
from cellwright.store.parts import Part, is_intact

INSERT = "INSERT OR IGNORE INTO parts (name, data) VALUES (?, ?)"
USE = """INSERT OR IGNORE INTO part_uses SELECT inner.id, outer.id
    FROM parts AS inner, parts AS outer WHERE inner.name = ? AND outer.name = ?"""
USE_IN_RUN = "INSERT OR IGNORE INTO run_parts SELECT ?, id FROM parts WHERE name = ?"
DISUSE = "DELETE FROM run_parts WHERE run_id = ?"
DELETE = """DELETE FROM parts WHERE id = ?1
    AND NOT EXISTS (SELECT 1 FROM part_uses WHERE part = ?1)
    AND NOT EXISTS (SELECT 1 FROM run_parts WHERE part = ?1)"""
OF_RUN = """WITH RECURSIVE found (id, depth) AS (
        SELECT part, 0 FROM run_parts WHERE run_id = ?
        UNION SELECT part, depth + 1 FROM part_uses JOIN found ON used_by = found.id)"""
SELECT = f"{OF_RUN} SELECT name, data FROM parts WHERE id IN (SELECT id FROM found)"
SELECT_NAMED = "SELECT name, data FROM parts WHERE name IN ({})"
FROM_THE_TOP = f"{OF_RUN} SELECT id FROM found GROUP BY id ORDER BY MAX(depth)"


def keeping(run_id: str, part: Part) -> tuple[Statement, ...]:
    """What stores a part, with all that it names, for a run."""
    return (_stored(part), Statement(USE_IN_RUN, (run_id, part.name)))


def forgetting(database: Database, run_id: str) -> tuple[Statement, ...]:
    """What takes back a run's use of its parts, and deletes those that then have no other.

    Whether they have is looked up when this is written: another program may be using them by then.
    """
    rows = database.read(FROM_THE_TOP, (run_id,))
    return (
        Statement(DISUSE, (run_id,)),
        *(Statement(DELETE, (part,)) for (part,) in rows),
    )


def loaded(database: Database, run_id: str) -> dict[str, Any]:
    """Plain data of all parts of a run, by name; those that are damaged are left out."""
    rows = database.read(SELECT, (run_id,))
    return {name: json.loads(data) for name, data in rows if is_intact(name, data)}


def texts_of(database: Database, names: Collection[str]) -> dict[str, str]:
    """The texts of some parts, by name; those that are damaged are left out.

    Args:
        database: Where they are.
        names: Of 500 at most; an empty one is of no part.
    """
    wanted = sorted(filter(None, names))
    if not wanted:
        return {}
    rows = database.read(SELECT_NAMED.format(", ".join("?" * len(wanted))), wanted)
    return {name: data for name, data in rows if is_intact(name, data)}


def _stored(part: Part) -> Statement:
    then: list[Statement] = []
    for inner in part.parts:
        then += (_stored(inner), Statement(USE, (inner.name, part.name)))
    return Statement(INSERT, (part.name, part.data), then=tuple(then))
