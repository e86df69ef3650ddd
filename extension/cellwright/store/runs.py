"""Runs: their events, written one transaction at a time and read back as records."""

from __future__ import annotations

import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from cellwright.errors import SetupError, StoreError
from cellwright.record.events import Event, ModelSilent, Notice, RunFinished
from cellwright.record.run_record import RecordedEvent, RunRecord, fold
from cellwright.store.blobs import BlobFolder
from cellwright.store.database import Database, Read, Statement, open_database
from cellwright.store.file_uses import file_use_statements
from cellwright.store.ids import find_id
from cellwright.store.owners import this_process
from cellwright.store.part_table import forgetting, keeping, loaded
from cellwright.store.parts import has_parts
from cellwright.store.rows import EventRow, event_of, row_of
from cellwright.store.run_copies import copy_rows, copy_run
from cellwright.store.run_summaries import (
    INCOMPLETE_CAUSE,
    INTERRUPTED_REASON,
    RUN_COLUMNS,
    RunSummary,
    incomplete,
    incomplete_reason,
    mentions,
    run_row,
    summary_of_row,
    summed,
)
from cellwright.store.usage_ledger import UsageLedger

INSERT_EVENT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?)"
INSERT_BLOB_USE = "INSERT OR IGNORE INTO blob_uses VALUES (?, ?)"
INSERT_RUN = f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(RUN_COLUMNS))})"
SELECT_RUNS = f"SELECT {', '.join(RUN_COLUMNS)} FROM runs"
SELECT_SEQUENCES = "SELECT sequence FROM events WHERE run_id = ?"
END_PATIENCE_SECONDS = 5.0
"""How long the end of a run waits for another process's lock before it tells of it."""


@dataclass(frozen=True)
class RunStorage:
    """Where the events of a run are; what is in memory alone goes with the process."""

    run_id: str
    on_disk: int
    in_memory: int
    """Not on disk, but in the memory of this process."""
    missing: int = 0
    """In neither."""
    missing_texts: int = 0
    """Large texts of events on disk that have lost their files."""
    reason: str = ""
    """Why not all are on disk, as the end of a sentence that begins with ``the record``."""

    @property
    def problem(self) -> str:
        """What is not on disk, in words; empty: all is."""
        found = []
        total = self.on_disk + self.in_memory + self.missing
        if self.in_memory:
            what = "It" if not self.on_disk else f"{self.in_memory} of its {total} events"
            verb = "is" if not self.on_disk else "are"
            why = f": the record {self.reason}" if self.reason else ""
            found.append(f"{what} {verb} in the memory of this process alone{why}.")
        if self.missing:
            found.append(f"{self.missing} of its {total} events are lost.")
        if self.missing_texts:
            found.append(f"{self.missing_texts} of its large texts are lost.")
        how = "not on disk" if not self.on_disk else "not whole on disk"
        return f"Run {self.run_id} is {how}. {' '.join(found)}" if found else ""


def new_run_id(moment: float) -> str:
    """An id for a run that starts at this moment."""
    return f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(moment))}-{secrets.token_hex(3)}"


