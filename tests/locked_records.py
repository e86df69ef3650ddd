"""A record that another process locks, as a backup, a sync tool or a database browser does."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

HOLD = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=30)
other.execute("BEGIN EXCLUSIVE")
print("locked", flush=True)
sys.stdin.readline()
other.execute("ROLLBACK")
other.close()
print("free", flush=True)
"""


@contextmanager
def locked(path: Path) -> Iterator[Callable[[], None]]:
    """Hold a file's lock in a process of its own; calling what this gives lets it go earlier."""
    command = [sys.executable, "-c", HOLD, str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline() == "locked\n"

        def free() -> None:
            assert holder.stdin is not None
            assert holder.stdout is not None
            if holder.poll() is None and not holder.stdin.closed:
                holder.stdin.close()
                assert holder.stdout.readline() == "free\n"

        try:
            yield free
        finally:
            free()
