"""One connected page: which notebooks it has open, what it is sent of each chat, and in what order.

``Following`` catches up with a chat from the record, ``Outbox`` sends frames in batches, ``Tab`` is
the page that has one of each, and ``TabAudience`` is what chats see of all tabs.
"""

from __future__ import annotations

import contextlib
import itertools
import queue
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Protocol

from cellwright.errors import RunCancelled, ToolError
from cellwright.notebooks.memory import MemoryNotebook, check_source
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellEvent,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
)
from cellwright.record.outputs import (
    Cell,
    Execution,
    Output,
    from_nbformat,
    source_hash,
    to_nbformat,
)
from cellwright.record.run_record import RecordedEvent
from cellwright.server import frames
from cellwright.server.application import Person
from cellwright.server.frames import (
    Attach,
    CaughtUp,
    Changed,
    EventPlace,
    Hello,
    PageRequest,
    PlacedCell,
    ReplyFrame,
    ServerFrame,
    WireCell,
    format_frame,
)
from cellwright.server.wire_events import EventSource, WireEvent, events_frame
from cellwright.stopping import Stop, WorkerThread

# What a tab has been sent of a chat: first from the record, then live, and nothing twice.


WAITING_EVENTS = 2_000
WAITING_CHARACTERS = 2_000_000
"""What may wait for a slow tab; past this it is dropped, and read from the record later."""


class Following:
    """A chat as one tab follows it.

    ``add`` may be called from any thread while the owner holds its lock; the rest belongs to the
    thread that sends.

    Args:
        chat: The chat.
        after: What the tab has already; None: nothing.
    """

    def __init__(self, chat: str, after: EventPlace | None) -> None:
        self.chat = chat
        self.is_behind = True
        """The record has to be read before anything live is sent."""
        self.is_caught_up = False
        """The tab was told that it has everything."""
        self.state = ""
        """The newest frame with the chat's state, not sent yet."""
        self.requests: list[str] = []
        """Frames that only make sense after the events before them."""
        self._run = after.run if after is not None else ""
        self._sent = {after.run: after.sequence} if after is not None else {}
        self._waiting: deque[WireEvent] = deque()
        self._characters = 0
        self._dropped = False
        self._ahead: deque[str] = deque()
        """The runs that were listed and are not read to their end."""

    @property
    def has_work(self) -> bool:
        """Whether there is anything to send."""
        waits = bool(self._waiting or self.state or self.requests)
        return self.is_behind or not self.is_caught_up or waits

    def add(self, event: WireEvent) -> None:
        """Something happened just now."""
        if self._dropped:
            return
        self._waiting.append(event)
        self._characters += len(event.text)
        if len(self._waiting) > WAITING_EVENTS or self._characters > WAITING_CHARACTERS:
            self._clear()
            self._dropped = self.is_behind = True

    def begin_page(self) -> None:
        """The record is about to be read: what was dropped until now is in it."""
        self._dropped = False

    def end_reading(self) -> None:
        """The record was read to its end: go on live, unless something was dropped meanwhile."""
        self.is_behind = self._dropped

    def take_live(self) -> list[WireEvent]:
        """What waits and was not sent; empty while the record has to be read first."""
        if self.is_behind:
            return []
        taken = [event for event in self._waiting if self._is_new(event)]
        self._clear()
        return taken

    def next_page(self, source: EventSource) -> tuple[WireEvent, ...]:
        """The next events of the record that were not sent; empty: there are no more."""
        for is_looked_up in (False, True):
            if is_looked_up:
                # A chat of thousands of runs is not listed again for each of them.
                self._ahead = deque(self._runs_from_here(source))
            while self._ahead:
                run = self._ahead[0]
                page = source.page(run, self._sent.get(run, 0))
                if page:
                    return tuple(event for event in page if self._is_new(event))
                self._ahead.popleft()
        return ()

    def _runs_from_here(self, source: EventSource) -> tuple[str, ...]:
        runs = tuple(source.runs(self.chat))
        return runs[runs.index(self._run) :] if self._run in runs else runs

    def _is_new(self, event: WireEvent) -> bool:
        if event.sequence:
            if event.sequence <= self._sent.get(event.run, 0):
                return False
            self._sent[event.run] = event.sequence
            self._run = event.run
        return True

    def _clear(self) -> None:
        self._waiting.clear()
        self._characters = 0


