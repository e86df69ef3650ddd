import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import nbformat
import pytest
from command_line import notebook

from cellwright.commands.notebook_files import (
    check_target,
    new_notebook,
    read_notebook,
    write_text,
)
from cellwright.errors import SetupError
from cellwright.record.events import CellAdded, CellEdited

PICTURE = {
    "id": "picture",
    "cell_type": "markdown",
    "metadata": {"tags": ["keep"]},
    "source": ["![dot](attachment:dot.png)\n", "text"],
    "attachments": {"dot.png": {"image/png": "aGVsbG8="}},
}
OUTPUT = {
    "id": "output",
    "cell_type": "code",
    "metadata": {"collapsed": True},
    "execution_count": 7,
    "source": ["1"],
    "outputs": [
        {
            "output_type": "execute_result",
            "execution_count": 7,
            "data": {"text/plain": ["1"], "application/x-own+json": {"a": 1}},
            "metadata": {"own": True},
        }
    ],
}
MakeNotebook = Callable[..., Path]


def cells(path: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return found


def test_a_cell_that_nobody_changed_is_written_as_it_was(
    make_notebook: MakeNotebook, tmp_path: Path
) -> None:
    path = make_notebook(PICTURE, OUTPUT)
    file = read_notebook(path)
    file.memory.apply(CellAdded("new", "2"))
    file.write(tmp_path / "out.ipynb")
    assert cells(tmp_path / "out.ipynb")[:2] == cells(path)
    made = cells(tmp_path / "out.ipynb")[2]["metadata"]["cellwright"]
    assert made["origin"] == "agent"
    assert len(made["hash"]) == 16
    nbformat.validate(nbformat.read(tmp_path / "out.ipynb", as_version=4))


def test_a_changed_cell_keeps_what_the_change_does_not_touch(
    make_notebook: MakeNotebook, tmp_path: Path
) -> None:
    file = read_notebook(make_notebook(PICTURE))
    file.memory.apply(CellEdited("picture", "![dot](attachment:dot.png)", ""))
    file.write(tmp_path / "out.ipynb")
    (cell,) = cells(tmp_path / "out.ipynb")
    assert "".join(cell["source"]) == "![dot](attachment:dot.png)"
    assert cell["attachments"] == PICTURE["attachments"]


def test_cells_with_the_same_id_are_all_kept(make_notebook: MakeNotebook) -> None:
    first = {**OUTPUT, "source": "a = 1", "outputs": []}
    second = {**OUTPUT, "source": "b = 2", "outputs": []}
    file = read_notebook(make_notebook(first, second))
    assert [cell.source for cell in file.memory.cells()] == ["a = 1", "b = 2"]


@pytest.mark.parametrize("version", [3, 4])
def test_older_formats_are_read(version: int, tmp_path: Path) -> None:
    old = nbformat.convert(nbformat.from_dict(notebook("x = 1", "y = 2")), version)
    if version == 4:
        old["nbformat_minor"] = 2
        for cell in old["cells"]:
            del cell["id"]
    path = tmp_path / "old.ipynb"
    path.write_text(json.dumps(old), encoding="utf-8")
    file = read_notebook(path)
    assert [cell.source for cell in file.memory.cells()] == ["x = 1", "y = 2"]
    file.write(tmp_path / "new.ipynb")
    nbformat.validate(nbformat.read(tmp_path / "new.ipynb", as_version=4))


def test_the_kernel_is_the_one_the_notebook_names(tmp_path: Path) -> None:
    path = tmp_path / "nb.ipynb"
    path.write_text(json.dumps(notebook("1", kernelspec={"name": "own", "display_name": "Own"})))
    assert read_notebook(path).kernel_name == "own"
    path.write_text(json.dumps(notebook("1")))
    assert read_notebook(path).kernel_name == ""
    assert new_notebook().kernel_name == "python3"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not json", "Expecting value"),
        ("[]", "it has no 'nbformat'"),
        ('{"nbformat": 4}', "KeyError"),
        ('{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{}]}', "Error"),
    ],
)
def test_a_file_that_is_no_notebook_is_named(text: str, why: str, tmp_path: Path) -> None:
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    with pytest.raises(SetupError, match=r"x\.ipynb' is no notebook: ") as raised:
        read_notebook(path)
    assert why in str(raised.value)


def test_a_notebook_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"nb\.ipynb' cannot be read: No such file"):
        read_notebook(tmp_path / "nb.ipynb")


def test_a_target_is_checked_before_any_work(tmp_path: Path) -> None:
    assert check_target(str(tmp_path / "new.ipynb")) == tmp_path / "new.ipynb"
    with pytest.raises(SetupError, match="is a folder"):
        check_target(str(tmp_path))
    with pytest.raises(SetupError, match="There is no folder"):
        check_target(str(tmp_path / "a" / "b.ipynb"))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_a_folder_that_cannot_be_written_is_told_before_any_work(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(SetupError, match="cannot be written to"):
        check_target(str(tmp_path / "x.ipynb"))


def test_a_file_is_replaced_whole_and_keeps_its_permissions(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_text("old")
    path.chmod(0o640)
    write_text(path, "new \ud800")
    assert path.read_text(encoding="utf-8") == "new ?"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [found.name for found in tmp_path.iterdir()] == ["x.txt"]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    link.symlink_to(real)
    write_text(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    blocked = tmp_path / "folder"
    blocked.mkdir()
    (blocked / "inside").touch()
    with pytest.raises(SetupError, match=r"folder' cannot be written: "):
        write_text(blocked, "text")
    assert [found.name for found in tmp_path.iterdir()] == ["folder"]
