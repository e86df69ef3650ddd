"""What has to be written for an assistant to have other fields, and its file with that in it.

What would not be read back as it was meant is refused.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.assistants import Assistant
from cellwright.assistants.document import changed_text
from cellwright.assistants.fields import (
    ATTRIBUTES,
    KINDS,
    clamped_temperature,
    complaints,
    is_default,
)
from cellwright.assistants.files import assistant_of, parse_assistant
from cellwright.assistants.scene_text import kept_rows
from cellwright.assistants.scenes import SCENE_KEYS
from cellwright.assistants.toml_values import NotKeptError
from cellwright.errors import SetupError

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
