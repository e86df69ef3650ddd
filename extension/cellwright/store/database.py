"""One SQLite file that never stands in the way of a run.

``open_database`` always returns a database that takes rows. While the file cannot be used
(read-only folder, damaged, locked, full disk, written by a newer version), rows are kept in memory,
a notice says so, and they are written as soon as the file takes them again: a thread tries for as
long as something waits, also when nothing is asked any more.

A file that is deleted, moved or damaged while it is in use is left, and another one is begun at the
same place. What the old one held of the runs that are being recorded goes along.

Not covered: rows that are still in memory when the process dies; a folder that several machines
share on a file system without working locks.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from cellwright.errors import StoreError
from cellwright.stopping import WorkerThread
from cellwright.store.migrations import ADDING, MIGRATIONS, Migration, applied, apply, rolled_back

# Nothing here opens the database file by other means than SQLite: closing any descriptor of a file
# drops every lock that this process holds on it.

try:
    from fcntl import LOCK_EX, LOCK_NB, lockf
except ImportError:
    LOCKABLE = False  # Windows: SQLite's own locks always work there
else:
    LOCKABLE = True

NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "gpfs", "lustre", "ncpfs"}
    | {"nfs", "nfs3", "nfs4", "smb3", "smbfs"}
)


def locks_work(folder: Path, limit_seconds: float) -> bool:
    """Whether a lock can be taken in ``folder``; asked on a thread, since it may hang for good."""
    if not LOCKABLE:
        return True
    answer: list[bool] = []
    probe = folder / f".lock-test-{os.getpid()}-{threading.get_ident()}"

    def ask() -> None:
        try:
            with open(probe, "w") as file:
                lockf(file, LOCK_EX | LOCK_NB)
            answer.append(True)
        except OSError:
            answer.append(False)

    thread = WorkerThread(ask, name="lock-test")
    thread.start()
    thread.join(limit_seconds)
    with contextlib.suppress(OSError):
        probe.unlink()
    return answer == [True]


def on_network(path: Path, mounts_file: str = "/proc/self/mounts") -> bool:
    """Whether ``path`` lies on a network file system, as far as Linux tells."""
    try:
        with open(mounts_file, encoding="utf-8", errors="replace") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return False
    target = os.path.realpath(path.parent)
    found = [
        (mount[1].replace("\\040", " "), mount[2])
        for mount in mounts
        if len(mount) > 2 and _is_inside(target, mount[1].replace("\\040", " "))
    ]
    return bool(found) and max(found, key=lambda item: len(item[0]))[1] in NETWORK_FILE_SYSTEMS


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


BEGIN_PAUSE_SECONDS = 0.005
EMPTY_FILE_GRACE_SECONDS = 10.0
OPENING_CHECK_SECONDS = 0.5
CHECK_SECONDS = 5.0
"""A younger empty file is one that another process is just making."""
STALE_LOCK_SECONDS = 60.0
"""No transaction of ours takes nearly as long."""


@dataclass(frozen=True)
class StoreNotice:
    """Something the person should know about the record."""

    level: Literal["info", "warning", "error"]
    text: str
    action: str
    code: str


@dataclass(frozen=True)
class OpenOptions:
    """How patiently a file is opened and used."""

    busy_seconds: float = 5.0
    """How long another process's lock is waited for."""
    retry_seconds: float = 1.0
    """How long after a failure the file is tried again."""
    lock_test_seconds: float = 2.0
    network: bool | None = None
    """Whether the file lies on a network file system; None: look."""
    migrations: tuple[Migration, ...] = MIGRATIONS


@dataclass(frozen=True)
class Opened:
    """An open connection and what came to light."""

    connection: sqlite3.Connection
    writable: bool = True
    notices: tuple[StoreNotice, ...] = ()


def open_memory(options: OpenOptions) -> sqlite3.Connection:
    """A database in memory, with the same tables."""
    connection = _connect(":memory:", 0.0)
    for migration in options.migrations:
        apply(connection, migration)
    return connection


def open_file(path: Path, options: OpenOptions) -> Opened:
    """The database at ``path``, made when there is none.

    A damaged file is set aside and a new one begun.

    Raises:
        OSError: The folder or the file cannot be used.
        sqlite3.Error: SQLite cannot use the file.
    """
    notices = list(_make(path))
    inode = inode_of(path)
    try:
        return _open(path, options, notices)
    except sqlite3.Error as error:
        if not damaged(error):
            raise
        if inode_of(path) == inode:  # else another process was faster
            notices.append(set_aside(path, f"is damaged ({error})"))
    notices += _make(path)
    return _open(path, options, notices)


