"""The open notebook and the run: the person's text wins, and their doings count (S14–S24)."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, held, text, tool_call
from server.live_server import Live
from server.live_tab import Document, code_cell

pytestmark = [pytest.mark.server, pytest.mark.kernel]


def run_cell(code: str) -> Any:
    return tool_call("run_cell", {"code": code})


def edit_cell(cell_id: str, source: str, *, run: bool = False) -> Any:
    return tool_call("edit_cell", {"cell_id": cell_id, "source": source, "run": run})


async def test_the_model_reads_the_notebook_as_the_tab_has_it(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [tool_call("read_notebook", {}), text("Read.")]
    tab, chat, document = await live.ready("unsaved = 'yes'")
    cell = document.cells["own-0"]
    cell["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "shown\n"}]
    cell["outputs"].append({"output_type": "of a later format"})
    await tab.ask(chat, "read")
    await tab.finished()
    assert "unsaved = 'yes'" in scripted.requests[1].last_text
    assert "shown" in scripted.requests[1].last_text
    record = live.application.runs.record(tab.events[0][0])
    assert [cell.source for cell in record.start_cells] == ["unsaved = 'yes'"]


async def test_a_cell_is_confirmed_before_it_runs(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("print(1)"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "run")
    await tab.finished()
    kinds = [
        frame["operation"] if frame["type"] == "request" else item["event"]["kind"]
        for frame in tab.frames
        if frame["type"] in ("request", "events")
        for item in frame.get("items", [None])
    ]
    assert kinds.index("cells") < kinds.index("run_started")
    assert kinds.index("cell_added") < kinds.index("confirm") < kinds.index("cell_started")
    confirm = next(f for f in tab.frames if f.get("operation") == "confirm")
    assert (confirm["cell_id"] in document.cells, bool(confirm["message_id"])) == (True, True)


async def test_a_cell_that_the_person_deleted_does_not_run(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('no')"), text("Well.")]
    tab, chat, document = await live.ready()

    def delete(request: dict[str, Any]) -> None:
        document.cells.pop(request["cell_id"], None)

    tab.on_request = delete
    await tab.ask(chat, "run")
    assert (await tab.finished())["status"] == "completed"
    assert not document.outputs
    assert "the person deleted cell" in scripted.requests[1].last_text


async def test_a_cell_that_the_person_changed_does_not_run_and_the_model_reads_it(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('mine')"), text("Well.")]
    tab, chat, document = await live.ready()

    def change(request: dict[str, Any]) -> None:
        if request["operation"] == "confirm":
            document.cells[request["cell_id"]]["source"] = "print('theirs')"

    tab.on_request = change
    await tab.ask(chat, "run")
    await tab.finished()
    assert not document.outputs
    assert "print('theirs')" in scripted.requests[1].last_text


async def test_the_persons_edit_wins_over_the_models(live: Live, scripted: FakeService) -> None:
    gate = threading.Event()
    scripted.script = [
        tool_call("read_notebook", {}),
        held(edit_cell("own-0", "a = 2"), gate),
        text("Well."),
    ]
    tab, chat, document = await live.ready("a = 1")
    await tab.ask(chat, "change it")
    await tab.event("tool_finished")
    document.cells["own-0"]["source"] = "a = 100"
    changed = [{"cell": document.cells["own-0"], "after": ""}]
    await tab.send(type="changed", notebook=document.name, cells=changed, removed=[])
    await tab.handled()
    gate.set()
    await tab.finished()
    assert document.sources == ["a = 100"]
    assert "a = 100" in scripted.requests[2].last_text


async def test_cells_that_the_person_adds_moves_and_removes_are_known(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [
        tool_call("read_notebook", {}),
        held(tool_call("read_notebook", {}), gate),
        text("Read."),
    ]
    tab, chat, document = await live.ready("first", "second", "third")
    await tab.ask(chat, "read twice")
    await tab.event("tool_finished")
    new = code_cell("new", "fourth") | {"cell_type": "markdown"}
    shown = code_cell("own-2", "third") | {
        "outputs": [{"output_type": "stream", "name": "stdout", "text": "ran by hand"}],
        "execution_count": 7,
    }
    cells = [{"cell": new, "after": ""}, {"cell": shown, "after": "new"}]
    await tab.send(type="changed", notebook=document.name, cells=cells, removed=["own-1", "none"])
    await tab.handled()
    gate.set()
    await tab.finished()
    read = scripted.requests[2].last_text
    places = [read.index(word) for word in ("fourth", "third", "ran by hand", "first")]
    assert places == sorted(places)
    assert "--- new markdown" in read
    assert "--- own-2 code [7]" in read
    assert "second" not in read


async def test_a_code_cell_that_becomes_text_is_text(live: Live, scripted: FakeService) -> None:
    gate = threading.Event()
    scripted.script = [
        tool_call("read_notebook", {}),
        held(tool_call("read_notebook", {}), gate),
        text("Read."),
    ]
    tab, chat, document = await live.ready("some words")
    await tab.ask(chat, "read twice")
    await tab.event("tool_finished")
    cell = {"id": "own-0", "cell_type": "markdown", "source": "some words", "metadata": {}}
    frame = [{"cell": cell, "after": ""}]
    await tab.send(type="changed", notebook=document.name, cells=frame, removed=[])
    await tab.handled()
    gate.set()
    await tab.finished()
    assert "--- own-0 markdown" in scripted.requests[2].last_text


async def test_a_tab_that_does_not_answer_is_not_waited_for(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, document = await live.ready()
    tab.answers_requests = False
    await tab.ask(chat, "run")
    assert (await tab.finished())["status"] == "completed"
    assert "".join(document.text(cell) for cell in document.outputs) == "ran\n"


async def test_a_read_only_notebook_is_only_read(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    chat, tab = await live.chat(), await live.tab()
    await tab.open(Document("work.ipynb", await live.kernel(), editable=False))
    await tab.follow(chat)
    await tab.ask(chat, "run")
    await tab.finished()
    assert "edit_cell" not in scripted.requests[0].tool_names
    assert "read_notebook" in scripted.requests[0].tool_names


async def test_closing_the_notebook_ends_the_run_at_its_next_tool(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("import time; time.sleep(0.7)"), run_cell("print('no')")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "two steps")
    await tab.event("cell_started")
    await tab.send(type="detach", notebook=document.name)
    end = await tab.finished()
    assert end["status"] == "cancelled"
    assert "notebook was closed" in end["reason"]
    assert [cell["status"] for cell in document.finished.values()][0] == "ok"
    assert "print('no')" not in [cell["code"] for cell in tab.of_kind("cell_output")]


async def test_a_rename_moves_the_chat_with_the_notebook(live: Live, scripted: FakeService) -> None:
    gate = threading.Event()
    scripted.script = [held(text("a"), gate), text("b")]
    tab, chat, document = await live.ready(path="folder/before.ipynb")
    await tab.ask(chat, "first")
    document.path = "folder/after.ipynb"
    await tab.send(**document.attach)
    await tab.until(lambda: tab.states[chat]["notebook_path"] == "folder/after.ipynb")
    gate.set()
    await tab.finished(1)
    await tab.ask(chat, "second")
    await tab.finished(2)
    assert live.application.chats.get(chat).notebook_path == "folder/after.ipynb"
    run = tab.events[-1][0]
    assert live.application.runs.record(run).notebook_path == "folder/after.ipynb"


async def test_no_file_is_written(live: Live, scripted: FakeService, jp_root_dir: Path) -> None:
    scripted.script = [run_cell("1 + 1"), text("Done.")]
    tab, chat, _ = await live.ready(path="deleted.ipynb")
    await tab.ask(chat, "run")
    await tab.finished()
    assert not list(jp_root_dir.rglob("*.ipynb"))


async def test_a_notebook_that_is_not_open_here_is_refused(
    live: Live, scripted: FakeService
) -> None:
    tab, chat = await live.tab(), await live.chat()
    refused = await tab.ask(chat, "run", notebook="elsewhere")
    assert (refused["type"], refused["code"]) == ("error", "no_notebook")


async def test_a_locked_cell_is_refused_by_name_and_nobody_is_asked(
    live: Live, scripted: FakeService
) -> None:
    delete = tool_call("arrange_cell", {"cell_id": "own-1", "action": "delete"})
    edit = edit_cell("own-0", "a = 2")
    scripted.script = [tool_call("read_notebook", {}), edit, delete, text("Well.")]
    tab, chat, document = await live.ready("a = 1", "b = 2")
    document.cells["own-0"]["metadata"] = {"editable": False}
    document.cells["own-1"]["metadata"] = {"deletable": False}
    await tab.ask(chat, "change both", mode="ask")
    assert (await tab.finished())["status"] == "completed"
    assert not tab.of_kind("approval_asked")
    assert "cell 'own-0' is locked" in scripted.requests[2].last_text
    assert "cell 'own-1' is locked" in scripted.requests[3].last_text
    assert document.sources == ["a = 1", "b = 2"]


RESUME = {"type": "queue", "id": "", "action": "resume", "prompt": None, "position": None}


async def test_a_waiting_prompt_whose_notebook_was_closed_waits_until_it_is_open_again(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(text("one"), gate), run_cell("print('ran')"), text("two")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "first")
    await tab.ask(chat, "second")
    await tab.send(type="detach", notebook=document.name)
    await tab.handled()
    gate.set()
    await tab.until(lambda: tab.states[chat]["queue_paused"])
    assert [item["prompt"] for item in tab.states[chat]["queue"]] == ["second"]
    refused = await tab.wait("error")
    assert (refused["code"], refused["request"]) == ("notebook_closed", "")
    assert not document.outputs
    # JupyterLab opens it as another document.
    del tab.documents[document.name]
    again = await tab.open(Document(document.path, document.kernel_id))
    await tab.send(**RESUME, chat=chat)
    assert (await tab.finished(2))["answer"] == "two"
    assert again.sources == ["print('ran')"]


async def test_a_notebook_that_is_open_again_does_not_end_its_run(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("import time; time.sleep(0.7)"), run_cell("'two'"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "two steps")
    await tab.event("cell_started")
    await tab.send(type="detach", notebook=document.name)
    del tab.documents[document.name]
    again = await tab.open(Document(document.path, document.kernel_id, *document.cells.values()))
    assert (await tab.finished())["status"] == "completed"
    assert again.sources[-1] == "'two'"


async def test_a_waiting_prompt_goes_on_in_the_page_that_drives_in_place_of_its_own(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [
        held(text("one"), gate),
        tool_call("read_notebook", {}),
        edit_cell("own-0", "a = 2"),
        text("two"),
    ]
    tab, chat, document = await live.ready("a = 1")
    await tab.ask(chat, "first")
    await tab.ask(chat, "second")
    await tab.close()
    # It was loaded again: another nonce, and another name for the notebook.
    again = await live.tab()
    shown = await again.open(Document(document.path, document.kernel_id, *document.cells.values()))
    await again.follow(chat)
    await again.send(type="drive", chat=chat, notebook=shown.name)
    await again.until(lambda: again.states[chat]["driver"] == again.tab)
    gate.set()
    await again.finished(2)
    assert "a = 1" in scripted.requests[2].last_text
    assert shown.sources == ["a = 2"]


async def test_a_waiting_prompt_without_any_page_is_answered_with_the_cells_that_are_known(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(text("one"), gate), tool_call("read_notebook", {}), text("two")]
    tab, chat, _ = await live.ready("a = 1")
    await tab.ask(chat, "first")
    await tab.phase(chat, "model")
    await tab.ask(chat, "second")
    await tab.close()
    watching = await live.tab()
    await watching.follow(chat)
    gate.set()
    await watching.finished(2)
    assert "a = 1" in scripted.requests[2].last_text


async def test_what_changed_while_the_line_was_cut_is_known_when_it_is_back(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [
        tool_call("read_notebook", {}),
        held(edit_cell("own-0", "agent = 1"), gate),
        text("Well."),
    ]
    tab, chat, document = await live.ready("a = 1", "b = 1")
    await tab.ask(chat, "change it")
    await tab.event("tool_finished")
    await tab.close()
    document.cells["own-0"]["source"] = "mine = 1"
    del document.cells["own-1"]
    back = await live.tab(tab.tab, tab.nonce)
    await back.open(document)
    await back.follow(chat)
    gate.set()
    await back.finished()
    assert "mine = 1" in scripted.requests[2].last_text
    assert document.sources == ["mine = 1"]
