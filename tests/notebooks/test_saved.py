import json
import os
from pathlib import Path

import pytest

from cellwright.notebooks.memory import MemoryNotebook
from cellwright.notebooks.saved import SIZE_LIMIT_BYTES, SavedNotebook
from cellwright.record.events import CellAdded
from cellwright.tools.standard import standard_tools
from cellwright_magics.session import saved_notebook


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write(tmp_path / "a.ipynb", "x = 1")


def write(path: Path, source: str) -> Path:
    cell = {"id": "one", "cell_type": "code", "source": source, "outputs": [], "metadata": {}}
    path.write_text(json.dumps({"cells": [cell]}), encoding="utf-8")
    return path


def test_the_cells_are_those_that_were_saved_last(path: Path) -> None:
    book = SavedNotebook(path)
    assert [cell.source for cell in book.cells()] == ["x = 1"]
    write(path, "x = 22")
    assert [cell.source for cell in book.cells()] == ["x = 22"]


def test_the_file_is_never_changed(path: Path) -> None:
    before = path.read_bytes()
    book = SavedNotebook(path)
    book.apply(CellAdded("new", "y"))
    assert [cell.id for cell in book.cells()] == ["one"]
    assert path.read_bytes() == before
    assert book.path == str(path)


@pytest.mark.parametrize("text", ["not json", "[]", "{}", '{"cells": [1]}'])
def test_a_file_that_is_no_notebook_has_no_cells(path: Path, text: str) -> None:
    path.write_text(text)
    assert SavedNotebook(path).cells() == ()


def test_a_file_that_is_gone_or_huge_has_no_cells(path: Path) -> None:
    book = SavedNotebook(path)
    assert book.cells()
    os.truncate(path, SIZE_LIMIT_BYTES + 1)
    assert book.cells() == ()
    path.unlink()
    assert book.cells() == ()


def test_a_notebook_that_can_only_be_read_offers_no_tools_that_change_it(path: Path) -> None:
    names = [tool.name for tool in standard_tools(SavedNotebook(path))]
    assert "read_notebook" in names
    assert not {"add_cell", "edit_cell"} & set(names)
    kept = MemoryNotebook(is_editable=False)
    assert [tool.name for tool in standard_tools(kept)] == names


def test_the_front_end_tells_where_the_notebook_is(path: Path) -> None:
    by_server = saved_notebook({}, {"JPY_SESSION_NAME": str(path)})
    by_editor = saved_notebook({"__vsc_ipynb_file__": str(path)}, {})
    assert by_server is not None
    assert by_editor is not None
    assert by_server.path == by_editor.path == str(path)


@pytest.mark.parametrize("told", ["", "console-1", "gone.ipynb"])
def test_without_a_notebook_file_there_is_none(told: str) -> None:
    assert saved_notebook({}, {"JPY_SESSION_NAME": told}) is None