# Callers put frames into a tab's outbox and never wait: a thread for each tab sends them and waits
# where the tab is slow, with a bounded number of frames in memory.


BATCH_SECONDS = 0.025
FRAME_CHARACTERS = 1_000_000
FRAME_EVENTS = 500


class LineClosedError(Exception):
    """The tab is gone."""


class TabConnection(Protocol):
    """A connection to one tab."""

    def send(self, text: str) -> None:
        """Send a frame; return when the connection can take another.

        Raises:
            LineClosedError: The tab is gone.
        """
        ...

    def close(self) -> None:
        """Let go of the tab; once is enough."""
        ...


class Outbox:
    """Frames for one tab.

    Args:
        line: The connection.
        source: The record, for what a slow or a new tab has missed.
    """

    def __init__(self, line: TabConnection, source: EventSource) -> None:
        self._line, self._source = line, source
        self._changed = threading.Condition()
        self._urgent: list[str] = []
        self._following: dict[str, Following] = {}
        self._closed = False
        self._thread: threading.Thread | None = None

    def send(self, frame: ServerFrame) -> None:
        """Send a frame soon, whatever else waits."""
        with self._changed:
            self._urgent.append(format_frame(frame))
            self._wake()

    def request(self, chat: str, frame: ServerFrame) -> None:
        """Send a frame after all that happened in a chat before."""
        with self._changed:
            following = self._following.get(chat)
            waiting = self._urgent if following is None else following.requests
            waiting.append(format_frame(frame))
            self._wake()

    def state(self, chat: str, text: str) -> None:
        """Send a chat's state to a tab that follows it; a newer one replaces one that waits."""
        with self._changed:
            following = self._following.get(chat)
            if following is not None:
                following.state = text
                self._wake()

    def event(self, chat: str, events: Iterable[WireEvent]) -> None:
        """Something happened in a chat."""
        with self._changed:
            following = self._following.get(chat)
            if following is not None:
                for event in events:
                    following.add(event)
                self._wake()

    def follows(self, chat: str) -> bool:
        """Whether the tab is to be told of a chat."""
        return chat in self._following

    def follow(self, chat: str, after: EventPlace | None) -> None:
        """Send what the record has of a chat after a place, then what happens."""
        with self._changed:
            self._following[chat] = Following(chat, after)
            self._wake()

    def unfollow(self, chat: str) -> None:
        """Send nothing more of a chat."""
        with self._changed:
            self._following.pop(chat, None)

    def close(self) -> None:
        """Send nothing more at all."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def join(self, seconds: float) -> None:
        """Wait until nothing is sent any more."""
        if self._thread is not None:
            self._thread.join(seconds)

    def _wake(self) -> None:
        if self._closed:
            return
        if self._thread is None:
            self._thread = WorkerThread(self._run, name="tab")
            self._thread.start()
        self._changed.notify_all()

    def _run(self) -> None:
        sent_at = 0.0
        try:
            while self._wait(sent_at):
                self._send_all()
                sent_at = time.monotonic()
        except LineClosedError:
            pass
        finally:
            # Whatever went wrong, the tab notices, connects again and gets what it has missed.
            self.close()
            self._line.close()

    def _wait(self, sent_at: float) -> bool:
        """Wait for something to send; False: the tab is gone."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._has_work)
            # Sent at once when the line was idle; otherwise what comes soon goes along.
            due = sent_at + BATCH_SECONDS - time.monotonic()
            self._changed.wait_for(lambda: self._closed or self._is_pressing, max(0.0, due))
            return not self._closed

    @property
    def _has_work(self) -> bool:
        return bool(self._urgent) or any(item.has_work for item in self._following.values())

    @property
    def _is_pressing(self) -> bool:
        items = self._following.values()
        return bool(self._urgent) or any(item.is_behind or item.requests for item in items)

    def _send_all(self) -> None:
        with self._changed:
            urgent, self._urgent = self._urgent, []
            followings = tuple(self._following.values())
        for text in urgent:
            self._line.send(text)
        for following in followings:
            if following.is_behind:
                self._send_page(following)
            else:
                self._send_live(following)

    def _send_page(self, following: Following) -> None:
        with self._changed:
            following.begin_page()
        page = following.next_page(self._source)
        if page:
            self._send_events(following.chat, page)
            return
        with self._changed:
            following.end_reading()

    def _send_live(self, following: Following) -> None:
        with self._changed:
            events = following.take_live()
            if following.is_behind:
                return
            state, following.state = following.state, ""
            requests, following.requests = following.requests, []
        self._send_events(following.chat, events)
        for text in filter(None, (state, *requests)):
            self._line.send(text)
        if not following.is_caught_up:
            following.is_caught_up = True
            self._line.send(format_frame(CaughtUp(following.chat)))

    def _send_events(self, chat: str, events: Sequence[WireEvent]) -> None:
        for run, of_run in itertools.groupby(events, key=lambda event: event.run):
            for batch in _batches(of_run):
                self._line.send(events_frame(chat, run, batch))


