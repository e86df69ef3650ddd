"""Outside tools that a person connected; rows of JSON that hold no key."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from cellwright.store.database import Database, Statement


class ToolStore:
    """The services of one person.

    Args:
        database: The record.
        owner: Whose they are; empty: whoever uses this machine.
    """

    def __init__(self, database: Database, owner: str = "") -> None:
        self._database = database
        self._owner = owner

    def definitions(self) -> tuple[Mapping[str, Any], ...]:
        """All of them, in the order in which they were connected."""
        rows = self._database.read(
            "SELECT definition FROM outside_tools WHERE owner = ? ORDER BY created_at, name",
            (self._owner,),
        )
        return tuple(json.loads(text) for (text,) in rows)

    def keep(self, name: str, definition: Mapping[str, Any]) -> None:
        """Write one down, in place of one of the same name."""
        row = (self._owner, name, _text(definition), time.time())
        self._database.write(
            Statement("INSERT OR REPLACE INTO outside_tools VALUES (?, ?, ?, ?)", row)
        )

    def remove(self, name: str) -> None:
        """Forget one that was written down."""
        sql = "DELETE FROM outside_tools WHERE owner = ? AND name = ?"
        self._database.write(Statement(sql, (self._owner, name)))

    def agree(self, fingerprint: str, name: str) -> None:
        """The person wants this definition, as it is; the name tells what it is a version of."""
        row = (self._owner, fingerprint, name, time.time())
        self._database.write(
            Statement("INSERT OR REPLACE INTO tool_consents VALUES (?, ?, ?, ?)", row)
        )

    def disagree(self, name: str) -> None:
        """The person no longer wants any version of it."""
        sql = "DELETE FROM tool_consents WHERE owner = ? AND name = ?"
        self._database.write(Statement(sql, (self._owner, name)))

    def agreed(self) -> frozenset[str]:
        """Fingerprints of what the person agreed to."""
        rows = self._database.read(
            "SELECT fingerprint FROM tool_consents WHERE owner = ?", (self._owner,)
        )
        return frozenset(str(fingerprint) for (fingerprint,) in rows)

    def keep_listing(self, fingerprint: str, listing: Mapping[str, Any]) -> None:
        """What a service said last that it can do."""
        row = (fingerprint, _text(listing), time.time())
        self._database.write(
            Statement("INSERT OR REPLACE INTO tool_listings VALUES (?, ?, ?)", row)
        )

    def forget_listing(self, fingerprint: str) -> None:
        """Keep nothing of what a service said that it can do."""
        sql = "DELETE FROM tool_listings WHERE fingerprint = ?"
        self._database.write(Statement(sql, (fingerprint,)))

    def listing(self, fingerprint: str) -> Mapping[str, Any] | None:
        """What it said; None: it was never asked."""
        rows = self._database.read(
            "SELECT listing FROM tool_listings WHERE fingerprint = ?", (fingerprint,)
        )
        return json.loads(rows[-1][0]) if rows else None


def _text(value: Mapping[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)
