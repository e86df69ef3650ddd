"""What an MCP server over HTTP refuses, in words that say what to do: the SDK tells no status."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

from cellwright.errors import ToolError
from cellwright.external import Definition
from cellwright.external.variables import variables_in

ELSEWHERE = "It signs in with OAuth, which cellwright does not."
GIVE = (
    "Put a token into an environment variable where cellwright runs, and name that variable: "
    "--key VARIABLE on the line, key = 'VARIABLE' in a file."
)


class Refusal:
    """What the last answer to a message was, where it was a refusal.

    Args:
        definition: The server.
    """

    def __init__(self, definition: Definition) -> None:
        self._definition = definition
        self._status = 0
        self._wants_oauth = False

    def note(self, method: str, status: int, headers: Mapping[str, str]) -> None:
        """Look at an answer; a server need not answer what is no ``POST``."""
        if method == "POST":
            self._status = status if status >= 400 else 0
            self._wants_oauth = "resource_metadata" in headers.get("www-authenticate", "")

    @property
    def is_forgotten(self) -> bool:
        """Whether it no longer knows the session; what was sent was not begun then."""
        return self._status == HTTPStatus.NOT_FOUND

    @property
    def is_of_key(self) -> bool:
        """Whether a key is missing, or was not taken."""
        return self._status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

    def error(self) -> ToolError | None:
        """What people and the model are told; None: it was no refusal, or says why itself."""
        if not self._status or self._status == HTTPStatus.BAD_REQUEST:
            return None
        try:
            words = f"{self._status} {HTTPStatus(self._status).phrase}"
        except ValueError:
            words = str(self._status)
        what = f"The server {self._definition.name!r} refused: {words}."
        return ToolError(what, hint=self._hint())

    def _hint(self) -> str:
        if self.is_forgotten:
            return f"Look at its address: {self._definition.url}."
        if not self.is_of_key:
            return ""
        templates = [*self._definition.headers.values(), f"${{{self._definition.key}}}"]
        given = variables_in(templates)
        if given:
            return f"What {' and '.join(given)} holds was not taken; it may be out of date."
        return f"{ELSEWHERE} {GIVE}" if self._wants_oauth else GIVE
