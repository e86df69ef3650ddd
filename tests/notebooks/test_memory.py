import nbformat
import pytest

from cellwright.errors import ToolError
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellFinished,
    CellMoved,
    CellOutput,
    CellRemoved,
    CellStarted,
)
from cellwright.record.outputs import Cell, ExecuteResult, Execution, StreamOutput


def notebook() -> MemoryNotebook:
    return MemoryNotebook((Cell("one", "code", "x = 1"), Cell("two", "markdown", "# Two")))


def run(book: MemoryNotebook, cell_id: str, text: str) -> None:
    book.apply(CellStarted(cell_id))
    book.apply(CellOutput(cell_id, StreamOutput("stdout", text)))
    book.apply(CellFinished(cell_id, Execution("ok", 0.1, execution_count=7)))


def test_a_cell_is_added_after_the_one_it_names_or_at_the_end() -> None:
    book = notebook()
    book.apply(CellAdded("mid", "y", after="one"))
    book.apply(CellAdded("last", "z", "markdown", after="gone"))
    assert [(c.id, c.cell_type) for c in book.cells()] == [
        ("one", "code"),
        ("mid", "code"),
        ("two", "markdown"),
        ("last", "markdown"),
    ]


def test_a_cell_without_a_place_goes_behind_the_last_one_that_a_call_added() -> None:
    book = notebook()
    book.apply(CellAdded("heading", "# H", "markdown", after="one", call_id="call-1"))
    book.apply(CellAdded("mine", "m"))
    book.apply(CellMoved("mine", "two"))
    book.apply(CellAdded("next", "n", call_id="call-2"))
    assert [cell.id for cell in book.cells()] == ["one", "heading", "next", "two", "mine"]
    book.apply(CellRemoved("next", "hash"))
    book.apply(CellAdded("last", "l", call_id="call-3"))
    assert [cell.id for cell in book.cells()] == ["one", "heading", "last", "two", "mine"]


def test_running_a_cell_again_replaces_its_outputs() -> None:
    book = notebook()
    run(book, "one", "first")
    run(book, "one", "second")
    cell = book.cells()[0]
    assert cell.outputs == (StreamOutput("stdout", "second"),)
    assert cell.execution_count == 7


def test_an_edit_changes_the_source_and_keeps_the_outputs() -> None:
    book = notebook()
    run(book, "one", "out")
    book.apply(CellEdited("one", "x = 2", "hash"))
    assert book.cells()[0].source == "x = 2"
    assert book.cells()[0].outputs


def test_an_event_for_an_unknown_cell_changes_nothing() -> None:
    """Fault S19."""
    book = notebook()
    before = book.cells()
    run(book, "gone", "x")
    book.apply(CellEdited("gone", "x", "hash"))
    book.apply(CellRemoved("gone", "hash"))
    book.apply(CellMoved("gone"))
    book.apply(CellMoved("one", after="gone"))
    book.apply(CellMoved("one", after="one"))
    assert book.cells() == before


def test_a_notebook_that_is_told_anew_keeps_what_running_cells_have_shown() -> None:
    book, told = notebook(), notebook()
    run(book, "one", "so far\n")
    book.apply(CellAdded("three", "z", call_id="c1"))
    told.go_on_from(book, running=["one", "gone"])
    assert [bool(cell.outputs) for cell in told.cells()] == [True, False]
    told.apply(CellAdded("four", "w", call_id="c2"))
    assert [cell.id for cell in told.cells()] == ["one", "two", "four"]


def test_a_cell_is_taken_out() -> None:
    book = MemoryNotebook((Cell("a", "code", "1"), Cell("b", "code", "2")))
    book.apply(CellRemoved("a", "hash"))
    assert [cell.id for cell in book.cells()] == ["b"]


@pytest.mark.parametrize(
    ("moved", "after", "order"),
    [("c", "", "cab"), ("a", "c", "bca"), ("c", "a", "acb"), ("b", "a", "abc")],
)
def test_a_cell_moves_behind_another_one_with_all_it_shows(
    moved: str, after: str, order: str
) -> None:
    book = MemoryNotebook(tuple(Cell(name, "code", name) for name in "abc"))
    run(book, moved, "shown")
    book.apply(CellMoved(moved, after))
    assert "".join(cell.id for cell in book.cells()) == order
    assert next(cell for cell in book.cells() if cell.id == moved).outputs


def test_a_cell_may_run_as_long_as_it_is_what_it_was() -> None:
    book = MemoryNotebook((Cell("a", "code", "x = 1"),))
    book.confirm("a", "x = 1", "message")
    with pytest.raises(ToolError, match=r"changed cell 'a'\. It now reads:\nx = 1\n"):
        book.confirm("a", "x = 2")
    with pytest.raises(ToolError, match="the person deleted cell 'b'"):
        book.confirm("b", "x = 1")


def test_a_file_comes_back_as_it_was() -> None:
    output = {
        "output_type": "execute_result",
        "data": {"text/plain": "2"},
        "metadata": {},
        "execution_count": 3,
    }
    cell = nbformat.v4.new_code_cell(
        "1 + 1", id="a", execution_count=3, outputs=[nbformat.from_dict(output)]
    )
    metadata = {"language_info": {"name": "python"}}
    original = nbformat.v4.new_notebook(cells=[cell], metadata=metadata)
    book = MemoryNotebook.from_nbformat(original, "a.ipynb")
    assert book.path == "a.ipynb"
    assert isinstance(book.cells()[0].outputs[0], ExecuteResult)
    written = book.to_nbformat()
    nbformat.validate(nbformat.from_dict(written))
    assert written["cells"] == original["cells"]
    assert written["metadata"] == original["metadata"]


def test_old_files_without_ids_and_with_sources_as_lists_are_read() -> None:
    cell = {"cell_type": "code", "source": ["a\n", "b"], "outputs": [], "metadata": {}}
    (read,) = MemoryNotebook.from_nbformat({"cells": [cell]}).cells()
    assert (read.id, read.source) == ("cell-0", "a\nb")
