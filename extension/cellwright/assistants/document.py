"""The text of an assistant's file with other values in it, the rest as the person wrote it.

Comments, order and spacing stay. Names in a list keep their places, new ones come last: their
order means nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.assistants.scene_text import SceneText, split_scenes, with_scenes
from cellwright.assistants.toml_values import parse_document, set_key, written_value

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
    end, seen = 0, ""
    for key, item in parse_document(text).body:
        if key is None:
            seen += item.as_string()
            continue
        trivia = item.trivia
        seen += f"{trivia.indent}{key.as_string()}{key.sep}{item.as_string()}"
        seen += f"{trivia.comment_ws}{trivia.comment}{trivia.trail}"
        end = len(seen)
    return end if text.startswith(seen) else 0
