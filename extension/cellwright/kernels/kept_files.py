"""Copies of the files that a run changes, made before it changes them; from inside the kernel.

Runs inside kernels that may not have cellwright, as ``snapshots`` and ``cell_watch`` do: from the
standard library alone, on Python 3.8 and later.

- ``watch`` says which run comes next. While one of its cells runs, ``cell_watch`` hands on what it
  hears of Python's audit events: the file that is about to be opened for writing, deleted, renamed
  or cut is copied first. What a program does that is about to be started cannot be heard: the small
  files of the working folder are copied before it starts. So are, before the first cell, small ones
  of formats that libraries write without Python. A copy serves as long as its file is the same.
- When the cell has ended, what changed is written to a journal, a line a file: how it was, its
  copy, how it was left. What changed unheard stands there too, without a copy.
- ``put_back`` brings files back as they were before a run, or one of its cells. What it overwrites
  is kept and written to the journal likewise, so it can be put forth again. What was only renamed
  needs no copy: it is found by its inode, and renamed back. A new name that may hold what cannot
  be put back elsewhere stays.

Journal and copies lie in a folder of the kernel's own, not in its memory: that is gone back to, and
the files are not. The folder goes when the kernel ends; that of one that was killed goes with the
last of its snapshots, or when the next kernel makes its own.

What this does not protect: databases of servers, files that are written through a handle that was
open before the run, by threads after the cell, or by libraries that open files in C. Those in the
working folder are named. Elsewhere only files are kept that were there before, and none of the
system, of Python's installation, in temporary or in hidden folders.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import operator
import os
import shutil
import stat
import sys
import tempfile
import threading
import time
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

if sys.platform != "win32":  # where nothing is kept
    import fcntl

REGISTRY = "_cellwright_kept_files"
"""The module that holds what is shared: the source may be there twice, for magics and for panel."""
FOLDER = ".cellwright-files-"
"""Begins the folder's name; hidden, so that no listing of a cell looks into it."""
NEW_FOLDER = ".cellwright-new-"
LOCK, JOURNAL = "lock", "journal"
FILE_BYTES = 50_000_000
TOTAL_BYTES = 200_000_000
COUNT_LIMIT = 2_000
"""So many files of one cell are copied."""
NAMED_LIMIT = 20_000
"""So many files of one cell are known by name and inode."""
CELL_SECONDS = 0.5
"""So long a cell waits for copies, all in all."""
UNHEARD_FILE_BYTES = 10_000_000
UNHEARD_BYTES = 50_000_000
UNHEARD_COUNT = 1_000
UNHEARD_SECONDS = 0.4
"""Of the files that are copied because they may be changed by what is not heard."""
UNHEARD_ENDS = (
    *(".arrow", ".db", ".duckdb", ".feather", ".gpkg", ".h5", ".hdf5", ".nc", ".orc", ".parquet"),
    *(".sqlite", ".sqlite3", ".zarr"),
)
"""Formats that libraries write without Python."""
BACK_BYTES = 1_000_000_000
"""A larger file is not replaced: what it holds now could not be kept."""
CHUNK_BYTES = 1 << 20
CLONE = 0x40049409
"""Linux's FICLONE: shares the blocks of a file, where the file system can."""
FRESH_NS = 20_000_000
"""File times are so coarse: what was written just before may be changed and look the same."""
SKIPPED_FOLDERS = ("node_modules", "__pycache__")
SYSTEM_FOLDERS = ("/dev", "/proc", "/sys", "/run", "/var", "/etc", "/usr", "/bin", "/lib", "/boot")
TOOL_FOLDERS = (
    *("CELLWRIGHT_HOME", "IPYTHONDIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR"),
    *("JUPYTER_RUNTIME_DIR", "MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"),
    *("XDG_DATA_HOME", "XDG_STATE_HOME"),
)
"""Variables that name folders in which tools keep what is theirs, such as IPython its history."""
RECORD = "runs.sqlite"
"""The record's folder is no run's to change."""
NOTEBOOK = ".ipynb"
NOTEBOOK_VARIABLE = "JPY_SESSION_NAME"

