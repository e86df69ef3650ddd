"""Interrupting a thread of this process, as Jupyter's Stop button would."""

from __future__ import annotations

import ctypes
import os
import signal
import threading


def interrupt_thread(thread: threading.Thread) -> None:
    """Raise ``KeyboardInterrupt`` in a thread; in the main one it also ends a sleep.

    Child processes of the main thread's cell are interrupted too where the kernel leads a process
    group of its own, as it does under Jupyter: ``os.system`` waits for its child, not for us.
    """
    if thread is not threading.main_thread():
        _raise_in_thread(thread, KeyboardInterrupt)
    elif os.name == "posix" and os.getpgrp() == os.getpid():
        os.killpg(os.getpid(), signal.SIGINT)
    elif os.name == "posix" and thread.ident is not None:
        signal.pthread_kill(thread.ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _raise_in_thread(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raise an exception in a thread as soon as it runs Python code again."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(error)
        )
