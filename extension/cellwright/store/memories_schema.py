"""The tables of the memory: what is kept, what was proposed, and where it is switched off."""

from __future__ import annotations

import sqlite3


def m003_memories(connection: sqlite3.Connection) -> None:
    """Memories, proposals to change them, and whose memory is off."""
    connection.execute(
        """CREATE TABLE memories (
            memory_id TEXT PRIMARY KEY,
            owner TEXT NOT NULL DEFAULT '',
            project TEXT NOT NULL DEFAULT '',
            text TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            source_run TEXT NOT NULL DEFAULT '',
            created_at REAL NOT NULL,
            updated_at REAL NOT NULL
        )"""
    )
    connection.execute(
        "CREATE UNIQUE INDEX memories_once ON memories (owner, project, fingerprint)"
    )
    connection.execute(
        """CREATE TABLE memory_proposals (
            proposal_id TEXT PRIMARY KEY,
            owner TEXT NOT NULL DEFAULT '',
            project TEXT NOT NULL DEFAULT '',
            action TEXT NOT NULL,
            text TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            memory_id TEXT NOT NULL DEFAULT '',
            reason TEXT NOT NULL DEFAULT '',
            source_run TEXT NOT NULL DEFAULT '',
            state TEXT NOT NULL DEFAULT 'open',
            created_at REAL NOT NULL
        )"""
    )
    connection.execute(
        "CREATE INDEX memory_proposals_by_owner ON memory_proposals (owner, state, created_at)"
    )
    connection.execute(
        "CREATE TABLE memory_switches (owner TEXT PRIMARY KEY, is_on INTEGER NOT NULL)"
    )