def _batches(events: Iterable[WireEvent]) -> Iterable[list[WireEvent]]:
    batch: list[WireEvent] = []
    size = 0
    for event in events:
        batch.append(event)
        size += len(event.text)
        if size > FRAME_CHARACTERS or len(batch) >= FRAME_EVENTS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


REPLY_SECONDS = 3.0
"""A tab that does not answer within this time is not waited for: it may be asleep."""
ASLEEP_SECONDS = 0.5
"""So long is waited for one that did not answer the last time."""


class Tab:
    """A page at the other end of a line.

    Args:
        line: The connection.
        source: The record of what happened.
        person: Who uses it.
    """

    def __init__(
        self, line: TabConnection, source: EventSource, person: Person | None = None
    ) -> None:
        self.person = person or Person()
        self.outbox = Outbox(line, source)
        self.hello: Hello | None = None
        self.attached: dict[str, Attach] = {}
        """The notebooks that it has open, by the id it gave them."""
        self.is_open = True
        self.is_asleep = False
        """It did not answer the last time it was asked."""
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._replies: dict[str, ReplyFrame | None] = {}
        self._replied = threading.Condition()

    @property
    def owner(self) -> str:
        """The name that its person's chats are kept under."""
        return self.person.name

    @property
    def name(self) -> str:
        """What the page calls itself; it proves nothing."""
        return self.hello.tab if self.hello is not None else ""

    @property
    def nonce(self) -> str:
        """What only the page itself knows; empty before it said hello."""
        return self.hello.nonce if self.hello is not None else ""

    @property
    def backlog(self) -> int:
        """How many frames of it wait to be handled."""
        return self._inbox.qsize()

    def work(self, job: Callable[[], None]) -> None:
        """Do something for the page, after what was to be done before; return at once."""
        if self._worker is None:
            self._worker = WorkerThread(self._work_all, name="inbox")
            self._worker.start()
        self._inbox.put(job)

    def ask(
        self, request: PageRequest, stop: Stop, seconds: float = REPLY_SECONDS
    ) -> ReplyFrame | None:
        """What the page answers; None: it does not, or is gone.

        Raises:
            RunCancelled: Somebody pressed Stop.
        """
        name = secrets.token_hex(8)
        with self._replied:
            self._replies[name] = None
            seconds = min(seconds, ASLEEP_SECONDS) if self.is_asleep else seconds
        self.outbox.request(request.chat, replace(request, request=name))
        deadline = time.monotonic() + seconds
        try:
            with self._replied:
                while self._replies[name] is None and self.is_open:
                    left = deadline - time.monotonic()
                    if left <= 0:
                        self.is_asleep = True
                        break
                    stop.wait_on(self._replied, left)
                return self._replies[name]
        finally:
            with self._replied:
                del self._replies[name]

    def close(self) -> None:
        """The page is gone."""
        with self._replied:
            self.is_open = False
            self._replied.notify_all()
        self.outbox.close()
        self._inbox.put(None)

    def join(self, seconds: float) -> None:
        """Wait until its threads have ended."""
        if self._worker is not None:
            self._worker.join(seconds)
        self.outbox.join(seconds)

    def take(self, reply: ReplyFrame) -> None:
        """The page has answered; nobody may be waiting for it any more."""
        with self._replied:
            self.is_asleep = False
            if reply.request in self._replies:
                self._replies[reply.request] = reply
                self._replied.notify_all()

    def _work_all(self) -> None:
        while (job := self._inbox.get()) is not None:
            job()


