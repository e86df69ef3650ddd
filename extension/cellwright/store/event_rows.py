"""An event as the text of a row, and back.

Large texts go to files named by what is in them, long lists to parts that runs share.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
import tempfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.record.events import Event, Notice
from cellwright.record.values import from_dict, to_dict
from cellwright.store.database import Database, Statement

# Large texts in files named by what is in them.


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
        if not self.has(sha):
            self._write(self._path(sha), data)
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

    def has(self, sha: str) -> bool:
        """Whether there is a text of that name."""
        return self._path(sha).exists()

    def remove(self, sha: str, is_used: Callable[[], bool]) -> None:
        """Delete the text of that name, unless it is used.

        Args:
            sha: The name.
            is_used: Whether a run uses it; asked again when it is gone, since one may have begun
                to meanwhile.
        """
        target = self._path(sha)
        with contextlib.suppress(OSError):
            if not is_used():
                data = target.read_bytes()
                target.unlink()
                if is_used():
                    self._write(target, data)

    def _path(self, sha: str) -> Path:
        return self.folder / sha[:2] / sha

    def _write(self, target: Path, data: bytes) -> None:
        for folder in (self.folder, target.parent):
            os.makedirs(folder, mode=0o700, exist_ok=True)
        replace_file(target, data)
        _sync_folder(target.parent)


def blob_readers(
    database: Database, blobs: BlobFolder | None, run_id: str
) -> dict[str, Callable[[], str | None]]:
    """What reads each text that a run keeps in a file, by its name."""
    if blobs is None:
        return {}
    rows = database.read("SELECT sha FROM blob_uses WHERE run_id = ?", (run_id,))
    return {sha: partial(blobs.get, sha) for (sha,) in rows}


def replace_file(path: Path, data: bytes) -> None:
    """Write a file that its owner alone can read, whole or not at all."""
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # made with the mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


# Long lists of events as parts that are named by their content, and back.
#
# A list is a tree: its items, in groups, in groups of groups. What lies in a row or in a group is
# a list of entries: ``[item]`` for a small item, else the name of a part. Where a group ends
# depends on its entries alone, so lists that are alike have most of their groups in common. A
# field that will be an item of such lists is the same part as it is there.


KEY = "cellwright:parts"
DIVIDED: Mapping[str, tuple[str, ...]] = {
    "model_asked": ("messages", "tools"),
    "history_compacted": ("messages",),
    "state_captured": ("cells", "executed", "packages"),
}
"""Fields that are much the same from run to run; none that is drawn or searched for."""
LISTED: Mapping[str, str] = {"tool_finished": "message"}
"""Fields that are items of later requests. Each stands before all others that hold objects."""
WHOLE, ITEM, GROUP = "w", "i", "g"
"""How a part's name begins: a whole field, an item of a list, entries of a list."""
SMALL_CHARACTERS = 250
"""A smaller item costs less where it stands than as a part."""
ROW_CHARACTERS = 1_000
"""A list that takes no more stays in the row."""
FEWEST, USUALLY, MOST = 2, 16, 64
"""Entries of a group."""
NAME_BYTES = 18
NAME_CHARACTERS = 1 + NAME_BYTES * 4 // 3
OPENING = f'{{"{KEY}":"'


@dataclass(frozen=True)
class Part:
    """A piece of text under a name that says what is in it."""

    name: str
    data: str
    parts: tuple[Part, ...] = ()
    """What the text names."""


@dataclass(frozen=True)
class _ListEntry:
    plain: Any
    text: str
    """``plain`` as JSON."""
    part: Part | None = None


def divided(
    event: Mapping[str, Any], write: Callable[[Any], str]
) -> tuple[dict[str, Any], tuple[Part, ...]]:
    """An event's plain data with its long lists taken apart, and the parts that it then names.

    Args:
        event: The data, with its ``kind``.
        write: JSON text of plain data; without half characters.
    """
    fields, found = dict(event), list[Part]()
    for name in DIVIDED.get(str(event.get("kind")), ()):
        entries = _entries_of(fields.get(name), write)
        if entries:
            fields[name] = {KEY: [entry.plain for entry in entries]}
            found += [entry.part for entry in entries if entry.part is not None]
    name = LISTED.get(str(event.get("kind")), "")
    item = _entry(fields[name], write(fields[name])) if name in fields else None
    if item is not None and item.part is not None:
        fields[name] = {KEY: item.plain}
        found.append(item.part)
    return fields, tuple(found)


