"""A live kernel with the magics loaded, and a scripted model behind it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from magics.live_kernel import LiveKernel, loaded


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    """A kernel for all tests of a module, with the magics loaded."""
    with loaded(tmp_path_factory.mktemp("magics")) as live:
        yield live


@pytest.fixture
def own_kernel(tmp_path: Path) -> Iterator[LiveKernel]:
    """A kernel for one test: what takes kernels back may leave one that nobody else can use."""
    with loaded(tmp_path) as live:
        yield live


@pytest.fixture
def fresh(kernel: LiveKernel) -> LiveKernel:
    """The kernel, with nothing said in it yet."""
    kernel.run("%agent reset")
    return kernel
