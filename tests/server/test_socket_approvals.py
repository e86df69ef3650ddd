"""Approvals over the socket: who may answer, and what comes of the call (faults A21, S12, S13)."""

from __future__ import annotations

import asyncio
import json
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live
from server.live_tab import SOON_SECONDS, Document, TabClient, has_errors
from server_client import Client

from cellwright.external.commands import order, parse
from cellwright.external.source import open_outside
from cellwright.stopping import WorkerThread, join_threads

WAITED_SECONDS = 1.5
SAMPLE_SERVER = str(Path(__file__).parents[1] / "outside" / "mcp_sample_server.py")

pytestmark = [pytest.mark.server, pytest.mark.kernel]


def run_cell(code: str) -> Any:
    return tool_call("run_cell", {"code": code})


async def asked(tab: TabClient, chat: str) -> str:
    """The call that waits for the person."""
    state = await tab.phase(chat, "approval")
    assert state["approval"]
    return str(state["approval"])


async def answer(tab: TabClient, chat: str, call_id: str, *, allowed: bool, **more: Any) -> None:
    rest = {"reason": "", "for_session": False, **more}
    await tab.send(type="answer", chat=chat, call_id=call_id, allowed=allowed, **rest)


async def test_a_call_that_is_allowed_runs(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    assert not document.outputs
    await answer(tab, chat, call_id, allowed=True)
    assert (await tab.finished())["status"] == "completed"
    assert [output["text"] for outputs in document.outputs.values() for output in outputs] == [
        "ran\n"
    ]
    answered = tab.of_kind("approval_answered")[0]
    assert (answered["allowed"], answered["by"]) == (True, "person")
    assert tab.states[chat]["approval"] == ""


async def test_the_wait_for_an_answer_is_no_time_of_the_run_or_of_its_call(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    await asyncio.sleep(WAITED_SECONDS)
    await answer(tab, chat, call_id, allowed=True)
    ended = await tab.finished()
    (call,) = tab.of_kind("tool_finished")
    recorded = live.application.runs.events(tab.events[-1][0])
    times = {item.event.kind: item.time for item in recorded}
    waited = times["approval_answered"] - times["approval_asked"]
    assert waited >= WAITED_SECONDS
    # a little time passes before the clock of the run begins and after it has ended
    whole = times["run_finished"] - times["run_started"] - waited
    assert 0 < ended["duration_seconds"] < whole + WAITED_SECONDS / 2
    assert 0 < call["duration_seconds"] <= ended["duration_seconds"]
    (listed,) = (await client.call("GET", "runs")).json["runs"]
    assert listed["seconds"] == pytest.approx(ended["duration_seconds"])


async def test_a_call_that_is_refused_does_not_run_and_the_model_reads_why(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('ran')"), text("I see.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    await answer(tab, chat, call_id, allowed=False, reason="use the other table")
    assert (await tab.finished())["answer"] == "I see."
    assert not document.cells
    assert "use the other table" in scripted.requests[1].last_text


async def test_a_tool_that_is_allowed_for_the_session_is_not_asked_about_again(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("1"), run_cell("2"), text("a"), run_cell("3"), text("b")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "run three", mode="ask")
    await answer(tab, chat, await asked(tab, chat), allowed=True, for_session=True)
    await tab.finished(1)
    await tab.ask(chat, "once more", mode="ask")
    await tab.finished(2)
    assert len(tab.of_kind("approval_asked")) == 1
    assert len(tab.of_kind("cell_finished")) == 3


async def test_stop_ends_the_waiting_for_an_answer(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("1")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished())["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS
    await answer(tab, chat, call_id, allowed=True)
    await tab.wait("error")
    assert tab.errors() == ["gone"]


async def test_code_with_the_servers_token_cannot_approve_itself(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    for name in ("", tab.tab):
        intruder = await live.tab(name)
        await answer(intruder, chat, call_id, allowed=True)
        await intruder.until(intruder.errors)
        await intruder.send(type="drive", chat=chat, notebook=document.name)
        await intruder.until(partial(has_errors, intruder, 2))
        await answer(intruder, chat, call_id, allowed=True)
        await intruder.until(partial(has_errors, intruder, 3))
        assert intruder.errors() == ["not_driver", "driven", "not_driver"]
    bare = TabClient(await live.socket(), tab.tab, "guessed")
    await answer(bare, chat, call_id, allowed=True)
    await bare.until(bare.errors)
    assert bare.errors() == ["no_hello"]
    await bare.close()
    assert tab.states[chat]["phase"] == "approval"
    assert not document.outputs
    await answer(tab, chat, call_id, allowed=False)
    await tab.finished()


async def test_an_empty_nonce_is_nobodys(live: Live, scripted: FakeService) -> None:
    intruder = TabClient(await live.socket(), "tab", "")
    live.tabs.append(intruder)
    intruder.nonce = ""
    await intruder.send(type="hello", protocol=1, version="0", tab="tab", nonce="")
    await intruder.until(intruder.errors)
    assert intruder.errors() == ["bad_frame"]


async def test_the_asking_page_answers_after_its_connection_broke(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(tab, chat)
    await tab.close()
    again = await live.tab(tab.tab, tab.nonce)
    await again.open(document)
    await again.follow(chat)
    assert again.states[chat]["approval"] == call_id
    await answer(again, chat, call_id, allowed=True)
    assert (await again.finished())["status"] == "completed"


async def test_another_tab_takes_over_when_the_asking_one_is_gone(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, document = await live.ready()
    other = await live.tab("other")
    await other.follow(chat)
    await tab.ask(chat, "run it", mode="ask")
    call_id = await asked(other, chat)
    assert other.states[chat]["driver"] == tab.tab
    await answer(other, chat, call_id, allowed=True)
    assert "Only the tab that asked" in (await other.wait("error"))["message"]
    await tab.close()
    await other.until(lambda: other.states[chat]["driver"] == "")
    (listed,) = (await client.call("GET", "chats")).json
    assert listed["waits_for_answer"]
    await answer(other, chat, call_id, allowed=True)
    await other.until(lambda: len(other.errors()) == 2)
    refusals = [frame for frame in other.frames if frame["type"] == "error"]
    assert "is gone" in refusals[1]["message"]
    assert "Open the notebook" in refusals[1]["hint"]
    await other.send(type="drive", chat=chat, notebook="not open here")
    await other.until(lambda: len(other.errors()) == 3)
    await other.open(document)
    await other.send(type="drive", chat=chat, notebook=document.name)
    await other.until(lambda: other.states[chat]["driver"] == "other")
    await answer(other, chat, call_id, allowed=True)
    assert (await other.finished())["status"] == "completed"
    assert other.errors() == ["not_driver", "not_driver", "no_notebook"]
    (listed,) = (await client.call("GET", "chats")).json
    assert not listed["waits_for_answer"]
    assert "".join(document.text(cell) for cell in document.outputs) == "ran\n"


async def test_of_two_tabs_one_draws_and_both_see_and_both_can_stop(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("import time; time.sleep(30)"), text("b")]
    tab, chat, document = await live.ready()
    other = await live.tab("other")
    opened = document.attach
    await other.open(Document(str(opened["path"]), str(opened["kernel_id"])))
    await other.follow(chat)
    await tab.ask(chat, "sleep")
    await other.event("cell_started")
    assert (await other.ask(chat, "and then?"))["queued"]
    assert other.states[chat]["driver"] == tab.tab
    assert not [frame for frame in other.frames if frame["type"] == "request"]
    await other.send(type="stop", chat=chat)
    assert (await tab.finished())["status"] == "cancelled"
    await other.until(lambda: other.states[chat]["queue_paused"])
    await other.send(type="queue", chat=chat, id="", action="resume", prompt=None, position=None)
    await tab.finished(2)
    await other.until(lambda: tab.numbers == other.numbers)
    await tab.until(lambda: tab.states[chat]["driver"] == "other")


async def test_input_of_a_cell_is_typed_by_the_page_that_drives(
    live: Live, scripted: FakeService
) -> None:
    code = "name = input('Who? ')\nprint('hello', name)"
    scripted.script = [run_cell(code), text("Done.")]
    tab, chat, document = await live.ready()
    other = await live.tab()
    await tab.ask(chat, "ask me")
    state = await tab.phase(chat, "input")
    assert (state["input"]["prompt"], state["input"]["password"]) == ("Who? ", False)
    typed = {"type": "input", "chat": chat, "request": state["input"]["request"]}
    await other.send(**typed, value="Mallory")
    await other.until(other.errors)
    await tab.send(**typed | {"request": "another"}, value="Mallory")
    await tab.until(tab.errors)
    await tab.send(**typed, value="Ada")
    assert (await tab.finished())["status"] == "completed"
    assert (other.errors(), tab.errors()) == (["not_driver"], ["gone"])
    assert "hello Ada" in "".join(document.text(cell) for cell in document.outputs)
    assert tab.states[chat]["input"] is None


async def test_the_time_in_which_the_person_types_is_no_time_of_the_run(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("name = input('Who? ')"), text("Done.")]
    tab, chat, _ = await live.ready()
    began = time.monotonic()
    await tab.ask(chat, "ask me")
    request = (await tab.phase(chat, "input"))["input"]["request"]
    await asyncio.sleep(WAITED_SECONDS)
    await tab.send(type="input", chat=chat, request=request, value="Ada")
    finished = await tab.finished()
    took = time.monotonic() - began
    (cell,) = tab.of_kind("cell_finished")
    assert cell["execution"]["waited_seconds"] >= WAITED_SECONDS
    assert finished["duration_seconds"] <= took - WAITED_SECONDS
    assert cell["execution"]["duration_seconds"] <= finished["duration_seconds"]
    (tool,) = tab.of_kind("tool_finished")
    assert tool["duration_seconds"] <= finished["duration_seconds"]


async def test_stop_ends_the_waiting_for_input(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("import getpass; getpass.getpass('Word: ')")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "ask me")
    state = await tab.phase(chat, "input")
    assert state["input"]["password"]
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished())["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS
    assert (await tab.phase(chat, "idle"))["input"] is None


async def test_a_server_that_stops_while_a_call_waits_leaves_no_thread_of_ours(
    live: Live, scripted: FakeService
) -> None:
    before = set(threading.enumerate())
    scripted.script = [run_cell("print('ran')"), text("Done.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "run it", mode="ask")
    await asked(tab, chat)
    working = {t.name for t in threading.enumerate() if isinstance(t, WorkerThread)}
    assert working >= {f"cellwright-{name}" for name in ("run", "tab", "inbox", "expiry")}
    point = live.serverapp.extension_manager.extension_points["cellwright.server"]
    began = time.monotonic()
    await point.app.stop_extension()
    assert time.monotonic() - began < 3
    left = await asyncio.get_running_loop().run_in_executor(None, join_threads, 2.0)
    assert not set(left) - before


async def test_what_a_service_asks_is_put_to_the_person_and_not_recorded(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [tool_call("sample__book", {}), text("Booked.")]
    tab, chat, _ = await live.ready()
    shared = live.application
    words = ["connect", "sample", "--", sys.executable, SAMPLE_SERVER, "stdio"]

    def connect() -> None:
        order(parse(words), open_outside(shared.database, shared.settings()))

    await shared.in_thread(connect)
    await tab.ask(chat, "book a table", mode="auto")
    asking = await tab.until(partial(_asks, tab, chat, "Which table?"))
    assert asking["form"]["server"] == "sample"
    assert "Guests" in [field["title"] for field in asking["form"]["fields"]]
    content = {"guests": ["12"], "name": ["Ada Lovelace"], "email": ["a@b.example"]}
    value = json.dumps({"action": "accept", "content": content})
    await tab.send(type="input", chat=chat, request=asking["request"], value=value)
    request = asking["request"]
    asking = await tab.until(
        lambda: (found := _asks(tab, chat, "Which")) and found["request"] != request and found
    )
    assert "12 is greater than the maximum" in asking["form"]["problem"]
    value = json.dumps({"action": "cancel"})
    await tab.send(type="input", chat=chat, request=asking["request"], value=value)
    assert (await tab.finished())["status"] == "completed"
    assert tab.of_kind("tool_finished")[0]["message"]["parts"][0]["text"] == "cancel"
    assert tab.of_kind("tool_progress")[-1]["text"] == "sample asked something: cancelled"
    assert "Lovelace" not in str(shared.runs.events(tab.events[-1][0]))


def _asks(tab: TabClient, chat: str, words: str) -> Any:
    asked = tab.states[chat]["input"]
    return asked if asked is not None and words in asked["prompt"] else None


async def test_a_run_goes_on_in_a_notebook_that_was_closed_and_is_open_again(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("'one'"), run_cell("'two'"), text("Done.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "two steps", mode="ask")
    call_id = await asked(tab, chat)
    await tab.send(type="detach", notebook=document.name)
    del tab.documents[document.name]
    # JupyterLab opens it as another document.
    again = await tab.open(Document(document.path, document.kernel_id))
    await tab.send(type="drive", chat=chat, notebook=again.name)
    await answer(tab, chat, call_id, allowed=True, for_session=True)
    assert (await tab.finished())["status"] == "completed"
    assert again.sources == ["'one'", "'two'"]
