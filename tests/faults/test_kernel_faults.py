"""Kernel faults (reliability.md, table K), each done to a real kernel."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels.lanes import (
    Ran,
    RemoteShellKernel,
    process_of,
    read,
    run,
    start_client_lane,
    start_shell_lane,
    stopped_after,
    wait_until_subscribed,
)
from quick_kernels import without_forks

from cellwright.errors import (
    KernelDiedError,
    KernelError,
    KernelNotReadyError,
    KernelRestartedError,
    RunCancelled,
)
from cellwright.kernels import CellRequest
from cellwright.kernels.capture import ENDED, STUCK
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import FreshKernel
from cellwright.record.events import CellOutput
from cellwright.record.outputs import StreamOutput
from cellwright.stopping import Stop

# What befalls a kernel is the same however it was started (tests/kernels); a fork is there sooner.
pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]

SWALLOWS = """
import time
print("begun")
for _ in range({times}):
    try:
        time.sleep(20)
    except KeyboardInterrupt:
        pass
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[FreshKernel]:
    """A kernel to be broken."""
    with start_client_lane(tmp_path) as found:
        yield found


class Person:
    """Somebody else at the same kernel: a notebook's own connection."""

    def __init__(self, kernel: FreshKernel) -> None:
        self.client = kernel.process.client()
        self.client.start_channels(hb=False, stdin=False)
        wait_until_subscribed(self.client)

    def runs(self, code: str, *, stop_on_error: bool = True) -> str:
        return str(self.client.execute(code, stop_on_error=stop_on_error))

    def reply(self, message_id: str) -> dict[str, object]:
        while True:
            message = read(self.client.shell_channel, 20)
            if message["parent_header"].get("msg_id") == message_id:
                content: dict[str, object] = message["content"]
                return content


def wait_for_file(path: Path) -> None:
    until = time.monotonic() + 20
    while not path.exists():
        assert time.monotonic() < until, f"{path} does not come"
        time.sleep(0.01)


@pytest.fixture
def person(kernel: FreshKernel) -> Iterator[Person]:
    found = Person(kernel)
    yield found
    found.client.stop_channels()


def ran_until_death(kernel: ClientKernel, code: str) -> tuple[list[str], KernelDiedError, float]:
    texts: list[str] = []

    def keep(output: CellOutput) -> CellOutput:
        if isinstance(output.message, StreamOutput):
            texts.append(output.message.text)
        return output

    started = time.monotonic()
    with pytest.raises(KernelDiedError) as caught:
        list(kernel.execute(CellRequest("c", code), Stop(), keep))
    return texts, caught.value, time.monotonic() - started


@pytest.mark.parametrize(
    "death",
    [
        "import os; os._exit(1)",
        "import ctypes; ctypes.string_at(0)",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ],
    ids=["exit", "segfault", "killed as if out of memory"],
)
def test_a_dead_kernel_is_noticed_and_what_it_printed_is_kept(
    kernel: FreshKernel, death: str
) -> None:
    """K1, K2."""
    texts, error, seconds = ran_until_death(
        kernel, f"import time; print('last words', flush=True); time.sleep(0.3)\n{death}"
    )
    assert "".join(texts) == "last words\n"
    assert error.message == "The kernel's process is gone."
    assert "variables are lost" in error.hint
    assert ("memory ran out" in error.hint) == ("SIGKILL" in death)
    assert seconds < 5
    assert not kernel.is_alive()


def test_a_death_is_noticed_by_the_heartbeat_where_nobody_owns_the_process(
    kernel: FreshKernel,
) -> None:
    """K1: a connection that was given to us, as the panel's."""
    client = kernel.process.client()
    client.start_channels(stdin=False)
    try:
        lent = ClientKernel(client)
        assert run(lent, "1").plain == ["1"]
        _, error, seconds = ran_until_death(lent, "import os; os._exit(1)")
        assert error.message == "The kernel's process is gone."
        assert seconds < 5
    finally:
        client.stop_channels()


