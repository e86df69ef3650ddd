"""What has to be written for an assistant to have other fields, and its file with that in it.

What would not be read back as it was meant is refused.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellwright.assistants import Assistant
from cellwright.assistants.fields import (
    ATTRIBUTES,
    KINDS,
    clamped_temperature,
    complaints,
    is_default,
)
from cellwright.assistants.files import assistant_of, parse_assistant
from cellwright.assistants.scenes import SCENE_KEYS
from cellwright.assistants.toml_values import NotKeptError, parse_document, set_key, written_value
from cellwright.errors import SetupError

# The scenes in the text of an assistant's file: changed, moved, added, taken out.
#
# Comments that stand right above a scene belong to it and go where it goes; all others stay.


Row = Mapping[str, Any]
"""One scene as a file has it."""
LINE = re.compile(r"[^\n]*\n|[^\n]+")
HEADER = re.compile(r"""[ \t]*\[\[[ \t]*(scenes|"scenes"|'scenes')[ \t]*\]\]""")
COMMENT = re.compile(r"[ \t]*#")


@dataclass(frozen=True)
class SceneText:
    """A file's text in parts."""

    head: str
    blocks: tuple[str, ...]
    """One a scene, with the comments right above it."""


def kept_rows(there: Sequence[Row], wanted: Sequence[Row]) -> tuple[int | None, ...]:
    """For each wanted scene which of those that are there it was; None: it is new.

    One of the same label is the same; else one at the same place whose label is gone.
    """
    places = {row["label"]: index for index, row in enumerate(there)}
    labels = {row.get("label") for row in wanted}
    found: list[int | None] = []
    for index, row in enumerate(wanted):
        is_renamed = index < len(there) and there[index]["label"] not in labels
        found.append(places.get(row.get("label"), index if is_renamed else None))
    return tuple(found)


def split_scenes(text: str) -> SceneText:
    """The text before the scenes, and each scene's."""
    lines = LINE.findall(text)
    starts = [number for number, line in enumerate(lines) if HEADER.match(line)]
    # a line of a long text may look like the first of a scene
    starts = [start for start in starts if _is_whole("".join(lines[:start]))]
    starts = [_with_comments(lines, start) for start in starts]
    ends = [*starts, len(lines)]
    blocks = ("".join(lines[start:end]) for start, end in itertools.pairwise(ends))
    return SceneText("".join(lines[: ends[0]]), tuple(blocks))


def with_scenes(text: SceneText, wanted: Sequence[Row]) -> SceneText:
    """A file's text with these scenes.

    Raises:
        NotKeptError: They are written in a way that would not stay as it is.
    """
    head: Any = parse_document(text.head)
    if "scenes" in head:
        _edit_inline(head, wanted)
        return SceneText(head.as_string(), text.blocks)
    there = [tomllib.loads(block)["scenes"][0] for block in text.blocks]
    kept = kept_rows(there, wanted)
    blocks = tuple(
        _block(row) if place is None else _edited_block(text.blocks[place], there[place], row)
        for place, row in zip(kept, wanted, strict=True)
    )
    return _spaced(text, kept, blocks)


