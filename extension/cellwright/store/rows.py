"""An event as the text of a row, and back."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from cellwright.record.events import Event, Notice
from cellwright.record.values import from_dict, to_dict
from cellwright.store.blobs import BlobFolder
from cellwright.store.parts import Part, divided, joined

BLOB_LIMIT_CHARACTERS = 65_536
"""A longer string goes to a file of its own."""
BLOB_KEY = "cellwright:blob"
UNREADABLE_CODE = "event_unreadable"
_WRITER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class EventRow:
    """An event's text, the files that hold its large strings, and the parts of its long lists."""

    __slots__ = ("blobs", "data", "kind", "parts", "sha")

    def __init__(
        self, kind: str, data: str, blobs: frozenset[str], parts: tuple[Part, ...]
    ) -> None:
        self.kind = kind
        self.data = data
        self.blobs = blobs
        self.parts = parts
        self.sha = sha_of(data)


def row_of(event: Event, folder: BlobFolder | None) -> EventRow:
    """The row of an event; its large strings are on disk by the time this returns."""
    blobs: set[str] = set()
    write = partial(_text, folder=folder, blobs=blobs)
    value, parts = divided(_plain(event), write)
    return EventRow(event.kind, write(value), frozenset(blobs), parts)


def event_of(
    data: str,
    sha: str,
    blobs: Mapping[str, Callable[[], str | None]],
    parts: Mapping[str, Any] | None = None,
) -> Event:
    """The event of a row; one that cannot be read becomes a notice that says so.

    Args:
        data: The row's text.
        sha: What ``sha_of`` said when it was written.
        blobs: Readers of the files that the run's rows may refer to.
        parts: Plain data of the parts that they name.
    """
    if sha_of(data) != sha:
        return _unreadable("it is not what was written")
    try:
        value = joined(json.loads(data), parts or {})
        event: Event = from_dict(Event, _moved_in(value, blobs))
    except (ValueError, TypeError, AttributeError) as error:
        return _unreadable(str(error))
    return event


def sha_of(data: str) -> str:
    """What a row's text is checked against when it is read."""
    return hashlib.sha256(data.encode("utf-8")).hexdigest()


def _unreadable(why: str) -> Notice:
    text = f"An event of the record cannot be read: {why}."
    return Notice("warning", text, "It may be from a newer cellwright.", UNREADABLE_CODE)


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


def _text(value: Any, folder: BlobFolder | None, blobs: set[str]) -> str:
    text = _dumps(value)
    if folder is None or len(text) <= BLOB_LIMIT_CHARACTERS:
        return text
    moved: set[str] = set()
    value = _moved_out(value, folder, moved)
    blobs |= moved
    return _dumps(value) if moved else text


def _dumps(value: Any) -> str:
    text = _WRITER.encode(value)
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
