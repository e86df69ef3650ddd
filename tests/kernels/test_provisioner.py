"""Forked kernels: nothing leaks from one to the next, and nothing of them is left."""

from __future__ import annotations

import ast
import asyncio
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from kernels.forked_lane import children_of, is_running, provisioner_of, start_forked, write_spec
from kernels.lanes import kernel_environment, run, stopped_after

from cellwright.errors import KernelDiedError, KernelRestartedError
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.kernels.provisioner import warmed_processes

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

LOOKS = """
import numpy, pandas
import json, locale, os, resource, signal, stat, sys, threading, warnings
def kinds():
    for number in os.listdir("/proc/self/fd"):
        try:
            yield os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            pass
print(json.dumps({
    "environment": dict(os.environ), "cwd": os.getcwd(), "path": sys.path, "flags": str(sys.flags),
    "arguments": [a for a in sys.argv if "kernel.json" not in a], "main": sorted(vars()),
    "executable": sys.executable, "encoding": [sys.getfilesystemencoding(), locale.getlocale()],
    "signals": {s.name: str(signal.getsignal(s)).partition(" of ")[0].partition(" at ")[0]
        for s in signal.Signals if s.value < 32},
    "sockets": sum(kind.startswith("socket") for kind in kinds()),
    "files": sorted({kind for kind in kinds() if kind[0] == "/" and "/proc/" not in kind}),
    "limits": [resource.getrlimit(n) for n in range(16)], "umask": os.umask(0o22),
    "threads": sorted(t.name.split()[0] for t in threading.enumerate()),
    "filters": sorted(str(f) for f in warnings.filters), "excepthook": str(sys.excepthook)[:30],
    "leader": os.getsid(0) == os.getpgrp() == os.getpid(), "switch": sys.getswitchinterval(),
    "recursion": sys.getrecursionlimit(), "backend": os.environ["MPLBACKEND"],
}))
"""
PROCESS_OWN = ("JPY_PARENT_PID", "JUPYTER_PATH", "COVERAGE")


@pytest.fixture(scope="module")
def specs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("specs")
    write_spec(folder, "forked", modules=["numpy", "pandas"])
    write_spec(folder, "limited", modules=["numpy", "pandas"], memory_limit_bytes=2 << 30)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        yield folder
    warmed_processes.close()


@pytest.fixture
def fork(specs: Path, tmp_path: Path) -> Iterator[Any]:
    """Start forked kernels that end with the test."""
    started: list[FreshKernel] = []

    def start(name: str = "forked", **environment: str) -> FreshKernel:
        kernel = start_forked(tmp_path, name, environment)
        started.append(kernel)
        assert provisioner_of(kernel).fallback_reason == ""
        return kernel

    yield start
    for kernel in started:
        kernel.close()


def told(kernel: FreshKernel, code: str) -> Any:
    """What a cell prints, read as a literal."""
    ran = run(kernel, code)
    assert ran.execution.status == "ok", ran.errors
    return ast.literal_eval(ran.text.strip().replace("true", "True").replace("null", "None"))


def process_of(kernel: FreshKernel) -> int:
    found: int = provisioner_of(kernel).process.pid
    return found


def wait_until_gone(*processes: int) -> None:
    deadline = time.monotonic() + 5
    while left := [number for number in processes if is_running(number)]:
        assert time.monotonic() < deadline, f"still there: {left}"
        time.sleep(0.02)


