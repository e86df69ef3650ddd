"""Warmed processes, as the process that asks them for kernels sees them.

``warmed.py`` is the other end. A packet on the channel asks for a kernel and brings its line and
its standard streams; the line then carries lines of JSON. From us: what the kernel shall be
(arguments, environment, cwd ...). To us: ``pid`` with a pidfd, ``ready`` when it can be connected
to, ``error`` when it could not settle, ``exit`` with its code when it and all that it started are
gone.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.errors import KernelError
from cellwright.stopping import WorkerThread

# A kernel that was forked from a warmed process: watched and ended.


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
        """To this process only, and never to a later one of the same number.

        Like ``Popen``, it does nothing when the process has ended: the exit code comes later,
        when all that the kernel started has ended, too.
        """
        with self._lock:
            if self.poll() is None and self._handle >= 0:
                with contextlib.suppress(ProcessLookupError):
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
        with self._lock:
            if self.returncode is None:
                # Whatever is forked for this line from now on finds it closed, and is killed.
                self._end(UNKNOWN_EXIT)

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


WARM_SECONDS = 60.0
SEND_SECONDS = 10.0
END_SECONDS = 1.0
KEPT = 4
"""So many warmed processes wait for requests at once; the one unused for longest is let go."""
PROGRAM = Path(__file__).with_name("warmed.py")
RUN_PROGRAM = (
    "import sys; sys.path[:] = [folder for folder in sys.path if folder]; sys.argv[:1] = []; "
    "exec(compile(open(sys.argv[0], encoding='utf-8').read(), sys.argv[0], 'exec'))"
)
"""Our folder must not be on the path, nor the current one: their files would hide modules."""
PACKAGE_FOLDERS = ("site-packages", "dist-packages")
WITHOUT_THREADS = {"JE_ARROW_MALLOC_CONF": "background_thread:false"}
"""What keeps libraries from starting threads as they are imported: pyarrow's jemalloc."""


@dataclass(frozen=True)
class Recipe:
    """What a process is warmed with; kernels that want the same come from the same process."""

    command: tuple[str, ...]
    """The interpreter and its options."""
    modules: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    """What is read by imports, or by the interpreter as it starts."""
    preparation: str = field(default="", repr=False)
    """Code that is run when the imports are done."""


@dataclass(frozen=True)
class FileLimits:
    """Which files a kernel can open, where the system can keep it from others (Landlock)."""

    hidden: tuple[str, ...] = ()
    """Files and folders that it cannot open; with none nothing is limited."""
    writable: tuple[str, ...] = ()
    """Folders in which it can write, and nowhere else; they may lie in hidden ones."""


file_limits: ContextVar[FileLimits] = ContextVar("file_limits", default=FileLimits())  # noqa: B039
"""Those of kernels that are started in this context; jupyter_client has no word for it."""


@dataclass(frozen=True)
class KernelStart:
    """What one kernel shall be."""

    arguments: tuple[str, ...]
    """Of the command line, after the module's name."""
    environment: Mapping[str, str]
    cwd: str
    standard_streams: tuple[int, int, int]
    memory_limit_bytes: int = 0
    """Of its address space; 0: no limit."""
    limits: FileLimits = FileLimits()


