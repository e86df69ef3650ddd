"""What the samples of a folder share, said once: ``shared.jsonl`` beside ``runs.jsonl``."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from cellwright.bench.appending import append_line
from cellwright.errors import SetupError
from cellwright.exports.sample_packing import name_of

SHARED_FILE = "shared.jsonl"


class SharedValues:
    """Values by name, kept in a file; a name is the hash of its value.

    Args:
        folder: Where the file is.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / SHARED_FILE
        self._lock = threading.Lock()
        self._values: dict[str, Any] | None = None

    def keep(self, value: Any) -> str:
        """Keep a value; its name. It is in the file when this returns."""
        name = name_of(value)
        with self._lock:
            values = self._read()
            if name not in values:
                line = json.dumps({"id": name, "value": value}, ensure_ascii=False)
                append_line(self._path, line + "\n")
                values[name] = value
        return name

    def take(self, name: str) -> Any:
        """The value of a name.

        Raises:
            SetupError: It is not in the file.
        """
        with self._lock:
            if name not in self._read():
                self._values = None  # another process may have added it
            if name not in self._read():
                raise SetupError(
                    f"{str(self._path)!r} does not have {name!r}, which a sample names.",
                    hint="Keep the files of a results folder together.",
                )
            return self._read()[name]

    def _read(self) -> dict[str, Any]:
        if self._values is None or (self._values and not self._path.exists()):
            self._values = {}
            if self._path.exists():
                with self._path.open("rb") as file:
                    self._values = values_in(file)
        return self._values


def values_in(file: Iterable[bytes]) -> dict[str, Any]:
    """The values of a file's lines, by name; a torn line is left out."""
    found = {}
    for text in file:
        with contextlib.suppress(ValueError, KeyError, TypeError):
            line = json.loads(text)
            found[str(line["id"])] = line["value"]
    return found
