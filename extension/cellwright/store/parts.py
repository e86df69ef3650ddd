"""Long lists of events as parts that are named by their content, and back.

A list is a tree: its items, in groups, in groups of groups. What lies in a row or in a group is a
list of entries: ``[item]`` for a small item, else the name of a part. Where a group ends depends on
its entries alone, so lists that are alike have most of their groups in common. A field that will be
an item of such lists is the same part as it is there.
"""

from __future__ import annotations

import base64
import hashlib
import json
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

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
class _Entry:
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


def _entries_of(value: Any, write: Callable[[Any], str]) -> list[_Entry]:
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


def _entry(item: Any, text: str) -> _Entry:
    if len(text) < SMALL_CHARACTERS:
        return _Entry([item], f"[{text}]")
    return _reference(ITEM, text)


def _groups(entries: Iterable[_Entry]) -> Iterator[list[_Entry]]:
    group: list[_Entry] = []
    for entry in entries:
        group.append(entry)
        is_end = len(group) >= FEWEST and zlib.crc32(entry.text.encode("utf-8")) % USUALLY == 0
        if is_end or len(group) == MOST:
            yield group
            group = []
    if group:
        yield group


def _group(entries: Iterable[_Entry]) -> _Entry:
    text = f"[{','.join(entry.text for entry in entries)}]"
    return _reference(GROUP, text, tuple(e.part for e in entries if e.part is not None))


def _reference(kind: str, text: str, parts: tuple[Part, ...] = ()) -> _Entry:
    name = _named(kind, text)
    return _Entry(name, f'"{name}"', Part(name, text, parts))


def _named(kind: str, text: str) -> str:
    # The kind counts too: the same text as an item and as a group are two parts.
    digest = hashlib.sha256(f"{kind}{text}".encode()).digest()
    return kind + base64.urlsafe_b64encode(digest[:NAME_BYTES]).decode("ascii")
