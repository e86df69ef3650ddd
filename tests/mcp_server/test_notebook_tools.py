"""Other notebooks, the kernel and cells that are there: what agents of others do with them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from command_line import notebook
from fakes import FakeKernel, Played
from mcp_server.peers import FakeRoom, Peer, words
from mcp_server.test_stdio import client_of, shell_in

from cellwright.commands.mcp import NotebookOnDisk
from cellwright.errors import ToolError
from cellwright.mcp_server.notebook_tools import ListedNotebook, NotebookTools, find_notebooks
from cellwright.mcp_server.undoing import UndoSource
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import CellEdited
from cellwright.record.outputs import Cell, Execution, StreamOutput
from cellwright.settings import Mode
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.tools import Risk


class PlaceRoom(FakeRoom):
    """A room with notebooks to go to, as ``NotebookPlace`` has it."""

    restart_risk: Risk = "destroy"

    def __init__(self, folder: Path, mode: Mode = "auto") -> None:
        shown = Played((StreamOutput("stdout", "7\n"),), Execution("ok", 0.01, execution_count=3))
        kernel = FakeKernel({"print(7)": shown}, probes={"list_variables": []})
        super().__init__(folder, kernel, mode)
        self.book = NotebookOnDisk(folder / "work.ipynb")
        self.memory = self.book
        self.went: list[str] = []
        undoing = UndoSource(lambda: self.book.changes)
        self.sources = (undoing, NotebookTools(self))

    def list_notebooks(self) -> tuple[ListedNotebook, ...]:
        return (ListedNotebook("work.ipynb", is_current=True, is_open=True, has_kernel=True),)

    def find_notebook(self, path: str) -> str:
        if path != "other.ipynb":
            raise ToolError(f"There is no notebook {path!r}.")
        return path

    def use_notebook(self, path: str) -> None:
        self.went.append(path)

    def restart_kernel(self) -> None:
        self.went.append("restarted")


def written(room: PlaceRoom) -> list[dict[str, Any]]:
    cells = json.loads(Path(room.book.path).read_text("utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_a_cell_that_is_there_is_run_and_its_outputs_are_cleared_and_come_back(
    tmp_path: Path,
) -> None:
    with Peer(PlaceRoom(tmp_path)) as peer:
        room = peer.room
        assert isinstance(room, PlaceRoom)
        peer.call("add_cell", source="print(7)", cell_type="code")
        name = written(room)[0]["id"]
        assert "7" in words(peer.call("run_existing_cell", cell_id=name))
        ran = written(room)[0]
        assert (ran["execution_count"], ran["outputs"][0]["text"]) == (3, ["7\n"])
        assert "of 1 cells" in words(peer.call("clear_outputs"))
        cleared = written(room)[0]
        assert (cleared["execution_count"], cleared["outputs"]) == (None, [])
        peer.call("undo_change")
        assert written(room)[0] == ran
        peer.call("undo_change")
        assert written(room)[0]["outputs"] == [], "the run of the cell is taken back"
        assert peer.call("run_existing_cell", cell_id="gone")["isError"]
        executions = room.record.executions
        assert [(ran.source, ran.outputs[0].text) for ran in executions] == [("print(7)", "7\n")]


def test_code_without_a_cell_is_recorded_and_in_no_notebook(tmp_path: Path) -> None:
    with Peer(PlaceRoom(tmp_path)) as peer:
        assert "7" in words(peer.call("run_scratch", code="print(7)"))
        room = peer.room
        assert isinstance(room, PlaceRoom)
        assert room.book.cells() == ()
        assert [ran.source for ran in room.record.executions] == ["print(7)"]
        assert peer.call("undo_change")["isError"], "there is no cell to take back"


@pytest.mark.parametrize(
    ("mode", "tool", "arguments"),
    [
        ("edits", "run_existing_cell", {"cell_id": "a"}),
        ("edits", "run_scratch", {"code": "x = 1"}),
        ("edits", "use_notebook", {"path": "other.ipynb"}),
        ("ask", "clear_outputs", {}),
        ("auto", "restart_kernel", {}),
        ("plan", "clear_outputs", {}),
    ],
)
def test_the_mode_decides_as_for_the_other_tools(
    tmp_path: Path, mode: Mode, tool: str, arguments: dict[str, str]
) -> None:
    with Peer(PlaceRoom(tmp_path, mode)) as peer:
        peer.room.memory = MemoryNotebook((Cell("a", "code", "x = 1"),))
        assert peer.call(tool, **arguments)["isError"]
        assert peer.room.fake_kernel.requests == []
        assert isinstance(peer.room, PlaceRoom)
        assert peer.room.went == []


def test_the_code_of_a_cell_decides_and_is_shown_to_whoever_is_asked(tmp_path: Path) -> None:
    code = "import shutil\nshutil.rmtree('data')"
    with Peer(PlaceRoom(tmp_path)) as peer:
        peer.room.memory = book = MemoryNotebook((Cell("a", "code", code),))
        asked: list[str] = []

        def allow(params: Any) -> dict[str, Any]:
            asked.append(params["message"])
            # The person thinks better of it while they are asked.
            book.apply(CellEdited("a", "x = 2", ""))
            return {"action": "accept", "content": {"answer": "yes"}}

        peer.elicits = allow
        peer.hello(elicitation={})
        refused = peer.call("run_existing_cell", cell_id="a")
        assert "shutil.rmtree" in asked[0]
        assert refused["isError"]
        assert peer.room.fake_kernel.requests == []


def test_another_notebook_and_another_kernel_begin_another_run(tmp_path: Path) -> None:
    with Peer(PlaceRoom(tmp_path)) as peer:
        room = peer.room
        assert isinstance(room, PlaceRoom)
        room.restart_risk = "execute"
        assert "work.ipynb (current, open, kernel running)" in words(peer.call("list_notebooks"))
        first = room.store.last_started
        assert peer.call("use_notebook", path="gone.ipynb")["isError"]
        assert not peer.call("use_notebook", path="other.ipynb")["isError"]
        assert not peer.call("restart_kernel")["isError"]
        assert room.went == ["other.ipynb"]
        second = room.store.last_started
        peer.call("list_variables")
        assert room.went == ["other.ipynb", "restarted"]
        assert len({first, second, room.store.last_started}) == 3


def test_only_notebooks_of_folders_that_people_see_are_listed(tmp_path: Path) -> None:
    for name in ("a.ipynb", "b/c.ipynb", ".ipynb_checkpoints/a.ipynb", "node_modules/x.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("{}")
    found = find_notebooks(tmp_path)
    assert [file.relative_to(tmp_path).as_posix() for file in found] == ["a.ipynb", "b/c.ipynb"]


@pytest.mark.kernel
def test_an_agent_goes_from_notebook_to_notebook_each_with_a_kernel_of_its_own(
    tmp_path: Path,
) -> None:
    shell = shell_in(tmp_path)
    (shell.folder / "one.ipynb").write_text(json.dumps(notebook("x = 1")), encoding="utf-8")
    (shell.folder / "two.ipynb").write_text(json.dumps(notebook("x + 1")), encoding="utf-8")
    (tmp_path / "outside.ipynb").write_text(json.dumps(notebook("1")), encoding="utf-8")

    async def work() -> list[Any]:
        async with client_of(shell, "--notebook", "one.ipynb", "--mode", "auto") as client:

            async def call(name: str, **arguments: Any) -> str:
                result = await client.call_tool(name, arguments)
                text = "\n".join(part.text for part in result.content if part.type == "text")
                return f"error: {text}" if result.is_error else text

            said = [await call("run_scratch", code="x = 41"), await call("list_notebooks")]
            said.append(await call("use_notebook", path="../outside.ipynb"))
            await call("use_notebook", path="two.ipynb")
            cell = (await call("read_notebook")).split("--- ")[1].split()[0]
            said.append(await call("run_existing_cell", cell_id=cell))
            await call("run_scratch", code="x = 1")
            said.append(await call("run_existing_cell", cell_id=cell))
            await call("restart_kernel")
            said.append(await call("run_existing_cell", cell_id=cell))
            await call("use_notebook", path="one.ipynb")
            said.append(await call("run_cell", code="x + 1"))
            await call("submit", answer="It is 42.")
            await call("run_scratch", code="y = 1")
            await call("run_cell", code="y + 1")
            return said

    _, listed, outside, unset, two, restarted, one = asyncio.run(work())
    assert "- one.ipynb (current, kernel running)\n- two.ipynb" in listed
    assert outside.startswith("error: There is no notebook")
    assert "NameError" in unset
    assert "2" in two
    assert "NameError" in restarted
    assert "42" in one, "its kernel went on"
    cells = json.loads((shell.folder / "two.ipynb").read_text("utf-8"))["cells"]
    assert ["".join(cell["source"]) for cell in cells] == ["x + 1"]
    assert cells[0]["outputs"][0]["ename"] == "NameError"
    database = open_database(Path(shell.environ["CELLWRIGHT_HOME"]) / "runs.sqlite")
    try:
        store = RunStore(database)
        record = store.record(store.resolve("last"))
    finally:
        database.close()
    assert record.notebook_path.endswith("one.ipynb")
    replayed = shell.run("replay", "last", "-q")
    assert (replayed.code, "no differences" in replayed.out + replayed.err) == (0, True)
