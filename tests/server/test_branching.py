"""Several ways of one prompt: begun, compared, one kept as the kernel, the others gone."""

from __future__ import annotations

import asyncio
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, Request, Wire, held, text, tool_call
from server.live_person import Person
from server.live_server import Live
from server.live_tab import SOON_SECONDS, Document, TabClient
from server_client import Client

pytestmark = [
    pytest.mark.server,
    pytest.mark.kernel,
    pytest.mark.skipif(sys.platform != "linux", reason="kernels are copied on Linux alone"),
]

CODE = "total = sum(values) * {factor}\nprint('total', total)"
FEED = (
    "import threading, time\n"
    "threading.Thread(target=threading.Event().wait, name='feed', daemon=True).start()"
)
FACTORS = {"small": 1, "middle": 10, "large": 100}


def by_model(request: Request) -> Wire:
    """Each model multiplies by another factor, then says what came out."""
    factor = FACTORS[request.body["model"]]
    if request.messages[-1]["role"] == "tool":
        return text(f"The total is {6 * factor}.")(request)
    return tool_call("run_cell", {"code": CODE.format(factor=factor)})(request)


def one_more(request: Request) -> Wire:
    if request.messages[-1]["role"] == "tool":
        return text("61.")(request)
    return tool_call("run_cell", {"code": "print(total + 1)"})(request)


async def begin(
    client: Client, chat: str, document: Document, **more: Any
) -> tuple[int, dict[str, Any]]:
    asked = {"prompt": "add them up", "notebook": document.name, "mode": "auto", **more}
    answer = await client.call("POST", f"chats/{chat}/branches", asked)
    return answer.status, answer.json


async def over(client: Client, chat: str) -> dict[str, Any]:
    """The ways, when all have ended."""
    async with asyncio.timeout(60):
        while True:
            found: dict[str, Any] = (await client.call("GET", f"chats/{chat}/branches")).json
            if found["phase"] not in ("copying", "running"):
                return found
            await asyncio.sleep(0.05)


async def with_values(live: Live) -> tuple[TabClient, str, Document, Person]:
    tab, chat, document = await live.ready("values = [1, 2, 3]")
    person = await live.person(document.kernel_id)
    assert await person.run("values = [1, 2, 3]") == "ok"
    return tab, chat, document, person


def copies(live: Live, kernel_id: str) -> list[int]:
    """The processes that the kernel's process has made and that live."""
    process = live.serverapp.kernel_manager.get_kernel(kernel_id).provisioner.process
    found = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        children = (task / "children").read_text().split()
        found += [
            int(child)
            for child in children
            if Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        ]
    return found


async def test_one_of_three_ways_becomes_the_kernel_and_its_cells_the_notebooks(
    live: Live, client: Client, scripted: FakeService
) -> None:
    scripted.script = by_model
    tab, chat, document, person = await with_values(live)
    status, begun = await begin(client, chat, document, models=list(FACTORS))
    assert (status, len(begun["branches"])) == (201, 3)
    found = await over(client, chat)
    assert [(b["model"], b["status"], b["answer"], b["cells"]) for b in found["branches"]] == [
        ("small", "completed", "The total is 6.", 1),
        ("middle", "completed", "The total is 60.", 1),
        ("large", "completed", "The total is 600.", 1),
    ]
    assert [b["variables"] for b in found["branches"]] == [["total"]] * 3
    assert tab.states[chat]["branches"] == "over"
    assert document.sources == ["values = [1, 2, 3]"]
    assert await person.run("total") == "error"  # nothing of them is here yet

    kept = await client.call("POST", f"chats/{chat}/branches/2/keep")
    assert kept.status == 200, kept.json
    assert await person.run("assert total == 60 and values == [1, 2, 3]") == "ok"
    await tab.finished()
    assert document.sources == ["values = [1, 2, 3]", CODE.format(factor=10)]
    assert document.text(list(document.cells)[1]) == "total 60\n"
    assert tab.states[chat]["branches"] == ""
    assert live.application.chats.run_ids(chat) == (kept.json["run"],)
    assert (await client.call("GET", f"chats/{chat}/branches")).json["branches"] == []

    scripted.script = one_more
    await tab.ask(chat, "and one more")
    end = await tab.finished(2)
    assert end["status"] == "completed", end
    asked = str(scripted.requests[-2].messages)
    assert "The total is 60." in asked
    assert "new kernel" not in asked
    assert document.text(list(document.cells)[2]) == "61\n"

    where = f"kernels/{document.kernel_id}/undo"
    assert (await client.call("POST", where, {"run": kept.json["run"]})).status == 200
    assert await person.run("assert 'total' not in globals() and values == [1, 2, 3]") == "ok"


