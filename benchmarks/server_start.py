"""What the server extension adds to the start of a Jupyter Server, in time and in memory.

    python benchmarks/server_start.py [--repeats 9] [--lab] [--json]

Starts servers in turn, with the extension and without, and prints medians of this machine: time,
processor time and memory from the start of the process to the first answer, and what the first
request of the panel costs on top. The goals are 100 ms and 10 MB. Other work on the machine spoils
the first figure before the others.
"""

from __future__ import annotations

import argparse
import json
import os
import secrets
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import URLError

import psutil

START_SECONDS = 60.0
SETTLE_SECONDS = 0.3
POLL_SECONDS = 0.01
GOALS = {"added to the start, ms": 100.0, "added memory, MB": 10.0}
OTHERS = ("jupyter_server_fileid", "jupyter_server_ydoc")
"""What is installed for tests and is no part of a usual server."""


@dataclass(frozen=True)
class Start:
    """One server's start."""

    seconds: float
    cpu_seconds: float
    """Processor time of the server until then; a busy machine changes it less."""
    memory_bytes: int
    first_request_seconds: float = 0.0
    memory_after_bytes: int = 0


class Server:
    """A server of its own process, with nothing of the person's."""

    def __init__(self, folder: str, extensions: dict[str, bool]) -> None:
        self._token = secrets.token_hex(8)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = probe.getsockname()[1]
        command = [
            *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root"),
            *(f"--ServerApp.port={self._port}", "--ServerApp.port_retries=0"),
            *(f"--IdentityProvider.token={self._token}", f"--ServerApp.root_dir={folder}"),
            f"--ServerApp.jpserver_extensions={extensions}",
        ]
        folders = ("HOME", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        environ = {**os.environ, **dict.fromkeys((*folders, "CELLWRIGHT_HOME"), folder)}
        self.began = time.perf_counter()
        self._process = subprocess.Popen(command, env=environ, stderr=subprocess.DEVNULL)

    def wait(self) -> None:
        """Wait for the first answer."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                self.get("api")
            except (URLError, ConnectionError):
                if time.monotonic() > deadline or self._process.poll() is not None:
                    raise
                time.sleep(POLL_SECONDS)
            else:
                return

    def get(self, path: str) -> bytes:
        """What the server answers."""
        request = urllib.request.Request(f"http://127.0.0.1:{self._port}/{path}")
        request.add_header("Authorization", f"token {self._token}")
        with urllib.request.urlopen(request, timeout=START_SECONDS) as answer:
            return bytes(answer.read())

    def cpu_seconds(self) -> float:
        """Processor time that the process has used."""
        times = psutil.Process(self._process.pid).cpu_times()
        return float(times.user + times.system)

    def memory_bytes(self) -> int:
        """Memory that the process holds."""
        time.sleep(SETTLE_SECONDS)
        return int(psutil.Process(self._process.pid).memory_info().rss)

    def close(self) -> None:
        """End the process."""
        self._process.terminate()
        self._process.wait(timeout=30)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--lab", action="store_true", help="with JupyterLab's own extension")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    figures = _measure(options.repeats, lab=options.lab)
    if options.json:
        print(json.dumps(figures, indent=2))
        return
    for name, value in figures.items():
        goal = GOALS.get(name)
        told = f"  goal {goal:g}{'' if value <= goal else ': MISSED'}" if goal is not None else ""
        print(f"{name:<58} {value:>9.1f}{told}")


def _measure(repeats: int, *, lab: bool) -> dict[str, float]:
    starts: dict[bool, list[Start]] = {True: [], False: []}
    for _ in _warm_up_then(repeats):
        for enabled in (False, True):
            starts[enabled].append(_start(enabled=enabled, lab=lab))
    off, on = (_median(starts[enabled][1:]) for enabled in (False, True))
    return {
        "server start without cellwright, ms": off.seconds * 1e3,
        "server start with cellwright, ms": on.seconds * 1e3,
        "added to the start, ms": (on.seconds - off.seconds) * 1e3,
        "processor time without cellwright, ms": off.cpu_seconds * 1e3,
        "added processor time, ms": (on.cpu_seconds - off.cpu_seconds) * 1e3,
        "memory without cellwright, MB": off.memory_bytes / 1e6,
        "memory with cellwright, MB": on.memory_bytes / 1e6,
        "added memory, MB": (on.memory_bytes - off.memory_bytes) / 1e6,
        "first request of the panel, ms": on.first_request_seconds * 1e3,
        "added memory after it, MB": (on.memory_after_bytes - on.memory_bytes) / 1e6,
    }


def _warm_up_then(repeats: int) -> range:
    """One more than is counted: the first start reads the disk."""
    return range(repeats + 1)


def _start(*, enabled: bool, lab: bool) -> Start:
    others = dict.fromkeys(OTHERS, False)
    with _server({**others, "cellwright": enabled, "jupyterlab": lab}) as server:
        server.wait()
        seconds, cpu_seconds = time.perf_counter() - server.began, server.cpu_seconds()
        memory = server.memory_bytes()
        if not enabled:
            return Start(seconds, cpu_seconds, memory)
        asked = time.perf_counter()
        server.get("cellwright/v1/health")
        first = time.perf_counter() - asked
        return Start(seconds, cpu_seconds, memory, first, server.memory_bytes())


@contextmanager
def _server(extensions: dict[str, bool]) -> Iterator[Server]:
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder, extensions)
        try:
            yield server
        finally:
            server.close()


def _median(starts: list[Start]) -> Start:
    return Start(
        statistics.median(start.seconds for start in starts),
        statistics.median(start.cpu_seconds for start in starts),
        int(statistics.median(start.memory_bytes for start in starts)),
        statistics.median(start.first_request_seconds for start in starts),
        int(statistics.median(start.memory_after_bytes for start in starts)),
    )


if __name__ == "__main__":
    main()
