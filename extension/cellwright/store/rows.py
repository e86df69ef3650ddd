"""An event as the text of a row, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from cellwright.events import Event, Notice
from cellwright.store.blobs import BlobFolder
from cellwright.values import from_dict, to_dict

__all__ = ["EventRow", "event_of", "row_of", "sha_of"]

BLOB_LIMIT_CHARACTERS = 65_536
"""A longer string goes to a file of its own."""
BLOB_KEY = "cellwright:blob"


class EventRow:
    """An event's text, and the names of the files that hold its large strings."""

    __slots__ = ("blobs", "data", "kind", "sha")

    def __init__(self, kind: str, data: str, blobs: frozenset[str]) -> None:
        self.kind = kind
        self.data = data
        self.blobs = blobs
        self.sha = sha_of(data)


def row_of(event: Event, folder: BlobFolder | None) -> EventRow:
    """The row of an event; its large strings are on disk by the time this returns."""
    value = _plain(event)
    text = _dumps(value)
    blobs: set[str] = set()
    if folder is not None and len(text) > BLOB_LIMIT_CHARACTERS:
        value = _moved_out(value, folder, blobs)
        text = _dumps(value) if blobs else text
    return EventRow(event.kind, text, frozenset(blobs))


def event_of(data: str, sha: str, blobs: Mapping[str, Callable[[], str | None]]) -> Event:
    """The event of a row; one that cannot be read becomes a notice that says so.

    Args:
        data: The row's text.
        sha: What ``sha_of`` said when it was written.
        blobs: Readers of the files that the run's rows may refer to.
    """
    if sha_of(data) != sha:
        return _unreadable("it is not what was written")
    try:
        event: Event = from_dict(Event, _moved_in(json.loads(data), blobs))
    except (ValueError, TypeError, AttributeError) as error:
        return _unreadable(str(error))
    return event


def sha_of(data: str) -> str:
    """What a row's text is checked against when it is read."""
    return hashlib.sha256(data.encode("utf-8")).hexdigest()


def _unreadable(why: str) -> Notice:
    text = f"An event of the record cannot be read: {why}."
    return Notice("warning", text, "It may be from a newer cellwright.", "event_unreadable")


def _plain(event: Event) -> Any:
    try:
        return to_dict(event)
    except (TypeError, RecursionError):
        return _forced(event, 20)


def _forced(value: Any, depth: int) -> Any:
    """Plain data for a value that holds what JSON cannot say; that part as its repr."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    if depth == 0:
        return repr(type(value))
    if isinstance(value, Mapping):
        return {str(key): _forced(item, depth - 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_forced(item, depth - 1) for item in value]
    if is_dataclass(value):
        return {f.name: _forced(getattr(value, f.name), depth - 1) for f in fields(value)}
    return repr(value)


def _dumps(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which SQLite cannot hold
        text = json.dumps(value, separators=(",", ":"))
    return text


def _moved_out(value: Any, folder: BlobFolder, blobs: set[str]) -> Any:
    if isinstance(value, str) and len(value) > BLOB_LIMIT_CHARACTERS:
        try:
            sha = folder.put(value)
        except OSError:
            return value
        blobs.add(sha)
        return {BLOB_KEY: sha}
    if isinstance(value, dict):
        return {key: _moved_out(item, folder, blobs) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved_out(item, folder, blobs) for item in value]
    return value


def _moved_in(value: Any, blobs: Mapping[str, Callable[[], str | None]]) -> Any:
    if isinstance(value, dict):
        read = blobs.get(str(value.get(BLOB_KEY))) if len(value) == 1 else None
        if read is not None:
            text = read()
            return "(this part of the record is missing)" if text is None else text
        return {key: _moved_in(item, blobs) for key, item in value.items()}
    if isinstance(value, list):
        return [_moved_in(item, blobs) for item in value]
    return value
