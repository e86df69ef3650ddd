from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from command_line import notebook, sources

from cellwright.commands.mcp import NotebookOnDisk
from cellwright.errors import ToolError
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellFinished,
    CellOutput,
    CellStarted,
)
from cellwright.record.outputs import Execution, StreamOutput, source_hash


def write(path: Path, *cells: str) -> None:
    path.write_text(json.dumps(notebook(*cells)), encoding="utf-8")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "work.ipynb"
    write(path, "a = 1")
    return path


def test_what_an_agent_adds_is_in_the_file_at_once(path: Path) -> None:
    book = NotebookOnDisk(path)
    book.apply(CellAdded("new", "b = 2"))
    assert sources(path) == ["a = 1", "b = 2"]
    book.apply(CellEdited("new", "b = 3", ""))
    assert sources(path) == ["a = 1", "b = 3"]
    assert book.path == str(path)


def test_a_notebook_that_is_not_there_yet_is_made_by_the_first_cell(tmp_path: Path) -> None:
    path = tmp_path / "new.ipynb"
    book = NotebookOnDisk(path)
    assert book.kernel_name == "python3"
    assert not path.exists()
    book.apply(CellAdded("one", "1"))
    assert sources(path) == ["1"]


def test_what_the_person_saves_meanwhile_is_read_and_wins(path: Path) -> None:
    book = NotebookOnDisk(path)
    write(path, "a = 1", "mine = 2")
    assert [cell.source for cell in book.cells()] == ["a = 1", "mine = 2"]
    write(path, "a = 100")
    with pytest.raises(ToolError, match="the person changed cell 'cell-1'"):
        book.confirm("cell-1", "a = 1")


def test_what_the_person_saves_while_a_cell_runs_stays_beside_its_outputs(path: Path) -> None:
    book = NotebookOnDisk(path)
    book.apply(CellStarted("cell-1"))
    book.apply(CellOutput("cell-1", StreamOutput("stdout", "hello\n")))
    write(path, "a = 1", "mine = 2")
    os.utime(path, ns=(1, 1))
    book.apply(CellFinished("cell-1", Execution("ok", 0.1, execution_count=4)))
    cells = json.loads(path.read_text())["cells"]
    assert sources(path) == ["a = 1", "mine = 2"]
    assert cells[0]["outputs"][0]["text"] == ["hello\n"]
    assert cells[0]["execution_count"] == 4


def test_a_file_that_was_broken_meanwhile_is_not_written_over_and_that_is_told_once(
    path: Path,
) -> None:
    book = NotebookOnDisk(path)
    path.write_text("half a notebo")
    book.apply(CellAdded("one", "1"))
    book.apply(CellAdded("two", "2"))
    assert path.read_text() == "half a notebo"
    problems = book.take_problems()
    assert len(problems) == 1
    assert "cannot be read now" in problems[0]
    assert book.take_problems() == ()


def test_what_could_not_be_written_goes_into_the_file_once_it_is_whole_again(path: Path) -> None:
    book = NotebookOnDisk(path)
    whole = path.read_text()
    path.write_text(whole[:40])
    book.apply(CellAdded("one", "1"))
    book.apply(CellStarted("one"))
    book.apply(CellOutput("one", StreamOutput("stdout", "hello\n")))
    book.apply(CellFinished("one", Execution("ok", 0.1, execution_count=2)))
    book.apply(CellEdited("cell-1", "a = 2", source_hash("a = 1")))
    write(path, "a = 100", "mine = 2")
    assert [cell.source for cell in book.cells()] == ["a = 100", "mine = 2", "1"]
    assert sources(path) == ["a = 100", "mine = 2", "1"]
    assert json.loads(path.read_text())["cells"][2]["outputs"][0]["text"] == ["hello\n"]


def test_a_folder_that_is_gone_is_told_and_the_notebook_goes_on_in_memory(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    book = NotebookOnDisk(folder / "work.ipynb")
    folder.rmdir()
    book.apply(CellAdded("one", "1"))
    assert [cell.id for cell in book.cells()] == ["one"]
    assert "cannot be written" in book.take_problems()[0]
