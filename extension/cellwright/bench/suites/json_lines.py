"""Data of public suites: JSON lines, often gzipped; they are never part of the package."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError


def read_json_lines(path: Path, needed: tuple[str, ...] = ()) -> list[dict[str, Any]]:
    """The objects of a file.

    Args:
        path: Plain or gzipped.
        needed: Keys that each object must have.

    Raises:
        SetupError: It is not there, or is something else.
    """
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data).decode("utf-8")
        rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise SetupError(
            f"The data {str(path)!r} cannot be read: {error}.", hint="Name a .jsonl or .jsonl.gz."
        ) from error
    for number, row in enumerate(rows, start=1):
        missing = [key for key in needed if not isinstance(row, dict) or key not in row]
        if missing:
            raise SetupError(
                f"Line {number} of {str(path)!r} has no {missing[0]!r}.",
                hint="Is it the data of another suite?",
            )
    return rows
