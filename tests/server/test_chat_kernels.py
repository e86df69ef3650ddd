"""Which kernels chats leave: none that is not listed, and none that nobody needs."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live

from cellwright.errors import SetupError
from cellwright.server import kernel_access
from cellwright.server.kernel_access import ServerKernels

pytestmark = [pytest.mark.server, pytest.mark.kernel]
CHATS = 20
QUICK = {
    "ServerApp": {"jpserver_extensions": {"cellwright": True}},
    "Cellwright": {"kernel_idle_seconds": 1.0},
}


def run_cell(code: str) -> Any:
    return tool_call("run_cell", {"code": code})


def kernels(live: Live) -> list[str]:
    """The kernels that run, for ``live.close`` too."""
    live.kernels[:] = live.serverapp.kernel_manager.list_kernel_ids()
    return list(live.kernels)


async def listed(live: Live) -> list[str]:
    """The kernels of the sessions that JupyterLab lists as running."""
    sessions = await live.serverapp.session_manager.list_sessions()
    return [session["kernel"]["id"] for session in sessions]


async def gone(live: Live) -> None:
    """Wait until no kernel is left."""
    deadline = time.monotonic() + 20
    while kernels(live) or await listed(live):
        assert time.monotonic() < deadline, "a kernel was left behind"
        await asyncio.sleep(0.05)


async def test_13_2_a_chat_of_a_closed_notebook_runs_nothing_and_says_so(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = run_cell("print('unseen')")
    tab, chat = await live.tab(), await live.chat("folder/closed.ipynb")
    await tab.follow(chat)
    refused = await tab.ask(chat, "go on")
    assert (refused["type"], refused["code"]) == ("error", "notebook_closed")
    assert "folder/closed.ipynb" in refused["message"]
    assert not kernels(live)
    assert not scripted.requests
    assert live.application.chats.run_ids(chat) == ()


async def test_13_2_questions_that_need_no_kernel_start_none(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = lambda request: (
        text("Nothing is defined.")
        if request.messages[-1]["role"] == "tool"
        else tool_call("list_variables", {})
    )(request)
    tab = await live.tab()
    for number in range(CHATS):
        chat = await live.chat()
        await tab.follow(chat)
        await tab.ask(chat, f"what is there? {number}", mode="plan")
    ended = await tab.finished(CHATS)
    assert (ended["status"], ended["answer"]) == ("completed", "Nothing is defined.")
    assert (kernels(live), await listed(live)) == ([], [])


async def test_13_2_the_kernel_of_a_chat_is_listed_and_goes_with_it(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [run_cell("x = 41"), text("a"), run_cell("print(x + 1)"), text("b")]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)
    await tab.ask(chat, "first")
    await tab.finished(1)
    (kernel,) = kernels(live)
    assert await listed(live) == [kernel]
    await tab.ask(chat, "second")
    assert (await tab.finished(2))["status"] == "completed"
    assert kernels(live) == await listed(live) == [kernel]
    shown = "".join(str(event["message"].get("text")) for event in tab.of_kind("cell_output"))
    assert "42" in shown
    application = live.application
    await asyncio.to_thread(application.chats.delete, chat)
    assert application.live is not None
    await asyncio.to_thread(application.live.chat_deleted, chat)
    await gone(live)


@pytest.mark.parametrize("jp_server_config", [QUICK])
async def test_13_2_a_kernel_that_nobody_uses_is_ended_and_the_model_is_told(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [
        run_cell("import time; x = 1; time.sleep(2.5)"),
        text("a"),
        run_cell("print('x' in globals())"),
        text("b"),
    ]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)
    await tab.ask(chat, "first")
    # The cell takes longer than a kernel may be idle: one that works is left alone.
    assert (await tab.finished(1))["status"] == "completed"
    await gone(live)
    await tab.ask(chat, "second")
    assert (await tab.finished(2))["status"] == "completed"
    assert "new kernel" in str(scripted.requests[2].messages)
    assert "False" in str(tab.of_kind("cell_output"))


@pytest.mark.parametrize("jp_server_config", [QUICK])
async def test_13_2_a_kernel_that_does_not_start_ends_the_run_with_the_reason(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.script = [run_cell("1")]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)
    monkeypatch.setattr(live.serverapp.kernel_manager, "default_kernel_name", "none-such")
    await tab.ask(chat, "run")
    ended = await tab.finished()
    assert (ended["status"], ended["cause"]) == ("task error", "kernel_died")
    assert "none-such" in ended["reason"]
    assert not kernels(live)


async def test_13_2_a_kernel_that_cannot_be_listed_is_ended(
    live: Live, scripted: FakeService, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripted.script = [run_cell("1")]
    tab, chat = await live.tab(), await live.chat()
    await tab.follow(chat)

    async def fail(**_: Any) -> None:
        raise RuntimeError("database is locked")

    monkeypatch.setattr(live.serverapp.session_manager, "create_session", fail)
    await tab.ask(chat, "run")
    assert "database is locked" in (await tab.finished())["reason"]
    assert not kernels(live)


class SlowKernels:
    """A server's kernels that take longer to start than anybody waits."""

    def __contains__(self, kernel_id: str) -> bool:
        return True

    async def start_kernel(self, path: str) -> str:
        await asyncio.sleep(60)
        return "late"

    async def restart_kernel(self, kernel_id: str) -> None:
        await asyncio.sleep(60)


async def test_how_long_was_waited_for_a_kernel_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel_access, "START_SECONDS", 1.0)
    slow = ServerKernels(SlowKernels(), asyncio.get_running_loop())
    for start in (lambda: slow.start("", "one"), lambda: slow.restart("one")):
        with pytest.raises(SetupError, match="it took longer than 1 s"):
            await asyncio.to_thread(start)
