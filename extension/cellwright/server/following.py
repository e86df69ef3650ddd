"""What one tab has been sent of one chat: catch up from the record, then live, nothing twice."""

from __future__ import annotations

from collections import deque

from cellwright.server.frames import Place
from cellwright.server.wire_events import EventSource, WireEvent

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

    def __init__(self, chat: str, after: Place | None) -> None:
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
