"""Lines appended to a file by several threads and processes, each line whole."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# One for all files: a line is written in far less time than it takes to make one.
LOCK = threading.Lock()


def append_line(path: Path, text: str) -> None:
    """Append a line, after whatever torn line somebody who was killed has left.

    Args:
        path: The file; it and its folder come into being.
        text: The line with its line break.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with LOCK, path.open("ab+", buffering=0) as file, _only_writer(file):
        if _is_torn(file):
            text = "\n" + text
        size, left = file.seek(0, 2), memoryview(text.encode("utf-8", "replace"))
        try:
            while left:
                left = left[file.write(left) :]
        except OSError:
            file.truncate(size)  # a full disk may have taken a part of it
            raise


def _is_torn(file: Any) -> bool:
    """Whether the last line has no end: its writer was killed."""
    if file.seek(0, 2) == 0:
        return False
    file.seek(-1, 2)
    return bool(file.read(1) != b"\n")


@contextlib.contextmanager
def _only_writer(file: Any) -> Iterator[None]:
    """Keep other processes from writing meanwhile, where the system can."""
    try:
        import fcntl
    except ImportError:  # Windows: appending one line in one write has to do
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)
