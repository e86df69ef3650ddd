"""One kernel of each kind for a test process; every test gets an empty namespace."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from kernels.lanes import RemoteShellKernel, renew, start_client_lane, start_shell_lane

from cellwright.kernels import Kernel
from cellwright.kernels.fresh import FreshKernel


@pytest.fixture(scope="session")
def shared_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    kernel = start_client_lane(tmp_path_factory.mktemp("client"))
    yield kernel
    kernel.close()


@pytest.fixture(scope="session")
def shared_shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RemoteShellKernel]:
    kernel = start_shell_lane(tmp_path_factory.mktemp("shell"))
    yield kernel
    kernel.close()


@pytest.fixture(params=["client", "shell"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Kernel:
    found: Kernel = request.getfixturevalue(f"shared_{request.param}")
    renew(found, tmp_path)
    return found


@pytest.fixture
def client(shared_client: FreshKernel, tmp_path: Path) -> FreshKernel:
    renew(shared_client, tmp_path)
    return shared_client


@pytest.fixture
def shell(shared_shell: RemoteShellKernel, tmp_path: Path) -> RemoteShellKernel:
    renew(shared_shell, tmp_path)
    return shared_shell


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[FreshKernel]:
    """A kernel that the test may break."""
    with start_client_lane(tmp_path) as kernel:
        yield kernel


@pytest.fixture
def fresh_shell(tmp_path: Path) -> Iterator[RemoteShellKernel]:
    """A shell lane that the test may break."""
    kernel = start_shell_lane(tmp_path)
    yield kernel
    kernel.close()
