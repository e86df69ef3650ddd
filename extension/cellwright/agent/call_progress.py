"""What a tool says while it works: recorded and shown at once, and never after its end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

from cellwright.agent.publishing import Publisher
from cellwright.record.events import Event, ToolProgress

INTERVAL_SECONDS = 0.1
"""A tool may say a thousand things a second; people and the record get about ten of them."""


class CallProgress:
    """The progress of one call.

    Args:
        call_id: The call.
        publisher: Records it, secrets taken out.
        show: Shows it at once; None: it is seen when the run hands it on.
        clock: Seconds, for the pace.
    """

    def __init__(
        self,
        call_id: str,
        publisher: Publisher,
        show: Callable[[ToolProgress], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._call_id = call_id
        self._publisher = publisher
        self._show = show
        self._clock = clock
        self._said_at = float("-inf")
        self._latest: ToolProgress | None = None
        self._waiting: list[Event] = []
        self._is_open = True
        self._lock = threading.Lock()

    def note(self, text: str, fraction: float | None) -> None:
        """The tool says something; from any thread."""
        if not self._is_open:
            return
        with self._lock:
            self._latest = ToolProgress(self._call_id, text, fraction)
            is_due = self._clock() - self._said_at >= INTERVAL_SECONDS
        if is_due:
            self._say()

    def take(self) -> Iterator[Event]:
        """What was said since the last time, the latest included, for the run to hand on."""
        self._say()
        with self._lock:
            waiting, self._waiting = self._waiting, []
        yield from waiting

    def close(self) -> None:
        """What is said after the end is not heard."""
        self._is_open = False

    def _say(self) -> None:
        with self._lock:
            latest, self._latest = self._latest, None
            if latest is None:
                return
            self._said_at = self._clock()
            published = self._publisher.publish(latest)
            self._waiting.extend(published)
        for event in published:
            if self._show is not None and isinstance(event, ToolProgress):
                self._show(event)