def _is_whole(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _with_comments(lines: Sequence[str], start: int) -> int:
    while start and COMMENT.match(lines[start - 1]):
        start -= 1
    return start


def _edit(scene: Any, row: Row) -> None:
    for key in [key for key in scene if key not in row]:
        del scene[key]
    for key, value in row.items():
        if scene.get(key) != value:
            if isinstance(value, Mapping):
                scene.pop(key, None)
            set_key(scene, key, value)


def _edited_block(block: str, there: Row, row: Row) -> str:
    if there == row:
        return block
    document = parse_document(block)
    scenes: Any = document["scenes"]
    _edit(scenes[0], row)
    return document.as_string()


def _edit_inline(head: Any, wanted: Sequence[Row]) -> None:
    """Change scenes that are written as one list."""
    import tomlkit

    scenes = head["scenes"]
    kept = kept_rows(scenes, wanted)
    places = [place for place in kept if place is not None]
    if places != sorted(places) or None in kept[: len(places)]:
        if "#" in scenes.as_string():
            # its notes would be lost
            raise NotKeptError
        set_key(head, "scenes", list(wanted))
        return
    for place, row in zip(kept, wanted, strict=True):
        if place is not None:
            _edit(scenes[place], row)
    for index in reversed(range(len(scenes))):
        if index not in places:
            del scenes[index]
    for row in wanted[len(places) :]:
        scenes.append(tomlkit.value(written_value(row)))
    if not wanted:
        del head["scenes"]


def _spaced(text: SceneText, kept: Sequence[int | None], blocks: Sequence[str]) -> SceneText:
    """The text with these blocks; where another one follows than before, after an empty line."""
    parts = [text.head]
    followed = [-1, *(len(text.blocks) if place is None else place for place in kept)]
    for before, place, block in zip(followed, followed[1:], blocks, strict=False):
        if place != before + 1 or place == len(text.blocks):
            parts[-1] = _with_empty_line(parts[-1])
        parts.append(block)
    return SceneText(parts[0], tuple(parts[1:]))


def _with_empty_line(part: str) -> str:
    if not part or part.endswith(("\n\n", "\n\r\n")):
        return part
    return f"{part}\n" if part.endswith("\n") else f"{part}\n\n"


def _block(row: Row) -> str:
    lines = "".join(f"{key} = {written_value(value)}\n" for key, value in row.items())
    return f"[[scenes]]\n{lines}"


# The text of an assistant's file with other values in it, the rest as the person wrote it.
#
# Comments, order and spacing stay. Names in a list keep their places, new ones come last: their
# order means nothing.


LONE_NEWLINE = re.compile(r"(?<!\r)\n")


def changed_text(text: str, changes: Mapping[str, Any]) -> str:
    """The text of a file with these keys set; None takes a key out.

    Raises:
        NotKeptError: It is written in a way that would not stay as it is.
    """
    parts = split_scenes(text)
    keys = {key: value for key, value in changes.items() if key != "scenes"}
    if keys:
        parts = replace(parts, head=_changed_head(parts, keys))
    if "scenes" in changes:
        parts = with_scenes(parts, changes["scenes"] or [])
    changed = "".join([parts.head, *parts.blocks])
    is_windows = "\r\n" in text and not LONE_NEWLINE.search(text)
    return LONE_NEWLINE.sub("\r\n", changed) if is_windows else changed


def _changed_head(parts: SceneText, keys: Mapping[str, Any]) -> str:
    """What stands before the scenes, with these keys set."""
    document: Any = parse_document(parts.head)
    added = {}
    for key, value in keys.items():
        if value is None:
            document.pop(key, None)
        elif key not in document:
            added[key] = value
        elif isinstance(value, list):
            _edit_list(document[key], value)
        else:
            set_key(document, key, value)
    text = document.as_string()
    lines = "".join(f"{key} = {written_value(value)}\n" for key, value in added.items())
    end = _end_of_keys(text) or len(text)
    before = "\n" if lines and end and text[end - 1] != "\n" else ""
    after = "\n" if lines and parts.blocks and end == len(text) else ""
    return "".join([text[:end], before, lines, after, text[end:]])


def _edit_list(names: Any, wanted: Sequence[str]) -> None:
    for index in reversed(range(len(names))):
        if names[index] not in wanted:
            del names[index]
    for name in wanted:
        if name not in names:
            names.append(name)


def _end_of_keys(text: str) -> int:
    """Where the last key ends; 0: there is none."""
    from tomlkit.items import Table

    end, seen = 0, ""
    for key, item in parse_document(text).body:
        if key is None:
            seen += item.as_string()
            continue
        if isinstance(item, Table):
            break  # what came behind its header would be within it
        trivia = item.trivia
        seen += f"{trivia.indent}{key.as_string()}{key.sep}{item.as_string()}"
        seen += f"{trivia.comment_ws}{trivia.comment}{trivia.trail}"
        end = len(seen)
    return end if text.startswith(seen) else 0


LISTS = ("tools", "library")
"""Their order means nothing."""


def check_fields(fields: Mapping[str, Any], name: str) -> None:
    """Make sure that these can be an assistant's.

    Args:
        fields: By their keys in a file; a default may be None, empty or false.
        name: What it is called.

    Raises:
        SetupError: They cannot; all that is wrong is named.
    """
    given = {
        key: _rows(value) if key == "scenes" else value
        for key, value in fields.items()
        if not is_default(key, value)
    }
    wrong = tuple(complaints(given, name))
    if wrong:
        raise SetupError(f"{'; '.join(wrong)}.", hint="Nothing was changed.")


def changes_of(assistant: Assistant, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What has to be written: fields that mean something else by now; None: the key goes."""
    wanted = dict(fields)
    if "scenes" in wanted:
        there = [scene.row for scene in assistant.scenes]
        wanted["scenes"] = _with_conditions(there, wanted["scenes"] or [])
    stored = {key: _stored(key, wanted[key]) for key in KINDS if key in wanted}
    return {key: value for key, value in stored.items() if not _is_so(assistant, key, value)}


def changed_file(path: Path, text: str, changes: Mapping[str, Any]) -> str:
    """The new text of a file.

    Raises:
        SetupError: It would not say what was meant, or could not be used.
    """
    if not changes:
        return text
    expected = {**tomllib.loads(text), **changes}
    expected = {key: value for key, value in expected.items() if value is not None}
    changed = text
    try:
        changed = changed_text(text, changes)
        is_meant = _comparable(tomllib.loads(changed)) == _comparable(expected)
        changed.encode()
    except (NotKeptError, tomllib.TOMLDecodeError, UnicodeEncodeError):
        is_meant = False
    if not is_meant:
        message = f"{path.name} is written in a way we do not change."
        raise SetupError(message, hint="Change it in the file.")
    parse_assistant(changed, path)
    return changed


def _rows(rows: Any) -> Any:
    """Scenes as a file has them: what is None is not there."""
    if not isinstance(rows, list):
        return rows
    return [
        {key: value for key, value in row.items() if value is not None}
        if isinstance(row, Mapping)
        else row
        for row in rows
    ]


def _with_conditions(there: Sequence[Any], wanted: Sequence[Any]) -> list[Any]:
    """The wanted scenes; where it is not said when one is chosen, that stays."""
    kept = kept_rows(there, wanted)
    return [
        row if place is None else {"when": there[place].get("when"), **row}
        for place, row in zip(kept, wanted, strict=True)
    ]


def _stored(key: str, value: Any) -> Any:
    """A value as it is written; None: the key is left out."""
    if is_default(key, value):
        return None
    if key == "description":
        return " ".join(value.split()) or None
    if key == "temperature":
        return clamped_temperature(value)
    if key in LISTS:
        return list(dict.fromkeys(value))
    if key == "scenes":
        return [{name: row[name] for name in SCENE_KEYS if name in row} for row in _rows(value)]
    return value


def _is_so(assistant: Assistant, key: str, stored: Any) -> bool:
    """Whether an assistant has this already."""
    attribute = ATTRIBUTES.get(key, key)
    meant = getattr(assistant_of({} if stored is None else {key: stored}), attribute)
    there = getattr(assistant, attribute)
    if key in LISTS and meant is not None and there is not None:
        return set(meant) == set(there)
    return bool(meant == there)


def _comparable(data: Mapping[str, Any]) -> Mapping[str, Any]:
    return {key: set(value) if key in LISTS else value for key, value in data.items()}
