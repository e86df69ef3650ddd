"""Changes to an assistant's file that leave the rest of it as the person wrote it.

What would not be read back as it was meant is not written.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cellwright.assistant_fields import complaints
from cellwright.assistants import FOLDER, Assistant
from cellwright.errors import SetupError

__all__ = ["add_scene", "bind_tool", "new_assistant", "unbind_tool"]

TOOLS = re.compile(r"^tools[ \t]*=[ \t]*\[[^\[]*?\][ \t]*$", re.MULTILINE | re.DOTALL)
FIRST_TABLE = re.compile(r"^[ \t]*\[", re.MULTILINE)
BY_HAND = "Change it in the file."


def new_assistant(folder: Path, name: str, instructions: str = "") -> Path:
    """Write a file for a new assistant of a project.

    Raises:
        SetupError: There is one, or the name cannot be used.
    """
    path = folder / FOLDER / f"{name}.toml"
    wanted = {"description": "", "instructions": instructions}
    wrong = tuple(complaints(wanted, name))
    if wrong:
        raise SetupError(f"{'; '.join(wrong)}.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        is_there = path.exists()
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error}.") from error
    if is_there:
        raise SetupError(f"There is an assistant {name!r} already.", hint=f"Change {path}.")
    lines = [f"{key} = {_text(value)}" for key, value in wanted.items()]
    _write(path, "\n".join(lines) + "\n")
    return path


def add_scene(assistant: Assistant, label: str, prompt: str) -> None:
    """Give an assistant one more scene.

    Raises:
        SetupError: It has ten, or one of that label; or the label or prompt cannot be used.
    """
    path, text, data = _opened(assistant)
    block = f"\n[[scenes]]\nlabel = {_text(label)}\nprompt = {_text(prompt)}\n"
    scenes = [*data.get("scenes", []), {"label": label, "prompt": prompt}]
    _change(path, f"{text.rstrip()}\n{block}".lstrip("\n"), {**data, "scenes": scenes})


def bind_tool(assistant: Assistant, tool: str) -> None:
    """Let an assistant that has a list of tools use one more.

    Raises:
        SetupError: It may use it already.
    """
    if assistant.tools is None:
        raise SetupError(
            f"{assistant.name} may use every tool already.", hint="It has no list of tools."
        )
    if tool in assistant.tools:
        raise SetupError(f"{assistant.name} may use {tool!r} already.")
    _set_tools(assistant, [*assistant.tools, tool])


def unbind_tool(assistant: Assistant, tool: str) -> None:
    """Take a tool off an assistant's list.

    Raises:
        SetupError: It is not on it.
    """
    tools = assistant.tools or ()
    if tool not in tools:
        listed = f"It has: {', '.join(tools)}." if tools else "It has no list of tools."
        raise SetupError(f"{tool!r} is not among the tools of {assistant.name}.", hint=listed)
    _set_tools(assistant, [name for name in tools if name != tool])


def _set_tools(assistant: Assistant, tools: Sequence[str]) -> None:
    path, text, data = _opened(assistant)
    line = f"tools = [{', '.join(map(_text, tools))}]"
    table = FIRST_TABLE.search(text)
    end = table.start() if table is not None else len(text)
    head, found = text[:end], TOOLS.search(text[:end])
    head = head[: found.start()] + line + head[found.end() :] if found else f"{line}\n{head}"
    _change(path, head + text[end:], {**data, "tools": list(tools)})


def _opened(assistant: Assistant) -> tuple[Path, str, Mapping[str, Any]]:
    path = Path(assistant.path)
    try:
        text = path.read_text("utf-8")
        return path, text, tomllib.loads(text)
    except (OSError, ValueError) as error:
        raise SetupError(f"{path.name} cannot be changed: {error}.") from error


def _change(path: Path, text: str, expected: Mapping[str, Any]) -> None:
    wrong = tuple(complaints(expected, expected.get("name", path.stem)))
    if wrong:
        raise SetupError(f"{path.name}: {'; '.join(wrong)}.")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        data = {}
    if data != expected:
        raise SetupError(f"{path.name} is written in a way we do not change.", hint=BY_HAND)
    _write(path, text)


def _write(path: Path, text: str) -> None:
    beside = path.with_suffix(f".{os.getpid()}.new")
    try:
        beside.write_text(text, "utf-8")
        beside.replace(path)
    except OSError as error:
        raise SetupError(f"{path} cannot be written: {error}.") from error


def _text(value: str) -> str:
    # JSON's strings are TOML's, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
