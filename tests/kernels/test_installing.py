"""What is left in a kernel for the connections that come later."""

from __future__ import annotations

from pathlib import Path

import pytest
from kernels.lanes import kernel_environment, run

from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import KernelProcess

pytestmark = pytest.mark.kernel


def test_a_second_connection_knows_which_cells_were_ours(tmp_path: Path) -> None:
    process = KernelProcess("python3")
    process.start(str(tmp_path), kernel_environment())
    clients = [process.client(), process.client()]
    try:
        for client in clients:
            client.start_channels(hb=False, stdin=False)
        run(ClientKernel(clients[0], process), "ours = 1")
        clients[0].execute("theirs = 2", reply=True, timeout=30)
        second = ClientKernel(clients[1], process)
        run(second, "ours_too = 3")
        assert second.probe("executed_cells", {}) == ["theirs = 2"]
    finally:
        for client in clients:
            client.stop_channels()
            client.context.destroy(linger=100)
        process.end(now=True)
