"""Rooms with real kernels, and a folder of samples."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.bench.environments import Rooms


@pytest.fixture
def rooms() -> Rooms:
    """Rooms with ordinary kernels."""
    return Rooms({})


@pytest.fixture
def write_sample(tmp_path: Path) -> Callable[..., Path]:
    """Write a sample's file into the folder of a suite; the folder."""

    def write(text: str, name: str = "one.yaml", **files: Any) -> Path:
        folder = tmp_path / "suite"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
        for file, content in files.items():
            (folder / f"{file}.csv").write_text(content, encoding="utf-8")
        return folder

    return write
