"""What an agent did itself in the earlier samples of a session."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from cellwright.exports.sample import SampleRecord


class SessionMemory:
    """The code of samples that others go on from; safe on any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._code: dict[tuple[str, int, str], dict[int, str]] = {}

    def note(self, sample: SampleRecord) -> None:
        """Keep what a sample's cells were; one of no session is let go of."""
        if not sample.task.session:
            return
        cells = [cell.source for cell in sample.cells if cell.is_kept]
        key = (sample.agent, sample.task.epoch, sample.task.session)
        with self._lock:
            self._code.setdefault(key, {})[sample.task.step] = "\n".join(cells)

    def before(self, agent: str, epoch: int, session: str) -> Mapping[int, str]:
        """By step what the agent did there so far."""
        with self._lock:
            return dict(self._code.get((agent, epoch, session), {}))
