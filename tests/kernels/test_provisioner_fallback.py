"""Where forking is not safe a kernel is started as usual, and it is said why."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import subprocess
import sys
import sysconfig
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import AsyncKernelManager
from kernels.forked_lane import children_of, is_running, provisioner_of, start_forked, write_spec
from kernels.lanes import kernel_environment, run

from cellwright.errors import KernelError
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.provisioner import (
    ForkProvisioner,
    check_folder,
    check_options,
    check_system,
    parse_command,
    recipe_of,
    warm_up,
    warmed_processes,
)

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

NOISY_MODULES = {
    "starts_thread": (
        "import threading as t, time; t.Thread(target=time.sleep, args=[60], daemon=True).start()",
        "A warmed module started threads: there are 2.",
    ),
    "starts_process": (
        "import subprocess; kept = subprocess.Popen(['sleep', '60'])",
        "A warmed module started a process.",
    ),
    "opens_file": ("kept = open(__file__)", "opens_file.py' open, and kernels would share it."),
    "opens_socket": ("import socket; kept = socket.socket()", "open, and kernels would share it."),
    "shares_memory": (
        "import mmap; kept = mmap.mmap(-1, 4096)",
        "A warmed module shares memory: '/dev/zero (deleted)'.",
    ),
    "looks_for_shell": (
        "import matplotlib_inline",
        "A warmed module imported 'matplotlib_inline', which looks for a shell.",
    ),
    "raises": ("1 / 0", "Importing a module failed: ZeroDivisionError: division by zero."),
    "lacks": ("import nonsense", "Importing a module failed: ModuleNotFoundError: No module"),
    "ends": (
        "import os, sys; print('goodbye', file=sys.stderr, flush=True); os._exit(3)",
        "It ended while it was warmed: 'goodbye'.",
    ),
}


@pytest.fixture
def specs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    folder = tmp_path / "specs"
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    write_spec(folder, "forked", modules=["json"])
    yield folder
    warmed_processes.close()


def assert_works_unforked(kernel: FreshKernel, reason: str) -> None:
    with kernel:
        assert reason in provisioner_of(kernel).fallback_reason
        assert isinstance(provisioner_of(kernel).process, subprocess.Popen)
        assert run(kernel, "6 * 7").plain == ["42"]


@pytest.mark.parametrize("name", NOISY_MODULES)
def test_what_a_module_does_may_forbid_forking(tmp_path: Path, name: str) -> None:
    code, reason = NOISY_MODULES[name]
    (tmp_path / f"{name}.py").write_text(code + "\n")
    environment = {**kernel_environment(), "PYTHONPATH": str(tmp_path)}
    with pytest.raises(KernelError) as refused:
        warm_up(modules=[name], environment=environment)
    assert reason in str(refused.value)
    (tmp_path / f"{name}.py").write_text("")
    with pytest.raises(KernelError) as refused:  # it would be warmed now, and is not tried again
        warm_up(modules=[name], environment=environment)
    assert reason in str(refused.value)
    warmed_processes.close()


def test_a_module_that_cannot_be_forked_makes_a_normal_kernel(specs: Path, tmp_path: Path) -> None:
    (tmp_path / "starts_thread.py").write_text(NOISY_MODULES["starts_thread"][0])
    write_spec(specs, "threads", modules=["starts_thread"])
    kernel = start_forked(tmp_path, "threads", {"PYTHONPATH": str(tmp_path)})
    assert_works_unforked(kernel, "started threads")


def test_it_is_told_in_the_log_and_in_the_provisioners_own_words(
    specs: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "json.py").write_text("")
    (tmp_path / "pandas.py").write_text("")
    write_spec(specs, "pandas", modules=["pandas", "nonsense", "ipywidgets"])
    with start_forked(tmp_path, "pandas") as kernel:
        found = asyncio.run(provisioner_of(kernel).get_provisioner_info())
    reason = "'pandas.py' in its folder has the name of a warmed module."
    assert (found["forked"], found["fallback_reason"]) == (False, reason)
    assert f"The kernel is started as usual, not forked. {reason}" in caplog.text
    assert "Not there to be warmed: nonsense." in caplog.text
    assert "Not warmed, they look for a shell as they are imported: ipywidgets." in caplog.text
    with start_forked(specs) as kernel:
        found = asyncio.run(provisioner_of(kernel).get_provisioner_info())
        assert (found["forked"], found["fallback_reason"]) == (True, "")
        assert found["pid"] == found["pgid"] == provisioner_of(kernel).process.pid


def test_another_kind_of_kernel_is_started_as_usual(specs: Path, tmp_path: Path) -> None:
    module = str(Path(__file__).parent / "echo_kernel.py")
    write_spec(specs, "echo", (sys.executable, module, "-f", "{connection_file}"))
    with start_forked(tmp_path, "echo") as kernel:
        assert "does not start ipykernel" in provisioner_of(kernel).fallback_reason
        assert run(kernel, "hello").text == "hello"


def test_folders_whose_files_would_be_imported_instead_are_noticed(tmp_path: Path) -> None:
    names = frozenset({"pandas", "matplotlib"})
    (tmp_path / "pandas").mkdir()
    (tmp_path / "pandas.csv").touch()
    (tmp_path / "other.py").touch()
    check_folder(str(tmp_path), names)
    check_folder(str(tmp_path / "missing"), names)
    (tmp_path / "matplotlibrc").touch()
    check_folder(str(tmp_path), frozenset({"pandas"}))
    with pytest.raises(KernelError, match="'matplotlibrc' in its folder is read"):
        check_folder(str(tmp_path), names)
    (tmp_path / "pandas" / "__init__.py").touch()
    with pytest.raises(KernelError, match="'pandas/__init__.py' in its folder has the name"):
        check_folder(str(tmp_path), names)


def test_options_that_a_fork_cannot_have_are_noticed() -> None:
    usual = {"cwd": "/", "env": {}, "stdout": subprocess.DEVNULL, "independent": False}
    check_options(usual)
    with pytest.raises(KernelError, match="cannot have 'independent'"):
        check_options({**usual, "independent": True})
    with pytest.raises(KernelError, match="cannot have a pipe as stderr"):
        check_options({**usual, "stderr": subprocess.PIPE})


def test_the_command_tells_interpreter_and_arguments() -> None:
    command = ["~/python", "-X", "dev", "-m", "ipykernel_launcher", "-f", "file"]
    interpreter = (os.path.expanduser("~/python"), "-X", "dev")
    assert parse_command(command) == (interpreter, ("-f", "file"))
    assert parse_command(["python", "-m", "ipykernel", "-f", "x"])[1] == ("-f", "x")
    for wrong in (["python", "-m"], ["R", "--slave"], ["python", "-m", "xeus"]):
        with pytest.raises(KernelError, match="does not start ipykernel"):
            parse_command(wrong)


def test_other_systems_are_told_from_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    check_system()
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(KernelError, match=r"on Linux 5\.3 and later only, not on darwin"):
        check_system()


def test_the_environment_that_imports_read_tells_warmed_processes_apart() -> None:
    def recipe(**environment: str) -> Any:
        return recipe_of(["python"], ["pandas"], environment, ["MINE"])

    assert recipe(HOME="/a", OTHER="1") == recipe(HOME="/a", OTHER="2")
    for name in ("HOME", "LC_ALL", "PYTHONHASHSEED", "MPLBACKEND", "OMP_NUM_THREADS", "MINE"):
        assert recipe(**{name: "1"}) != recipe(**{name: "2"}), name
    with pytest.raises(KernelError, match="PYTHONPATH is relative to a folder: '/a:b'"):
        recipe(PYTHONPATH="/a:b")


def test_an_interpreter_that_is_not_there_is_reported_as_usual(specs: Path, tmp_path: Path) -> None:
    write_spec(specs, "gone", ("/nowhere/python", "-m", "ipykernel_launcher", "-f", "x"))
    with pytest.raises(FileNotFoundError):
        start_forked(tmp_path, "gone")
    with pytest.raises(KernelError, match="interpreter cannot be run"):
        warm_up("/nowhere/python")


def test_a_folder_that_is_not_there_is_reported_as_usual(specs: Path, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        start_forked(tmp_path / "nowhere")


def test_an_interpreter_of_its_own_is_forked_too(specs: Path, tmp_path: Path) -> None:
    place = tmp_path / "other"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True)
    packages = sysconfig.get_path("purelib", vars={"base": str(place)})
    Path(packages, "all.pth").write_text(sysconfig.get_path("purelib"))
    python = str(place / "bin" / "python")
    write_spec(specs, "other", (python, "-m", "ipykernel_launcher", "-f", "{connection_file}"))
    with start_forked(tmp_path, "other") as other, start_forked(tmp_path) as ours:
        for kernel, executable in ((other, python), (ours, sys.executable)):
            assert provisioner_of(kernel).fallback_reason == ""
            assert run(kernel, "import sys; sys.executable").plain == [repr(executable)]


def test_installing_a_package_warms_a_new_process(specs: Path, tmp_path: Path) -> None:
    packages = tmp_path / "site-packages"
    packages.mkdir()
    environment = {**kernel_environment(), "PYTHONPATH": str(packages)}
    recipe = recipe_of([sys.executable], ["json"], environment)
    first = warmed_processes.get(recipe)
    assert warmed_processes.get(recipe) is first
    (packages / "new.py").write_text("")
    second = warmed_processes.get(recipe)
    assert second is not first
    deadline = time.monotonic() + 5
    while is_running(first.process.pid):
        assert time.monotonic() < deadline, "the old one stays"
        time.sleep(0.02)


def test_only_some_warmed_processes_are_kept(specs: Path) -> None:
    environment = kernel_environment()
    for number in range(6):
        warm_up(modules=["json"], environment={**environment, "LC_TEST": str(number)})
    kept = [dict(recipe.environment)["LC_TEST"] for recipe in warmed_processes._found]
    assert kept == ["2", "3", "4", "5"]


def launch_and_cancel(folder: Path, seconds: float) -> None:
    """Start a kernel, and change one's mind after so long."""

    async def launch() -> None:
        manager = AsyncKernelManager(
            kernel_name="forked", connection_file=str(folder / f"{seconds}.json")
        )
        starting = manager.start_kernel(cwd=str(folder), env=kernel_environment())
        try:
            await asyncio.wait_for(starting, seconds)
        except TimeoutError:
            manager.cleanup_connection_file()
        else:  # a quick machine was there before
            assert seconds, "it was not cancelled"
            await manager.shutdown_kernel(now=True)

    asyncio.run(launch())