def test_without_a_manager_the_kernel_is_interrupted_by_message(kernel: FreshKernel) -> None:
    client = kernel.process.client()
    client.start_channels(stdin=False)
    try:
        ran = stopped_after(ClientKernel(client), "import time; time.sleep(30)", 0.4)
        assert ran.cancelled is not None
        assert ran.seconds < 3
    finally:
        client.stop_channels()


def restarted(kernel: FreshKernel, how: str) -> None:
    """As a person restarts it from a menu, politely, or as it is forced."""
    process = process_of(kernel)
    manager = process._manager
    process._wait_for(manager.restart_kernel, now=how == "forced")


@pytest.mark.parametrize("how", ["polite", "forced"])
@pytest.mark.parametrize("owner", ["manager", "heartbeat"])
def test_a_restart_during_a_cell_ends_it_at_once_and_the_new_kernel_works(
    kernel: FreshKernel, how: str, owner: str
) -> None:
    """K15: another client restarts the kernel while our cell runs."""
    client = kernel.process.client()
    client.start_channels(stdin=False)
    try:
        lent = ClientKernel(client, kernel.process if owner == "manager" else None)
        assert run(lent, "kept = 1; kept").plain == ["1"]
        before = lent.session
        ended_at: list[float] = []

        def restart() -> None:
            restarted(kernel, how)
            ended_at.append(time.monotonic())

        timer = threading.Timer(0.8, restart)
        timer.start()
        _, error, _ = ran_until_death(lent, "import time; time.sleep(60)")
        noticed_at = time.monotonic()
        timer.join()
        assert isinstance(error, KernelRestartedError)
        assert error.message == "The kernel was restarted, so its variables are lost."
        assert noticed_at - ended_at[0] < 2.5
        assert lent.probe("list_variables", {}) == []
        assert lent.session != before
        assert run(lent, "'kept' in globals()").plain == ["False"]
    finally:
        client.stop_channels()


@pytest.mark.parametrize("how", ["polite", "forced"])
def test_a_restart_between_two_cells_is_seen_by_the_session(kernel: FreshKernel, how: str) -> None:
    """K15: while the model thinks."""
    assert run(kernel, "1").plain == ["1"]
    before = kernel.session
    restarted(kernel, how)
    kernel.wait_until_free(Stop())
    assert kernel.session != before
    assert run(kernel, "2").plain == ["2"]


@pytest.mark.parametrize("how", ["polite", "forced"])
def test_a_cell_meant_for_the_kernel_before_a_restart_does_not_run_in_the_next(
    kernel: FreshKernel, how: str
) -> None:
    """K15: the restart comes between the run's look at the kernel and its cell."""
    assert run(kernel, "1").plain == ["1"]
    meant = CellRequest("late", "ran = 1", kernel_session=kernel.session)
    restarted(kernel, how)
    with pytest.raises(KernelRestartedError):
        list(kernel.execute(meant, Stop(), lambda output: output))
    assert run(kernel, "'ran' in globals()").plain == ["False"]


def test_a_restart_while_the_persons_cell_is_waited_for_is_survived(
    kernel: FreshKernel, person: Person
) -> None:
    run(kernel, "1")
    person.runs("import time; time.sleep(60)")
    time.sleep(0.3)
    timer = threading.Timer(0.5, restarted, (kernel, "forced"))
    timer.start()
    assert run(kernel, "2").plain == ["2"]
    timer.join()


class LoopingProcess:
    """The owner of a process that is gone at every second look, as one that is ever restarted."""

    def __init__(self) -> None:
        self.looks = 0

    def is_alive(self) -> bool:
        self.looks += 1
        return self.looks % 2 == 0

    def interrupt_kernel(self) -> None:
        raise AssertionError("nothing of ours runs")


def test_a_kernel_that_is_restarted_in_a_loop_is_not_waited_for(
    kernel: FreshKernel, person: Person
) -> None:
    """K16."""
    client = kernel.process.client()
    client.start_channels(stdin=False)
    try:
        person.runs("import time; time.sleep(60)")
        while read(person.client.iopub_channel, 20)["msg_type"] != "execute_input":
            pass
        lent = ClientKernel(client, LoopingProcess())
        started = time.monotonic()
        with pytest.raises(KernelDiedError, match="again and again") as caught:
            lent.wait_until_free(Stop())
        assert "log of the server" in caught.value.hint
        assert time.monotonic() - started < 20
    finally:
        client.stop_channels()


