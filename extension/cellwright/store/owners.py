"""Which process writes a run, and whether it is still there."""

from __future__ import annotations

import functools
import os
import socket
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

OTHER_HOST_SECONDS = 3_600.0
"""A run on another machine that has written nothing for so long counts as ended."""


def this_process() -> dict[str, Any]:
    """What tells this process from every other, on any machine that shares the record."""
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "boot": _boot_id(),
        "began": _beginning(os.getpid()),
    }


def is_alive(owner: Mapping[str, Any], silent_seconds: float) -> bool:
    """Whether the process that wrote a run is there.

    Args:
        owner: What ``this_process`` said there.
        silent_seconds: How long ago the run last wrote something.
    """
    if owner.get("host") != socket.gethostname() or sys.platform == "win32":
        return silent_seconds < OTHER_HOST_SECONDS
    if owner.get("boot") != _boot_id():
        return False
    pid = int(owner.get("pid", 0))
    return _exists(pid) and owner.get("began") in ("", _beginning(pid))


@functools.cache
def _boot_id() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="utf-8").strip()
    return ""


def _beginning(pid: int) -> str:
    """When a process began, in the kernel's ticks; a process number is used again."""
    with suppress(OSError, IndexError):
        status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        fields = status.rpartition(")")[2].split()
        return "" if fields[0] == "Z" else fields[19]
    return ""


def _exists(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
