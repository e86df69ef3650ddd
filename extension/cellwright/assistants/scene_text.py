"""The scenes in the text of an assistant's file: changed, moved, added, taken out.

Comments that stand right above a scene belong to it and go where it goes; all others stay.
"""

from __future__ import annotations

import itertools
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.assistants.toml_values import NotKeptError, parse_document, set_key, written_value

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
