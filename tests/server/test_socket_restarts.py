"""The server's process ends and comes back: chats go on, nothing waits for an answer (S26)."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_service import FakeService, held, json_body, text, tool_call
from server.live_process import TOKEN, ServerProcess
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

from cellwright.server.application import SLOW_THREADS

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
    # The process that would have written the end is gone: the page is told all the same.
    assert again.numbers == [(run, sequence + 1)]
    assert (await again.finished())["cause"] == "interrupted"
    state = again.states[chat]
    assert (state["phase"], state["approval"], state["run"]) == ("idle", "", "")
    answer = {"reason": "", "for_session": False, "call_id": call_id, "allowed": True}
    await again.send(type="answer", chat=chat, **answer)
    await again.until(again.errors)
    await again.ask(chat, "the third question", mode="ask")
    assert (await again.finished(2))["answer"] == "The last answer."
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
    await tab.ask(chat, "and then this")
    await tab.until(lambda: tab.states[chat]["queue"])
    assert process.stop() == 0
    await tab.closed()
    # Nothing of it began, and the page, which keeps it, was not told that it is gone.
    assert [item["prompt"] for item in tab.states[chat]["queue"]] == ["and then this"]
    process.start()
    await process.up()
    again = await process.tab(tab)
    await again.follow(chat)
    (end,) = again.of_kind("run_finished")
    assert end["status"] == "cancelled"
    assert "server is stopping" in end["reason"]
    await again.close()


BUSY = "import time; print('on', flush=True); time.sleep(60)"
QUESTIONS = ("chats", "usage", "memories", "runs", "library", "tools", "results", "assistants")


async def status_of(process: ServerProcess, path: str, **options: object) -> int:
    """What a request is answered with; 0: the server closed the line instead."""
    headers = {"Authorization": f"token {TOKEN}"}
    url = f"http://{process.address}/{path}"
    request = HTTPRequest(url, headers=headers, request_timeout=40, **options)  # type: ignore[arg-type]
    try:
        return (await AsyncHTTPClient(force_instance=True).fetch(request)).code
    except HTTPClientError as error:
        return int(error.code)
    except OSError:
        return 0


@pytest.mark.parametrize("hangs", [False, True], ids=["busy", "a service that hangs"])
async def test_13_6_what_is_asked_while_the_server_stops_is_told_so_without_a_traceback(
    tmp_path: Path, no_ollama: None, monkeypatch: pytest.MonkeyPatch, hangs: bool
) -> None:
    gate, models = threading.Event(), json_body({"data": []})
    process = ServerProcess(tmp_path)
    slow = held(models, gate, seconds=40)
    with FakeService(models=slow if hangs else models) as service:
        service.script = tool_call("run_cell", {"code": BUSY})
        for name, value in (("BASE_URL", service.base_url), ("API_KEY", "k"), ("MODEL", "m")):
            monkeypatch.setenv(f"CELLWRIGHT_{name}", value)
        try:
            process.start()
            await process.up()
            tab = await process.tab()
            for _ in range(3):
                chat = (await process.fetch("chats", method="POST", body="{}"))["id"]
                await tab.follow(chat)
                await tab.ask(chat, "work")
            async with asyncio.timeout(60):
                while len({each["cell_id"] for each in tab.of_kind("cell_output")}) < 3:
                    await asyncio.sleep(0.1)
            # More than there are threads, so that some wait for one when the server stops.
            paths = ["models"] * (SLOW_THREADS + 4) if hangs else ["service/test"] * 8
            bodies = {"service/test": {"method": "POST", "body": json.dumps({})}}
            asked = [
                asyncio.ensure_future(status_of(process, path, **bodies.get(path, {})))
                for path in (*paths, *QUESTIONS, f"chats/{chat}/messages")
            ]
            await asyncio.sleep(0.5)
            assert await asyncio.to_thread(process.stop) == 0
            gate.set()
            answers = await asyncio.gather(*asked)
        finally:
            gate.set()
            process.kill()
    log = (tmp_path / "server.log").read_text("utf-8")
    await tab.closed()
    assert "Traceback" not in log, log
    assert "never retrieved" not in log, log
    stopping = log.partition("received signal")[2]
    assert not re.search(r"^\[[WE] ", stopping, re.MULTILINE), stopping
    # 409: the service did not answer either.
    assert set(answers) <= {0, 200, 409, 503, 599}
    # Where nothing hangs, all may have been answered before the server was told to stop.
    assert 503 in answers or not hangs
