"""Stop, in every phase of a run in a real kernel: it acts at once and the run is recorded."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_service import Pause, chunk, raw_sse, text, tool_call
from magics.live_kernel import LiveKernel, Shown, loaded

from cellwright.kernels.capture import STUCK
from cellwright.record.run_record import RunRecord

pytestmark = pytest.mark.kernel
STALLED = raw_sse([chunk({"content": "One moment"}), Pause(30)])
SLEEP = {"code": "import time\nprint('asl' + 'eep')\ntime.sleep(30)"}


CATCHES_ALL = """
import time
while True:
    try:
        print("ti" + "ck", flush=True)
        time.sleep(0.1)
    except BaseException: pass
"""
CANNOT_END = """
import signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
print("ti" + "ck", flush=True)
time.sleep(8)
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
"""


class KilledError(Exception):
    """The kernel is gone, as after a restart."""


class Presses:
    """Interrupts the kernel while code ticks, with a pause between, and looks at the record."""

    def __init__(self, kernel: LiveKernel, times: int, after: str = "") -> None:
        self._kernel, self._left, self._after = kernel, times, after
        self._pressed_at = 0.0
        self.record: RunRecord | None = None
        """As it was when the person was told how to end the code."""

    def __call__(self, message: dict[str, Any]) -> None:
        if "Restart Kernel" in str(message["content"]) and self.record is None:
            self.record = self._wait_for_end()
            self._then()
        due = time.monotonic() - self._pressed_at > 0.4
        if self._left and due and "tick" in str(message["content"]):
            self._left, self._pressed_at = self._left - 1, time.monotonic()
            self._kernel.manager.interrupt_kernel()

    def _then(self) -> None:
        if self._after == "interrupt":
            self._kernel.manager.interrupt_kernel()
        elif self._after == "kill":
            self._kernel.manager.signal_kernel(signal.SIGKILL)
            raise KilledError

    def _wait_for_end(self) -> RunRecord:
        for _ in range(50):
            if self._kernel.last_run.status != "running":
                break
            time.sleep(0.02)
        return self._kernel.last_run


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


def stop_in_time(kernel: LiveKernel, code: str, script: list[Any], words: str) -> Shown:
    """Run and stop at these words, within a second at one of three attempts.

    Others use the machine too; what stop has to end takes half a minute.
    """
    for _ in range(3):
        stop = Stopwatch(kernel, words)
        shown = kernel.run(code, script, answers=[], watch=stop)
        if stop.seconds() < 1:
            return shown
    raise AssertionError(f"it took {stop.seconds():.1f} s")


def test_while_the_model_is_waited_for(fresh: LiveKernel) -> None:
    shown = stop_in_time(fresh, "run = %agent hello", [STALLED], "One moment")
    assert is_stopped(fresh, shown)
    assert fresh.value("run.status") == "'cancelled'"
    assert fresh.service.wait_for_break()


def test_while_code_runs(fresh: LiveKernel) -> None:
    script = [tool_call("run_cell", SLEEP), text("never asked for")]
    shown = stop_in_time(fresh, "run = %agent --mode auto hello", script, "asleep")
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


@pytest.fixture
def own(tmp_path: Path) -> Iterator[LiveKernel]:
    """A kernel that the test may break."""
    with loaded(tmp_path) as live:
        yield live


def test_code_that_catches_everything_is_said_recorded_and_ended(fresh: LiveKernel) -> None:
    """13.14: the third interrupt ends it, and before that its record has its end."""
    presses = Presses(fresh, 2, after="interrupt")
    script = [tool_call("run_cell", {"code": CATCHES_ALL}), text("never asked for")]
    started = time.monotonic()
    shown = fresh.run("run = %agent --mode auto hello", script, answers=[], watch=presses)
    assert time.monotonic() - started < 20
    told = [content["data"]["text/plain"] for content in shown.of("display_data")]
    assert any("Interrupt once more" in words and STUCK in words for words in told), told
    assert presses.record is not None
    assert (presses.record.status, presses.record.cause) == ("cancelled", "stopped")
    assert STUCK in presses.record.reason
    (cell,) = presses.record.cells
    assert cell.execution is not None
    assert cell.execution.status == "interrupted"
    assert is_stopped(fresh, shown)
    assert fresh.value("run.status") == "'cancelled'"
    fresh.run("%agent go on", [text("Gladly.")], answers=[])
    assert fresh.last_run.status == "completed"


def test_a_restart_leaves_the_run_as_it_ended(own: LiveKernel) -> None:
    """13.14: the kernel is killed while the code still runs."""
    presses = Presses(own, 2, after="kill")
    script = [tool_call("run_cell", {"code": CATCHES_ALL}), text("never asked for")]
    with pytest.raises(KilledError):
        own.run("run = %agent --mode auto hello", script, answers=[], watch=presses)
    assert (own.last_run.status, own.last_run.cause) == ("cancelled", "stopped")
    assert STUCK in own.last_run.reason


def test_code_past_its_time_that_cannot_be_ended_is_said_and_recorded(own: LiveKernel) -> None:
    """13.14: no signal gets through, so that only words are left."""
    presses = Presses(own, 0)
    call = tool_call("run_cell", {"code": CANNOT_END, "timeout_seconds": 1})
    shown = own.run("%%agent --mode auto\nhello", [call, text("never asked")], watch=presses)
    assert presses.record is not None
    assert (presses.record.status, presses.record.cause) == ("task error", "stuck")
    assert "its time limit" in presses.record.reason
    assert STUCK in presses.record.reason
    assert shown.reply["content"]["status"] == "error"  # nobody watches: the batch ends
    assert own.last_run.status == "task error"
