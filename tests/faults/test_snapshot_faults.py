"""SIGKILL of any process of undo and branches, at any moment, under a real Jupyter Server.

The notebook stays usable: the kernel answers, or the server starts it anew; undo works or says why
not. The record is true: no run is said to run, and none to be completed that was cut off. Nothing
is left when the kernel is shut down.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import suppress
from itertools import product
from pathlib import Path
from queue import Empty
from typing import Any

import psutil
import pytest
from fake_service import MODEL, FakeService, Request, Wire, text, tool_call
from jupyter_client.blocking.client import BlockingKernelClient
from kernels.snapshot_kernel import wait_for
from server.live_process import TOKEN, ServerProcess

from cellwright.record.events import RunFinished
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.timeout(300),
    pytest.mark.skipif("sys.platform != 'linux'"),
]

SEED = int(os.environ.get("SEED", "15"))
"""Other moments than the usual ones are for a longer look."""
LONGEST_ACTION_SECONDS = 40.0
VICTIMS = ("kernel", "supervisor", "watcher", "snapshot", "copy")
RUN = "%agent --mode auto go on"
BRANCH = '%agent branch 2 "Go on" --mode auto'
UNDO = "%agent undo"
KEEP = "%agent branch keep 1"
ACTIONS = {RUN: 0.6, UNDO: 0.4, BRANCH: 1.5, KEEP: 0.8}
"""What goes on when a process is killed, and about how many seconds it takes."""


def answer(request: Request) -> Wire:
    """A model that runs one cell and is done."""
    if request.messages[-1]["role"] == "tool":
        return text("Done.")(request)
    return tool_call("run_cell", {"code": "rows.append(len(rows)); __import__('time').sleep(.3)"})(
        request
    )


class ServedKernel:
    """A kernel of the server, and who looks on from beside it."""

    def __init__(self, server: ServerProcess, runtime: Path) -> None:
        self._server = server
        self._url = f"http://127.0.0.1:{server.port}{server.prefix}/api/kernels"
        self.id = self._ask("POST", "")["id"]
        self._connection_file = runtime / f"kernel-{self.id}.json"
        self.client = self._connect()
        self.shown = ""

    def _ask(self, method: str, path: str) -> Any:
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(self._url + path, b"", headers, method=method)
        with urllib.request.urlopen(request, timeout=30) as given:
            found = given.read()
        return json.loads(found) if found else None

    def _connect(self) -> BlockingKernelClient:
        client = BlockingKernelClient(connection_file=str(self._connection_file))
        client.load_connection_file()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=LONGEST_ACTION_SECONDS)
        except BaseException:
            client.stop_channels()
            raise
        return client

    @property
    def root(self) -> psutil.Process | None:
        """The process that the server started, if it lives."""
        found = psutil.Process(self._server.process_id).children()
        return next((each for each in found if each.status() != psutil.STATUS_ZOMBIE), None)

    def roles(self) -> dict[str, list[psutil.Process]]:
        """The processes of the kernel that live, by what they are."""
        found: dict[str, list[psutil.Process]] = {name: [] for name in VICTIMS}
        root = self.root
        if root is None:
            return found
        below = root.children(recursive=True)
        is_supervised = "ipykernel_launcher" not in root.cmdline()
        found["supervisor" if is_supervised else "kernel"].append(root)
        for process in below:
            with suppress(psutil.NoSuchProcess):
                if "ipykernel_launcher" not in process.cmdline():
                    found["watcher"].append(process)
                elif process.name() == "cellwright-snap":
                    found["snapshot"].append(process)
                elif is_supervised and process.ppid() == root.pid and not found["kernel"]:
                    found["kernel"].append(process)
                else:
                    found["copy"].append(process)
        return found

    def begin(self, code: str) -> str:
        self.shown = ""
        return str(self.client.execute(code, allow_stdin=False))

    def finish(self, request: str, root: int) -> str:
        """How a cell ended, what it showed is in ``shown``; empty: the kernel's process did."""
        deadline = time.monotonic() + LONGEST_ACTION_SECONDS
        while time.monotonic() < deadline:
            self._look()
            with suppress(Empty):
                reply = self.client.get_shell_msg(timeout=0.05)
                if reply["parent_header"].get("msg_id") == request:
                    self._look(0.1)
                    return str(reply["content"]["status"])
            if not psutil.pid_exists(root):
                return ""
        raise AssertionError(f"neither an answer nor an end: {self.roles()}")

    def _look(self, seconds: float = 0) -> None:
        # A connection that nobody looks at is not made again when the kernel goes back.
        with suppress(Empty):
            while True:
                content = self.client.get_iopub_msg(timeout=seconds)["content"]
                self.shown += content.get("text") or str(content.get("data", ""))

    def run(self, code: str) -> str:
        root = self.root
        assert root is not None
        return self.finish(self.begin(code), root.pid)

    def come_back(self) -> None:
        """Connect to the kernel that is there, once one answers.

        The one that is there first may have been hit, and end when all that came of it has.
        """
        self.client.stop_channels()
        deadline = time.monotonic() + LONGEST_ACTION_SECONDS
        while True:
            try:
                self.client = self._connect()
                return
            except RuntimeError:
                assert time.monotonic() < deadline, f"no kernel answers: {self.roles()}"

    def close(self) -> None:
        self.client.stop_channels()
        self._ask("DELETE", f"/{self.id}")


