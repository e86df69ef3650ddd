"""Which assistants use which libraries: one that is used is not deleted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from cellwright.assistants.files import list_assistants, project_folders
from cellwright.knowledge.library.libraries import Users


def library_users(folder: str, own: Path | None, roots: Iterable[str] = ()) -> Users:
    """Names of the assistants of a folder's project that name a library, by the library's name.

    Args:
        folder: Where the person works.
        own: The person's folder.
        roots: Folders of projects that lie elsewhere.
    """
    folders = [each for place in (folder, *roots) for each in project_folders(Path(place))]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for assistant in list_assistants(dict.fromkeys(folders), own).assistants:
        for name in assistant.library or ():
            found[name].append(assistant.name)
    return found
