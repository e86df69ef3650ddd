"""What a fork of the kernel would not have, by name; runs inside kernels, as ``snapshots`` does.

A fork has one thread. Whatever needs another one to work is not carried: it is named here, before
anybody relies on it.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

from . import awakening


def find_obstacles() -> list[str]:
    """Why the kernel cannot be forked so that all of it goes on working; empty: it can."""
    if sys.platform != "linux":
        return [f"{sys.platform} cannot fork a running kernel"]
    app = awakening.kernel_application()
    if app is None or getattr(app, "kernel", None) is None:
        return ["this is not an IPython kernel of ipykernel"]
    return [*_python_threads(app)]


def find_shared() -> list[str]:
    """What is carried, but shared with the world outside: it is not taken back."""
    return []


def _python_threads(app: Any) -> list[str]:
    found = []
    for thread in threading.enumerate():
        if not _is_of_kernel(thread, app):
            found.append(f"thread {thread.name!r} runs")
    return found


def _is_of_kernel(thread: threading.Thread, app: Any) -> bool:
    module = type(thread).__module__
    if (
        thread.name.startswith("cellwright ")
        or thread is threading.main_thread()
        or thread is threading.current_thread()
    ):
        return True
    if module.startswith(("ipykernel.", "IPython.core.history", "cellwright.", "zmq.")):
        return True
    if thread in (getattr(app.iopub_thread, "thread", None), app.poller):
        return True
    watching = [getattr(stream, "watch_fd_thread", None) for stream in awakening._streams(app)]
    return any(thread is watcher for watcher in watching)
