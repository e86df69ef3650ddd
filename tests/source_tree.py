"""Where the project is, and its Python files."""

from __future__ import annotations

from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
ROOTS = {"cellwright": "extension", "cellwright_magics": "kernel_magics"}
"""The folder that each package of ours stands in."""


def source_files() -> dict[str, Path]:
    """Every Python file of ours, by its path below the folder of its package."""
    return {
        path.relative_to(PROJECT / root).as_posix(): path
        for package, root in ROOTS.items()
        for path in sorted((PROJECT / root / package).rglob("*.py"))
    }