@pytest.fixture
def service() -> Iterator[FakeService]:
    with FakeService() as found:
        found.script = answer
        yield found


@pytest.fixture
def server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: FakeService
) -> Iterator[ServerProcess]:
    for name, value in {
        "CELLWRIGHT_BASE_URL": service.base_url,
        "CELLWRIGHT_API_KEY": "no-key",
        "CELLWRIGHT_MODEL": MODEL,
        "CELLWRIGHT_HOME": str(tmp_path / "home"),
        "CELLWRIGHT_OLLAMA": "off",
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
    }.items():
        monkeypatch.setenv(name, value)
    process = ServerProcess(tmp_path)
    process.options["AsyncIOLoopKernelRestarter.time_to_dead"] = 0.2
    process.options["AsyncIOLoopKernelRestarter.restart_limit"] = 100
    process.start()
    asyncio.run(process.up())
    yield process
    process.kill()


def check_record(home: Path) -> dict[str, int]:
    """How many runs ended how; each as its events say."""
    database = open_database(home / "runs.sqlite")
    try:
        store, counted = RunStore(database), dict[str, int]()
        for summary in store.list(limit=1_000):
            events = [recorded.event for recorded in store.events(summary.run_id)]
            ended = [event for event in events if isinstance(event, RunFinished)]
            assert summary.status != "running", summary
            assert len(ended) <= 1
            if not ended:
                assert (summary.status, summary.cause) == ("task error", "interrupted")
            assert store.record(summary.run_id).status in (summary.status, "running")
            counted[summary.status] = counted.get(summary.status, 0) + 1
        return counted
    finally:
        database.close()


def test_whichever_process_is_killed_whenever_the_notebook_stays_usable(
    server: ServerProcess, tmp_path: Path
) -> None:
    chance = random.Random(SEED)
    rounds = [*product(VICTIMS, ACTIONS)]
    chance.shuffle(rounds)
    kernel = ServedKernel(server, tmp_path / "runtime")
    told = []
    for number, (victim, action) in enumerate(rounds):
        began = time.monotonic()
        delay = chance.random() * ACTIONS[action]
        told.append(f"round {number}: {victim} after {delay:.2f} s of {action}")
        print(told[-1], flush=True)
        prepare(kernel, action)
        root = kernel.root
        assert root is not None
        request = kernel.begin(action)
        killed = threading.Timer(delay, kill_one, (kernel, victim))
        killed.start()
        kernel.finish(request, root.pid)
        killed.join()
        kernel.come_back()
        assert kernel.run("assert 6 * 7 == 42") == "ok", told[-1]
        undo_works_or_says_why_not(kernel)
        print(f"{time.monotonic() - began:.1f} s", flush=True)
    kernel.close()
    assert wait_for(lambda: not server.children()), server.children()
    counted = check_record(tmp_path / "home")
    print(counted)
    assert counted["completed"] > 0
    assert set(counted) <= {"completed", "task error", "cancelled"}, counted


def prepare(kernel: ServedKernel, action: str) -> None:
    """Have something to undo, to keep, and to lose."""
    assert kernel.run("%load_ext cellwright\nrows = globals().get('rows', [])") == "ok"
    if action != BRANCH:
        kernel.run(RUN)
    if action == KEEP:
        kernel.run(BRANCH)


def kill_one(kernel: ServedKernel, victim: str) -> None:
    """End one process of a kind at once; the kernel where there is none of that kind."""
    roles = kernel.roles()
    found = roles[victim] or roles["kernel"]
    if found:
        with suppress(ProcessLookupError):
            os.kill(found[-1].pid, signal.SIGKILL)


def undo_works_or_says_why_not(kernel: ServedKernel) -> None:
    kernel.run("%load_ext cellwright\nrows = [0]; same = rows")
    kernel.run(RUN)
    assert kernel.run("assert same == [0, 1], same") == "ok"
    assert kernel.run(UNDO) == "ok"
    said = kernel.shown
    if kernel.run("assert same is rows and rows == [0], rows") != "ok":
        assert "cannot be brought back" in said, said
