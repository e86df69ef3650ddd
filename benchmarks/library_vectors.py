"""What comparing vectors costs, each way in a process of its own: time, and memory at its peak.

In memory, and a few at a time; each also beside a thread that keeps Python busy, as reading
documents does. ``library.py --vectors`` runs both.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import resource
import statistics
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.knowledge.library import Library
from cellwright.knowledge.library.nearness import Nearness
from cellwright.knowledge.library.searching import Scope, Searcher
from cellwright.llm.embedding import Embedder
from cellwright.store.database import open_database

__all__ = ["Questions", "compared"]

TAKEN = 30
BUSY_QUESTIONS = 5


@dataclass(frozen=True)
class Questions:
    """What is asked of which record."""

    path: Path
    library: Library
    embedder: Embedder
    texts: Sequence[str]

    def vectors(self) -> list[bytes]:
        """What is compared."""
        return [self.embedder.embed((text,), 1.0)[0] for text in self.texts]


def compared(questions: Questions, memory_megabytes: Sequence[int]) -> dict[str, float]:
    """The figures of each way."""
    figures: dict[str, float] = {}
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for megabytes in memory_megabytes:
            found = pool.apply(_searched, (questions, megabytes))
            figures |= {f"vectors_{megabytes}mb_{name}": value for name, value in found.items()}
    return figures


def _searched(questions: Questions, megabytes: int) -> dict[str, float]:
    """Words and vectors together, then vectors alone."""
    embedder, library, vectors = questions.embedder, questions.library, questions.vectors()
    with contextlib.closing(open_database(questions.path)) as database:
        before = _peak_megabytes()
        searcher = Searcher(database, embedder, megabytes * 2**20)
        asked = _timed(questions.texts, lambda text: searcher.search(Scope((library,)), text))
        peak = _peak_megabytes() - before

        def near() -> Callable[[bytes], Any]:
            fresh = Nearness(database, megabytes * 2**20)
            return lambda vector: fresh.nearest(library, embedder.model, vector, TAKEN)

        return {**asked, **_alone_and_beside(vectors, near), "peak_megabytes": peak}


def _alone_and_beside(
    vectors: Sequence[bytes], ways: Callable[[], Callable[[bytes], Any]]
) -> dict[str, float]:
    alone = _timed(vectors, ways())
    with _busy_thread():
        beside = _timed(vectors[:BUSY_QUESTIONS], ways())
    return {f"near_{name}": value for name, value in alone.items()} | {
        f"near_busy_{name}": value for name, value in beside.items()
    }


@contextlib.contextmanager
def _busy_thread() -> Iterator[None]:
    is_over = threading.Event()

    def count() -> None:
        while not is_over.is_set():
            sum(range(1_000))

    thread = threading.Thread(target=count)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _timed(questions: Sequence[Any], ask: Callable[[Any], Any]) -> dict[str, float]:
    times = []
    for question in questions:
        began = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - began) * 1e3)
    return {
        "first_milliseconds": times[0],
        "second_milliseconds": times[1],
        "median_milliseconds": statistics.median(times[2:]),
        "slowest_milliseconds": max(times[2:]),
    }


def _peak_megabytes() -> float:
    """Of this process alone: the other figure is begun by the one that started it."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    lines = status.read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
