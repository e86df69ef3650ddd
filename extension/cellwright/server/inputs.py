"""What a running cell asks with ``input()``, put to the person in the panel."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

from cellwright.server.frames import InputAsked


class PanelKeyboard:
    """The one question that may be open at a time.

    Args:
        tell: Called whenever the question has changed.
    """

    def __init__(self, tell: Callable[[], None]) -> None:
        self._tell = tell
        self._lock = threading.Lock()
        self._open: _Question | None = None

    @property
    def asked(self) -> InputAsked | None:
        """What is being asked; None: nothing."""
        question = self._open
        return question.asked if question is not None else None

    def ask(self, prompt: str, password: bool) -> _Question:
        """Put a question to the person."""
        question = _Question(InputAsked(secrets.token_hex(8), prompt, password), self._close)
        with self._lock:
            self._open = question
        self._tell()
        return question

    def answer(self, request: str, value: str) -> bool:
        """What the person typed; False: nothing of the kind is being asked."""
        with self._lock:
            question = self._open
            if question is None or question.asked.request != request:
                return False
            question.typed = value
        return True

    def _close(self, question: _Question) -> None:
        with self._lock:
            if self._open is not question:
                return
            self._open = None
        self._tell()


class _Question:
    """A question that waits: ``kernels.PendingInput``."""

    def __init__(self, asked: InputAsked, on_close: Callable[[_Question], None]) -> None:
        self.asked = asked
        self.typed: str | None = None
        self._on_close = on_close

    def value(self) -> str | None:
        """What they typed; None: nothing yet."""
        return self.typed

    def close(self) -> None:
        """Nobody waits for it any more."""
        self._on_close(self)
