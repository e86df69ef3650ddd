"""The variables of a running kernel, over the wire."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest
from server_client import Client

from cellwright.errors import KernelDiedError, KernelNotReadyError, SetupError
from cellwright.record.outputs import VariableSummary
from cellwright.server.application import THREADS, Application

pytestmark = pytest.mark.server

SECRET = "".join(["hunter2", "hunter2", "hunter2"])


class KnownKernels:
    """A server's kernels of which one is known."""

    def __contains__(self, kernel_id: str) -> bool:
        return kernel_id == "known"


class ScriptedAccess:
    """Answers as it was told to."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def variables(self, kernel_id: str) -> Sequence[VariableSummary]:
        return self._answered()

    def variable(self, kernel_id: str, name: str) -> str:
        return f"{name}: {self._answered()}"

    def go_back(self, kernel_id: str, run_id: str, kept: int, step: int) -> Any:
        return self._answered()

    def files_before(self, kernel_id: str, run_id: str, step: int) -> Any:
        return self._answered()

    def put_files_back(self, kernel_id: str, run_id: str, step: int) -> Any:
        return self._answered()

    def snapshots(self, kernel_id: str, *, measured: bool) -> Any:
        return self._answered()

    def forget_snapshots(self, kernel_id: str) -> Any:
        return self._answered()

    def _answered(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


@pytest.fixture
def known(shared: Application, jp_serverapp: Any) -> None:
    jp_serverapp.web_app.settings["kernel_manager"] = KnownKernels()


@pytest.mark.usefixtures("known")
class TestAnswers:
    async def test_variables_are_listed(self, client: Client, shared: Application) -> None:
        shared.kernels = ScriptedAccess([VariableSummary("df", "DataFrame", "3 rows x 2 columns")])
        answer = await client.call("GET", "kernels/known/variables")
        assert answer.json == [{"name": "df", "type": "DataFrame", "text": "3 rows x 2 columns"}]

    @pytest.mark.parametrize("name", ["df", "数据", "_x1"])
    async def test_one_is_summarised(self, client: Client, shared: Application, name: str) -> None:
        shared.kernels = ScriptedAccess("3 rows")
        answer = await client.call("GET", f"kernels/known/variables/{quote(name)}")
        assert answer.json == {"text": f"{name}: 3 rows"}

    @pytest.mark.parametrize("name", ["a%20b", "a.b", "a%28%29", "1a", "x%2fy"])
    async def test_what_is_no_name_is_not_asked_for(
        self, client: Client, shared: Application, name: str
    ) -> None:
        shared.kernels = ScriptedAccess("never")
        answer = await client.call("GET", f"kernels/known/variables/{name}")
        assert answer.status == 404

    @pytest.mark.parametrize(
        ("error", "status"),
        [
            (KernelNotReadyError("A cell runs.", hint="Wait."), 409),
            (KernelDiedError("The kernel is gone."), 409),
            (SetupError("There is no variable 'df'."), 400),
        ],
    )
    async def test_what_stands_in_the_way_is_told(
        self, client: Client, shared: Application, error: Exception, status: int
    ) -> None:
        shared.kernels = ScriptedAccess(error)
        for path in ("kernels/known/variables", "kernels/known/variables/df"):
            answer = await client.call("GET", path)
            assert answer.status == status
            assert answer.json["message"] == error.message  # type: ignore[attr-defined]

    async def test_what_stands_in_the_way_is_told_without_secrets(
        self, client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SOME_API_KEY", SECRET)
        shared.kernels = ScriptedAccess(SetupError(f"No {SECRET}.", hint=f"Give {SECRET}."))
        answer = await client.call("GET", "kernels/known/variables")
        assert answer.json["hint"].startswith("Give «redacted")
        assert SECRET.encode() not in answer.body

    async def test_a_kernel_that_was_busy_for_a_moment_is_asked_again(
        self, client: Client, shared: Application
    ) -> None:
        class SoonReady(ScriptedAccess):
            asked = 0

            def _answered(self) -> Any:
                self.asked += 1
                if self.asked < 3:
                    raise KernelNotReadyError("A cell runs.")
                return "3 rows"

        shared.kernels = SoonReady(None)
        answer = await client.call("GET", "kernels/known/variables/df")
        assert answer.json == {"text": "df: 3 rows"}

    async def test_what_waits_for_kernels_keeps_no_other_request_waiting(
        self, client: Client, shared: Application
    ) -> None:
        answers = threading.Event()

        class Slow(ScriptedAccess):
            def _answered(self) -> Any:
                answers.wait(30)
                return []

        shared.kernels = Slow(None)
        waiting = [
            asyncio.ensure_future(client.call("GET", "kernels/known/variables"))
            for _ in range(THREADS)
        ]
        await asyncio.sleep(0.5)
        chats = await asyncio.wait_for(client.call("GET", "chats"), 10)
        assert (chats.status, [task.done() for task in waiting]) == (200, [False] * THREADS)
        answers.set()
        assert {(await task).status for task in waiting} == {200}

    async def test_a_kernel_that_is_not_there_is_told(
        self, client: Client, shared: Application
    ) -> None:
        shared.kernels = ScriptedAccess([])
        answer = await client.call("GET", "kernels/other/variables")
        assert (answer.status, answer.json["message"]) == (404, "There is no kernel 'other'.")

    async def test_a_fault_of_ours_is_told_without_what_it_was_about(
        self, client: Client, shared: Application
    ) -> None:
        shared.kernels = ScriptedAccess(RuntimeError(SECRET))
        answer = await client.call("GET", "kernels/known/variables")
        assert (answer.status, answer.json["message"]) == (
            500,
            "Something went wrong in cellwright.",
        )
        assert SECRET.encode() not in answer.body


async def run(jp_serverapp: Any, kernel_id: str, code: str, *, wait: bool = True) -> None:
    client = jp_serverapp.kernel_manager.get_kernel(kernel_id).client()
    client.start_channels()
    await client.wait_for_ready(timeout=60)
    client.execute(code)
    if wait:
        await client.get_shell_msg(timeout=60)
    kernel = jp_serverapp.kernel_manager.get_kernel(kernel_id)
    while not wait and kernel.execution_state != "busy":  # the server hears of it a little later
        await asyncio.sleep(0.02)
    client.stop_channels()


@pytest.mark.kernel
class TestARealKernel:
    async def test_its_variables_are_listed_and_summarised(
        self, client: Client, jp_serverapp: Any, shared: Application
    ) -> None:
        manager = jp_serverapp.kernel_manager
        kernel_id = await manager.start_kernel()
        await run(jp_serverapp, kernel_id, f"answer = 42\npassword = {SECRET!r}")
        answer = await client.call("GET", f"kernels/{kernel_id}/variables")
        listed = answer.json
        assert answer.status == 200, listed
        assert {"name": "answer", "type": "int", "text": "42"} in listed
        answer = await client.call("GET", f"kernels/{kernel_id}/variables/answer")
        assert "42" in answer.json["text"]
        answer = await client.call("GET", f"kernels/{kernel_id}/variables/nothing")
        assert answer.status == 400
        assert "nothing" in json.dumps(answer.json)
        await manager.shutdown_kernel(kernel_id, now=True)

    async def test_while_it_is_busy_nothing_is_asked(
        self, client: Client, jp_serverapp: Any, shared: Application
    ) -> None:
        manager = jp_serverapp.kernel_manager
        kernel_id = await manager.start_kernel()
        await run(jp_serverapp, kernel_id, "import time; time.sleep(30)", wait=False)
        answer = await client.call("GET", f"kernels/{kernel_id}/variables")
        assert answer.status == 409
        await manager.shutdown_kernel(kernel_id, now=True)
