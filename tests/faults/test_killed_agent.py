"""The kill test, through the whole agent: SIGKILL after every event of a run."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from fake_service import FakeService, text, tool_call
from magics.live_kernel import LiveKernel

from cellwright.exports.notebook import export
from cellwright.record.outputs import StreamOutput
from cellwright.record.run_record import RunRecord
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

SCRIPT = Path(__file__).with_name("agent_to_kill.py")
EVENTS = 12


@dataclass(frozen=True)
class Killed:
    """What a killed process left behind."""

    shown: tuple[str, ...]
    recorded: tuple[str, ...]
    record: RunRecord


def killed_after(count: int, home: Path) -> Killed:
    """Run the agent and kill its process once it has shown ``count`` events."""
    script = [tool_call("run_cell", {"code": "print('hello')"}), text("Done.")]
    with FakeService(script) as service:
        command = [sys.executable, str(SCRIPT), str(home), service.base_url]
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        shown: list[str] = []
        while len(shown) < count:
            line = process.stdout.readline()
            if not line:
                raise AssertionError(process.communicate()[1])
            if line.startswith("event "):
                if "model_silent" not in line:  # shown, never recorded
                    shown.append(line.split()[1])
                if len(shown) < count:
                    process.stdin.write("\n")
                    process.stdin.flush()
        process.kill()
        process.communicate()
    database = open_database(home / "runs.sqlite")
    store = RunStore(database)
    run_id = store.resolve("last")
    events = tuple(recorded.event.kind for recorded in store.events(run_id))
    killed = Killed(tuple(shown), events, store.record(run_id))
    database.close()
    return killed


@pytest.mark.kernel
@pytest.mark.parametrize("count", range(1, EVENTS + 1))
def test_a_process_killed_after_any_event_loses_nothing_it_had_shown(
    count: int, tmp_path: Path
) -> None:
    """Fault S1."""
    killed = killed_after(count, tmp_path)
    assert killed.recorded[: len(killed.shown)] == killed.shown
    assert killed.record.status == "task error"
    assert killed.record.cause == "interrupted"
    notebook = json.loads(export(killed.record))
    assert "Go." in json.dumps(notebook)


@pytest.mark.kernel
def test_the_run_that_is_killed_has_more_events_than_the_kill_test_looks_at(
    tmp_path: Path,
) -> None:
    killed = killed_after(EVENTS, tmp_path)
    assert "run_finished" not in killed.shown
    assert {"cell_added", "cell_finished", "tool_finished"} <= set(killed.shown)


LINES = """
import sys, time
for number in range(400):
    print("line", number, flush=number % 3 > 0)
    if number % 5 == 0: time.sleep(0.02)
"""


@pytest.mark.kernel
@pytest.mark.parametrize("moment", range(12))
def test_a_kernel_killed_at_any_moment_has_recorded_what_it_showed(
    moment: int, tmp_path: Path
) -> None:
    """13.17: text of the agent's cells in the magics, which a front end has seen."""
    with FakeService([tool_call("run_cell", {"code": LINES}), text("Done.")]) as service:
        live = LiveKernel(service, tmp_path)
        try:
            live.run("%load_ext cellwright")
            service.script = [tool_call("run_cell", {"code": LINES}), text("Done.")]
            live.client.execute("%%agent --mode auto\nprint lines", allow_stdin=False)
            shown: list[str] = []
            until = float("inf")
            while time.monotonic() < until:
                shown += seen_text(live)
                if "".join(shown) and until == float("inf"):
                    until = time.monotonic() + 0.05 + moment * 0.037
            live.manager.signal_kernel(signal.SIGKILL)
            while left := seen_text(live):
                shown += left
            record = live.last_run
        finally:
            live.close()
    assert record.cause == "interrupted"
    (cell,) = record.cells
    recorded = "".join(o.text for o in cell.cell.outputs if isinstance(o, StreamOutput))
    assert recorded.startswith("".join(shown))
    assert "".join(shown)


def seen_text(live: LiveKernel) -> list[str]:
    """What the front end is shown next of a cell's text; nothing for a while: none came."""
    if not live.client.iopub_channel.socket.poll(300):
        return []
    message = live.client.session.recv(live.client.iopub_channel.socket)[1]
    if message["msg_type"] != "stream":
        return [""]
    return [message["content"]["text"]]
