"""The widgets that cells show, closed when they are no longer shown."""

from __future__ import annotations

from typing import Protocol

from cellwright_magics.calling_cell import CallingCell


class Closable(Protocol):
    """Something that holds widgets, and may do something behind them."""

    def close(self) -> None:
        """End it; a second call does nothing."""
        ...


class OpenWidgets:
    """What is open, by the cell that shows it."""

    def __init__(self) -> None:
        self._open: dict[str, Closable] = {}

    def add(self, calling: CallingCell, shown: Closable) -> None:
        """A cell shows this now; what it showed before is closed."""
        # Not every front end says which cell it is.
        name = str(calling.metadata.get("cellId") or calling.token)
        before = self._open.pop(name, None)
        if before is not None:
            before.close()
        self._open[name] = shown

    def close(self) -> None:
        """Close all."""
        while self._open:
            self._open.popitem()[1].close()
