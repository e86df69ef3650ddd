"""A host of kernels without jupyter_client's manager: what VS Code's extension does, in Python.

It follows microsoft/vscode-jupyter, ``src/kernels/raw/launcher/kernelProcess.node.ts`` and
``src/kernels/raw/session/rawSocket.node.ts``: the kernel is a plain child with pipes, in the group
of its host; the ports are in a file that the host wrote; the heartbeat is not used; an interrupt is
a SIGINT to the one process; to end it, the processes below it get a SIGTERM each, and then it.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.connect import write_connection_file

MARK = "CELLWRIGHT_TEST_HOST"
END_SECONDS = 10.0


class VsCodeHost:
    """Holds the process that it started, and nothing else."""

    def __init__(self) -> None:
        self.process: subprocess.Popen[bytes] | None = None
        self._connection_file = ""

    @property
    def has_kernel(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def start_kernel(self, cwd: str, env: Mapping[str, str]) -> None:
        file = str(Path(cwd, "kernel-v2.json"))
        self._connection_file = write_connection_file(file)[0]
        usual = {k: v for k, v in env.items() if k != "JPY_PARENT_PID"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "ipykernel_launcher", f"--f={self._connection_file}"],
            cwd=cwd,
            env={**usual, MARK: file},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    def client(self) -> BlockingKernelClient:
        client = BlockingKernelClient(connection_file=self._connection_file)
        client.load_connection_file()
        return client

    def interrupt_kernel(self) -> None:
        assert self.process is not None
        os.kill(self.process.pid, signal.SIGINT)

    def shutdown_kernel(self, *, now: bool = False) -> None:
        """End it as the extension does; ``now``: at once, as a system that runs out of memory."""
        assert self.process is not None
        with contextlib.suppress(psutil.NoSuchProcess):
            below = [] if now else psutil.Process(self.process.pid).children(recursive=True)
            for child in below:
                with contextlib.suppress(psutil.NoSuchProcess):
                    child.terminate()
        self.process.send_signal(signal.SIGKILL if now else signal.SIGTERM)
        self.wait()

    def wait(self) -> int:
        """Wait until the kernel has ended and nobody can write to the host any more."""
        assert self.process is not None
        self.process.communicate(timeout=END_SECONDS)
        return self.process.returncode

    def processes(self) -> dict[int, str]:
        """All processes that came of the kernel and live: number and name."""
        mark = f"{MARK}={self._connection_file}".encode()
        found = {}
        for number in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError):
                if mark in Path(f"/proc/{number}/environ").read_bytes().split(b"\0"):
                    found[int(number)] = Path(f"/proc/{number}/comm").read_text().strip()
        return found

    def request_on_control(self, client: BlockingKernelClient, kind: str, content: Any) -> Any:
        """The content of the answer to a request on the control channel."""
        message = client.session.msg(kind, json.loads(json.dumps(content)))
        client.control_channel.send(message)
        while True:
            reply = client.get_control_msg(timeout=END_SECONDS)
            if reply["parent_header"].get("msg_id") == message["header"]["msg_id"]:
                return reply["content"]
