"""Results of benchmarks as the page asks for them; what was read once is not read again."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from cellwright.bench.shared_values import SHARED_FILE
from cellwright.exports.sample import SampleRecord
from cellwright.record.values import to_dict
from cellwright.server.result_index import (
    Entry,
    ResultIndex,
    failures_in,
    record_at,
    with_shared,
)
from cellwright.server.result_numbers import comparison_of, numbers_of
from cellwright.server.result_places import (
    ERRORS,
    RUNS,
    NotThereError,
    ResultPlace,
    ResultPlaces,
)
from cellwright.server.sorting import Columns, natural, ordered

RESULTS_KEPT = 64
SAMPLES_KEPT = 300_000
COMPARISONS_KEPT = 8
KINDS = ("failed", "unscored", "passed")
FAILURES_SHOWN = 50
PAGE_LIMIT = 200
COLUMNS: Columns[Entry] = {
    "sample": lambda entry: natural(str(entry.outcome.index)),
    "outcome": lambda entry: KINDS.index(_kind(entry)),
    "status": lambda entry: entry.outcome.status,
    "why": lambda entry: entry.outcome.why.casefold() or None,
    "seconds": lambda entry: entry.outcome.seconds,
    "tokens": lambda entry: entry.tokens,
    "cost": lambda entry: entry.outcome.cost_dollars,
}


@dataclass(frozen=True)
class SampleFilter:
    """Which samples of a result, and which page of them."""

    status: str = ""
    outcome: str = ""
    """``passed``, ``failed`` or ``unscored``."""
    group: str = ""
    text: str = ""
    """Words, each of which is in the id, group, family, question or reason."""
    sort: str = ""
    """A column, with ``-`` before it the other way round; empty: as they were run."""
    start: int = 0
    count: int = 100


@dataclass
class _Result:
    """What was read of a result."""

    index: ResultIndex = field(default_factory=ResultIndex)
    failures: list[dict[str, Any]] = field(default_factory=list)
    version: str = ""
    numbers: dict[str, Any] | None = None


class ResultShelf:
    """The results below a root; safe to use from any thread.

    Args:
        places: Where they lie.
    """

    def __init__(self, places: ResultPlaces) -> None:
        self._places = places
        self._lock = threading.Lock()
        self._results: OrderedDict[str, _Result] = OrderedDict()
        self._comparisons: OrderedDict[tuple[str, ...], dict[str, Any]] = OrderedDict()

    def list(self, folder: str, since: str = "") -> dict[str, Any]:
        """The results below a folder; None in their place when nothing changed ``since``."""
        found = self._places.find(folder)
        listed = [to_dict(place) for place in found.places]
        version = hashlib.sha256(repr(listed).encode()).hexdigest()[:16]
        return {
            "version": version,
            "results": None if since == version else listed,
            "is_cut": found.is_cut,
        }

    def numbers(self, path: str) -> dict[str, Any]:
        """What a result comes to."""
        place = self._places.get(path)
        result = self._read(place)
        with result.index.lock:
            if result.numbers is None:
                result.numbers = _numbers(place, result)
            return {**result.numbers, "version": result.version}

    def page(self, path: str, wanted: SampleFilter) -> dict[str, Any]:
        """Some samples of a result, sorted by a column or in the order in which they were run."""
        result = self._read(self._places.get(path))
        entries = self._entries(result)
        words = wanted.text.casefold().split()
        fitting = [entry for entry in entries if _fits(entry, wanted, words)]
        fitting = ordered(fitting, wanted.sort, COLUMNS)
        start = max(0, wanted.start)
        end = start + max(1, min(wanted.count, PAGE_LIMIT))
        return {
            "version": result.version,
            "samples": [_row(entry) for entry in fitting[start:end]],
            "next": end if end < len(fitting) else None,
            "fitting": len(fitting),
            "total": len(entries),
            "statuses": sorted({entry.outcome.status for entry in entries}),
            "groups": sorted({entry.outcome.group for entry in entries if entry.outcome.group}),
        }

    def sample(self, path: str, sample_id: str) -> SampleRecord:
        """The whole of a sample.

        Raises:
            NotThereError: There is none.
        """
        place = self._places.get(path)
        result = self._read(place)
        with result.index.lock:
            entry = result.index.entries.get(sample_id)
            with self._opened(place, RUNS) as file:
                if entry is None or file is None:
                    raise NotThereError(f"There is no sample {sample_id!r} in {path!r}.")
                record = record_at(file, entry)
        with self._opened(place, SHARED_FILE) as shared:
            return with_shared(record, shared)

    def compare(self, first: str, second: str, start: int, count: int) -> dict[str, Any]:
        """The second result against the first, and some of the samples that both have."""
        results = [self._read(self._places.get(path)) for path in (first, second)]
        key = (first, second, *(result.version for result in results))
        with self._lock:
            whole = self._comparisons.get(key)
        if whole is None:
            whole = _compared(*(self._entries(result) for result in results))
            with self._lock:
                self._comparisons[key] = whole
                while len(self._comparisons) > COMPARISONS_KEPT:
                    self._comparisons.popitem(last=False)
        end = max(0, start) + max(1, min(count, PAGE_LIMIT))
        rows = whole["rows"]
        following = end if end < len(rows) else None
        return {**whole, "rows": rows[max(0, start) : end], "next": following}

    def _read(self, place: ResultPlace) -> _Result:
        """The result as it is now."""
        with self._lock:
            result = self._results.setdefault(place.path, _Result())
            self._results.move_to_end(place.path)
            self._forget()
        with result.index.lock:
            if result.version == place.version:
                return result
            with self._opened(place, RUNS) as runs:
                result.index.refresh(runs)
            with self._opened(place, ERRORS) as errors:
                result.failures = failures_in(errors, result.index.entries)
            result.version, result.numbers = place.version, None
        return result

    @staticmethod
    def _entries(result: _Result) -> Sequence[Entry]:
        with result.index.lock:
            return tuple(result.index.entries.values())

    @contextmanager
    def _opened(self, place: ResultPlace, name: str) -> Iterator[BinaryIO | None]:
        file = self._places.open(place, name)
        try:
            yield file
        finally:
            if file is not None:
                file.close()

    def _forget(self) -> None:
        """Let go of what was not looked at for longest."""
        samples = sum(len(result.index.entries) for result in self._results.values())
        while len(self._results) > 1 and (
            len(self._results) > RESULTS_KEPT or samples > SAMPLES_KEPT
        ):
            _, gone = self._results.popitem(last=False)
            samples -= len(gone.index.entries)


def _compared(first: Sequence[Entry], second: Sequence[Entry]) -> dict[str, Any]:
    sides = {"first": first, "second": second}
    whole = comparison_of(*([entry.outcome for entry in side] for side in sides.values()))
    for name, side in sides.items():
        ids = {(str(entry.outcome.index), entry.outcome.epoch): entry.id for entry in side}
        for row in whole["rows"]:
            row[name]["id"] = ids[row["index"], row[name]["epoch"]]
    return whole


def _numbers(place: ResultPlace, result: _Result) -> dict[str, Any]:
    entries = list(result.index.entries.values())
    agents: Sequence[str] = [entry.agent for entry in entries if entry.agent] or [place.agent]
    models = sorted({entry.model for entry in entries if entry.model})
    found = numbers_of(
        [entry.outcome for entry in entries], agents[0], place.suite, result.failures
    )
    return {
        **found,
        "models": models[:5],
        "tokens": sum(entry.tokens for entry in entries),
        "retries": sum(entry.retries for entry in entries),
        "not_run": result.failures[:FAILURES_SHOWN],
        "unreadable": result.index.unreadable,
    }


def _fits(entry: Entry, wanted: SampleFilter, words: Sequence[str]) -> bool:
    outcome = entry.outcome
    if wanted.outcome not in ("", _kind(entry)) or wanted.group not in ("", outcome.group):
        return False
    if wanted.status not in ("", outcome.status):
        return False
    if not words:
        return True
    parts = (str(outcome.index), outcome.group, outcome.family, entry.input, outcome.why)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)


def _kind(entry: Entry) -> str:
    outcome = entry.outcome
    return "passed" if outcome.passed else "failed" if outcome.is_scored else "unscored"


def _row(entry: Entry) -> dict[str, Any]:
    outcome = to_dict(entry.outcome)
    return {
        **outcome,
        "index": str(outcome["index"]),
        "id": entry.id,
        "input": entry.input,
        "tokens": entry.tokens,
        "retries": entry.retries,
    }
