"""What goes out to one tab: in order, in batches, never more in memory than a little.

Whoever has something to say puts it here and goes on at once; one thread for each tab sends it and
waits where the tab is slow.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterable, Sequence
from typing import Protocol

from cellwright.server.following import Following
from cellwright.server.frame_parsing import format_frame
from cellwright.server.frames import CaughtUp, Place, ServerFrame
from cellwright.server.wire_events import EventSource, WireEvent, events_frame

BATCH_SECONDS = 0.025
FRAME_CHARACTERS = 1_000_000
FRAME_EVENTS = 500


class LineClosedError(Exception):
    """The tab is gone."""


class Line(Protocol):
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

    def __init__(self, line: Line, source: EventSource) -> None:
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

    def follow(self, chat: str, after: Place | None) -> None:
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
            self._thread = threading.Thread(target=self._run, name="cellwright-tab", daemon=True)
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
