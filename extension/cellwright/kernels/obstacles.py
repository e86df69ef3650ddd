"""What a fork of the kernel would not have, by name; runs inside kernels, as ``snapshots`` does.

A fork has one thread. Whatever needs another one to work is not carried: it is named here, before
anybody relies on it. Some libraries begin their threads anew in a fork, or need no more than to be
told (``awakening``); ``docs/how-to/going-back.md`` has the table, each row of it from a test.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import sys
import threading
from collections.abc import Iterator
from typing import Any

from . import awakening

OF_KERNEL = ("ipykernel.", "IPython.core.history", "cellwright.", "zmq.")
"""Modules of threads that every kernel has; they are made anew."""
DISPENSABLE = ("joblib.externals.loky", "tqdm._monitor")
"""Modules of threads that the library begins anew, or does without."""
NATIVE = ("ZMQbg/", "jemalloc_bg_thd", "polars-ooc")
"""Beginnings of the names of threads without Python that nobody misses."""
KNOWN_AS = {
    "concurrent.futures.thread": "a thread pool",
    "pydevd": "the debugger",
    "_pydevd_bundle": "the debugger",
}
"""What people call the module that threads are from."""
OWNER_WATCH = "owner watch"
"""A thread of kernels that ``warmed`` has forked; what comes of them ends with its own owner."""
OWN_TASKS = ("ipykernel", "tornado", "zmq", "jupyter_client", "IPython")
OWN_TIMERS = (*OWN_TASKS, "asyncio")
"""asyncio's are those of a task, which is named itself."""
SHARED_MEMORY = "/dev/shm"  # noqa: S108 - where the system has it
DELETED = " (deleted)"
"""Memory of a file that nobody can open any more holds values as other memory does."""
NO_VALUES = ("/dev/shm/sem.", "/memfd:", "/dev/shm/__KMP_")  # noqa: S108 - as above
"""Beginnings of the names of memory that locks, compilers and OpenMP share with themselves."""
ARENA = "/pym-"
"""In the names of the memory from which ``multiprocessing`` makes arrays and values."""


def find_obstacles(*, is_sandboxed: bool = False) -> list[str]:
    """Why the kernel cannot be forked so that all of it goes on working; empty: it can.

    Args:
        is_sandboxed: For a copy with a ``sandbox``, which makes memory that is shared its own.
    """
    if sys.platform != "linux":
        return [f"{sys.platform} cannot fork a running kernel"]
    app = awakening.kernel_application()
    if app is None or getattr(app, "kernel", None) is None:
        return ["this is not a kernel of ipykernel"]
    found = [*threads(app), *_native_threads(), *tasks(), *timers(), *_devices()]
    if not is_sandboxed:
        found += _shared_memory()
    if getattr(app.kernel, "eventloop", None) is not None:
        found.append("a graphical event loop runs (%gui)")
    if not found and (name := awakening.wait_for_imports()):
        found.append(f"the import of {name!r} goes on in another thread")
    return list(dict.fromkeys(found))


def threads(app: Any) -> Iterator[str]:
    """Threads of Python that are not the kernel's own, by name."""
    # The debugger hides its threads from ``enumerate``.
    for thread in list(vars(threading)["_active"].values()):
        if _is_of_kernel(thread, app) or _origin(thread).startswith(DISPENSABLE):
            continue
        if isinstance(thread, threading.Timer) and thread.finished.is_set():
            continue  # it was cancelled, or has done its work, and is about to end
        if thread.name == "QueueFeederThread" and "joblib.externals.loky" in sys.modules:
            continue
        library = _library(_origin(thread))
        if library in ("", "__main__", "threading"):
            yield f"thread {thread.name!r} runs"
        else:
            yield f"{library} holds threads"


def _library(module: str) -> str:
    for name, known_as in KNOWN_AS.items():
        if module.startswith(name):
            return known_as
    return module.partition(".")[0]


def _origin(thread: threading.Thread) -> str:
    """The module that a thread's work is from."""
    if type(thread) is not threading.Thread:
        return type(thread).__module__
    return str(getattr(getattr(thread, "_target", None), "__module__", "") or "")


def _is_of_kernel(thread: threading.Thread, app: Any) -> bool:
    is_named = thread.name == OWNER_WATCH or thread.name.startswith("cellwright ")
    if is_named or thread is threading.main_thread():
        return True
    if type(thread).__module__.startswith(OF_KERNEL) or thread is threading.current_thread():
        return True
    if thread in (getattr(app.iopub_thread, "thread", None), app.poller):
        return True
    watching = [getattr(stream, "watch_fd_thread", None) for stream in awakening._streams(app)]
    return any(thread is watcher for watcher in watching)


def _native_threads() -> Iterator[str]:
    """Threads of libraries that gave them a name; those of BLAS and OpenMP have none."""
    with open("/proc/self/comm", encoding="utf-8") as file:
        usual = file.read()
    for number in os.listdir("/proc/self/task"):
        with contextlib.suppress(OSError):
            with open(f"/proc/self/task/{number}/comm", encoding="utf-8") as file:
                name = file.read()
            if name != usual and not name.startswith((*NATIVE, "cellwright")):
                yield f"{name.strip().rpartition('-')[0] or name.strip()} holds threads"


def tasks() -> Iterator[str]:
    """Tasks that the person's code has left on the event loop, by name."""
    with contextlib.suppress(RuntimeError):  # no loop runs
        current = asyncio.current_task()
        for task in asyncio.all_tasks():
            frame = getattr(task.get_coro(), "cr_frame", None)
            if task is current or frame is None:
                continue
            if not str(frame.f_globals.get("__name__", "")).startswith(OWN_TASKS):
                yield f"asyncio task {frame.f_code.co_name!r} runs"


def timers() -> Iterator[str]:
    """What the person's code wants the event loop to call later, by name."""
    with contextlib.suppress(RuntimeError):  # no loop runs
        for timer in getattr(asyncio.get_running_loop(), "_scheduled", ()):
            called = timer._callback
            while isinstance(called, functools.partial):
                called = called.func
            module = str(getattr(called, "__module__", "") or "")
            if not timer.cancelled() and not module.startswith(OWN_TIMERS):
                yield f"asyncio will call {getattr(called, '__name__', 'a function')!r} later"


def _shared_memory() -> Iterator[str]:
    """Memory that a fork would not have for itself, if values are in it; no named file's."""
    with open("/proc/self/maps", encoding="utf-8", errors="replace") as file:
        lines = [line.split(None, 5) for line in file]
    for _, rights, _, _, _, *named in lines:
        path = named[0].rstrip("\n") if named else ""
        # What is mapped below a folder there, or anywhere else, is a file: SQLite's, or memmap's.
        is_nameless = os.path.dirname(path) == SHARED_MEMORY or path.endswith(DELETED)
        if rights[1] != "w" or rights[3] != "s" or not is_nameless or path.startswith(NO_VALUES):
            continue
        if ARENA not in path or _is_arena_used():
            yield "shared memory is in use"
            return


def _is_arena_used() -> bool:
    """Whether an array or value of ``multiprocessing`` is left; it keeps the memory for more."""
    heap = getattr(sys.modules.get("multiprocessing.heap"), "BufferWrapper", None)
    blocks = getattr(getattr(heap, "_heap", None), "_allocated_blocks", None)
    return blocks is None or any(blocks.values())


def _devices() -> Iterator[str]:
    for number in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/self/fd/{number}").startswith("/dev/nvidia"):
                yield "CUDA is in use"
                return
