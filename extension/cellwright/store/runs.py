"""Runs: their events, written one transaction at a time and read back as records.

With what is kept of each run: a line for lists, the files it uses, what became of its cells.
"""

from __future__ import annotations

import json
import os
import secrets
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, get_args

from cellwright.errors import SetupError, StoreError
from cellwright.record.attachments import stored_hashes
from cellwright.record.choices import JUDGE_LANE
from cellwright.record.events import (
    COMPACT_PROMPT,
    SUMMARY_PROMPT,
    Event,
    ModelReplied,
    ModelSilent,
    Notice,
    RunFinished,
    RunStarted,
    RunStatus,
    ToolFinished,
)
from cellwright.record.messages import Usage
from cellwright.record.run_record import (
    UNDONE,
    RecordedEvent,
    RunRecord,
    Score,
    fold,
    make_undone,
    note_of_undo,
    undone_step,
)
from cellwright.record.values import from_dict, to_dict
from cellwright.store.database import Database, Read, Statement, open_database
from cellwright.store.event_rows import (
    INSERT_PART,
    INSERT_USE,
    INSERT_USED,
    BlobFolder,
    EventRow,
    blob_readers,
    event_of,
    forgetting,
    has_parts,
    keeping,
    loaded,
    row_of,
)
from cellwright.store.ids import find_id
from cellwright.store.process_claims import is_alive, this_process
from cellwright.store.usage_table import UsageLedger
from cellwright.text.redaction import Redactor

# One run as statements that write it to another database, with all that belongs to it.
#
# Rows are copied as they are; parts are named, not numbered, because the other database has numbers
# of its own.


AROUND = ("runs", "file_uses", "usage_calls", "cell_fates", "run_scores", "chat_runs")
"""Tables whose rows name their run, but for its events and what these are made of."""
CHATS = "SELECT * FROM chats WHERE chat_id IN (SELECT chat_id FROM chat_runs WHERE run_id = ?)"
OF_RUN = """WITH RECURSIVE found (id) AS (
        SELECT part FROM run_parts WHERE run_id = ?
        UNION SELECT part FROM part_uses JOIN found ON used_by = found.id)"""
PARTS = f"{OF_RUN} SELECT name, data FROM parts WHERE id IN (SELECT id FROM found)"
USES = f"""{OF_RUN} SELECT inner.name, outer.name FROM part_uses
    JOIN parts AS inner ON inner.id = part JOIN parts AS outer ON outer.id = used_by
    WHERE used_by IN (SELECT id FROM found)"""
USED = "SELECT name FROM run_parts JOIN parts ON parts.id = part WHERE run_id = ?"


def copy_run(read: Read, run_id: str) -> tuple[Statement, ...]:
    """What writes a run to another database and leaves what that one has of it already.

    Args:
        read: Runs a query in the database that has the run.
        run_id: The run.
    """
    found = [*copy_rows(read, run_id), *copy_rows(read, run_id, ("events", "blob_uses"))]
    found += [Statement(INSERT_PART, row) for row in read(PARTS, (run_id,))]
    found += [Statement(INSERT_USE, row) for row in read(USES, (run_id,))]
    found += [Statement(INSERT_USED, (run_id, *row)) for row in read(USED, (run_id,))]
    return tuple(found)


def copy_rows(read: Read, run_id: str, tables: Sequence[str] = AROUND) -> tuple[Statement, ...]:
    """What writes a run's rows of some tables to another database; its chats with ``chat_runs``."""
    found: list[Statement] = []
    for table in tables:
        found += _copy_table(read, table, f"SELECT * FROM {table} WHERE run_id = ?", run_id)
    if "chat_runs" in tables:
        found += _copy_table(read, "chats", CHATS, run_id)
    return tuple(found)


def _copy_table(read: Read, table: str, sql: str, run_id: str) -> list[Statement]:
    columns = [str(row[0]) for row in read(f"SELECT name FROM pragma_table_info('{table}')", ())]
    marks = ", ".join("?" * len(columns))
    insert = f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) VALUES ({marks})"
    return [Statement(insert, row) for row in read(sql, (run_id,))]


