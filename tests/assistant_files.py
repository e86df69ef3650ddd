"""Files of assistants, for tests."""

from __future__ import annotations

from pathlib import Path

__all__ = ["write_assistant"]


def write_assistant(folder: Path, name: str, text: str = "") -> Path:
    """Write an assistant of the project in this folder."""
    path = folder / ".cellwright" / "assistants" / f"{name}.toml"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path
