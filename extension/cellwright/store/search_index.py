"""Search in what runs say, with an index beside the record that is made anew when it is lost.

Not covered: a folder that cannot be written; then there is no index, and nothing is said about it.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cellwright.record.values import json_or_none
from cellwright.store.database import Database
from cellwright.store.event_rows import BLOB_KEY, BlobFolder

FILE = "search.sqlite"
SHORTEST_CHARACTERS = 3
BUSY_SECONDS = 2.0
BATCH_RUNS = 200
SAID = "kind IN ('model_replied', 'run_finished')"
COUNTS = f"SELECT run_id, COUNT(*) FROM events WHERE {SAID} GROUP BY run_id"
SAYS = f"""SELECT run_id, sequence,
        CASE WHEN json_valid(data) THEN
            COALESCE(json_extract(data, '$.message.text'), json_extract(data, '$.answer'))
        END AS said
    FROM events WHERE {SAID}"""
TEXTS = f"{SAYS} AND run_id IN ({{}})"
PROMPTS = "SELECT run_id, 0, prompt FROM runs WHERE run_id IN ({})"
TABLES = (
    """CREATE TABLE IF NOT EXISTS entries (
        id INTEGER PRIMARY KEY, run_id TEXT NOT NULL, sequence INTEGER NOT NULL, text TEXT NOT NULL,
        UNIQUE (run_id, sequence)
    )""",
    """CREATE VIRTUAL TABLE IF NOT EXISTS words
        USING fts5(text, content='entries', content_rowid='id', tokenize='trigram')""",
    """CREATE TRIGGER IF NOT EXISTS word_added AFTER INSERT ON entries BEGIN
        INSERT INTO words (rowid, text) VALUES (NEW.id, NEW.text);
    END""",
    """CREATE TRIGGER IF NOT EXISTS word_removed AFTER DELETE ON entries BEGIN
        INSERT INTO words (words, rowid, text) VALUES ('delete', OLD.id, OLD.text);
    END""",
)
KNOWN = "SELECT run_id, SUM(sequence > 0) FROM entries GROUP BY run_id"
BY_TRIGRAMS = """SELECT DISTINCT run_id FROM entries
    WHERE id IN (SELECT rowid FROM words WHERE words MATCH ?)"""
BY_TEXT = "SELECT DISTINCT run_id FROM entries WHERE {}"


class SearchIndex:
    """The index of one record; opened for one question, so that forks and threads do no harm.

    Args:
        database: The record.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        folder = database.path.parent if database.path is not None else None
        self._path = folder / FILE if folder is not None else None

    def runs_that_say(self, word: str) -> frozenset[str] | None:
        """Ids of the runs with a word or a part of one; None: there is no index here."""
        with self._opened() as connection:
            if connection is None:
                return None
            try:
                self._catch_up(connection)
                return frozenset(str(run_id) for (run_id,) in _rows_with(connection, word))
            except sqlite3.Error as error:
                self._give_up(error)
        return None

    def forget(self) -> None:
        """Take out, from the disk too, what the record does not have any more."""
        if self._path is None or not self._path.exists():
            return
        with self._opened() as connection:
            if connection is None:
                # It could not be looked up here and must not be kept: whoever can makes it anew.
                self._remove()
                return
            try:
                gone = _known(connection).keys() - self._counts().keys()
                with _transaction(connection):
                    _drop(connection, gone)
                # Until it is merged away a deleted word can still be read in the file.
                connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            except sqlite3.Error:
                self._remove()

    def _catch_up(self, connection: sqlite3.Connection) -> None:
        """Let the index have what the record has: runs only grow, and ids are not used again."""
        counts, known = self._counts(), _known(connection)
        changed = [run for run, count in counts.items() if known.get(run) != count]
        gone = known.keys() - counts.keys()
        if not changed and not gone:
            return
        with _transaction(connection):
            _drop(connection, gone)
            for start in range(0, len(changed), BATCH_RUNS):
                self._add(connection, changed[start : start + BATCH_RUNS])

    def _counts(self) -> Mapping[str, int]:
        """How often each run of the record says something."""
        runs = {str(run_id): 0 for (run_id,) in self._database.read("SELECT run_id FROM runs")}
        said = {str(run_id): int(count) for run_id, count in self._database.read(COUNTS)}
        return {run_id: said.get(run_id, 0) for run_id in runs}

    def _add(self, connection: sqlite3.Connection, runs: list[str]) -> None:
        _drop(connection, runs)
        marks = ", ".join("?" * len(runs))
        rows = self._database.read(PROMPTS.format(marks), runs)
        rows += self._database.read(TEXTS.format(marks), runs)
        connection.executemany(
            "INSERT OR IGNORE INTO entries (run_id, sequence, text) VALUES (?, ?, ?)",
            [(run_id, sequence, _whole(self._database, text)) for run_id, sequence, text in rows],
        )

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection | None]:
        """The index's file; None: there can be none."""
        # What waits in memory is not in the file, and the index would lack it.
        if self._path is None or not self._database.is_durable or not has_trigrams():
            yield None
            return
        try:
            connection = _connected(self._path)
        except (sqlite3.Error, OSError) as error:
            self._give_up(error)
            yield None
            return
        with contextlib.closing(connection):
            yield connection

    def _give_up(self, error: Exception) -> None:
        """Do without; a file that is damaged, or of another SQLite, is begun anew next time."""
        if not isinstance(error, sqlite3.OperationalError):
            self._remove()

    def _remove(self) -> None:
        for ending in ("", "-journal") if self._path is not None else ():
            with contextlib.suppress(OSError):
                Path(f"{self._path}{ending}").unlink(missing_ok=True)


