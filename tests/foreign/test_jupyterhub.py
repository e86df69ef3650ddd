"""JupyterHub itself starts the server: undo and branches in a kernel behind hub and proxy."""

from __future__ import annotations

import json
import os
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest
from fake_service import MODEL, FakeService, text, tool_call
from foreign.servers import BIN, HERE, pick_port, running
from kernels.lanes import run
from kernels.snapshot_kernel import wait_for
from source_tree import PROJECT

from cellwright.kernels.fresh import FreshKernel
from cellwright.kernels.gateway import Gateway

TOKEN = "b1d60f2a95c74e3aa7c2f08e4d19c6b5"
START_SECONDS = 60.0
"""The hub answers before the server that it was asked for is there, on a busy machine."""
PROXY = BIN.parent / "node_modules" / ".bin" / "configurable-http-proxy"


class Hub:
    """A JupyterHub that runs."""

    def __init__(self, port: int, home: Path) -> None:
        self.url, self.home = f"http://127.0.0.1:{port}", home

    def ask(self, method: str, path: str) -> Any:
        """The answer of the hub, or of a server behind its proxy, as JSON."""
        headers = {"Authorization": f"token {TOKEN}"}
        request = urllib.request.Request(f"{self.url}/{path}", b"", headers, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            found = answer.read()
        return json.loads(found) if found else None

    def processes(self) -> list[str]:
        """What works in the user's folder: a server, its kernels and what came of them."""
        found = []
        for process in psutil.process_iter(["cmdline"]):
            with suppress(psutil.Error):
                if process.environ().get("CELLWRIGHT_HOME") == str(self.home / "record"):
                    found.append(" ".join(process.info["cmdline"] or ()))
        return found


@contextmanager
def serve_hub(folder: Path, service: FakeService) -> Iterator[Hub]:
    """JupyterHub, with a server for ada whose kernels ask a scripted model."""
    port, home = pick_port(), folder / "ada"
    sources = [str(PROJECT / "extension"), str(PROJECT / "kernel_magics")]
    given = {
        "port": port,
        "hub_port": pick_port(),
        "proxy_port": pick_port(),
        "proxy": str(PROXY),
        "cookie_secret_file": str(folder / "cookie_secret"),
        "home": str(home),
        "token": TOKEN,
        "environ": {
            "PYTHONPATH": os.pathsep.join(sources),
            "CELLWRIGHT_HOME": str(home / "record"),
            "CELLWRIGHT_OLLAMA": "off",
        },
    }
    words = [str(BIN / "jupyterhub"), "-f", str(HERE / "hub_config.py")]
    environ = {
        "CELLWRIGHT_TEST_HUB": json.dumps(given),
        "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]),
    }
    with running(words, port, "/hub/api/", folder / "hub.log", environ):
        yield Hub(port, home)


def agent_environ(service: FakeService, hub: Hub) -> dict[str, str]:
    """What the kernel is told, as a person sets it in a cell."""
    return {
        "CELLWRIGHT_BASE_URL": service.base_url,
        "CELLWRIGHT_API_KEY": "no-key",
        "CELLWRIGHT_MODEL": MODEL,
        "CELLWRIGHT_HOME": str(hub.home / "record"),
    }


def show(kernel: FreshKernel, expression: str) -> str:
    return run(kernel, f"print({expression})").text.strip()


def test_undo_and_branches_work_in_a_server_that_jupyterhub_started(tmp_path: Path) -> None:
    if not (BIN / "jupyterhub").exists() or not PROXY.exists():
        pytest.skip("make test-foreign installs JupyterHub and its proxy")
    with FakeService() as service, serve_hub(tmp_path, service) as hub:
        hub.ask("POST", "hub/api/users/ada")
        hub.ask("POST", "hub/api/users/ada/server")
        is_ready = wait_for(lambda: hub.ask("GET", "hub/api/users/ada")["server"], START_SECONDS)
        assert is_ready, (tmp_path / "hub.log").read_text()
        assert hub.ask("GET", "user/ada/cellwright/v1/health")["enabled"] is True
        gateway = Gateway(f"{hub.url}/user/ada", token=TOKEN)
        kernel = gateway.start(tmp_path / "empty", agent_environ(service, hub))
        with kernel:
            use_undo_and_branches(kernel, service)
            assert len(hub.processes()) > 4, "server, supervisor with its watcher, kernel, states"
        assert wait_for(lambda: len(hub.processes()) == 1), hub.processes()
        hub.ask("DELETE", "hub/api/users/ada/server")
        assert wait_for(lambda: not hub.processes()), hub.processes()


def use_undo_and_branches(kernel: FreshKernel, service: FakeService) -> None:
    assert run(kernel, "%load_ext cellwright\nrows = [1]; same = rows").execution.status == "ok"
    service.script = [tool_call("run_cell", {"code": "rows.clear(); more = 1"}), text("Done.")]
    run(kernel, "%agent --mode auto clear it")
    assert show(kernel, "rows, 'more' in globals()") == "[] True"
    run(kernel, "%agent undo")
    assert show(kernel, "rows, same is rows, 'more' in globals()") == "[1] True False"

    def attempt(request: Any) -> Any:
        if request.messages[-1]["role"] == "tool":
            return text("Done.")(request)
        return tool_call("run_cell", {"code": "rows.append(2)"})(request)

    service.script = attempt
    run(kernel, '%agent branch 2 "Append" --mode auto')
    assert show(kernel, "rows") == "[1]"
    run(kernel, "%agent branch keep 2")
    assert show(kernel, "rows, same is rows") == "[1, 2] True"
