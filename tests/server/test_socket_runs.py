"""Runs over the socket: prompts in, events, cells and answers out, on a real kernel."""

from __future__ import annotations

import asyncio
import base64
import shutil
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from fake_answers import Request, Wire
from fake_service import FakeService, after, error, held, text, tool_call
from locked_records import locked
from server.live_server import Live
from server.live_tab import SOON_SECONDS, Document

from cellwright.server import chat_session
from cellwright.server.service_routes import service_state
from cellwright.server.tab import Outbox
from cellwright.tools import cell_running

DOT = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c49444154"
        "789c6360f8cf00000201010018dd8db00000000049454e44ae426082"
    )
).decode()

pytestmark = [pytest.mark.server, pytest.mark.kernel]


def run_cell(code: str, **arguments: Any) -> Any:
    return tool_call("run_cell", {"code": code, **arguments})


async def test_a_prompt_becomes_cells_that_run_and_an_answer(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("x = 6 * 7\nprint(x)"), text("It is 42.")]
    tab, chat, document = await live.ready("a = 1")
    accepted = await tab.ask(chat, "what is six times seven?")
    assert accepted == {**accepted, "type": "accepted", "queued": False}
    end = await tab.finished()
    assert (end["status"], end["answer"]) == ("completed", "It is 42.")
    (cell_id,) = [cell for cell in document.cells if not cell.startswith("own-")]
    assert document.cells[cell_id]["source"] == "x = 6 * 7\nprint(x)"
    assert document.text(cell_id) == "42\n"
    assert document.finished[cell_id]["status"] == "ok"
    state = await tab.phase(chat, "idle")
    assert state["title"] == "what is six times seven?"
    assert state["notebook_path"] == "work.ipynb"
    assert state["context_tokens"] > 0
    assert [event["kind"] for event in tab.of_kind("state_captured")] == ["state_captured"]
    assert set(tab.of_kind("model_asked")[0]) == {"kind", "step"}


