"""Where an assistant's file can be: beside a notebook, in the root, in the person's folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from cellwright.assistants.files import FOLDER, OWN_FOLDER, folders_of

PlaceName = Literal["notebook", "root", "own"]


@dataclass(frozen=True)
class AssistantPlace:
    """A folder of assistants."""

    place: PlaceName
    folder: Path
    shown: str
    """The folder as a person knows it: below the root, or below their home."""


def places_of(root: Path | None, notebook_path: str, own: Path) -> tuple[AssistantPlace, ...]:
    """The places of a notebook, the nearest first.

    Args:
        root: The folder that paths start from; None: they are not files.
        notebook_path: Below the root; empty: none.
        own: The person's folder.
    """
    folder = own / OWN_FOLDER
    found = []
    top = root.resolve() if root is not None else Path()
    for base in folders_of(root, notebook_path):
        name: PlaceName = "root" if base == top else "notebook"
        shown = (base.relative_to(top) / FOLDER).as_posix()
        # a notebook of another drive has a path that is no folder here
        if base.is_dir() and (base / FOLDER).resolve() != folder.resolve():
            found.append(AssistantPlace(name, base / FOLDER, shown))
    return (*found, AssistantPlace("own", folder, _below_home(folder)))


def place_of(path: Path, places: Sequence[AssistantPlace]) -> AssistantPlace:
    """The place that a file of an assistant is in."""
    folder = path.parent.resolve()
    return next(place for place in places if place.folder.resolve() == folder)


def _below_home(folder: Path) -> str:
    home = Path.home()
    below = folder.relative_to(home).as_posix() if folder.is_relative_to(home) else ""
    return f"~/{below}" if below else str(folder)