def test_a_forked_kernel_looks_like_a_normal_one(fork: Any, tmp_path: Path) -> None:
    first = fork()
    forked = told(fork(), LOOKS)
    with start_kernel(tmp_path, kernel_environment()) as kernel:
        normal = told(kernel, LOOKS)
    for found in (forked, normal):
        names = found["environment"]
        found["environment"] = {n: v for n, v in names.items() if not n.startswith(PROCESS_OWN)}
    # Who watches the parent has a number in a normal kernel, and a name in a forked one.
    threads = [re.sub("owner|Thread-1", "watch", name) for name in forked.pop("threads")]
    assert sorted(threads) == sorted(
        re.sub("Thread-1", "watch", name) for name in normal.pop("threads")
    )
    # ZeroMQ closes the sockets of a connection a while after that has gone.
    assert abs(forked.pop("sockets") - normal.pop("sockets")) <= 2
    differing = {key: (forked[key], normal[key]) for key in normal if forked[key] != normal[key]}
    for key, (one, other) in list(differing.items()):
        if isinstance(one, dict):
            differing[key] = ({*one.items()} - {*other.items()}, {*other.items()} - {*one.items()})
    assert not differing
    assert first.is_alive(), "another forked kernel was there meanwhile"


def test_changed_modules_do_not_reach_the_next_kernel(fork: Any) -> None:
    spoil = """
import builtins, math, sys
import numpy as np, pandas as pd
pd.set_option("display.max_rows", 3)
del pd.DataFrame.merge
np.pi, math.tau, builtins.sum, pd.extra = 3, 6, None, 1
np.set_printoptions(precision=1); np.seterr(all="raise")
sys.path.append("/spoiled"); sys.modules["json"] = None
sys.setrecursionlimit(500)
"""
    look = """
import builtins, json, math, sys
import numpy as np, pandas as pd
print([pd.get_option("display.max_rows"), hasattr(pd.DataFrame, "merge"), np.pi == math.pi,
    math.tau > 6.1, sum([1]), hasattr(pd, "extra"), np.get_printoptions()["precision"],
    np.geterr()["over"], "/spoiled" in sys.path, sys.getrecursionlimit() > 500])
"""
    first = fork()
    assert run(first, spoil).execution.status == "ok"
    clean = [60, True, True, True, 1, False, 8, "warn", False, True]
    assert told(fork(), look) == clean
    assert told(fork(), look) == clean


def test_environment_and_folder_are_the_kernels_own(fork: Any, tmp_path: Path) -> None:
    look = "import os; print([os.environ.get('LEFT'), os.environ.get('GIVEN'), os.getcwd()])"
    first = fork(GIVEN="one")
    run(first, "import os; os.environ['LEFT'] = os.environ['GIVEN'] = 'x'; os.putenv('PUT', '1')")
    run(first, "os.chdir('/'); os.umask(0)")
    second = fork(GIVEN="two")
    assert told(second, look) == [None, "two", str(tmp_path)]
    assert run(second, "!echo $GIVEN-$PUT").text.strip() == "two-"
    assert told(fork(), "import os; print([os.umask(0o22), os.environ.get('GIVEN')])") == [18, None]


def test_random_numbers_differ_and_a_seed_stays_where_it_was_set(fork: Any) -> None:
    draw = (
        "import random, uuid, tempfile, numpy as np\n"
        "print([random.random(), float(np.random.rand()), float(np.random.default_rng().random()),"
        " uuid.uuid4().hex, tempfile.mktemp(), get_ipython().kernel.session.session])"
    )
    kernels = [fork(), fork()]
    run(kernels[0], "import random, numpy as np; random.seed(0); np.random.seed(0)")
    drawn = [told(kernel, draw) for kernel in [*kernels, fork()]]
    for row in zip(*drawn, strict=True):
        assert len(set(row)) == 3, row


