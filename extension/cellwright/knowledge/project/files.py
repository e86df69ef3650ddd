"""Where instructions and skills lie, and which of them the person agreed to.

Consents are kept with those for outside tools (``store.tools.ToolStore``).
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal

from cellwright.assistants.files import project_folders
from cellwright.errors import SetupError
from cellwright.knowledge.project import (
    OfferedText,
    OfferedTexts,
    Place,
    ProjectText,
    note_unseen,
    read_inside,
    visible_text,
)
from cellwright.knowledge.project.skills import find_skills, read_skill
from cellwright.store.tools import ToolStore

INSTRUCTION_FILES = (
    "AGENTS.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
)
"""The first of them that says anything counts in a folder: AGENTS.md is the shared convention
(agents.md); Claude Code, Gemini CLI and Copilot read the others, which mostly repeat it."""
SKILL_FOLDERS = (".cellwright/skills", ".agents/skills", ".claude/skills")
"""Our own, the shared one and the one most skills were written for (agentskills.io, 2026-08)."""
SKILLS_LIMIT = 200
"""In one folder of skills."""
REFUSED = "refused "


class ProjectFiles:
    """The instructions and skills of one person's project and home.

    Args:
        store: What was agreed to.
        home: Cellwright's own folder.
        folders: Where the person works, the nearest first; none: in no project.
        user_home: Where skills lie that are there for all projects.
    """

    def __init__(
        self, store: ToolStore, home: Path, folders: Iterable[Path], user_home: Path | None = None
    ) -> None:
        self._store = store
        self._home = home
        self._folders = project_chain(tuple(folders))
        self._user_home = user_home or Path.home()

    def offered(self) -> OfferedTexts:
        """All there is now."""
        problems: list[str] = []
        agreed = self._store.agreed()
        texts = []
        seen: set[Path] = set()
        for item in self._found(problems.append):
            # skills are often linked from one folder of skills into others
            if item.path not in seen:
                seen.add(item.path)
                texts.append(OfferedText(item, _state(item, agreed)))
        return OfferedTexts(tuple(texts), tuple(problems))

    def agree(self, item: ProjectText) -> None:
        """The person wants it, as it is."""
        if f"{REFUSED}{item.fingerprint}" in self._store.agreed():
            self._store.disagree(item.consent_name)
        self._store.agree(item.fingerprint, item.consent_name)

    def refuse(self, item: ProjectText) -> None:
        """The person wants no version of it, and is not asked about this one again."""
        self._store.disagree(item.consent_name)
        self._store.agree(f"{REFUSED}{item.fingerprint}", item.consent_name)

    def _found(self, complain: Callable[[str], None]) -> Iterator[ProjectText]:
        for folder in self._folders:
            yield from _instructions_in(folder, self._folders[-1], complain)
        for folder, bounds, place in self._skill_places():
            for path in list(find_skills(folder))[:SKILLS_LIMIT]:
                try:
                    yield read_skill(path, bounds, place)
                except SetupError as error:
                    complain(f"{path}: {error.message}")

    def _skill_places(self) -> Iterator[tuple[Path, Path, Place]]:
        """Folders of skills, each with the folder that its files may not lead out of."""
        own = self._home / "skills"
        for folder in self._folders:
            for name in SKILL_FOLDERS:
                if folder / name != own:
                    yield folder / name, self._folders[-1], "project"
        yield own, self._home, "own"
        for name in SKILL_FOLDERS[1:]:
            yield self._user_home / name, self._user_home, "home"


def project_chain(folders: tuple[Path, ...]) -> tuple[Path, ...]:
    """The nearest folder and those above it, up to the one that git keeps or the furthest one."""
    if not folders:
        return ()
    chain, far = project_folders(folders[0]), folders[-1].resolve()
    return chain[: chain.index(far) + 1] if far in chain else chain


def _state(item: ProjectText, agreed: frozenset[str]) -> Literal["used", "asked", "refused"]:
    if f"{REFUSED}{item.fingerprint}" in agreed:
        return "refused"
    return "used" if item.place == "own" or item.fingerprint in agreed else "asked"


def _instructions_in(
    folder: Path, bounds: Path, complain: Callable[[str], None]
) -> Iterator[ProjectText]:
    """The first file of a folder that says anything."""
    for name in INSTRUCTION_FILES:
        path = folder / name
        if not path.is_file():
            continue
        try:
            data = read_inside(path, bounds)
            text = data.decode("utf-8-sig") if data is not None else ""
        except UnicodeDecodeError:
            complain(f"{path} is not UTF-8, so it is not read.")
            continue
        if data is None:
            complain(f"{path} is too large, cannot be read or leads out of the project.")
        elif text.strip():
            files = {path.name: hashlib.sha256(data).hexdigest()}
            shown = visible_text(text)
            notes = tuple(note_unseen(text, shown))
            yield ProjectText("instructions", name, path, shown.strip(), files=files, notes=notes)
            return
