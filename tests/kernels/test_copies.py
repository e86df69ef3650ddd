"""Copies of a live kernel, as a client of it makes them."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels.lanes import kernel_environment
from kernels.snapshot_kernel import wait_for

from cellwright.errors import KernelError, RunCancelled
from cellwright.kernels import CellRequest, Kernel
from cellwright.kernels.copies import open_copy
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.events import CellOutput
from cellwright.record.outputs import StreamOutput
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    folder = tmp_path_factory.mktemp("copies")
    with start_kernel(folder, kernel_environment()) as kernel:
        yield kernel


def run(kernel: Kernel, code: str, stop: Stop | None = None) -> str:
    """What a cell printed."""
    printed: list[str] = []

    def keep(output: CellOutput) -> CellOutput:
        if isinstance(output.message, StreamOutput):
            printed.append(output.message.text)
        return output

    for _ in kernel.execute(CellRequest("cell", code), stop or Stop(), keep):
        pass
    return "".join(printed).strip()


def test_copies_go_their_own_way_and_one_becomes_the_kernel(shared: FreshKernel) -> None:
    run(shared, "import os; table = {'rows': [1, 2]}; same = table['rows']; steps = iter(range(9))")
    run(shared, "next(steps); number = id(table)")
    copies = [open_copy(shared.ask_snapshots, shared.session) for _ in range(3)]
    try:
        for name, copy in enumerate(copies):
            assert copy.session == shared.session, "what ran in the kernel ran in the copy"
            told = run(copy, f"same.append({name}); print(table, next(steps), id(table) == number)")
            assert told == f"{{'rows': [1, 2, {name}]}} 1 True"
        assert run(shared, "print(table, next(steps))") == "{'rows': [1, 2]} 1"
        process = run(copies[1], "print(os.getpid())")
        snapshot = copies[1].adopt("branch 2", "run-2")
        answer = shared.ask_snapshots(
            "go_back",
            {"snapshot_id": snapshot, "reply": {"user_expressions": {"answer": None}},
             "keep_now": "before"},
        )  # fmt: skip
        assert answer["id"] == snapshot
        assert run(shared, "print(table, next(steps), id(table) == number)") == (
            "{'rows': [1, 2, 1]} 2 True"
        )
        assert not Path("/proc", process).exists(), "the copy gave its place away"
        before = shared.ask_snapshots("list", {})[-1]
        shared.ask_snapshots(
            "go_back",
            {"snapshot_id": before["id"], "reply": {"user_expressions": {"answer": None}}},
        )
        assert run(shared, "print(table)") == "{'rows': [1, 2]}", "the branch is undone"
    finally:
        for copy in copies:
            copy.close(now=True)
    assert not any(copy.process.is_alive() for copy in copies)


@pytest.mark.parametrize("now", [False, True])
@pytest.mark.parametrize("is_sandboxed", [False, True])
def test_programs_that_a_copy_has_started_end_with_it(
    shared: FreshKernel, is_sandboxed: bool, now: bool
) -> None:
    copy = open_copy(shared.ask_snapshots, is_sandboxed=is_sandboxed)
    started = run(
        copy,
        "import subprocess\n"
        "one = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "out = subprocess.check_output('setsid sleep 60 >/dev/null & echo $!', shell=True)\n"
        "print(one.pid, out.decode())",
    ).split()
    assert len(started) == 2
    copy.close(now=now)
    assert wait_for(lambda: not any(Path("/proc", number).exists() for number in started))


def test_programs_of_a_copy_that_is_kept_go_on(tmp_path: Path) -> None:
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        copy = open_copy(kernel.ask_snapshots)
        code = "import subprocess; one = subprocess.Popen(['sleep', '60']); print(one.pid)"
        started = Path("/proc", run(copy, code))
        snapshot = copy.adopt("branch 1", "run-1")
        reply = {"user_expressions": {"answer": None}}
        kernel.ask_snapshots("go_back", {"snapshot_id": snapshot, "reply": reply})
        assert not copy.process.is_alive()
        assert started.exists()
        run(kernel, "import os; os.kill(one.pid, 9)")


def test_what_stands_in_the_way_of_a_copy_is_named(shared: FreshKernel) -> None:
    run(shared, "import threading; go = threading.Event()")
    run(shared, "threading.Thread(target=go.wait, name='my loader').start()")
    try:
        with pytest.raises(KernelError, match="cannot be copied: .*my loader"):
            open_copy(shared.ask_snapshots)
    finally:
        run(shared, "go.set()")


def test_a_connection_stays_the_kernels_and_is_closed_in_a_copy(shared: FreshKernel) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        run(shared, f"import socket; line = socket.create_connection({server.getsockname()!r})")
        ours, _ = server.accept()
    with ours, open_copy(shared.ask_snapshots) as copy:
        assert run(copy, "print(line.recv(9))") == "b''"
        assert "BrokenPipeError" in run(
            copy, "try: line.send(b'mine')\nexcept OSError as error: print(repr(error))"
        )
        ours.sendall(b"for the kernel")
        assert run(shared, "print(line.recv(99))") == "b'for the kernel'"
        run(shared, "line.send(b'answer')")
        assert ours.recv(99) == b"answer"
        run(copy, "line.close()")
        run(shared, "line.send(b'and more')")
        assert ours.recv(99) == b"and more"
    run(shared, "line.close()")


def test_a_cell_of_a_copy_is_interrupted_and_the_kernel_is_not(shared: FreshKernel) -> None:
    stop = Stop()
    with open_copy(shared.ask_snapshots) as copy:
        timer = threading.Timer(0.5, stop.set)
        timer.start()
        with pytest.raises(RunCancelled):
            run(copy, "import time; time.sleep(30)", stop)
        assert run(copy, "print(1)") == "1"
    assert run(shared, "print(2)") == "2"
