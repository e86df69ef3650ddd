"""Undo of a run's variables in a notebook's kernel, under a real Jupyter Server."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, held, text, tool_call
from recorded_runs import started
from server.live_server import Live
from server.named_people import WITH_GUESTS
from server_client import Client

from cellwright.record.events import RunFinished
from cellwright.server.application import Application

pytestmark = [
    pytest.mark.server,
    pytest.mark.kernel,
    pytest.mark.skipif("sys.platform != 'linux'"),
]


def run_cell(code: str) -> Any:
    return tool_call("run_cell", {"code": code})


async def test_a_run_of_the_panel_is_undone_and_redone_in_the_kernel(
    live: Live, scripted: FakeService, client: Client, shared: Application
) -> None:
    scripted.script = [
        run_cell("rows.clear(); more = 1"),
        text("Cleared."),
        run_cell("print(len(rows))"),
        text("Two."),
    ]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.start("rows = [1, 2]; same = rows") == "ok"
    await tab.ask(chat, "clear it")
    assert (await tab.finished())["status"] == "completed"
    run_id = tab.numbers[-1][0]
    where = f"kernels/{document.kernel_id}/undo"
    process = live.serverapp.kernel_manager.get_kernel(document.kernel_id).provisioner.process
    before = process.pid

    assert await person.start("assert rows == [] and more == 1") == "ok"
    answer = await client.call("POST", where, {"run": run_id})
    assert (answer.status, answer.json["run"], answer.json["is_undone"]) == (200, run_id, True)
    check = "assert rows == [1, 2] and same is rows and 'more' not in globals()"
    assert await person.start(check) == "ok"
    assert [score.name for score in shared.runs.scores.of(run_id)] == ["undone"]

    answer = await client.call("POST", where, {})
    assert (answer.status, answer.json["run"], answer.json["is_undone"]) == (200, run_id, False)
    assert await person.start("assert rows == [] and same is rows and more == 1") == "ok"
    assert shared.runs.scores.of(run_id) == ()
    await client.call("POST", where, {"run": run_id})

    await tab.ask(chat, "count them")
    assert (await tab.finished(2))["status"] == "completed"
    assert "2" in "".join(document.text(cell) for cell in document.outputs)
    assert f"I have undone run {run_id}" in str(scripted.requests[2].messages)
    manager = live.serverapp.kernel_manager
    assert await manager.is_alive(document.kernel_id)
    assert (process.pid, process.poll()) == (before, None)
    sleeping = person.start("import time; time.sleep(30)")
    await asyncio.sleep(0.3)
    await manager.interrupt_kernel(document.kernel_id)
    assert await sleeping == "error"
    await manager.restart_kernel(document.kernel_id)
    refused = await client.call("POST", where, {"run": run_id})
    assert refused.status == 400
    assert "no snapshot from before it is kept" in refused.json["message"]
    nothing = await client.call("POST", where, {})
    assert "nothing to redo" in nothing.json["message"]


async def test_while_a_run_works_in_the_kernel_nothing_is_undone(
    live: Live, scripted: FakeService, client: Client, shared: Application, tmp_path: Path
) -> None:
    model_thinks = threading.Event()
    code = "x = 1; open('made.txt', 'w').close()"
    scripted.script = [run_cell(code), held(text("Done."), model_thinks)]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.run(f"import os; os.chdir({str(tmp_path)!r}); x = 0") == "ok"
    await tab.ask(chat, "set it")
    await tab.event("tool_finished")
    await tab.phase(chat, "model")
    run_id, kernel = tab.numbers[-1][0], f"kernels/{document.kernel_id}"
    for what in ("undo", "files"):
        refused = await client.call("POST", f"{kernel}/{what}", {"run": run_id})
        assert (refused.status, refused.json["message"]) == (409, "A run works in this kernel.")
    assert await person.run("assert x == 1 and os.path.exists('made.txt')") == "ok"
    model_thinks.set()
    assert (await tab.finished())["status"] == "completed"
    await tab.phase(chat, "idle")
    for what in ("undo", "files"):
        assert (await client.call("POST", f"{kernel}/{what}", {"run": run_id})).status == 200
    assert await person.run("assert x == 0 and not os.path.exists('made.txt')") == "ok"


async def test_a_run_is_undone_from_one_of_its_cells_on(
    live: Live, scripted: FakeService, client: Client, shared: Application
) -> None:
    codes = ("rows.append(1)", "rows.append(2)", "rows.clear()")
    scripted.script = [*map(run_cell, codes), text("Cleared.")]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.start("rows = [0]; same = rows") == "ok"
    await tab.ask(chat, "clear it")
    assert (await tab.finished())["status"] == "completed"
    run_id = tab.numbers[-1][0]
    where = f"kernels/{document.kernel_id}/undo"

    snapshots = where.replace("undo", "snapshots")
    kept = await client.call("GET", snapshots)
    assert kept.json["held_bytes"] is None
    rows = [(row["run_id"], row["step"], row["is_later"]) for row in kept.json["snapshots"]]
    assert rows == [(run_id, step, False) for step in (0, 2, 3)]
    assert (await client.call("GET", f"chats/{chat}")).json["undone"] == {}
    answer = await client.call("POST", where, {"run": run_id, "step": 3})
    assert (answer.status, answer.json["step"], answer.json["is_undone"]) == (200, 3, True)
    assert await person.start("assert rows == [0, 1, 2] and same is rows") == "ok"
    (score,) = shared.runs.scores.of(run_id)
    assert (score.name, score.explanation) == ("undone", "Undone by the user from cell 3 on.")
    assert (await client.call("GET", f"chats/{chat}")).json["undone"] == {run_id: 3}
    answer = await client.call("POST", where, {"run": run_id, "step": 8})
    assert answer.status == 400
    assert "before cell 8 of run" in answer.json["message"]
    answer = await client.call("POST", where, {"run": run_id, "step": 1})
    assert answer.status == 200
    assert await person.start("assert rows == [0] and same is rows") == "ok"
    assert "I have undone cell 3 of run" in str(shared.chats.notes.waiting(chat))
    assert (await client.call("GET", f"chats/{chat}")).json["undone"] == {run_id: 0}


async def test_memory_of_kept_states_is_told_once_and_given_back_when_they_are_forgotten(
    live: Live, scripted: FakeService, client: Client
) -> None:
    """Two states share what the kernel gave up: 64 MB, not none and not 128."""
    scripted.script = [run_cell("other = 1"), run_cell("del block"), text("Deleted.")]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.start("block = bytearray(b'x') * 64_000_000") == "ok"
    await tab.ask(chat, "delete it")
    assert (await tab.finished())["status"] == "completed"
    where = f"kernels/{document.kernel_id}/snapshots"
    measured = (await client.call("GET", f"{where}?measured=1")).json
    assert [row["step"] for row in measured["snapshots"]] == [0, 2]
    assert 64e6 < measured["held_bytes"] < 100e6
    running = person.start("import time; time.sleep(2)")
    await asyncio.sleep(0.3)
    assert (await client.call("GET", where)).status == 409
    assert await running == "ok"
    forgotten = await client.call("DELETE", where)
    assert (forgotten.status, forgotten.json) == (200, {"snapshots": [], "held_bytes": 0.0})
    assert (await client.call("GET", f"{where}?measured=1")).json["held_bytes"] == 0


async def test_what_ran_before_a_cell_is_told_where_a_thread_keeps_the_state_from_being_kept(
    live: Live, scripted: FakeService, client: Client, shared: Application
) -> None:
    """What was undone before is none of it; the chat hears that a restart went there."""
    scripted.script = [
        *(run_cell("wrong = 1"), text("Done.")),
        *(run_cell("rows.append(1)"), run_cell("rows.clear()"), text("Cleared.")),
    ]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    assert await person.start("rows = [0]") == "ok"
    await tab.ask(chat, "something")
    assert (await tab.finished())["status"] == "completed"
    where = f"kernels/{document.kernel_id}/undo"
    assert (await client.call("POST", where, {"run": tab.numbers[-1][0]})).status == 200
    thread = (
        "import threading; threading.Thread(target=threading.Event().wait, name='waiter').start()"
    )
    assert await person.start(thread) == "ok"
    await tab.ask(chat, "clear it")
    assert (await tab.finished(2))["status"] == "completed"
    run_id = tab.numbers[-1][0]
    refused = await client.call("POST", where, {"run": run_id, "step": 2})
    assert (refused.status, "thread 'waiter' runs" in refused.json["message"]) == (400, True)
    earlier = await client.call("GET", f"runs/{run_id}/before")
    assert earlier.json == {"cells": ["rows = [0]", thread]}
    earlier = await client.call("GET", f"runs/{run_id}/before?step=2")
    assert earlier.json == {"cells": ["rows = [0]", thread, "rows.append(1)"]}

    unknown = await client.call("POST", where, {"run": "nobody's", "restarted": True})
    assert unknown.status == 400, unknown.json
    answer = await client.call("POST", where, {"run": run_id, "step": 2, "restarted": True})
    assert (answer.status, answer.json["step"], answer.json["is_undone"]) == (200, 2, True)
    assert (await client.call("GET", f"chats/{chat}")).json["undone"][run_id] == 2
    assert "what had run before that cell has run again" in str(shared.chats.notes.waiting(chat))

    nothing = await client.call("POST", where, {})
    assert (nothing.status, "nothing to redo" in nothing.json["message"]) == (400, True)
    answer = await client.call("POST", where, {"run": run_id, "step": 2, "redone": True})
    assert (answer.status, answer.json["step"], answer.json["is_undone"]) == (200, 0, False)
    assert run_id not in (await client.call("GET", f"chats/{chat}")).json["undone"]
    assert [text.split(".")[0] for text in shared.runs.record(run_id).notices] == [
        "Undone by the user from cell 2 on",
        "Redone by the user",
    ]
    assert "does not have what they did until" in str(shared.chats.notes.waiting(chat))


async def test_files_of_a_run_are_named_put_back_and_forth(
    live: Live, scripted: FakeService, client: Client, shared: Application, tmp_path: Path
) -> None:
    code = "open('rows.csv', 'w').write('gone'); open('new.txt', 'w').close(); rows = None"
    scripted.script = [run_cell(code), text("Cleared.")]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    (tmp_path / "rows.csv").write_text("0")
    assert await person.start(f"import os; os.chdir({str(tmp_path)!r}); rows = [0]") == "ok"
    await tab.ask(chat, "clear it")
    assert (await tab.finished())["status"] == "completed"
    run_id = tab.numbers[-1][0]
    kernel = f"kernels/{document.kernel_id}"

    before = await client.call("GET", f"{kernel}/files?run={run_id}")
    undone = await client.call("POST", f"{kernel}/undo", {"run": run_id})
    assert undone.status == 200, undone.json
    assert (before.status, before.json) == (200, undone.json["files"])
    back = [{"path": "new.txt", "was": "made"}, {"path": "rows.csv", "was": "changed"}]
    told = [{k: row[k] for k in ("path", "was")} for row in undone.json["files"]["back"]]
    assert told == back
    assert await person.start("assert rows == [0]") == "ok"
    assert (tmp_path / "rows.csv").read_text() == "gone"

    answer = await client.call("POST", f"{kernel}/files", {"run": run_id})
    assert (answer.status, answer.json) == (200, undone.json["files"])
    assert [path.name for path in tmp_path.glob("*.*")] == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_text() == "0"
    answer = await client.call("POST", f"{kernel}/files", {})
    assert [row["was"] for row in answer.json["back"]] == ["deleted", "changed"]
    assert (tmp_path / "new.txt").exists()
    assert (tmp_path / "rows.csv").read_text() == "gone"
    noticed = shared.runs.record(run_id).notices
    assert noticed == (
        "Undone by the user.",
        "The user put files back: new.txt, rows.csv.",
        "The user put files forth: new.txt, rows.csv.",
    )
    notes = str(shared.chats.notes.waiting(chat))
    assert f"put these files back as they were before run {run_id}: new.txt, rows.csv" in notes
    assert f"put these files forth, as run {run_id} and" in notes


TWO_OWNERS = {**WITH_GUESTS, "Cellwright": {"owners": ["ada", "bob"]}}


@pytest.mark.parametrize("jp_server_config", [TWO_OWNERS])
async def test_a_run_is_undone_by_whoever_may_see_it_alone(
    live: Live, client: Client, shared: Application
) -> None:
    kernel_id = await live.kernel()
    chat = shared.chats.create("", "ada").chat_id
    run_id = shared.runs.start(started("a question of ada's"), RunFinished("completed")).run_id
    shared.chats.add_run(chat, run_id)
    undo, files = (f"kernels/{kernel_id}/{what}" for what in ("undo", "files"))
    asked = [
        ("POST", undo, {"run": run_id, "restarted": True}),
        ("POST", undo, {"run": run_id}),
        ("GET", f"{files}?run={run_id}", None),
        ("POST", files, {"run": run_id}),
    ]
    for method, path, body in asked:
        refused = await client.call(method, path, body, headers={"X-Person": "bob"})
        assert (refused.status, refused.json["message"]) == (404, f"There is no run {run_id!r}.")
    assert shared.chats.notes.waiting(chat) == ()
    for step, status in ((-7, 400), (2, 200)):
        answer = await client.call("POST", undo, {"run": run_id, "restarted": True, "step": step})
        assert answer.status == status, answer.json
    (note,) = shared.chats.notes.waiting(chat)
    assert "cell 2" in str(note)
