"""The tables of outside tools."""

from __future__ import annotations

import sqlite3


def m008_tools(connection: sqlite3.Connection) -> None:
    """Services that a person connected, what each can do, and what the person agreed to."""
    connection.execute(
        """CREATE TABLE outside_tools (
            owner TEXT NOT NULL,
            name TEXT NOT NULL,
            definition TEXT NOT NULL,
            created_at REAL NOT NULL,
            PRIMARY KEY (owner, name)
        )"""
    )
    connection.execute(
        """CREATE TABLE tool_consents (
            owner TEXT NOT NULL,
            fingerprint TEXT NOT NULL,
            name TEXT NOT NULL,
            at REAL NOT NULL,
            PRIMARY KEY (owner, fingerprint)
        )"""
    )
    connection.execute(
        """CREATE TABLE tool_listings (
            fingerprint TEXT PRIMARY KEY,
            listing TEXT NOT NULL,
            at REAL NOT NULL
        )"""
    )
