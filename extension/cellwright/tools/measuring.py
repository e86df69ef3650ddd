"""What a call takes: time by two clocks, the first output, memory."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field

from cellwright.record.content import Metrics

MEGABYTE = 1_000_000
MEMORY_FILE = "/proc/self/statm"


@dataclass
class Stopwatch:
    """Measures from when it is made; durations by a clock that nobody sets."""

    begin: float = field(default_factory=time.time)
    _started: float = field(default_factory=time.monotonic)
    _memory: int | None = field(default_factory=lambda: resident_bytes())
    _cpu: float = field(default_factory=time.process_time)
    _first: float | None = None

    def note_output(self) -> None:
        """Something came out."""
        if self._first is None:
            self._first = time.monotonic() - self._started

    def metrics(self) -> Metrics:
        """What it took until now."""
        seconds = time.monotonic() - self._started
        memory = resident_bytes()
        grown = None if memory is None or self._memory is None else memory - self._memory
        return Metrics(
            begin=self.begin,
            end=self.begin + seconds,
            duration_seconds=seconds,
            first_output_seconds=self._first,
            memory_delta_megabytes=None if grown is None else grown / MEGABYTE,
            kernel_cpu_seconds=time.process_time() - self._cpu if is_kernel() else None,
        )


def is_kernel() -> bool:
    """Whether this process is the one where cells run."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return getattr(shell, "kernel", None) is not None


def resident_bytes(file: str = MEMORY_FILE) -> int | None:
    """The memory this process holds, where the system tells."""
    try:
        with open(file, encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return None
