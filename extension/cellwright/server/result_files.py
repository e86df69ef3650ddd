"""Results of benchmarks as files: where they lie below the server's root, what each line holds.

A link is not followed, wherever it leads; what is hidden, or no ordinary file, is not there.
"""

from __future__ import annotations

import json
import math
import os
import stat
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal

from cellwright.bench.results import values_in
from cellwright.bench.summary import Outcome, outcome_of
from cellwright.errors import SetupError
from cellwright.exports.agentbench import stored_in
from cellwright.exports.sample import SampleRecord, resolved

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
    state: Literal["done", "going", "unfinished"]
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
        walk = _FolderWalk(self._root, self._parts(folder))
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


class _FolderWalk:
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
    state: Literal["done", "going", "unfinished"] = "unfinished"
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


# The samples of one result: where each one's line is, and what lists and sums need of it.
#
# A file that has grown is read on from where it ended; a file that was written anew is read anew.


LINE_LIMIT_BYTES = 32 * 1024 * 1024
FILE_LIMIT_BYTES = 2 * 1024 * 1024 * 1024
SHARED_LIMIT_BYTES = 64 * 1024 * 1024
INPUT_CHARACTERS = 200
FAILURES_LIMIT = 20_000


@dataclass(frozen=True)
class SampleEntry:
    """Of a sample what lists show, and where the rest of it is."""

    id: str
    offset: int
    size_bytes: int
    input: str
    """The start of what was asked."""
    agent: str
    model: str
    tokens: int
    retries: int
    outcome: Outcome


class ResultIndex:
    """The samples of a file, kept up to date by reading what is new; for use by one thread."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        """Held by whoever refreshes or looks."""
        self.entries: dict[str, SampleEntry] = {}
        """In the order of the file; of a sample that is there twice the last one, at its place."""
        self.unreadable = 0
        """Lines that are no samples."""
        self._identity: tuple[int, int] = (0, 0)
        self._read_to = 0

    def refresh(self, file: BinaryIO | None) -> None:
        """Read what is new.

        Args:
            file: The file as it is now; None: there is none.

        Raises:
            SetupError: It is too large to be looked at here.
        """
        if file is None:
            self._begin((0, 0))
            return
        found = os.fstat(file.fileno())
        if found.st_size > FILE_LIMIT_BYTES:
            raise SetupError(
                f"The results are {found.st_size // 1_000_000} MB large.",
                hint="The page shows up to 2 GB; read them with `cellwright bench` instead.",
            )
        identity = (found.st_dev, found.st_ino)
        if identity != self._identity or found.st_size < self._read_to:
            self._begin(identity)
        file.seek(self._read_to)
        for line in _lines(file):
            self._take(line)

    def _begin(self, identity: tuple[int, int]) -> None:
        self.entries, self.unreadable = {}, 0
        self._identity, self._read_to = identity, 0

    def _take(self, line: bytes) -> None:
        offset, self._read_to = self._read_to, self._read_to + len(line)
        if not line.strip():
            return
        record = _record(line)
        if record is None:
            self.unreadable += 1
        else:
            entry = _entry(record, offset, len(line))
            self.entries[entry.id] = entry


def record_at(file: BinaryIO, entry: SampleEntry) -> SampleRecord:
    """A sample as it is stored.

    Raises:
        SetupError: It is no longer there.
    """
    file.seek(entry.offset)
    record = _record(file.read(entry.size_bytes))
    if record is None or str(record.id) != entry.id:
        raise SetupError(
            f"The sample {entry.id!r} is no longer where it was.", hint="Look at the list again."
        )
    return record


def shared_in(file: BinaryIO | None) -> dict[str, Any]:
    """What the samples of a place share, by name; no file: nothing."""
    return values_in(_first(file, SHARED_LIMIT_BYTES)) if file is not None else {}


def with_shared(record: SampleRecord, shared: Mapping[str, Any]) -> SampleRecord:
    """A sample with what it shares with others in its place; what is missing stays empty."""
    return resolved(record, lambda name: shared.get(name, {}))


def _first(file: BinaryIO, limit: int) -> Iterator[bytes]:
    """The lines of a file up to so many bytes."""
    while limit > 0 and (line := file.readline(limit)):
        limit -= len(line)
        yield line


def failures_in(file: BinaryIO | None, entries: Mapping[str, SampleEntry]) -> list[dict[str, Any]]:
    """Samples that could not be run, and were not run later; the last word on each."""
    ran = {(repr(e.outcome.index), e.outcome.epoch) for e in entries.values()}
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for line in _lines(file) if file is not None else ():
        value = _object(line)
        ours = value.get("cellwright")
        epoch = ours.get("epoch", 1) if isinstance(ours, dict) else 1
        key = (repr(value.get("index")), epoch if isinstance(epoch, int) else 1)
        if value and key not in ran and len(found) < FAILURES_LIMIT:
            found[key] = {
                "index": str(value.get("index")),
                "epoch": key[1],
                "error": str(value.get("error"))[:100],
                "info": str(value.get("info"))[:500],
            }
    return list(found.values())


def _lines(file: BinaryIO) -> Iterator[bytes]:
    """Whole lines; the last one only when it has its end. Of a line that is too long, pieces."""
    while line := file.readline(LINE_LIMIT_BYTES):
        if not line.endswith(b"\n") and len(line) < LINE_LIMIT_BYTES:
            return
        yield line


def _object(line: bytes) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _record(line: bytes) -> SampleRecord | None:
    """The sample of a line, as it is stored; None: it is none of ours."""
    try:
        return SampleRecord.from_dict(stored_in(_object(line)))
    except (SetupError, ValueError, TypeError, AttributeError):
        return None


def _entry(record: SampleRecord, offset: int, size_bytes: int) -> SampleEntry:
    usage = record.usage
    tokens = [usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
    return SampleEntry(
        id=str(record.id),
        offset=offset,
        size_bytes=size_bytes,
        input=str(record.input)[:INPUT_CHARACTERS],
        agent=str(record.agent),
        model=str(record.model.get("model", "")),
        tokens=sum(count for count in tokens if isinstance(count, int)),
        retries=_whole(record.retries, 0),
        outcome=_plain(outcome_of(record)),
    )


def _plain(outcome: Outcome) -> Outcome:
    """An outcome of the types it should have: whatever may write a file there writes a record."""
    return replace(
        outcome,
        index=outcome.index if isinstance(outcome.index, int) else str(outcome.index),
        epoch=_whole(outcome.epoch, 1),
        group=str(outcome.group),
        family=str(outcome.family),
        status=str(outcome.status),
        passed=bool(outcome.passed),
        why=str(outcome.why),
        cost_dollars=_finite(outcome.cost_dollars),
        seconds=_finite(outcome.seconds) or 0.0,
    )


def _whole(number: Any, otherwise: int) -> int:
    return number if isinstance(number, int) else otherwise


def _finite(number: Any) -> float | None:
    """A number that can be summed up and sent; None: it is none."""
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return float(number) if is_number and math.isfinite(number) else None
