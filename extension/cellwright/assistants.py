"""Assistants: instructions, a model and tools under a name, as files that a person writes.

``.cellwright/assistants/NAME.toml`` in the folder of the notebook or in the folder that the server
starts from::

    description = "Looks for mistakes in data"
    instructions = "Check types, missing values and duplicates first."
    model = "gpt-5.6"
    temperature = 0.2
    tools = ["read_*", "list_variables", "run_cell"]
    adapter = "native"

Every key may be left out. A file can only narrow down what may be done: it allows no tool that is
not there and changes no mode.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cellwright.components.registry import Registry
from cellwright.errors import SetupError
from cellwright.settings import ADAPTERS

__all__ = [
    "NO_ASSISTANT",
    "Assistant",
    "AssistantList",
    "assistant_named",
    "folders_of",
    "list_assistants",
]

FOLDER = Path(".cellwright", "assistants")
NAME = re.compile(r"[\w][\w .-]{0,63}")
SIZE_LIMIT_BYTES = 64 * 1024
KINDS: Mapping[str, str] = {
    "name": "a text",
    "description": "a text",
    "instructions": "a text",
    "model": "a text",
    "temperature": "a number",
    "tools": "a list of names",
    "adapter": f"one of {', '.join(ADAPTERS)}",
}
"""The keys of a file and what each takes."""


@dataclass(frozen=True)
class Assistant:
    """How the model is to work in a conversation."""

    name: str
    description: str = ""
    instructions: str = ""
    """Stand at the end of the system message."""
    model: str = ""
    """Empty: the set one."""
    temperature: float | None = None
    """None: the provider's default. Left out of requests to models that refuse it."""
    tools: tuple[str, ...] | None = None
    """Names or patterns of the tools that may be used; None: all."""
    adapter: str = ""
    """How the model is talked with at first; empty: as it is set."""

    def allowed(self, registry: Registry) -> Registry:
        """Those of the tools that may be used, in their order."""
        if self.tools is None:
            return registry
        kept = [
            registry.find(name)
            for name in registry.names()
            if any(fnmatchcase(name, pattern) for pattern in self.tools)
        ]
        # a component may offer several tools and is bound once
        return Registry(dict.fromkeys(filter(None, kept)))


NO_ASSISTANT = Assistant("")
"""Nothing was chosen."""


@dataclass(frozen=True)
class AssistantList:
    """The assistants of some folders, and what is wrong with the files of others."""

    assistants: tuple[Assistant, ...] = ()
    problems: tuple[str, ...] = ()


def list_assistants(folders: Iterable[Path]) -> AssistantList:
    """The assistants below these folders, by name; of two of one name the first counts."""
    found: dict[str, Assistant] = {}
    problems: list[str] = []
    for path in _files(folders):
        try:
            assistant = _read(path)
        except SetupError as error:
            problems.append(str(error))
        else:
            found.setdefault(assistant.name, assistant)
    return AssistantList(tuple(found[name] for name in sorted(found)), tuple(problems))


def assistant_named(name: str, folders: Iterable[Path]) -> Assistant:
    """The assistant of that name; an empty name is none.

    Raises:
        SetupError: There is none, or its file cannot be used.
    """
    if not name:
        return NO_ASSISTANT
    listed = list_assistants(folders)
    for assistant in listed.assistants:
        if assistant.name == name:
            return assistant
    known = ", ".join(assistant.name for assistant in listed.assistants)
    hint = f"There are: {known}." if known else f"Write {FOLDER.as_posix()}/{name}.toml."
    raise SetupError(f"There is no assistant {name!r}.", hint=" ".join([*listed.problems, hint]))


def _files(folders: Iterable[Path]) -> list[Path]:
    # a folder that is not there, or cannot be read, has none
    found = (sorted((folder / FOLDER).glob("*.toml")) for folder in dict.fromkeys(folders))
    return [path for paths in found for path in paths]


def _read(path: Path) -> Assistant:
    """The assistant of a file.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    try:
        if path.stat().st_size > SIZE_LIMIT_BYTES:
            raise SetupError(f"{path.name}: the file has more than 64 kB.", hint="Shorten it.")
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{path.name} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{path.name} is no TOML: {error}.", hint="Mend that line.") from error
    name = data.get("name", path.stem)
    complaints = [f"{key}: {words}" for key, words in _complaints(data, name)]
    if complaints:
        hint = f"The keys are: {', '.join(KINDS)}."
        raise SetupError(f"{path.name}: {'; '.join(complaints)}.", hint=hint)
    temperature = data.get("temperature")
    return Assistant(
        name=name,
        description=" ".join(data.get("description", "").split()),
        instructions=data.get("instructions", ""),
        model=data.get("model", ""),
        temperature=None if temperature is None else float(temperature),
        tools=tuple(data["tools"]) if "tools" in data else None,
        adapter=data.get("adapter", ""),
    )


def _complaints(data: Mapping[str, Any], name: Any) -> Iterable[tuple[str, str]]:
    for key, value in data.items():
        if key not in KINDS:
            near = difflib.get_close_matches(key, KINDS, n=1)
            yield key, f"is not known{f', did you mean {near[0]!r}' if near else ''}"
        elif not _fits(key, value):
            yield key, f"{value!r} is not {KINDS[key]}"
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield "name", f"{name!r} has to be letters, digits, '-', '.', '_' or blanks, at most 64"


def _fits(key: str, value: Any) -> bool:
    if key == "temperature":
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if key == "tools":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if key == "adapter":
        return value in ADAPTERS
    return isinstance(value, str)


def folders_of(root: Path | None, notebook_path: str = "") -> tuple[Path, ...]:
    """Where assistants are looked for: beside the notebook, then in the root.

    Args:
        root: The folder that paths start from; None: they are not files.
        notebook_path: Below the root; empty: none. One that leads out of it is not followed.
    """
    if root is None:
        return ()
    beside = (root / notebook_path).resolve().parent
    is_inside = bool(notebook_path) and beside.is_relative_to(root.resolve())
    return tuple(dict.fromkeys((beside, root.resolve()) if is_inside else (root.resolve(),)))
