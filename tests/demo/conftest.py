"""A demo server and a kernel for it to work in."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from demo_session import Run, Session, run_in_kernel
from jupyter_client.manager import start_new_kernel
from quick_kernels import kernels_forked

import cellwright.demo
from cellwright.demo.server import DemoServer

SALES = Path(cellwright.demo.__file__).parent / "data" / "sales.csv"
FRESH = "%reset -f\n%cd -q {folder}\nimport warnings\nwarnings.simplefilter('error')"


@pytest.fixture(scope="session")
def server() -> Iterator[DemoServer]:
    with DemoServer() as listening:
        yield listening


@pytest.fixture(scope="session")
def kernel_client() -> Iterator[Any]:
    with kernels_forked():
        manager, client = start_new_kernel()
    try:
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the sales table."""
    shutil.copy(SALES, tmp_path / "sales.csv")
    return tmp_path


@pytest.fixture
def run(kernel_client: Any, folder: Path) -> Callable[[str], str]:
    """Runs code in an empty namespace, in ``folder``, with warnings as errors."""
    run_in_kernel(kernel_client, FRESH.format(folder=folder))
    return lambda code: run_in_kernel(kernel_client, code)


@pytest.fixture
def open_session(server: DemoServer) -> Iterator[Callable[..., Session]]:
    """Opens sessions with whatever runs their calls."""
    opened: list[Session] = []

    def start(run_tool: Run, *tools: dict[str, Any]) -> Session:
        opened.append(Session(server.base_url, run_tool, *tools))
        return opened[-1]

    yield start
    for session in opened:
        session.close()


@pytest.fixture
def session(open_session: Callable[..., Session], run: Callable[[str], str]) -> Session:
    """A session whose cells run in the kernel."""
    return open_session(lambda _, arguments: run(arguments["code"]))
