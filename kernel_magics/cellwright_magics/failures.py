"""What ends the calling cell with an error, in one line and without a traceback."""

from __future__ import annotations

from cellwright.errors import CellwrightError


class RunFailedError(CellwrightError):
    """A run did not complete, or could not begin, where nobody watches (nbclient, papermill).

    There the error has to be an ``error`` output, which a ``UsageError`` is not.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"RunFailedError: {self}"]
