"""How files are called that are stored under the hash of what is in them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath

STORED_NAME = re.compile(r"([0-9a-f]{64})(\.[a-z0-9]{1,8}){0,2}")


def stored_hashes(paths: Iterable[str]) -> tuple[str, ...]:
    """The hashes of those files that lie in a store, each once, in order."""
    found = (_hash(PurePath(path.replace("\\", "/"))) for path in paths)
    return tuple(dict.fromkeys(filter(None, found)))


def _hash(path: PurePath) -> str:
    match = STORED_NAME.fullmatch(path.name)
    return match[1] if match and path.parent.name == match[1][:2] else ""
