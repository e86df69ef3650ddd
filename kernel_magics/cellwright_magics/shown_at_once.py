"""What a tool says while it works, shown when it says it and not when the run hands it on."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable

from cellwright.record.events import Event, ToolProgress


class ShownAtOnce:
    """Shows the events of a run, and a tool's progress before its turn.

    Args:
        show: Shows one event; called on the thread that made this alone, since displays of
            another thread would not find their cell.
    """

    def __init__(self, show: Callable[[Event], None]) -> None:
        self._show = show
        self._thread = threading.get_ident()
        self._early: deque[ToolProgress] = deque()

    def at_once(self, event: ToolProgress) -> None:
        """A tool says something now."""
        if threading.get_ident() == self._thread:
            self._early.append(event)
            self._show(event)

    def show(self, event: Event) -> None:
        """The run hands something on; what was shown before is not shown again."""
        if self._early and self._early[0] is event:
            self._early.popleft()
        else:
            self._show(event)