def wait_for_no_child(process: int) -> None:
    deadline = time.monotonic() + 5
    while children_of(process):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_launch_that_is_cancelled_leaves_nothing(specs: Path, tmp_path: Path) -> None:
    warm_up(modules=["json"], environment=kernel_environment())
    ((_, warmed),) = warmed_processes._found.items()
    for milliseconds in (0, 5, 10, 20):
        launch_and_cancel(tmp_path, milliseconds / 1000)
    wait_for_no_child(warmed.process.pid)


def test_a_launch_that_is_cancelled_before_it_was_answered_leaves_nothing(
    specs: Path, tmp_path: Path
) -> None:
    """On a busy machine the warmed process may not come to it in time."""
    warm_up(modules=["json"], environment=kernel_environment())
    ((_, warmed),) = warmed_processes._found.items()
    os.kill(warmed.process.pid, signal.SIGSTOP)
    try:
        with warnings.catch_warnings(record=True) as unclosed:
            warnings.simplefilter("always", ResourceWarning)
            launch_and_cancel(tmp_path, 0.05)
            gc.collect()
    finally:
        os.kill(warmed.process.pid, signal.SIGCONT)
    assert [str(each.message) for each in unclosed] == []
    wait_for_no_child(warmed.process.pid)
    launch_and_cancel(tmp_path, 0)
    assert warmed.process.poll() is None, "whoever asks next is answered"


