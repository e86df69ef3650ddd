"""What the file system under the record can do: locks, and whether it is a network one."""

from __future__ import annotations

import contextlib
import os
import threading
from pathlib import Path

try:
    from fcntl import LOCK_EX, LOCK_NB, lockf
except ImportError:
    LOCKABLE = False  # Windows: SQLite's own locks always work there
else:
    LOCKABLE = True

NETWORK_FILE_SYSTEMS = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "fuse.sshfs", "gpfs", "lustre", "ncpfs"}
    | {"nfs", "nfs3", "nfs4", "smb3", "smbfs"}
)


def locks_work(folder: Path, limit_seconds: float) -> bool:
    """Whether a lock can be taken in ``folder``; asked on a thread, since it may hang for good."""
    if not LOCKABLE:
        return True
    answer: list[bool] = []
    probe = folder / f".lock-test-{os.getpid()}-{threading.get_ident()}"

    def ask() -> None:
        try:
            with open(probe, "w") as file:
                lockf(file, LOCK_EX | LOCK_NB)
            answer.append(True)
        except OSError:
            answer.append(False)

    thread = threading.Thread(target=ask, daemon=True, name="cellwright-lock-test")
    thread.start()
    thread.join(limit_seconds)
    with contextlib.suppress(OSError):
        probe.unlink()
    return answer == [True]


def on_network(path: Path, mounts_file: str = "/proc/self/mounts") -> bool:
    """Whether ``path`` lies on a network file system, as far as Linux tells."""
    try:
        with open(mounts_file, encoding="utf-8", errors="replace") as file:
            mounts = [line.split() for line in file]
    except OSError:
        return False
    target = os.path.realpath(path.parent)
    found = [
        (mount[1].replace("\\040", " "), mount[2])
        for mount in mounts
        if len(mount) > 2 and _is_inside(target, mount[1].replace("\\040", " "))
    ]
    return bool(found) and max(found, key=lambda item: len(item[0]))[1] in NETWORK_FILE_SYSTEMS


def _is_inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
