"""What became of the cells a run made, in the document where they were put."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Literal, get_args

from cellwright.errors import SetupError
from cellwright.store.database import Database, Statement

Fate = Literal["saved", "deleted", "discarded"]
"""In the file; taken out by the person; not wanted when it was offered later."""
FATES: tuple[Fate, ...] = get_args(Fate)
INSERT = "INSERT OR REPLACE INTO cell_fates VALUES (?, ?, ?, ?)"


class CellFates:
    """The fates of one database's cells; a cell without one may still be waiting.

    Args:
        database: Where fates are kept.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def set(self, run_id: str, fates: Mapping[str, str]) -> None:
        """Keep what became of a run's cells; a later word replaces an earlier one.

        Raises:
            SetupError: A fate is none of the known ones; nothing is kept.
        """
        unknown = sorted({fate for fate in fates.values() if fate not in FATES})
        if unknown:
            names = ", ".join(repr(fate) for fate in unknown)
            raise SetupError(f"No cell's fate is {names}.", hint=f"Use one of: {', '.join(FATES)}.")
        now = self._clock()
        rows = [(run_id, cell_id, fate, now) for cell_id, fate in fates.items()]
        if rows:
            self._database.write(*(Statement(INSERT, row) for row in rows))

    def of(self, run_id: str) -> dict[str, Fate]:
        """What became of a run's cells, by their ids."""
        # A row that waits in memory comes last, and is newer than the one in the file.
        rows = self._database.read(
            "SELECT cell_id, fate FROM cell_fates WHERE run_id = ?", (run_id,)
        )
        return dict(rows)
