"""Puts the packages of the tree into the wheel of cellwright-kernel, except the server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = ("extension/cellwright", "kernel_magics/cellwright_magics")
LEFT_OUT = {"cellwright/server", "cellwright/labextension"}


class KernelFiles(BuildHookInterface):
    """Names the files of the wheel."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add every file of the packages but those of the server and of the panel."""
        if self.target_name != "wheel":
            raise RuntimeError("cellwright-kernel is built as a wheel; cellwright has the sdist.")
        tree = Path(self.root).parents[1]
        for package in PACKAGES:
            folder = tree / package
            for path in sorted(folder.rglob("*")):
                place = path.relative_to(folder.parent)
                if path.is_file() and is_shipped(place):
                    build_data["force_include"][str(path)] = place.as_posix()


def is_shipped(place: Path) -> bool:
    """Whether a file, named from the folder of its package, is part of the wheel."""
    return "__pycache__" not in place.parts and "/".join(place.parts[:2]) not in LEFT_OUT
