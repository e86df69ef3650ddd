"""What the samples of `runner.py` are made of, and the clocks they are measured by."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

import psutil

TURNS = 10
CELLS = 10
WORKERS = 4
ANSWER = "The answer is 42. @answer[42]"


@dataclass(frozen=True)
class Setting:
    """How much is measured."""

    samples: int
    python: str


def own_seconds() -> float:
    """Of this process."""
    return time.process_time()


def family_seconds() -> float:
    """Of this process and all that it started, those that ended too."""
    me = psutil.Process()
    found = 0.0
    for process in (me, *me.children(recursive=True)):
        try:
            times = process.cpu_times()
        except psutil.Error:
            continue
        found += times.user + times.system
        # What ended children used is their parent's, once it has taken note of their end.
        found += times.children_user + times.children_system
    return found


@contextmanager
def spent(clock: Callable[[], float], found: list[float]) -> Iterator[None]:
    """Append what the block used of a clock."""
    before = clock()
    yield
    found.append(clock() - before)


def timed(run: Callable[[int], None], count: int, name: str) -> dict[str, float]:
    """Samples a second with some at a time, and the processor time of one."""
    run(0)
    with ThreadPoolExecutor(WORKERS) as workers:
        used: list[float] = []
        began = time.perf_counter()
        with spent(family_seconds, used):
            list(workers.map(run, range(count)))
        seconds = time.perf_counter() - began
    return {f"{name}_a_second": count / seconds, f"{name}_ms": 1000 * used[0] / count}
