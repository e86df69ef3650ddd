"""Forked kernels of our own: started, stopped, watched and ended without a manager."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels.forked_lane import is_running
from kernels.lanes import kernel_environment, run

from cellwright.errors import KernelDiedError, KernelError
from cellwright.kernels.forking import ForkedProcess, Recipe, WarmedProcess
from cellwright.kernels.forks import Forks
from cellwright.kernels.fresh import FreshKernel
from cellwright.kernels.provisioner import warmed_processes

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]
FORKS = Forks(modules=("json",))
HELD = """
import os, signal, time
signal.signal(signal.SIGUSR1, lambda *_: (os.closerange(3, 4096), time.sleep(60)))
"""


@pytest.fixture(scope="module", autouse=True)
def _warmed() -> Iterator[None]:
    yield
    warmed_processes.close()


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[FreshKernel]:
    with FORKS.start(tmp_path, kernel_environment()) as started:
        yield started


def test_it_runs_cells_in_its_folder_and_knows_what_they_change(
    kernel: FreshKernel, tmp_path: Path
) -> None:
    ran = run(kernel, "import os; x = os.getcwd(); print(x)")
    assert ran.text.strip() == str(tmp_path)
    assert [variable.name for variable in ran.execution.changed] == ["x"]
    assert kernel.probe("executed_cells", {}) == []
    assert kernel.describe().language == "python"


def test_a_cell_and_what_it_started_are_interrupted(kernel: FreshKernel) -> None:
    code = "import subprocess; subprocess.run(['sleep', '60'])"
    assert run(kernel, code, timeout_seconds=0.5).execution.status == "timeout"
    assert run(kernel, "print('on')").text == "on\n"


def test_its_death_is_noticed_with_how_it_ended(kernel: FreshKernel) -> None:
    with pytest.raises(KernelDiedError):
        run(kernel, "import os; os.kill(os.getpid(), 9)")
    assert kernel.process.is_alive() is False
    assert kernel.process.exit_code == -signal.SIGKILL  # type: ignore[attr-defined]


def test_a_signal_to_one_that_just_ended_is_no_error() -> None:
    """A manager interrupts a kernel before it ends it, and the exit code may not be there yet."""
    child = subprocess.Popen(["true"])
    handle = os.pidfd_open(child.pid)
    child.wait()
    line, warmed = socket.socketpair()
    with line, warmed:
        socket.send_fds(warmed, [json.dumps({"pid": child.pid}).encode() + b"\n"], [handle])
        os.close(handle)
        process = ForkedProcess(line)
        process.send_signal(signal.SIGINT)
        assert (process.pid, process.poll()) == (child.pid, None)
        warmed.sendall(json.dumps({"exit": 0}).encode() + b"\n")
        assert process.poll() == 0


def test_its_end_is_the_end_of_what_it_started_and_of_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # others start kernels meanwhile
    kernel = FORKS.start(tmp_path, kernel_environment())
    child = int(run(kernel, "import subprocess as s; print(s.Popen(['sleep', '60']).pid)").text)
    own = kernel.describe().process_id
    made = list(tmp_path.glob("cw-*"))
    kernel.close()
    kernel.close()
    assert own is not None
    assert not is_running(own)
    assert not is_running(child)
    assert made
    assert not any((folder / "kernel.json").exists() for folder in made)


def test_a_warmed_process_that_was_killed_is_made_anew(tmp_path: Path) -> None:
    with FORKS.start(tmp_path, kernel_environment()) as kernel:
        os.kill(int(run(kernel, "import os; print(os.getppid())").text), signal.SIGKILL)
    with FORKS.start(tmp_path, kernel_environment()) as kernel:
        assert run(kernel, "print(1)").text == "1\n"


def test_a_warmed_process_that_is_ending_is_not_asked_any_more() -> None:
    """Killed under load it has let go of the channel a while before it has ended."""
    warmed = WarmedProcess(Recipe((sys.executable,), (), tuple(kernel_environment().items()), HELD))
    try:
        warmed.wait_until_warm()
        assert warmed.is_current
        os.kill(warmed.process.pid, signal.SIGUSR1)
        deadline = time.monotonic() + 10
        while warmed.is_current and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not warmed.is_current
        assert warmed.process.poll() is None
    finally:
        warmed.process.kill()
        warmed.close()


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        FORKS.start(tmp_path / "none", kernel_environment())


def test_sockets_need_a_short_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(KernelError, match="too long a name"):
        FORKS.start(tmp_path, kernel_environment())
    assert list(deep.iterdir()) == []


def test_threads_of_libraries_are_made_when_they_are_needed(tmp_path: Path) -> None:
    count = "len(__import__('os').listdir('/proc/self/task'))"
    code = f"import numpy; a = numpy.ones((300, 300)); b = {count}; a @ a; print({count} - b)"
    environment = {**kernel_environment(), "OPENBLAS_NUM_THREADS": "3"}
    with Forks(modules=("numpy",)).start(tmp_path, environment) as kernel:
        # OpenBLAS makes no more threads than there are processors.
        wanted = min(3, len(os.sched_getaffinity(0))) - 1
        assert run(kernel, code).text == f"{wanted}\n"