def damaged(error: sqlite3.Error) -> bool:
    """Whether the error says that the file is not a sound database."""
    return primary_code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def primary_code(error: sqlite3.Error) -> int:
    """SQLite's result code without its extension."""
    return int(getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)) & 0xFF


def is_sound(path: Path) -> bool:
    """Whether all of a file can be read; a large one takes a while."""
    connection = _connect(path.absolute().as_uri() + "?mode=ro", OpenOptions().busy_seconds)
    try:
        is_whole = connection.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        return is_whole and _has_tables(connection)
    except sqlite3.Error as error:
        if not damaged(error):
            raise
        return False
    finally:
        connection.close()


def _make(path: Path) -> list[StoreNotice]:
    os.makedirs(path.parent, mode=0o700, exist_ok=True)
    notices = []
    with contextlib.suppress(FileNotFoundError):
        status = path.stat()
        age = time.time() - status.st_mtime
        if status.st_size == 0 and age > EMPTY_FILE_GRACE_SECONDS:
            notices.append(set_aside(path, "was empty"))
        elif status.st_mode & 0o077:
            with contextlib.suppress(OSError):
                path.chmod(0o600)
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    return notices


def inode_of(path: Path) -> int:
    """Which file has this name now; -1: none."""
    try:
        return path.stat().st_ino
    except OSError:
        return -1


def _open(path: Path, options: OpenOptions, notices: list[StoreNotice]) -> Opened:
    if not os.access(path, os.W_OK) or not os.access(path.parent, os.W_OK):
        return _open_read_only(path, options)
    locks = locks_work(path.parent, options.lock_test_seconds)
    network = on_network(path) if options.network is None else options.network
    unclean = _size(Path(f"{path}-wal")) > 0
    vfs = "" if locks else _dot_file_locks(path)
    connection = _connect(path.absolute().as_uri() + vfs, options.busy_seconds)
    try:
        notices = [
            *notices,
            *_choose_journal(
                connection, wal=locks and not network, busy_seconds=options.busy_seconds
            ),
        ]
        if unclean:
            _check(connection, limit_seconds=OPENING_CHECK_SECONDS)
        known = {migration.__name__ for migration in options.migrations}
        if set(applied(connection)) - known:
            return Opened(_query_only(connection), False, (*notices, _newer(path)))
        _migrate(connection, path, options)
        if options.migrations is MIGRATIONS and not _has_tables(connection):
            raise _corrupt("a table is missing")
    except BaseException:
        connection.close()
        raise
    return Opened(connection, True, tuple(notices))


def _dot_file_locks(path: Path) -> str:
    """SQLite's way to lock with a folder of its own; one that a killed process left goes."""
    lock = Path(f"{path}.lock")
    with contextlib.suppress(OSError):
        if time.time() - lock.stat().st_mtime > STALE_LOCK_SECONDS:
            lock.rmdir()
    return "?vfs=unix-dotfile"


def _connect(location: str, busy_seconds: float) -> sqlite3.Connection:
    return sqlite3.connect(
        location,
        uri=location.startswith("file:"),
        timeout=busy_seconds,
        isolation_level=None,
        check_same_thread=False,
    )


def _open_read_only(path: Path, options: OpenOptions) -> Opened:
    location = path.absolute().as_uri()
    # Without write access to the folder a WAL database can only be read as immutable.
    for mode in ("?mode=ro", "?immutable=1"):
        connection = _connect(location + mode, options.busy_seconds)
        try:
            applied(connection)
        except sqlite3.OperationalError:
            connection.close()
            continue
        notice = StoreNotice(
            "warning",
            f"The record {str(path)!r} cannot be written; new runs are kept in memory.",
            "Set CELLWRIGHT_HOME to a folder you may write to.",
            "store_read_only",
        )
        return Opened(connection, False, (notice,))
    raise PermissionError(f"{str(path)!r} can neither be written nor read")