class RunJournal:
    """Writes the events of one run; ``recording.Journal`` on a database."""

    def __init__(self, run_id: str, database: Database, blobs: BlobFolder | None) -> None:
        self._run_id = run_id
        self._database = database
        self._blobs = blobs
        self._process = os.getpid()
        self._owner = json.dumps(this_process())
        self._sequence = 0
        now = time.time()
        self._summary = RunSummary(run_id, "running", "", "", "", now, 0.0)
        self._usage = UsageLedger(run_id)
        self._failures: list[Notice] = []
        self._told: set[str] = set()
        self._has_moved = False
        database.follow_run(run_id, self._rescue)

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self._run_id

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Write events in one transaction; on return they are safe.

        Never raises for a store that fails: its events have their numbers all the same. A forked
        child of the process writes nothing: the run is its parent's.
        """
        if os.getpid() != self._process:
            return tuple(RecordedEvent(self._run_id, 0, time.time(), event) for event in events)
        now = time.time()
        recorded = tuple(self._numbered(event, now) for event in events)
        kept = [item for item in recorded if item.sequence]
        if kept:
            try:
                self._database.write(*self._statements(kept))
            except StoreError as error:
                self._refused(error)
        if any(isinstance(event, RunFinished) for event in events):
            self._end()
        return recorded

    def take_notices(self) -> tuple[Notice, ...]:
        """What the person should know about the record; each notice is handed out once."""
        found = [
            Notice(notice.level, notice.text, notice.action, notice.code)
            for notice in self._database.take_notices()
        ]
        found += self._failures
        self._failures = []
        return tuple(found)

    def _rescue(self, read: Read) -> tuple[Statement, ...]:
        """Take along what a file that is being left holds of the run."""
        self._has_moved = True
        return copy_run(read, self._run_id)

    def _end(self) -> None:
        self._database.unfollow_run(self._run_id)
        if not self._has_moved:
            return
        rows = self._database.read(SELECT_SEQUENCES, (self._run_id,))
        missing = self._sequence - len({sequence for (sequence,) in rows})
        if missing > 0:  # what is left must not be listed as a whole run
            self._summary = incomplete(self._summary, missing, self._sequence)
            row = run_row(self._summary, self._owner, time.time())
            with suppress(StoreError):
                self._database.write(Statement(INSERT_RUN, row))

    def _refused(self, error: StoreError) -> None:
        """Note a failure, once: every later event of the run may fail in the same way."""
        text = str(error)
        if text not in self._told:
            self._told.add(text)
            self._failures.append(Notice("warning", text, "", "store_refused"))

    def _numbered(self, event: Event, now: float) -> RecordedEvent:
        if isinstance(event, ModelSilent):
            return RecordedEvent(self._run_id, 0, now, event)
        self._sequence += 1
        return RecordedEvent(self._run_id, self._sequence, now, event)

    def _statements(self, recorded: Sequence[RecordedEvent]) -> list[Statement]:
        statements = []
        for item in recorded:
            row = row_of(item.event, self._blobs)
            self._summary = summed(self._summary, item.event, item.time)
            statements += _event_statements(item, row)
            for sha in row.blobs:
                statements.append(Statement(INSERT_BLOB_USE, (sha, self._run_id)))
            statements += self._usage.statements(item.event, item.time)
            statements += file_use_statements(self._run_id, item.event)
        saved = run_row(self._summary, self._owner, recorded[-1].time)
        statements.append(Statement(INSERT_RUN, saved))
        return statements


def _event_statements(item: RecordedEvent, row: EventRow) -> list[Statement]:
    parameters = (item.run_id, item.sequence, item.time, row.kind, row.data, row.sha)
    statements = [Statement(INSERT_EVENT, parameters)]
    for part in row.parts:
        statements += keeping(item.run_id, part)
    return statements


class RunStore:
    """The runs of one database.

    Args:
        database: Where events are written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._blobs = BlobFolder(database.path.parent / "blobs") if database.path else None
        self.last_started = ""
        """Id of the run that was started here last; empty: none yet."""

    @property
    def database(self) -> Database:
        """Where events are written, and what else belongs to them."""
        return self._database

    def start(self, *events: Event) -> RunJournal:
        """A journal for a new run, with its first events written."""
        journal = RunJournal(new_run_id(self._clock()), self._database, self._blobs)
        journal.record(*events)
        self.last_started = journal.run_id
        return journal

    def events(self, run_id: str) -> tuple[RecordedEvent, ...]:
        """The events of a run, in order; none for a run that is not there."""
        rows = self._database.read(
            "SELECT sequence, time, data, sha FROM events WHERE run_id = ? ORDER BY sequence",
            (run_id,),
        )
        readers = self._blob_readers(run_id)
        by_sequence = {row[0]: row for row in rows}
        has_any = any(has_parts(row[2]) for row in rows)
        parts = loaded(self._database, run_id) if has_any else {}
        return tuple(
            RecordedEvent(run_id, sequence, at, event_of(data, sha, readers, parts))
            for sequence, at, data, sha in sorted(by_sequence.values())
        )

    def record(self, run_id: str) -> RunRecord:
        """The record of a run.

        Raises:
            SetupError: There is no such run.
        """
        events = self.events(run_id)
        record = fold(events)
        if not record.run_id:
            raise SetupError(f"There is no run {run_id!r}.", hint="See the list of runs.")
        missing = events[-1].sequence - len(events)
        if missing:
            reason = incomplete_reason(record.status, missing, events[-1].sequence)
            return replace(record, status="unknown", cause=INCOMPLETE_CAUSE, reason=reason)
        if record.status != "running" or self._summary_of(run_id).status == "running":
            return record
        return replace(record, status="task error", cause="interrupted", reason=INTERRUPTED_REASON)

    def storage(self, run_id: str, patience_seconds: float = END_PATIENCE_SECONDS) -> RunStorage:
        """Where the events of a run are, after one more try to write what waits.

        Args:
            run_id: The run.
            patience_seconds: How long another process's lock is waited for.
        """
        database = self._database
        database.flush(patience_seconds)
        rows = database.read_apart(SELECT_SEQUENCES, (run_id,))
        on_disk, waiting = ({int(sequence) for (sequence,) in some} for some in rows)
        in_memory = waiting - on_disk
        every = on_disk | in_memory
        return RunStorage(
            run_id,
            len(on_disk),
            len(in_memory),
            max(every, default=0) - len(every),
            sum(read() is None for read in self._blob_readers(run_id).values()),
            database.problem,
        )

    def unwritten(self) -> frozenset[str]:
        """Ids of the runs of which something is in the memory of this process alone."""
        self._database.flush()
        rows = self._database.read_apart("SELECT DISTINCT run_id FROM events")[1]
        return frozenset(str(run_id) for (run_id,) in rows)

    def write_to(self, run_id: str, path: Path) -> None:
        """Write a run to a record of its own, also one that is in memory alone.

        Raises:
            StoreError: There is a file already, or it cannot be written.
        """
        if path.exists():
            raise StoreError(f"{str(path)!r} is there already.", hint="Name a new file.")
        statements = [
            statement
            for at in (1, 0)  # what is in memory is the newest
            for statement in copy_rows(
                lambda sql, values, at=at: self._database.read_apart(sql, values)[at],  # type: ignore[misc]
                run_id,
            )
        ]
        for item in self.events(run_id):
            statements += _event_statements(item, row_of(item.event, None))
        with closing(open_database(path)) as other:
            other.write(*statements)
            if not other.is_durable:
                raise StoreError(f"{str(path)!r} cannot be written.", hint="Name another file.")

    def list(self, limit: int = 20, query: str = "") -> tuple[RunSummary, ...]:
        """The newest runs first; ``query`` is looked for in prompt, model, status and id."""
        words = query.casefold().split()
        found = [summary for summary in self._summaries() if mentions(summary, words)]
        return tuple(found[:limit])

    def counts(self) -> Mapping[str, int]:
        """How many runs there are of each status."""
        return dict(Counter(summary.status for summary in self._summaries()).most_common())

    def resolve(self, name: str) -> str:
        """The id of the run that ``name`` means: ``last``, or a part of its id.

        Raises:
            SetupError: There is none, or there are several.
        """
        # Two runs may start within one second, so ids alone do not say which is the newest.
        rows = self._database.read("SELECT run_id, started_at FROM runs")
        started = {str(run_id): float(moment) for run_id, moment in rows}
        known = sorted(started, key=lambda run_id: (started[run_id], run_id), reverse=True)
        if not known:
            raise SetupError("There is no run yet.", hint="Ask something with %agent first.")
        return find_id(name, known, "run")

    def delete(self, run_id: str) -> None:
        """Remove a run and what only it used, from the disk too.

        Raises:
            StoreError: The file does not take the change now.
        """
        self._change(run_id)  # what waits goes first: it may be the run's
        mine = self._database.read("SELECT sha FROM blob_uses WHERE run_id = ?", (run_id,))
        tables = ("events", "blob_uses", "runs")
        self._change(
            run_id,
            *(Statement(f"DELETE FROM {table} WHERE run_id = ?", (run_id,)) for table in tables),
            *forgetting(self._database, run_id),
        )
        for (sha,) in mine:
            used = self._database.read("SELECT 1 FROM blob_uses WHERE sha = ?", (sha,))
            if self._blobs is not None and not used:
                self._blobs.remove(sha)
        # Without this the deleted rows stay readable in the write-ahead log.
        self._database.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def _change(self, run_id: str, *statements: Statement) -> None:
        """Now or not at all: a refused deletion must not happen later, when the lock has gone."""
        try:
            self._database.change(*statements)
        except StoreError as error:
            raise StoreError(f"Run {run_id!r} is not deleted.", hint=error.message) from error

    def _blob_readers(self, run_id: str) -> dict[str, Callable[[], str | None]]:
        if self._blobs is None:
            return {}
        rows = self._database.read("SELECT sha FROM blob_uses WHERE run_id = ?", (run_id,))
        return {sha: partial(self._blobs.get, sha) for (sha,) in rows}

    def _summary_of(self, run_id: str) -> RunSummary:
        rows = self._database.read(f"{SELECT_RUNS} WHERE run_id = ?", (run_id,))
        return summary_of_row(rows[-1], self._clock())

    def _summaries(self) -> Sequence[RunSummary]:
        rows = self._database.read(SELECT_RUNS)
        # A row that waits in memory comes last, and is newer than the one in the file.
        newest = {row[0]: row for row in rows}
        now = self._clock()
        found = [summary_of_row(row, now) for row in newest.values()]
        return sorted(found, key=lambda summary: (summary.started_at, summary.run_id), reverse=True)
