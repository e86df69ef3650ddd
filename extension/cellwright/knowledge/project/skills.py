"""Skills: folders with a ``SKILL.md``, as the specification of agentskills.io has them (2026-08).

The front matter is read in the few forms of YAML that name and description are written in. Skills
are written for readers of many kinds: text with a colon in it, which YAML refuses, is taken as it
stands; what lists and tables hold is not looked at.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cellwright.errors import SetupError
from cellwright.knowledge.project import (
    FILE_LIMIT_BYTES,
    Place,
    ProjectText,
    note_unseen,
    read_inside,
    visible_text,
)

SKILL_FILE = "SKILL.md"
SKILL_FILES_LIMIT = 200
"""What comes after them in a skill's folder is no part of it."""
DEPTH_LIMIT = 3
"""So deep skills are looked for: some sort theirs into folders."""
NAME_CHARACTERS = 64
DESCRIPTION_CHARACTERS = 1_024
FENCE = "---"
KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]+(.*)|[ \t]*)$")
BLOCK = re.compile(r"([|>])(?:[+-]?[1-9]?|[1-9][+-])(?:[ \t]+#.*)?$")
COMMENT = re.compile(r"(?:^|[ \t])#.*$")
DOUBLE = re.compile(r'"((?:[^"\\]|\\.)*)"(?:[ \t]+#.*)?[ \t]*', re.DOTALL)
SINGLE = re.compile(r"'((?:[^']|'')*)'(?:[ \t]+#.*)?[ \t]*", re.DOTALL)


@dataclass(frozen=True)
class FrontMatter:
    """What a file says of itself, and the rest of it."""

    fields: Mapping[str, str]
    body: str


def read_front_matter(text: str) -> FrontMatter:
    """Read the fields at the head of a file.

    Raises:
        SetupError: There are none, or they do not end.
    """
    lines = text.removeprefix("\ufeff").splitlines()
    if not lines or lines[0].rstrip() != FENCE:
        raise SetupError(f"It does not begin with {FENCE!r}, so it has no front matter.")
    ends = [n for n, line in enumerate(lines[1:], start=1) if line.rstrip() == FENCE]
    if not ends:
        raise SetupError(f"Its front matter does not end with {FENCE!r}.")
    body = "\n".join(lines[ends[0] + 1 :]).strip()
    return FrontMatter(_fields(lines[1 : ends[0]]), body)


def _fields(lines: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    starts = [n for n, line in enumerate(lines) if KEY.match(line)] + [len(lines)]
    for start, end in zip(starts, starts[1:], strict=False):
        key = KEY.match(lines[start])
        assert key is not None
        found.setdefault(key[1], _value((key[2] or "").strip(), lines[start + 1 : end]))
    return found


def _value(first: str, rest: Sequence[str]) -> str:
    block = BLOCK.match(first)
    if block is not None:
        indent = min((len(r) - len(r.lstrip()) for r in rest if r.strip()), default=0)
        return _joined([line[indent:].rstrip() for line in rest], is_folded=block[1] == ">")
    whole = _joined([first, *(line.strip() for line in rest)], is_folded=True)
    if quoted := DOUBLE.fullmatch(whole):
        return _unescaped(quoted[1])
    if quoted := SINGLE.fullmatch(whole):
        return quoted[1].replace("''", "'")
    kept = [first, *(line.strip() for line in rest)]
    return _joined([COMMENT.sub("", line).rstrip() for line in kept], is_folded=True)


def _joined(lines: Sequence[str], *, is_folded: bool) -> str:
    text = "\n".join(lines).strip("\n")
    # an empty line stays a break; any other break is a space
    return re.sub(r"(?<!\n)\n(?!\n)", " ", text).strip() if is_folded else text


def _unescaped(text: str) -> str:
    try:
        return str(json.loads(f'"{text}"', strict=False))
    except ValueError:
        return text


def find_skills(place: Path, depth: int = DEPTH_LIMIT) -> Iterator[Path]:
    """The files of the skills in a folder, a skill being a folder that has one."""
    try:
        folders = sorted(each for each in place.iterdir() if each.is_dir())
    except OSError:
        return
    for folder in folders:
        if (folder / SKILL_FILE).is_file():
            yield folder / SKILL_FILE
        elif depth > 1 and not folder.is_symlink() and _is_looked_into(folder.name):
            yield from find_skills(folder, depth - 1)


def _is_looked_into(folder: str) -> bool:
    return folder[:1] != "." and folder != "node_modules"


def read_skill(path: Path, bounds: Path, place: Place) -> ProjectText:
    """The skill of a file; read again only when a file of its folder has changed.

    Raises:
        SetupError: It is none; the specification wants a description.
    """
    folder = path.resolve().parent
    return _read(folder, bounds, place, tuple(_marks_of(folder)))


@functools.lru_cache(maxsize=512)
def _read(folder: Path, bounds: Path, place: Place, marks: tuple[_Mark, ...]) -> ProjectText:
    path = folder / SKILL_FILE
    data = read_inside(path, bounds)
    if data is None:
        raise SetupError("It is too large, cannot be read or leads out of its place.")
    text = data.decode("utf-8-sig", "replace")
    shown = visible_text(text)
    matter = read_front_matter(shown)
    name = matter.fields.get("name", "").strip()
    description = " ".join(matter.fields.get("description", "").split())
    if not description:
        raise SetupError("It has no description, so no model could choose it.")
    contents = {mark.name: read_inside(folder / mark.name, folder) for mark in marks}
    contents[SKILL_FILE] = data
    return ProjectText(
        "skill",
        " ".join(name.split())[:NAME_CHARACTERS] or folder.name,
        path,
        matter.body,
        description[:DESCRIPTION_CHARACTERS],
        {n: hashlib.sha256(d).hexdigest() for n, d in contents.items() if d is not None},
        (*skill_complaints(name, description, folder.name), *note_unseen(text, shown)),
        place,
        matter.fields.get("disable-model-invocation", "").lower() == "true",
    )


def skill_complaints(name: str, description: str, folder: str) -> Iterator[str]:
    """What of a skill's front matter is not as the specification wants it."""
    if not name:
        yield "it has no name"
        return
    if len(name) > NAME_CHARACTERS:
        yield f"its name has more than {NAME_CHARACTERS} characters"
    if name != name.lower() or not all(c.isalnum() or c == "-" for c in name):
        yield "its name is more than lowercase letters, digits and hyphens"
    if name.startswith("-") or name.endswith("-") or "--" in name:
        yield "its name begins or ends with a hyphen, or has two in a row"
    if name != folder:
        yield f"its name is not that of its folder, {folder!r}"
    if len(description) > DESCRIPTION_CHARACTERS:
        yield f"its description is cut to {DESCRIPTION_CHARACTERS:,} characters"


class _Mark(NamedTuple):
    """What a file is known by, so that it is not read again before it changes."""

    name: str
    inode: int
    size: int
    modified: int
    changed: int


def _marks_of(folder: Path) -> Iterator[_Mark]:
    """The files of a skill's folder, as far as there are not too many."""
    count = 0
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(filter(_is_looked_into, folders))
        for name in sorted(names):
            path = os.path.join(place, name)
            count += 1
            if count > SKILL_FILES_LIMIT:
                return
            try:
                found = os.stat(path)
            except OSError:
                continue
            if found.st_size > FILE_LIMIT_BYTES:
                continue
            times = (found.st_mtime_ns, found.st_ctime_ns)
            yield _Mark(os.path.relpath(path, folder), found.st_ino, found.st_size, *times)
