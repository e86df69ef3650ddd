"""A live kernel with the magics loaded, and a scripted model behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fake_service import FakeService
from magics.live_kernel import LiveKernel


@pytest.fixture(scope="module")
def kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveKernel]:
    """A kernel for all tests of a module, with the magics loaded."""
    with FakeService() as service:
        live = LiveKernel(service, tmp_path_factory.mktemp("magics"))
        try:
            live.run("%load_ext cellwright")
            yield live
        finally:
            live.close()


@pytest.fixture
def fresh(kernel: LiveKernel) -> LiveKernel:
    """The kernel, with nothing said in it yet."""
    kernel.run("%agent reset")
    return kernel
