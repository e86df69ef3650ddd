"""The kill test, through the whole agent: SIGKILL after every event of a run.

One process is looked at after each of its events: it is stopped, its files are copied, and it goes
on. A stopped process has on disk what it would have left if it had been killed there. In the end it
is killed, so that whoever reads the copies finds its process gone.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest
from fake_service import FakeService, text, tool_call
from kernels.forked_lane import is_running
from magics.live_kernel import LiveKernel

from cellwright.exports.notebook import export
from cellwright.record.outputs import StreamOutput
from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

SCRIPT = Path(__file__).with_name("agent_to_kill.py")
EVENTS = 12
MOMENTS = 12

pytestmark = pytest.mark.kernel


@contextmanager
def stopped(process: int) -> Iterator[None]:
    """Let a process do nothing, none of its threads, during the block."""
    os.kill(process, signal.SIGSTOP)
    until = time.monotonic() + 10
    while psutil.Process(process).status() != psutil.STATUS_STOPPED:
        assert time.monotonic() < until, "it goes on"
        time.sleep(0.001)
    try:
        yield
    finally:
        os.kill(process, signal.SIGCONT)


def run_until_killed(folder: Path) -> list[str]:
    """Run the agent and kill it in the middle of its run; the events it showed until then.

    What would be on disk after the event of number ``n`` is copied to the subfolder ``n``.
    """
    home, shown = folder / "home", list[str]()
    script = [tool_call("run_cell", {"code": "print('hello')"}), text("Done.")]
    with (
        FakeService(script) as service,
        subprocess.Popen(
            [sys.executable, str(SCRIPT), str(home), service.base_url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        while len(shown) < EVENTS:
            line = process.stdout.readline()
            if not line:
                raise AssertionError(process.communicate()[1])
            if not line.startswith("event "):
                continue
            if "model_silent" not in line:  # shown, never recorded
                shown.append(line.split()[1])
                with stopped(process.pid):
                    shutil.copytree(home, folder / str(len(shown)))
            if len(shown) < EVENTS:
                process.stdin.write("\n")
                process.stdin.flush()
        process.kill()
        process.communicate()
    return shown


def read_last_run(home: Path) -> tuple[tuple[str, ...], RunRecord]:
    """The kinds of the events that are on disk, and the record."""
    database = open_database(home / "runs.sqlite")
    try:
        store = RunStore(database)
        run_id = store.resolve("last")
        kinds = tuple(recorded.event.kind for recorded in store.events(run_id))
        return kinds, store.record(run_id)
    finally:
        database.close()


def test_a_process_killed_after_any_event_loses_nothing_it_had_shown(tmp_path: Path) -> None:
    """Fault S1."""
    shown = run_until_killed(tmp_path)
    assert "run_finished" not in shown
    assert {"cell_added", "cell_finished", "tool_finished"} <= set(shown)
    folders = {number: tmp_path / str(number) for number in range(1, EVENTS + 1)}
    for number, home in {**folders, EVENTS + 1: tmp_path / "home"}.items():
        recorded, record = read_last_run(home)
        assert list(recorded[: len(shown[:number])]) == shown[:number]
        assert (record.status, record.cause) == ("task error", "interrupted")
        assert "Go." in json.dumps(json.loads(export(record)))


LINES = """
import sys, time
for number in range(400):
    print("line", number, flush=number % 3 > 0)
    if number % 5 == 0: time.sleep(0.02)
"""


def test_a_kernel_killed_at_any_moment_has_recorded_what_it_showed(tmp_path: Path) -> None:
    """13.17: text of the agent's cells in the magics, which a front end has seen."""
    shown = [""]
    with FakeService() as service:
        live = LiveKernel(service, tmp_path)
        try:
            live.run("%load_ext cellwright")
            kernel = int(live.value("__import__('os').getpid()"))
            service.script = [tool_call("run_cell", {"code": LINES}), text("Done.")]
            live.client.execute("%%agent --mode auto\nprint lines", allow_stdin=False)
            while not shown[0]:
                shown[0] += "".join(seen_text(live))
            for moment in range(MOMENTS):
                time.sleep(0.037)
                with stopped(kernel):
                    seen = ""
                    while left := seen_text(live):
                        seen += "".join(left)
                    shutil.copytree(live.home, tmp_path / str(moment))
                shown.append(shown[-1] + seen)
            live.manager.signal_kernel(signal.SIGKILL)
            until = time.monotonic() + 10
            while is_running(kernel):
                assert time.monotonic() < until, "it does not end"
                time.sleep(0.01)
            records = [read_last_run(tmp_path / str(moment))[1] for moment in range(MOMENTS)]
        finally:
            live.close()
    for text_shown, record in zip(shown[1:], records, strict=True):
        assert record.cause == "interrupted"
        (cell,) = record.cells
        recorded = "".join(o.text for o in cell.cell.outputs if isinstance(o, StreamOutput))
        assert recorded.startswith(text_shown)
    assert len(set(shown)) > MOMENTS / 2, "the cell had ended"


def seen_text(live: LiveKernel) -> list[str]:
    """What the front end is shown next of a cell's text; nothing for a while: none came."""
    if not live.client.iopub_channel.socket.poll(100):
        return []
    message = live.client.session.recv(live.client.iopub_channel.socket)[1]
    if message["msg_type"] != "stream":
        return [""]
    return [message["content"]["text"]]
