"""Which stored files are used: a file that no run was given and no library holds may go."""

from __future__ import annotations

from cellwright.errors import StoreError
from cellwright.record.events import Event, RunStarted
from cellwright.record.stored_names import stored_hashes
from cellwright.store.database import Database, Statement

INSERT = "INSERT OR IGNORE INTO file_uses VALUES (?, ?)"
# The row without a hash tells a read that failed from tables without rows.
GIVEN = "SELECT DISTINCT sha FROM file_uses UNION ALL SELECT ''"
IN_LIBRARIES = (
    "SELECT place FROM library_places UNION SELECT place FROM library_documents "
    "WHERE NOT is_removed UNION ALL SELECT ''"
)


def file_use_statements(run_id: str, event: Event) -> list[Statement]:
    """What notes the stored files that a run is given."""
    files = event.files if isinstance(event, RunStarted) else ()
    return [Statement(INSERT, (sha, run_id)) for sha in stored_hashes(files)]


class FileUses:
    """The files that runs were given and that libraries hold.

    Args:
        database: Where runs and libraries are.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def hashes(self) -> frozenset[str]:
        """The hashes of the files that are used.

        Raises:
            StoreError: They cannot all be told now.
        """
        places = self._all(IN_LIBRARIES)
        return self._all(GIVEN).union(stored_hashes(places))

    def _all(self, query: str) -> frozenset[str]:
        found = frozenset(str(text) for (text,) in self._database.read(query))
        if "" not in found or not self._database.is_durable:
            raise StoreError("The files in use cannot be told.", hint="Try again later.")
        return found - {""}