NAMED = {
    "os.chmod": ((0, 2, True),),
    "os.chown": ((0, 3, True),),
    "os.link": ((1, 3, False),),
    "os.mkdir": ((0, 2, False),),
    "os.remove": ((0, 1, False),),
    "os.rename": ((0, 2, False), (1, 3, False)),
    "os.rmdir": ((0, 1, False),),
    "os.symlink": ((1, 2, False),),
    "os.truncate": ((0, None, True),),
    "os.utime": ((0, 3, True),),
    "shutil.move": ((0, None, False),),
    "sqlite3.connect": (),
}
"""Audit events that change what they name: where the name stands, where its folder's descriptor
does, and whether a link there is followed."""
MOVING = ("os.rename", "shutil.move")
STARTING = (
    *("os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.system"),
    *("pty.spawn", "subprocess.Popen"),
)
HEARD = frozenset(("open", *NAMED, *STARTING))
SQLITE_FILES = ("", "-wal", "-shm", "-journal")

UNHEARD = "a library or a program changed it unseen"
OF_JUPYTER = "Jupyter may have saved it meanwhile"
TOO_LARGE = "it is larger than {limit:,.0f} MB"
NO_ROOM = "the copies of all files would be larger than 200 MB"
TOO_MANY = "more than 2,000 files were changed"
TOO_SLOW = "to copy it would have taken too long"
MOVED = "it was renamed"
NOT_OURS = "no files are kept where it was"
HOLDS = "it may hold what {name} held, which cannot be put back"
MAY_BE_MOVED = "it is older than the run: a program may have moved it here"
CHANGED_SINCE = "it was changed since"
COPY_IS_GONE = "its copy is gone"
NO_FILE = "it is no ordinary file"
NOT_EMPTY = "there are other files in it"

FileState = Any
"""None: it is not there. Else what it is: ``folder``, ``link``, ``unknown``, or ``size``,
``mtime_ns`` and ``mode`` of a file."""
UNKNOWN = {"unknown": True}


def _registry() -> Any:
    """What this process knows beside what is on disk."""
    found: Any = sys.modules.get(REGISTRY)
    if found is None:
        found = sys.modules[REGISTRY] = types.ModuleType(REGISTRY)
        found.folder, found.lock, found.owner = "", None, 0
        found.run_id, found.step, found.cell = "", 0, None
        found.spare, found.can_clone = {}, True
    return found


# Which run it is, and where its copies lie.


def watch(run_id: str, step: int = 0, kept: int = 3) -> None:
    """Keep the files that the cells change that come next; never in a run's way.

    Args:
        run_id: Their run.
        step: Which of its cells comes next, from 2 on; 0: the run begins.
        kept: The files of so many runs are kept, of this one too; the oldest go.
    """
    state = _registry()
    state.run_id = ""
    if sys.platform == "win32":
        return
    with contextlib.suppress(OSError):
        if not os.path.isdir(state.folder):
            _make_folder(state)
        if not step:
            state.spare = {}
            _forget(lambda starts: starts[: max(0, len(starts) - kept + 1)])
        _write([{"at": run_id, "step": step}])
        state.run_id, state.step = run_id, step


def is_watching() -> bool:
    """Whether the files are kept that the next cell changes."""
    return bool(_registry().run_id)


def resume(folder: str, *, is_owner: bool) -> None:
    """In a fork that becomes a kernel: go on with the folder as it is now.

    Args:
        folder: That of the kernel before; empty: it had none.
        is_owner: The folder goes when this process ends.
    """
    state = _registry()
    state.run_id, state.cell, state.folder, state.spare = "", None, folder, {}
    before, state.lock = state.lock, None
    with contextlib.suppress(OSError):
        if folder:
            state.lock = _hold(folder)
            state.owner = os.getpid() if is_owner else 0
            atexit.register(_remove)
    if before is not None:
        os.close(before)  # not sooner, or nobody might hold the folder for a moment


def folder_now() -> str:
    """Where copies lie; empty: none were made."""
    return str(_registry().folder)


def _make_folder(state: Any) -> None:
    temporary = tempfile.gettempdir()
    _sweep(temporary)
    name = os.urandom(8).hex()
    made = os.path.join(temporary, NEW_FOLDER + name)
    os.mkdir(made, 0o700)
    state.lock = _hold(made)
    # Under its name it is locked from the first moment on.
    state.folder = os.path.join(temporary, FOLDER + name)
    os.rename(made, state.folder)
    state.owner = os.getpid()
    atexit.register(_remove)