def joined(event: Any, parts: Mapping[str, Any]) -> Any:
    """An event's plain data as it was before it was taken apart.

    Args:
        event: What ``divided`` made of it, or what never was divided.
        parts: Plain data of all parts, by name.

    Raises:
        ValueError: A part is missing.
    """
    if not isinstance(event, dict):
        return event
    try:
        whole = {name: _joined_field(entries, parts) for name, entries in _divided_fields(event)}
        whole |= {name: parts[part] for name, part in _listed_field(event)}
    except KeyError as error:
        raise ValueError(f"the part {error} of it is missing") from None
    return {**event, **whole}


def has_parts(data: str) -> bool:
    """Whether an event's text may name parts; where it does not, none is needed."""
    return KEY in data


def names_in(event: Mapping[str, Any]) -> Iterator[str]:
    """The names of the parts that an event's plain data has in its fields' places."""
    for _, entries in _divided_fields(event):
        yield from (entry for entry in entries if isinstance(entry, str))
    yield from (name for _, name in _listed_field(event))


def names_in_part(name: str, data: str) -> Iterator[str]:
    """The names of the parts that a part is made of."""
    entries = json.loads(data) if name.startswith(GROUP) else ()
    yield from (entry for entry in entries if isinstance(entry, str))


def named_in(kind: str, data: str) -> str:
    """The name of the part that an event's text has in a field's place; empty: there is none.

    Args:
        kind: The event's.
        data: Its text, as it was written.
    """
    if kind not in LISTED:
        return ""
    # No string holds these signs as they are: JSON writes its quotes with a backslash.
    _, _, value = data.partition(f'"{LISTED[kind]}":')
    return value[len(OPENING) :][:NAME_CHARACTERS] if value.startswith(OPENING) else ""


def spliced(kind: str, data: str, parts: Mapping[str, str]) -> str | None:
    """An event's text with that of a part in its name's place; None: the part is missing.

    Args:
        kind: The event's.
        data: Its text, as it was written.
        parts: Texts of parts, by name.
    """
    name = named_in(kind, data)
    if not name:
        return data
    return data.replace(f'{OPENING}{name}"}}', parts[name], 1) if name in parts else None


def is_intact(name: str, data: str) -> bool:
    """Whether this is what was stored under the name."""
    return _named(name[:1], data) == name


def _divided_fields(event: Mapping[str, Any]) -> Iterator[tuple[str, list[Any]]]:
    for name in DIVIDED.get(str(event.get("kind")), ()):
        value = event.get(name)
        entries = value.get(KEY) if isinstance(value, dict) and len(value) == 1 else None
        if isinstance(entries, list):
            yield name, entries


