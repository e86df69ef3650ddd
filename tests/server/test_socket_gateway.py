"""Runs on a kernel behind a gateway: another server that speaks the same API (K33)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from jupyter_server.gateway.gateway_client import GatewayClient
from server.live_process import TOKEN, KernelGatewayProcess, ServerProcess
from server.live_server import Live
from server.live_tab import SOON_SECONDS
from server_client import Client

pytestmark = [pytest.mark.server, pytest.mark.kernel]


@pytest.fixture
def gateway(
    tmp_path: Path, jp_asyncio_loop: asyncio.AbstractEventLoop, request: pytest.FixtureRequest
) -> Iterator[ServerProcess]:
    process: ServerProcess = getattr(request, "param", ServerProcess)(tmp_path)
    process.start()
    jp_asyncio_loop.run_until_complete(process.up())
    yield process
    process.kill()
    GatewayClient.clear_instance()


@pytest.fixture
def jp_server_config(gateway: ServerProcess) -> dict[str, Any]:
    url = f"http://127.0.0.1:{gateway.port}{gateway.prefix}"
    return {
        "ServerApp": {"jpserver_extensions": {"cellwright": True}},
        "GatewayClient": {"url": url, "auth_token": TOKEN, "auth_scheme": "token"},
    }


async def test_cells_run_and_stop_and_ask_behind_a_gateway(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [
        tool_call("run_cell", {"code": "name = input('Who? ')\nprint('hello', name)\n1 / 0"}),
        text("Said."),
        tool_call("run_cell", {"code": "import time\nprint('on', flush=True)\ntime.sleep(60)"}),
        tool_call("run_cell", {"code": "print(name)"}),
        text("Kept."),
    ]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "greet")
    state = await tab.phase(chat, "input")
    asked = state["input"]["request"]
    await tab.send(type="input", chat=chat, request=asked, value="Ada")
    assert (await tab.finished(1))["answer"] == "Said."
    (cell_id,) = document.outputs
    assert "hello Ada" in document.text(cell_id)
    assert document.finished[cell_id]["error"]["ename"] == "ZeroDivisionError"
    await tab.ask(chat, "sleep")
    await tab.until(lambda: "on\n" in str(tab.of_kind("cell_output")[-1]["message"].get("text")))
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished(2))["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS
    await tab.ask(chat, "is it still there?")
    assert (await tab.finished(3))["answer"] == "Kept."
    assert tab.of_kind("cell_output")[-1]["message"]["text"] == "Ada\n"


@pytest.mark.skipif("sys.platform != 'linux'")
@pytest.mark.skipif(find_spec("kernel_gateway") is None, reason="jupyter_kernel_gateway is missing")
@pytest.mark.parametrize("gateway", [KernelGatewayProcess], indirect=True)
async def test_a_run_is_undone_in_a_kernel_behind_jupyters_kernel_gateway(
    live: Live, scripted: FakeService, client: Client, gateway: ServerProcess
) -> None:
    codes = (
        "rows = [1]; same = rows",
        "rows.clear(); more = 1",
        "print(rows, 'more' in globals())",
    )
    scripted.script = [
        said for code in codes for said in (tool_call("run_cell", {"code": code}), text("Done."))
    ]
    scripted.script += [tool_call("run_cell", {"code": "import time; time.sleep(60)"})]
    tab, chat, document = await live.ready()
    for number in (1, 2):
        await tab.ask(chat, "go on")
        assert (await tab.finished(number))["status"] == "completed"
    run_id = tab.numbers[-1][0]
    answer = await client.call("POST", f"kernels/{document.kernel_id}/undo", {"run": run_id})
    assert (answer.status, answer.json["is_undone"]) == (200, True)
    await tab.ask(chat, "look")
    assert (await tab.finished(3))["status"] == "completed"
    assert tab.of_kind("cell_output")[-1]["message"]["text"] == "[1] False\n"

    await tab.ask(chat, "sleep")
    await tab.event("cell_started", 4)
    began = time.monotonic()
    await tab.send(type="stop", chat=chat)
    assert (await tab.finished(4))["status"] == "cancelled"
    assert time.monotonic() - began < SOON_SECONDS
    manager = live.serverapp.kernel_manager
    await manager.restart_kernel(document.kernel_id)
    answer = await client.call("POST", f"kernels/{document.kernel_id}/undo", {"run": run_id})
    assert "no snapshot from before it is kept" in answer.json["message"]
    await manager.shutdown_kernel(document.kernel_id)
    assert gateway.children() == []


async def test_a_message_with_buffers_does_not_end_the_connection(
    live: Live, scripted: FakeService
) -> None:
    code = (
        "kernel = get_ipython().kernel\nprint('before', flush=True)\n"
        "opened = {'comm_id': 'one', 'target_name': 'none', 'data': {}}\n"
        "kernel.session.send(kernel.iopub_socket, 'comm_open', opened, "
        "parent=kernel.get_parent('shell'), buffers=[bytes([128, 129])])\nprint('after')"
    )
    scripted.script = [tool_call("run_cell", {"code": code}), text("Said.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "send it")
    assert (await tab.finished())["answer"] == "Said."
    assert [document.text(cell) for cell in document.outputs] == ["before\nafter\n"]


async def test_a_gateway_that_ends_ends_the_run_and_the_chat_goes_on(
    live: Live, scripted: FakeService, gateway: ServerProcess
) -> None:
    scripted.script = [tool_call("run_cell", {"code": "import time; time.sleep(60)"}), text("So.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    gateway.kill()
    live.kernels.clear()
    await tab.event("cell_finished")
    await tab.phase(chat, "idle")
    assert tab.of_kind("cell_finished")[0]["execution"]["status"] in ("aborted", "died")
    await tab.ask(chat, "again")
    assert (await tab.wait("error"))["code"] == "setup"
    # Ending a server whose gateway is gone fails, unless it knows of no kernel.
    live.serverapp.kernel_manager.remove_kernel(document.kernel_id)
