"""One kernel of each kind for a test process; every test gets an empty namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Generic, TypeVar

import pytest
from kernels.lanes import RemoteShellKernel, renew, start_client_lane, start_shell_lane

from cellwright.kernels import Kernel
from cellwright.kernels.fresh import FreshKernel

K = TypeVar("K", FreshKernel, RemoteShellKernel)


class SharedKernel(Generic[K]):
    """A kernel for many tests, and another one after a test that ended it.

    Otherwise all later tests of the process would fail, and hide which was the first.
    """

    def __init__(self, start: Callable[[Path], K], folder: Path) -> None:
        self._start: Callable[[Path], K] = start
        self._folder = folder
        self._kernel: K | None = None

    def for_test(self, folder: Path) -> K:
        """The kernel with an empty namespace, working in the folder of a test."""
        if self._kernel is not None and not self._kernel.is_alive():
            self.close()
        if self._kernel is None:
            self._kernel = self._start(self._folder)
        renew(self._kernel, folder)
        return self._kernel

    def close(self) -> None:
        if self._kernel is not None:
            self._kernel.close()
        self._kernel = None


@contextmanager
def _shared(
    start: Callable[[Path], K], factory: pytest.TempPathFactory, name: str
) -> Iterator[SharedKernel[K]]:
    shared = SharedKernel(start, factory.mktemp(name))
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def shared_client(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SharedKernel[FreshKernel]]:
    with _shared(start_client_lane, tmp_path_factory, "client") as shared:
        yield shared


@pytest.fixture(scope="session")
def shared_shell(
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SharedKernel[RemoteShellKernel]]:
    with _shared(start_shell_lane, tmp_path_factory, "shell") as shared:
        yield shared


@pytest.fixture(params=["client", "shell"])
def kernel(request: pytest.FixtureRequest, tmp_path: Path) -> Kernel:
    found: Kernel = request.getfixturevalue(f"shared_{request.param}").for_test(tmp_path)
    return found


@pytest.fixture
def client(shared_client: SharedKernel[FreshKernel], tmp_path: Path) -> FreshKernel:
    return shared_client.for_test(tmp_path)


@pytest.fixture
def shell(shared_shell: SharedKernel[RemoteShellKernel], tmp_path: Path) -> RemoteShellKernel:
    return shared_shell.for_test(tmp_path)


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