class TabAudience(Protocol):
    """The tabs of this server."""

    def publish(self, chat: str, recorded: tuple[RecordedEvent, ...]) -> None:
        """Send events to the tabs that follow a chat."""
        ...

    def tell(self, state: frames.ChatState) -> None:
        """Send a chat's state to the tabs that follow it."""
        ...

    def page(self, nonce: str) -> Tab | None:
        """The page with that nonce; None: it is not connected."""
        ...


# A notebook that is open in a tab, seen from the server: a mirror, and the tab to ask.
#
# The file is never read nor written here. The person's text wins: what the tab says of a cell
# counts more than what the mirror holds.


CLOSED = "Nothing ran: the person closed the notebook."


class Driver:
    """Which tab draws a chat's notebook now; another one may take over.

    Args:
        find: The tab; None: none is connected.
        attach: What the tab said of the notebook.
    """

    def __init__(self, find: Callable[[], Tab | None], attach: Attach) -> None:
        self._find = find
        self.attach = attach

    def move(self, attach: Attach) -> None:
        """Go on with what a tab says of the notebook now; the run stays in its kernel."""
        self.attach = replace(attach, kernel_id=self.attach.kernel_id)

    @property
    def tab(self) -> Tab | None:
        """The tab that draws; None: none is connected, or it does not have the notebook open."""
        tab = self._find()
        return tab if tab is not None and self.attach.notebook in tab.attached else None


