"""One SQLite file that never stands in the way of a run.

``open_database`` always returns a database that takes rows. While the file cannot be used
(read-only folder, damaged, locked, full disk, written by a newer version), rows are kept in memory,
a notice says so, and they are written as soon as the file takes them again.

Not covered: rows that are still in memory when the process dies; a folder that several machines
share on a file system without working locks.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.errors import StoreError
from cellwright.store.migrations import rolled_back
from cellwright.store.opening import (
    Opened,
    OpenOptions,
    StoreNotice,
    damaged,
    inode_of,
    open_file,
    open_memory,
    primary_code,
)

__all__ = ["Database", "Statement", "open_database"]

Row = tuple[Any, ...]
RETRY_LIMIT_SECONDS = 60.0
BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
OUR_FAULT_CODES = (sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_MISMATCH)
"""Codes that say that a statement is wrong, not that the file cannot be used."""


@dataclass(frozen=True)
class Statement:
    """One SQL statement with its parameters."""

    sql: str
    parameters: Row = ()
    then: tuple[Statement, ...] = ()
    """What follows in the same transaction where this one changed a row."""


Transaction = tuple[Statement, ...]


def open_database(path: Path | None, options: OpenOptions | None = None) -> Database:
    """The database at ``path``; None: one in memory, for as long as the process lives."""
    return Database(path, options or OpenOptions())


class Database:
    """Rows in a file, or in memory while the file cannot be used; safe to use from any thread."""

    def __init__(self, path: Path | None, options: OpenOptions) -> None:
        self.path = path
        self._options = options
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._file: Opened | None = None
        self._memory: sqlite3.Connection | None = None
        self._waiting: list[Transaction] = []
        self._notices: list[StoreNotice] = []
        self._outage = ""
        self._retry_seconds = 0.0
        self._retry_at = 0.0
        self._replaced = False
        self._inode = -1
        with self._lock:
            self._reach()

    @property
    def is_durable(self) -> bool:
        """Whether what was written is in the file."""
        return self._file is not None and self._file.writable and not self._waiting

    @property
    def notices(self) -> tuple[StoreNotice, ...]:
        """Everything the person should know, since the start or the last ``take_notices``."""
        return tuple(self._notices)

    def take_notices(self) -> tuple[StoreNotice, ...]:
        """The notices so far; each is handed out once."""
        with self._lock:
            taken, self._notices = tuple(self._notices), []
        return taken

    def write(self, *statements: Statement) -> None:
        """Run statements in one transaction; on return they are in the file, or in memory.

        Raises:
            StoreError: A statement is wrong, whatever the file.
        """
        self._mind_fork()
        with self._lock:
            if not self._reach():
                self._keep(statements)
                return
            try:
                self._commit([*self._waiting, statements])
            except sqlite3.Error as error:
                self._failed(error, statements)
            else:
                self._recovered()

    def read(
        self, sql: str, parameters: Sequence[Any] = (), *, also_waiting: bool = True
    ) -> list[Row]:
        """The rows of a query: those of the file, then those that wait in memory.

        Args:
            sql: The query.
            parameters: Its values.
            also_waiting: False: not those that wait, where a row is named by its number.
        """
        self._mind_fork()
        with self._lock:
            self._reach(now=True)
            rows: list[Row] = []
            if self._file is not None:
                try:
                    rows += self._patiently(self._file.connection, sql, parameters).fetchall()
                except sqlite3.Error as error:
                    # A file that cannot be migrated lacks what came later; it has no such rows.
                    if self._file.writable or primary_code(error) != sqlite3.SQLITE_ERROR:
                        self._note_failure(error)
            if self._memory is not None and (also_waiting or self.path is None):
                rows += self._memory.execute(sql, parameters).fetchall()
            return rows

    def close(self) -> None:
        """Write what waits, if that can be done, and let go of the file."""
        with self._lock:
            if self._waiting:
                self._retry_at = 0.0
                self.write()
            for connection in (self._file and self._file.connection, self._memory):
                if connection:
                    connection.close()
            self._file = self._memory = None

    def _reach(self, *, now: bool = False) -> bool:
        """Whether the file may be tried; opens it where it is not open.

        Args:
            now: Try it even where it has just failed.
        """
        if self.path is None:
            self._memory = self._memory or open_memory(self._options)
            return False
        if not now and self._outage and time.monotonic() < self._retry_at:
            return False
        if self._file is not None and inode_of(self.path) != self._inode:
            # SQLite would go on writing to a file that has no name any more.
            self._let_go()
        if self._file is None:
            try:
                self._file = open_file(self.path, self._options)
                self._inode = inode_of(self.path)
                self._notices += self._file.notices
                self._file.connection.execute("PRAGMA busy_timeout = 100").fetchone()
            except (OSError, sqlite3.Error) as error:
                self._note_failure(error)
        return self._file is not None and self._file.writable

    def _commit(self, transactions: Sequence[Transaction]) -> None:
        assert self._file is not None
        connection = self._file.connection
        try:
            self._patiently(connection, "BEGIN IMMEDIATE")
            for transaction in transactions:
                _run(connection, transaction)
            self._patiently(connection, "COMMIT")
        except BaseException:
            rolled_back(connection)
            raise

    def _patiently(
        self, connection: sqlite3.Connection, sql: str, parameters: Sequence[Any] = ()
    ) -> sqlite3.Cursor:
        """Wait for another process's lock, in slices that leave Ctrl-C a chance."""
        deadline = time.monotonic() + (0.05 if self._outage else self._options.busy_seconds)
        while True:
            try:
                return connection.execute(sql, parameters)
            except sqlite3.OperationalError as error:
                if primary_code(error) not in BUSY_CODES or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _failed(self, error: sqlite3.Error, statements: Transaction) -> None:
        if primary_code(error) in OUR_FAULT_CODES or isinstance(error, sqlite3.ProgrammingError):
            raise StoreError(f"The record refused a row: {error}.") from error
        self._note_failure(error)
        self._keep(statements)
        if damaged(error) and not self._replaced:
            # Once only: a disk that damages every file must not make a heap of them.
            self._replaced = True
            self._retry_at = 0.0
            self.write()

    def _keep(self, statements: Transaction) -> None:
        if self._memory is None:
            self._memory = open_memory(self._options)
        self._memory.execute("BEGIN")
        try:
            _run(self._memory, statements)
            self._memory.execute("COMMIT")
        except BaseException as error:
            rolled_back(self._memory)
            if isinstance(error, sqlite3.Error):
                raise StoreError(f"The record refused a row: {error}.") from error
            raise
        will_be_writable = self._file is None or self._file.writable
        if self.path is not None and statements and will_be_writable:
            self._waiting.append(statements)

    def _note_failure(self, error: Exception) -> None:
        step = self._retry_seconds * 2 if self._outage else self._options.retry_seconds
        self._retry_seconds = min(step, RETRY_LIMIT_SECONDS)
        self._retry_at = time.monotonic() + self._retry_seconds
        if not _is_passing(error):
            self._let_go()
        if not self._outage:
            self._notices.append(_failure_notice(self.path, error))
        self._outage = str(error)

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.connection.close()
            self._file = None

    def _recovered(self) -> None:
        if self._waiting:
            text = "The record is written to its file again; nothing is missing."
            self._notices.append(StoreNotice("info", text, "", "store_recovered"))
            self._waiting = []
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        self._outage = ""

    def _mind_fork(self) -> None:
        # SQLite connections must not be used in a forked child, nor closed there.
        if os.getpid() != self._process:
            self._abandoned = (self._file, self._memory)
            self._process = os.getpid()
            self._lock = threading.RLock()
            self._file = self._memory = None
            self._waiting = []


def _run(connection: sqlite3.Connection, statements: Transaction) -> None:
    for statement in statements:
        try:
            changed = connection.execute(statement.sql, statement.parameters).rowcount
        except (OverflowError, UnicodeEncodeError) as error:
            raise StoreError(f"The record refused a value: {error}.") from error
        if statement.then and changed > 0:
            _run(connection, statement.then)


def _is_passing(error: Exception) -> bool:
    codes = (*BUSY_CODES, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
    return isinstance(error, sqlite3.Error) and primary_code(error) in codes


def _failure_notice(path: Path | None, error: Exception) -> StoreNotice:
    code = primary_code(error) if isinstance(error, sqlite3.Error) else -1
    kept = "The run goes on; its record is kept in memory for now."
    if code in BUSY_CODES:
        what, action, name = "is locked by another process", "Close the other one.", "locked"
    elif code == sqlite3.SQLITE_FULL:
        what, action, name = "does not fit on the disk", "Free some disk space.", "full"
    else:
        what, name = f"cannot be used ({error})", "failed"
        action = "Check the folder, or set CELLWRIGHT_HOME to another one."
    text = f"The record {str(path)!r} {what}. {kept}"
    return StoreNotice("warning", text, action, f"store_{name}")
