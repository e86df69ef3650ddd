"""Where documents lie: files, folders and addresses, and to which project they belong."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from cellwright.errors import SetupError
from cellwright.knowledge.library import SourceFile
from cellwright.knowledge.library.fetching import is_address
from cellwright.knowledge.library.reading import kind_of

MARKERS = (".cellwright", ".git")
"""What makes a folder a project."""
UNREAD_FOLDERS = frozenset(
    {"node_modules", "__pycache__", "venv", "env", "site-packages", "dist", "build", "target"}
)
ODD = re.compile("[\x00-\x1f\ud800-\udfff]")
"""Signs that no text holds: what is left of a name in another encoding, line ends."""
NAME_CHARACTERS = 128
FILE_LIMIT = 100_000


def project_folder(folder: str) -> str:
    """The project a folder is in: the nearest one above with a mark of one, else itself."""
    start = Path(folder).expanduser().resolve()
    home = Path.home().resolve()
    for candidate in (start, *start.parents):
        if candidate == home:
            break  # settings of a person are no project
        if any((candidate / marker).exists() for marker in MARKERS):
            return str(candidate)
    return str(start)


def checked_place(place: str, folder: str) -> str:
    """A place as it is kept: an address, or the full path of a file or folder.

    Args:
        place: As a person writes it.
        folder: Where relative paths start.

    Raises:
        SetupError: There is nothing of that name, or it is the whole disk or home.
    """
    if is_address(place):
        return place.strip()
    path = (Path(folder) / Path(place).expanduser()).resolve()
    if not place.strip() or not path.exists():
        raise SetupError(f"There is no file or folder {place!r}.", hint=f"Paths start in {folder}.")
    if path in (Path(path.anchor), Path.home().resolve()):
        what = "home folder" if path.parent != path else "disk"
        raise SetupError(f"{place!r} is a whole {what}.", hint="Name the folders in it to be read.")
    return str(path)


def files_of(place: str, root: str) -> Iterator[SourceFile]:
    """The files of a place that can be read; a file that was named is told of in any case.

    Args:
        place: The full path of a file or folder.
        root: Names are written from here.

    Raises:
        SetupError: There is nothing any more.
    """
    path = Path(place)
    if path.is_dir():
        for count, file in enumerate(_below(path)):
            if count == FILE_LIMIT:
                return
            found = _found(file, root)
            if found is not None:
                yield found
        return
    single = _found(path, root)
    if single is None:
        raise SetupError(f"{place!r} is not there any more.", hint="Add it again or remove it.")
    yield single


def shown_name(place: str, root: str) -> str:
    """What a document is called: its path within the project, or its address, shortened."""
    name = place
    if not is_address(place):
        path = Path(place)
        inside = path.is_relative_to(root)
        name = path.relative_to(root).as_posix() if inside else f"{path.parent.name}/{path.name}"
    return name if len(name) <= NAME_CHARACTERS else f"…{name[1 - NAME_CHARACTERS :]}"


def _below(folder: Path) -> Iterator[Path]:
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(
            name for name in folders if name not in UNREAD_FOLDERS and not name.startswith(".")
        )
        for name in sorted(files):
            if kind_of(name) and not name.startswith("."):
                yield Path(parent, name)


def _found(path: Path, root: str) -> SourceFile | None:
    """A file with its size and time; None: it is gone, or leads somewhere else."""
    try:
        status = path.stat()
        if path.is_symlink() and not path.resolve().is_relative_to(path.parent.resolve()):
            return None  # a link must not bring in what nobody added
    except OSError:
        return None
    if not path.is_file() or ODD.search(str(path)):
        return None  # a pipe, or a name that cannot be kept
    name = shown_name(str(path), root)
    return SourceFile(str(path), name, status.st_size, status.st_mtime_ns)
