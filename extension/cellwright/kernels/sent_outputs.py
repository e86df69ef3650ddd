"""Counts what a cell sends, and keeps the last state of its displays.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later. A channel that is
read too slowly drops messages without a word: whoever reads compares, and asks for what it missed.
"""

from __future__ import annotations

import threading
from typing import Any

KINDS = frozenset(
    ("stream", "display_data", "update_display_data", "execute_result", "error", "clear_output")
)
DISPLAYS_KEPT = 200


class SentOutputs:
    """Stands before ``session.send`` between ``start`` and ``stop``.

    Args:
        session: The kernel's.
        request: Id of the request whose outputs are counted.
    """

    def __init__(self, session: Any, request: str) -> None:
        self.count = 0
        self.displays: dict[str, Any] = {}
        """Data and metadata of each display as it was sent last, by display id."""
        self._session, self._request = session, request
        self._lock = threading.Lock()
        self._outer: Any = None
        self._send: Any = None

    def start(self) -> None:
        """Begin to count."""
        self._outer = self._session.__dict__.get("send")
        self._send = self._session.send
        self._session.send = self._note_and_send

    def stop(self) -> None:
        """Count no more."""
        if self._session.__dict__.get("send") == self._note_and_send:
            del self._session.send
            if self._outer is not None:
                self._session.send = self._outer

    def _note_and_send(
        self,
        stream: Any,
        message: Any,
        content: Any = None,
        parent: Any = None,
        *more: Any,
        **named: Any,
    ) -> Any:
        kind, said, above = message, content, parent
        if isinstance(message, dict):
            kind, said = message.get("msg_type"), message.get("content")
            above = message.get("parent_header")
        if kind in KINDS and _message_id(above) == self._request:
            self._note(kind, said or {})
        return self._send(stream, message, content, parent, *more, **named)

    def _note(self, kind: Any, content: Any) -> None:
        with self._lock:
            self.count += 1
            name = (content.get("transient") or {}).get("display_id")
            if name and (name in self.displays or len(self.displays) < DISPLAYS_KEPT):
                self.displays[name] = {
                    "data": content.get("data"),
                    "metadata": content.get("metadata"),
                }


def _message_id(parent: Any) -> str:
    """The id in a message, or in the header of one."""
    if not isinstance(parent, dict):
        return ""
    return str(parent.get("header", parent).get("msg_id", ""))
