"""Whether a kernel is still there, and still the same one."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from cellwright.errors import KernelDiedError, KernelRestartedError
from cellwright.kernels.channels import Channels, Received

LOOK_SECONDS = 0.5
"""How often the process is looked at."""
ASK_SECONDS = 1.0
"""A kernel that is silent for so long is asked, on the control channel, who it is."""
RETURN_SECONDS = 1.0
"""A process that is gone may be one that is being restarted: its successor comes soon."""
COMING_SECONDS = 10.0
"""Where nobody owns the process, the successor of a restarted kernel has so long to be heard."""
RESTART_LIMIT = 5
LOOP_SECONDS = 30.0
"""As many restarts within this time are a loop, in which nothing can be waited for."""
KILLED = -9
MEMORY = "The system killed it, most often because memory ran out: use less at once."
LOST = "Its variables are lost; cells that made them have to run again."


class Liveness:
    """Notices that a kernel died or was restarted behind our back.

    Args:
        client: For its heartbeat, where nobody owns the process.
        manager: Whoever owns the process, or None.
        channels: To ask the kernel who it is.
    """

    def __init__(self, client: Any, manager: Any, channels: Channels) -> None:
        self.answers_control = False
        """Whether it answered the last question."""
        self._client, self._manager, self._channels = client, manager, channels
        self.session = ""
        """Of the kernel that was heard last."""
        self.leaving = ""
        """Session of a kernel that said it is being restarted."""
        self._restarted = False
        self._gone_at: float | None = None
        self._expected_until = 0.0
        self._looked_at = self._asked_at = self._heard_at = time.monotonic()

    def is_alive(self) -> bool:
        """Whether the process is there, as far as can be told."""
        if self._manager is not None:
            return bool(self._manager.is_alive())
        heartbeat = self._client.hb_channel
        # Without a heartbeat it cannot be told.
        return bool(heartbeat.is_beating()) if heartbeat.is_alive() else True

    def settle(self) -> None:
        """A request was answered: whoever answers now is the kernel we mean."""
        self._restarted, self._gone_at = False, None

    def note(self, message: Received) -> None:
        """Every message shows that it lives, and who it is."""
        self._heard_at = time.monotonic()
        if message.channel == "control":
            self.answers_control = True
        if not message.session or message.type == "comm_msg":
            return
        if self.session and message.session != self.session:
            self._restarted = True
        if message.type == "shutdown_reply" and message.content.get("restart"):
            # The last words of a kernel that somebody restarts.
            self._restarted, self.leaving = True, message.session
        self.session = message.session

    def check(self) -> None:
        """Look after the kernel now and then.

        Raises:
            KernelRestartedError: It is another one.
            KernelDiedError: It is gone.
        """
        now = time.monotonic()
        if now - self._looked_at >= LOOK_SECONDS:
            self._looked_at = now
            self._look(now)
        if self._restarted:
            self._restarted, self._expected_until = False, now + COMING_SECONDS
            raise KernelRestartedError("The kernel was restarted.", hint=LOST)

    def _look(self, now: float) -> None:
        if not self.is_alive():
            if self._manager is None and now < self._expected_until:
                return
            self._gone_at = self._gone_at or now
            if now - self._gone_at >= RETURN_SECONDS:
                killed = getattr(self._manager, "exit_code", None) == KILLED
                hint = f"{MEMORY} {LOST}" if killed else LOST
                raise KernelDiedError("The kernel's process is gone.", hint=hint)
            return
        self._restarted = self._restarted or self._gone_at is not None
        self._gone_at = None
        if now - max(self._heard_at, self._asked_at) > ASK_SECONDS:
            self._asked_at, self.answers_control = now, False
            self._channels.send("kernel_info_request", {}, channel="control")


def check_loop(restarts: Sequence[float]) -> None:
    """Give up on a kernel that does not stay.

    Args:
        restarts: When it was restarted, in seconds; the newest ``RESTART_LIMIT`` at most.

    Raises:
        KernelDiedError: It is restarted again and again.
    """
    if len(restarts) == RESTART_LIMIT and restarts[-1] - restarts[0] < LOOP_SECONDS:
        raise KernelDiedError(
            "The kernel is restarted again and again.",
            hint="Something ends it soon after its start; the log of the server may say what.",
        )