def _listed_field(event: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    name = LISTED.get(str(event.get("kind")), "")
    value = event.get(name)
    part = value.get(KEY) if isinstance(value, dict) and len(value) == 1 else None
    if isinstance(part, str):
        yield name, part


def _joined_field(entries: list[Any], parts: Mapping[str, Any]) -> Any:
    if len(entries) == 1 and str(entries[0]).startswith(WHOLE):
        return parts[entries[0]]
    return list(_items(entries, parts))


def _items(entries: Iterable[Any], parts: Mapping[str, Any]) -> Iterator[Any]:
    for entry in entries:
        if not isinstance(entry, str):
            yield from entry
        elif entry.startswith(GROUP):
            yield from _items(parts[entry], parts)
        else:
            yield parts[entry]


def _entries_of(value: Any, write: Callable[[Any], str]) -> list[_ListEntry]:
    """What a row has in a field's place; nothing: the value stays as it is."""
    if isinstance(value, dict):
        text = write(value)
        return [_reference(WHOLE, text)] if len(text) > ROW_CHARACTERS else []
    if not isinstance(value, list):
        return []
    texts = [write(item) for item in value]
    if _size(texts) <= ROW_CHARACTERS:
        return []
    entries = [_entry(item, text) for item, text in zip(value, texts, strict=True)]
    if _size(entry.text for entry in entries) > ROW_CHARACTERS:
        # On to a single one: what a run uses is written down, name by name.
        while len(entries) > 1:
            entries = [_group(group) for group in _groups(entries)]
    return entries


def _size(texts: Iterable[str]) -> int:
    return sum(len(text) + 1 for text in texts)


def _entry(item: Any, text: str) -> _ListEntry:
    if len(text) < SMALL_CHARACTERS:
        return _ListEntry([item], f"[{text}]")
    return _reference(ITEM, text)


def _groups(entries: Iterable[_ListEntry]) -> Iterator[list[_ListEntry]]:
    group: list[_ListEntry] = []
    for entry in entries:
        group.append(entry)
        is_end = len(group) >= FEWEST and zlib.crc32(entry.text.encode("utf-8")) % USUALLY == 0
        if is_end or len(group) == MOST:
            yield group
            group = []
    if group:
        yield group


def _group(entries: Iterable[_ListEntry]) -> _ListEntry:
    text = f"[{','.join(entry.text for entry in entries)}]"
    return _reference(GROUP, text, tuple(e.part for e in entries if e.part is not None))


def _reference(kind: str, text: str, parts: tuple[Part, ...] = ()) -> _ListEntry:
    name = _named(kind, text)
    return _ListEntry(name, f'"{name}"', Part(name, text, parts))


def _named(kind: str, text: str) -> str:
    # The kind counts too: the same text as an item and as a group are two parts.
    digest = hashlib.sha256(f"{kind}{text}".encode()).digest()
    return kind + base64.urlsafe_b64encode(digest[:NAME_BYTES]).decode("ascii")


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


# The parts of events in a database: written with the events, read for a run, gone with the last.
#
# A part that is there has all its own parts: they came in one transaction, and none goes as long as
# something uses it.


INSERT_PART = "INSERT OR IGNORE INTO parts (name, data) VALUES (?, ?)"
INSERT_USE = """INSERT OR IGNORE INTO part_uses SELECT inner.id, outer.id
    FROM parts AS inner, parts AS outer WHERE inner.name = ? AND outer.name = ?"""
INSERT_USED = "INSERT OR IGNORE INTO run_parts SELECT ?, id FROM parts WHERE name = ?"
DISUSE = "DELETE FROM run_parts WHERE run_id = ?"
DELETE = """DELETE FROM parts WHERE id = ?1
    AND NOT EXISTS (SELECT 1 FROM part_uses WHERE part = ?1)
    AND NOT EXISTS (SELECT 1 FROM run_parts WHERE part = ?1)"""
OF_RUN = """WITH RECURSIVE found (id, depth) AS (
        SELECT part, 0 FROM run_parts WHERE run_id = ?
        UNION SELECT part, depth + 1 FROM part_uses JOIN found ON used_by = found.id)"""
SELECT = f"{OF_RUN} SELECT name, data FROM parts WHERE id IN (SELECT id FROM found)"
SELECT_NAMED = "SELECT name, data FROM parts WHERE name IN ({})"
FROM_THE_TOP = f"{OF_RUN} SELECT id FROM found GROUP BY id ORDER BY MAX(depth)"


def keeping(run_id: str, part: Part) -> tuple[Statement, ...]:
    """What stores a part, with all that it names, for a run."""
    return (_stored(part), Statement(INSERT_USED, (run_id, part.name)))


def forgetting(database: Database, run_id: str) -> tuple[Statement, ...]:
    """What takes back a run's use of its parts, and deletes those that then have no other.

    Whether they have is looked up when this is written: another program may be using them by then.
    """
    rows = database.read(FROM_THE_TOP, (run_id,))
    return (
        Statement(DISUSE, (run_id,)),
        *(Statement(DELETE, (part,)) for (part,) in rows),
    )


def loaded(database: Database, run_id: str) -> dict[str, Any]:
    """Plain data of all parts of a run, by name; those that are damaged are left out."""
    rows = database.read(SELECT, (run_id,))
    return {name: json.loads(data) for name, data in rows if is_intact(name, data)}


def texts_of(database: Database, names: Collection[str]) -> dict[str, str]:
    """The texts of some parts, by name; those that are damaged are left out.

    Args:
        database: Where they are.
        names: Of 500 at most; an empty one is of no part.
    """
    wanted = sorted(filter(None, names))
    if not wanted:
        return {}
    rows = database.read(SELECT_NAMED.format(", ".join("?" * len(wanted))), wanted)
    return {name: data for name, data in rows if is_intact(name, data)}


def _stored(part: Part) -> Statement:
    then: list[Statement] = []
    for inner in part.parts:
        then += (_stored(inner), Statement(INSERT_USE, (inner.name, part.name)))
    return Statement(INSERT_PART, (part.name, part.data), then=tuple(then))
