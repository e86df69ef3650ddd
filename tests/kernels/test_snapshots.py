"""Going back in a live kernel under jupyter_client's own manager."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from kernels.snapshot_kernel import SNAPSHOTS, WAIT_SECONDS, SnapshotKernel, processes_of, wait_for

from cellwright.kernels.snapshots import memory_bytes

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]

STATE = """
import contextvars, decimal, json, os, random, sqlite3, threading
import numpy as np
import pandas as pd
df = pd.DataFrame({"x": range(1000), "y": list("ab") * 500})
same = df
numbers = [1, 2, [3]]
alias = numbers[2]
steps = (n * n for n in range(100))
next(steps)
random.seed(7)
np.random.seed(7)
class Point:
    def __init__(self, x): self.x = x
    def double(self): return self.x * 2
point = Point(21)
factor = 10
def scaled(x): return x * factor
json.marker = "before"
database = sqlite3.connect(":memory:")
database.execute("create table t(x)").connection.execute("insert into t values (1)")
own = threading.local()
own.value = "main"
setting = contextvars.ContextVar("setting")
setting.set("kept")
decimal.getcontext().prec = 7
file = open("notes.txt", "w+")
file.write("abcdef"); file.flush(); file.seek(2)
os.environ["SEEN"] = "before"
"""
DAMAGE = """
df = df[:5]; same.loc[0, "x"] = -1
alias.append(4); numbers.clear()
next(steps); next(steps)
random.random(); np.random.rand()
class Point:
    pass
point.x = 0
factor = 0
scaled.__code__ = (lambda x: None).__code__
json.marker = "after"
database.execute("insert into t values (2)")
own.value = "other"; setting.set("lost"); decimal.getcontext().prec = 3
file.read(3)
os.environ["SEEN"] = "after"; os.chdir("/")
del np, pd, alias
new = 1
"""
TOLD = """
print(df.shape, int(df.x[0]), same is df, numbers, alias is numbers[2], next(steps),
      random.random(), round(float(np.random.rand()), 6), point.double(), type(point) is Point,
      scaled(2), json.marker, database.execute("select * from t").fetchall(), own.value,
      setting.get(), decimal.getcontext().prec, file.read(2), os.environ["SEEN"],
      "new" in globals(), pd.__name__, type(df).__module__.split(".")[0], os.getcwd() != "/")
