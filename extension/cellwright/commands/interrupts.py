"""Ctrl-C as a request to stop: the run ends in order and is recorded as cancelled."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator
from types import FrameType

from cellwright.stopping import Stop

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def stopping(stop: Stop) -> Iterator[None]:
    """While it lasts, Ctrl-C and a polite kill set ``stop``; a second one interrupts at once."""

    def handle(number: int, frame: FrameType | None) -> None:
        if stop.is_set():
            raise KeyboardInterrupt
        stop.set()

    before = {number: signal.signal(number, handle) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextlib.contextmanager
def interruptible() -> Iterator[None]:
    """While it lasts, Ctrl-C interrupts at once: waiting for a line of input goes on otherwise."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
