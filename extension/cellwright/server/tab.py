"""One connected page: who it is, which notebooks it has open, and how to ask it something."""

from __future__ import annotations

import queue
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import replace

from cellwright.server.access import Person
from cellwright.server.frames import Request
from cellwright.server.outbox import Line, Outbox
from cellwright.server.tab_frames import Attach, Hello, Reply
from cellwright.server.wire_events import EventSource
from cellwright.stopping import Stop

REPLY_SECONDS = 3.0
"""A tab that does not answer within this time is not waited for: it may be asleep."""
ASLEEP_SECONDS = 0.5
"""So long is waited for one that did not answer the last time."""
LOOK_SECONDS = 0.1


class Tab:
    """A page at the other end of a line.

    Args:
        line: The connection.
        source: The record of what happened.
        person: Who uses it.
    """

    def __init__(self, line: Line, source: EventSource, person: Person | None = None) -> None:
        self.person = person or Person()
        self.outbox = Outbox(line, source)
        self.hello: Hello | None = None
        self.attached: dict[str, Attach] = {}
        """The notebooks that it has open, by the id it gave them."""
        self.is_open = True
        self._is_asleep = False
        self._inbox: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._worker: threading.Thread | None = None
        self._replies: dict[str, Reply | None] = {}
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
            self._worker = threading.Thread(
                target=self._work_all, name="cellwright-inbox", daemon=True
            )
            self._worker.start()
        self._inbox.put(job)

    def ask(self, request: Request, stop: Stop, seconds: float = REPLY_SECONDS) -> Reply | None:
        """What the page answers; None: it does not, or is gone.

        Raises:
            RunCancelled: Somebody pressed Stop.
        """
        name = secrets.token_hex(8)
        with self._replied:
            self._replies[name] = None
            seconds = min(seconds, ASLEEP_SECONDS) if self._is_asleep else seconds
        self.outbox.request(request.chat, replace(request, request=name))
        deadline = time.monotonic() + seconds
        try:
            with self._replied:
                while self._replies[name] is None and self.is_open:
                    stop.check()
                    left = deadline - time.monotonic()
                    if left <= 0:
                        self._is_asleep = True
                        break
                    self._replied.wait(min(left, LOOK_SECONDS))
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

    def take(self, reply: Reply) -> None:
        """The page has answered; nobody may be waiting for it any more."""
        with self._replied:
            self._is_asleep = False
            if reply.request in self._replies:
                self._replies[reply.request] = reply
                self._replied.notify_all()

    def _work_all(self) -> None:
        while (job := self._inbox.get()) is not None:
            job()
