"""Indexing beside everything else: one thread that can be watched and stopped."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

from cellwright.knowledge.library import Progress
from cellwright.stopping import Stop

Work = Callable[[Stop], Iterator[Progress]]


class Indexing:
    """Work that goes on in a thread from the moment this is made."""

    def __init__(self, work: Work) -> None:
        self.progress = Progress(0, 0)
        """How far it is."""
        self.error: Exception | None = None
        """Why it ended early."""
        self._stop = Stop()
        self._work = work
        self._thread = threading.Thread(target=self._run, name="cellwright-library", daemon=True)
        self._thread.start()

    @property
    def is_going_on(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    @property
    def was_stopped(self) -> bool:
        """Whether somebody stopped it."""
        return self._stop.is_set()

    def stop(self) -> None:
        """End it after the document that is read now; what was read is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended within so long; None: however long it takes."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def summary(self) -> str:
        """What it has done, in a sentence or two."""
        progress = self.progress
        read = "1 document" if progress.changed == 1 else f"{progress.changed:,} documents"
        of = f"{progress.done:,} of {progress.total:,}"
        lines = [f"{read} read; {of} looked at."]
        if progress.problems:
            lines.append(f"{progress.problems:,} cannot be read{_why(progress)}")
        if self.was_stopped:
            lines.append("It was stopped; what was read is kept.")
        return " ".join(filter(None, [*lines, progress.notice]))

    def _run(self) -> None:
        try:
            for progress in self._work(self._stop):
                self.progress = progress
        except Exception as error:  # told by whoever waits for it
            self.error = error


def _why(progress: Progress) -> str:
    """The reasons where they are few."""
    if 0 < progress.problems == len(progress.reasons):
        return f": {' '.join(progress.reasons)}"
    return "; the list of documents says why."
