"""Files of assistants, for tests."""

from __future__ import annotations

from pathlib import Path

from cellwright.assistants import Assistant
from cellwright.assistants.files import list_assistants


def write_assistant(folder: Path, name: str, text: str = "") -> Path:
    """Write an assistant of the project in this folder."""
    path = folder / ".cellwright" / "assistants" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


def read_assistant_named(name: str, folder: Path) -> Assistant:
    """The assistant of the project in this folder that has the name."""
    found = list_assistants([folder]).find(name)
    assert found is not None
    return found
