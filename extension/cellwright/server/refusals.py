"""What a tab is told when something it asked for is not done."""

from __future__ import annotations

from cellwright.errors import CellwrightError
from cellwright.server.frames import ErrorFrame


class RefusedError(CellwrightError):
    """A frame that is not followed.

    Args:
        code: A short name for programs.
        message: Why not.
        hint: What to do.
    """

    def __init__(self, code: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


def error_frame(
    error: CellwrightError, *, code: str = "", request: str = "", chat: str = ""
) -> ErrorFrame:
    """The frame that tells a tab of an error."""
    code = code or (error.code if isinstance(error, RefusedError) else "setup")
    return ErrorFrame(code, error.message, error.hint, request=request, chat=chat)
