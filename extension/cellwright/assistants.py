"""Assistants: instructions, a model and tools under a name, as files that a person writes.

``.cellwright/assistants/NAME.toml`` in the folder of the notebook or in the folder that the server
starts from, or ``assistants/NAME.toml`` in the person's own folder::

    description = "Looks for mistakes in data"
    instructions = "Check types, missing values and duplicates first."
    model = "gpt-5.6"
    temperature = 0.2
    tools = ["read_*", "list_variables", "run_cell"]
    adapter = "native"

    [[scenes]]
    label = "plot"
    prompt = "Name the axes and their units."

Every key may be left out. A file can only narrow down what may be done: it allows no tool that is
not there and changes no mode.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from cellwright.assistant_fields import KINDS, clamped_temperature, complaints
from cellwright.components import Component
from cellwright.components.registry import Registry
from cellwright.errors import SetupError
from cellwright.scenes import Scene, read_scenes

__all__ = [
    "NO_ASSISTANT",
    "Assistant",
    "AssistantList",
    "assistant_named",
    "folders_of",
    "list_assistants",
    "project_folders",
    "read_assistant",
]

FOLDER = Path(".cellwright", "assistants")
OWN_FOLDER = "assistants"
DEFAULT_NAME = "default"
SIZE_LIMIT_BYTES = 64 * 1024
WEB_TOOLS = ("web_*", "browse*")
"""Tools that look something up in the web, whoever made them."""
MEMORY_TOOLS = ("remember", "recall", "forget")


@dataclass(frozen=True)
class Assistant:
    """How the model is to work in a conversation."""

    name: str
    description: str = ""
    instructions: str = ""
    """Stand at the end of the system message."""
    model: str = ""
    """Empty: the set one; ``auto``: by what a question needs."""
    temperature: float | None = None
    """From 0.1 to 1; None: the provider's default. Left out for models that refuse it."""
    tools: tuple[str, ...] | None = None
    """Names or patterns of the tools that may be used; None: all."""
    adapter: str = ""
    """How the model is talked with at first; empty: as it is set."""
    library: tuple[str, ...] | None = None
    """Names, places or patterns of the documents it may look into; None: all, empty: none."""
    is_public: bool = False
    """Guests may choose it."""
    is_default: bool = False
    """Answers where no other is chosen."""
    disable_memory: bool = False
    """Nothing that was remembered is looked up, nothing is remembered."""
    disable_default_prompt: bool = False
    """Our advice how to work is left out; what no run can do without stays."""
    disable_web_browsing: bool = False
    """The tools that look into the web are not offered."""
    scenes: tuple[Scene, ...] = ()
    """More instructions for one kind of situation each."""
    path: str = field(default="", compare=False)
    """The file it was read from."""
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What is done otherwise than the file says."""

    def allowed(self, registry: Registry) -> Registry:
        """Those of the tools that may be used, in their order."""
        names = [name for name in registry.names() if self._may_use(name, registry.find(name))]
        if len(names) == len(registry.names()):
            return registry
        # a component may offer several tools and is bound once
        return Registry(dict.fromkeys(filter(None, map(registry.find, names))))

    def may_read(self, *names: str) -> bool:
        """Whether a document that has these names and places may be looked into."""
        if self.library is None:
            return True
        return any(_is_one_of(name, self.library) for name in names)

    def _may_use(self, name: str, component: Component | None) -> bool:
        if self.disable_web_browsing and (
            getattr(component, "reaches_web", False) or _is_one_of(name, WEB_TOOLS)
        ):
            return False
        if self.disable_memory and _is_one_of(name, MEMORY_TOOLS):
            return False
        return self.tools is None or _is_one_of(name, self.tools)


NO_ASSISTANT = Assistant("")
"""Nothing was chosen."""


@dataclass(frozen=True)
class AssistantList:
    """The assistants of some folders, and what is wrong with the files of others."""

    assistants: tuple[Assistant, ...] = ()
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What was done otherwise than a file says."""
    default: Assistant = NO_ASSISTANT
    """The one that answers where no other is chosen."""

    def find(self, name: str) -> Assistant | None:
        """The one of that name, else the only one that has it in another case."""
        same = [a for a in self.assistants if a.name == name]
        folded = [a for a in self.assistants if a.name.casefold() == name.casefold()]
        found = same or (folded if len(folded) == 1 else [])
        return found[0] if found else None


