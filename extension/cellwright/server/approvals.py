"""What the person is asked while a run goes on, and waited for by its worker thread.

That is whether a call may run, and what a cell wants of ``input()``.

Only the page that asked may answer, and what tells it from others is a nonce that lives in the
page's memory alone: code in a kernel can find the server's token and open a socket, but not that.

What this does not protect against: code that runs in the page itself, such as a script in an output
that the person trusts; a page that is gone, whose place any page with the token may take.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable

from cellwright.agent.policy import ApprovalAnswer
from cellwright.record.events import ToolStarted
from cellwright.server.frames import InputAsked
from cellwright.stopping import Stop


class PanelApprover:
    """Waits for the person's answer to one call at a time.

    Args:
        stop: Of the run; ends the waiting.
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._changed = threading.Condition()
        self._call_id = ""
        self._answer: ApprovalAnswer | None = None

    def expect(self, call_id: str) -> None:
        """An answer to this call is welcome from now on."""
        with self._changed:
            if self._call_id != call_id:
                self._call_id, self._answer = call_id, None

    def answer(self, call_id: str, answer: ApprovalAnswer) -> bool:
        """What the person said; False: nothing of the kind is being asked."""
        with self._changed:
            if not self._call_id or call_id != self._call_id or self._answer is not None:
                return False
            self._answer = answer
            self._changed.notify_all()
            return True

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        self.expect(call.call_id)
        with self._changed:
            try:
                while self._answer is None:
                    self._stop.wait_on(self._changed)
                return self._answer
            finally:
                self._call_id = ""


# What a running cell asks with ``input()``, put to the person in the panel.


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