"""
AS_BEFORE = (
    "(1000, 2) 0 True [1, 2, [3]] True 1 0.32383276483316237 0.076308 42 True 20 before [(1,)] "
    "main kept 7 cd before False pandas pandas True"
)


def _note(shown: list[str], message: dict[str, Any]) -> None:
    shown.append(message["content"].get("text", ""))


def _do_once(waiting: list[Callable[[], object]], _: str) -> None:
    if waiting:
        waiting.pop()()


def _is_gone(group: int) -> bool:
    return not processes_of(group)


def _is_missing(file: Path) -> bool:
    return not file.exists()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SnapshotKernel]:
    kernel = SnapshotKernel(tmp_path_factory.mktemp("snapshots"))
    yield kernel
    kernel.close()


@pytest.fixture
def kernel(shared: SnapshotKernel) -> SnapshotKernel:
    shared.ask("drop")
    return shared


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[SnapshotKernel]:
    """A kernel that the test may break."""
    started = SnapshotKernel(tmp_path)
    yield started
    started.close()


def test_going_back_brings_every_variable_back_and_going_forth_brings_them_forth(
    kernel: SnapshotKernel,
) -> None:
    kernel.run(STATE)
    before = kernel.take()
    kernel.run(DAMAGE)
    answer = kernel.go_back(before, keep_now="after the run")
    assert answer["id"] == before
    assert kernel.run(TOLD) == AS_BEFORE
    (later,) = kernel.ask("list")
    assert (later["id"], later["label"], later["is_later"]) == (
        answer["now"],
        "after the run",
        True,
    )
    kernel.go_back(later["id"])
    assert kernel.run("print(new, df.shape, json.marker, os.getcwd())") == "1 (5, 2) after /"
    assert kernel.ask("list") == []


def test_going_back_overwrites_nothing_in_the_log_that_is_shared_with_whoever_started_the_kernel(
    tmp_path: Path,
) -> None:
    log = tmp_path / "log.txt"
    with log.open("w") as file:

        def note(text: str) -> None:
            file.write(f"{text}\n")
            file.flush()

        kernel = SnapshotKernel(tmp_path, stdout=file, stderr=file)
        try:
            note("A")
            kernel.run("mine = open('mine.txt', 'w+'); _ = mine.write('abc'); mine.seek(1)")
            before = kernel.take()
            kernel.run("mine.read()")
            note("B")
            kernel.go_back(before)
            note("C")
            assert kernel.run("print(mine.read(1))") == "b"
            lines = log.read_text().splitlines()
            assert [line for line in lines if line in ("A", "B", "C")] == ["A", "B", "C"]
        finally:
            kernel.close()


def test_fifty_rounds_leave_no_process_no_file_and_no_thread(kernel: SnapshotKernel) -> None:
    look = (
        "print(len(__import__('os').listdir('/proc/self/fd')), "
        "__import__('threading').active_count())"
    )
    kernel.run("round_, log = 0, []")
    seconds, first = [], []
    for count in range(50):
        before = kernel.take()
        kernel.run("round_ += 100; log.append(round_); del log")
        began = time.monotonic()
        kernel.go_back(before)
        kernel.run("round_ += 1; log.append(round_)")
        seconds.append(time.monotonic() - began)
        if count == 0:
            first = kernel.run(look).split()
    assert kernel.run("print(round_, log == [*range(1, 51)])") == "50 True"
    files, threads = kernel.run(look).split()
    assert threads == first[1]
    assert int(files) - int(first[0]) < 4  # the history's journal comes and goes
    # The supervisor, the one that sees its group's signals, and the kernel.
    assert wait_for(lambda: len(kernel.processes()) == 3), kernel.processes()
    assert sorted(seconds)[25] < 1.0


def test_after_going_back_it_is_interrupted_once_restarted_and_shut_down(
    fresh: SnapshotKernel,
) -> None:
    before = fresh.take()
    fresh.go_back(before)
    code = (
        "import time\ncount = 0\nfor _ in range(2):\n    try:\n        print('go', flush=True)\n"
        "        time.sleep(30 if _ == 0 else 0.3)\n"
        "    except KeyboardInterrupt: count += 1\nprint(count)"
    )
    # A signal to the whole group must not come twice, one to the process alone must come.
    for interrupt in (fresh.manager.interrupt_kernel, partial(os.kill, fresh.root, signal.SIGINT)):
        assert fresh.run(code, partial(_do_once, [interrupt])).split("\n")[-1] == "1"
    fresh.take()
    fresh.manager.restart_kernel()
    fresh.client.wait_for_ready(timeout=WAIT_SECONDS)
    assert fresh.run("print('before' in globals())") == "False"
    fresh.install()
    fresh.go_back(fresh.take())
    fresh.take()
    root = fresh.root
    fresh.manager.shutdown_kernel()
    assert wait_for(lambda: not processes_of(root)), processes_of(root)


def test_an_interrupt_by_message_hits_the_program_that_a_cell_waits_for(
    kernel: SnapshotKernel,
) -> None:
    def interrupt() -> None:
        client = kernel.client
        time.sleep(0.5)  # until the program has begun
        client.control_channel.send(client.session.msg("interrupt_request", {}))

    code = "import os; print('go', flush=True); print(os.system('sleep 30') > 0)"
    caught = f"try:\n    {code}\nexcept KeyboardInterrupt: print(True)"
    for _ in range(2):
        began = time.monotonic()
        assert kernel.run(caught, partial(_do_once, [interrupt])).split("\n")[-1] == "True"
        assert time.monotonic() - began < 15
        assert kernel.client.get_control_msg(timeout=WAIT_SECONDS)["content"]["status"] == "ok"
        kernel.go_back(kernel.take())


def test_whichever_process_is_killed_nothing_is_left_and_a_restart_works(
    fresh: SnapshotKernel,
) -> None:
    def prepare(*, goes_back: bool) -> None:
        fresh.install()
        ids = [fresh.take("one"), fresh.take("two")]
        if goes_back:
            fresh.go_back(ids[0])
            fresh.take("three")

    def renew() -> None:
        fresh.manager.restart_kernel(now=True)
        fresh.client.wait_for_ready(timeout=WAIT_SECONDS)
        assert fresh.run("print(6 * 7)") == "42"

    prepare(goes_back=False)
    (first, second) = fresh.ask("list")
    os.kill(first["process_id"], signal.SIGKILL)
    assert wait_for(lambda: [each["id"] for each in fresh.ask("list")] == [second["id"]])
    assert "not there" in fresh.ask("go_back", snapshot_id=first["id"])["refused"]
    assert fresh.run("print(1)") == "1"

    for goes_back, victim in ((False, "root"), (True, "root"), (True, "kernel")):
        if goes_back:
            prepare(goes_back=True)
        root = fresh.root
        kernel = int(fresh.run("import os; print(os.getpid())"))
        assert (kernel == root) is not goes_back
        os.kill(root if victim == "root" else kernel, signal.SIGKILL)
        assert wait_for(partial(_is_gone, root)), processes_of(root)
        assert wait_for(lambda: not fresh.manager.is_alive())
        renew()


def test_a_program_that_is_fed_through_a_pipe_sees_its_end_while_a_state_sleeps(
    kernel: SnapshotKernel,
) -> None:
    kernel.run(
        "import os, subprocess\n"
        "cat = subprocess.Popen(['cat'], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "reading, writing = os.pipe(); os.write(writing, b'in')"
    )
    before = kernel.take()
    assert kernel.run("print(cat.communicate(b'all', timeout=5)[0])") == "b'all'"
    kernel.go_back(before)
    told = (
        "try: cat.stdin.write(b'more'); cat.stdin.flush()\n"
        "except OSError as error: print(type(error).__name__)\n"
        "print(cat.stdout.read(), os.read(reading, 2))"
    )
    assert kernel.run(told).split("\n") == ["BrokenPipeError", "b'' b'in'"]


def test_what_waits_behind_the_request_is_done_by_the_kernel_that_comes(
    kernel: SnapshotKernel,
) -> None:
    kernel.run("x = 1")
    before = kernel.take()
    kernel.run("x = 2")
    snapshots = "__import__('sys').modules['_cellwright_forks.snapshots']"
    sent = [
        kernel.client.execute(code, allow_stdin=False)
        for code in (f"{snapshots}.go_back({before!r})", "x += 10", "print(x)")
    ]
    # A client that does not look at what is published does not subscribe again either.
    printed, ended = "", set[str]()
    while not ended >= set(sent):
        message = kernel.client.get_iopub_msg(timeout=WAIT_SECONDS)
        if message["msg_type"] == "stream":
            printed += message["content"]["text"]
        if message["content"].get("execution_state") == "idle":
            ended.add(message["parent_header"].get("msg_id", ""))
    replies = [kernel.client.get_shell_msg(timeout=WAIT_SECONDS) for _ in sent]
    answered = [reply["parent_header"]["msg_id"] for reply in replies]
    assert {reply["content"]["status"] for reply in replies} == {"ok"}
    assert answered == sent
    assert printed == "11\n"


def test_clients_find_their_subshells_again(kernel: SnapshotKernel) -> None:
    client = kernel.client
    info = client.kernel_info(reply=True, timeout=WAIT_SECONDS)
    if "kernel subshells" not in info["content"].get("supported_features", ()):
        pytest.skip("this ipykernel has no subshells")
    before = kernel.take()
    client.control_channel.send(client.session.msg("create_subshell_request"))
    subshell = client.get_control_msg(timeout=WAIT_SECONDS)["content"]["subshell_id"]
    kernel.go_back(before)
    message = client.session.msg("execute_request", {"code": "6 * 7", "silent": True})
    message["header"]["subshell_id"] = subshell
    client.shell_channel.send(message)
    reply = client.get_shell_msg(timeout=WAIT_SECONDS)
    assert reply["parent_header"]["msg_id"] == message["header"]["msg_id"]
    assert reply["content"]["status"] == "ok"


def test_the_oldest_are_dropped_and_none_is_taken_where_they_are_off(
    kernel: SnapshotKernel,
) -> None:
    ids = [kernel.take(kept=2) for _ in range(3)]
    assert [each["id"] for each in kernel.ask("list")] == ids[1:]
    assert kernel.ask("take", kept=0) == {"obstacles": ["snapshots are switched off"]}
    kernel.run("ballast = bytearray(64_000_000)")
    kernel.take()
    kernel.run("ballast[::1000] = bytes([1]) * len(ballast[::1000])")
    kernel.take(share=1e-6)
    assert wait_for(lambda: len(kernel.ask("list")) == 1)
    assert kernel.ask("drop")["dropped"]
    assert wait_for(lambda: "cellwright-snap" not in kernel.processes().values())


def test_a_timer_that_was_cancelled_and_has_not_quite_ended_is_in_nobodys_way(
    kernel: SnapshotKernel,
) -> None:
    kernel.run(
        "import threading; go = threading.Event()\n"
        "class Late(threading.Timer):\n"
        "    def run(self): go.wait()\n"
        "late = Late(60, print); late.start()"
    )
    assert "runs" in kernel.ask("take")["obstacles"][0]
    kernel.run("late.cancel()")
    assert kernel.take()
    kernel.run("go.set()")


def test_what_another_thread_imports_while_a_state_is_kept_can_be_imported_when_it_is_back(
    fresh: SnapshotKernel, tmp_path: Path
) -> None:
    (tmp_path / "slow.py").write_text("import time; time.sleep(2)\nready = 1\n")
    fresh.run(
        "import threading, time, sys; sys.path.insert(0, '.')\n"
        "threading.Thread(target=__import__, args=('slow',), name='cellwright test').start()\n"
        "while 'slow' not in sys.modules: time.sleep(0.01)"
    )
    kept = fresh.take()
    fresh.run("import slow; done = slow.ready")
    fresh.go_back(kept)
    assert fresh.run("import slow; print(slow.ready, 'done' in globals())") == "1 False"


def test_an_import_that_does_not_end_is_named(fresh: SnapshotKernel, tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("import time; time.sleep(600)\n")
    fresh.run(
        f"import threading, time, sys; sys.path.insert(0, '.')\n"
        f"sys.modules[{SNAPSHOTS!r} + '.awakening'].wait_for_imports.__defaults__ = (0.2,)\n"
        "target = dict(target=__import__, args=('endless',), daemon=True, name='cellwright test')\n"
        "threading.Thread(**target).start()\n"
        "while 'endless' not in sys.modules: time.sleep(0.01)"
    )
    wanted = ["the import of 'endless' goes on in another thread"]
    assert fresh.ask("take") == {"obstacles": wanted}


def test_what_several_hold_together_counts_as_held(kernel: SnapshotKernel) -> None:
    """None of them holds it alone, and all but one of them would not give it back."""
    kernel.run("ballast = bytearray(b'x') * 200_000_000")
    kernel.take()
    kernel.take()
    kernel.run("del ballast")
    assert 200e6 < kernel.ask("measure")["held_bytes"] < 300e6
    last = kernel.take(share=150e6 / memory_bytes())
    assert wait_for(lambda: [each["id"] for each in kernel.ask("list")] == [last])
    assert kernel.ask("measure")["held_bytes"] < 100e6


def test_steps_are_kept_of_the_last_run_only_and_push_out_no_run(kernel: SnapshotKernel) -> None:
    def kept() -> list[tuple[str, int]]:
        return [(row["run_id"], row["step"]) for row in kernel.ask("list")]

    kernel.ask("drop")
    kernel.take(run_id="a")
    for step in range(2, 10):
        kernel.take(run_id="a", step=step)
    assert kept() == [("a", 0), *(("a", step) for step in range(4, 10))]
    kernel.take(run_id="b")
    kernel.take(run_id="b", step=2)
    assert kept() == [("a", 0), ("b", 0), ("b", 2)]
    kernel.ask("drop")


def test_a_copy_is_a_kernel_of_its_own_and_can_be_kept(
    kernel: SnapshotKernel, tmp_path: Path
) -> None:
    kernel.run(STATE)
    before = kernel.take()
    kernel.run("numbers.append('later')")
    for snapshot_id, numbers in (("", "[1, 2, [3], 'later']"), (before, "[1, 2, [3]]")):
        connection = tmp_path / f"copy-{snapshot_id}.json"
        copy = kernel.ask("fork_copy", snapshot_id=snapshot_id, connection_file=str(connection))
        client = BlockingKernelClient(connection_file=str(connection))
        client.load_connection_file()
        client.start_channels()
        client.wait_for_ready(timeout=WAIT_SECONDS)
        shown: list[str] = []
        client.execute_interactive(
            "print(numbers, file.read(2)); numbers.append('copy'); df = None",
            output_hook=partial(_note, shown),
            timeout=WAIT_SECONDS,
        )
        assert "".join(shown).strip() == f"{numbers} cd"
        assert kernel.run("print(len(df), numbers)") == "1000 [1, 2, [3], 'later']"
        if snapshot_id:
            client.execute_interactive(
                "__import__('sys').modules['_cellwright_forks.snapshots'].offer()",
                timeout=WAIT_SECONDS,
            )
        client.stop_channels()
        if not snapshot_id:
            assert kernel.ask("end_copy")["ended"] == [copy["id"]]
            assert wait_for(partial(_is_missing, connection))
    kept = kernel.ask("adopt", copy_id=copy["id"], label="the second way")
    kernel.go_back(kept["id"], keep_now="before it was kept")
    assert kernel.run("print(df, numbers)") == "None [1, 2, [3], 'copy']"
    assert [each["label"] for each in kernel.ask("list")] == ["before", "before it was kept"]


def test_an_undo_leaves_the_memory_of_objects_shared_with_the_states(
    fresh: SnapshotKernel,
) -> None:
    """Whoever looks at all objects, and holds each for a moment, has to copy all their pages."""
    fresh.run(
        "import gc; gc.collect(); gc.disable(); rows = [[number] for number in range(600_000)]"
    )
    fresh.go_back(fresh.take(), keep_now="later")
    assert fresh.run("print(len(rows))") == "600000"
    (later,) = fresh.ask("list")
    assert later["is_later"]
    alone = fresh.run(
        "rows_of = [line.split() for line in open('/proc/self/smaps_rollup')]\n"
        "print(sum(int(row[1]) for row in rows_of if row[0] == 'Private_Dirty:'))"
    )
    assert int(alone) < 30_000, "kilobytes; the rows are 70,000"
