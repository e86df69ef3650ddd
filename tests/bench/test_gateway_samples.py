"""Samples in kernels behind a Jupyter Kernel Gateway.

Where none is installed a Jupyter server takes its place: it speaks the same API.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from conftest import find_free_port

from cellwright.bench.agents import open_agent
from cellwright.bench.checks import File, Variable
from cellwright.bench.runner import (
    Equipment,
    InfrastructureError,
    Job,
    Laboratory,
    attempt,
    equipped,
)
from cellwright.bench.suites import Item, Suite
from cellwright.errors import KernelError, KernelNotReadyError, SetupError
from cellwright.kernels.gateway import Gateway
from cellwright.settings import Limits
from cellwright.stopping import Stop

TOKEN = "token-of-the-tests"
START_SECONDS = 40.0
OPTIONS: dict[str, Callable[[int], dict[str, object]]] = {
    "kernel_gateway": lambda port: {
        "KernelGatewayApp.port": port,
        "KernelGatewayApp.port_retries": 0,
        "KernelGatewayApp.auth_token": TOKEN,
        "JupyterWebsocketPersonality.list_kernels": True,
    },
    "jupyter_server": lambda port: {
        "ServerApp.port": port,
        "ServerApp.port_retries": 0,
        "ServerApp.open_browser": False,
        "ServerApp.allow_root": True,
        "ServerApp.jpserver_extensions": "{}",
        "IdentityProvider.token": TOKEN,
    },
}


@contextmanager
def served(folder: Path, environ: Mapping[str, str] | None = None) -> Iterator[Gateway]:
    """A gateway, for as long as the ``with`` lasts."""
    port = find_free_port()
    program = "kernel_gateway" if find_spec("kernel_gateway") else "jupyter_server"
    options = OPTIONS[program](port)
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", program, *(f"--{name}={options[name]}" for name in options)],
            cwd=folder,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, **(environ or {})},
        )
    try:
        found = Gateway(f"http://127.0.0.1:{port}", token=TOKEN)
        deadline = time.monotonic() + START_SECONDS
        while not answers(found):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.1)
        yield found
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    with served(tmp_path_factory.mktemp("gateway")) as found:
        yield found


def answers(gateway: Gateway) -> bool:
    request = urllib.request.Request(f"{gateway.url}/api/kernels", headers=gateway.headers())
    try:
        with urllib.request.urlopen(request, timeout=2):
            return True
    except OSError:
        return False


@pytest.mark.kernel
def test_a_sample_runs_where_the_gateway_is_and_its_files_come_back(
    gateway: Gateway, tmp_path: Path
) -> None:
    given = tmp_path / "given.txt"
    given.write_text("7")
    item = Item(
        1,
        "x",
        setup=("import os; setting = os.environ['SETTING']",),
        files={"in/given.txt": given},
        limits=Limits(memory_limit_bytes=8_000_000_000),
        checks=(Variable("x", 7), Variable("setting", "on"), File("out/made.txt", exact="49")),
        reference=(
            "x = int(open('in/given.txt').read())",
            "os.makedirs('out'); print(x * x, end='', file=open('out/made.txt', 'w'))",
        ),
    )
    with equipped(Equipment(gateway=gateway), {"SETTING": "on"}) as (rooms, _):
        job = Job(Suite("far", (item,)), item, open_agent("oracle"))
        found = attempt(job, Laboratory(rooms), Stop())
    assert found.passed, (found.error, found.scores)
    assert found.env["kernel_way"] == "gateway"
    assert gateway.ask("GET", "") == [], "no kernel is left"


@pytest.mark.kernel
def test_a_file_that_was_deleted_there_is_gone_here(gateway: Gateway, tmp_path: Path) -> None:
    given = tmp_path / "given.txt"
    given.write_text("7")
    item = Item(1, "x", files={"in/gone.txt": given, "in/kept.txt": given})
    with (
        equipped(Equipment(gateway=gateway), {}) as (rooms, _),
        rooms.open(item, Stop()) as room,
    ):
        assert room.run("import os; os.remove('in/gone.txt')", 30).status == "ok"
        left = [path.name for path in room.folder.rglob("*.txt")]
    assert left == ["kept.txt"]


@pytest.mark.kernel
def test_a_kernel_there_is_stopped_watched_and_ended(gateway: Gateway, tmp_path: Path) -> None:
    with equipped(Equipment(gateway=gateway), {}) as (rooms, _):
        with rooms.open(Item(1, "x"), Stop(), tmp_path) as room:
            began = time.monotonic()
            cell = room.run("import time\nprint('on', flush=True)\ntime.sleep(60)", 0.5)
            assert (cell.status, cell.outputs[0]["text"]) == ("timeout", "on\n")
            assert time.monotonic() - began < 20
            assert room.run("print(1)", 30).status == "ok"
            assert room.kernel.is_alive()
            started = room.kernel.started()
            with pytest.raises(KernelError, match="memory cannot be limited"):
                started.limit_memory(2**80)
        assert not started.is_alive()


def test_a_gateway_that_is_not_there_or_no_gateway_is_no_failure_of_the_agent(
    gateway: Gateway, tmp_path: Path
) -> None:
    item = Item(1, "x", setup=("1",), reference=("1",))
    nowhere = Gateway(f"http://127.0.0.1:{find_free_port()}")
    stranger = Gateway(f"{gateway.url}/nothing", token=TOKEN)
    for wrong, words in ((nowhere, "cannot be asked"), (stranger, "There are no kernels")):
        with equipped(Equipment(gateway=wrong), {}) as (rooms, _):
            job = Job(Suite("far", (item,)), item, open_agent("oracle"))
            with pytest.raises(InfrastructureError, match=words):
                attempt(job, Laboratory(rooms), Stop())
    with pytest.raises(KernelNotReadyError, match="cannot be asked"):
        Gateway(gateway.url, token="wrong").ask("POST", "", {})


def test_a_gateway_without_its_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "websocket", None)
    with pytest.raises(SetupError, match=r"cellwright\[gateway\]"):
        Gateway("http://127.0.0.1:1")
