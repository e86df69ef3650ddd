"""Files that people put beside their prompts, each stored once under the hash of what is in it.

The name that a file comes with is only ever shown: nothing of it but a plain ending gets into a
path.
"""

from __future__ import annotations

import hashlib
import mimetypes
import os
import re
import tempfile
import threading
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cellwright.attachments import human_size
from cellwright.errors import SetupError, StoreError

__all__ = ["FILE_LIMIT_BYTES", "StoredFile", "TooLargeError", "Uploads", "shown_name"]

FILE_LIMIT_BYTES = 20 * 1024 * 1024
TOTAL_LIMIT_BYTES = 1024 * 1024 * 1024
NAME_LIMIT_CHARACTERS = 120
STORED_NAME = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]{1,8}){0,2}")
ENDING = re.compile(r"(\.tar)?\.[a-z0-9]{1,8}$")
UNSEEN = ("Cc", "Cf", "Co", "Cs", "Zl", "Zp")
"""Unicode categories of what does not show, or turns around what does."""


class TooLargeError(SetupError):
    """A file is too large, or there is no room for it."""


@dataclass(frozen=True)
class StoredFile:
    """A file that was stored."""

    file: str
    """What names it from now on: its hash, and an ending that says of what kind it is."""
    name: str
    """What it is called on the screen."""
    size_bytes: int
    mime: str


def shown_name(name: str) -> str:
    """The last part of a path, on one line, without what does not show."""
    last = re.split(r"[/\\]", name.strip())[-1]
    seen = "".join(sign for sign in last if unicodedata.category(sign) not in UNSEEN).strip()
    if len(seen) > NAME_LIMIT_CHARACTERS:
        seen = seen[: NAME_LIMIT_CHARACTERS - 20] + "…" + seen[-19:]
    return seen if seen.strip(".") else "file"


class Uploads:
    """A folder of files; safe to use from any thread.

    Args:
        folder: Made on first use, readable by its owner alone.
        total_limit_bytes: How much may lie in it.
    """

    def __init__(self, folder: Path, total_limit_bytes: int = TOTAL_LIMIT_BYTES) -> None:
        self.folder = folder
        self._total_limit_bytes = total_limit_bytes
        self._storing = threading.Lock()

    def store(self, data: bytes, name: str) -> StoredFile:
        """Store a file, on disk by the time this returns.

        Raises:
            TooLargeError: It is too large, or the folder is full.
            StoreError: The folder cannot be written.
        """
        if len(data) > FILE_LIMIT_BYTES:
            raise _too_large(len(data))
        shown = shown_name(name)
        ending = ENDING.search(shown.lower())
        file = hashlib.sha256(data).hexdigest() + (ending[0] if ending else "")
        mime = mimetypes.guess_type(shown)[0] or "application/octet-stream"
        target = self._target(file)
        with self._storing:
            if not target.exists():
                self._check_room(len(data))
                self._write(target, data)
        return StoredFile(file, shown, len(data), mime)

    def path(self, file: str) -> Path:
        """Where a stored file lies.

        Raises:
            SetupError: There is no such file.
        """
        if STORED_NAME.fullmatch(file):
            target = self._target(file)
            if target.is_file():
                return target
        raise SetupError(f"There is no file {file!r}.", hint="Add it to the prompt again.")

    def _target(self, file: str) -> Path:
        return self.folder / file[:2] / file

    def _check_room(self, size_bytes: int) -> None:
        used = sum(found.stat().st_size for found in self.folder.glob("*/*"))
        if used + size_bytes > self._total_limit_bytes:
            raise TooLargeError(
                f"The files of earlier prompts take {human_size(used)} already.",
                hint=f"Delete some in {str(self.folder)!r}.",
            )

    def _write(self, target: Path, data: bytes) -> None:
        try:
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
                with suppress(OSError):
                    os.unlink(name)
                raise
        except OSError as error:
            where, why = str(self.folder), error.strerror or type(error).__name__
            raise StoreError(
                f"The folder {where!r} cannot be written: {why}.", hint="Check the folder."
            ) from error


def _too_large(size_bytes: int) -> TooLargeError:
    return TooLargeError(
        f"The file has {human_size(size_bytes)}; {human_size(FILE_LIMIT_BYTES)} is the limit.",
        hint="Put it into the folder of the notebook and name it in the prompt instead.",
    )
