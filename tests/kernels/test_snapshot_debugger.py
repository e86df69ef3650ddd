"""The debugger and going back: front ends debug a kernel that was taken back as any other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from kernels.snapshot_kernel import WAIT_SECONDS, SnapshotKernel, wait_for

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

CODE = "stopped_at = 1\nstopped_at = 2\n"
WARNED = {"PYDEVD_DISABLE_FILE_VALIDATION": "1"}


class FrontEnd:
    """Debugs the kernel as JupyterLab does."""

    def __init__(self, kernel: SnapshotKernel) -> None:
        self._kernel, self._numbers = kernel, itertools.count(1)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        client = self._kernel.client
        content = {"type": "request", "command": command, "arguments": arguments}
        message = client.session.msg("debug_request", {**content, "seq": next(self._numbers)})
        client.control_channel.send(message)
        while True:
            reply = client.get_control_msg(timeout=WAIT_SECONDS)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                answer: dict[str, Any] = reply["content"]
                assert answer["success"], answer
                return answer

    def attach(self) -> None:
        """Begin, with a breakpoint in the second line of the cell."""
        about = {"clientID": "test", "adapterID": "", "pathFormat": "path"}
        self.ask("initialize", **about, linesStartAt1=True, columnsStartAt1=True)
        self.ask("attach")
        path = self.ask("dumpCell", code=CODE)["body"]["sourcePath"]
        placed = self.ask(
            "setBreakpoints", breakpoints=[{"line": 2}], source={"path": path}, sourceModified=False
        )
        assert [each["line"] for each in placed["body"]["breakpoints"]] == [2]
        self.ask("configurationDone")

    def stop_in_cell(self) -> str:
        """The value that a variable has at the breakpoint; then the cell goes on to its end."""
        client = self._kernel.client
        client.execute(CODE)
        while True:
            message = client.get_iopub_msg(timeout=WAIT_SECONDS)
            content = message["content"]
            if message["msg_type"] == "debug_event" and content["event"] == "stopped":
                break
        thread = content["body"]["threadId"]
        frame = self.ask("stackTrace", threadId=thread)["body"]["stackFrames"][0]["id"]
        found = self.ask("evaluate", expression="stopped_at", frameId=frame, context="watch")
        self.ask("continue", threadId=thread)
        assert client.get_shell_msg(timeout=WAIT_SECONDS)["content"]["status"] == "ok"
        return str(found["body"]["result"])


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SnapshotKernel]:
    for name, value in WARNED.items():
        monkeypatch.setenv(name, value)
    started = SnapshotKernel(tmp_path)
    yield started
    started.close()


def _adapters(folder: Path) -> list[int]:
    """The processes in which debugpy talks to front ends of kernels in a folder."""
    found = psutil.process_iter(["cmdline", "cwd"])
    ours = [p for p in found if p.info["cwd"] == str(folder)]
    return [p.pid for p in ours if "debugpy/adapter" in " ".join(p.info["cmdline"] or ())]


def test_a_cell_stops_at_a_breakpoint_after_going_back_whether_it_was_debugged_before_or_not(
    kernel: SnapshotKernel, tmp_path: Path
) -> None:
    front_end = FrontEnd(kernel)
    kernel.run("kept = 1")
    before = kernel.take()
    kernel.run("kept = 2")
    kernel.go_back(before, keep_now="later")
    (later,) = kernel.ask("list")
    front_end.attach()
    assert front_end.stop_in_cell() == "1"
    assert kernel.run("print(kept)") == "1"

    kernel.go_back(later["id"])
    assert kernel.run("print(kept)") == "2"
    assert front_end.ask("debugInfo")["body"]["isStarted"] is False
    front_end.attach()
    assert front_end.stop_in_cell() == "1"
    assert wait_for(lambda: len(_adapters(tmp_path)) == 1), "that of the kernel before has ended"


def test_a_debugger_that_is_attached_is_named(kernel: SnapshotKernel) -> None:
    FrontEnd(kernel).attach()
    assert kernel.ask("take") == {"obstacles": ["the debugger holds threads"]}


def test_the_main_thread_is_the_one_it_was(kernel: SnapshotKernel) -> None:
    told = (
        "import threading; main = threading.main_thread()\n"
        "print(main.name, type(main).__name__, main is threading.current_thread(), main.daemon,\n"
        "      threading.Thread(target=print).daemon)"
    )
    first = kernel.run(told)
    assert first == "MainThread _MainThread True False False"
    for _ in range(2):
        kernel.go_back(kernel.take())
        assert kernel.run(told) == first
