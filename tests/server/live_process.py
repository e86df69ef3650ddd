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

from conftest import find_free_port
from server.live_tab import TabClient
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

__all__ = ["TOKEN", "ServerProcess"]

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

    def __init__(self, folder: Path) -> None:
        self.port = find_free_port()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}/user/ada/cellwright/v1"

    def start(self) -> None:
        options = {
            "ServerApp.port": self.port,
            "ServerApp.port_retries": 0,
            "ServerApp.base_url": "/user/ada/",
            "ServerApp.root_dir": str(self._folder),
            "ServerApp.open_browser": False,
            "ServerApp.allow_root": True,
            "ServerApp.jpserver_extensions": repr(EXTENSIONS),
            "IdentityProvider.token": TOKEN,
        }
        given = [f"--{name}={value}" for name, value in options.items()]
        log = (self._folder / "server.log").open("ab")
        with log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "jupyter_server", *given],
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill(self) -> None:
        """End it and its kernels at once, without a word."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)

    def stop(self) -> int:
        """End it as a person does; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(20)

    async def fetch(self, path: str, **options: Any) -> Any:
        headers = {"Authorization": f"token {TOKEN}"}
        request = HTTPRequest(f"http://{self.address}/{path}", headers=headers, **options)
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
                await self.fetch("health")
                return
            except (OSError, HTTPClientError):
                assert time.monotonic() < deadline, "the server did not start"
                await asyncio.sleep(0.05)
