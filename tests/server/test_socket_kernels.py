"""The kernel of a run: busy, dead, restarted, changed, asked (K15, K16, K31, K32)."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from signal import SIGKILL
from typing import Any

import pytest
from fake_service import FakeService, after, text, tool_call
from server.live_server import Live
from server.live_tab import SOON_SECONDS, Document

from cellwright.errors import KernelError, KernelNotReadyError, SetupError
from cellwright.record.outputs import VariableSummary
from cellwright.server.kernel_access import open_kernels

pytestmark = [pytest.mark.server, pytest.mark.kernel]


QUICK_RESTARTS = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}},
    "KernelRestarter": {"time_to_dead": 0.2},
}


def run_cell(code: str, **more: Any) -> Any:
    return tool_call("run_cell", {"code": code, **more})


async def test_the_persons_cell_is_waited_for_and_never_interrupted(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("print(own)"), text("Done.")]
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    running = person.start("import time; time.sleep(2.5); own = 'kept'")
    await asyncio.sleep(0.3)
    await tab.ask(chat, "print it")
    await tab.phase(chat, "kernel_busy")
    await tab.finished()
    assert await running == "ok"
    assert "".join(document.text(cell) for cell in document.outputs) == "kept\n"


async def test_stop_while_the_kernel_is_busy_leaves_the_persons_cell_alone(
    live: Live, scripted: FakeService
) -> None:
    tab, chat, document = await live.ready()
    person = await live.person(document.kernel_id)
    running = person.start("import time; time.sleep(3)")
    await asyncio.sleep(0.3)
    await tab.ask(chat, "do something")
    await tab.phase(chat, "kernel_busy")
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    await tab.phase(chat, "idle")
    assert time.monotonic() - began < SOON_SECONDS
    assert await running == "ok"
    assert not scripted.requests


async def test_a_restart_ends_the_run_and_the_chat_goes_on_in_the_new_kernel(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [
        run_cell("import time\nprint('on', flush=True)\ntime.sleep(60)"),
        run_cell("print('again')"),
        text("Done."),
    ]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_output")
    await live.serverapp.kernel_manager.restart_kernel(document.kernel_id)
    end = await tab.finished(1)
    assert (end["status"], end["cause"]) == ("task error", "kernel_restarted")
    await tab.ask(chat, "go on")
    assert (await tab.finished(2))["status"] == "completed"
    assert "new kernel" in str(scripted.requests[1].messages)


async def test_a_kernel_that_is_killed_ends_the_run(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("import time; time.sleep(60)")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    await live.serverapp.kernel_manager.get_kernel(document.kernel_id).signal_kernel(SIGKILL)
    end = await tab.finished()
    assert end["cause"] in ("kernel_died", "kernel_restarted")
    await tab.phase(chat, "idle")


async def test_a_kernel_that_is_shut_down_ends_the_run(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("import time; time.sleep(60)")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    await live.serverapp.kernel_manager.shutdown_kernel(document.kernel_id, now=True)
    assert (await tab.finished())["cause"] == "kernel_died"


@pytest.mark.parametrize("jp_server_config", [QUICK_RESTARTS])
async def test_a_kernel_that_dies_at_every_start_is_said_and_ends_the_waiting(
    live: Live, scripted: FakeService, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "broken"
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "10-broken.py").write_text(
        f"import os\nif os.path.exists({str(broken)!r}):\n    os._exit(3)\n"
    )
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    scripted.script = [run_cell("import time; time.sleep(60)")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    broken.touch()
    manager = live.serverapp.kernel_manager
    await manager.get_kernel(document.kernel_id).signal_kernel(SIGKILL)
    assert (await tab.finished())["cause"] in ("kernel_died", "kernel_restarted")
    await tab.phase(chat, "idle")
    asked = 1
    while document.kernel_id in manager:
        # Until the server gives the kernel up every question ends, and says why.
        asked += 1
        await tab.ask(chat, "again")
        await tab.phase(chat, "idle")
        await asyncio.sleep(0.1)
    live.kernels.clear()
    await tab.ask(chat, "at last")
    said = await tab.until(lambda: e if (e := tab.last("error")) and "no running" in str(e) else 0)
    assert said["hint"] == "Start the kernel, then ask again."
    assert 1 < asked < 30
    assert len(scripted.requests) == 1


@pytest.mark.parametrize("kernel_id", ["", "unknown"])
async def test_no_kernel_is_said_with_what_to_do(live: Live, kernel_id: str) -> None:
    tab, chat = await live.tab(), await live.chat()
    await tab.open(Document("work.ipynb", kernel_id))
    await tab.follow(chat)
    await tab.ask(chat, "hello", model="cellwright-demo")
    refused = await tab.wait("error")
    assert (refused["code"], refused["hint"]) == ("setup", "Start the kernel, then ask again.")
    await tab.phase(chat, "idle")


async def test_a_notebook_that_gets_another_kernel_is_followed_at_the_next_question(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("x = 1"), text("a"), run_cell("print('x' in dir())"), text("b")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "first")
    await tab.finished(1)
    document.kernel_id = await live.kernel()
    await tab.send(**document.attach)
    await tab.ask(chat, "second")
    await tab.finished(2)
    assert [event["message"]["text"] for event in tab.of_kind("cell_output")] == ["False\n"]


async def test_a_cell_gets_more_time_when_the_person_says_so(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("import time; time.sleep(2.5)", timeout_seconds=1.5), text("Ok.")]
    tab, chat, document = await live.ready()
    other = await live.tab()
    await tab.send(type="extend", chat=chat, seconds=60)
    await tab.until(tab.errors)
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    await other.send(type="extend", chat=chat, seconds=60)
    await tab.send(type="extend", chat=chat, seconds=-1)
    await tab.send(type="extend", chat=chat, seconds=60)
    await tab.finished()
    assert [cell["status"] for cell in document.finished.values()] == ["ok"]
    assert (tab.errors(), other.errors()) == (["not_driver", "bad_frame"], ["not_driver"])


async def in_thread(call: Any, *arguments: Any) -> Any:
    return await asyncio.get_running_loop().run_in_executor(None, call, *arguments)


async def test_variables_are_told_of_a_kernel_that_is_free(live: Live) -> None:
    kernels = open_kernels(await live.load())
    kernel_id = await live.kernel()
    person = await live.person(kernel_id)
    await person.run("table = [1, 2, 3]")
    found = await in_thread(kernels.variables, kernel_id)
    assert [item.name for item in found] == ["table"]
    assert isinstance(found[0], VariableSummary)
    assert "list of 3" in await in_thread(kernels.variable, kernel_id, "table")
    with pytest.raises(SetupError, match="nothing"):
        await in_thread(kernels.variable, kernel_id, "nothing")
    with pytest.raises(KernelError, match="no running kernel"):
        await in_thread(kernels.variables, "unknown")
    running = person.start("import time; time.sleep(1)")
    await asyncio.sleep(0.3)
    with pytest.raises(KernelNotReadyError, match="busy"):
        await in_thread(kernels.variables, kernel_id)
    assert await running == "ok"


async def test_a_deleted_chats_kernel_ends_with_it(live: Live, scripted: FakeService) -> None:
    scripted.script = [run_cell("1"), after(text("late"), 20.0)]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)
    await tab.ask(chat, "run")
    await tab.event("cell_finished")
    assert live.application.live is not None
    assert live.application.live.is_busy
    assert live.application.live.running(chat) == tab.events[0][0]
    await in_thread(live.application.chats.delete, chat)
    await in_thread(live.application.live.chat_deleted, chat)
    assert (await tab.wait("chat_deleted"))["chat"] == chat
    await tab.until(lambda: not live.serverapp.kernel_manager.list_kernel_ids())
    assert live.application.live.running(chat) == ""
    assert not live.application.live.is_busy
    await tab.ask(chat, "again")
    assert tab.errors() == ["not_found"]
