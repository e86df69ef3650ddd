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

from cellwright.errors import SetupError
from cellwright.knowledge.project import Place, ProjectText, read_inside

SKILL_FILE = "SKILL.md"
SKILL_FILES_LIMIT = 200
DEPTH_LIMIT = 4
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
        elif depth > 1 and not folder.is_symlink() and folder.name[:1] not in "._":
            yield from find_skills(folder, depth - 1)


def read_skill(path: Path, bounds: Path, place: Place) -> ProjectText:
    """The skill of a file.

    Raises:
        SetupError: It is none; the specification wants a description.
    """
    data = read_inside(path, bounds)
    if data is None:
        raise SetupError("It is too large, cannot be read or leads out of its place.")
    matter = read_front_matter(data.decode("utf-8-sig", "replace"))
    folder = path.resolve().parent
    name = matter.fields.get("name", "").strip()
    description = " ".join(matter.fields.get("description", "").split())
    if not description:
        raise SetupError("It has no description, so no model could choose it.")
    files = {path.name: hashlib.sha256(data).hexdigest(), **_other_files(folder)}
    return ProjectText(
        "skill",
        " ".join(name.split())[:NAME_CHARACTERS] or folder.name,
        folder / SKILL_FILE,
        matter.body,
        description[:DESCRIPTION_CHARACTERS],
        files,
        tuple(skill_complaints(name, description, path.parent.name)),
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


def _other_files(folder: Path) -> dict[str, str]:
    found: dict[str, str] = {}
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name[:1] != "." and name != "node_modules")
        for name in sorted(names):
            path = Path(place, name)
            if name == SKILL_FILE and Path(place) == folder:
                continue
            digest = _digest(path, folder)
            if digest:
                found[str(path.relative_to(folder))] = digest
            if len(found) == SKILL_FILES_LIMIT:
                return found
    return found


def _digest(path: Path, bounds: Path) -> str:
    """Of a file that may be read; it is read again only when it has changed."""
    try:
        found = path.stat()
    except OSError:
        return ""
    mark = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
    return _digest_of(path, bounds, mark)


@functools.lru_cache(maxsize=4_096)
def _digest_of(path: Path, bounds: Path, _mark: tuple[int, ...]) -> str:
    data = read_inside(path, bounds)
    return "" if data is None else hashlib.sha256(data).hexdigest()
