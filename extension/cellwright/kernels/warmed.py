"""The warmed process: it imports once, and every kernel it is asked for is a fork of it.

Run as a program by the interpreter of the kernels, where cellwright need not be installed: it
imports nothing of ours, and Python 3.9 is enough. It has one thread, no event loop and no ZeroMQ
context. ``forking.py`` is its other end and says what goes over the sockets between them.

What this does not protect against: a forked kernel has the rights of the person who started it.
Forks share nothing that can be written, and nothing else keeps them apart.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib.util
import json
import os
import random
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

LAUNCHER = "ipykernel_launcher"
INLINE_BACKEND = "module://matplotlib_inline.backend_inline"
SHELL_MODULES = (
    *("IPython.core.completerlib", "IPython.core.debugger", "IPython.core.historyapp"),
    *("IPython.core.oinspect", "IPython.core.pylabtools", "IPython.extensions.storemagic"),
    *("faulthandler", "ipykernel.debugger", "ipykernel.displayhook", "ipykernel.iostream"),
    *("ipykernel.ipkernel", "ipykernel.kernelapp", "ipykernel.zmqshell", "IPython.core.logger"),
    *("pdb", "pygments.formatters.terminal256", "pygments.styles", "stack_data"),
    *("tornado.platform.asyncio", "zmq.eventloop.zmqstream"),
)
"""What every kernel imports as it starts or shows an error, in whatever version of ipykernel."""
LOOKS_FOR_A_SHELL = ("bokeh", "ipywidgets", "matplotlib_inline", "plotly", "tqdm.autonotebook")
"""They look for the shell when they are imported, and would never look again."""
HARMLESS_FILES = ("/dev/null", "/dev/random", "/dev/urandom")
SETTLE_SECONDS = 0.5
"""A thread of an import, such as the one that counts down to a message, may take so long to end."""
ORPHAN_SECONDS = 0.5
QUICK_SWITCH_SECONDS = 1e-4
"""A kernel's threads wait for one another while it starts; five milliseconds at a time is long."""
SET_CHILD_SUBREAPER = 36


class ForkedKernel(NamedTuple):
    """A kernel that was forked, and the line to whoever asked for it."""

    process_id: int
    line: socket.socket


class Birth(NamedTuple):
    """What a process that was just forked has to become a kernel with."""

    line: socket.socket
    standard_streams: Sequence[int]


def warm(modules: Sequence[str], preparation: str = "") -> dict[str, Any]:
    """Import what kernels need and the modules asked for, run ``preparation``; what came of it.

    The answer has ``unsafe``, a reason not to fork this process, or ``names``: what a file in a
    kernel's folder must not be called, because importing it would find the warmed one.
    """
    files, environment = open_files(), dict(os.environ)
    for name in SHELL_MODULES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "ipykernel.kernelapp" not in sys.modules:
        return {"unsafe": "There is no ipykernel to be warmed."}
    before = set(sys.modules)
    os.environ.setdefault("MPLBACKEND", INLINE_BACKEND)
    wanted = [name for name in modules if not name.startswith(LOOKS_FOR_A_SHELL)]
    try:
        missing = _import_all(wanted)
    except Exception as error:
        return {"unsafe": f"Importing a module failed: {type(error).__name__}: {error}."}
    if "MPLBACKEND" not in environment:
        del os.environ["MPLBACKEND"]
    exec(preparation, {})
    end_idle_threads()
    gc.collect()
    gc.freeze()
    return {
        "unsafe": unsafe(files),
        "missing": missing,
        "left_out": sorted(set(modules) - set(wanted)),
        "names": sorted({name.partition(".")[0] for name in set(sys.modules) - before}),
        "folders": [os.path.abspath(folder) for folder in sys.path if os.path.isdir(folder)],
        "set": {n: v for n, v in os.environ.items() if environment.get(n) != v},
    }


def _import_all(names: Sequence[str]) -> list[str]:
    """Import modules; return those that are not there."""
    missing = []
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            missing.append(name)
    return missing


