"""Removes chats and files that have expired: every hour, a bounded number, while no run goes on."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from cellwright.errors import CellwrightError
from cellwright.store.chats import ChatStore

log = logging.getLogger(__name__)
FIRST_SECONDS = 60.0
"""A start is not the time for it."""
HOUR_SECONDS = 3_600.0


class ExpiryWatch:
    """A thread that sleeps most of the time.

    Args:
        chats: Opens the chats, when they are needed.
        is_busy: Whether a run goes on: then nothing is removed.
        first_seconds: How long after the start it looks for the first time.
        files: Removes the files that no run was given.
    """

    def __init__(
        self,
        chats: Callable[[], ChatStore],
        is_busy: Callable[[], bool],
        first_seconds: float = FIRST_SECONDS,
        *,
        files: Callable[[], object] = int,
    ) -> None:
        self._chats, self._is_busy, self._files = chats, is_busy, files
        self._first_seconds = first_seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._work, name="cellwright-expiry", daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def look(self) -> int:
        """Remove what has expired; how many chats that were."""
        try:
            removed = self._chats().purge_expired(may_go_on=self._may_go_on)
            if self._may_go_on():
                self._files()  # a chat that went may have been the last to use some
        except CellwrightError as error:
            log.info("cellwright: what has expired stays for now: %s", error)
            return 0
        return removed

    def close(self, seconds: float) -> None:
        """Watch no more, and wait that long for what is being done."""
        self._ended.set()
        if self._thread.is_alive():
            self._thread.join(seconds)

    def _may_go_on(self) -> bool:
        return not self._ended.is_set() and not self._is_busy()

    def _work(self) -> None:
        wait = self._first_seconds
        while not self._ended.wait(wait):
            self.look()
            wait = HOUR_SECONDS
