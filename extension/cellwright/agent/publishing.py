"""The one place every event passes: secrets out, then the record, then the notebook."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar, get_args

from cellwright.notebooks import Notebook
from cellwright.record.events import (
    CellEvent,
    CellFinished,
    CellOutput,
    CellStarted,
    Event,
    ModelAsked,
    ModelReplied,
    ModelRetrying,
    ModelSilent,
    Notice,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolStarted,
)
from cellwright.record.outputs import (
    DisplayData,
    DisplayUpdate,
    ExecuteResult,
    Execution,
    StreamOutput,
)
from cellwright.record.run_record import Journal, RecordedEvent
from cellwright.text.redaction import Redactor, StreamRedactor

Listener = Callable[[tuple[RecordedEvent, ...]], None]
"""Told of events as soon as they are recorded, in the order of the record, from any thread; it
returns at once and never raises."""

CELL_EVENTS = get_args(CellEvent)
T = TypeVar("T")
Updatable = DisplayData | ExecuteResult | DisplayUpdate
LAST_TAGS = re.compile(r"(?:>[^<>]{0,200}<|\s)*")
"""What closes a page behind its last word, read backwards."""
LAST_TAGS_CHARACTERS = 2_000


class Publisher:
    """Redacts, records and applies events, in that order, before anybody sees them.

    What comes in pieces (a reply, its reasoning, what a cell prints) is redacted as one text: the
    end of a piece is held back while more could make a secret of it, and comes with the next piece
    or with the end of the reply, cell or run.

    Args:
        journal: Where events are written.
        redactor: Takes secrets out; what it returns is what the model, the record and the
            screen get.
        notebook: Changed by cell events, where there is one.
        listener: Told of every event right after it was recorded.
    """

    def __init__(
        self,
        journal: Journal,
        redactor: Redactor,
        notebook: Notebook | None,
        listener: Listener | None = None,
    ) -> None:
        self._journal = journal
        self._redactor = redactor
        self._notebook = notebook
        self._listener = listener
        self._pieces = _PiecewiseEvents(redactor)
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._has_ended = False
        self._open_cells: dict[str, float] = {}

    @property
    def run_id(self) -> str:
        """The id of the run being recorded."""
        return self._journal.run_id

    def clean(self, value: T) -> T:
        """A JSON-like value as it may be shown."""
        return self._redactor.value(value)

    def publish(self, *events: Event) -> tuple[Event, ...]:
        """Record events in one transaction and return them as they may be shown.

        Of a delta or an output as much as is safe; what had been held back comes before the event
        that ends it. What the record itself has to tell (it is full, it is locked) comes last.
        """
        if os.getpid() != self._process:
            # A forked child: the run is its parent's, one of whose threads may hold the lock.
            return tuple(self._redactor.event(event) for event in events)
        # Outputs come from threads of their own: pieces are put together, recorded and told in
        # one order.
        with self._lock:
            clean = tuple(shown for event in events for shown in self._pieces.redact(event))
            if self._has_ended:
                return clean
            self._note_cells(clean)
            notices = self._record(clean) if clean else ()
        if self._notebook is not None:
            for event in clean:
                if isinstance(event, CELL_EVENTS):
                    self._notebook.apply(event)
        return (*clean, *notices)

    def end(self, last: RunFinished) -> None:
        """End the record of a run whose thread does not react; from any other thread.

        Cells that run have their end recorded, too. What the thread publishes when it wakes up is
        still redacted, and neither recorded nor told to anybody.
        """
        now = time.monotonic()
        cells = tuple(
            CellFinished(cell, Execution("interrupted", now - began, note=last.reason))
            for cell, began in tuple(self._open_cells.items())
        )
        self.publish(*cells, last)
        self._has_ended = True

    def _note_cells(self, events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, CellStarted):
                self._open_cells[event.cell_id] = time.monotonic()
            elif isinstance(event, CellFinished):
                self._open_cells.pop(event.cell_id, None)

    def _record(self, clean: tuple[Event, ...]) -> tuple[Event, ...]:
        recorded = self._journal.record(*clean)
        notices = self._journal.take_notices()
        if notices:
            recorded = (*recorded, *self._journal.record(*notices))
        if self._listener is not None:
            self._listener(recorded)
        return notices

    def output(self, event: CellOutput) -> CellOutput:
        """The sink a kernel calls at capture, from any thread.

        A stream's empty text says that it has ended. The returned one is empty where all of it is
        held back.
        """
        for shown in self.publish(event):
            if isinstance(shown, CellOutput):
                return shown
        return replace(event, message=StreamOutput("stdout", ""))


class _PiecewiseEvents:
    """Redacts events; text that comes in several of them as one text."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._deltas: dict[type[TextDelta] | type[ReasoningDelta], StreamRedactor] = {}
        self._streams: dict[tuple[str, str], StreamRedactor] = {}
        self._cut_displays: dict[tuple[str, str], CellOutput] = {}
        """Displays of which the end was held back, as they will be when their cell has ended."""

    def redact(self, event: Event) -> Iterator[Event]:
        """What may be shown of an event, and before it what had to wait for it."""
        match event:
            case TextDelta() | ReasoningDelta():
                stream = self._deltas.setdefault(type(event), StreamRedactor(self._redactor))
                yield from _delta(type(event), stream.feed(event.text))
            case CellOutput():
                yield from self._output(event)
            case _:
                yield from self._waiting_for(event)
                yield self._redactor.event(event)

    def _waiting_for(self, event: Event) -> Iterator[Event]:
        match event:
            case ModelRetrying():
                self._deltas.clear()  # what came so far is void
            case ModelSilent():
                for kind, stream in self._deltas.items():
                    yield from _delta(kind, stream.settle())
            case ModelAsked() | ModelReplied() | ToolStarted() | Notice(level="error"):
                yield from self._end_reply()
            case CellFinished():
                yield from self._end_cell(event.cell_id)
            case RunFinished():
                yield from self._end_reply()
                cells = [cell_id for cell_id, _ in (*self._streams, *self._cut_displays)]
                for cell_id in dict.fromkeys(cells):
                    yield from self._end_cell(cell_id)

    def _end_reply(self) -> Iterator[Event]:
        deltas, self._deltas = self._deltas, {}
        for kind, stream in deltas.items():
            yield from _delta(kind, stream.flush())

    def _end_cell(self, cell_id: str) -> Iterator[Event]:
        for key in [key for key in self._streams if key[0] == cell_id]:
            yield from _stream_output(key, self._streams.pop(key).flush())
        for key in [key for key in self._cut_displays if key[0] == cell_id]:
            yield self._redactor.event(self._cut_displays.pop(key))

    def _output(self, event: CellOutput) -> Iterator[CellOutput]:
        message = event.message
        if isinstance(message, StreamOutput):
            key = (event.cell_id, message.name)
            stream = self._streams.setdefault(key, StreamRedactor(self._redactor))
            text = stream.feed(message.text) if message.text else stream.flush()
            if not message.text:
                del self._streams[key]
            yield from _stream_output(key, text)
        elif isinstance(message, Updatable) and message.display_id:
            yield self._redactor.event(self._without_open_ends(event, message))
        else:
            yield self._redactor.event(event)

    def _without_open_ends(self, event: CellOutput, message: Updatable) -> CellOutput:
        """A display that may be updated, without what the next update could make a secret of."""
        data = {mime: self._without_open_end(mime, value) for mime, value in message.data.items()}
        key = (event.cell_id, message.display_id)
        if data == message.data:
            self._cut_displays.pop(key, None)
            return event
        whole = DisplayUpdate(message.display_id, message.data, message.metadata)
        self._cut_displays[key] = CellOutput(event.cell_id, whole)
        return replace(event, message=replace(message, data=data))

    def _without_open_end(self, mime: str, value: object) -> object:
        if not isinstance(value, str) or not mime.startswith(("text/", "image/svg")):
            return value
        tags = LAST_TAGS.match(value[-LAST_TAGS_CHARACTERS:][::-1])
        end = len(value) - (tags.end() if tags else 0)
        cut = self._redactor.find_cut(value[:end]).position
        return value if cut == end else value[:cut] + value[end:]


def _delta(
    kind: type[TextDelta] | type[ReasoningDelta], text: str
) -> Iterator[TextDelta | ReasoningDelta]:
    if text:
        yield kind(text)


def _stream_output(key: tuple[str, str], text: str) -> Iterator[CellOutput]:
    if text:
        yield CellOutput(key[0], StreamOutput(key[1], text))