def unsafe(files: set[str]) -> str:
    """A reason not to fork this process, or nothing.

    Args:
        files: What was open before anything was warmed.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    # Threads of somebody else's module: nothing tells when they end.
    while count_threads() > 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    if count_threads() > 1:
        return f"A warmed module started threads: there are {count_threads()}."
    if _has_children():
        return "A warmed module started a process."
    if shared := [module for module in LOOKS_FOR_A_SHELL if module in sys.modules]:
        return f"A warmed module imported {shared[0]!r}, which looks for a shell."
    if opened := sorted(open_files() - files):
        return f"A warmed module left {opened[0]!r} open, and kernels would share it."
    if mapped := sorted(_shared_memory()):
        return f"A warmed module shares memory: {mapped[0]!r}."
    return ""


def end_idle_threads() -> None:
    """Fork once for nothing: OpenBLAS ends its threads before that, and makes them when it has to.

    Made with the kernel they would spin for a while, in each kernel, and mostly for nothing.
    """
    process_id = os.fork()
    if process_id == 0:
        os._exit(0)
    os.waitpid(process_id, 0)


def count_threads() -> int:
    """All of them, those of libraries too."""
    return len(os.listdir("/proc/self/task"))


def open_files() -> set[str]:
    """What is open and could be shared between kernels."""
    found = set()
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return {name for name in found if name not in HARMLESS_FILES and "/proc/" not in name}


def _shared_memory() -> set[str]:
    found = set()
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
        for line in maps:
            columns = line.split(None, 5)
            if columns[1].startswith("rw") and columns[1].endswith("s"):
                found.add(columns[5].strip() if len(columns) > 5 else "without a name")
    return found


def _has_children() -> bool:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


class WarmedForks:
    """The kernels of this process, from their birth to their end.

    Args:
        channel: Each packet on it asks for a kernel and brings a line and the standard streams.
        owner: A pidfd of the process that asks; nothing outlives that one.
    """

    def __init__(self, channel: socket.socket, owner: int) -> None:
        self._channel, self._owner = channel, owner
        self._kernels: dict[int, ForkedKernel] = {}
        self._poller = select.poll()
        self._poller.register(channel, select.POLLIN)
        self._poller.register(owner, select.POLLIN)
        self._is_closed = False

    def serve(self) -> Birth | None:
        """Fork until nobody asks any more and the last kernel has ended; then there is nothing.

        In a process that was forked it returns at once, with what that needs.
        """
        while self._kernels or not self._is_closed:
            for number, _ in self._poller.poll():
                if number == self._owner:
                    self._end_all()
                elif number in self._kernels:
                    self._bury(number)
                elif not self._is_closed and (birth := self._answer()) is not None:
                    return birth
        return None

    def _answer(self) -> Birth | None:
        packet, files, _, _ = socket.recv_fds(self._channel, 1, 4, socket.MSG_CMSG_CLOEXEC)
        if not packet:
            self._close()
            return None
        line = socket.socket(fileno=files[0])
        process_id = os.fork()
        if process_id == 0:
            self._forget()
            return Birth(line, files[1:])
        for stream in files[1:]:
            os.close(stream)
        self._register(ForkedKernel(process_id, line))
        return None

    def _register(self, kernel: ForkedKernel) -> None:
        handle = os.pidfd_open(kernel.process_id)
        self._kernels[handle] = kernel
        self._poller.register(handle, select.POLLIN)
        text = json.dumps({"pid": kernel.process_id}).encode() + b"\n"
        try:
            socket.send_fds(kernel.line, [text], [handle])
        except OSError:
            # Whoever asked has gone away meanwhile.
            os.kill(kernel.process_id, signal.SIGKILL)

    def _forget(self) -> None:
        """In the fork: close what is not its own."""
        self._channel.close()
        for handle, kernel in self._kernels.items():
            os.close(handle)
            kernel.line.close()
        self._kernels.clear()

    def _bury(self, handle: int) -> None:
        """A kernel ended: end what it left behind, then tell how it ended."""
        self._poller.unregister(handle)
        os.close(handle)
        kernel = self._kernels.pop(handle)
        # It is not reaped yet, so that nobody else can have its number.
        with contextlib.suppress(OSError):
            os.killpg(kernel.process_id, signal.SIGKILL)
        status = os.waitpid(kernel.process_id, 0)[1]
        self._end_orphans()
        with contextlib.suppress(OSError), kernel.line:
            report(kernel.line, {"exit": os.waitstatus_to_exitcode(status)})

    def _end_orphans(self) -> None:
        """A kernel's processes come to us when it ends, however they detached themselves."""
        deadline = time.monotonic() + ORPHAN_SECONDS
        while (strangers := self._strangers()) and time.monotonic() < deadline:
            for process_id in strangers:
                with contextlib.suppress(OSError):
                    os.kill(process_id, signal.SIGKILL)
                    os.waitpid(process_id, os.WNOHANG)
            time.sleep(0.001)  # what was killed takes a moment to end

    def _strangers(self) -> set[int]:
        try:
            with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as children:
                found = {int(number) for number in children.read().split()}
        except OSError:
            return set()  # not every system tells
        return found - {kernel.process_id for kernel in self._kernels.values()}

    def _end_all(self) -> None:
        self._poller.unregister(self._owner)
        self._close()
        for kernel in self._kernels.values():
            for kill in (os.killpg, os.kill):
                with contextlib.suppress(OSError):
                    kill(kernel.process_id, signal.SIGKILL)

    def _close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            self._poller.unregister(self._channel)


