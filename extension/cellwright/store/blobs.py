"""Large texts in files named by what is in them."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path


class BlobFolder:
    """A folder of texts, each in a file named by its SHA-256; the same text is stored once.

    Args:
        folder: Made on first use, readable by its owner alone.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, text: str) -> str:
        """Store ``text``, on disk by the time this returns, and return its name.

        Raises:
            OSError: The folder cannot be written.
        """
        data = text.encode("utf-8", "surrogatepass")
        sha = hashlib.sha256(data).hexdigest()
        target = self._path(sha)
        if not target.exists():
            self._write(target, data)
        return sha

    def get(self, sha: str) -> str | None:
        """The text of that name; None when it is gone or is no longer what it was."""
        try:
            data = self._path(sha).read_bytes()
        except OSError:
            return None
        if hashlib.sha256(data).hexdigest() != sha:
            return None
        return data.decode("utf-8", "surrogatepass")

    def remove(self, sha: str) -> None:
        """Delete the text of that name."""
        with contextlib.suppress(OSError):
            self._path(sha).unlink()

    def _path(self, sha: str) -> Path:
        return self.folder / sha[:2] / sha

    def _write(self, target: Path, data: bytes) -> None:
        for folder in (self.folder, target.parent):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=target.parent)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
