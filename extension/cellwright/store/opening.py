"""Open an SQLite file, or find out why it cannot be used.

Never opens the database file by other means than SQLite: closing any descriptor of a file drops
every lock this process holds on it.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cellwright.stopping import WorkerThread
from cellwright.store.migrations import ADDING, MIGRATIONS, Migration, applied, apply

# What the file system under the record can do: locks, and whether it is a network one.


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


EMPTY_FILE_GRACE_SECONDS = 10.0
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
        notices = [*notices, *_choose_journal(connection, wal=locks and not network)]
        if unclean:
            _check(connection, limit_seconds=0.5)
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


def _choose_journal(connection: sqlite3.Connection, *, wal: bool) -> list[StoreNotice]:
    mode = ""
    if wal:
        with contextlib.suppress(sqlite3.OperationalError):
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
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
