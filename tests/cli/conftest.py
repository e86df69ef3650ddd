"""A folder to run commands in, and notebooks in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell, notebook


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder, a record of its own and no service."""
    folder = tmp_path / "work"
    folder.mkdir()
    return Shell(folder, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


@pytest.fixture
def make_notebook(shell: Shell) -> Callable[..., Path]:
    """Write a notebook of these cells into the shell's folder."""

    def make(*cells: Mapping[str, Any] | str, name: str = "nb.ipynb") -> Path:
        path = shell.folder / name
        path.write_text(json.dumps(notebook(*cells), indent=1) + "\n", encoding="utf-8")
        return path

    return make
