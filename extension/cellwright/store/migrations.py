"""The schema: the tables of each feature, and an append-only list of named steps that make them.

A step is never changed once it was released; a new one is added at the end. Each runs in one
transaction together with the row that says it ran.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress

from cellwright.record.attachments import stored_hashes

# The tables of blocks: turns of long ago, an index of what they say, and their vectors.


def m007_blocks(connection: sqlite3.Connection) -> None:
    """Blocks by chat; where SQLite has it, an index of all their groups of three signs."""
    connection.execute(
        """CREATE TABLE blocks (
            id INTEGER PRIMARY KEY,
            chat_id TEXT NOT NULL,
            hash TEXT NOT NULL,
            run_id TEXT NOT NULL,
            opening TEXT NOT NULL,
            text TEXT NOT NULL,
            UNIQUE (chat_id, hash)
        )"""
    )
    connection.execute("CREATE INDEX blocks_by_run ON blocks (run_id)")
    # INSERT OR REPLACE fires no trigger of this kind, so a run that goes on keeps its block.
    connection.execute(
        """CREATE TRIGGER forget_blocks_of_run AFTER DELETE ON runs BEGIN
            DELETE FROM blocks WHERE run_id = OLD.run_id;
        END"""
    )
    # An older SQLite has no trigrams: then blocks are read through one by one.
    with suppress(sqlite3.OperationalError):
        connection.execute(
            """CREATE VIRTUAL TABLE block_words USING fts5(
                text, content='blocks', content_rowid='id', tokenize='trigram'
            )"""
        )
        connection.execute(
            """CREATE TRIGGER block_added AFTER INSERT ON blocks BEGIN
                INSERT INTO block_words (rowid, text) VALUES (NEW.id, NEW.text);
            END"""
        )
        connection.execute(
            """CREATE TRIGGER block_removed AFTER DELETE ON blocks BEGIN
                INSERT INTO block_words (block_words, rowid, text)
                VALUES ('delete', OLD.id, OLD.text);
            END"""
        )


def m011_block_vectors(connection: sqlite3.Connection) -> None:
    """Vectors of blocks, which go when their block goes."""
    connection.execute(
        """CREATE TABLE block_vectors (
            block_id INTEGER NOT NULL,
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (block_id, model)
        )"""
    )
    connection.execute(
        """CREATE TRIGGER block_vectors_removed AFTER DELETE ON blocks BEGIN
            DELETE FROM block_vectors WHERE block_id = OLD.id;
        END"""
    )


# The tables of chats as they grew: branches, superseded runs, owners that go, claims.


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


# What runs are worth, by checks and by people.


def m014_run_scores(connection: sqlite3.Connection) -> None:
    """The scores of a run, one of each name."""
    connection.execute(
        """CREATE TABLE run_scores (
            run_id TEXT NOT NULL,
            name TEXT NOT NULL,
            score TEXT NOT NULL,
            scored_at REAL NOT NULL,
            PRIMARY KEY (run_id, name)
        )"""
    )
    connection.execute(
        """CREATE TRIGGER forget_scores_of_deleted_run AFTER DELETE ON runs BEGIN
            DELETE FROM run_scores WHERE run_id = OLD.run_id;
        END"""
    )


# Which runs use which stored files.


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


# The tables of libraries: documents, their pieces, two indexes over them, and vectors.


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


# The tables of the memory: what is kept, what was proposed, and where it is switched off.


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


# The tables of what the events of many runs have in common.
#
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


# The tables of outside tools.


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


# The tables of what models have cost, and how much a month may cost.


BACKFILL = """
INSERT OR IGNORE INTO usage_calls
SELECT runs.run_id, events.sequence, 0, events.time,
    strftime('%Y-%m', events.time, 'unixepoch'), runs.model,
    COALESCE(json_extract(began.data, '$.assistant'), ''),
    COALESCE(chat_runs.chat_id, runs.run_id), '', 'replied',
    COALESCE(json_extract(events.data, '$.usage.prompt_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.cached_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.completion_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.estimated'), 0),
    json_extract(events.data, '$.cost_dollars')
FROM events
JOIN runs ON runs.run_id = events.run_id
LEFT JOIN chat_runs ON chat_runs.run_id = events.run_id
LEFT JOIN events AS began
    ON began.run_id = events.run_id AND began.kind = 'run_started' AND json_valid(began.data)
WHERE events.kind = 'model_replied' AND runs.lane != 'replay' AND json_valid(events.data)
"""


def m005_usage(connection: sqlite3.Connection) -> None:
    """Every call of a model with its tokens and cost; and what a month may cost."""
    connection.execute(
        """CREATE TABLE usage_calls (
            run_id TEXT NOT NULL,
            call INTEGER NOT NULL,
            part INTEGER NOT NULL,
            at REAL NOT NULL,
            month TEXT NOT NULL,
            model TEXT NOT NULL,
            assistant TEXT NOT NULL,
            chat_id TEXT NOT NULL,
            tool TEXT NOT NULL,
            state TEXT NOT NULL,
            input_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            estimated INTEGER NOT NULL,
            cost_dollars REAL,
            PRIMARY KEY (run_id, call, part)
        )"""
    )
    connection.execute("CREATE INDEX usage_calls_by_month ON usage_calls (month)")
    connection.execute("CREATE TABLE usage_budgets (name TEXT PRIMARY KEY, amount REAL NOT NULL)")
    # An SQLite without JSON begins to count now.
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute(BACKFILL)


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
    m014_run_scores,
)


ADDING = frozenset(
    {"m010_parts", "m011_block_vectors", "m012_chat_notes", "m013_chat_pins", "m014_run_scores"}
)
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
