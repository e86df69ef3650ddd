from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeKernel, FakeNotebook, make_context
from mcp_server.peers import FakeRoom, Peer, words

from cellwright.commands.mcp import NotebookOnDisk
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import ToolError
from cellwright.mcp_server.undoing import CALL_LIMIT, ChangeLog, UndoSource
from cellwright.record.events import CellAdded, CellMoved, CellRemoved
from cellwright.record.outputs import Cell


class UndoRoom(FakeRoom):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder, FakeKernel(probes={"list_variables": []}))
        self.book = NotebookOnDisk(folder / "work.ipynb")
        for name in ("a", "b", "c"):
            self.book.apply(CellAdded(name, f"{name} = 1"))
        self.memory = self.book
        self.sources = (UndoSource(lambda: self.book.changes),)


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Peer]:
    with Peer(UndoRoom(tmp_path)) as peer:
        peer.call("read_notebook")
        yield peer


def shown(peer: Peer) -> list[tuple[str, str]]:
    notebook = peer.room.notebook
    assert notebook is not None
    return [(cell.id, cell.source) for cell in notebook.cells()]


START = [("a", "a = 1"), ("b", "b = 1"), ("c", "c = 1")]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("run_cell", {"code": "d = 1"}),
        ("add_cell", {"source": "# d", "after": "a"}),
        ("edit_cell", {"cell_id": "b", "source": "b = 2"}),
        ("edit_cell", {"cell_id": "b", "source": "b = 2", "run": True}),
        ("arrange_cell", {"cell_id": "b", "action": "move", "after": ""}),
        ("arrange_cell", {"cell_id": "a", "action": "move", "after": "c"}),
    ],
)
def test_a_change_is_taken_back_and_that_is_in_the_record(
    peer: Peer, tool: str, arguments: dict[str, object]
) -> None:
    assert not peer.call(tool, **arguments)["isError"]
    assert shown(peer) != START
    assert not peer.call("undo_change")["isError"]
    assert shown(peer) == START
    assert [call.name for call in peer.room.record.calls][-1] == "undo_change"
    assert peer.call("undo_change")["isError"]


def test_the_calls_before_are_taken_back_one_after_the_other(peer: Peer) -> None:
    peer.call("run_cell", code="d = 1")
    peer.call("edit_cell", cell_id="a", source="a = 2")
    peer.call("undo_change")
    assert [source for _, source in shown(peer)] == ["a = 1", "b = 1", "c = 1", "d = 1"]
    peer.call("undo_change")
    assert shown(peer) == START


def test_what_the_person_changed_since_stays(peer: Peer) -> None:
    peer.call("run_cell", code="d = 1")
    name = shown(peer)[-1][0]
    assert isinstance(peer.room, UndoRoom)
    path = Path(peer.room.book.path)
    path.write_text(path.read_text().replace("d = 1", "d = 100"), encoding="utf-8")
    assert "the person changed them" in words(peer.call("undo_change"))
    assert shown(peer)[-1] == (name, "d = 100")


def test_deleted_cells_come_back_where_they_were() -> None:
    log = ChangeLog()
    cells = tuple(Cell(name, "code", name) for name in "abc")
    book = FakeNotebook(*cells)
    log.note(CellRemoved("a", "", "one"), cells)
    log.note(CellRemoved("b", "", "two"), cells[1:])
    assert log.take_back("x", book) == (
        CellAdded("b", "b", "code", "", "x"),
        CellMoved("b", "", "x"),
    )
    assert log.take_back("x", book)[0] == CellAdded("a", "a", "code", "", "x")


def test_only_so_many_calls_are_kept() -> None:
    log, book = ChangeLog(), FakeNotebook()
    for number in range(CALL_LIMIT + 3):
        log.note(CellAdded(f"c{number}", "1", call_id=f"call-{number}"), ())
    for _ in range(CALL_LIMIT):
        log.take_back("x", book)
    with pytest.raises(ToolError, match="could be taken back"):
        log.take_back("x", book)


def test_without_a_notebook_nothing_is_taken_back() -> None:
    source = UndoSource(ChangeLog)
    assert source.look_up(SourceQuestion("x", "c")) == RetrievalResult()
    with pytest.raises(ToolError, match="no notebook"):
        list(source.components()[0].evaluate(make_context()))
