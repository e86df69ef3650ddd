"""Undo and branches where another host than jupyter_client's manager holds the kernel's process."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from kernels.snapshot_kernel import wait_for
from kernels.vscode_host import VsCodeHost
from magics.live_kernel import LiveKernel, Message

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture
def hosted(tmp_path: Path) -> Iterator[tuple[LiveKernel, VsCodeHost]]:
    host = VsCodeHost()
    with FakeService() as service:
        kernel = LiveKernel(service, tmp_path, host)
        try:
            kernel.run("%load_ext cellwright\nrows = [1]; same = rows")
            yield kernel, host
        finally:
            kernel.client.stop_channels()
            if host.has_kernel:
                host.shutdown_kernel(now=True)


def run_undo_and_branch(kernel: LiveKernel) -> None:
    """A run that is undone, and two attempts of which the second is kept."""
    script = [tool_call("run_cell", {"code": "rows.clear(); more = 1"}), text("Cleared.")]
    kernel.run("%agent --mode auto clear it", script, answers=[])
    assert kernel.value("rows, same") == "([], [])"
    kernel.run("%agent undo", answers=[])
    assert kernel.value("rows, same is rows, 'more' in globals()") == "([1], True, False)"

    def attempt(request: Any) -> Any:
        if request.messages[-1]["role"] == "tool":
            return text("Done.")(request)
        return tool_call("run_cell", {"code": "rows.append(2)"})(request)

    kernel.run('%agent branch 2 "Append" --mode auto', attempt)
    assert kernel.value("rows") == "[1]"
    kernel.run("%agent branch keep 2", answers=[])
    assert kernel.value("rows, same is rows") == "([1, 2], True)"


def sleep_until(kernel: LiveKernel, interrupt: Callable[[], object]) -> str:
    """How a cell ends that sleeps, and is interrupted as soon as it does."""

    def see(message: Message) -> None:
        if message["header"]["msg_type"] == "stream":
            interrupt()

    began = time.monotonic()
    shown = kernel.run("import time; print('go', flush=True); time.sleep(30)", watch=see)
    assert time.monotonic() - began < 10
    return str(shown.reply["content"].get("ename"))


def test_the_host_of_vs_code_sees_one_process_that_it_can_interrupt(
    hosted: tuple[LiveKernel, VsCodeHost],
) -> None:
    kernel, host = hosted
    assert host.process is not None
    before = host.process.pid
    run_undo_and_branch(kernel)
    assert (host.process.poll(), host.process.pid) == (None, before)
    assert sleep_until(kernel, host.interrupt_kernel) == "KeyboardInterrupt"

    def ask() -> None:
        answers.append(host.request_on_control(kernel.client, "interrupt_request", {}))

    answers: list[Any] = []
    assert sleep_until(kernel, ask) == "KeyboardInterrupt"
    assert answers == [{"status": "ok"}]
    assert kernel.value("rows") == "[1, 2]"
    host.shutdown_kernel()
    assert host.process.returncode == -signal.SIGTERM
    assert wait_for(lambda: not host.processes()), host.processes()


@pytest.mark.parametrize("way", ["request", "SIGTERM", "SIGKILL"])
def test_however_the_host_ends_it_nothing_is_left(
    hosted: tuple[LiveKernel, VsCodeHost], way: str
) -> None:
    kernel, host = hosted
    assert host.process is not None
    run_undo_and_branch(kernel)
    kernel.run("%agent --mode auto again", [tool_call("run_cell", {"code": "1"}), text("Yes.")])
    assert len(host.processes()) > 3, (
        "a supervisor with its watcher, a kernel, states to go back to"
    )
    if way == "request":
        host.request_on_control(kernel.client, "shutdown_request", {"restart": False})
        assert host.wait() == 0
    else:
        host.process.send_signal(getattr(signal, way))
        assert host.wait() == -getattr(signal, way)
    assert wait_for(lambda: not host.processes()), host.processes()
