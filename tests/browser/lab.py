"""A real JupyterLab server in folders of its own, and a page of it in Chromium."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, ViewportSize
from quick_kernels import FORKED_KERNELS

SCREENSHOTS = Path(__file__).resolve().parents[2] / "test-output" / "screenshots"
START_SECONDS = 60
END_SECONDS = 4
"""Where a page left in the middle of a request, a thread of the server waits for it for ever."""
ACTION_MILLISECONDS = 60_000
POLL_MILLISECONDS = 50
VIEWPORT: ViewportSize = {"width": 1400, "height": 1000}

QUIET_SETTINGS = {
    "@jupyterlab/apputils-extension:notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
    # what painting does to a notebook has tests of its own
    "cellwright:plugin": {"paintCells": False},
}

SHARING_SERVER = ("jupyter_server_ydoc", "jupyter_server_fileid")
SHARING_PAGE = ("@jupyter/collaboration-extension", "@jupyter/docprovider-extension")
"""Parts of jupyter-collaboration; people have a Lab without it unless they ask for it."""


class LabProcess:
    """The process of a JupyterLab, which can be started more than once.

    Args:
        command: How.
        environment: All of its environment.
        folder: Where it starts; None: here.
        log: What it writes to.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | None, log: Path
    ) -> None:
        self._command, self._environment = list(command), dict(environment)
        self._folder, self._log = folder, log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it is not ready yet."""
        with self._log.open("a") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        """Whether it has not ended."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """Send it SIGKILL, and wait until it is gone."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        """End it and everything in its group."""
        assert self._process is not None
        for number in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_SECONDS)


@dataclass(frozen=True)
class LabServer:
    """A running JupyterLab."""

    url: str
    token: str
    folder: Path
    """What the file browser shows."""

    log: Path

    home: Path
    """Where cellwright keeps its records, unless the environment names another place."""

    process: LabProcess

    _names: Counter[str] = field(default_factory=Counter)

    def kill(self) -> None:
        """End the server without a word, as a crash does; its kernels notice by themselves."""
        self.process.kill()

    def restart(self) -> None:
        """Start it again at the same address, over the same folders."""
        self.process.start()
        _wait_until_ready(self)

    def write_notebook(self, name: str, sources: list[str]) -> str:
        """Save a notebook of code cells with ids ``cell-0``, ``cell-1``, … and return its name.

        A name that was given before gets a number: chats belong to paths, and the second try of a
        test would find those of the first.
        """
        given = self._names[name]
        self._names[name] += 1
        name = f"{name.removesuffix('.ipynb')}-{given + 1}.ipynb" if given else name
        cells: list[dict[str, Any]] = [
            {
                "cell_type": "code",
                "execution_count": None,
                "id": f"cell-{index}",
                "metadata": {},
                "outputs": [],
                "source": source,
            }
            for index, source in enumerate(sources)
        ]
        kernelspec = {"display_name": "Python 3", "name": "python3"}
        notebook = {
            "cells": cells,
            "metadata": {"kernelspec": kernelspec},
            "nbformat": 4,
            "nbformat_minor": 5,
        }
        (self.folder / name).write_text(json.dumps(notebook), "utf-8")
        return name


@contextmanager
def running_lab(
    root: Path,
    port: int,
    changes: Mapping[str, str] | None = None,
    *,
    is_shared: bool = False,
    forks_kernels: bool = False,
) -> Iterator[LabServer]:
    """Start JupyterLab with all its folders below ``root``; end it with everything it started.

    Args:
        root: An empty folder.
        port: A free one.
        changes: What the server's environment has besides, or otherwise.
        is_shared: Whether documents are shared through jupyter-collaboration.
        forks_kernels: Whether kernels are forked from a process that has imported what they need.
    """
    url, token, folder = f"http://127.0.0.1:{port}", secrets.token_hex(16), root / "work"
    home = Path({**os.environ, **(changes or {})}.get("CELLWRIGHT_HOME", root / "home"))
    folder.mkdir()
    environment = {**_environment(root, home, token), **(changes or {})}
    command = _command(folder, port)
    if forks_kernels:
        environment["JUPYTER_PATH"] = str(FORKED_KERNELS)
    if not is_shared:
        command.append(_switch_sharing_off(root))
    log = root / "server.log"
    # jupyter-collaboration keeps a database where it is started
    process = LabProcess(command, environment, root if is_shared else None, log)
    server = LabServer(url, token, folder, log, home, process)
    process.start()
    try:
        _wait_until_ready(server)
        yield server
    finally:
        process.end()


def _switch_sharing_off(root: Path) -> str:
    """Write it down for pages; the option that says so to the server."""
    page = root / "config" / "labconfig" / "page_config.json"
    page.write_text(json.dumps({"disabledExtensions": dict.fromkeys(SHARING_PAGE, True)}))
    # an environment's own configuration goes before a person's, an option before both
    return f"--ServerApp.jpserver_extensions={dict.fromkeys(SHARING_SERVER, False)}"


def _command(folder: Path, port: int) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"),
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        f"--ServerApp.root_dir={folder}",
        "--LabApp.extension_manager=readonly",
        "--LabApp.expose_app_in_browser=True",
        "--JupyterNotebookApp.expose_app_in_browser=True",
    ]


def _environment(root: Path, home: Path, token: str) -> dict[str, str]:
    config = root / "config"
    overrides = config / "labconfig" / "default_setting_overrides.json"
    overrides.parent.mkdir(parents=True)
    overrides.write_text(json.dumps(QUIET_SETTINGS), "utf-8")
    folders = {
        "JUPYTER_CONFIG_DIR": config,
        "JUPYTER_DATA_DIR": root / "data",
        "JUPYTER_RUNTIME_DIR": root / "runtime",
        "JUPYTERLAB_SETTINGS_DIR": root / "settings",
        "JUPYTERLAB_WORKSPACES_DIR": root / "workspaces",
        "IPYTHONDIR": root / "ipython",
    }
    return {
        **os.environ,
        **{name: str(folder) for name, folder in folders.items()},
        "CELLWRIGHT_HOME": str(home),
        "JUPYTER_TOKEN": token,
    }


def _wait_until_ready(server: LabServer) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and server.process.is_running:
        try:
            urllib.request.urlopen(f"{server.url}/api/status?token={server.token}", timeout=5)
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.1)
        else:
            return
    raise RuntimeError(f"JupyterLab did not start:\n{server.log.read_text('utf-8')}")


@dataclass(frozen=True)
class LabPage:
    """A browser tab with JupyterLab; things are opened by command, as a keyboard user does."""

    page: Page
    server: LabServer

    def open(self, notebook: str) -> None:
        """Open a notebook in a fresh workspace and wait until its kernel is idle."""
        address = f"{self.server.url}/lab/tree/{notebook}?token={self.server.token}&reset"
        self.page.goto(address)
        self.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
        self.wait_idle()

    def show(self, notebook: str) -> None:
        """Open a notebook beside what is open, and wait until its kernel is idle."""
        self.execute("docmanager:open", {"path": notebook})
        self.wait_idle()

    def open_in_notebook7(self, notebook: str) -> None:
        """Open a notebook in Notebook 7, which the same server serves."""
        self.page.goto(f"{self.server.url}/notebooks/{notebook}?token={self.server.token}")
        self.page.wait_for_function("window.jupyterapp?.restored.then(() => true)")
        self.wait_idle()

    def execute(self, command: str, arguments: dict[str, Any] | None = None) -> None:
        """Run one of JupyterLab's commands, and wait for it; some come a moment after the page."""
        self.page.wait_for_function("id => window.jupyterapp.commands.hasCommand(id)", arg=command)
        code = "([id, args]) => window.jupyterapp.commands.execute(id, args).then(() => null)"
        self.page.evaluate(code, [command, arguments or {}])

    def commands(self) -> list[str]:
        """The ids of all commands."""
        listed: list[str] = self.page.evaluate("window.jupyterapp.commands.listCommands()")
        return listed

    def run_cell(self, index: int) -> None:
        """Run one cell and wait for its end."""
        self._select(index)
        self.execute("notebook:run-cell")
        self.wait_idle()

    def start_cell(self, index: int) -> None:
        """Run one cell without waiting for its end."""
        self._select(index)
        self.page.evaluate("void window.jupyterapp.commands.execute('notebook:run-cell')")

    def _select(self, index: int) -> None:
        self.page.evaluate(
            """index => {
                const notebook = window.jupyterapp.shell.currentWidget.content;
                notebook.activeCellIndex = index;
                notebook.deselectAll();
            }""",
            index,
        )

    def wait_idle(self) -> None:
        """Wait until the open notebook's kernel has nothing to do."""
        self.page.wait_for_function(
            "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status"
            " === 'idle'",
            # otherwise it is asked with each frame, which makes the page draw sixty a second
            polling=POLL_MILLISECONDS,
        )

    def cells(self) -> list[dict[str, Any]]:
        """The open notebook's cells as nbformat has them."""
        cells: list[dict[str, Any]] = self.page.evaluate(
            "window.jupyterapp.shell.currentWidget.content.model.toJSON().cells"
        )
        return cells

    def save(self) -> None:
        """Save the open notebook to its file."""
        self.execute("docmanager:save")

    def screenshot(self, name: str) -> Path:
        """Keep a picture of the page in ``test-output/screenshots``."""
        path = SCREENSHOTS / f"{name}.png"
        self.page.screenshot(path=path)
        return path
