"""The tables of libraries: documents, their pieces, two indexes over them, and vectors."""

from __future__ import annotations

import sqlite3


def m004_library(connection: sqlite3.Connection) -> None:
    """Libraries, their places and documents, the pieces that are searched, cached vectors.

    Pieces of a library have ids of one range, so that both indexes can be asked for one library.
    """
    connection.execute(
        """CREATE TABLE libraries (
            number INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            root TEXT NOT NULL,
            is_default INTEGER NOT NULL DEFAULT 0,
            version INTEGER NOT NULL DEFAULT 0,
            created_at REAL NOT NULL
        )"""
    )
    connection.execute(
        "CREATE UNIQUE INDEX one_default_library ON libraries (root) WHERE is_default"
    )
    connection.execute(
        """CREATE TABLE library_places (
            number INTEGER NOT NULL,
            place TEXT NOT NULL,
            name TEXT NOT NULL,
            added_at REAL NOT NULL,
            PRIMARY KEY (number, place)
        )"""
    )
    connection.execute(
        """CREATE TABLE library_documents (
            document_id TEXT PRIMARY KEY,
            number INTEGER NOT NULL,
            source TEXT NOT NULL,
            name TEXT NOT NULL,
            place TEXT NOT NULL,
            kind TEXT NOT NULL,
            size_bytes INTEGER NOT NULL,
            modified INTEGER NOT NULL,
            sha256 TEXT NOT NULL,
            indexed_at REAL NOT NULL,
            problem TEXT NOT NULL,
            is_removed INTEGER NOT NULL DEFAULT 0
        )"""
    )
    connection.execute(
        "CREATE INDEX library_documents_by_library ON library_documents (number, source)"
    )
    connection.execute(
        """CREATE TABLE library_chunks (
            chunk_id INTEGER PRIMARY KEY,
            document_id TEXT NOT NULL,
            position INTEGER NOT NULL,
            heading TEXT NOT NULL,
            anchor TEXT NOT NULL,
            text TEXT NOT NULL,
            sha256 TEXT NOT NULL
        )"""
    )
    connection.execute(
        "CREATE INDEX library_chunks_by_document ON library_chunks (document_id, position)"
    )
    connection.execute(
        """CREATE TABLE library_vectors (
            sha256 TEXT NOT NULL,
            model TEXT NOT NULL,
            dimension INTEGER NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (sha256, model, dimension)
        )"""
    )
    # Words are found ten times faster as words; parts of words and Chinese need trigrams.
    for index, tokens in (("words", "porter unicode61"), ("trigrams", "trigram")):
        _index(connection, f"library_{index}", tokens)
    connection.execute(
        "CREATE VIRTUAL TABLE library_trigram_terms USING fts5vocab('library_trigrams', 'row')"
    )


def _index(connection: sqlite3.Connection, table: str, tokens: str) -> None:
    # With a blank behind it, a word of two signs begins a trigram also where a text ends.
    connection.execute(
        f"""CREATE VIRTUAL TABLE {table} USING fts5(
            text, heading, content='library_chunks', content_rowid='chunk_id', tokenize='{tokens}'
        )"""
    )
    connection.execute(
        f"""CREATE TRIGGER {table}_gains AFTER INSERT ON library_chunks BEGIN
            INSERT INTO {table} (rowid, text, heading)
            VALUES (NEW.chunk_id, NEW.text || ' ', NEW.heading || ' ');
        END"""
    )
    connection.execute(
        f"""CREATE TRIGGER {table}_loses AFTER DELETE ON library_chunks BEGIN
            INSERT INTO {table} ({table}, rowid, text, heading)
            VALUES ('delete', OLD.chunk_id, OLD.text || ' ', OLD.heading || ' ');
        END"""
    )
