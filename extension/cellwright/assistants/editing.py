"""Assistants made, changed, renamed and deleted, the rest of a file left as the person wrote it.

What would not be read back as it was meant is not written.
"""

from __future__ import annotations

import threading
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.assistants import Assistant
from cellwright.assistants.changes import changed_file, changes_of, check_fields
from cellwright.assistants.files import FOLDER, parse_assistant, read_text
from cellwright.assistants.writing import (
    changed_meanwhile,
    check_new_name,
    create_file,
    remove_file,
    rename_file,
    replace_file,
    text_version,
)
from cellwright.errors import SetupError

WRITING = threading.Lock()
"""Changes of one process come one after the other."""


@dataclass(frozen=True)
class AssistantFile:
    """An assistant and the text it was read from."""

    assistant: Assistant
    path: Path
    text: str

    @property
    def version(self) -> str:
        """What changes whenever the file does."""
        return text_version(self.text)

    @property
    def keys(self) -> tuple[str, ...]:
        """What the file itself says."""
        return tuple(tomllib.loads(self.text))


def open_assistant(path: Path) -> AssistantFile:
    """The assistant of a file, with its text.

    Raises:
        SetupError: It cannot be used.
    """
    text = read_text(path)
    return AssistantFile(parse_assistant(text, path), path, text)


def create_assistant(folder: Path, name: str, fields: Mapping[str, Any]) -> AssistantFile:
    """Write a file for a new assistant.

    Args:
        folder: A folder of assistants; made where it is not there.
        name: What it is called; no other of the folder is.
        fields: Its keys; what is missing or has its default is left out.

    Raises:
        SetupError: A field or the name cannot be used, or the file cannot be written.
        ConflictError: There is one of that name.
    """
    path = folder / f"{name}.toml"
    check_fields(fields, name)
    with WRITING:
        check_new_name(folder, name)
        text = changed_file(path, "", changes_of(Assistant(name), fields))
        create_file(path, text)
    return AssistantFile(parse_assistant(text, path), path, text)


def new_assistant(folder: Path, name: str, instructions: str = "") -> Path:
    """Write a file for a new assistant of a project.

    Args:
        folder: Of the project.
        name: What it is called.
        instructions: What it is told.

    Raises:
        SetupError: There is one, or the name cannot be used.
    """
    return create_assistant(folder / FOLDER, name, {"instructions": instructions}).path


def change_assistant(
    path: Path, fields: Mapping[str, Any], *, name: str | None = None, version: str = ""
) -> AssistantFile:
    """Change some keys of an assistant's file, and what it is called.

    Args:
        path: The file.
        fields: Keys with their values; one with its default is taken out, one that means the same
            already is not touched.
        name: Another name; None: it stays. A file that is called after its assistant is then
            renamed, and a ``name`` in it says the new one.
        version: Of the file that was seen; empty: whatever it is now.

    Raises:
        SetupError: A field or the name cannot be used, or the file cannot be changed.
        ConflictError: It is not that version any more, or there is another one of that name.
    """
    return _change(path, lambda assistant: fields, name=name, version=version)


def delete_assistant(path: Path, version: str = "") -> None:
    """Delete an assistant's file; what it did stays under its name.

    Args:
        path: The file.
        version: Of the file that was seen; empty: whatever it is now.

    Raises:
        SetupError: It cannot be deleted.
        ConflictError: It is not that version any more.
    """
    with WRITING:
        if version:
            _opened(path, version)
        remove_file(path)


def add_scene(assistant: Assistant, label: str, prompt: str) -> None:
    """Give an assistant one more scene.

    Raises:
        SetupError: It has ten, or one of that label; or the label or prompt cannot be used.
    """
    added = {"label": label, "prompt": prompt}
    _change(
        assistant.file,
        lambda there: {"scenes": [*(scene.row for scene in there.scenes), added]},
    )


def remove_scene(assistant: Assistant, label: str) -> None:
    """Take a scene from an assistant.

    Raises:
        SetupError: It has none of that label.
    """

    def without(there: Assistant) -> Mapping[str, Any]:
        rows = [scene.row for scene in there.scenes if scene.label != label]
        if len(rows) < len(there.scenes):
            return {"scenes": rows}
        labels = ", ".join(scene.label for scene in there.scenes)
        listed = f"It has: {labels}." if labels else "It has none."
        raise SetupError(f"{there.name} has no scene {label!r}.", hint=listed)

    _change(assistant.file, without)


def bind_tool(assistant: Assistant, tool: str) -> None:
    """Let an assistant that has a list of tools use one more.

    Raises:
        SetupError: It may use it already.
    """

    def bound(there: Assistant) -> Mapping[str, Any]:
        if there.tools is None:
            raise SetupError(
                f"{there.name} may use every tool already.", hint="It has no list of tools."
            )
        if tool in there.tools:
            raise SetupError(f"{there.name} may use {tool!r} already.")
        return {"tools": [*there.tools, tool]}

    _change(assistant.file, bound)


def unbind_tool(assistant: Assistant, tool: str) -> None:
    """Take a tool off an assistant's list.

    Raises:
        SetupError: It is not on it.
    """

    def unbound(there: Assistant) -> Mapping[str, Any]:
        tools = there.tools or ()
        if tool in tools:
            return {"tools": [name for name in tools if name != tool]}
        listed = f"It has: {', '.join(tools)}." if tools else "It has no list of tools."
        raise SetupError(f"{tool!r} is not among the tools of {there.name}.", hint=listed)

    _change(assistant.file, unbound)


def _change(
    path: Path,
    fields_of: Callable[[Assistant], Mapping[str, Any]],
    *,
    name: str | None = None,
    version: str = "",
) -> AssistantFile:
    """Change a file by what is in it now."""
    with WRITING:
        opened = _opened(path, version)
        there = opened.assistant
        fields = fields_of(there)
        name = there.name if name is None else name
        check_fields(fields, name)
        changes = changes_of(there, fields)
        to = path
        if name != there.name:
            check_new_name(path.parent, name, but=path)
            is_called_so = path.stem == there.name
            to = path.with_name(f"{name}.toml") if is_called_so else path
            changes |= {"name": name} if "name" in opened.keys or not is_called_so else {}
        text = changed_file(to, opened.text, changes)
        if to != path:
            rename_file(path, to, text, opened.text)
        elif text != opened.text:
            replace_file(path, text, opened.text)
    return AssistantFile(parse_assistant(text, to), to, text)


def _opened(path: Path, version: str) -> AssistantFile:
    opened = open_assistant(path)
    if version and opened.version != version:
        raise changed_meanwhile(path)
    return opened