async def test_a_prompt_is_accepted_before_its_run_begins(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page that hears of the run first would show the prompt as being sent for ever."""
    order: list[str] = []
    send, work_on = Outbox.send, chat_session.ChatSession._work_on

    def send_noted(outbox: Outbox, frame: Any) -> None:
        order.append(frame.type)
        send(outbox, frame)

    def work_on_noted(session: chat_session.ChatSession) -> None:
        order.append("may begin")
        work_on(session)

    monkeypatch.setattr(Outbox, "send", send_noted)
    monkeypatch.setattr(chat_session.ChatSession, "_work_on", work_on_noted)
    scripted.script = [text("Yes."), text("A summary.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "hello")
    await tab.finished()
    await tab.phase(chat, "idle")
    await tab.send(type="compact", chat=chat, request="c")
    await tab.until(lambda: order.count("accepted") == 2)
    assert [each for each in order if each in ("accepted", "may begin")] == [
        *("accepted", "may begin"),
        *("accepted", "may begin"),
    ]


async def test_the_demo_model_answers_without_any_key(live: Live) -> None:
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "what can you do?", model="cellwright-demo")
    assert (await tab.finished())["status"] == "completed"


async def test_phases_are_told_as_they_come(live: Live, scripted: FakeService) -> None:
    # A phase that is over at once need not be told: each of these takes its time.
    slow = after(run_cell("import time; time.sleep(0.4)"), 0.4)
    scripted.script = [slow, text("Done.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "wait a moment")
    await tab.finished()
    await tab.phase(chat, "idle")
    phases = [f["state"]["phase"] for f in tab.frames if f["type"] == "chat"]
    seen = list(dict.fromkeys(phases))
    assert seen[0] == "idle"
    assert [phase for phase in seen if phase in ("starting", "model", "tool")] == [
        "starting",
        "model",
        "tool",
    ]
    runs = {f["state"]["run"] for f in tab.frames if f["type"] == "chat"}
    assert runs == {"", tab.events[0][0]}


async def test_a_chat_without_a_notebook_has_a_kernel_of_its_own(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("kept = 5"), text("a"), run_cell("print(kept + 1)"), text("b")]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)
    await tab.ask(chat, "first")
    await tab.finished(1)
    await tab.ask(chat, "second")
    await tab.finished(2)
    assert [event["message"]["text"] for event in tab.of_kind("cell_output")] == ["6\n"]
    assert len(live.serverapp.kernel_manager.list_kernel_ids()) == 1


async def test_a_tab_that_comes_back_gets_what_it_missed_and_nothing_twice(
    live: Live, scripted: FakeService
) -> None:
    code = "import time\nfor number in range(8):\n    print(number, flush=True); time.sleep(0.2)"
    scripted.script = [run_cell(code), text("Counted.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "count")
    await tab.event("cell_output", 2)
    await tab.close()
    seen = list(tab.numbers)
    again = await live.tab(tab.tab, tab.nonce)
    await again.open(document)
    run, sequence = seen[-1]
    await again.follow(chat, {"run": run, "sequence": sequence})
    await again.finished()
    everything = seen + again.numbers
    assert everything == [(run, number) for number in range(1, len(everything) + 1)]
    assert "".join(m["text"] for m in next(iter(document.outputs.values()))) == "".join(
        f"{number}\n" for number in range(8)
    )


async def test_closing_every_tab_stops_nothing(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("import time; time.sleep(0.5); done = True"), text("Ready.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "work on")
    await tab.event("cell_started")
    await tab.close()
    late = await live.tab()
    await late.open(document)
    await late.follow(chat)
    assert (await late.finished())["status"] == "completed"
    assert late.states[chat]["driver"] == ""


async def test_a_queue_is_worked_off_in_order_and_can_be_changed(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(text("one"), gate), *(text("more") for _ in range(3))]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "first")
    for prompt in ("second", "third", "fourth", "fifth"):
        assert (await tab.ask(chat, prompt))["queued"]
    state = await tab.until(lambda: s if len((s := tab.states[chat])["queue"]) == 4 else None)
    ids = {item["prompt"]: item["id"] for item in state["queue"]}
    change = {"type": "queue", "chat": chat, "prompt": None, "position": None}
    await tab.send(**change | {"id": ids["second"], "action": "remove"})
    await tab.send(**change | {"id": ids["third"], "action": "edit", "prompt": "third, changed"})
    await tab.send(**change | {"id": ids["fifth"], "action": "move", "position": 0})
    await tab.send(**change | {"id": "no such", "action": "remove"})
    await tab.handled()
    gate.set()
    await tab.finished(4)
    prompts = [event["prompt"] for event in tab.of_kind("run_started")]
    assert prompts == ["first", "fifth", "third, changed", "fourth"]
    assert tab.errors() == ["gone"]


async def test_a_waiting_prompt_that_another_tab_changes_keeps_its_notebook(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(text("one"), gate), run_cell("print(1)"), text("two"), text("three")]
    tab, chat, document = await live.ready()
    with_it, without = await live.tab("with it"), await live.tab("without")
    shown = await with_it.open(Document(document.path, document.kernel_id))
    await with_it.follow(chat)
    await without.follow(chat)
    await tab.ask(chat, "first")
    for prompt in ("second", "third"):
        await tab.ask(chat, prompt)
    state = await tab.until(lambda: s if len((s := tab.states[chat])["queue"]) == 2 else None)
    change = {"type": "queue", "chat": chat, "action": "edit", "position": None}
    for page, item in zip((with_it, without), state["queue"], strict=True):
        await page.send(**change, id=item["id"], prompt=item["prompt"] + ", changed")
        await page.handled()
    gate.set()
    await tab.finished(3)
    confirmed = [f for f in with_it.frames if f.get("operation") == "confirm"]
    assert [frame["notebook"] for frame in confirmed] == [shown.name]
    runs = [live.application.runs.record(run) for run in live.application.chats.run_ids(chat)]
    assert [run.prompt for run in runs] == ["first", "second, changed", "third, changed"]
    assert {run.notebook_path for run in runs} == {document.path}
    assert tab.states[chat]["driver"] == tab.tab


async def test_the_queue_waits_after_a_failure_until_it_is_told_to_go_on(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(error(401, "wrong key"), gate), text("two"), text("three")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "first")
    await tab.ask(chat, "second")
    await tab.ask(chat, "third")
    gate.set()
    assert (await tab.finished(1))["status"] == "task error"
    state = await tab.until(lambda: s if (s := tab.states[chat])["queue_paused"] else None)
    assert [item["prompt"] for item in state["queue"]] == ["second", "third"]
    await tab.send(type="queue", chat=chat, id="", action="resume", prompt=None, position=None)
    await tab.finished(3)
    assert not tab.states[chat]["queue_paused"]


async def test_a_prompt_that_cannot_begin_while_its_page_is_away_waits_for_the_person(
    live: Live, scripted: FakeService
) -> None:
    gate = threading.Event()
    scripted.script = [held(text("one"), gate), text("two")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "first")
    assert (await tab.ask(chat, "second"))["queued"]
    await tab.phase(chat, "model")
    await tab.close()
    await live.serverapp.kernel_manager.shutdown_kernel(document.kernel_id, now=True)
    watching = await live.tab()
    await watching.follow(chat)
    gate.set()
    state = await watching.until(
        lambda: s if (s := watching.states[chat])["queue_paused"] else None
    )
    assert [item["prompt"] for item in state["queue"]] == ["second"]
    back = await live.tab(tab.tab, tab.nonce)
    document.kernel_id = await live.kernel()
    await back.open(document)
    await back.follow(chat)
    await back.send(type="queue", chat=chat, id="", action="resume", prompt=None, position=None)
    assert (await back.finished(2))["answer"] == "two"


async def test_asking_instead_stops_what_runs(live: Live, scripted: FakeService) -> None:
    scripted.script = [after(text("late"), 20.0), text("now")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "slow")
    await tab.phase(chat, "model")
    await tab.until(lambda: scripted.requests)
    began = time.monotonic()
    assert not (await tab.ask(chat, "quick", instead=True))["queued"]
    end = await tab.finished(2)
    assert time.monotonic() - began < SOON_SECONDS
    assert [event["status"] for event in tab.of_kind("run_finished")] == ["cancelled", "completed"]
    assert end["answer"] == "now"


async def test_a_waiting_prompt_can_be_sent_now(live: Live, scripted: FakeService) -> None:
    scripted.script = [after(text("late"), 20.0), text("now"), text("then")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "slow")
    await tab.phase(chat, "model")
    await tab.until(lambda: scripted.requests)
    await tab.ask(chat, "waits")
    await tab.ask(chat, "urgent")
    state = await tab.until(lambda: s if len((s := tab.states[chat])["queue"]) == 2 else None)
    urgent = state["queue"][1]["id"]
    await tab.send(
        type="queue", chat=chat, id=urgent, action="send_now", prompt=None, position=None
    )
    await tab.finished(3)
    prompts = [event["prompt"] for event in tab.of_kind("run_started")]
    assert prompts == ["slow", "urgent", "waits"]


async def test_stop_acts_while_the_model_is_silent(live: Live, scripted: FakeService) -> None:
    scripted.script = [after(text("late"), 20.0)]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "slow")
    await tab.phase(chat, "model")
    await tab.until(lambda: scripted.requests)
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished())["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS


async def test_stop_interrupts_a_cell(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("import time\nprint('on', flush=True)\ntime.sleep(60)")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_output")
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished())["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS
    (ended,) = document.finished.values()
    # The traceback names the cell by this number.
    assert (ended["status"], ended["execution_count"]) == ("interrupted", 1)


async def test_the_conversation_goes_on_after_a_stop(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("1"), after(text("late"), 20.0), text("Here I am.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "the first question")
    await tab.until(lambda: len(scripted.requests) == 2)
    await tab.send(type="stop", chat=chat)
    await tab.finished(1)
    await tab.ask(chat, "the second question")
    assert (await tab.finished(2))["answer"] == "Here I am."
    said = str(scripted.requests[-1].messages)
    assert "the first question" in said
    assert "the second question" in said


async def test_a_service_that_cannot_be_used_is_told_and_the_chat_goes_on(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.script = [text("Fine.")]
    tab, chat, _ = await live.ready()
    monkeypatch.setenv("CELLWRIGHT_BASE_URL", "nonsense")
    await tab.ask(chat, "hello")
    refused = await tab.wait("error")
    assert (refused["code"], refused["chat"]) == ("setup", chat)
    assert "'nonsense'" in refused["message"]
    await tab.phase(chat, "idle")
    monkeypatch.setenv("CELLWRIGHT_BASE_URL", scripted.base_url)
    await tab.ask(chat, "hello again")
    assert (await tab.finished())["answer"] == "Fine."


async def test_what_the_person_put_beside_the_prompt_reaches_the_model(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CELLWRIGHT_MODEL", "gpt-5-scripted")  # one that sees
    scripted.script = [text("Seen.")]
    tab, chat, _ = await live.ready("table = [1, 2]\nlast_line = 3")
    stored = live.application.uploads.store(b"a,b\n1,2\n", "sales.csv")
    dot = live.application.uploads.store(base64.b64decode(DOT), "dot.png")
    context = [
        {"kind": "cell", "cell_id": "own-0", "text": "table = [1, 2]"},
        {"kind": "file", "file": stored.file, "name": "sales.csv"},
        {"kind": "file", "file": dot.file, "name": "dot.png"},
    ]
    await tab.ask(chat, "look", context=context)
    await tab.finished()
    said = str(scripted.requests[0].messages)
    assert "cell own-0" in said
    assert "last_line = 3" in said, "of a cell all of it, not the line that is shown"
    assert "a,b" in said
    assert f"data:image/png;base64,{DOT}" in said
    assert "sales.csv" in said
    (started,) = tab.of_kind("run_started")
    assert started["file_names"] == ["sales.csv", "dot.png"]


async def test_outputs_reach_the_tab_without_secrets(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "-".join(["very", "secret", "word", "4711"])
    monkeypatch.setenv("SOME_API_KEY", secret)
    scripted.script = [run_cell(f"print('{secret[:9]}' + '{secret[9:]}')"), text("Done.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "print it")
    await tab.finished()
    assert "redacted" in str(tab.of_kind("cell_output"))
    assert secret not in str(tab.frames)


async def test_no_frame_holds_the_key(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "-".join(["sk", "svcacct", "7be0d2c94f1a6385"])
    monkeypatch.setenv("CELLWRIGHT_API_KEY", key)
    look = f"key = '{key[:9]}' + '{key[9:]}'\nprint('it is', key)\nraise ValueError(key)"
    scripted.script = [
        run_cell(look),
        text(f"The key is {key}."),
        error(401, f"Incorrect API key provided: {key}"),
    ]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, f"what is {key}?")
    await tab.finished(1)
    await tab.ask(chat, "and now?")
    await tab.finished(2)
    assert "it is" in str(tab.of_kind("cell_output"))
    assert tab.of_kind("run_finished")[1]["status"] != "completed"
    assert [frame for frame in tab.frames if key in str(frame)] == []


async def test_a_refusal_does_not_hold_the_password_of_the_services_address(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    password = "-".join(["pass", "phrase", "77"])
    monkeypatch.setenv("CELLWRIGHT_MODEL", "")
    tab, chat, _ = await live.ready()
    with FakeService(models=("one", "another")) as service:
        url = service.base_url.replace("//", f"//svc:{password}@")
        monkeypatch.setenv("CELLWRIGHT_BASE_URL", url)
        await tab.ask(chat, "hello")
        refused = await tab.wait("error")
    assert "No model is named for" in refused["message"]
    assert [frame for frame in tab.frames if password in str(frame)] == []


async def test_a_run_whose_thread_does_not_react_to_stop_is_let_go(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    """13.13: whatever holds it up; here reading the outputs does."""
    monkeypatch.setattr(chat_session, "LET_GO_SECONDS", 0.5)
    reads, may_end = threading.Event(), threading.Event()

    def read_for_ever(_messages: Any) -> Any:
        reads.set()
        may_end.wait(30)
        return ()

    scripted.script = [run_cell("print('seen')"), text("never said")]
    tab, chat, document = await live.ready("a = 1")
    with monkeypatch.context() as held_up:
        held_up.setattr(cell_running, "fold", read_for_ever)
        await tab.ask(chat, "do it")
        await tab.until(reads.is_set)
        await tab.send(type="stop", chat=chat)
        end = await tab.finished()
    assert (end["status"], end["cause"]) == ("cancelled", "stopped")
    assert "let go" in end["reason"]
    await tab.phase(chat, "idle")
    scripted.script = [run_cell("print('again')"), text("Here I am.")]
    await tab.ask(chat, "and now?")
    assert (await tab.finished(2))["answer"] == "Here I am."
    events = len(tab.events)
    may_end.set()
    await asyncio.sleep(0.5)
    await tab.handled()
    assert len(tab.events) == events  # what wakes up says nothing any more
    runs = (await live.load()).runs
    first = runs.record(tab.events[0][0])
    assert (first.status, first.cause) == ("cancelled", "stopped")


async def test_what_is_asked_instead_of_a_run_that_does_not_react_begins_when_that_is_let_go(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_session, "LET_GO_SECONDS", 0.5)
    reads, may_end = threading.Event(), threading.Event()

    def read_for_ever(_messages: Any) -> Any:
        reads.set()
        may_end.wait(30)
        return ()

    scripted.script = [run_cell("print('seen')"), text("Here I am."), text("I, too.")]
    tab, chat, _ = await live.ready()
    monkeypatch.setattr(cell_running, "fold", read_for_ever)
    await tab.ask(chat, "do it")
    await tab.until(reads.is_set)
    await tab.ask(chat, "wait for it")
    await tab.ask(chat, "never mind", instead=True)
    assert (await tab.finished(3))["answer"] == "I, too."
    prompts = [event["prompt"] for event in tab.of_kind("run_started")]
    assert prompts == ["do it", "never mind", "wait for it"]
    may_end.set()


def home_of(live: Live) -> Path:
    path = live.application.database.path
    assert path is not None
    return path.parent


async def test_a_home_that_is_deleted_in_a_run_is_said_and_the_chat_goes_on(
    live: Live, scripted: FakeService
) -> None:
    def delete(request: Request) -> Wire:
        shutil.rmtree(home_of(live))
        return text("It is 42.")(request)

    scripted.script = [run_cell("x = 6 * 7\nprint(x)"), delete, text("I said 42.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "what is six times seven?")
    assert (await tab.finished())["status"] == "completed"
    assert "store_lost" in [event["code"] for event in tab.of_kind("notice")]
    await tab.phase(chat, "idle")
    store, run = live.application.runs, tab.events[0][0]
    assert store.storage(run).problem == ""
    record = store.record(run)
    assert (record.status, record.prompt) == ("completed", "what is six times seven?")
    assert [summary.status for summary in store.list()] == ["completed"]
    assert live.application.chats.run_ids(chat) == (run,)
    await tab.ask(chat, "what did you say?")
    assert (await tab.finished(2))["answer"] == "I said 42."


async def test_the_service_says_that_a_locked_record_is_not_written_and_when_it_is_again(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [text("Hello.")]
    tab, chat, _ = await live.ready()
    with locked(home_of(live) / "runs.sqlite"):
        await tab.ask(chat, "hello")
        await tab.finished()
        assert "store_locked" in [event["code"] for event in tab.of_kind("notice")]
        assert service_state(live.application).recording is False
        run = tab.events[0][0]
        assert "not on disk" in live.application.runs.storage(run, 0).problem
    until = time.monotonic() + 20
    while not service_state(live.application).recording and time.monotonic() < until:
        time.sleep(0.1)
    assert service_state(live.application).recording is True
    assert live.application.runs.storage(run).problem == ""
