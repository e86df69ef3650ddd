"""Whether a cell still is what is about to run; the words for the model where it is not."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.errors import ToolError
from cellwright.record.outputs import Cell


def check_source(cells: Iterable[Cell], cell_id: str, source: str) -> None:
    """Return when one of the cells has this id and this source.

    Raises:
        ToolError: The person deleted or changed it.
    """
    found = next((cell for cell in cells if cell.id == cell_id), None)
    if found is None:
        raise ToolError(
            f"Nothing ran: the person deleted cell {cell_id!r}.",
            hint="Do not add it again unless they ask for it.",
        )
    if found.source != source:
        raise ToolError(
            f"Nothing ran: the person changed cell {cell_id!r}. It now reads:\n{found.source}\n",
            hint="Run it as it is if it still fits, or edit it, keeping what they wrote.",
        )