def test_files_threads_and_tasks_stay_behind(fork: Any, tmp_path: Path) -> None:
    first = fork()
    leave = """
import asyncio, atexit, os, signal, threading, time
kept = open("kept.txt", "w"); descriptor = os.open(".", os.O_RDONLY)
threading.Thread(target=time.sleep, args=(60,), name="left", daemon=True).start()
task = asyncio.ensure_future(asyncio.sleep(60))
atexit.register(open, "left.txt", "w"); signal.signal(signal.SIGUSR1, print); signal.alarm(600)
"""
    run(first, leave)
    look = """
import os, signal, threading
files = [os.readlink(f"/proc/self/fd/{n}") for n in os.listdir("/proc/self/fd")
    if os.path.exists(f"/proc/self/fd/{n}")]
print([[f for f in files if "kept" in f or os.path.isdir(f) and "fd" not in f],
    "left" in [t.name for t in threading.enumerate()], str(signal.getsignal(signal.SIGUSR1)),
    signal.alarm(0), "kept" in globals()])
"""
    assert told(fork(), look) == [[], False, str(signal.SIG_DFL.value), 0, False]


@pytest.mark.serial
def test_ten_small_cells_do_not_wait_for_silence(fork: Any) -> None:
    """jupyter_client's own client waits 200 ms of silence; ten of those are two seconds."""
    kernel = fork()
    started = time.monotonic()
    for number in range(10):
        assert run(kernel, f"{number}").plain == [str(number)]
    assert time.monotonic() - started < 1.0


def test_a_cell_is_interrupted_busy_asleep_and_in_a_child(fork: Any) -> None:
    kernel = fork()
    for code in ("while True: pass", "import time; time.sleep(60)", "!sleep 60"):
        ran = stopped_after(kernel, code, 0.2)
        assert ran.cancelled is not None
        assert ran.seconds < 4
    assert run(kernel, "1 + 1").plain == ["2"]


@pytest.mark.parametrize(
    ("code", "exit_code"),
    [
        ("import os; os._exit(7)", 7),
        ("import ctypes; ctypes.string_at(0)", -signal.SIGSEGV),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", -signal.SIGKILL),
    ],
)
def test_a_kernels_death_is_noticed_with_its_exit_code(
    fork: Any, code: str, exit_code: int
) -> None:
    """K1, K2."""
    kernel = fork()
    with pytest.raises(KernelDiedError) as died:
        run(kernel, code)
    assert kernel.process.exit_code == exit_code
    assert ("memory ran out" in died.value.hint) == (exit_code == -signal.SIGKILL)
    assert not kernel.is_alive()


def test_a_restarted_kernel_is_another_fork(fork: Any) -> None:
    kernel = fork()
    run(kernel, "kept = 1")
    before = process_of(kernel)
    kernel.process.restart()
    with suppress(KernelRestartedError):  # unless the new one was heard before
        assert run(kernel, "kept").execution.status == "error"
    assert process_of(kernel) != before
    assert run(kernel, "'kept' in globals()").plain == ["False"]
    wait_until_gone(before)


def test_a_kernel_that_is_asked_to_end_ends_of_itself(fork: Any) -> None:
    """Its own threads once kept half of the forked kernels from ending."""
    for _ in range(8):
        kernel = fork()
        process = provisioner_of(kernel).process
        started = time.monotonic()
        kernel.close()
        assert process.returncode == 0
        assert time.monotonic() - started < 3


def test_nothing_that_a_kernel_started_outlives_it(fork: Any) -> None:
    kernel = fork()
    start = """
import os, subprocess, time, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # later Pythons warn of forks
one = subprocess.Popen(["sleep", "60"]).pid
two = subprocess.Popen(["sleep", "60"], start_new_session=True).pid
reader, writer = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.write(writer, str(os.getpid()).encode())
        time.sleep(60)
    os._exit(0)
print([one, two, int(os.read(reader, 20))])
"""
    started = [*told(kernel, start), process_of(kernel)]
    assert all(map(is_running, started))
    other = fork()
    kernel.process.end(now=True)
    assert not any(map(is_running, started)), "gone already when it is told to have ended"
    assert run(other, "1").plain == ["1"]


