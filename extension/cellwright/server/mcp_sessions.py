"""The MCP clients of one server: each has a session of its own, which ends when it is silent."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import cast

from cellwright.errors import SetupError
from cellwright.mcp_server import Workroom
from cellwright.mcp_server.session import Session
from cellwright.server.application import Application

SESSION_LIMIT = 16
SILENT_SECONDS = 6 * 3_600.0
"""A client that has not been heard of for so long is gone."""
PATIENCE_SECONDS = 60.0
"""Where there are too many, one that was silent for so long makes room."""


@dataclass
class _Known:
    session: Session
    owner: str
    heard_at: float = field(default=0.0)


def open_sessions(application: Application) -> McpSessions:
    """The sessions of a server.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.outside is None:
            application.outside = McpSessions()
        return cast("McpSessions", application.outside)


class McpSessions:
    """Sessions by their ids, which only their clients know; safe to use from any thread.

    Args:
        clock: Tells how long a client was silent.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, _Known] = {}
        self._is_closed = False

    @property
    def is_busy(self) -> bool:
        """Whether any call goes on."""
        with self._lock:
            return any(known.session.is_busy for known in self._known.values())

    def open(self, room: Workroom, owner: str) -> str:
        """A new session; its id.

        Raises:
            SetupError: There are too many.
        """
        self._make_room()
        with self._lock:
            if self._is_closed or len(self._known) >= SESSION_LIMIT:
                raise SetupError(
                    f"{SESSION_LIMIT} MCP clients are connected already.", hint="Close one of them."
                )
            name = secrets.token_urlsafe(24)
            self._known[name] = _Known(Session(room), owner, self._clock())
            return name

    def find(self, name: str, owner: str) -> Session | None:
        """The session of that id and person; None: there is none."""
        with self._lock:
            known = self._known.get(name)
            if known is None or known.owner != owner:
                return None
            known.heard_at = self._clock()
            return known.session

    def end(self, name: str, owner: str) -> bool:
        """End a session; waits for its run. False: there is none."""
        session = self.find(name, owner)
        with self._lock:
            if session is None or self._known.pop(name, None) is None:
                return False
        session.close()
        return True

    def close(self) -> None:
        """End every session; waits for their runs."""
        with self._lock:
            self._is_closed = True
            ended, self._known = tuple(self._known.values()), {}
        for known in ended:
            known.session.close()

    def _make_room(self) -> None:
        """End sessions whose clients are gone, and the most silent one where there are too many."""
        now = self._clock()
        with self._lock:
            idle = [item for item in self._known.items() if not item[1].session.is_busy]
            idle.sort(key=lambda item: item[1].heard_at)
            ended = [item for item in idle if now - item[1].heard_at > SILENT_SECONDS]
            is_full = len(self._known) - len(ended) >= SESSION_LIMIT
            if is_full and idle and now - idle[0][1].heard_at > PATIENCE_SECONDS:
                ended = idle[:1]
            for name, _ in ended:
                del self._known[name]
        for _, known in ended:
            known.session.close()
