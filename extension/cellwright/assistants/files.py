"""Reading the files of assistants: where they are looked for, which of two counts."""

from __future__ import annotations

import contextlib
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList, Unusable
from cellwright.assistants.fields import KINDS, clamped_temperature, complaints
from cellwright.assistants.scenes import read_scenes
from cellwright.errors import SetupError

FOLDER = Path(".cellwright", "assistants")
OWN_FOLDER = "assistants"
DEFAULT_NAME = "default"
SIZE_LIMIT_BYTES = 64 * 1024


def list_assistants(folders: Iterable[Path], own: Path | None = None) -> AssistantList:
    """The assistants below these folders, by name; of two of one name the first counts.

    Args:
        folders: Of the project, the nearest first.
        own: The person's folder; what the project has counts more.
    """
    found: dict[str, Assistant] = {}
    unusable: dict[str, Unusable] = {}
    problems: list[str] = []
    notes: list[str] = []
    default: Assistant | Unusable = NO_ASSISTANT
    for path in _files(folders, own):
        try:
            assistant = read_assistant(path)
        except SetupError as error:
            problems.append(str(error))
            bad = _unusable(path, str(error), is_first=default is NO_ASSISTANT)
            if bad.name not in found:
                unusable.setdefault(bad.name, bad)
                default = bad if bad.is_default else default
            continue
        first = unusable.get(assistant.name) or found.setdefault(assistant.name, assistant)
        if first is not assistant:
            counts = first.path if isinstance(first, Assistant) else "the file with the mistake"
            notes.append(f"{assistant.name}: {counts} counts, not {assistant.path}.")
            continue
        notes += assistant.notes
        is_default = assistant.is_default or assistant.name == DEFAULT_NAME
        default = assistant if is_default and default is NO_ASSISTANT else default
    ordered = tuple(found[name] for name in sorted(found))
    answers = default if isinstance(default, Assistant) else NO_ASSISTANT
    return AssistantList(ordered, tuple(problems), tuple(notes), answers, tuple(unusable.values()))


def _unusable(path: Path, problem: str, *, is_first: bool) -> Unusable:
    """The assistant that a file with a mistake was to be, as far as it can be read.

    Args:
        path: The file.
        problem: What is wrong with it.
        is_first: No nearer file is the default.
    """
    data: Mapping[str, Any] = {}
    with contextlib.suppress(SetupError):
        data = _data(read_text(path), path)
    said = data.get("name")
    name = said if isinstance(said, str) and said else path.stem
    is_default = data.get("default") is True or name == DEFAULT_NAME
    is_public = data.get("public") is True
    return Unusable(name, problem, is_public, is_default and is_first, str(path))


def assistant_of(data: Mapping[str, Any], path: Path = Path()) -> Assistant:
    """The assistant of a file's data, of which nothing is wrong."""
    written = None if data.get("temperature") is None else float(data["temperature"])
    temperature = clamped_temperature(written)
    return Assistant(
        name=data.get("name", path.stem),
        description=" ".join(data.get("description", "").split()),
        instructions=data.get("instructions", ""),
        model=data.get("model", ""),
        temperature=temperature,
        effort=data.get("effort", ""),
        parameters=dict(data.get("parameters", {})),
        tools=tuple(data["tools"]) if "tools" in data else None,
        adapter=data.get("adapter", ""),
        library=tuple(data["library"]) if "library" in data else None,
        is_public=data.get("public", False),
        is_default=data.get("default", False),
        disable_memory=data.get("disable_memory", False),
        memory_for_guests=data.get("memory_for_guests", False),
        disable_default_prompt=data.get("disable_default_prompt", False),
        disable_web_browsing=data.get("disable_web_browsing", False),
        scenes=read_scenes(data.get("scenes", ())),
        path=str(path),
        notes=() if temperature == written else (_clamped(path.name, written, temperature),),
    )


def read_assistant(path: Path) -> Assistant:
    """The assistant of a file.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    return parse_assistant(read_text(path), path)


def read_text(path: Path) -> str:
    """The text of an assistant's file, with the ends of its lines as they are.

    Raises:
        SetupError: It cannot be read, or is too large.
    """
    try:
        if path.stat().st_size > SIZE_LIMIT_BYTES:
            raise _too_large(path)
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        # Its own text holds the whole path, which a page of the server does not show.
        raise SetupError(f"{path.name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise SetupError(f"{path.name} cannot be read: {error}.") from error


def parse_assistant(text: str, path: Path) -> Assistant:
    """The assistant of a file's text.

    Raises:
        SetupError: It cannot be used; all that is wrong is named.
    """
    data = _data(text, path)
    name = data.get("name", path.stem)
    wrong = tuple(complaints(data, name))
    if wrong:
        hint = f"The keys are: {', '.join(KINDS)}."
        raise SetupError(f"{path.name}: {'; '.join(wrong)}.", hint=hint)
    return assistant_of(data, path)


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


def _data(text: str, path: Path) -> Mapping[str, Any]:
    if len(text.encode("utf-8", "replace")) > SIZE_LIMIT_BYTES:
        raise _too_large(path)
    try:
        return tomllib.loads(text)
    # numbers of thousands of digits, lists in lists in lists
    except (ValueError, RecursionError) as error:
        raise SetupError(f"{path.name} is no TOML: {error}.", hint="Mend that line.") from error


def _too_large(path: Path) -> SetupError:
    return SetupError(f"{path.name}: the file has more than 64 kB.", hint="Shorten it.")


def _clamped(file: str, written: float | None, used: float | None) -> str:
    return f"{file}: the temperature {written:g} is taken as {used:g}."