async def test_dropped_ways_leave_the_kernel_as_it_was_and_no_process(
    live: Live, client: Client, scripted: FakeService
) -> None:
    scripted.script = by_model
    tab, chat, document, person = await with_values(live)
    await begin(client, chat, document, models=["small", "large"])
    await over(client, chat)
    assert len(copies(live, document.kernel_id)) >= 2
    refused = await tab.ask(chat, "another question")
    assert (refused["type"], refused["code"]) == ("error", "busy")
    assert (await client.call("DELETE", f"chats/{chat}/branches")).status == 200
    await tab.until(lambda: not copies(live, document.kernel_id))
    assert await person.run("total") == "error"
    assert live.application.chats.run_ids(chat) == ()
    assert (await client.call("POST", f"chats/{chat}/branches/1/keep")).status == 400
    assert (await client.call("DELETE", f"chats/{chat}/branches")).status == 200


async def test_stop_ends_all_ways_and_meanwhile_nothing_else_is_asked(
    live: Live, client: Client, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = held(text("late"), gate)
    tab, chat, document, person = await with_values(live)
    status, _ = await begin(client, chat, document, count=2)
    assert status == 201
    assert (await begin(client, chat, document))[0] == 409
    assert (await tab.ask(chat, "another"))["code"] == "busy"
    assert (await client.call("POST", f"chats/{chat}/branches/1/keep")).status == 409
    await tab.send(type="stop", chat=chat)
    async with asyncio.timeout(SOON_SECONDS):
        found = await over(client, chat)
    gate.set()
    assert [b["status"] for b in found["branches"]] == ["cancelled", "cancelled"]


@pytest.mark.parametrize("mode", ["ask", "edits"])
async def test_in_modes_that_ask_they_are_refused_with_what_to_choose(
    live: Live, client: Client, scripted: FakeService, mode: str
) -> None:
    _, chat, document, _ = await with_values(live)
    status, answer = await begin(client, chat, document, mode=mode)
    assert status == 400
    assert "Choose mode auto" in answer["hint"]


async def test_what_stands_in_the_way_of_a_copy_is_named_and_the_chat_goes_on(
    live: Live, client: Client, scripted: FakeService
) -> None:
    tab, chat, document, person = await with_values(live)
    assert await person.run(FEED) == "ok"
    status, answer = await begin(client, chat, document)
    assert status == 409
    assert "cannot be copied" in answer["message"]
    assert "feed" in answer["message"]
    assert tab.states[chat]["branches"] == ""
    running = person.start("time.sleep(4)")
    await tab.until(
        lambda: (
            live.serverapp.kernel_manager.get_kernel(document.kernel_id).execution_state == "busy"
        )
    )
    status, answer = await begin(client, chat, document)
    assert (status, answer["message"]) == (409, "The kernel is busy.")
    assert await running == "ok"
    scripted.script = [text("Still here.")]
    await tab.ask(chat, "hello")
    assert (await tab.finished())["answer"] == "Still here."


async def test_copies_end_even_while_the_persons_cell_runs(
    live: Live, client: Client, scripted: FakeService
) -> None:
    scripted.script = by_model
    tab, chat, document, person = await with_values(live)
    await begin(client, chat, document, models=["small", "large"])
    await over(client, chat)
    running = person.start("import time; time.sleep(3)")
    manager = live.serverapp.kernel_manager.get_kernel(document.kernel_id)
    await tab.until(lambda: manager.execution_state == "busy")
    assert (await client.call("POST", f"chats/{chat}/branches/1/keep")).status == 409
    await client.call("DELETE", f"chats/{chat}/branches")
    await tab.until(lambda: not copies(live, document.kernel_id), SOON_SECONDS)
    assert not running.done()
    assert await running == "ok"