# Runs in one line each, kept up to date event by event.


INTERRUPTED_REASON = "The process ended before the run did."
INCOMPLETE_CAUSE = "record_incomplete"
RUN_COLUMNS = (
    "run_id",
    "status",
    "prompt",
    "model",
    "lane",
    "cause",
    "reason",
    "source_run",
    "started_at",
    "last_at",
    "duration_seconds",
    "usage",
    "cost_dollars",
    "owner",
)


@dataclass(frozen=True)
class RunSummary:
    """A run in one line of a list."""

    run_id: str
    status: RunStatus
    """A run whose process is gone has ended with ``task error``, cause ``interrupted``."""
    prompt: str
    model: str
    lane: str
    started_at: float
    """Seconds since the epoch."""
    duration_seconds: float
    usage: Usage = field(default_factory=Usage)
    cost_dollars: float | None = None
    cause: str = ""
    reason: str = ""
    source_run: str = ""


def summed(summary: RunSummary, event: Event, now: float) -> RunSummary:
    """The summary of a run after one more event."""
    summary = replace(summary, duration_seconds=max(0.0, now - summary.started_at))
    if isinstance(event, RunStarted):
        return replace(
            summary,
            prompt=_storable(event.prompt),
            model=_storable(event.parameters.model),
            lane=_storable(event.lane),
            source_run=event.source_run,
        )
    if isinstance(event, ModelReplied):
        cost = summary.cost_dollars
        if event.cost_dollars is not None:
            cost = (cost or 0.0) + event.cost_dollars
        return replace(summary, usage=summary.usage + event.usage, cost_dollars=cost)
    if isinstance(event, ToolFinished):
        spent = sum((item.usage for item in event.usage), summary.usage)
        return replace(summary, usage=spent)
    if isinstance(event, RunFinished):
        cost = summary.cost_dollars if event.cost_dollars is None else event.cost_dollars
        return replace(
            summary,
            cost_dollars=cost,
            status=event.status,
            cause=_storable(event.cause),
            reason=_storable(event.reason),
            duration_seconds=event.duration_seconds or summary.duration_seconds,
        )
    return summary


def incomplete(summary: RunSummary, missing: int, total: int) -> RunSummary:
    """The summary of a run some of whose events are lost: nobody can say how it went."""
    reason = incomplete_reason(summary.status, missing, total)
    return replace(summary, status="unknown", cause=INCOMPLETE_CAUSE, reason=reason)


def incomplete_reason(status: str, missing: int, total: int) -> str:
    """Why a run does not count as what its end says."""
    ended = "" if status == "running" else f" It ended as {status!r}."
    return f"{missing} of its {total} events are not in the record.{ended}"


