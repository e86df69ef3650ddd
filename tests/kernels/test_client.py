"""What is special to a kernel behind a connection, and to one started for a run."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels.lanes import kernel_environment, run

from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelNotReadyError,
    RunCancelled,
    ToolError,
)
from cellwright.kernels import CellRequest
from cellwright.kernels.capture import answered
from cellwright.kernels.cell_run import CellRun, Received
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.record.outputs import StreamOutput
from cellwright.stopping import Stop

pytestmark = pytest.mark.kernel


def make_spec(folder: Path, name: str, command: list[str], language: str = "python") -> None:
    spec = folder / "kernels" / name
    spec.mkdir(parents=True)
    content = {"argv": command, "display_name": name, "language": language}
    (spec / "kernel.json").write_text(json.dumps(content))


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FreshKernel]:
    """A kernel that is not Python."""
    module = str(Path(__file__).parent / "echo_kernel.py")
    command = [sys.executable, module, "-f", "{connection_file}"]
    make_spec(tmp_path, "echo", command, "echo")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    with start_kernel(tmp_path, kernel_environment(), "echo") as kernel:
        yield kernel


def test_another_language_runs_cells_and_has_no_probe(echo: FreshKernel) -> None:
    """K30."""
    ran = run(echo, "hello")
    assert ran.outputs == (StreamOutput("stdout", "hello"),)
    assert ran.execution.status == "ok"
    assert ran.execution.changed == ()
    described = echo.describe()
    assert (described.language, described.version, described.implementation) == (
        "echo",
        "1.5",
        "echo",
    )
    with pytest.raises(KernelError, match="cannot be asked 'list_variables'"):
        echo.probe("list_variables", {})


def test_nothing_is_left_in_the_persons_namespace(client: FreshKernel) -> None:
    for number in range(3):
        run(client, f"1 + {number}")
    assert run(client, "%history -l 3").text == "1 + 0\n1 + 1\n1 + 2\n"
    assert run(client, "%who").text == "Interactive namespace is empty.\n"
    names = run(client, "[n for n in globals() if 'cellwright' in n.lower()]")
    assert names.plain == ["[]"]


SLOW_PIPE = """
import subprocess, sys, threading, time
kind = type(sys.stdout)
header = kind.parent_header
def slow(stream):
    time.sleep(0.01 * (threading.current_thread() is stream.watch_fd_thread))
    return header.fget(stream)
kind.parent_header = header.getter(slow)
"""


def test_what_a_cell_draws_at_random_does_not_depend_on_whether_the_kernel_was_asked(
    client: FreshKernel,
) -> None:
    drawn = "import random; print([random.randrange(1000) for _ in range(3)])"
    run(client, "import random; random.seed(7)")
    usual = run(client, drawn).outputs
    run(client, "import random; random.seed(7)")
    for _ in range(6):  # IPython drew a tip once in three times
        client.probe("describe_kernel", {})
        client.ask_snapshots("obstacles", {})
    assert run(client, drawn).outputs == usual


def test_the_last_words_of_a_child_are_waited_for(client: FreshKernel) -> None:
    """They come through a thread of ipykernel, which is late on a busy machine."""
    run(client, SLOW_PIPE)
    said = [run(client, "subprocess.run(['echo', 'late']);").text for _ in range(4)]
    run(client, "kind.parent_header = header")
    assert said == ["late\n"] * 4


def test_the_probe_comes_back_when_it_was_lost(client: FreshKernel) -> None:
    code = "import sys; [sys.modules.pop(n) for n in list(sys.modules) if '_cellwright' in n];"
    run(client, code)
    run(client, "found = 1")
    names = [row["name"] for row in client.probe("list_variables", {})]
    assert "found" in names


def test_the_probe_tells_what_it_cannot_do(client: FreshKernel) -> None:
    with pytest.raises(KernelError, match="nonsense failed in the kernel: KeyError"):
        client.probe("nonsense", {})
    with pytest.raises(ToolError, match="there is no 'nothing'"):
        client.probe("inspect_variable", {"name": "nothing"})
    with pytest.raises(KernelError, match="failed in the kernel"):
        answered("f", {})


def test_cells_are_numbered_as_the_kernel_numbers_them(client: FreshKernel) -> None:
    first = run(client, "1").execution.execution_count
    assert first is not None
    assert run(client, "2").execution.execution_count == first + 1


def test_what_an_output_widget_takes_is_not_the_cells(client: FreshKernel) -> None:
    code = (
        "import ipywidgets\nout = ipywidgets.Output()\n"
        "with out:\n    print('taken')\nprint('not taken')"
    )
    assert run(client, code).text == "not taken\n"


def test_a_kernel_of_our_own_does_not_write_into_the_persons_history(tmp_path: Path) -> None:
    environment = {**kernel_environment(), "IPYTHONDIR": str(tmp_path)}
    with start_kernel(tmp_path, environment) as kernel:
        run(kernel, "ours = 1")
        assert run(kernel, "%history").text.startswith("ours = 1")
    assert list(tmp_path.rglob("history.sqlite")) == []


def test_a_kernel_that_is_not_installed_is_named() -> None:
    with pytest.raises(KernelError, match="There is no kernel named 'nonsense'") as caught:
        start_kernel(kernel_name="nonsense")
    assert "jupyter kernelspec list" in caught.value.hint


def test_a_kernel_that_dies_at_once_is_reported_and_cleaned_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_spec(tmp_path, "dies", [sys.executable, "-c", "raise SystemExit(3)"])
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "t"))
    (tmp_path / "t").mkdir()
    monkeypatch.setattr("tempfile.tempdir", None)
    with pytest.raises(KernelDiedError):
        start_kernel(kernel_name="dies")
    assert os.listdir(tmp_path / "t") == []


def test_long_paths_of_the_temporary_folder_do_not_matter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    with start_kernel(env=kernel_environment()) as kernel:
        assert run(kernel, "1").plain == ["1"]


def test_a_kernel_can_be_started_where_a_loop_runs() -> None:
    async def inside() -> list[str]:
        with start_kernel(env=kernel_environment()) as kernel:
            return run(kernel, "'in a loop'").plain

    assert asyncio.run(inside()) == ["'in a loop'"]


def test_a_kernel_can_be_used_from_worker_threads(client: FreshKernel) -> None:
    found: list[str] = []

    def work(number: int) -> None:
        found.extend(run(client, f"{number} * 10").plain)
        client.probe("list_variables", {})

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == ["0", "10", "20", "30"]


def test_noise_on_the_line_is_passed_over(client: FreshKernel) -> None:
    other = client.process.client()
    other.session.key = b"another key"
    other.start_channels(hb=False, stdin=False)
    other.kernel_info()
    assert run(client, "1").plain == ["1"]
    other.stop_channels()


def test_nothing_can_be_asked_while_a_cell_runs(client: FreshKernel) -> None:
    running = client.execute(
        CellRequest("c", "made = 1; print(1, flush=True); import time; time.sleep(0.3); 2"),
        Stop(),
        lambda output: output,
    )
    first = next(running)
    with pytest.raises(KernelError, match="A cell runs"):
        client.probe("list_variables", {})
    assert [first.message, *(output.message for output in running)][0] == StreamOutput(
        "stdout", "1\n"
    )
    assert client.probe("list_variables", {}) != []


def test_output_that_came_between_two_cells_is_not_lost(client: FreshKernel) -> None:
    """K18."""
    code = """