class OwnerWatch(threading.Thread):
    """Ends the kernel, and what it started, when the process that asked for it is gone."""

    def __init__(self, owner: int) -> None:
        super().__init__(name="owner watch", daemon=True)
        self._owner = owner

    def run(self) -> None:
        poller = select.poll()
        poller.register(self._owner, select.POLLIN)
        poller.poll()
        os.killpg(os.getpgrp(), signal.SIGKILL)


def report(line: socket.socket, message: Mapping[str, Any]) -> None:
    """Send one line of JSON."""
    line.sendall(json.dumps(message).encode() + b"\n")


def live(birth: Birth, owner: int) -> int:
    """Be a kernel until its end; return the exit code."""
    os.setsid()
    adopt_orphans()
    with birth.line as line:
        with line.makefile("rb") as reader:
            request = json.loads(reader.readline())
        try:
            _settle(birth, request)
        except OSError as error:
            report(line, {"error": [error.errno, error.strerror, str(request["cwd"])]})
            return 1
        _renew_random()
        application = _begin(request["arguments"], owner)
        report(line, {"ready": True})
    application.start()
    # A control thread that still runs while the sockets are closed at exit may never end.
    if application.control_thread is not None:
        application.control_thread.join(1)
    return 0


def _settle(birth: Birth, request: Mapping[str, Any]) -> None:
    """Take streams, environment, folder and limits of the kernel that was asked for."""
    for number, stream in enumerate(birth.standard_streams):
        os.dup2(stream, number)
        os.close(stream)
    os.environ.clear()
    os.environ.update(request["environment"])
    time.tzset()
    tempfile.tempdir = None
    launcher = importlib.util.find_spec(LAUNCHER)
    sys.argv = [str(launcher.origin) if launcher else LAUNCHER, *request["arguments"]]
    os.chdir(request["cwd"])
    limit_files(request["hidden"], request["writable"])
    if request["memory_limit_bytes"]:
        import resource

        limit = request["memory_limit_bytes"]
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


# Files that a kernel cannot open, and the folders that it can write in, by Landlock of Linux: no
# privilege is needed for it. Whoever is kept from files this way is also kept from the memory of
# processes that are not.
#
# What this does not protect against: listing folders, reading command lines, rights and times of
# files, and the network. What others make later in a folder above a hidden one cannot be opened or
# removed, and folders there cannot be renamed, or what is hidden would be elsewhere for the next
# kernel.


CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""System calls, by the same numbers on all processors."""
ASK_VERSION, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38
WRITE_FILE, READ_FILE, REMOVE_FOLDER, REMOVE_FILE = 1 << 1, 1 << 2, 1 << 4, 1 << 5
MAKE_ANY = sum(1 << number for number in range(6, 13))
"""Folders, files, links, pipes, sockets and devices."""
REFER, TRUNCATE = 1 << 13, 1 << 14
OF_FILES = WRITE_FILE | READ_FILE | TRUNCATE
OF_FOLDERS = REMOVE_FILE | REMOVE_FOLDER | MAKE_ANY
"""What was made where it cannot be written would stay there, and be allowed to the next kernel."""
RIGHTS = (OF_FILES & ~TRUNCATE | OF_FOLDERS, REFER, TRUNCATE)
"""What is ruled from the first version on, from the second, from the third."""
WITH_SIGNALS, OF_SIGNALS = 6, 1 << 1
"""From that version on (Linux 6.12) no signals reach others, such as whoever started the kernel."""


def limit_files(hidden: Sequence[str], writable: Sequence[str]) -> bool:
    """Keep this thread, and all that it starts from now on, from files, folders and other programs.

    Args:
        hidden: Files and folders that must not be read, written, moved or removed.
        writable: Folders in which it may write, and nowhere else; they may lie in hidden ones.

    Returns:
        Whether the system can do that.
    """
    library = ctypes.CDLL(None, use_errno=True)
    closed = {os.path.realpath(path) for path in hidden}
    if not closed or sys.platform != "linux":
        return not closed
    version = library.syscall(CREATE_RULESET, None, ctypes.c_size_t(0), ASK_VERSION)
    if version < 1:
        return False
    words = [sum(RIGHTS[: min(version, len(RIGHTS))])]
    words += [0, OF_SIGNALS] if version >= WITH_SIGNALS else []
    ruled = b"".join(word.to_bytes(8, sys.byteorder) for word in words)
    rules = library.syscall(CREATE_RULESET, ruled, ctypes.c_size_t(len(ruled)), 0)
    try:
        _allow_below("/", closed, lambda path: _allow(library, rules, READ_FILE, path))
        for place in map(os.path.realpath, writable):
            inside = {path for path in closed if path.startswith(place + "/")}
            _allow_below(place, inside, lambda path: _allow(library, rules, words[0], path))
        library.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(library.syscall(RESTRICT_SELF, rules, 0) == 0)
    finally:
        os.close(rules)


def _allow_below(place: str, hidden: set[str], allow: Callable[[str], None]) -> None:
    """Allow all that is there but what is hidden; what is allowed is so with all in it."""
    if place in hidden:
        return
    if not any(path.startswith(place.rstrip("/") + "/") for path in hidden):
        allow(place)
        return
    with contextlib.suppress(OSError), os.scandir(place) as entries:
        for entry in entries:
            if not entry.is_symlink():  # where a link leads to is allowed at its own place
                _allow_below(entry.path, hidden, allow)


def _allow(library: Any, rules: int, rights: int, path: str) -> None:
    try:
        place = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # it is gone, or nobody may open it
        return
    try:
        allowed = rights if os.path.isdir(path) else rights & OF_FILES
        rule = allowed.to_bytes(8, sys.byteorder) + place.to_bytes(4, sys.byteorder)
        library.syscall(ADD_RULE, rules, PATH_BENEATH, ctypes.create_string_buffer(rule, 12), 0)
    finally:
        os.close(place)


def _renew_random() -> None:
    """Every fork would draw the same numbers."""
    random.seed()
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def adopt_orphans() -> None:
    """Become the parent of what detaches itself from our children."""
    ctypes.CDLL(None).prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _begin(arguments: Sequence[str], owner: int) -> Any:
    from ipykernel.kernelapp import IPKernelApp

    usual = sys.getswitchinterval()
    sys.setswitchinterval(QUICK_SWITCH_SECONDS)
    # The real parent was looked up when ipykernel was imported, and is another one.
    application = IPKernelApp.instance(parent_handle=1)
    application.initialize(list(arguments))  # type: ignore[no-untyped-call]
    application.poller = OwnerWatch(owner)
    sys.setswitchinterval(usual)
    return application


def main(channel_number: int, owner: int, modules: Sequence[str]) -> int:
    """Warm this process and serve; a fork of it goes on as a kernel."""
    adopt_orphans()
    with open(0, encoding="utf-8", closefd=False) as given, open(os.devnull, "rb") as nothing:
        preparation = given.read()
        os.dup2(nothing.fileno(), 0)
    for number in (channel_number, owner):
        os.set_inheritable(number, False)
    with socket.socket(fileno=channel_number) as channel:
        found = warm(modules, preparation)
        channel.send(json.dumps(found).encode())
        if found["unsafe"]:
            return 0
        birth = WarmedForks(channel, owner).serve()
    return live(birth, owner) if birth is not None else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]))
