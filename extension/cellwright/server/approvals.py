"""The person is asked whether a call may run; a worker thread waits for what they say.

Only the page that asked may answer, and what tells it from others is a nonce that lives in the
page's memory alone: code in a kernel can find the server's token and open a socket, but not that.

What this does not protect against: code that runs in the page itself, such as a script in an output
that the person trusts; a page that is gone, whose place any page with the token may take.
"""

from __future__ import annotations

import threading

from cellwright.agent.policy import Answer
from cellwright.record.events import ToolStarted
from cellwright.stopping import Stop

LOOK_SECONDS = 0.1


class PanelApprover:
    """Waits for the person's answer to one call at a time.

    Args:
        stop: Of the run; ends the waiting.
    """

    def __init__(self, stop: Stop) -> None:
        self._stop = stop
        self._changed = threading.Condition()
        self._call_id = ""
        self._answer: Answer | None = None

    def expect(self, call_id: str) -> None:
        """An answer to this call is welcome from now on."""
        with self._changed:
            if self._call_id != call_id:
                self._call_id, self._answer = call_id, None

    def answer(self, call_id: str, answer: Answer) -> bool:
        """What the person said; False: nothing of the kind is being asked."""
        with self._changed:
            if not self._call_id or call_id != self._call_id or self._answer is not None:
                return False
            self._answer = answer
            self._changed.notify_all()
            return True

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        self.expect(call.call_id)
        with self._changed:
            try:
                while self._answer is None:
                    self._stop.check()
                    self._changed.wait(LOOK_SECONDS)
                return self._answer
            finally:
                self._call_id = ""
