"""Where results of benchmarks lie below the server's root folder, and nothing outside of it.

A link is not followed, wherever it leads; what is hidden, or no ordinary file, is not there.
"""

from __future__ import annotations

import os
import stat
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from cellwright.errors import SetupError

RUNS, ERRORS, OVERALL = "runs.jsonl", "error.jsonl", "overall.json"
DEPTH = 4
"""Results lie at FOLDER/RUN/AGENT/TASK at the deepest."""
LOOKED_INTO = 3_000
"""Folders that are looked into for one list."""
LISTED = 500
GOING_SECONDS = 120.0
"""A benchmark that has written nothing for so long, and no sum, was interrupted."""
NO_LINK = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)


class NotThereError(SetupError):
    """There is no such result, or no such sample in it."""


@dataclass(frozen=True)
class ResultPlace:
    """The results of one agent at one task."""

    path: str
    """Below the root, with slashes."""
    agent: str
    """The folder's name, which may differ a little from the agent's own."""
    suite: str
    size_bytes: int
    modified_at: float
    """When something was written last, in seconds since the epoch."""
    state: str
    """``done``, ``going`` or ``unfinished``."""
    version: str
    """Another one when anything of it changed."""


@dataclass(frozen=True)
class FoundResults:
    """What lies below a folder."""

    places: tuple[ResultPlace, ...]
    is_cut: bool
    """Whether there may be more."""


class ResultPlaces:
    """The results below a root.

    Args:
        root: The server's root folder; None: its contents are no files.
    """

    def __init__(self, root: Path | None) -> None:
        self._root = root

    def find(self, folder: str) -> FoundResults:
        """The results below a folder, those written last first; none where there is no folder.

        Raises:
            SetupError: The folder is not below the root.
        """
        if self._root is None:
            return FoundResults((), is_cut=False)
        walk = _Walk(self._root, self._parts(folder))
        places = sorted(walk.places(), key=lambda place: (-place.modified_at, place.path))
        return FoundResults(tuple(places), walk.is_cut)

    def get(self, path: str) -> ResultPlace:
        """The results of that path.

        Raises:
            NotThereError: There are none.
            SetupError: The path does not lead below the root.
        """
        parts = self._parts(path)
        found = None
        if self._root is not None and parts and _is_plain_folder(self._root, parts):
            found = _place(self._root, parts)
        if found is None:
            raise NotThereError(
                f"There are no results in {path!r}.",
                hint="See the list of results; they may have been moved.",
            )
        return found

    def open(self, place: ResultPlace, name: str) -> BinaryIO | None:
        """One of the files, for reading; None: it is not there, or is no ordinary file."""
        parts = self._parts(place.path)
        if self._root is None or not _is_plain_folder(self._root, parts):
            return None
        return _opened(self._root.joinpath(*parts, name))

    @staticmethod
    def _parts(path: str) -> tuple[str, ...]:
        parts = tuple(part for part in path.split("/") if part)
        bad = [part for part in parts if part.startswith(".") or set(part) & set("\\:\0")]
        if bad or path.startswith("/") or len(path) > 1_000:
            raise SetupError(
                f"{path!r} is no folder below the server's root.",
                hint="Give a path such as 'runs', with slashes, and without '..'.",
            )
        return parts


class _Walk:
    """Looks for results, folder by folder, the nearest first."""

    def __init__(self, root: Path, start: tuple[str, ...]) -> None:
        self._root = root
        self._waiting = deque([start] if _is_plain_folder(root, start) else [])
        self._deepest = len(start) + DEPTH
        self._looked = 0
        self._found = 0

    @property
    def is_cut(self) -> bool:
        """Whether it stopped before the end."""
        return bool(self._waiting)

    def places(self) -> Iterator[ResultPlace]:
        """What it finds."""
        while self._waiting and self._looked < LOOKED_INTO and self._found < LISTED:
            parts = self._waiting.popleft()
            self._looked += 1
            place = _place(self._root, parts) if parts else None
            if place is not None:
                self._found += 1
                yield place
            elif len(parts) < self._deepest:
                self._waiting += [(*parts, name) for name in self._folders(parts)]

    def _folders(self, parts: tuple[str, ...]) -> list[str]:
        names = []
        with suppress(OSError), os.scandir(self._root.joinpath(*parts)) as entries:
            for entry in entries:
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
        # Runs are named by their time: where not all are looked into, the newest are.
        return sorted(names, reverse=True)


def _place(root: Path, parts: tuple[str, ...]) -> ResultPlace | None:
    folder = root.joinpath(*parts)
    runs, errors = _stat(folder / RUNS), _stat(folder / ERRORS)
    overall = _stat(folder / OVERALL)
    written = [found for found in (runs, errors) if found is not None]
    if not written:
        return None
    modified_at = max(found.st_mtime for found in written)
    state = "unfinished"
    if overall is not None and overall.st_mtime >= modified_at:
        state = "done"
    elif time.time() - modified_at < GOING_SECONDS:
        state = "going"
    return ResultPlace(
        path="/".join(parts),
        agent=parts[-2] if len(parts) > 1 else "",
        suite=parts[-1],
        size_bytes=runs.st_size if runs is not None else 0,
        modified_at=modified_at,
        state=state,
        version="-".join(
            f"{found.st_ino:x}.{found.st_size:x}.{found.st_mtime_ns:x}" if found else "0"
            for found in (runs, errors)
        ),
    )


def _stat(path: Path) -> os.stat_result | None:
    with suppress(OSError):
        found = path.lstat()
        if stat.S_ISREG(found.st_mode):
            return found
    return None


def _is_plain_folder(root: Path, parts: tuple[str, ...]) -> bool:
    """Whether every part of the way is a folder itself, and no link to one."""
    path = root
    for part in parts:
        path = path / part
        try:
            if not stat.S_ISDIR(path.lstat().st_mode):
                return False
        except OSError:
            return False
    return path.is_dir()


def _opened(path: Path) -> BinaryIO | None:
    try:
        # A pipe of that name would let the thread wait for ever; a link may lead anywhere.
        descriptor = os.open(path, os.O_RDONLY | NO_LINK | BINARY)
    except OSError:
        return None
    file = os.fdopen(descriptor, "rb")
    if _stat(path) is None or not stat.S_ISREG(os.fstat(descriptor).st_mode):
        file.close()
        return None
    return file
