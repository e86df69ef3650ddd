"""Stop, in every phase of a run in a real kernel: it acts at once and the run is recorded."""

from __future__ import annotations

import time
from typing import Any

import pytest
from fake_service import Pause, chunk, raw_sse, text, tool_call
from magics.live_kernel import LiveKernel, Shown

pytestmark = pytest.mark.kernel
STALLED = raw_sse([chunk({"content": "One moment"}), Pause(30)])
SLEEP = {"code": "import time\nprint('asl' + 'eep')\ntime.sleep(30)"}


class Stopwatch:
    """Interrupts the kernel when a text is shown, and notes when."""

    def __init__(self, kernel: LiveKernel, words: str) -> None:
        self._kernel = kernel
        self._words = words
        self.pressed_at = 0.0

    def __call__(self, message: dict[str, Any]) -> None:
        if not self.pressed_at and self._words in str(message["content"]):
            self.pressed_at = time.monotonic()
            self._kernel.manager.interrupt_kernel()

    def seconds(self) -> float:
        assert self.pressed_at, "it was never shown"
        return time.monotonic() - self.pressed_at


def is_stopped(kernel: LiveKernel, shown: Shown) -> bool:
    assert shown.reply["content"]["status"] == "ok"
    assert shown.of("error") == []
    assert "■ Stopped." in shown.markdown
    record = kernel.last_run
    return (record.status, record.cause) == ("cancelled", "stopped")


def test_while_the_model_is_waited_for(fresh: LiveKernel) -> None:
    stop = Stopwatch(fresh, "One moment")
    shown = fresh.run("run = %agent hello", [STALLED], answers=[], watch=stop)
    assert stop.seconds() < 1
    assert is_stopped(fresh, shown)
    assert fresh.value("run.status") == "'cancelled'"
    assert fresh.service.wait_for_break()


def test_while_code_runs(fresh: LiveKernel) -> None:
    stop = Stopwatch(fresh, "asleep")
    script = [tool_call("run_cell", SLEEP), text("never asked for")]
    shown = fresh.run("run = %agent --mode auto hello", script, answers=[], watch=stop)
    assert stop.seconds() < 1
    assert is_stopped(fresh, shown)
    assert len(fresh.service.requests) == 1
    assert fresh.last_run.cells[0].cell.outputs[0].kind == "stream"


def test_while_an_answer_is_waited_for(fresh: LiveKernel) -> None:
    started = time.monotonic()
    script = [tool_call("run_cell", SLEEP), text("never asked for")]
    shown = fresh.run("%%agent --mode ask\nhello", script, answers=[])
    assert len(shown.questions) == 1
    assert time.monotonic() - started < 4
    assert is_stopped(fresh, shown)
    assert fresh.last_run.cells == ()


def test_the_conversation_can_go_on_afterwards(fresh: LiveKernel) -> None:
    stop = Stopwatch(fresh, "asleep")
    script = [tool_call("run_cell", SLEEP, id="call_9"), text("never asked for")]
    fresh.run("%%agent --mode auto\nhello", script, answers=[], watch=stop)
    fresh.run("%agent go on", [text("Gladly.")], answers=[])
    assert fresh.last_run.status == "completed"
    roles = [message["role"] for message in fresh.service.requests[0].messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]


def test_while_something_is_drawn(fresh: LiveKernel) -> None:
    fresh.run(
        "import signal, os\n"
        "shown = get_ipython().display_pub.publish\n"
        "def publish(*a, **k):\n"
        "    get_ipython().display_pub.publish = shown\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    shown(*a, **k)\n"
    )
    code = "get_ipython().display_pub.publish = publish\n%agent hello"
    shown = fresh.run(code, [text("Hello there."), text("never asked for")], answers=[])
    assert is_stopped(fresh, shown)