class WarmedProcess:
    """A process that imported what kernels need, and forks them.

    Args:
        recipe: What it is warmed with.

    Raises:
        OSError: Its interpreter cannot be run.
    """

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self.refusal = ""
        """Why nothing is forked from it; empty when it forks."""
        self.missing: tuple[str, ...] = ()
        """Modules that were to be warmed and are not there."""
        self.left_out: tuple[str, ...] = ()
        """Modules that must not be warmed."""
        self.names: frozenset[str] = frozenset()
        self._sets: Mapping[str, str] = {}
        self._folders: Mapping[str, int] = {}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process is
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        owner = os.pidfd_open(os.getpid())
        try:
            with theirs:
                self.process = self._begin(theirs.fileno(), owner)
        except OSError:
            self._channel.close()
            self._errors.close()
            raise
        finally:
            os.close(owner)
        self._lock = threading.Lock()

    def _begin(self, channel: int, owner: int) -> subprocess.Popen[bytes]:
        command = [
            *(*self.recipe.command, "-c", RUN_PROGRAM, str(PROGRAM), str(channel), str(owner)),
            *self.recipe.modules,
        ]
        with tempfile.TemporaryFile() as preparation:
            preparation.write(self.recipe.preparation.encode())
            preparation.seek(0)
            return subprocess.Popen(
                command,
                cwd="/",
                env={**dict(self.recipe.environment), **WITHOUT_THREADS},
                pass_fds=(channel, owner),
                stdin=preparation,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                start_new_session=True,
            )

    def wait_until_warm(self) -> None:
        """Wait for its imports; ``refusal`` then tells whether it forks."""
        self._channel.settimeout(WARM_SECONDS)
        try:
            packet = self._channel.recv(1 << 17)
        except TimeoutError:
            self.refusal = f"Warming it took longer than {WARM_SECONDS:.0f} s."
            self.process.kill()
        else:
            self._take_in(json.loads(packet) if packet else {"unsafe": self._last_error()})
        if self.refusal:
            self.process.wait()
        self._channel.settimeout(SEND_SECONDS)

    def _take_in(self, found: Mapping[str, Any]) -> None:
        self.refusal = found["unsafe"]
        if not self.refusal:
            self.missing, self.left_out = tuple(found["missing"]), tuple(found["left_out"])
            self.names, self._sets = frozenset(found["names"]), found["set"]
            packages = [f for f in found["folders"] if f.endswith(PACKAGE_FOLDERS)]
            self._folders = {folder: _changed_at(folder) for folder in packages}

    def _last_error(self) -> str:
        self.process.wait()
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"It ended while it was warmed: {lines[-1] if lines else 'it said nothing'!r}."

    @property
    def is_current(self) -> bool:
        """Whether it is there, and no package was installed or removed since it was warmed."""
        if self.refusal or self.process.poll() is not None or self._is_hung_up():
            return False
        return all(_changed_at(folder) == at for folder, at in self._folders.items())

    def _is_hung_up(self) -> bool:
        """Whether it let go of the channel: one that is killed does so before it has ended."""
        poller = select.poll()
        poller.register(self._channel, 0)
        return bool(poller.poll(0))

    def fork(self, start: KernelStart) -> ForkedProcess:
        """Ask for a kernel.

        Raises:
            OSError: The warmed process is gone.
        """
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as undo:
            undo.callback(ours.close)
            with theirs, self._lock:
                files = [theirs.fileno(), *start.standard_streams]
                socket.send_fds(self._channel, [b"k"], files)
            ours.settimeout(SEND_SECONDS)
            ours.sendall(json.dumps(self._request(start)).encode() + b"\n")
            undo.pop_all()
        return ForkedProcess(ours)

    def _request(self, start: KernelStart) -> dict[str, Any]:
        return {
            "arguments": start.arguments,
            "environment": {**self._sets, **start.environment},
            "cwd": start.cwd,
            "memory_limit_bytes": start.memory_limit_bytes,
            "hidden": start.limits.hidden,
            "writable": start.limits.writable,
        }

    def close(self) -> None:
        """Ask for no more; it ends when its last kernel has ended."""
        self._channel.close()
        self._errors.close()
        # Until then it is nobody's to wait for, and that is no reason to warn of it.
        WorkerThread(self.process.wait, name="forks").start()


class WarmedProcesses:
    """The warmed processes of this process, one for each recipe in use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._owner = os.getpid()
        self._found: dict[Recipe, WarmedProcess] = {}
        self._recipe_locks: dict[Recipe, threading.Lock] = {}
        self._apart: ThreadPoolExecutor | None = None

    def ready(self, recipe: Recipe) -> WarmedProcess | None:
        """The one that can be asked at once, if there is one; this does not wait."""
        with self._lock:
            self._forget_parents()
            found = self._found.get(recipe)
            if found is None or not (found.refusal or found.is_current):
                return None
            self._found[recipe] = self._found.pop(recipe)  # the last one is the newest
            return found

    def get(self, recipe: Recipe) -> WarmedProcess:
        """The one of a recipe, warmed now if there is none; everybody else waits for that.

        Raises:
            KernelError: Nothing can be forked from it.
        """
        with self._lock:
            self._forget_parents()
            if not self._recipe_locks:
                atexit.register(self.close)
            lock = self._recipe_locks.setdefault(recipe, threading.Lock())
        with lock:
            apart = self._apart
            found = self.ready(recipe) or (
                apart.submit(self._warm, recipe).result() if apart else self._warm(recipe)
            )
        if found.refusal:
            raise KernelError(found.refusal)
        return found

    def warm_apart(self) -> None:
        """Warm on a thread of its own from now on, which can open what this one can.

        Whoever asks from a thread that is kept from files would warm a process that is, too.
        """
        with self._lock:
            self._forget_parents()
            if self._apart is None:
                self._apart = ThreadPoolExecutor(1, "warming")
                self._apart.submit(os.getpid).result()  # a thread has the rights of its maker

    def close(self) -> None:
        """Let all of them go."""
        with self._lock:
            closed = list(self._found.values())
            self._found.clear()
        for warmed in closed:
            warmed.close()
        for warmed in closed:
            with contextlib.suppress(subprocess.TimeoutExpired):
                warmed.process.wait(END_SECONDS)

    def _warm(self, recipe: Recipe) -> WarmedProcess:
        try:
            warmed = WarmedProcess(recipe)
        except OSError as error:
            raise KernelError(f"Its interpreter cannot be run: {error}.") from error
        warmed.wait_until_warm()
        with self._lock:
            self._drop(self._found.pop(recipe, None))
            self._found[recipe] = warmed
            while len(self._found) > KEPT:
                self._drop(self._found.pop(next(iter(self._found))))
        return warmed

    def _drop(self, warmed: WarmedProcess | None) -> None:
        if warmed is not None:
            warmed.close()

    def _forget_parents(self) -> None:
        """In a fork of our own: the processes belong to our parent, which watches them."""
        if self._owner != os.getpid():
            self._owner = os.getpid()
            self._found.clear()
            self._recipe_locks.clear()
            self._apart = None


def _changed_at(folder: str) -> int:
    try:
        return os.stat(folder).st_mtime_ns
    except OSError:
        return 0