def _begin_wal(connection: sqlite3.Connection, seconds: float) -> str:
    """The journal mode after asking for WAL; SQLite itself does not wait for others that do so."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return str(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0])
        except sqlite3.OperationalError as error:
            if primary_code(error) != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                return ""
            time.sleep(BEGIN_PAUSE_SECONDS)


def _choose_journal(
    connection: sqlite3.Connection, *, wal: bool, busy_seconds: float
) -> list[StoreNotice]:
    mode = _begin_wal(connection, busy_seconds) if wal else ""
    if mode != "wal":
        connection.execute("PRAGMA journal_mode = DELETE").fetchone()
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA secure_delete = ON").fetchone()
    if mode == "wal":
        return []
    text = "The record lies on a file system without full locking; writing it is slower."
    action = "Set CELLWRIGHT_HOME to a folder on a local disk."
    return [StoreNotice("info", text, action, "store_network")]


def _check(connection: sqlite3.Connection, *, limit_seconds: float) -> None:
    # Bounded: a record of gigabytes must not hold up the first cell.
    deadline = time.monotonic() + limit_seconds
    connection.set_progress_handler(lambda: int(time.monotonic() > deadline), 10_000)
    try:
        (answer,) = connection.execute("PRAGMA quick_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if primary_code(error) != sqlite3.SQLITE_INTERRUPT:
            raise
        return
    finally:
        connection.set_progress_handler(None, 0)
    if answer != "ok":
        raise _corrupt(str(answer))


def _has_tables(connection: sqlite3.Connection) -> bool:
    """Whether the tables are there without which no run can be recorded."""
    found = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
    return {"runs", "events", "chats"} <= {name for (name,) in found}


def _corrupt(text: str) -> sqlite3.DatabaseError:
    complaint = sqlite3.DatabaseError(text)
    complaint.sqlite_errorcode = sqlite3.SQLITE_CORRUPT
    return complaint


def _migrate(connection: sqlite3.Connection, path: Path, options: OpenOptions) -> None:
    done = applied(connection)
    missing = [step for step in options.migrations if step.__name__ not in done]
    changing = [step.__name__ for step in missing if step.__name__ not in ADDING]
    if changing and done:
        _back_up(connection, Path(f"{path}.before-{changing[0]}"))
    for step in missing:
        apply(connection, step)


def _back_up(connection: sqlite3.Connection, target: Path) -> None:
    with contextlib.suppress(FileExistsError):
        os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with contextlib.closing(sqlite3.connect(target)) as copy:
            connection.backup(copy)


def _query_only(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("PRAGMA query_only = ON")
    return connection


def _newer(path: Path) -> StoreNotice:
    return StoreNotice(
        "warning",
        f"The record {str(path)!r} was written by a newer cellwright; new runs are kept in memory.",
        "Update cellwright, or set CELLWRIGHT_HOME to another folder.",
        "store_newer",
    )


def set_aside(path: Path, what: str) -> StoreNotice:
    """Give a file that cannot be used another name; what is to be said of it."""
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    aside = Path(f"{path}.corrupt-{stamp}-{os.getpid()}")
    for ending in ("", "-wal", "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{path}{ending}", f"{aside}{ending}")
    return StoreNotice(
        "warning",
        f"The record {str(path)!r} {what}; a new one was begun.",
        f"The old one is kept as {aside.name!r}; what can be read in it is put back by: "
        "cellwright doctor --repair",
        "store_damaged",
    )


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


Row = tuple[Any, ...]
RETRY_LIMIT_SECONDS = 10.0
OUTAGE_PATIENCE_SECONDS = 0.05
"""How long a lock is waited for that was there at the last try, too."""
CLOSING_PATIENCE_SECONDS = 2.0
"""The last chance of what waits; Jupyter kills a kernel that takes five seconds to end."""
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
Read = Callable[[str, Sequence[Any]], list[Row]]
Rescue = Callable[[Read], Transaction]
"""Reads a run from a file that is being left, and returns what writes it to another one."""


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
        self._patience = OUTAGE_PATIENCE_SECONDS
        self._replaced = False
        self._inode = -1
        self._followed: dict[str, Rescue] = {}
        self._retrier: threading.Thread | None = None
        self._closed = threading.Event()
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
            has_waited = bool(self._waiting and self._outage)
            try:
                refused = self._commit_all(statements)
            except sqlite3.Error as error:
                self._failed(error, statements)
            else:
                self._recovered(refused, has_waited=has_waited)

    def change(self, *statements: Statement) -> None:
        """Run statements in one transaction, after what waits; now, or not at all.

        Raises:
            StoreError: The file does not take them now, or a statement is wrong.
        """
        with self._lock:
            self.write()
            if self.path is None:
                self.write(*statements)
                return
            if not self.is_durable or self.problem:
                raise StoreError(f"The record {self.problem or 'cannot be written'}.")
            try:
                self._commit([statements])
            except sqlite3.Error as error:
                if _is_our_fault(error):
                    raise StoreError(f"The record refused a row: {error}.") from error
                self._note_failure(error)
                raise StoreError(f"The record {self.problem}.") from error

    def flush(self, patience_seconds: float = OUTAGE_PATIENCE_SECONDS) -> bool:
        """Try now to write what waits; whether everything is in the file then.

        Args:
            patience_seconds: How long another process's lock is waited for.
        """
        self._mind_fork()
        with self._lock:
            if self._waiting:
                self._retry_at, self._patience = 0.0, patience_seconds
                try:
                    self.write()
                finally:
                    self._patience = OUTAGE_PATIENCE_SECONDS
            return self.is_durable

    @property
    def problem(self) -> str:
        """Why the file does not take rows now, as the end of a sentence; empty: it does."""
        if self._outage:
            return self._outage
        return "the record cannot be written" if self._file and not self._file.writable else ""

    def follow_run(self, run_id: str, rescue: Rescue) -> None:
        """Let a run go along where the file is deleted, moved or damaged before its end."""
        with self._lock:
            self._followed[run_id] = rescue

    def unfollow_run(self, run_id: str) -> None:
        """The run has ended: who deletes the file then, deletes the run."""
        with self._lock:
            self._followed.pop(run_id, None)

    def read(
        self, sql: str, parameters: Sequence[Any] = (), *, also_waiting: bool = True
    ) -> list[Row]:
        """The rows of a query: those of the file, then those that wait in memory.

        Args:
            sql: The query.
            parameters: Its values.
            also_waiting: False: not those that wait, where a row is named by its number.
        """
        on_disk, waiting = self.read_apart(sql, parameters)
        return [*on_disk, *waiting] if also_waiting or self.path is None else on_disk

    def read_apart(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[list[Row], list[Row]]:
        """The rows of a query that the file has, and those that are in memory alone."""
        self._mind_fork()
        with self._lock:
            self._reach(now=True)
            on_disk: list[Row] = []
            if self._file is not None:
                try:
                    on_disk = self._patiently(self._file.connection, sql, parameters).fetchall()
                except sqlite3.Error as error:
                    # A file that cannot be migrated lacks what came later; it has no such rows.
                    if self._file.writable or primary_code(error) != sqlite3.SQLITE_ERROR:
                        self._note_failure(error)
            if self._memory is None:
                return on_disk, []
            return on_disk, self._memory.execute(sql, parameters).fetchall()

    def find_damage(self) -> str:
        """What is wrong with the file, looked for a few seconds at most; empty: nothing is found.

        A record that was closed cleanly is not looked through when it is opened.
        """
        if self.path is None or not self.path.exists():
            return ""
        try:
            location = f"{self.path.absolute().as_uri()}?mode=ro"
            with contextlib.closing(_connect(location, self._options.busy_seconds)) as connection:
                _check(connection, limit_seconds=CHECK_SECONDS)
        except sqlite3.Error as error:
            return str(error) if not _is_passing(error) else ""
        return ""

    def rest(self) -> None:
        """Let go of the file until it is needed again: a fork must not inherit it open."""
        with self._lock:
            if self._memory is None and not self._waiting:
                self._let_go()

    def close(self) -> bool:
        """Write what waits, if that can be done, and let go of the file.

        Returns:
            Whether nothing was left unwritten.
        """
        with self._lock:
            if self._closed.is_set():
                return not self._waiting
            self._closed.set()
            self.flush(CLOSING_PATIENCE_SECONDS)
            for connection in (self._file and self._file.connection, self._memory):
                if connection:
                    connection.close()
            self._file = self._memory = None
            return not self._waiting

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
            self._leave_lost_file(self._file.connection)
        if self._file is None:
            try:
                self._file = open_file(self.path, self._options)
                self._inode = inode_of(self.path)
                self._notices += self._file.notices
                self._file.connection.execute("PRAGMA busy_timeout = 100").fetchone()
            except (OSError, sqlite3.Error) as error:
                self._note_failure(error)
        return self._file is not None and self._file.writable

    def _leave_lost_file(self, connection: sqlite3.Connection) -> None:
        """Begin another file; a file without a name can still be read by who has it open."""
        try:
            ((count,),) = connection.execute("SELECT COUNT(*) FROM runs").fetchall()
        except sqlite3.Error:
            count = 0
        gone = max(0, count - len(self._followed))
        self._notices.append(_lost_notice(self.path, gone))
        self._rescue()
        self._let_go()

    def _rescue(self) -> None:
        """Take what a file that is being left holds of the runs that are going on."""
        if self._file is None:
            return
        connection = self._file.connection

        def read(sql: str, parameters: Sequence[Any]) -> list[Row]:
            try:
                return connection.execute(sql, parameters).fetchall()
            except sqlite3.Error:  # the rest of the file may be sound
                return []

        for rescue in tuple(self._followed.values()):
            self._keep(rescue(read), first=True)

    def _commit_all(self, statements: Transaction) -> int:
        """Write what waits and then these; how many of those that waited the file refused."""
        try:
            self._commit([*self._waiting, statements])
        except sqlite3.Error as error:
            if not (self._waiting and _is_our_fault(error)):
                raise
        else:
            self._waiting = []
            return 0
        # One that the file will never take must not hold up all others.
        refused = 0
        while self._waiting:
            try:
                self._commit(self._waiting[:1])
            except sqlite3.Error as error:
                if not _is_our_fault(error):
                    raise
                refused += 1
                text = f"The record refused a row that had waited: {error}."
                self._notices.append(StoreNotice("warning", text, "", "store_refused"))
            self._waiting = self._waiting[1:]
        self._commit([statements])
        return refused

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
        patience = self._patience if self._outage else self._options.busy_seconds
        deadline = time.monotonic() + patience
        while True:
            try:
                return connection.execute(sql, parameters)
            except sqlite3.OperationalError as error:
                if primary_code(error) not in BUSY_CODES or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)

    def _failed(self, error: sqlite3.Error, statements: Transaction) -> None:
        if _is_our_fault(error):
            raise StoreError(f"The record refused a row: {error}.") from error
        self._note_failure(error)
        self._keep(statements)
        if damaged(error) and not self._replaced:
            # Once only: a disk that damages every file must not make a heap of them.
            self._replaced = True
            self._retry_at = 0.0
            self.write()

    def _keep(self, statements: Transaction, *, first: bool = False) -> None:
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
            self._waiting.insert(0 if first else len(self._waiting), statements)
            self._start_retrying()

    def _start_retrying(self) -> None:
        if self._retrier is None and not self._closed.is_set():
            self._retrier = WorkerThread(self._retry_until_written, name="record")
            self._retrier.start()

    def _retry_until_written(self) -> None:
        shortest = min(1.0, self._options.retry_seconds)
        while not self._closed.wait(max(shortest, self._retry_at - time.monotonic())):
            with self._lock, contextlib.suppress(StoreError):
                if self._retrier is not threading.current_thread():
                    return
                if self._waiting and not self._closed.is_set():
                    self.write()
                if not self._waiting:
                    self._retrier = None
                    return

    def _note_failure(self, error: Exception) -> None:
        step = self._retry_seconds * 2 if self._outage else self._options.retry_seconds
        self._retry_seconds = min(step, RETRY_LIMIT_SECONDS)
        self._retry_at = time.monotonic() + self._retry_seconds
        if not self._outage:
            self._notices.append(_failure_notice(self.path, error))
        self._outage = _what_failed(error).text
        if not _is_passing(error):
            self._rescue()
            self._let_go()

    def _let_go(self) -> None:
        if self._file is not None:
            self._file.connection.close()
            self._file = None

    def _recovered(self, refused: int, *, has_waited: bool) -> None:
        if has_waited:
            left_out = f"{refused} changes were refused." if refused else "nothing is missing."
            text = f"The record is written to its file again; {left_out}"
            self._notices.append(StoreNotice("info", text, "", "store_recovered"))
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
            self._file = self._memory = self._retrier = None
            self._waiting = []
            self._followed = {}
            self._closed = threading.Event()


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


def _is_our_fault(error: sqlite3.Error) -> bool:
    return primary_code(error) in OUR_FAULT_CODES or isinstance(error, sqlite3.ProgrammingError)


@dataclass(frozen=True)
class _Failure:
    """What is wrong with the file, in words."""

    text: str
    """The end of a sentence that begins with ``the record``."""
    action: str
    code: str


def _what_failed(error: Exception) -> _Failure:
    code = primary_code(error) if isinstance(error, sqlite3.Error) else -1
    if code in BUSY_CODES:
        what, action = "is locked by another process", "Close the other one."
        return _Failure(what, action, "store_locked")
    if code == sqlite3.SQLITE_FULL:
        return _Failure("does not fit on the disk", "Free some disk space.", "store_full")
    action = "Check the folder, or set CELLWRIGHT_HOME to another one."
    return _Failure(f"cannot be used ({error})", action, "store_failed")


def _failure_notice(path: Path | None, error: Exception) -> StoreNotice:
    failure = _what_failed(error)
    text = (
        f"The record {str(path)!r} {failure.text}. The run goes on; it is in the memory of this "
        "process alone until the file can be written."
    )
    return StoreNotice("warning", text, failure.action, failure.code)


def _lost_notice(path: Path | None, gone: int) -> StoreNotice:
    earlier = f" {gone} earlier runs are not in it." if gone else ""
    text = (
        f"The record {str(path)!r} was deleted, moved or replaced while it was in use, and a new "
        f"one was begun.{earlier} A run that is going on is written to it from its start."
    )
    return StoreNotice("warning", text, "", "store_lost")
