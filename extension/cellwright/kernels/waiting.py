"""Says that somebody else's cell is waited for, once it takes a while."""

from __future__ import annotations

import time
from collections.abc import Callable

TOLD_AFTER_SECONDS = 1.0


class Waiting:
    """Told again and again whether something is waited for; tells of it once it is worth it.

    Args:
        tell: Called with True when a longer wait has begun and with False when it is over.
    """

    def __init__(self, tell: Callable[[bool], None] | None = None) -> None:
        self.tell = tell
        self._since: float | None = None
        self._told = False

    def note(self, waits: bool) -> None:
        """Whether something is waited for right now."""
        if not waits:
            self._since = None
        elif self._since is None:
            self._since = time.monotonic()
        long = self._since is not None and time.monotonic() - self._since >= TOLD_AFTER_SECONDS
        if self.tell is not None and long != self._told:
            self._told = long
            self.tell(long)
