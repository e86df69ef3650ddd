"""A Jupyter server in a process of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
from conftest import find_free_port
from server.live_tab import TabClient
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

__all__ = ["TOKEN", "KernelGatewayProcess", "ServerProcess"]

TOKEN = "token-of-the-tests"
START_SECONDS = 60.0
EXTENSIONS = {
    "cellwright": True,
    # What else is installed here is not needed, and costs a second at each start.
    "jupyter_lsp": False,
    "jupyter_server_fileid": False,
    "jupyter_server_terminals": False,
    "jupyter_server_ydoc": False,
    "jupyterlab": False,
    "notebook": False,
    "notebook_shim": False,
}


class ServerProcess:
    """A Jupyter server of its own, below a prefix as a hub gives it."""

    prefix = "/user/ada"
    health = "cellwright/v1/health"
    """A page below the prefix that answers once the server is there."""

    def __init__(self, folder: Path) -> None:
        self.port = find_free_port()
        self.options: dict[str, Any] = {}
        """More of the server's settings, by name."""
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}{self.prefix}/cellwright/v1"

    def command(self) -> list[str]:
        """What is run: a module and its options."""
        options = {
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.base_url": f"{self.prefix}/",
            "ServerApp.root_dir": str(self._folder),
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.jpserver_extensions": repr(EXTENSIONS),
            "IdentityProvider.token": TOKEN,
            **self.options,
        }
        return ["jupyter_server", *(f"--{name}={value}" for name, value in options.items())]

    def start(self) -> None:
        log = (self._folder / "server.log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", *self.command()],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it and its kernels at once, without a word."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def children(self) -> list[str]:
        """The processes that came of it and live."""
        found = psutil.Process(self.process_id).children(recursive=True)
        return [str(child) for child in found if child.status() != psutil.STATUS_ZOMBIE]

    def stop(self) -> int:
        """End it as a person does; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(20)

    async def fetch(self, path: str, **options: Any) -> Any:
        return await self.fetch_below_prefix(f"cellwright/v1/{path}", **options)

    async def fetch_below_prefix(self, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"token {TOKEN}"}
        url = f"http://127.0.0.1:{self.port}{self.prefix}/{path}"
        request = HTTPRequest(url, headers=headers, **options)
        response = await AsyncHTTPClient().fetch(request)
        return json.loads(response.body) if response.body else None

    async def tab(self, tab: TabClient | None = None) -> TabClient:
        request = HTTPRequest(f"ws://{self.address}/socket?token={TOKEN}")
        connection = await websocket_connect(request)
        name, nonce = (tab.tab, tab.nonce) if tab is not None else ("", "")
        client = TabClient(connection, name, nonce)
        await client.hello()
        return client

    async def up(self) -> None:
        """Wait until it answers."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                await self.fetch_below_prefix(self.health)
                return
            except (OSError, HTTPClientError):
                assert time.monotonic() < deadline, "the server did not start"
                await asyncio.sleep(0.05)


class KernelGatewayProcess(ServerProcess):
    """Jupyter's kernel gateway: kernels for other servers, and nothing else."""

    prefix = ""
    health = "api/kernelspecs"

    def command(self) -> list[str]:
        options = {
            "ip": "127.0.0.1",
            "port": self.port,
            "port_retries": 0,
            "auth_token": TOKEN,
        }
        given = (f"--KernelGatewayApp.{name}={value}" for name, value in options.items())
        return ["kernel_gateway", *given]