class AttachedNotebook:
    """``notebooks.Notebook`` for one run.

    Args:
        chat: Whose run it is.
        driver: Who draws.
        stop: Of the run; ends waiting for the tab.
        before: The notebook of the run before, whose cells count until the tab has told them.
    """

    def __init__(
        self, chat: str, driver: Driver, stop: Stop, before: AttachedNotebook | None = None
    ) -> None:
        self.driver = driver
        self.is_closed = False
        """The person closed it."""
        self._chat, self._stop = chat, stop
        self._lock = threading.RLock()
        path = driver.attach.path
        self._mirror = MemoryNotebook(path=path)
        if before is not None and before.path == path:
            self._mirror = MemoryNotebook(before._mirror.cells(), path)
        self._is_behind = True
        """The tab was not asked, or may have changed something that it could not tell."""
        self._running: set[str] = set()

    @property
    def path(self) -> str:
        """Where it is now; a rename moves it."""
        return self.driver.attach.path

    @property
    def is_editable(self) -> bool:
        """Whether cells can be added and changed; not in a read-only notebook."""
        return self.driver.attach.editable

    def move(self, attach: Attach) -> None:
        """Go on with what a tab says of it now; its cells are asked for before they are read."""
        self.driver.move(attach)
        self.is_closed, self._is_behind = False, True

    def load(self) -> bool:
        """Ask the tab for the cells; False: it did not answer.

        Raises:
            RunCancelled: Somebody pressed Stop.
        """
        self._is_behind = False
        reply = self._ask(PageRequest("", self._chat, self.driver.attach.notebook, "cells"))
        if reply is None or not reply.ok:
            self._is_behind = True
            return False
        with self._lock:
            cells = tuple(_cell(cell) for cell in reply.cells)
            before, self._mirror = self._mirror, MemoryNotebook(cells, self.path)
            # What a running cell of ours has shown so far is known here best.
            self._mirror.go_on_from(before, self._running)
        return True

    def cells(self) -> tuple[Cell, ...]:
        """All cells, as far as is known."""
        tab = self.driver.tab if self._is_behind else None
        # A tab that has just come back is asked once it gets what it has missed before.
        if tab is not None and not tab.is_asleep and tab.outbox.follows(self._chat):
            with contextlib.suppress(RunCancelled):  # whoever runs the next step is told
                self.load()
        with self._lock:
            return self._mirror.cells()

    def apply(self, event: CellEvent) -> None:
        """Change the mirror; the tab that draws does the same with the same event."""
        with self._lock:
            if isinstance(event, CellStarted):
                self._running.add(event.cell_id)
            elif isinstance(event, CellFinished):
                self._running.discard(event.cell_id)
            self._mirror.apply(event)

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source and the tab is ready to draw it.

        Without a tab that answers there is nobody to wait for.

        Raises:
            ToolError: The person deleted or changed the cell, or the notebook cannot be changed.
        """
        request = PageRequest(
            "",
            self._chat,
            self.driver.attach.notebook,
            "confirm",
            cell_id=cell_id,
            source_hash=source_hash(source),
            message_id=message_id,
        )
        reply = self._ask(request)
        if reply is not None and not reply.ok:
            self._refused(reply, cell_id)
        check_source(self.cells(), cell_id, source)

    def changed(self, frame: Changed) -> None:
        """The person changed something."""
        with self._lock:
            for cell_id in frame.removed:
                self._mirror.apply(CellRemoved(cell_id, ""))
            for placed in frame.cells:
                self._put(placed)

    def _ask(self, request: PageRequest) -> ReplyFrame | None:
        tab = self.driver.tab
        return tab.ask(request, self._stop) if tab is not None else None

    def _refused(self, reply: ReplyFrame, cell_id: str) -> None:
        if reply.reason == "read_only":
            raise ToolError("Nothing ran: the notebook is read-only.", hint="Tell the person.")
        if reply.reason == "closed":
            self.is_closed = True
            raise ToolError(CLOSED)
        with self._lock:
            if reply.reason == "gone":
                self._mirror.apply(CellRemoved(cell_id, ""))
            for cell in reply.cells:
                self._update(_cell(cell))

    def _put(self, placed: PlacedCell) -> None:
        cell = _cell(placed.cell)
        known = {known.id: known for known in self._mirror.cells()}
        before = known.get(cell.id)
        if before is not None and before.cell_type != cell.cell_type:
            self._mirror.apply(CellRemoved(cell.id, ""))
            before = None
        if before is None:
            self._mirror.apply(CellAdded(cell.id, cell.source, cell.cell_type, placed.after))
        self._mirror.apply(CellMoved(cell.id, placed.after))
        self._update(cell)

    def _update(self, cell: Cell) -> None:
        known = next((known for known in self._mirror.cells() if known.id == cell.id), None)
        if known is None:
            return
        if known.source != cell.source:
            self._mirror.apply(CellEdited(cell.id, cell.source, ""))
        # What a running cell of ours has shown so far is known here best.
        if cell.id not in self._running and _saved(known) != _saved(cell):
            self._show(cell)

    def _show(self, cell: Cell) -> None:
        self._mirror.apply(CellStarted(cell.id))
        for output in cell.outputs:
            self._mirror.apply(CellOutput(cell.id, output))
        execution = Execution("ok", 0.0, execution_count=cell.execution_count)
        self._mirror.apply(CellFinished(cell.id, execution))


def _cell(cell: WireCell) -> Cell:
    return Cell(
        cell.id,
        cell.cell_type,
        cell.source,
        tuple(_known_outputs(cell)),
        cell.execution_count,
        cell.metadata,
    )


def _known_outputs(cell: WireCell) -> Iterator[Output]:
    for output in cell.outputs:
        # A kind that a newer file format has is left out.
        with contextlib.suppress(ValueError):
            yield from_nbformat(output)


def _saved(cell: Cell) -> list[dict[str, Any]]:
    return [to_nbformat(output) for output in cell.outputs]