def test_a_limit_of_memory_makes_an_error_not_a_death(fork: Any, specs: Path) -> None:
    for name, fork_it in (("limited", True), ("limited", False)):
        kernel = fork(name) if fork_it else start_forked(specs, name, {"PYTHONPATH": "relative"})
        assert bool(provisioner_of(kernel).fallback_reason) != fork_it
        error = run(kernel, "import numpy; numpy.ones(3 << 28)").execution.error
        assert error is not None
        assert "MemoryError" in error.ename
        assert run(kernel, "1").plain == ["1"]
        kernel.close()


OWNER = """
import os, sys, time
from pathlib import Path
from kernels.forked_lane import start_forked, provisioner_of, children_of
from kernels.lanes import run
if __name__ == "__main__":
    kernels = [start_forked(Path.cwd()) for _ in range(2)]
    assert not any(provisioner_of(kernel).fallback_reason for kernel in kernels)
    child = run(kernels[0], "import subprocess; print(subprocess.Popen(['sleep', '60']).pid)").text
    busy = kernels[1]._channels.send("execute_request", {"code": "while True: pass",
        "silent": False, "store_history": True, "user_expressions": {}, "allow_stdin": False})
    (warmed,) = children_of(os.getpid())
    if "warmed first" in sys.argv:
        os.kill(warmed, 9)
    print(*[provisioner_of(kernel).process.pid for kernel in kernels], int(child), warmed)
    sys.stdout.flush()
    time.sleep(60)
"""


@pytest.mark.parametrize("order", ["owner only", "warmed first"])
def test_killing_the_process_that_asked_ends_everything(
    specs: Path, tmp_path: Path, order: str
) -> None:
    script = tmp_path / "owner.py"
    script.write_text(OWNER)
    folders = [str(Path(__file__).parent.parent), *filter(os.path.isabs, sys.path)]
    environment = {
        **kernel_environment(),
        "PYTHONPATH": os.pathsep.join(folders),
        "PYTHONSAFEPATH": "1",
    }

    async def own() -> list[int]:
        owner = await asyncio.create_subprocess_exec(
            *(sys.executable, str(script), order),
            cwd=tmp_path,
            env=environment,
            stdout=asyncio.subprocess.PIPE,
        )
        assert owner.stdout is not None
        line = await asyncio.wait_for(owner.stdout.readline(), 30)
        processes = [int(number) for number in line.split()]
        assert all(map(is_running, processes[:3]))
        owner.kill()
        await owner.wait()
        return processes

    processes = asyncio.run(own())
    assert len(processes) == 4
    wait_until_gone(*processes)


def test_kernels_outlive_the_warmed_process_and_the_next_one_is_warmed_anew(fork: Any) -> None:
    kernel = fork(LC_NUMERIC="C")
    (recipe,) = [r for r in warmed_processes._found if ("LC_NUMERIC", "C") in r.environment]
    warmed = warmed_processes._found[recipe].process
    os.kill(warmed.pid, signal.SIGKILL)
    wait_until_gone(warmed.pid)
    assert run(kernel, "6 * 7").plain == ["42"]
    assert stopped_after(kernel, "import time; time.sleep(60)", 0.2).seconds < 2
    second = fork(LC_NUMERIC="C")
    assert run(second, "6 * 7").plain == ["42"]
    assert warmed_processes._found[recipe].process.pid != warmed.pid
    os.kill(process_of(kernel), signal.SIGKILL)
    with pytest.raises(KernelDiedError):
        run(kernel, "1")
    assert kernel.process.exit_code == 255, "nobody was told the real one"


def test_kernels_of_a_process_end_with_the_last_of_them(fork: Any) -> None:
    kernel = fork(LC_TIME="C")
    (recipe,) = [r for r in warmed_processes._found if ("LC_TIME", "C") in r.environment]
    warmed = warmed_processes._found.pop(recipe)
    warmed.close()
    assert run(kernel, "1").plain == ["1"]
    assert children_of(warmed.process.pid) == [process_of(kernel)]
    kernel.close()
    wait_until_gone(warmed.process.pid)
