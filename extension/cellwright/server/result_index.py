"""The samples of one result: where each one's line is, and what lists and sums need of it.

A file that has grown is read on from where it ended; a file that was written anew is read anew.
"""

from __future__ import annotations

import json
import math
import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, BinaryIO

from cellwright.bench.shared_values import values_in
from cellwright.bench.summary import Outcome, outcome_of
from cellwright.errors import SetupError
from cellwright.exports.agentbench import stored_in
from cellwright.exports.sample import SampleRecord
from cellwright.exports.sample_packing import resolved

LINE_LIMIT_BYTES = 32 * 1024 * 1024
FILE_LIMIT_BYTES = 2 * 1024 * 1024 * 1024
SHARED_LIMIT_BYTES = 64 * 1024 * 1024
INPUT_CHARACTERS = 200
FAILURES_LIMIT = 20_000


@dataclass(frozen=True)
class Entry:
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
        self.entries: dict[str, Entry] = {}
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


def record_at(file: BinaryIO, entry: Entry) -> SampleRecord:
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


def with_shared(record: SampleRecord, file: BinaryIO | None) -> SampleRecord:
    """A sample with what it shares with others in its place; what is missing stays empty.

    Args:
        record: The sample as it is stored.
        file: What the samples share; None: there is none.
    """
    values = values_in(_first(file, SHARED_LIMIT_BYTES)) if file is not None else {}
    return resolved(record, lambda name: values.get(name, {}))


def _first(file: BinaryIO, limit: int) -> Iterator[bytes]:
    """The lines of a file up to so many bytes."""
    while limit > 0 and (line := file.readline(limit)):
        limit -= len(line)
        yield line


def failures_in(file: BinaryIO | None, entries: Mapping[str, Entry]) -> list[dict[str, Any]]:
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


def _entry(record: SampleRecord, offset: int, size_bytes: int) -> Entry:
    usage = record.usage
    tokens = [usage.get(name, 0) for name in ("prompt_tokens", "completion_tokens")]
    return Entry(
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
