"""A project with a git folder, and a person who works in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.knowledge.project import OfferedTexts
from cellwright.knowledge.project.files import ProjectFiles
from cellwright.knowledge.project.source import ProjectSource
from cellwright.store.database import Database, open_database
from cellwright.store.tools import ToolStore


@dataclass
class Project:
    """A project, seen from the folder that the notebook is in."""

    database: Database
    root: Path
    folder: Path
    home: Path

    @property
    def files(self) -> ProjectFiles:
        """As they are seen now."""
        folders = (self.folder, *self.folder.parents)
        until = folders[: folders.index(self.root) + 1]
        return ProjectFiles(ToolStore(self.database), self.home / ".cellwright", until, self.home)

    @property
    def offered(self) -> OfferedTexts:
        return self.files.offered()

    def source(self, *, is_on: bool = True) -> ProjectSource:
        return ProjectSource(self.files, is_on=is_on)

    def write(self, name: str, text: str) -> Path:
        """A file below the project's root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def skill(self, name: str, head: str, body: str = "Do it.", at: str = ".agents/skills") -> Path:
        """A skill with this front matter."""
        return self.write(f"{at}/{name}/SKILL.md", f"---\n{head}\n---\n\n{body}\n")

    def agree_to_all(self) -> None:
        for each in self.offered.texts:
            self.files.agree(each.item)


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    top = tmp_path.resolve()
    for name in ("work/.git", "work/analysis/may", "home"):
        (top / name).mkdir(parents=True)
    database = open_database(None)
    yield Project(database, top / "work", top / "work/analysis/may", top / "home")
    database.close()


def turn(**fields: object) -> SourceQuestion:
    """A question of this person's."""
    return replace(SourceQuestion("Plot it", "chat", "run"), **fields)  # type: ignore[arg-type]


def words_of(found: RetrievalResult) -> str:
    """All that the model is told."""
    return "\n".join(f"{block.label}:\n{block.text}" for block in found.blocks)