import asyncio
async def later():
    await asyncio.sleep(0.1)
    print("late", flush=True)
task = asyncio.create_task(later())
"""
    run(client, code, cell_id="first")
    time.sleep(0.3)
    client.probe("list_variables", {})
    ran = run(client, "1", cell_id="second")
    texts = [(m.cell_id, m.message.text) for m in ran.messages if m.message.kind == "stream"]
    assert texts == [("first", "late\n")]


# One run, message by message


def received(kind: str, channel: str = "iopub", **content: object) -> Received:
    return Received(channel, kind, "run", "execute_request", "s", content)


def begun(stop: Stop | None = None) -> CellRun:
    run = CellRun(CellRequest("c", "", timeout_seconds=5), stop or Stop(), lambda output: output)
    run.take_in(received("status", execution_state="busy"))
    return run


def test_a_run_is_over_when_reply_and_idle_are_there_in_any_order() -> None:
    """K37, K17."""
    for order in (("idle", "reply"), ("reply", "idle")):
        run = begun()
        for what in order:
            assert not run.is_over
            if what == "idle":
                run.take_in(received("status", execution_state="idle"))
                run.take_in(received("status", execution_state="idle"))
            else:
                run.take_in(received("execute_reply", "shell", status="ok", execution_count=3))
                run.take_in(received("execute_reply", "shell", status="error"))
        assert run.is_over
        assert run.result().status == "ok"
        assert run.result().execution_count == 3


def test_the_error_of_the_reply_counts_only_when_none_was_shown() -> None:
    """K23."""
    run = begun()
    run.take_in(received("error", ename="ValueError", evalue="shown", traceback=["t"]))
    run.take_in(received("execute_reply", "shell", status="error", ename="NoneType"))
    error = run.result().error
    assert error is not None
    assert error.ename == "ValueError"
    run = begun()
    reply = {"status": "error", "ename": "KeyError", "evalue": "k", "traceback": ["t"]}
    run.take_in(received("execute_reply", "shell", **reply))
    error = run.result().error
    assert error is not None
    assert (error.ename, error.traceback) == ("KeyError", ("t",))


def test_a_skipped_cell_is_told_from_one_that_ran() -> None:
    """K38."""
    run = begun()
    run.take_in(received("execute_reply", "shell", status="aborted"))
    ended = run.result()
    assert ended.status == "aborted"
    assert "run it again" in ended.note


def test_a_reply_that_never_comes_is_an_error_and_a_lost_idle_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """K20."""
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    run = begun()
    run.take_in(received("status", execution_state="idle"))
    assert not run.wants_interrupt()
    clock[0] += 11
    with pytest.raises(KernelNotReadyError, match="did not reply within 10 s"):
        run.wants_interrupt()
    run = begun()
    run.take_in(received("execute_reply", "shell", status="ok"))
    assert not run.is_over
    clock[0] += 4.5
    assert run.is_over


def test_a_stop_before_the_cell_began_leaves_at_once() -> None:
    stop = Stop()
    run = CellRun(CellRequest("c", ""), stop, lambda output: output)
    stop.set("enough")
    with pytest.raises(RunCancelled, match="enough"):
        run.wants_interrupt()


def test_a_run_is_interrupted_three_times_and_then_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """K7."""
    clock = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    stop = Stop()
    run = begun(stop)
    stop.set("enough")
    asked = []
    while not run.is_over:
        asked.append(run.wants_interrupt())
        clock[0] += 0.5
    assert asked.count(True) == 3
    with pytest.raises(RunCancelled, match=r"enough\. The code did not react"):
        run.result()
