"""What a project tells every agent: files such as ``AGENTS.md``, and skills (``SKILL.md``).

Both are a stranger's text that a model would follow, so they are only offered: each is used after
the person agreed to it, as it is and where it is, and asked for again when it changes. What lies in
cellwright's own folder is the person's own and counts at once.

What this does not protect against: text that the person agreed to without reading it.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from cellwright.errors import SetupError
from cellwright.text.cleaning import plain_text

FILE_LIMIT_BYTES = 512 * 1024
"""Larger files are not read, and are no part of a skill."""
ID_CHARACTERS = 8
UNSEEN = re.compile("[\u00ad\u180e\u2060-\u2065\ufff9-\ufffb\U000e0000-\U000e01ef]")
"""What nobody sees and a model reads all the same: orders can be written in such characters."""

Kind = Literal["instructions", "skill"]
Place = Literal["project", "own", "home"]
"""In the project, in cellwright's own folder, or in the person's home for agents of all makers."""


@dataclass(frozen=True)
class ProjectText:
    """A file of instructions, or a skill with all its files."""

    kind: Kind
    name: str
    path: Path
    """The file: ``AGENTS.md`` or the like, or the skill's ``SKILL.md``."""
    text: str
    """What a model would be given; of a skill without its front matter."""
    description: str = ""
    """Of a skill: what it does, and when to use it."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Hash of each file, by its path from the folder."""
    notes: tuple[str, ...] = ()
    """What is not as the specification wants it."""
    place: Place = "project"
    is_hidden: bool = False
    """Its author wants no model to choose it by itself."""

    @property
    def folder(self) -> Path:
        """Where its files are."""
        return self.path.parent

    @functools.cached_property
    def fingerprint(self) -> str:
        """The same for the same files in the same place."""
        data = json.dumps([self.kind, str(self.path), dict(sorted(self.files.items()))])
        return hashlib.sha256(data.encode()).hexdigest()

    @property
    def text_id(self) -> str:
        """What people call this version by."""
        return self.fingerprint[:ID_CHARACTERS]

    @property
    def consent_name(self) -> str:
        """What all versions of it are called together."""
        return f"{self.kind} {self.path}"

    def read(self, name: str) -> str:
        """One of its files, as the person agreed to it.

        Raises:
            SetupError: It is none of them, has changed, or is no text.
        """
        wanted = os.path.normpath(name)
        if wanted not in self.files:
            raise SetupError(f"{name!r} is no file of {self.name!r}.", hint=self.listing)
        data = read_inside(self.folder / wanted, self.folder)
        if data is None or hashlib.sha256(data).hexdigest() != self.files[wanted]:
            raise SetupError(f"{name!r} of {self.name!r} has changed, or is gone.")
        try:
            return visible_text(data.decode("utf-8-sig"))
        except UnicodeDecodeError:
            whole = self.folder / wanted
            raise SetupError(f"{name!r} is no text.", hint=f"Code can open {whole}.") from None

    @property
    def listing(self) -> str:
        """Its files but the first, in a line."""
        names = [name for name in self.files if name != self.path.name]
        return f"Its files are: {', '.join(names)}." if names else "It has no other files."


@dataclass(frozen=True)
class OfferedText:
    """What is there, and whether it is used."""

    item: ProjectText
    state: Literal["used", "asked", "refused"]


@dataclass(frozen=True)
class OfferedTexts:
    """All that a project and a person's home offer, the nearest first."""

    texts: tuple[OfferedText, ...] = ()
    problems: tuple[str, ...] = ()

    def used(self, kind: Kind) -> list[ProjectText]:
        """Those that are used; of two skills of one name the nearest."""
        found: dict[str, ProjectText] = {}
        for each in self.texts:
            if each.state == "used" and each.item.kind == kind:
                key = each.item.name if kind == "skill" else str(each.item.path)
                found.setdefault(key, each.item)
        return list(found.values())

    def find(self, text_id: str) -> ProjectText:
        """The one of an id.

        Raises:
            SetupError: There is none; it may have changed since the id was shown.
        """
        items = {each.item.text_id: each.item for each in self.texts}
        if text_id not in items:
            known = ", ".join(f"{key} ({item.name})" for key, item in items.items())
            hint = f"There are: {known}." if known else "There are none here."
            raise SetupError(f"No text is {text_id!r} as it is now.", hint=hint)
        return items[text_id]


def visible_text(text: str) -> str:
    """The text as a person sees it: the one they agree to is the one that is sent."""
    return UNSEEN.sub("", plain_text(text))


def note_unseen(text: str, shown: str) -> Iterator[str]:
    """Say how many characters of a text are not sent, as nobody sees them."""
    unseen = len(text.removeprefix("\ufeff").replace("\r\n", "\n")) - len(shown)
    if unseen:
        yield f"{unseen:,} invisible characters of it are left out"


def read_inside(path: Path, bounds: Path) -> bytes | None:
    """The content of a plain file below a folder; None: it is none, or is too large."""
    try:
        whole = path.resolve()
        is_plain = whole.is_file() and whole.is_relative_to(bounds.resolve())
        if not is_plain or whole.stat().st_size > FILE_LIMIT_BYTES:
            return None
        return whole.read_bytes()
    except OSError:
        return None
