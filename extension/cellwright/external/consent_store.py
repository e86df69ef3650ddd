"""What is written down of services, wherever it is, and which of it the person agreed to.

A folder that one works in may come from somebody else, and a definition in it can start a program.
So what a folder says is only offered: it is used after ``%agent tool connect NAME``, and asked for
again when it changes, or stands in another folder.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from cellwright.assistants.files import list_assistants
from cellwright.errors import SetupError
from cellwright.external import Definition, fingerprint_of
from cellwright.external.definition_files import read_files, read_folder
from cellwright.record.values import from_dict, to_dict
from cellwright.store.tools import ToolStore

Place = Literal["line", "own", "folder"]

CONNECTED = "connected"


@dataclass(frozen=True)
class ConsentEntry:
    """A service that is written down somewhere."""

    definition: Definition
    is_agreed: bool
    """Whether it is used."""
    place: Place
    """Connected on a line, in a file of the person's own, or in a folder one works in."""
    is_near: bool = True
    """Whether that folder is the nearest one, where a line is said."""

    @property
    def problem(self) -> str:
        """Why it is not used; empty: it is."""
        name = self.definition.name
        if self.is_agreed:
            return ""
        there = "" if self.is_near else f" --in {shlex.quote(self.definition.folder)}"
        return (
            f"{name!r} of {self.definition.source!r} is not used before you agree: it "
            f"{_deed(self.definition)}. %agent tool connect {name}{there}"
        )


@dataclass(frozen=True)
class Pages:
    """All that is written down."""

    entries: tuple[ConsentEntry, ...] = ()
    problems: tuple[str, ...] = ()
    """What is wrong with files."""


class ToolBook:
    """The services of one person.

    Args:
        store: What was connected on a line, and agreed to.
        home: Cellwright's own folder: what is there is the person's own.
        folders: Where the person works, the nearest first.
    """

    def __init__(self, store: ToolStore, home: Path, folders: Iterable[Path]) -> None:
        self._store = store
        self._home = home
        self._folders = tuple(folders)

    @property
    def folder(self) -> str:
        """The nearest folder; empty: there is none."""
        return str(self._folders[0]) if self._folders else ""

    def seen_from(self, folder: Path) -> ToolBook:
        """What there is in one folder alone."""
        return ToolBook(self._store, self._home, (folder,))

    def pages(self) -> Pages:
        """What there is now; of two of one name the first counts."""
        stored = [self._stored(row) for row in self._store.definitions()]
        own = read_files(sorted((self._home / "tools").glob("*.toml")))
        foreign = [read_folder(folder) for folder in self._folders]
        agreed = self._store.agreed()
        entries = [ConsentEntry(each, True, "line") for each in stored]
        entries += [ConsentEntry(each, True, "own") for each in own.definitions]
        entries += [
            ConsentEntry(each, fingerprint_of(each) in agreed, "folder", each.folder == self.folder)
            for found in foreign
            for each in found.definitions
        ]
        by_name: dict[str, ConsentEntry] = {}
        for entry in entries:
            by_name.setdefault(entry.definition.name, entry)
        problems = [words for found in (own, *foreign) for words in found.problems]
        return Pages(tuple(by_name.values()), tuple(problems))

    def find(self, name: str) -> ConsentEntry:
        """The service of that name.

        Raises:
            SetupError: There is none.
        """
        pages = self.pages()
        for entry in pages.entries:
            if entry.definition.name == name:
                return entry
        known = ", ".join(entry.definition.name for entry in pages.entries)
        hint = f"There are: {known}." if known else "See %agent tool discover and connect."
        raise SetupError(f"There is no service {name!r}.", hint=" ".join([*pages.problems, hint]))

    def check_new(self, definition: Definition) -> None:
        """Refuse a name or an address that is there already.

        Raises:
            SetupError: It is.
        """
        for entry in self.pages().entries:
            other = entry.definition
            if other.name == definition.name:
                raise SetupError(
                    f"There is a service {other.name!r} already.",
                    hint="Remove it first, or choose another name.",
                )
            if definition.url and other.url == definition.url:
                raise SetupError(
                    f"The address {definition.url!r} is there already, as {other.name!r}.",
                    hint=f"%agent tool refresh {other.name} reads it again.",
                )

    def keep(self, definition: Definition) -> None:
        """Write one down that a person connected on a line."""
        self._store.keep(definition.name, to_dict(replace(definition, source="")))

    def agree(self, definition: Definition) -> None:
        """The person wants it, as it is in its file."""
        self._store.agree(fingerprint_of(definition), _consent(definition))

    def remove(self, name: str) -> None:
        """Forget one, or no longer agree to it.

        Raises:
            SetupError: There is none, it is in a file of the person's own, or an assistant names
                its tools.
        """
        entry = self.find(name)
        users = self._users(name)
        if users:
            raise SetupError(
                f"The tools of {name!r} are named by the assistant {users[0]!r}.",
                hint="Take them out of its 'tools' first.",
            )
        if entry.place == "own":
            raise SetupError(
                f"{name!r} is written down in {entry.definition.source!r}.",
                hint="Delete that file, or move it elsewhere.",
            )
        if entry.place == "folder":
            self._store.disagree(_consent(entry.definition))
        else:
            self._store.remove(name)

    def _users(self, name: str) -> list[str]:
        assistants = list_assistants(self._folders, self._home).assistants
        start = f"{name}__"
        return [
            assistant.name
            for assistant in assistants
            if any(pattern.startswith(start) for pattern in assistant.tools or ())
        ]

    def _stored(self, row: object) -> Definition:
        made: Definition = from_dict(Definition, row)
        return replace(made, source=CONNECTED)


def _consent(definition: Definition) -> str:
    """What all that was agreed to is called, whatever stood in the file then."""
    return f"{definition.name} in {definition.folder}"


def _deed(definition: Definition) -> str:
    """What using it would do."""
    if definition.command:
        return f"runs {' '.join([definition.command, *definition.arguments])!r}"
    return f"asks {definition.url!r}"