NBCLIENT = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("6 * 7")])
client = NotebookClient(notebook, kernel_name="forked")
client.km = client.create_kernel_manager()
with client.setup_kernel():
    client.execute_cell(notebook.cells[0], 0)
    found = client.km.provisioner
    print(type(found).__name__, repr(found.fallback_reason))
print(notebook.cells[0].outputs[0].data["text/plain"])
"""


def test_nbclient_works_with_it(specs: Path) -> None:
    # In a process of its own: it leaves an event loop behind.
    done = subprocess.run([sys.executable, "-c", NBCLIENT], capture_output=True, text=True)
    assert done.stdout.split() == ["ForkProvisioner", "''", "42"], done.stderr


def test_jupyter_clients_own_manager_works_with_it(specs: Path, tmp_path: Path) -> None:
    async def use() -> None:
        manager = AsyncKernelManager(kernel_name="forked")
        with open(tmp_path / "said.txt", "wb") as file:
            await manager.start_kernel(
                cwd=str(tmp_path),
                stdout=file,
                stderr=subprocess.STDOUT,
                extra_arguments=["--nonsense=1"],
            )
        assert isinstance(manager.provisioner, ForkProvisioner)
        assert manager.provisioner.fallback_reason == ""
        process = manager.provisioner.process
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.05)
        process.terminate()
        assert process.wait(10) is not None
        assert not await manager.is_alive()
        await manager.shutdown_kernel(now=True)

    asyncio.run(use())
    assert "nonsense" in (tmp_path / "said.txt").read_text(), "its streams are those it was given"


def test_a_fork_of_this_process_has_warmed_processes_of_its_own(specs: Path) -> None:
    warm_up(modules=["json"], environment=kernel_environment())
    owner, warmed_processes._owner = warmed_processes._owner, 0
    kept = dict(warmed_processes._found)
    try:
        assert warmed_processes.ready(next(iter(kept))) is None
        assert warmed_processes._owner == os.getpid() == owner
    finally:
        warmed_processes._found.update(kept)


def test_the_normal_kernel_is_not_touched(tmp_path: Path) -> None:
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        assert not isinstance(provisioner_of(kernel), ForkProvisioner)
