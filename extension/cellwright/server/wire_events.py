"""Recorded events as they go over the wire: numbered, and without what only the record needs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from cellwright.record.events import Event, RunFinished
from cellwright.record.run_record import RecordedEvent
from cellwright.record.values import to_dict
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database
from cellwright.store.event_rows import (
    BLOB_KEY,
    BlobFolder,
    blob_readers,
    event_of,
    named_in,
    sha_of,
    spliced,
    texts_of,
)
from cellwright.store.process_claims import is_alive
from cellwright.store.runs import INTERRUPTED_REASON

PAGE_ROWS = 500
PAGE_CHARACTERS = 1_000_000
TRIMMED: Mapping[str, tuple[str, ...]] = {
    "state_captured": (),
    "model_asked": ("step",),
    "history_compacted": ("tokens_before", "tokens_after"),
}
"""Kinds with large fields that no tab draws, and those that go over the wire."""
INTERRUPTED = RunFinished("task error", reason=INTERRUPTED_REASON, cause="interrupted")


@dataclass(frozen=True)
class EventsFrame:
    """Events of one run, in order: what ``events_frame`` writes."""

    chat: str
    run: str
    items: tuple[RecordedEvent, ...]
    """Each is numbered; 0 stands for what is shown and not recorded."""
    type: Literal["events"] = field(default="events", init=False)


@dataclass(frozen=True)
class WireEvent:
    """An event, ready to be sent."""

    run: str
    sequence: int
    """0: it is not recorded."""
    text: str
    """JSON of ``{sequence, time, event}``."""


class EventSource(Protocol):
    """Where events of chats can be read again."""

    def runs(self, chat: str) -> tuple[str, ...]:
        """The runs of a chat, in order."""
        ...

    def page(self, run: str, after: int) -> tuple[WireEvent, ...]:
        """The next events of a run after a sequence number; none: there are no more."""
        ...

    def context_tokens(self, chat: str) -> int:
        """How many tokens the last request of a chat had; 0: there was none."""
        ...


class StoredEvents:
    """Events of a database, page by page.

    Most rows go out as they lie there: nothing is decoded that nobody has to look into.

    Args:
        database: Where runs are recorded.
        chats: Which runs belong to which chat.
    """

    def __init__(self, database: Database, chats: ChatStore) -> None:
        self._database = database
        self._chats = chats
        self._blobs = BlobFolder(database.path.parent / "blobs") if database.path else None
        self._unfinished: frozenset[str] = frozenset()
        """Runs without an end in the record when a chat's runs were last listed."""

    def runs(self, chat: str) -> tuple[str, ...]:
        """The runs of a chat, in order."""
        rows = self._database.read("SELECT run_id FROM runs WHERE status = 'running'")
        self._unfinished = frozenset(run for (run,) in rows)
        return self._chats.run_ids(chat)

    def page(self, run: str, after: int) -> tuple[WireEvent, ...]:
        """The next events of a run after a sequence number; none: there are no more.

        A run whose process is gone is given the end that it could not write, so that a page which
        stayed open does not show it as running, or its approval as open, for ever.
        """
        rows = self._database.read(
            "SELECT sequence, time, kind, data, sha FROM events"
            " WHERE run_id = ? AND sequence > ? ORDER BY sequence LIMIT ?",
            (run, after, PAGE_ROWS),
        )
        # A row that waits in memory comes last, and may be in the file as well.
        by_sequence = {row[0]: row for row in rows}
        kept = sorted(by_sequence.values())[:PAGE_ROWS]
        parts = texts_of(self._database, {named_in(kind, data) for _, _, kind, data, _ in kept})
        found: list[WireEvent] = []
        size = 0
        for row in kept:
            text = self._event_text(run, row, parts)
            found.append(WireEvent(run, row[0], _item(row[0], row[1], text)))
            size += len(text)
            if size > PAGE_CHARACTERS:
                break
        if not found and run in self._unfinished:
            return self._end_of_lost_run(run, after)
        return tuple(found)

    def _end_of_lost_run(self, run: str, after: int) -> tuple[WireEvent, ...]:
        rows = self._database.read(
            "SELECT started_at, last_at, owner,"
            " (SELECT MAX(sequence) FROM events WHERE run_id = runs.run_id)"
            " FROM runs WHERE run_id = ? AND status = 'running'",
            (run,),
        )
        for started_at, last_at, owner, last in rows:
            if after == last and not is_alive(json.loads(owner), time.time() - last_at):
                text = _text_of(replace(INTERRUPTED, duration_seconds=last_at - started_at))
                return (WireEvent(run, last + 1, _item(last + 1, last_at, text)),)
        return ()

    def context_tokens(self, chat: str) -> int:
        """How many tokens the last request of a chat had; 0: there was none."""
        for run in reversed(self.runs(chat)):
            rows = self._database.read(
                "SELECT data FROM events WHERE run_id = ?"
                " AND kind IN ('model_replied', 'history_compacted')"
                " ORDER BY sequence DESC LIMIT 1",
                (run,),
            )
            for (data,) in reversed(rows):
                return _prompt_tokens(data)
        return 0

    def _event_text(self, run: str, row: tuple[Any, ...], parts: Mapping[str, str]) -> str:
        _, _, kind, data, sha = row
        if sha_of(data) == sha:
            if kind in TRIMMED:
                return _short(kind, json.loads(data))
            text = spliced(kind, data, parts)
            if text is not None and BLOB_KEY not in text:
                return text
        values = {name: json.loads(part) for name, part in parts.items()}
        readers = blob_readers(self._database, self._blobs, run)
        return _text_of(event_of(data, sha, readers, values))


def wire_event(recorded: RecordedEvent) -> WireEvent:
    """An event that was just recorded."""
    text = _item(recorded.sequence, recorded.time, _text_of(recorded.event))
    return WireEvent(recorded.run_id, recorded.sequence, text)


def events_frame(chat: str, run: str, items: Iterable[WireEvent]) -> str:
    """The text of a frame with events of one run."""
    head = f'{{"type":"events","chat":{json.dumps(chat)},"run":{json.dumps(run)},"items":['
    return head + ",".join(item.text for item in items) + "]}"


def _prompt_tokens(data: str) -> int:
    try:
        event = json.loads(data)
        return int(event.get("tokens_after") or event["usage"]["prompt_tokens"])
    except (ValueError, KeyError, TypeError):
        return 0


def _item(sequence: int, time: float, event: str) -> str:
    return f'{{"sequence":{sequence},"time":{time!r},"event":{event}}}'


def _text_of(event: Event) -> str:
    if event.kind in TRIMMED:
        return _short(event.kind, vars(event))
    return json.dumps(to_dict(event), separators=(",", ":"))


def _short(kind: str, fields: Mapping[str, Any]) -> str:
    kept = {name: fields[name] for name in TRIMMED[kind] if name in fields}
    return json.dumps({"kind": kind, **kept})
