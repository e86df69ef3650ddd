"""One cell's life as a request: what has come of it, and what has to happen next."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from cellwright.errors import KernelDiedError, KernelNotReadyError, RunCancelled
from cellwright.kernels import CellRequest, OutputSink
from cellwright.kernels.capture import INTERRUPTED, STUCK, Capture, execution, reason_text
from cellwright.record.outputs import (
    DisplayData,
    ErrorOutput,
    ExecuteResult,
    Execution,
    ExecutionStatus,
    from_kernel_message,
)
from cellwright.record.values import safe_text
from cellwright.stopping import Stop

# The channels to a live kernel: send a request, read whatever has come.


HANDSHAKE_MILLISECONDS = 200
SEND_MILLISECONDS = 10_000


@dataclass(frozen=True)
class Received:
    """A message from the kernel."""

    channel: str
    """``shell``, ``iopub``, ``control`` or ``stdin``."""
    type: str
    parent_id: str
    parent_type: str
    session: str
    """Changes when the kernel is restarted."""
    content: Mapping[str, Any]


class Channels:
    """Reads a ``jupyter_client`` blocking client's sockets; never waits longer than it is told.

    Args:
        client: A ``BlockingKernelClient`` whose channels are started.
        with_stdin: Hear what running cells ask.
    """

    def __init__(self, client: Any, *, with_stdin: bool = False) -> None:
        import zmq

        self._session = client.session
        self._sockets = {
            "iopub": client.iopub_channel.socket,
            "shell": client.shell_channel.socket,
            "control": client.control_channel.socket,
        }
        if with_stdin:
            self._sockets["stdin"] = _connected(client.stdin_channel.socket)
        self._poller = zmq.Poller()
        for socket in self._sockets.values():
            self._poller.register(socket, zmq.POLLIN)
            if isinstance(socket, zmq.Socket):
                # Without a kernel at the other end it would wait for ever, whatever is pressed.
                socket.setsockopt(zmq.SNDTIMEO, SEND_MILLISECONDS)
        self._control_lock = threading.Lock()

    def send(
        self,
        message_type: str,
        content: Mapping[str, Any],
        *,
        channel: str = "shell",
        metadata: Mapping[str, Any] | None = None,
        message_id: str = "",
    ) -> str:
        """Send a request; return its id.

        Raises:
            KernelDiedError: Nothing is at the other end of the channel any more.
        """
        import zmq

        message = self._session.msg(message_type, dict(content), metadata=dict(metadata or {}))
        if message_id:
            message["msg_id"] = message["header"]["msg_id"] = message_id
        # An interrupt may come from another thread.
        with self._control_lock if channel == "control" else nullcontext():
            try:
                self._session.send(self._sockets[channel], message)
            except zmq.Again as error:
                raise KernelDiedError("The kernel took away its end of the connection.") from error
        return str(message["header"]["msg_id"])

    def receive(self, seconds: float) -> list[Received]:
        """What has come, waiting up to ``seconds`` for the first message."""
        ready = self._poller.poll(max(0, round(seconds * 1000)))
        if not ready:
            return []
        return [message for name in self._sockets for message in self._read(name)]

    def _read(self, channel: str) -> Iterator[Received]:
        # In turns, so that a flood on one channel does not keep the others waiting.
        for _ in range(200):
            try:
                _, message = self._session.recv(self._sockets[channel])
            except (ValueError, TypeError, UnicodeDecodeError):
                # Not signed with our key, seen before, or no message at all.
                continue
            if message is None:
                return
            yield _received(channel, message)


def _received(channel: str, message: Mapping[str, Any]) -> Received:
    parent = message.get("parent_header") or {}
    return Received(
        channel=channel,
        type=str(message["header"]["msg_type"]),
        parent_id=str(parent.get("msg_id", "")),
        parent_type=str(parent.get("msg_type", "")),
        session=str(message["header"].get("session", "")),
        content=message.get("content") or {},
    )


def _connected(socket: Any) -> Any:
    """The socket, once the kernel knows it: what is asked of a stranger is lost."""
    import zmq

    if not isinstance(socket, zmq.Socket):
        # A gateway's channels are one web socket: who hears one hears all.
        return socket
    monitor = socket.get_monitor_socket(zmq.EVENT_HANDSHAKE_SUCCEEDED)
    monitor.poll(HANDSHAKE_MILLISECONDS)
    socket.disable_monitor()
    monitor.close(0)
    return socket


LOOK_SECONDS = 0.1
PATIENCE_SECONDS = 0.7
"""How long an interrupted cell may take to end before it is interrupted again."""
INTERRUPTS = 3
"""The third one is more than a ``KeyboardInterrupt`` (``interrupt_watch``)."""
LAST_PATIENCE_SECONDS = 2.0
"""Nothing follows the last one, and on a busy machine the cell's end takes longer to come here."""
REPLY_SECONDS = 10.0
"""After it said it is idle, a sound kernel replies at once."""
LOST = (
    "{count:,} output messages were lost on their way here: they came faster than they were read. "
    "Displays are shown in their last state; of text some may be missing."
)
IDLE_SECONDS = 4.0
"""After the reply, a channel that says nothing for so long has nothing more on its way."""
BACKLOG_SECONDS = 60.0
"""So long at most are outputs read that were sent before the reply and not read yet."""


