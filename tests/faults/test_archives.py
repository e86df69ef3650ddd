"""Fault A8: names in an archive lead nowhere but into the folder it is unpacked in."""

from __future__ import annotations

import ast
import base64
import io
import stat
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cellwright
import cellwright_magics
from cellwright.kernels.gateway import GatewayKernel

PACKAGES = [Path(package.__path__[0]) for package in (cellwright, cellwright_magics)]
UNPACKERS = {"tarfile", "zipimport", "extract", "extractall", "unpack_archive"}
HOSTILE = ("../up.txt", "a/../../up.txt", "/tmp/cellwright-absolute.txt", "C:\\up.txt", "fine.txt")


class HostileKernel(GatewayKernel):
    """A kernel far away that packed what it liked, as the model's code could have it do."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed

    def _found(self, code: str, given: Mapping[str, Any]) -> Any:
        return base64.b64encode(self._packed).decode()


def hostile_archive() -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in HOSTILE:
            archive.writestr(name, "x")
        link = zipfile.ZipInfo("link")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/tmp")
    return buffer.getvalue()


def names_in(tree: ast.AST) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=aliases):
                found |= {alias.name.split(".")[0] for alias in aliases}
            case ast.ImportFrom(module=str(module), names=aliases):
                found |= {module.split(".")[0], *(alias.name for alias in aliases)}
            case ast.Call(func=ast.Attribute(attr=name)):
                found.add(name)
    return found


def test_an_archive_from_a_kernel_is_unpacked_in_its_folder_and_nowhere_else(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "above" / "folder"
    folder.mkdir(parents=True)
    HostileKernel(hostile_archive()).fetch_files(folder)
    outside = [path for path in tmp_path.rglob("*") if folder not in (path, *path.parents)]
    assert outside == [folder.parent]
    assert not Path(HOSTILE[2]).exists()
    assert (folder / "fine.txt").read_text("utf-8") == "x"
    assert not any(path.is_symlink() for path in folder.rglob("*"))


def test_nothing_else_of_ours_unpacks_an_archive() -> None:
    sources = [path for package in PACKAGES for path in package.rglob("*.py")]
    assert len(sources) > 100
    using = {path.name: names_in(ast.parse(path.read_text("utf-8"))) for path in sources}
    unpacking = {name: used & UNPACKERS for name, used in using.items() if used & UNPACKERS}
    assert unpacking == {"gateway.py": {"extractall"}}