def list_assistants(folders: Iterable[Path], own: Path | None = None) -> AssistantList:
    """The assistants below these folders, by name; of two of one name the first counts.

    Args:
        folders: Of the project, the nearest first.
        own: The person's folder; what the project has counts more.
    """
    found: dict[str, Assistant] = {}
    problems: list[str] = []
    notes: list[str] = []
    default = NO_ASSISTANT
    for path in _files(folders, own):
        try:
            assistant = read_assistant(path)
        except SetupError as error:
            problems.append(str(error))
            continue
        first = found.setdefault(assistant.name, assistant)
        if first is not assistant:
            notes.append(f"{assistant.name}: {first.path} counts, not {assistant.path}.")
            continue
        notes += assistant.notes
        is_default = assistant.is_default or assistant.name == DEFAULT_NAME
        default = assistant if is_default and default is NO_ASSISTANT else default
    ordered = tuple(found[name] for name in sorted(found))
    return AssistantList(ordered, tuple(problems), tuple(notes), default)


def assistant_named(name: str, folders: Iterable[Path], own: Path | None = None) -> Assistant:
    """The assistant of that name; an empty name is none.

    Raises:
        SetupError: There is none, or its file cannot be used.
    """
    if not name:
        return NO_ASSISTANT
    listed = list_assistants(folders, own)
    assistant = listed.find(name)
    if assistant is not None:
        return assistant
    known = ", ".join(assistant.name for assistant in listed.assistants)
    hint = f"There are: {known}." if known else f"Write {FOLDER.as_posix()}/{name}.toml."
    raise SetupError(f"There is no assistant {name!r}.", hint=" ".join([*listed.problems, hint]))


def read_assistant(path: Path) -> Assistant:
    """The assistant of a file.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    data = _read(path)
    name = data.get("name", path.stem)
    wrong = tuple(complaints(data, name))
    if wrong:
        hint = f"The keys are: {', '.join(KINDS)}."
        raise SetupError(f"{path.name}: {'; '.join(wrong)}.", hint=hint)
    written = None if data.get("temperature") is None else float(data["temperature"])
    temperature = clamped_temperature(written)
    return Assistant(
        name=name,
        description=" ".join(data.get("description", "").split()),
        instructions=data.get("instructions", ""),
        model=data.get("model", ""),
        temperature=temperature,
        tools=tuple(data["tools"]) if "tools" in data else None,
        adapter=data.get("adapter", ""),
        library=tuple(data["library"]) if "library" in data else None,
        is_public=data.get("public", False),
        is_default=data.get("default", False),
        disable_memory=data.get("disable_memory", False),
        disable_default_prompt=data.get("disable_default_prompt", False),
        disable_web_browsing=data.get("disable_web_browsing", False),
        scenes=read_scenes(data.get("scenes", ())),
        path=str(path),
        notes=() if temperature == written else (_clamped(path.name, written, temperature),),
    )


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


def project_folders(folder: Path) -> tuple[Path, ...]:
    """Where assistants are looked for from a folder: up to the one that git keeps, if any does."""
    here = folder.resolve()
    above = (here, *here.parents)
    end = next((place for place in above if (place / ".git").exists()), here)
    return above[: above.index(end) + 1]


def _files(folders: Iterable[Path], own: Path | None) -> Iterator[Path]:
    places = [folder / FOLDER for folder in folders]
    if own is not None:
        places.append(own / OWN_FOLDER)
    # a folder that is not there, or cannot be read, has none
    for place in dict.fromkeys(places):
        yield from sorted(place.glob("*.toml"))


def _read(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > SIZE_LIMIT_BYTES:
            raise SetupError(f"{path.name}: the file has more than 64 kB.", hint="Shorten it.")
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f"{path.name} cannot be read: {error}.") from error
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{path.name} is no TOML: {error}.", hint="Mend that line.") from error


def _clamped(file: str, written: float | None, used: float | None) -> str:
    return f"{file}: the temperature {written:g} is taken as {used:g}."


def _is_one_of(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