def test_after_a_restart_the_kernel_is_used_as_a_new_one(kernel: FreshKernel) -> None:
    """K15."""
    run(kernel, "lost = 1")
    process_of(kernel).restart()
    for _ in range(50):
        try:
            ran = run(kernel, "kept = 2")
            break
        except KernelError:
            time.sleep(0.1)
    assert ran.execution.status == "ok"
    assert [row["name"] for row in kernel.probe("list_variables", {})] == ["kept"]
    assert "did nothing" in run(kernel, "exit()").execution.note


def test_a_dead_kernel_refuses_the_next_cell(kernel: FreshKernel) -> None:
    kernel.process.end(now=True)
    with pytest.raises(KernelDiedError):
        run(kernel, "1")
    with pytest.raises(KernelError):
        kernel.probe("list_variables", {})


@pytest.mark.parametrize("times", [2, 9])
def test_code_that_swallows_interrupts_is_ended_all_the_same(
    kernel: FreshKernel, times: int
) -> None:
    """K6."""
    ran = run(kernel, SWALLOWS.format(times=times), timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert "still runs" not in ran.execution.note
    assert ran.text.startswith("begun\n")
    assert ran.seconds < 6
    assert run(kernel, "1").plain == ["1"]


IGNORES = "import signal, time\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\ntime.sleep(20)"
CATCHES_ALL = """
import time
while True:
    try:
        time.sleep(0.2)
    except BaseException: pass
"""


IN_A_FUNCTION = f"def endless():{CATCHES_ALL.replace(chr(10), chr(10) + '    ')}\nendless()"
IN_A_COROUTINE = f"import asyncio\nawait asyncio.sleep(0)\n{CATCHES_ALL}"


@pytest.fixture
def lent(kernel: FreshKernel) -> Iterator[ClientKernel]:
    """A connection to a kernel that is the person's."""
    client = kernel.process.client()
    client.start_channels(stdin=False)
    yield ClientKernel(client, kernel.process)
    client.stop_channels()


def test_code_that_ignores_interrupts_is_reported_and_left_to_the_person(
    kernel: FreshKernel, lent: ClientKernel
) -> None:
    """K7: nothing is restarted by itself."""
    ran = run(lent, IGNORES, timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert STUCK in ran.execution.note
    assert ran.seconds < 6
    assert kernel.is_alive()


def test_stop_does_not_wait_for_code_that_ignores_interrupts(
    kernel: FreshKernel, lent: ClientKernel
) -> None:
    """K7."""
    ran = stopped_after(lent, IGNORES, 0.3)
    assert ran.cancelled is not None
    assert STUCK in ran.cancelled.reason
    assert ran.seconds < 6
    assert kernel.is_alive()


def test_a_kernel_of_our_own_ends_with_code_that_ignores_interrupts(kernel: FreshKernel) -> None:
    """13.14."""
    ran = stopped_after(kernel, IGNORES, 0.3)
    assert ran.cancelled is not None
    assert ENDED in ran.cancelled.reason
    assert ran.seconds < 9
    assert not kernel.is_alive()


def test_a_kernel_of_our_own_is_said_to_be_dead_when_code_ignores_its_limit(
    kernel: FreshKernel,
) -> None:
    """13.14."""
    with pytest.raises(KernelDiedError, match="did not react"):
        run(kernel, IGNORES, timeout_seconds=0.3)
    assert not kernel.is_alive()


@pytest.mark.parametrize("code", [CATCHES_ALL, IN_A_FUNCTION, IN_A_COROUTINE])
def test_code_that_catches_everything_is_ended_and_its_kernel_lives(
    kernel: FreshKernel, lent: ClientKernel, code: str
) -> None:
    """13.14: by the third interrupt, before which nothing is raised outside the cell."""
    ran = run(lent, f"kept = 1\n{code}", timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert STUCK not in ran.execution.note
    assert ran.seconds < 6
    assert run(lent, "kept").plain == ["1"]


ENDS_SLOWLY = """
import time
try:
    while True:
        try:
            time.sleep(0.2)
        except KeyboardInterrupt: pass
finally:
    time.sleep(0.8)
"""


def test_code_that_ends_some_time_after_the_last_interrupt_is_not_said_to_go_on(
    lent: ClientKernel,
) -> None:
    """13.14: as on a busy machine, where the end of the cell comes late."""
    ran = run(lent, ENDS_SLOWLY, timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert STUCK not in ran.execution.note


SLOW_TO_SHOW = """
import time

def slow(show):
    def shown(*arguments, **options):
        until = time.monotonic() + 2.5
        while time.monotonic() < until:
            time.sleep(0.05)
        return show(*arguments, **options)
    return shown
"""
SHOWS_SLOWLY = """
import slow_to_show, time
shell = get_ipython()
shell.InteractiveTB.structured_traceback = slow_to_show.slow(
    shell.InteractiveTB.structured_traceback)
kept = 1
"""


def test_an_interrupt_that_takes_long_to_show_is_not_disturbed_by_the_next_ones(
    kernel: FreshKernel, tmp_path: Path
) -> None:
    """13.14: as on a busy machine, where a kernel of our own was ended in the middle of it."""
    (tmp_path / "slow_to_show.py").write_text(SLOW_TO_SHOW)
    run(kernel, SHOWS_SLOWLY)
    ran = run(kernel, "time.sleep(60)", timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert [error.ename for error in ran.errors] == ["KeyboardInterrupt"]
    assert run(kernel, "kept").plain == ["1"]


SLOW_TEXT = """
import time
waits = [60]
class Slow(Exception):
    def __str__(self):
        time.sleep(waits.pop() if waits else 0)
        return "told"
raise Slow
"""


def test_an_error_whose_text_takes_long_is_interrupted(kernel: FreshKernel) -> None:
    """13.14: its text is the cell's own code."""
    ran = run(kernel, SLOW_TEXT, timeout_seconds=0.3)
    assert ran.execution.status == "timeout"
    assert ran.seconds < 5
    assert run(kernel, "1").plain == ["1"]


def test_in_the_persons_shell_even_code_that_swallows_interrupts_is_ended(tmp_path: Path) -> None:
    """K6."""
    shell = start_shell_lane(tmp_path)
    try:
        ran = run(shell, SWALLOWS.format(times=9), timeout_seconds=0.3)
        assert ran.execution.status == "timeout"
        assert ran.seconds < 5
        assert run(shell, "1").plain == ["1"]
    finally:
        shell.close()


def test_a_fork_that_goes_on_does_not_end_the_cell_twice(kernel: FreshKernel) -> None:
    """K17."""
    code = """
import os, time
child = os.fork()
if child == 0:
    time.sleep(0.2)
else:
    os.waitpid(child, 0) if False else time.sleep(0.5)
print("parent" if child else "child")
"""
    ran = run(kernel, code)
    assert ran.execution.status == "ok"
    assert "parent\n" in ran.text
    assert run(kernel, "'next'").plain == ["'next'"]


def test_what_a_task_prints_later_belongs_to_its_own_cell(kernel: FreshKernel) -> None:
    """K18."""
    code = """
import asyncio
async def later():
    await asyncio.sleep(0.3)
    print("late", flush=True)
task = asyncio.create_task(later())
"""
    run(kernel, code, cell_id="first")
    ran = run(kernel, "await asyncio.sleep(0.8); print('now')", cell_id="second")
    texts = [(m.cell_id, m.message.text) for m in ran.messages if m.message.kind == "stream"]
    assert texts == [("first", "late\n"), ("second", "now\n")]


def test_what_a_thread_prints_later_is_not_lost(kernel: FreshKernel) -> None:
    """K18: ipykernel 7 no longer says which cell the thread is from."""
    code = """
import threading, time
def later():
    time.sleep(0.3)
    print("late", flush=True)
threading.Thread(target=later).start()
"""
    run(kernel, code, cell_id="first")
    ran = run(kernel, "import time; time.sleep(0.8)", cell_id="second")
    (late,) = ran.messages
    assert late.cell_id in ("first", "second")
    assert late.message == StreamOutput("stdout", "late\n")


def test_a_wedged_kernel_is_reported_and_not_waited_for(kernel: FreshKernel) -> None:
    """K20."""
    wedged = run(kernel, "get_ipython().displayhook = None", timeout_seconds=0.5)
    assert wedged.execution.status in ("timeout", "error")
    started = time.monotonic()
    with pytest.raises(KernelNotReadyError, match="did not") as caught:
        run(kernel, "1", timeout_seconds=1)
    assert time.monotonic() - started < 15
    assert "estart it" in caught.value.hint


def test_the_persons_own_cell_is_waited_for_and_never_interrupted(
    kernel: FreshKernel, person: Person, tmp_path: Path
) -> None:
    """K32."""
    run(kernel, "1")
    theirs = person.runs(
        "import os, time\nopen('begun', 'w').close()\n"
        "while not os.path.exists('go on'): time.sleep(0.01)\ndone = True"
    )
    wait_for_file(tmp_path / "begun")
    ran = stopped_after(kernel, "mine = 1", 0.4)  # it would wait for ever for the person's cell
    assert ran.cancelled is not None
    (tmp_path / "go on").touch()
    assert person.reply(theirs)["status"] == "ok"
    assert run(kernel, "done").plain == ["True"]
    names = [row["name"] for row in kernel.probe("list_variables", {})]
    assert "mine" not in names


def test_a_cell_runs_after_the_persons_own_has_ended(kernel: FreshKernel, person: Person) -> None:
    """K32: the time limit counts from when the cell begins."""
    run(kernel, "1")
    person.runs("import time; time.sleep(1.2); done = 5")
    time.sleep(0.2)
    kernel.interrupt()
    ran = run(kernel, "done + 1", timeout_seconds=0.5)
    assert ran.plain == ["6"]


def test_a_kernel_that_is_busy_when_we_connect_is_waited_for(
    kernel: FreshKernel, person: Person
) -> None:
    """K32."""
    person.runs("import time; time.sleep(1.2); done = 5")
    time.sleep(0.2)
    client = kernel.process.client()
    client.start_channels(hb=False, stdin=False)
    try:
        assert run(ClientKernel(client, kernel.process), "done").plain == ["5"]
    finally:
        client.stop_channels()


def test_a_flood_of_output_does_not_hide_the_end(kernel: FreshKernel) -> None:
    """K37."""
    code = (
        "import sys\nfor n in range(5000): sys.stdout.write('x' * 200); sys.stdout.flush()\n'end'"
    )
    ran = run(kernel, code)
    assert ran.plain == ["'end'"]
    assert len(ran.text) == 1_000_000


def test_an_error_of_ours_does_not_abort_the_persons_queued_cells(
    kernel: FreshKernel, person: Person
) -> None:
    """K38."""
    run(kernel, "1")
    results: list[Ran] = []
    ours = threading.Thread(
        target=lambda: results.append(run(kernel, "import time; time.sleep(0.6); 1 / 0"))
    )
    ours.start()
    time.sleep(0.3)
    theirs = person.runs("untouched = 1")
    ours.join()
    assert results[0].execution.status == "error"
    assert person.reply(theirs)["status"] == "ok"


def test_a_cell_that_the_kernel_skipped_says_so(kernel: FreshKernel, person: Person) -> None:
    """K38: the person's failing cell aborts what is queued behind it."""
    run(kernel, "1")
    for message in kernel._channels.receive(0):
        kernel._note(message)
    person.runs("import time; time.sleep(0.4); 1 / 0")
    running = kernel.execute(CellRequest("c", "skipped = 1"), Stop(), lambda output: output)
    status = ""
    try:
        while True:
            next(running)
    except StopIteration as finished:
        status = finished.value.status
    assert status in ("aborted", "ok")


def test_memory_stays_bounded_at_two_hundred_megabytes_of_output(kernel: FreshKernel) -> None:
    """K9."""
    import psutil

    process = psutil.Process()
    before = process.memory_info().rss
    code = "for n in range(200): print('x' * 1_000_000)"
    ran = run(kernel, code, output_limit_bytes=20_000_000)
    assert ran.execution.status in ("ok", "interrupted")
    assert process.memory_info().rss - before < 150_000_000
    assert sum(len(m.text) for m in ran.raw if isinstance(m, StreamOutput)) < 20_001_000


def test_closing_a_kernel_leaves_no_process(tmp_path: Path) -> None:
    kernel = start_client_lane(tmp_path)
    process_id = kernel.describe().process_id
    folder = process_of(kernel)._folder
    assert process_id is not None
    kernel.close()
    kernel.close()
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)
    assert not os.path.exists(folder)


def test_an_exception_in_a_with_block_ends_the_kernel(tmp_path: Path) -> None:
    process_ids: list[int | None] = []

    def interrupted() -> None:
        with start_client_lane(tmp_path) as kernel:
            process_ids.append(kernel.describe().process_id)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    (process_id,) = process_ids
    assert process_id is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process_id, 0)


def test_leaving_a_cell_half_way_interrupts_it(kernel: FreshKernel) -> None:
    running = kernel.execute(
        CellRequest("c", "import time; print('a', flush=True); time.sleep(30)"),
        Stop(),
        lambda output: output,
    )
    next(running)
    running.close()
    started = time.monotonic()
    assert run(kernel, "1").plain == ["1"]
    assert time.monotonic() - started < 3


def test_a_record_that_cannot_be_written_stops_the_cell(kernel: FreshKernel) -> None:
    def broken(output: CellOutput) -> CellOutput:
        raise OSError("disk full")

    code = "import time\nfor n in range(100): print(n, flush=True); time.sleep(0.2)"
    started = time.monotonic()
    with pytest.raises(OSError, match="disk full"):
        list(kernel.execute(CellRequest("c", code), Stop(), broken))
    assert time.monotonic() - started < 3
    assert run(kernel, "1").plain == ["1"]


def test_an_interrupt_by_the_person_cancels_the_run(kernel: FreshKernel) -> None:
    """K12."""
    timer = threading.Timer(0.4, kernel.process.interrupt_kernel)
    timer.start()
    ran = run(kernel, "import time; print('a'); time.sleep(30)")
    timer.join()
    assert ran.cancelled is not None
    assert ran.cancelled.reason == "interrupted by the person"
    assert ran.text == "a\n"


def test_our_own_interrupt_reaches_only_our_own_cell(kernel: FreshKernel, person: Person) -> None:
    """K32."""
    theirs = person.runs("import time; time.sleep(0.8)")
    time.sleep(0.2)
    kernel.interrupt()
    assert person.reply(theirs)["status"] == "ok"
    timer = threading.Timer(0.4, kernel.interrupt)
    timer.start()
    assert run(kernel, "import time; time.sleep(30)").cancelled is not None


def test_stop_in_the_shell_works_from_another_thread(tmp_path: Path) -> None:
    """K12: a painted cell's own Stop button."""
    shell: RemoteShellKernel = start_shell_lane(tmp_path)
    try:
        request = CellRequest("c", "import time; print('a'); time.sleep(30)")
        started = time.monotonic()
        with pytest.raises(RunCancelled, match="stopped by the user"):
            list(shell.execute(request, Stop(), lambda output: output, stop_after=0.4))
        assert time.monotonic() - started < 3
    finally:
        shell.close()


def test_a_kernel_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys, time\n"
        "from cellwright.kernels.fresh import start_kernel\n"
        "kernel = start_kernel()\n"
        "print(kernel.describe().process_id, flush=True)\n"
        "time.sleep(60)\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env=without_forks(),
    )
    assert starter.stdout is not None
    process_id = int(starter.stdout.readline())
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    os.kill(process_id, signal.SIGKILL)
    pytest.fail("the kernel outlived the process that started it")
