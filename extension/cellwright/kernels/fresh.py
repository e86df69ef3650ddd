"""A kernel started for one run, and ended with it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from cellwright.errors import KernelError
from cellwright.kernels.client import ClientKernel
from cellwright.stopping import Stop

__all__ = ["FreshKernel", "start_kernel"]

START_SECONDS = 60.0
SOCKET_PATH_LIMIT = 90
"""Unix sockets have short names only."""


class FreshKernel(ClientKernel):
    """A kernel of our own; ``close`` ends its process, and so does leaving a ``with``."""

    def __init__(self, client: Any, manager: Any, folder: str) -> None:
        self.manager = manager
        self._own_client = client
        self._folder = folder
        super().__init__(client, manager)

    def __enter__(self) -> FreshKernel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait_until_ready(self, seconds: float) -> None:
        """Wait until the kernel answers.

        Raises:
            KernelError: It died, or did not answer in time.
        """
        self._get_ready(Stop(), within=seconds)

    def close(self) -> None:
        """End the process; a second call does nothing."""
        _end(self._own_client, self.manager, self._folder)


def start_kernel(
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    kernel_name: str = "python3",
) -> FreshKernel:
    """Start a kernel and wait until it answers.

    Args:
        cwd: Its folder; ours by default.
        env: Its environment; ours by default.
        kernel_name: Name of an installed kernel.

    Raises:
        KernelError: There is no such kernel, or it did not start.
    """
    from jupyter_client.kernelspec import NoSuchKernel
    from jupyter_client.manager import KernelManager

    folder = tempfile.mkdtemp(prefix="cw-")
    manager = KernelManager(
        kernel_name=kernel_name, connection_file=os.path.join(folder, "kernel.json")
    )
    if os.name == "posix" and len(folder) < SOCKET_PATH_LIMIT:
        # Files in a folder that only this person can open: no port, no key on a network.
        manager.transport = "ipc"
    client: Any = None
    try:
        manager.start_kernel(
            cwd=os.fspath(cwd) if cwd is not None else os.getcwd(),
            env=dict(env) if env is not None else dict(os.environ),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        client = manager.client()
        client.start_channels(hb=False, stdin=False)
        kernel = FreshKernel(client, manager, folder)
        kernel.wait_until_ready(START_SECONDS)
    except NoSuchKernel:
        _end(client, manager, folder)
        raise KernelError(
            f"There is no kernel named {kernel_name!r}.",
            hint="jupyter kernelspec list shows the installed ones.",
        ) from None
    except BaseException:
        _end(client, manager, folder)
        raise
    return kernel


def _end(client: Any, manager: Any, folder: str) -> None:
    try:
        if manager.has_kernel:
            manager.shutdown_kernel(now=True)
    finally:
        if client is not None:
            client.stop_channels()
        shutil.rmtree(folder, ignore_errors=True)