def _storable(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


def run_row(summary: RunSummary, owner: str, now: float) -> tuple[Any, ...]:
    """The row of a run."""
    values = {
        **{name: getattr(summary, name, None) for name in RUN_COLUMNS},
        "last_at": now,
        "usage": json.dumps(to_dict(summary.usage)),
        "owner": owner,
    }
    return tuple(values[name] for name in RUN_COLUMNS)


def summary_of_row(row: tuple[Any, ...], now: float) -> RunSummary:
    """The summary of a row of ``RUN_COLUMNS``; a run whose process is gone is interrupted."""
    values = dict(zip(RUN_COLUMNS, row, strict=True))
    owner, last_at = values.pop("owner"), values.pop("last_at")
    with suppress(ValueError):
        if values["status"] == "running" and not is_alive(json.loads(owner), now - last_at):
            values |= {
                "status": "task error",
                "cause": "interrupted",
                "reason": INTERRUPTED_REASON,
            }
    values["usage"] = from_dict(Usage, json.loads(values["usage"]))
    return RunSummary(**values)


def mentions(summary: RunSummary, words: list[str]) -> bool:
    """Whether every word, in lower case, is in the id, status, model, lane or prompt."""
    parts = (summary.run_id, summary.status, summary.model, summary.lane, summary.prompt)
    text = "\n".join(parts).casefold()
    return all(word in text for word in words)


# Which stored files are used: a file that no run was given and no library holds may go.


INSERT_FILE_USE = "INSERT OR IGNORE INTO file_uses VALUES (?, ?)"
# The row without a hash tells a read that failed from tables without rows.
GIVEN = "SELECT DISTINCT sha FROM file_uses UNION ALL SELECT ''"
IN_LIBRARIES = (
    "SELECT place FROM library_places UNION SELECT place FROM library_documents "
    "WHERE NOT is_removed UNION ALL SELECT ''"
)


def file_use_statements(run_id: str, event: Event) -> list[Statement]:
    """What notes the stored files that a run is given."""
    files = event.files if isinstance(event, RunStarted) else ()
    return [Statement(INSERT_FILE_USE, (sha, run_id)) for sha in stored_hashes(files)]


class FileUses:
    """The files that runs were given and that libraries hold.

    Args:
        database: Where runs and libraries are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def hashes(self) -> frozenset[str]:
        """The hashes of the files that are used.

        Raises:
            StoreError: They cannot all be told now.
        """
        places = self._all(IN_LIBRARIES)
        return self._all(GIVEN).union(stored_hashes(places))

    def _all(self, query: str) -> frozenset[str]:
        found = frozenset(str(text) for (text,) in self._database.read(query))
        if "" not in found or not self._database.is_durable:
            raise StoreError("The files in use cannot be told.", hint="Try again later.")
        return found - {""}


INSERT_EVENT = "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?, ?)"
INSERT_BLOB_USE = "INSERT OR IGNORE INTO blob_uses VALUES (?, ?)"
INSERT_RUN = f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(RUN_COLUMNS))})"
SELECT_RUNS = f"SELECT {', '.join(RUN_COLUMNS)} FROM runs"
INSERT_NOTE = """INSERT INTO events
    SELECT ?, max(coalesce(max(sequence), 0), ?) + 1, ?, ?, ?, ? FROM events WHERE run_id = ?"""
"""The database numbers what two processes may write at once."""
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
    """Writes the events of one run; ``run_record.Journal`` on a database."""

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
                rows = [row_of(item.event, self._blobs) for item in kept]
                self._database.write(*self._statements(kept, rows))
                self._restore_texts(kept, rows)
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

    def _restore_texts(self, recorded: Sequence[RecordedEvent], rows: Sequence[EventRow]) -> None:
        """Store again what went with another run that was deleted before ours were noted."""
        for item, row in zip(recorded, rows, strict=True):
            if self._blobs is not None and not all(map(self._blobs.has, row.blobs)):
                row_of(item.event, self._blobs)

    def _statements(
        self, recorded: Sequence[RecordedEvent], rows: Sequence[EventRow]
    ) -> list[Statement]:
        statements = []
        for item, row in zip(recorded, rows, strict=True):
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


SELECT_SCORES = "SELECT name, score FROM run_scores WHERE run_id = ? ORDER BY scored_at, rowid"


SELECT_IN_CHAT = """SELECT run_id, score FROM run_scores WHERE name = ?
    AND run_id IN (SELECT run_id FROM chat_runs WHERE chat_id = ?)"""


class RunScores:
    """What the runs of one database are worth; of each name a run has one score.

    Args:
        database: Where scores are kept.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def of(self, run_id: str) -> tuple[Score, ...]:
        """The scores of a run, in the order in which they were given."""
        # A row that waits in memory comes last, and is newer than the one in the file.
        rows: dict[str, str] = dict(self._database.read(SELECT_SCORES, (run_id,)))
        return tuple(from_dict(Score, json.loads(text)) for text in rows.values())

    def in_chat(self, chat_id: str, name: str) -> dict[str, Score]:
        """The scores of one name that the runs of a chat were given, by run."""
        rows = self._database.read(SELECT_IN_CHAT, (name, chat_id))
        return {run_id: from_dict(Score, json.loads(text)) for run_id, text in rows}

    def give(self, run_id: str, *scores: Score) -> None:
        """Keep scores; one of the same name is replaced."""
        insert, now = "INSERT OR REPLACE INTO run_scores VALUES (?, ?, ?, ?)", self._clock()
        rows = [(run_id, each.name, json.dumps(to_dict(each)), now) for each in scores]
        self._database.write(*(Statement(insert, row) for row in rows))

    def withdraw(self, run_id: str, name: str) -> None:
        """Take a score back; empty: all of the run."""
        delete = "DELETE FROM run_scores WHERE run_id = ?"
        if name:
            self._database.write(Statement(f"{delete} AND name = ?", (run_id, name)))
        else:
            self._database.write(Statement(delete, (run_id,)))


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
        self.scores = RunScores(database, clock)

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
        readers = blob_readers(self._database, self._blobs, run_id)
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
        record = replace(fold(events), scores=self.scores.of(run_id))
        if not record.run_id:
            self._check_whole()
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
            sum(
                read() is None
                for read in blob_readers(self._database, self._blobs, run_id).values()
            ),
            database.problem,
        )

    def unwritten(self) -> frozenset[str]:
        """Ids of the runs of which something is in the memory of this process alone."""
        self._database.flush()
        rows = self._database.read_apart("SELECT DISTINCT run_id FROM events")[1]
        return frozenset(str(run_id) for (run_id,) in rows)

    def add(self, run_id: str, notice: Notice) -> None:
        """Record what the user did with a run that is over; nothing where there is no such run.

        What looks like a secret, in the name of a file for instance, is taken out.
        """
        rows = self._database.read(SELECT_SEQUENCES, (run_id,))
        if rows:
            last = max(int(row[0]) for row in rows)
            row = row_of(Redactor.from_environment(os.environ).event(notice), self._blobs)
            values = (run_id, last, self._clock(), row.kind, row.data, row.sha, run_id)
            parts = [statement for part in row.parts for statement in keeping(run_id, part)]
            self._database.write(Statement(INSERT_NOTE, values), *parts)

    def set_undone(
        self, changes: Mapping[str, int | None], remark: str = ""
    ) -> Mapping[str, int | None]:
        """Record how runs stand, as ``Snapshot.changes`` tells it; how they stood before.

        Args:
            changes: From which cell on each run is undone, counted from 1; 0: all of it, None:
                none of it.
            remark: What the record says besides: a sentence.
        """
        before = dict[str, int | None]()
        for run_id, step in changes.items():
            given = {score.name: score for score in self.scores.of(run_id)}
            before[run_id] = undone_step(given[UNDONE]) if UNDONE in given else None
            if step is None:
                self.scores.withdraw(run_id, UNDONE)
            else:
                self.scores.give(run_id, make_undone(step))
            self.add(run_id, note_of_undo(step, remark))
        return before

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
        rows = self._database.read(
            """SELECT run_id, started_at, prompt, lane, EXISTS (
                SELECT 1 FROM chat_runs c WHERE c.run_id = runs.run_id) FROM runs"""
        )
        # Nobody means a run that only shortened a chat as the last one: there is nothing in it.
        # Nor one that judged or replayed another: it is about that one. Nor an attempt that was
        # not kept: it did nothing here. One that was kept is in the chat.
        places: dict[str, tuple[int, float]] = {}
        for run_id, moment, prompt, lane, is_in_chat in rows:
            is_own = prompt not in (COMPACT_PROMPT, SUMMARY_PROMPT)
            is_own = is_own and lane not in (JUDGE_LANE, "replay")
            is_kept = lane != "branch" or bool(is_in_chat)
            places[str(run_id)] = (is_own + (is_own and is_kept), float(moment))
        known = sorted(places, key=lambda run_id: (*places[run_id], run_id), reverse=True)
        if not known:
            self._check_whole()
            raise SetupError("There is no run yet.", hint="Ask something with %agent first.")
        return find_id(name, known, "run")

    def _check_whole(self) -> None:
        """Where rows are missing because the file is damaged, that is why a run is not found.

        Raises:
            StoreError: It is damaged.
        """
        if problem := self._database.find_damage():
            raise StoreError(
                f"The record is damaged: {problem}.", hint="Run: cellwright doctor --repair"
            )

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
            if self._blobs is not None:
                self._blobs.remove(sha, partial(self._is_used, sha))
        # Without this the deleted rows stay readable in the write-ahead log.
        self._database.read("PRAGMA wal_checkpoint(TRUNCATE)")

    def _is_used(self, sha: str) -> bool:
        return bool(self._database.read("SELECT 1 FROM blob_uses WHERE sha = ?", (sha,)))

    def _change(self, run_id: str, *statements: Statement) -> None:
        """Now or not at all: a refused deletion must not happen later, when the lock has gone."""
        try:
            self._database.change(*statements)
        except StoreError as error:
            raise StoreError(f"Run {run_id!r} is not deleted.", hint=error.message) from error

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