def _hold(folder: str) -> int:
    """Lock a folder for as long as this process, or a fork of it, lives."""
    lock = os.open(os.path.join(folder, LOCK), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    fcntl.flock(lock, fcntl.LOCK_SH)
    return lock


def _sweep(temporary: str) -> None:
    """Remove the folders of kernels that were killed."""
    for name in os.listdir(temporary):
        folder = os.path.join(temporary, name)
        if name.startswith(FOLDER):
            with contextlib.suppress(OSError):  # a kernel that ends removes its own meanwhile
                if os.lstat(folder).st_uid == os.getuid():
                    _remove_if_left(folder)


def _remove_if_left(folder: str) -> None:
    """Remove a folder that no process holds any more."""
    with contextlib.suppress(OSError):
        lock = os.open(os.path.join(folder, LOCK), os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(lock)


def leave() -> None:
    """In a fork that ends: remove the folder, where the kernel was killed and no other fork is."""
    state = _registry()
    if state.lock is not None:
        os.close(state.lock)
        _remove_if_left(state.folder)


def _remove() -> None:
    """When the kernel ends; its forks leave the folder alone."""
    state = _registry()
    if state.owner == os.getpid():
        shutil.rmtree(state.folder, ignore_errors=True)


# The journal.


def _read() -> list[dict[str, Any]]:
    if not folder_now():
        return []
    try:
        with open(os.path.join(folder_now(), JOURNAL), encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    except OSError:
        return []


def _write(lines: Sequence[dict[str, Any]]) -> None:
    text = "".join(json.dumps(line) + "\n" for line in lines)
    with open(os.path.join(folder_now(), JOURNAL), "a", encoding="utf-8") as file:
        file.write(text)


def _forget(choose: Callable[[list[int]], list[int]], needed: Iterable[str] = ()) -> None:
    """Drop the oldest runs, and the copies that nothing needs.

    Args:
        choose: Of the places where runs begin in the journal, those of the runs that go.
        needed: Copies that stay though the journal does not name them yet.
    """
    lines = _read()
    starts = [n for n, line in enumerate(lines) if "at" in line and not line["step"]]
    starts = [n for n in starts if "moved" not in lines[n]]
    gone = choose(starts)
    if gone:
        lines = lines[starts[len(gone)] :] if len(gone) < len(starts) else []
        journal = os.path.join(folder_now(), JOURNAL)
        with open(journal + ".new", "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        os.replace(journal + ".new", journal)
    left = {LOCK, JOURNAL, *needed, *(line.get("copy") for line in lines)}
    for name in os.listdir(folder_now()):
        if name not in left:
            os.unlink(os.path.join(folder_now(), name))


def _used_bytes() -> int:
    with os.scandir(folder_now()) as entries:
        return sum(entry.stat().st_size for entry in entries)


# A cell of the run.


def cell_begins(folder: str, files: Mapping[str, Any]) -> None:
    """From now on it is listened to what the cell does, where its run is watched.

    Args:
        folder: In which it works.
        files: Time and size of the files below it, by their paths there.
    """
    state = _registry()
    if state.run_id and state.cell is None and folder:
        with contextlib.suppress(OSError):
            cell = _WatchedCell(state, folder, files)
            cell.keep_unheard({k: v for k, v in files.items() if k.endswith(UNHEARD_ENDS)})
            state.cell = cell


def cell_ends(changes: Sequence[Mapping[str, Any]]) -> None:
    """Write down what the cell changed.

    Args:
        changes: What a comparison of the folder's listings shows: ``path`` and ``change`` of each.
    """
    state = _registry()
    cell, state.cell = state.cell, None
    if cell is not None and cell.process_id == os.getpid():
        with contextlib.suppress(OSError):
            cell.end(changes)


def hear(event: str, arguments: Sequence[Any]) -> None:
    """An audit event of ``HEARD``, just before it is done."""
    cell = _registry().cell
    if cell is not None:
        cell.hear(event, arguments)


class _FileBefore:
    """How a file was before the cell."""

    def __init__(self, path: str, why: str = "") -> None:
        self.was, self.inode = state_of(path), _inode_of(path)
        self.copy, self.why = "", why
        was = self.was
        self.is_fresh = bool(was) and time.time_ns() - was.get("mtime_ns", 0) < FRESH_NS

    def line(self, path: str, left: FileState) -> dict[str, Any]:
        """That of the journal, once the cell has left the file as it is now."""
        return _line(path, self.was, left, copy=self.copy, why=self.why, inode=self.inode)


class _WatchedCell:
    """The cell that runs, and the files it has named so far."""

    def __init__(self, state: Any, folder: str, files: Mapping[str, Any]) -> None:
        self.process_id = os.getpid()
        self._store = state.folder
        self._spare = state.spare
        """How a file was that did not change, and its copy."""
        self._root = os.path.realpath(folder)
        self._files = files
        self._began_ns = time.time_ns()
        self._entries: dict[str, _FileBefore] = {}
        self._copied = 0
        self._passed_over: dict[str, _FileBefore] = {}
        """Files that may be changed unheard and that were not copied."""
        self._is_program_expected = False
        self._seconds_left = CELL_SECONDS
        self._used_bytes = _used_bytes()
        self._busy: set[int] = set()
        """Threads in which we work: what they do now is not the cell's doing."""
        self._numbers: list[str] = []
        self._descriptors: Mapping[tuple[int, int], int] = {}
        self._real_folders: dict[str, str] = {}
        self._places: dict[str, str] = {}
        own = os.environ.get(NOTEBOOK_VARIABLE, "")
        self._own_notebook = os.path.realpath(own) if os.path.isabs(own) else ""
        system = [*SYSTEM_FOLDERS, tempfile.gettempdir(), sys.prefix, sys.base_prefix]
        system += [os.environ[name] for name in TOOL_FOLDERS if os.environ.get(name)]
        found = [os.path.realpath(path) for path in system]
        self._system = [path for path in found if not _is_below(self._root, path)]

    def hear(self, event: str, arguments: Sequence[Any]) -> None:
        thread = threading.get_ident()
        # A fork of this process has no cell of ours.
        if thread in self._busy or os.getpid() != self.process_id:
            return
        self._busy.add(thread)
        try:
            for path in self._paths(event, arguments):
                self._keep(path)
            if event in MOVING:
                self._keep_moved(*arguments[:4])
            if event in STARTING and not self._is_program_expected:
                self._is_program_expected = True
                self.keep_unheard(self._files)
        finally:
            self._busy.discard(thread)

    def _paths(self, event: str, arguments: Sequence[Any]) -> Iterator[str]:
        if event == "open":
            yield self._absolute(arguments[0], None, follows=True)
        for name, descriptor, follows in NAMED.get(event, ()):
            given = None
            if descriptor is not None and descriptor < len(arguments):
                given = arguments[descriptor]
            yield self._absolute(arguments[name], given, follows=follows)
        if event == "sqlite3.connect":
            for named in _names_of_database(arguments[0]):
                path = self._absolute(named, None, follows=True)
                yield from (path + end for end in SQLITE_FILES)

    def _keep_moved(
        self, source: Any, target: Any, source_folder: Any = None, target_folder: Any = None
    ) -> None:
        """Keep what is about to get another name, and note that nothing has that name yet."""
        old = self._absolute(source, source_folder, follows=False)
        new = self._absolute(target, target_folder, follows=False)
        is_wanted = bool(self._place_of(new))
        for path in (old, *(_below(old) if stat.S_ISDIR(_mode_of(old)) else ())):
            self._keep(path, is_moved=is_wanted)
            self._keep(new + path[len(old) :])

    def _absolute(self, named: Any, descriptor: Any, *, follows: bool) -> str:
        if isinstance(named, int):
            path = os.readlink(f"/proc/self/fd/{named}")
        else:
            path = os.fsdecode(named)
        if not os.path.isabs(path):
            is_given = isinstance(descriptor, int) and descriptor >= 0
            base = os.readlink(f"/proc/self/fd/{descriptor}") if is_given else os.getcwd()
            path = os.path.join(base, path)
        folder, name = os.path.split(path.rstrip(os.sep))
        if name in ("", ".", "..") or (follows and os.path.islink(path)):
            return os.path.realpath(path)
        if folder not in self._real_folders:
            self._real_folders[folder] = os.path.realpath(folder)
        return os.path.join(self._real_folders[folder], name)

    def _keep(self, path: str, *, is_moved: bool = False) -> None:
        """Copy a file, the first time that the cell names it.

        Args:
            path: Where it is.
            is_moved: It is about to be moved to where files are kept, and was perhaps there before.
        """
        if path in self._entries or len(self._entries) >= NAMED_LIMIT:
            return
        place = self._place_of(path)
        if not place and not is_moved:
            return
        entry = _FileBefore(path)
        was = entry.was
        if place != "below" and was is None:
            return
        if not place and not self._is_older(was):
            return
        self._entries[path] = entry
        if not place:
            entry.why = NOT_OURS
        elif was == UNKNOWN:
            entry.why = NO_FILE
        elif path in self._spare and self._spare[path][0] == was:
            entry.copy = self._spare.pop(path)[1]
        elif was is not None and "size" in was:
            entry.copy, entry.why = self._copy(path, was["size"])

    def _place_of(self, path: str) -> str:
        """Whether a file is ``below`` the working folder or ``elsewhere``; empty: not ours."""
        folder = os.path.dirname(path)
        place = self._places.get(folder)
        if place is None:
            place = self._places[folder] = self._place_of_folder(folder)
        return "" if path == self._own_notebook else place

    def _place_of_folder(self, folder: str) -> str:
        is_below = _is_below(folder, self._root)
        if any(_is_below(folder, path) for path in self._system):
            return ""
        inner = folder[len(self._root) :] if is_below else folder
        parts = inner.strip(os.sep).split(os.sep)
        if any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts):
            return ""
        looked = folder
        while looked not in (self._root, os.path.dirname(looked)):
            if os.path.exists(os.path.join(looked, RECORD)):
                return ""
            looked = os.path.dirname(looked)
        return "below" if is_below else "elsewhere"

    def _copy(self, path: str, size: int) -> tuple[str, str]:
        """Name of the copy, or why there is none."""
        if self._copied >= COUNT_LIMIT:
            return "", TOO_MANY
        if size > FILE_BYTES:
            return "", TOO_LARGE.format(limit=FILE_BYTES / 1e6)
        if not self._has_room(size):
            return "", NO_ROOM
        name, began = os.urandom(8).hex(), time.monotonic()
        try:
            until = began + self._seconds_left
            _copy_file(path, os.path.join(self._store, name), self._own_descriptors(), until)
        except TimeoutError:
            return "", TOO_SLOW
        except OSError as error:
            return "", f"it could not be copied: {error.strerror}"
        finally:
            self._seconds_left -= time.monotonic() - began
        self._used_bytes += size
        self._copied += 1
        return name, ""

    def _own_descriptors(self) -> Mapping[tuple[int, int], int]:
        # What is opened under a number that was free meanwhile has been named, and is not copied.
        numbers = os.listdir("/dev/fd")
        if numbers != self._numbers:
            self._numbers, self._descriptors = numbers, _own_descriptors()
        return self._descriptors

    def _has_room(self, size: int) -> bool:
        if self._used_bytes + size > TOTAL_BYTES:
            self._spare.clear()
            _forget(lambda starts: starts[:-1], [each.copy for each in self._entries.values()])
            self._used_bytes = _used_bytes()
        return self._used_bytes + size <= TOTAL_BYTES

    def keep_unheard(self, files: Mapping[str, Any]) -> None:
        """Copy files that may be changed by what is not heard, as far as it costs little.

        Args:
            files: Time and size of each, by their paths in the folder.
        """
        room, until = UNHEARD_BYTES, time.monotonic() + UNHEARD_SECONDS
        smallest_first = sorted(files.items(), key=lambda item: int(item[1][1]))
        for number, (name, (_, size)) in enumerate(smallest_first):
            path, why = os.path.join(self._root, name), ""
            if name.endswith(NOTEBOOK):
                why = OF_JUPYTER
            elif size > UNHEARD_FILE_BYTES:
                why = TOO_LARGE.format(limit=UNHEARD_FILE_BYTES / 1e6)
            elif number >= UNHEARD_COUNT or size > room or time.monotonic() > until:
                why = TOO_SLOW
            if why:
                self._passed_over[path] = _FileBefore(path, why)
            else:
                room -= size
                self._keep(path)

    def end(self, changes: Sequence[Mapping[str, Any]]) -> None:
        self._busy.add(threading.get_ident())
        lines = []
        for path, entry in self._entries.items():
            left = state_of(path)
            if left == entry.was and not (entry.is_fresh and _is_changed(path, entry.copy)):
                if entry.copy and not entry.is_fresh:
                    self._spare[path] = (entry.was, entry.copy)
                continue
            lines.append(entry.line(path, left))
        earlier = (*self._entries.values(), *self._passed_over.values())
        known = {_mark_of(before.was) for before in earlier}
        for path, change in self._unheard(changes).items():
            left, before = state_of(path), self._passed_over.get(path)
            if before is not None:
                line = before.line(path, left)
            elif change == "created" and not path.endswith(NOTEBOOK):
                is_doubtful = self._is_older(left) and _mark_of(left) not in known
                line = _line(path, None, left, why=MAY_BE_MOVED if is_doubtful else "")
            else:
                why = OF_JUPYTER if path.endswith(NOTEBOOK) else UNHEARD
                line = _line(path, UNKNOWN, left, why=why)
            lines.append(line)
        _write(lines)

    def _is_older(self, state: FileState) -> bool:
        """Whether a file was last written before the cell began."""
        written = (state or {}).get("mtime_ns")
        return written is not None and bool(written < self._began_ns - FRESH_NS)

    def _unheard(self, changes: Sequence[Mapping[str, Any]]) -> dict[str, str]:
        """What happened to files that nothing was heard of, by their paths."""
        found = {os.path.join(self._root, row["path"]): row["change"] for row in changes}
        # The listing that is compared may not reach as far as the one of a program's start.
        for path, before in self._passed_over.items():
            if path not in found and state_of(path) != before.was:
                found[path] = "modified"
        return {
            path: change
            for path, change in found.items()
            if path not in self._entries and self._place_of(path)
        }


def _line(path: str, was: FileState, left: FileState, **more: Any) -> dict[str, Any]:
    """A line of the journal; ``inode`` is that of what was there before."""
    return {"path": path, "was": was, "copy": "", "why": "", "inode": [], "left": left, **more}


def _mark_of(state: FileState) -> tuple[int, int] | None:
    """What a file keeps where a program moves it to another disk; None: it is no file."""
    return (state["size"], state["mtime_ns"]) if state and "size" in state else None


def _inode_of(path: str) -> list[int]:
    """Device and inode of what is there, if it is no folder: what a file keeps under a new name."""
    try:
        found = os.lstat(path)
    except OSError:
        return []
    return [] if stat.S_ISDIR(found.st_mode) else [found.st_dev, found.st_ino]


def _names_of_database(named: Any) -> tuple[str, ...]:
    """The files that ``sqlite3`` may open: it does not tell whether it takes a name for a URI."""
    name = os.fsdecode(named)
    if not name.startswith("file:"):
        return (name,)
    return name, name[len("file:") :].partition("?")[0]


def _is_below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _below(folder: str) -> Iterator[str]:
    for path, folders, files in os.walk(folder):
        for name in (*folders, *files):
            yield os.path.join(path, name)


def _mode_of(path: str) -> int:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def state_of(path: str) -> FileState:
    """What a file is now."""
    try:
        found = os.lstat(path)
        if stat.S_ISLNK(found.st_mode):
            return {"link": os.readlink(path)}
    except OSError:
        return None
    if stat.S_ISDIR(found.st_mode):
        return {"folder": True}
    if not stat.S_ISREG(found.st_mode):
        return UNKNOWN
    mode = stat.S_IMODE(found.st_mode)
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns, "mode": mode}


def _copy_file(
    path: str, target: str, own: Mapping[tuple[int, int], int], deadline: float | None = None
) -> None:
    """Copy a file to a new one.

    Args:
        path: The file.
        target: The new one.
        own: What ``_own_descriptors`` finds.
        deadline: Of ``time.monotonic``.

    Raises:
        TimeoutError: It takes too long.
        OSError: It cannot be done.
    """
    descriptor = os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    try:
        _fill(descriptor, path, own, deadline)
    except BaseException:
        os.unlink(target)
        raise
    finally:
        os.close(descriptor)


def _fill(
    target: int, path: str, own: Mapping[tuple[int, int], int], deadline: float | None
) -> None:
    with _reading(path, own) as source:
        if _registry().can_clone:
            try:
                fcntl.ioctl(target, CLONE, source)
                return
            except OSError:
                _registry().can_clone = False  # most file systems cannot; to ask costs time
        for data in _chunks(source):
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError
            rest = data
            while rest:
                rest = rest[os.write(target, rest) :]


def _is_changed(path: str, copy: str) -> bool:
    """Whether a file is not as its copy, which was as large and as old."""
    if not copy:
        return False
    own, kept_path = _own_descriptors(), os.path.join(folder_now(), copy)
    try:
        with _reading(path, own) as now, _reading(kept_path, own) as kept:
            return any(map(operator.ne, _chunks(now), _chunks(kept)))
    except OSError:
        return False


@contextlib.contextmanager
def _reading(path: str, own_ones: Mapping[tuple[int, int], int]) -> Iterator[int]:
    """A descriptor of a file; one that this process has already, where it has one.

    To close any of them would release the locks that the process has on the file, SQLite's too.
    """
    state = os.stat(path)
    own = own_ones.get((state.st_dev, state.st_ino))
    if own is not None:
        try:
            own = own if os.path.samestat(state, os.fstat(own)) else None
        except OSError:
            own = None  # it was closed meanwhile
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if own is None else own
    try:
        yield descriptor
    finally:
        if own is None:
            os.close(descriptor)


def _chunks(descriptor: int) -> Iterator[bytes]:
    offset = 0
    while True:
        data = os.pread(descriptor, CHUNK_BYTES, offset)
        if not data:
            return
        yield data
        offset += len(data)


def _own_descriptors() -> dict[tuple[int, int], int]:
    """Device and inode of each file that this process can read already, and how."""
    found = {}
    for number in map(int, os.listdir("/dev/fd")):
        with contextlib.suppress(OSError):
            if fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_WRONLY:
                state = os.fstat(number)
                found[state.st_dev, state.st_ino] = number
    return found


# Back, and forth.


def describe_files(run_id: str = "", step: int = 0) -> dict[str, Any]:
    """Which files ``put_back`` would put back, and which not.

    Args:
        run_id: As they were before this run; empty: as before the last time they were put back.
        step: Before which of the run's cells, from 2 on; 0: before the run.

    Returns:
        ``run_id`` and ``step``: of the run that it is about, also where it is put forth;
        ``back``: ``path`` and ``was`` of each file (``changed``, ``deleted`` or ``made`` since);
        ``stays``: ``path`` of each other file that changed, and ``why`` it is not put back.
    """
    mark, lines = _find_mark(run_id, step)
    items = list(_plan(lines))
    _link_moved(items)
    return _describe(mark, items)


def put_back(run_id: str = "", step: int = 0) -> dict[str, Any]:
    """Put files back; to what, and what is returned, is as for ``describe_files``.

    What they hold now is kept: to put back once more, with no run, puts that forth again.
    """
    mark, happened = _find_mark(run_id, step)
    items = list(_plan(happened))
    lines: list[dict[str, Any]] = [{**mark, "moved": "back" if run_id else "forth"}]
    try:
        for item in _link_moved(items):
            _try_to_restore(item, lines)
        _hold_back(items)  # some may not have gone well
        gone = [item for item in items if item["was"] is None]
        for item in (*reversed(gone), *(item for item in items if item["was"] is not None)):
            if not item["why"] and "source" not in item:
                _try_to_restore(item, lines)
    finally:
        if len(lines) > 1:
            _write(lines)
    return _describe(mark, items)


def _describe(mark: Mapping[str, Any], items: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "run_id": mark["at"],
        "step": mark["step"],
        "back": [_told(item, is_back=True) for item in items if _is_named(item)],
        "stays": [_told(item, is_back=False) for item in items if item["why"]],
    }


def _is_named(item: dict[str, Any]) -> bool:
    is_folder = "folder" in (item["was"] or item["left"] or ())
    return not item["why"] and not is_folder


def _told(item: dict[str, Any], *, is_back: bool) -> dict[str, Any]:
    shown = path = item["path"]
    with contextlib.suppress(OSError):  # where the folder was deleted
        root = os.path.realpath(os.getcwd())
        shown = os.path.relpath(path, root) if _is_below(path, root) else path
    if not is_back:
        return {"path": shown, "why": item["why"]}
    is_made, is_deleted = item["was"] is None, item["left"] is None
    return {"path": shown, "was": "made" if is_made else "deleted" if is_deleted else "changed"}


def _plan(lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """How each file was before these lines, how it was left, and why it cannot be put back.

    They come by path; what is as it was is left out.
    """
    items: dict[str, dict[str, Any]] = {}
    for line in lines:
        item = items.setdefault(line["path"], line)
        if item is not line:
            if line["was"] not in (item["left"], UNKNOWN):
                item["why"] = item["why"] or CHANGED_SINCE
            item["left"] = line["left"]
    for path, item in sorted(items.items()):
        now, was = state_of(path), item["was"]
        if now == was and not _is_changed(path, item["copy"]):
            continue
        copy = os.path.join(folder_now(), item["copy"])
        if now != item["left"]:
            item["why"] = item["why"] or CHANGED_SINCE
        elif item["copy"] and not os.path.exists(copy):
            item["why"] = COPY_IS_GONE
        elif now is not None and now.get("size", 0) > BACK_BYTES:
            item["why"] = item["why"] or TOO_LARGE.format(limit=BACK_BYTES / 1e6)
        yield item


def _link_moved(items: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Find the files that have other names now; in the order to rename them back.

    Whatever may be another file that cannot be put back stays: it gets a reason.
    """
    here: dict[tuple[int, ...], list[dict[str, Any]]] = {}
    for item in items:
        if inode := _inode_of(item["path"]):
            here.setdefault(tuple(inode), []).append(item)
    moved = []
    for item in items:
        if item["why"] in (CHANGED_SINCE, OF_JUPYTER) or not item["inode"]:
            continue
        found = here.get(tuple(item["inode"]), [])
        same = [other for other in found if _is_whole(other["path"], item)]
        if same and same[0] is not item and state_of(item["path"]) == item["left"]:
            found.remove(same[0])
            item["source"], item["unlinked_why"], item["why"] = same[0], item["why"], ""
            moved.append(item)
    ordered: list[dict[str, Any]] = []
    while moved:
        # None takes a place from which another one has still to be renamed.
        needed = {item["source"]["path"] for item in moved}
        free = [item for item in moved if item["path"] not in needed]
        for item in free or moved:
            if free:
                ordered.append(item)
                if item["source"]["was"] is None:
                    item["source"]["why"] = ""
            else:  # they have changed places
                item["why"] = item.pop("unlinked_why")
                del item["source"]
        moved = [item for item in moved if item["path"] in needed] if free else []
    _hold_back(items)
    return ordered


def _is_whole(path: str, item: Mapping[str, Any]) -> bool:
    """Whether a file at ``path`` is as the one of the item was."""
    return state_of(path) == item["was"] and not _is_changed(path, item["copy"])


def _hold_back(items: Sequence[dict[str, Any]]) -> None:
    """Let stay what may hold what another file held that cannot be put back."""
    lost = [item for item in items if item["why"] and (item["inode"] or _mark_of(item["was"]))]
    elsewhere = [item for item in lost if _inode_of(item["path"]) != item["inode"]]
    by_inode = {tuple(item["inode"]): item for item in elsewhere if item["inode"]}
    by_mark = {mark: item for item in lost if (mark := _mark_of(item["was"]))}
    for item in items:
        inode, mark = tuple(_inode_of(item["path"])), _mark_of(item["left"])
        found = by_inode.get(inode) or (by_mark.get(mark) if mark else None)
        if found is not None and found is not item and not item["why"]:
            item["why"] = HOLDS.format(name=os.path.basename(found["path"]))


def _find_mark(run_id: str, step: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A place in the journal, and what happened to files since."""
    lines = _read()
    marks = [n for n, line in enumerate(lines) if "at" in line]
    if run_id:
        marks = [n for n in marks if "moved" not in lines[n]]
        marks = [n for n in marks if (lines[n]["at"], lines[n]["step"]) == (run_id, step)]
    elif marks and lines[marks[-1]].get("moved") != "back":
        marks = []  # something was done since
    if not marks:
        return {"at": run_id, "step": step}, []
    return lines[marks[-1]], [line for line in lines[marks[-1] :] if "path" in line]


def _try_to_restore(item: dict[str, Any], lines: list[dict[str, Any]]) -> None:
    try:
        lines += _restore(item)
    except OSError as error:
        item["why"] = error.strerror or str(error)


def _restore(item: dict[str, Any]) -> list[dict[str, Any]]:
    """Make a file what it was; the lines for the journal.

    Raises:
        OSError: It cannot be done.
    """
    path, was = item["path"], item["was"]
    now, inode, kept = state_of(path), _inode_of(path), ""
    if now is None and was is None:
        return []  # it was renamed back
    if now is not None and "size" in now:
        kept = os.urandom(8).hex()
        _copy_file(path, os.path.join(folder_now(), kept), _own_descriptors())
    is_same_kind = was is not None and now is not None and set(was) == set(now)
    if now is not None and not is_same_kind:
        _delete(path, now)
    lines = []
    if was is not None:
        folder = os.path.dirname(path)
        while not os.path.isdir(folder):
            lines.append(_line(folder, None, {"folder": True}))
            folder = os.path.dirname(folder)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if "source" in item:
            source = item["source"]["path"]
            os.rename(source, path)
            lines.append(_line(source, was, None, why=MOVED, inode=item["inode"]))
        elif "link" in was:
            if is_same_kind:
                os.unlink(path)
            os.symlink(was["link"], path)
        elif "folder" in was:
            os.makedirs(path, exist_ok=True)
        else:
            _write_file(path, was, os.path.join(folder_now(), item["copy"]))
    return [*lines, _line(path, now, state_of(path), copy=kept, inode=inode)]


def _delete(path: str, now: FileState) -> None:
    if "folder" not in now:
        os.unlink(path)
        return
    if os.listdir(path):
        raise OSError(0, NOT_EMPTY)
    os.rmdir(path)


def _write_file(path: str, was: FileState, copy: str) -> None:
    """Write into the file that is there: whoever has it open, and its links, see it."""
    with contextlib.suppress(OSError):
        os.chmod(path, was["mode"] | stat.S_IWUSR)
    descriptor = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        _fill(descriptor, copy, {}, None)
        os.fchmod(descriptor, was["mode"])
    finally:
        os.close(descriptor)
    os.utime(path, ns=(time.time_ns(), was["mtime_ns"]))
