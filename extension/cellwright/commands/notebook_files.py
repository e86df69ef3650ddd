"""Notebook files: read without a surprise, written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.errors import SetupError
from cellwright.notebooks.memory import MemoryNotebook, cell_to_nbformat
from cellwright.record.outputs import Cell

IRI_GRAMMAR = "rfc3987_syntax"


@dataclass(frozen=True)
class NotebookFile:
    """A notebook in memory and what its file holds."""

    memory: MemoryNotebook
    original: Mapping[str, Any] = field(default_factory=dict)
    """The cells of the file by id, each as it stands there."""
    loaded: Mapping[str, Cell] = field(default_factory=dict)
    """The same cells as values."""

    @property
    def kernel_name(self) -> str:
        """The kernel the notebook names; empty when it names none."""
        spec = self.memory.to_nbformat()["metadata"].get("kernelspec") or {}
        return str(spec.get("name") or "")

    def write(self, path: Path) -> None:
        """Write the notebook as it is now; a cell that nobody changed stays as it was."""
        content = self.memory.to_nbformat()
        content["cells"] = [self._cell(cell) for cell in self.memory.cells()]
        write_text(path, notebook_text(content))

    def _cell(self, cell: Cell) -> dict[str, Any]:
        original = self.original.get(cell.id)
        if original is None:
            return cell_to_nbformat(cell)
        if cell == self.loaded[cell.id]:
            return dict(original)
        return {**original, **cell_to_nbformat(cell)}


def new_notebook(cells: tuple[Cell, ...] = ()) -> NotebookFile:
    """A notebook that comes from no file."""
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return NotebookFile(MemoryNotebook(cells, metadata={"kernelspec": spec}))


def read_notebook(path: Path) -> NotebookFile:
    """The notebook of a file; older formats are brought up to version 4.5 in memory.

    Raises:
        SetupError: It cannot be read or is no notebook.
    """
    content = _content(path)
    memory = MemoryNotebook.from_nbformat(content, str(path))
    original = {cell["id"]: cell for cell in content["cells"]}
    return NotebookFile(memory, original, {cell.id: cell for cell in memory.cells()})


def _content(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise SetupError(
            f"The notebook {str(path)!r} cannot be read: {error.strerror}.", hint="Check the path."
        ) from error
    except ValueError as error:
        raise _no_notebook(path, str(error)) from error
    if not isinstance(content, dict) or "nbformat" not in content:
        raise _no_notebook(path, "it has no 'nbformat'")
    return _brought_up(content, path)


def _brought_up(content: dict[str, Any], path: Path) -> dict[str, Any]:
    nbformat = _nbformat()
    try:
        if content["nbformat"] != nbformat.current_nbformat:
            content = nbformat.convert(nbformat.from_dict(content), nbformat.current_nbformat)
        content["nbformat_minor"] = nbformat.current_nbformat_minor
        _name_cells(content["cells"])
        nbformat.validate(content, relax_add_props=True)
    except Exception as error:  # nbformat has no common error for a file it cannot make sense of
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise _no_notebook(path, reason) from error
    return content


def notebook_text(content: Mapping[str, Any]) -> str:
    """The text of a notebook file, as Jupyter writes it."""
    text: str = _nbformat().writes(notebook_node(content))
    return text.rstrip("\n") + "\n"


def notebook_node(content: Mapping[str, Any]) -> Any:
    """The content of a notebook file, as nbformat and nbclient want it."""
    return _nbformat().from_dict(content)


def _nbformat() -> Any:
    # nbformat's jsonschema compiles a grammar for IRIs as it is imported, where it finds one to
    # compile (JupyterLab brings it along): two seconds, and no notebook is checked for IRIs.
    modules: dict[str, Any] = sys.modules
    is_ours = modules.setdefault(IRI_GRAMMAR, None) is None
    try:
        import nbformat
    finally:
        if is_ours:
            del modules[IRI_GRAMMAR]
    return nbformat  # as Any: it has no types


def _name_cells(cells: list[dict[str, Any]]) -> None:
    """Give an id to each cell without one (old files) and with another's (merged files)."""
    seen = {""}
    for cell in cells:
        if cell.get("id", "") in seen:
            cell["id"] = uuid.uuid4().hex[:8]
        seen.add(cell["id"])


def _no_notebook(path: Path, why: str) -> SetupError:
    return SetupError(
        f"{str(path)!r} is no notebook: {why}.", hint="Name an .ipynb file that Jupyter can open."
    )


def check_target(name: str) -> Path:
    """The path to write to later.

    Raises:
        SetupError: Nothing can be written there.
    """
    path = Path(name).expanduser()
    folder = path.resolve().parent
    if path.is_dir():
        raise SetupError(f"{name!r} is a folder.", hint="Name a file in it.")
    if not folder.is_dir():
        raise SetupError(f"There is no folder {str(folder)!r}.", hint="Make it, or choose another.")
    if not os.access(folder, os.W_OK):
        raise SetupError(f"{str(folder)!r} cannot be written to.", hint="Choose another folder.")
    return path


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: whoever reads it sees the old or the new text.

    Raises:
        SetupError: It cannot be written.
    """
    target = path.resolve()
    try:
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
        try:
            with open(handle, "wb") as file:
                file.write(text.encode("utf-8", "replace"))
                file.flush()
                os.fsync(file.fileno())
            os.chmod(temporary, _permissions(target))
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise
    except OSError as error:
        raise SetupError(
            f"{str(path)!r} cannot be written: {error.strerror}.", hint="Choose another file."
        ) from error


def _permissions(target: Path) -> int:
    try:
        return target.stat().st_mode & 0o777
    except OSError:
        mask = os.umask(0)
        os.umask(mask)
        return 0o666 & ~mask
