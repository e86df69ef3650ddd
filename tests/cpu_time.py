"""Holds what code takes of a processor, whatever else the machine has to do."""

from __future__ import annotations

import gc
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

PACE_SECONDS = 0.03
"""What :func:`pace` takes of the idle processor that the limits were set on, in seconds."""
TRIES = 3

SOME_TEXT = "a word, 17 and [x](y) `z` " * 200
SOME_PATTERN = re.compile(r"(\w+)|[^\w\s]+|\s+")


def quick(action: Callable[[], T], seconds: float) -> T:
    """Run ``action`` and hold that it takes little of the processor.

    A machine whose processors are lent to others counts what they take as ours, now more and now
    less. So a fixed piece of work is timed beside the action, the limit grows by what that takes
    too long, and the best of three tries counts.

    Args:
        action: What is timed. It clears the caches that it is not to find filled.
        seconds: The limit on an idle processor, in seconds of this thread.

    Returns:
        What the last try of the action returned.
    """
    taken = []
    for _ in range(TRIES):
        before = seconds_of(pace)[0]
        took, result = seconds_of(action)
        slowness = max(1.0, min(before, seconds_of(pace)[0]) / PACE_SECONDS)
        taken.append(took / slowness)
        if taken[-1] < seconds:
            if sys.gettrace() is not None:
                action()  # so that what measures branches sees them, too
            return result
    raise AssertionError(f"took {taken} s of the processor, not less than {seconds} s")


def seconds_of(action: Callable[[], T]) -> tuple[float, T]:
    """Time an action by this thread's share of the processor, with nothing beside it."""
    with undisturbed():
        began = time.thread_time()
        result = action()
        return time.thread_time() - began, result


@contextmanager
def undisturbed() -> Iterator[None]:
    """Measure no branches and collect no garbage meanwhile.

    The first makes our code about three times slower; the second takes the longer the more tests
    have run in the process.
    """
    tracer, collects = sys.gettrace(), gc.isenabled()
    sys.settrace(None)
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()
        sys.settrace(tracer)


def pace() -> int:
    """Do a piece of work of the kind that the tests time: patterns, dictionaries, arithmetic."""
    counted: dict[str, int] = {}
    for _ in range(8):
        for found in SOME_PATTERN.finditer(SOME_TEXT):
            counted[found[0]] = counted.get(found[0], 0) + 1
    return sum(number * number for number in range(20_000)) + len(counted)
