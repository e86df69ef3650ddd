"""What a running cell asks with ``input``: put to the person, answered when they have typed.

Nothing here waits: the loop that reads the kernel's messages looks in, so that Stop acts at once.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from cellwright.kernels import InputAsker, PendingInput
from cellwright.kernels.channels import Received


class Keyboard:
    """The questions of one cell, one after the other.

    Args:
        ask: Puts a question to the person.
        send: Takes the answer to the kernel.
    """

    def __init__(self, ask: InputAsker, send: Callable[[str], None]) -> None:
        self._ask, self._send = ask, send
        self._pending: PendingInput | None = None
        self._asked_at = 0.0
        self._waited_seconds = 0.0

    @property
    def waited_seconds(self) -> float:
        """How long the cell has waited for the person so far, in all."""
        now = time.monotonic() - self._asked_at if self._pending is not None else 0.0
        return self._waited_seconds + now

    def take_in(self, message: Received) -> None:
        """The cell asks; a question before it is not waited for any more."""
        if message.type == "input_request":
            self.close()
            content = message.content
            self._asked_at = time.monotonic()
            self._pending = self._ask(
                str(content.get("prompt", "")), bool(content.get("password", False))
            )

    def look(self) -> None:
        """Send the answer when it is there."""
        value = self._pending.value() if self._pending is not None else None
        if value is not None:
            self._send(value)
            self.close()

    def close(self) -> None:
        """Stop waiting for the person."""
        if self._pending is not None:
            self._waited_seconds = self.waited_seconds
            pending, self._pending = self._pending, None
            pending.close()
