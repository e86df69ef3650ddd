"""The server's process ends and comes back: chats go on, nothing waits for an answer (S26)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import FakeService, text, tool_call
from server.live_process import ServerProcess

pytestmark = [pytest.mark.server, pytest.mark.kernel]


@pytest.fixture
def process(tmp_path: Path, scripted: FakeService, no_ollama: None) -> Iterator[ServerProcess]:
    process = ServerProcess(tmp_path)
    yield process
    process.kill()


async def test_a_killed_server_comes_back_with_the_chat_and_an_interrupted_run(
    process: ServerProcess, scripted: FakeService
) -> None:
    scripted.script = [
        text("The first answer."),
        tool_call("run_cell", {"code": "1"}),
        text("The last answer."),
    ]
    process.start()
    await process.up()
    chat = (await process.fetch("chats", method="POST", body='{"notebook_path": ""}'))["id"]
    tab = await process.tab()
    await tab.follow(chat)
    await tab.ask(chat, "the first question")
    await tab.finished()
    await tab.ask(chat, "the second question", mode="ask")
    call_id = (await tab.phase(chat, "approval"))["approval"]
    process.kill()
    await tab.closed()
    process.start()
    await process.up()
    again = await process.tab(tab)
    assert again.last("welcome") != tab.last("welcome")
    run, sequence = tab.numbers[-1]
    await again.follow(chat, {"run": run, "sequence": sequence})
    assert again.numbers == []
    state = again.states[chat]
    assert (state["phase"], state["approval"], state["run"]) == ("idle", "", "")
    answer = {"reason": "", "for_session": False, "call_id": call_id, "allowed": True}
    await again.send(type="answer", chat=chat, **answer)
    await again.until(again.errors)
    await again.ask(chat, "the third question", mode="ask")
    assert (await again.finished())["answer"] == "The last answer."
    assert again.errors() == ["not_driver"]
    assert not again.of_kind("cell_started")
    said = str(scripted.requests[-1].messages)
    assert said.index("The first answer.") < said.index("the second question")
    assert said.index("the second question") < said.index("the third question")
    await again.close()
    assert process.stop() == 0


async def test_a_server_that_is_stopped_ends_its_runs_in_order(
    process: ServerProcess, scripted: FakeService
) -> None:
    scripted.script = [tool_call("run_cell", {"code": "import time; time.sleep(60)"})]
    process.start()
    await process.up()
    chat = (await process.fetch("chats", method="POST", body='{"notebook_path": ""}'))["id"]
    tab = await process.tab()
    await tab.follow(chat)
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    assert process.stop() == 0
    await tab.closed()
    process.start()
    await process.up()
    again = await process.tab(tab)
    await again.follow(chat)
    (end,) = again.of_kind("run_finished")
    assert end["status"] == "cancelled"
    assert "server is stopping" in end["reason"]
    await again.close()
