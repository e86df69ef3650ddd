"""What a cell does, once more: the suites of the other kernels, run in forked ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from kernels import test_client, test_kernels
from kernels.forked_lane import provisioner_of, start_forked, write_spec
from kernels.lanes import renew

from cellwright.kernels.fresh import FreshKernel
from cellwright.kernels.provisioner import warmed_processes

pytestmark = [pytest.mark.kernel, pytest.mark.skipif("sys.platform != 'linux'")]


@pytest.fixture(scope="module")
def shared_forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FreshKernel]:
    folder = tmp_path_factory.mktemp("specs")
    write_spec(folder, "forked")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(folder))
        with start_forked(folder) as kernel:
            assert provisioner_of(kernel).fallback_reason == ""
            yield kernel
    warmed_processes.close()


@pytest.fixture
def client(shared_forked: FreshKernel, tmp_path: Path) -> FreshKernel:
    """Takes the place of the fixture with a normal kernel."""
    renew(shared_forked, tmp_path)
    return shared_forked


@pytest.fixture
def kernel(client: FreshKernel) -> FreshKernel:
    """Takes the place of the fixture with both other lanes."""
    return client


@pytest.fixture
def fresh(shared_forked: FreshKernel, tmp_path: Path) -> Iterator[FreshKernel]:
    """A forked kernel that the test may break."""
    with start_forked(tmp_path) as kernel:
        assert provisioner_of(kernel).fallback_reason == ""
        yield kernel


def borrowed_from(module: ModuleType) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Those that take a kernel of a fixture: the others start one, or need none."""
    for name, test in vars(module).items():
        if name.startswith("test_") and {"kernel", "client", "fresh"} & set(
            inspect.signature(test).parameters
        ):
            yield name, test


for suite in (test_kernels, test_client):
    found = dict(borrowed_from(suite))
    assert len(found) > 5, f"{suite.__name__} has hardly any tests for a forked kernel"
    globals().update(found)