@functools.cache
def has_trigrams() -> bool:
    """Whether this SQLite has FTS5 with trigrams (3.34)."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.execute("CREATE VIRTUAL TABLE words USING fts5(text, tokenize='trigram')")
        except sqlite3.OperationalError:
            return False
    return True


def like_patterns(word: str) -> list[str]:
    """What a text is LIKE that has the word in it, in any case."""
    return [f"%{_escaped(form)}%" for form in _forms(word)]


def _connected(path: Path) -> sqlite3.Connection:
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    connection = sqlite3.connect(
        path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA secure_delete = ON").fetchone()
        for statement in TABLES:
            connection.execute(statement)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _known(connection: sqlite3.Connection) -> Mapping[str, int]:
    return {str(run_id): int(count) for run_id, count in connection.execute(KNOWN)}


def _drop(connection: sqlite3.Connection, runs: Iterable[str]) -> None:
    connection.executemany("DELETE FROM entries WHERE run_id = ?", [(run,) for run in runs])


def _rows_with(connection: sqlite3.Connection, word: str) -> sqlite3.Cursor:
    if len(word) >= SHORTEST_CHARACTERS:
        phrase = word.replace('"', '""')
        return connection.execute(BY_TRIGRAMS, (f'"{phrase}"',))
    patterns = like_patterns(word)
    sql = BY_TEXT.format(" OR ".join(["text LIKE ? ESCAPE '\\'"] * len(patterns)))
    return connection.execute(sql, patterns)


def _forms(word: str) -> tuple[str, ...]:
    # SQLite's LIKE knows upper and lower case of A to Z alone.
    if word.isascii():
        return (word,)
    return tuple(dict.fromkeys((word, word.lower(), word.upper(), word.capitalize())))


def _escaped(text: str) -> str:
    for sign in ("\\", "%", "_"):
        text = text.replace(sign, f"\\{sign}")
    return text


# Which runs say a word, in their prompt or in what the model answered.
#
# Words of three characters and more are looked up in an index of trigrams, so Chinese and code
# are found like anything else; shorter words are looked for in the texts themselves. The index
# lies in a file of its own beside the record. It is made and caught up by whoever searches:
# writing the record costs nothing for it, and where it cannot be used (an SQLite without FTS5, a
# record in memory) the record itself is read.


PROMPTS_LIKE = "SELECT run_id FROM runs WHERE {}"
ANSWERS = """SELECT DISTINCT run_id FROM events
    WHERE kind IN ('model_replied', 'run_finished') AND json_valid(data) AND ({})"""
LONG_ANSWERS = f"SELECT run_id, said FROM ({SAYS}) WHERE said LIKE ?"
ANSWER_PATHS = ("$.message.text", "$.answer")


def runs_that_say(database: Database, word: str) -> frozenset[str]:
    """Ids of the runs with ``word``, or a part of a word that is like it, in any case."""
    found = SearchIndex(database).runs_that_say(word)
    return _scanned(database, word) if found is None else found


def forget_words(database: Database) -> None:
    """Take out of the index what the record does not have any more."""
    SearchIndex(database).forget()


def _scanned(database: Database, word: str) -> frozenset[str]:
    patterns = like_patterns(word)
    prompts = _any_like("prompt", patterns)
    answers = " OR ".join(
        _any_like(f"json_extract(data, '{path}')", patterns) for path in ANSWER_PATHS
    )
    rows = database.read(PROMPTS_LIKE.format(prompts), patterns)
    rows += database.read(ANSWERS.format(answers), patterns * len(ANSWER_PATHS))
    long_ones = database.read(LONG_ANSWERS, (f'{{"{BLOB_KEY}"%',))
    rows += [
        (run_id,)
        for run_id, text in long_ones
        if any(form in _whole(database, text).lower() for form in map(str.lower, _forms(word)))
    ]
    return frozenset(str(run_id) for (run_id,) in rows)


def _whole(database: Database, text: Any) -> str:
    """What a row says; a long text lies in a file of its own, which the row names."""
    if not isinstance(text, str) or database.path is None or not text.startswith(f'{{"{BLOB_KEY}'):
        return text if isinstance(text, str) else ""
    sha = (json_or_none(text) or {}).get(BLOB_KEY)
    return BlobFolder(database.path.parent / "blobs").get(str(sha)) or ""


def _any_like(value: str, patterns: list[str]) -> str:
    return " OR ".join([f"{value} LIKE ? ESCAPE '\\'"] * len(patterns))