class CellRun:
    """Fed with messages until reply and idle are both there.

    Args:
        request: The cell.
        stop: Looked at whenever it is asked what to do.
        sink: Sees each output when it is captured.
        last_patience_seconds: How long it may go on after the last interrupt.
    """

    def __init__(
        self,
        request: CellRequest,
        stop: Stop,
        sink: OutputSink,
        last_patience_seconds: float = LAST_PATIENCE_SECONDS,
    ) -> None:
        self.message_id = ""
        self.capture = Capture(request, sink)
        self.started_at: float | None = None
        """When the kernel began with it; before that it waits its turn."""
        self.is_stuck = False
        """It was interrupted as often as is sensible and still runs."""
        self.stuck_text = STUCK
        """What is said of that."""
        self.is_lost = False
        """Its kernel is gone."""
        self.waited_seconds = 0.0
        """How long it has waited for the person to type; its time limit does not count that."""
        self._limit_seconds = request.timeout_seconds
        self._stop = stop
        self._last_patience_seconds = last_patience_seconds
        self._sent_at = time.monotonic()
        self._reply: Mapping[str, Any] | None = None
        self._replied_at = 0.0
        self._heard_at = 0.0
        self._idle_at: float | None = None
        self._reason = ""
        self._interrupts = 0
        self._interrupted_at = 0.0
        self.display_ids: set[str] = set()
        """Of displays that came."""
        self._received = 0
        self._taking: set[str] = set()
        """Widgets that show outputs of this run in the cell's place."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more is waited for."""
        if self.is_stuck or self.is_lost:
            return True
        if self._reply is None:
            return False
        if self._idle_at is not None:
            return True
        now = time.monotonic()
        # While outputs come that were sent before the reply, they are late and not lost.
        is_silent = now - max(self._replied_at, self._heard_at) > IDLE_SECONDS
        return is_silent or now - self._replied_at > BACKLOG_SECONDS

    @property
    def is_stopped(self) -> bool:
        """Whether somebody's Stop is why it was interrupted."""
        return self._reason == "stop"

    @property
    def seconds_to_wait(self) -> float:
        """How long to wait for the next message at most."""
        due = self.capture.due_in_seconds
        return LOOK_SECONDS if due is None else min(LOOK_SECONDS, due)

    @property
    def seconds(self) -> float:
        """How long it runs, or waits to."""
        return time.monotonic() - (self.started_at or self._sent_at)

    @property
    def report(self) -> Mapping[str, Any] | None:
        """What the probe found; None when it did not say anything."""
        for payload in (self._reply or {}).get("payload") or ():
            if payload.get("source") == "cellwright":
                found: Mapping[str, Any] = json.loads(payload.get("text", "{}"))
                return found
        return None

    @property
    def lost(self) -> int:
        """How many of its output messages the channel dropped, as far as that is known."""
        sent = int((self.report or {}).get("sent", 0))
        return max(0, sent - self._received)

    def extend(self, seconds: float) -> None:
        """Let it run for longer."""
        if self._limit_seconds is not None:
            self._limit_seconds += seconds

    def take_in(self, message: Received) -> None:
        """Note what a message with this run's id says."""
        if message.channel == "shell":
            if self._reply is None:
                self._reply, self._replied_at = message.content, time.monotonic()
            return
        self._heard_at = time.monotonic()
        if message.type == "status" and message.content.get("execution_state") == "idle":
            # A child process that was forked may say it again.
            self._idle_at = self._idle_at or time.monotonic()
        elif self.started_at is None:
            self.started_at = time.monotonic()
        self._look_for_widgets(message)
        output = from_kernel_message(message.type, message.content)
        if output is not None:
            self._received += 1
            if isinstance(output, DisplayData | ExecuteResult):
                self.display_ids.add(output.display_id)
        if output is not None and not self._taking:
            self.capture.add(output)

    def _look_for_widgets(self, message: Received) -> None:
        """An ``ipywidgets.Output`` names the request whose outputs it takes, and ends with ''."""
        if message.type in ("comm_open", "comm_msg"):
            state = (message.content.get("data") or {}).get("state") or {}
            taken = state.get("msg_id") if isinstance(state, Mapping) else None
            if taken == self.message_id:
                self._taking.add(str(message.content.get("comm_id")))
            elif taken is not None:
                self._taking.discard(str(message.content.get("comm_id")))

    def wants_interrupt(self) -> bool:
        """Whether the kernel is to be interrupted now.

        Raises:
            RunCancelled: Stop was pressed and the cell has not begun.
            KernelNotReadyError: The kernel finished the cell and does not reply.
        """
        self._check_reply()
        self.capture.flush()
        self._reason = self._reason or self._found()
        if not self._reason or self.is_stuck:
            return False
        if self._reason == "stop" and self.started_at is None:
            raise RunCancelled(self._stop.reason)
        now = time.monotonic()
        is_last = self._interrupts >= INTERRUPTS
        patience = self._last_patience_seconds if is_last else PATIENCE_SECONDS
        if self._interrupts and now - self._interrupted_at < patience:
            return False
        if is_last:
            self.is_stuck = True
            return False
        self._interrupts, self._interrupted_at = self._interrupts + 1, now
        return True

    def result(self) -> Execution:
        """How the cell ended.

        Raises:
            RunCancelled: By Stop, or by an interrupt that was not ours.
        """
        if self.capture.failure is not None:
            raise self.capture.failure
        count: int | None = (self._reply or {}).get("execution_count")
        if self._reason == "stop":
            stuck = f". {self.stuck_text}" if self.is_stuck else ""
            raise RunCancelled(f"{self._stop.reason}{stuck}", execution_count=count)
        error = self.capture.error or _error_in(self._reply or {})
        if not self._reason and self._was_interrupted(error):
            raise RunCancelled(INTERRUPTED, execution_count=count)
        report = {**(self.report or {}), "execution_count": count}
        return execution(self._status(error), self.seconds, report, error=error, note=self._note())

    def _was_interrupted(self, error: ErrorOutput | None) -> bool:
        if self.report is not None and "interrupted" in self.report:
            return bool(self.report["interrupted"])
        return error is not None and error.ename == "KeyboardInterrupt"

    def _status(self, error: ErrorOutput | None) -> ExecutionStatus:
        if self._reason:
            return "timeout" if self._reason == "timeout" else "interrupted"
        if (self._reply or {}).get("status") in ("aborted", "abort"):
            return "aborted"
        return "error" if error is not None else "ok"

    def _note(self) -> str:
        if self._status(None) == "aborted":
            return "The kernel skipped this cell because one before it failed; run it again."
        text = reason_text(self._reason, self._limit_seconds)
        if self.lost:
            text = f"{text} {LOST.format(count=self.lost)}".strip()
        return f"{text} {self.stuck_text}" if self.is_stuck else text

    def _found(self) -> str:
        if self._stop.is_set():
            return "stop"
        if self._is_late():
            return "timeout"
        if self.capture.failure is not None:
            return "record"
        return "output" if self.capture.overflowed else ""

    def _is_late(self) -> bool:
        if self._limit_seconds is None or self.started_at is None:
            return False
        return self.seconds - self.waited_seconds >= self._limit_seconds

    def _check_reply(self) -> None:
        late = self._idle_at is not None and time.monotonic() - self._idle_at > REPLY_SECONDS
        if late and self._reply is None:
            raise KernelNotReadyError(
                f"The kernel ran the cell but did not reply within {REPLY_SECONDS:g} s.",
                hint="Restart the kernel.",
            )


def _error_in(reply: Mapping[str, Any]) -> ErrorOutput | None:
    if reply.get("status") != "error":
        return None
    lines = tuple(safe_text(line) for line in reply.get("traceback") or ())
    return ErrorOutput(str(reply.get("ename", "")), safe_text(reply.get("evalue", "")), lines)
