"""Files that people put beside their prompts, each stored once under the hash of what is in it.

The name that a file comes with is only ever shown: nothing of it but a plain ending gets into a
path. A file that no run was given goes a week after it was last named.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import threading
import time
import unicodedata
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cellwright.errors import CellwrightError, SetupError, StoreError
from cellwright.record.attachments import STORED_NAME, human_size
from cellwright.store.event_rows import replace_file
from cellwright.text.file_kinds import HEAD_BYTES, kind_of

FILE_LIMIT_BYTES = 20 * 1024 * 1024
TOTAL_LIMIT_BYTES = 1024 * 1024 * 1024
UNUSED_SECONDS = 7 * 24 * 3_600
"""How long a file stays that no run was given."""
SHORT_SECONDS = 3_600
"""The same where there is no room left."""
NAME_LIMIT_CHARACTERS = 120
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


@dataclass(frozen=True)
class TakenFile(StoredFile):
    """A file that was stored, and where else it could go."""

    library: str = ""
    """Name of the library that it may be put into instead; empty: it is not asked about."""


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
        used: The hashes of the files that runs were given; None: nothing expires.
    """

    def __init__(
        self,
        folder: Path,
        total_limit_bytes: int = TOTAL_LIMIT_BYTES,
        used: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self.folder = folder
        self._total_limit_bytes = total_limit_bytes
        self._used = used
        self._storing = threading.Lock()
        self._brought: dict[str, set[str]] = {}

    def is_from(self, guest: str, file: str) -> bool:
        """Whether a guest has brought a file themselves, since the server started."""
        with self._storing:
            return file in self._brought.get(guest, ())

    def store(self, data: bytes, name: str, guest: str = "") -> StoredFile:
        """Store a file, on disk by the time this returns.

        Args:
            data: What is in it.
            name: What it is called.
            guest: Who brought it; empty: not a guest.

        Raises:
            TooLargeError: It is too large, or the folder is full.
            StoreError: The folder cannot be written.
        """
        if len(data) > FILE_LIMIT_BYTES:
            raise _too_large(len(data))
        shown = shown_name(name)
        ending = ENDING.search(shown.lower())
        file = hashlib.sha256(data).hexdigest() + (ending[0] if ending else "")
        target = self._target(file)
        with self._storing:
            if target.exists():
                _renew(target)
            elif not self._link(target):
                self._check_room(len(data))
                self._write(target, data)
            if guest:
                self._brought.setdefault(guest, set()).add(file)
        return StoredFile(file, shown, len(data), kind_of(data[:HEAD_BYTES], shown))

    def path(self, file: str) -> Path:
        """Where a stored file lies; it stays for another while.

        Raises:
            SetupError: There is no such file.
        """
        if STORED_NAME.fullmatch(file):
            target = self._target(file)
            with self._storing:
                if target.is_file():
                    _renew(target)
                    return target
        raise SetupError(f"There is no file {file!r}.", hint="Add it to the prompt again.")

    def expire(self, unused_seconds: float = UNUSED_SECONDS) -> int:
        """Remove the files that no run was given and nobody named for so long; how many.

        Raises:
            StoreError: It cannot be told which files runs were given.
        """
        with self._storing:
            return self._expire_now(unused_seconds)

    def _expire_now(self, unused_seconds: float) -> int:
        if self._used is None:
            return 0
        used, oldest = self._used(), time.time() - unused_seconds
        gone = [file for file in self._files() if _may_go(file, used, oldest)]
        for file in gone:
            with suppress(OSError):
                file.unlink()
        return len(gone)

    def _used_bytes(self) -> int:
        """How much lies in the folder; bytes with two names count once."""
        found = (file.stat() for file in self.folder.glob("*/*"))
        return sum({stat.st_ino: stat.st_size for stat in found}.values())

    def _files(self) -> Iterator[Path]:
        return (file for file in self.folder.glob("*/*") if STORED_NAME.fullmatch(file.name))

    def _link(self, target: Path) -> bool:
        """Give bytes that are stored already another name; false: they are not."""
        for twin in target.parent.glob(f"{target.name[:64]}*"):
            if STORED_NAME.fullmatch(twin.name) and twin.is_file():
                try:
                    os.link(twin, target)
                except OSError:  # not every file system can
                    shutil.copyfile(twin, target)
                    target.chmod(0o600)
                _renew(target)
                return True
        return False

    def _target(self, file: str) -> Path:
        return self.folder / file[:2] / file

    def _check_room(self, size_bytes: int) -> None:
        used = self._used_bytes()
        if used + size_bytes > self._total_limit_bytes:
            with suppress(CellwrightError):
                self._expire_now(SHORT_SECONDS)
            used = self._used_bytes()
        if used + size_bytes > self._total_limit_bytes:
            raise TooLargeError(
                f"The files of earlier prompts take {human_size(used)} already.",
                hint=f"Delete some in {str(self.folder)!r}.",
            )

    def _write(self, target: Path, data: bytes) -> None:
        try:
            for folder in (self.folder, target.parent):
                os.makedirs(folder, mode=0o700, exist_ok=True)
            replace_file(target, data)
        except OSError as error:
            where, why = str(self.folder), error.strerror or type(error).__name__
            raise StoreError(
                f"The folder {where!r} cannot be written: {why}.", hint="Check the folder."
            ) from error


def _renew(file: Path) -> None:
    with suppress(OSError):
        os.utime(file)


def _may_go(file: Path, used: Collection[str], oldest: float) -> bool:
    with suppress(OSError):
        return file.name[:64] not in used and file.stat().st_mtime < oldest
    return False


def _too_large(size_bytes: int) -> TooLargeError:
    return TooLargeError(
        f"The file has {human_size(size_bytes)}; {human_size(FILE_LIMIT_BYTES)} is the limit.",
        hint="Put it into the folder of the notebook and name it in the prompt instead.",
    )
