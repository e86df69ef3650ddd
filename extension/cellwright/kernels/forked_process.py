"""A kernel that was forked from a warmed process: watched and ended."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Mapping
from typing import Any

UNKNOWN_EXIT = 255
"""Exit code of a kernel whose warmed process is gone: nobody was told the real one."""
ABANDON_SECONDS = 1.0


class ForkedProcess:
    """A forked kernel, with what jupyter_client uses of ``subprocess.Popen``."""

    stdin = stdout = stderr = None

    def __init__(self, line: socket.socket) -> None:
        self.pid = 0
        self.returncode: int | None = None
        self.is_ready = False
        self.error: OSError | None = None
        self._line, self._handle = line, -1
        self._unread, self._is_cut = b"", False
        self._lock = threading.RLock()
        line.setblocking(False)

    def poll(self) -> int | None:
        """The exit code, or None while it runs."""
        with self._lock:
            if self.returncode is None:
                self._read()
            if self.returncode is None and self._is_cut and self._is_gone():
                self._end(UNKNOWN_EXIT)
            return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Block until it has ended."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self.poll() is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                raise subprocess.TimeoutExpired("kernel", timeout or 0)
            _has_input(self._watched(), left)
        assert self.returncode is not None
        return self.returncode

    def wait_to_be_ready(self, seconds: float) -> None:
        """The same as ``wait_until_ready`` where no event loop runs."""
        deadline = time.monotonic() + seconds
        while self.poll() is None and not self.is_ready and self.error is None:
            if not _has_input(self._watched(), deadline - time.monotonic()):
                return

    async def wait_until_ready(self, seconds: float) -> None:
        """Return when it can be connected to, has ended, or the time is over."""
        deadline = time.monotonic() + seconds
        while self.poll() is None and not self.is_ready and self.error is None:
            if not await _readable(self._watched(), deadline - time.monotonic()):
                return

    async def wait_until_ended(self) -> None:
        """Return when it has ended, without looking again and again."""
        while self.poll() is None:
            await _readable(self._watched(), None)

    def send_signal(self, number: int) -> None:
        """To this process only, and never to a later one of the same number."""
        with self._lock:
            if self.poll() is None and self._handle >= 0:
                signal.pidfd_send_signal(self._handle, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it."""
        self.send_signal(signal.SIGKILL)

    def abandon(self) -> None:
        """End it before it was ever used, even before its number is known."""
        deadline = time.monotonic() + ABANDON_SECONDS
        while self.poll() is None and time.monotonic() < deadline:
            self.kill()
            _has_input(self._watched(), deadline - time.monotonic())

    def _watched(self) -> int:
        return self._handle if self._is_cut else self._line.fileno()

    def _read(self) -> None:
        while not self._is_cut:
            try:
                part, files, _, _ = socket.recv_fds(self._line, 4096, 1, socket.MSG_CMSG_CLOEXEC)
            except BlockingIOError:
                return
            except OSError:
                part, files = b"", []
            self._handle = files[0] if files else self._handle
            self._is_cut = not part
            *lines, self._unread = (self._unread + part).split(b"\n")
            for line in lines:
                self._take_in(json.loads(line))

    def _take_in(self, message: Mapping[str, Any]) -> None:
        self.pid = message.get("pid", self.pid)
        self.is_ready = self.is_ready or "ready" in message
        if "error" in message:
            self.error = OSError(*message["error"])
        if "exit" in message:
            self._end(message["exit"])

    def _is_gone(self) -> bool:
        return self._handle < 0 or _has_input(self._handle, 0)

    def _end(self, code: int) -> None:
        self.returncode, self._is_cut = code, True
        self._line.close()
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _has_input(file: int, seconds: float | None) -> bool:
    """Block until something can be read; whether that happened in time."""
    poller = select.poll()  # select() knows the first thousand files only
    poller.register(file, select.POLLIN)
    return bool(poller.poll(None if seconds is None else max(0.0, seconds) * 1000))


async def _readable(file: int, seconds: float | None) -> bool:
    """Wait until something can be read; whether that happened in time."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[None] = loop.create_future()
    watched = os.dup(file)  # two may wait for the same
    loop.add_reader(watched, _settle, found)
    try:
        # Not wait_for: up to Python 3.11 that may swallow a cancellation.
        done, _ = await asyncio.wait([found], timeout=seconds)
    finally:
        loop.remove_reader(watched)
        os.close(watched)
    return bool(done)


def _settle(found: asyncio.Future[None]) -> None:
    if not found.done():
        found.set_result(None)