# Runs kept as values, in memory: for samples of a benchmark, which are written down elsewhere.


class RunMemory:
    """Runs for as long as this object lives; ``run_record.Runs``.

    Args:
        clock: Seconds since the epoch.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._journals: dict[str, _Journal] = {}
        self.last_started = ""
        """Id of the run that was started last; empty: none yet."""

    def start(self, *events: Event) -> _Journal:
        """A journal for a new run, with its first events in it."""
        journal = _Journal(new_run_id(self._clock()), self._clock)
        journal.record(*events)
        self._journals[journal.run_id] = journal
        self.last_started = journal.run_id
        return journal

    def record(self, run_id: str) -> RunRecord:
        """The record of a run.

        Raises:
            SetupError: There is no such run.
        """
        journal = self._journals.get(run_id)
        if journal is None:
            raise SetupError(f"There is no run {run_id!r}.", hint="It was not started here.")
        return fold(journal.events)


class _Journal:
    """The events of one run."""

    def __init__(self, run_id: str, clock: Callable[[], float]) -> None:
        self.run_id = run_id
        self.events: list[RecordedEvent] = []
        self._clock = clock

    def record(self, *events: Event) -> tuple[RecordedEvent, ...]:
        """Keep events."""
        now = self._clock()
        return tuple(self._numbered(event, now) for event in events)

    def take_notices(self) -> tuple[Notice, ...]:
        """Nothing: memory needs no telling of."""
        return ()

    def _numbered(self, event: Event, now: float) -> RecordedEvent:
        if isinstance(event, ModelSilent):
            return RecordedEvent(self.run_id, 0, now, event)
        self.events.append(RecordedEvent(self.run_id, len(self.events) + 1, now, event))
        return self.events[-1]


# What became of the cells a run made, in the document where they were put.


Fate = Literal["saved", "deleted", "discarded"]
"""In the file; taken out by the person; not wanted when it was offered later."""
FATES: tuple[Fate, ...] = get_args(Fate)
INSERT_FATE = "INSERT OR REPLACE INTO cell_fates VALUES (?, ?, ?, ?)"


class CellReviews:
    """The fates of one database's cells; a cell without one may still be waiting.

    Args:
        database: Where fates are kept.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def set(self, run_id: str, fates: Mapping[str, str]) -> None:
        """Keep what became of a run's cells; a later word replaces an earlier one.

        Raises:
            SetupError: A fate is none of the known ones; nothing is kept.
        """
        unknown = sorted({fate for fate in fates.values() if fate not in FATES})
        if unknown:
            names = ", ".join(repr(fate) for fate in unknown)
            raise SetupError(f"No cell's fate is {names}.", hint=f"Use one of: {', '.join(FATES)}.")
        now = self._clock()
        rows = [(run_id, cell_id, fate, now) for cell_id, fate in fates.items()]
        if rows:
            self._database.write(*(Statement(INSERT_FATE, row) for row in rows))

    def of(self, run_id: str) -> dict[str, Fate]:
        """What became of a run's cells, by their ids."""
        # A row that waits in memory comes last, and is newer than the one in the file.
        rows = self._database.read(
            "SELECT cell_id, fate FROM cell_fates WHERE run_id = ?", (run_id,)
        )
        return dict(rows)
