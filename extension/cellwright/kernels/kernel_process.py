"""The process of a kernel of our own: started, asked, interrupted and ended.

jupyter_client's own blocking calls leave an event loop behind in every thread that makes one;
here each call has a loop of its own, and a running one is no obstacle.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from cellwright.errors import KernelError

SOCKET_PATH_LIMIT = 90
"""Unix sockets have short names only."""
LAUNCHER = "ipykernel_launcher"
NO_HISTORY = "--HistoryManager.hist_file=:memory:"
"""Cells of a run are not the person's history, and many kernels must not share one database."""
POLITE_SECONDS = 2.0
"""So long a kernel may take to end of itself."""


class KernelProcess:
    """A kernel's process and the folder with its sockets.

    Args:
        kernel_name: Name of an installed kernel.
    """

    way = "started"

    def __init__(self, kernel_name: str) -> None:
        from jupyter_client.manager import AsyncKernelManager

        self._folder = tempfile.mkdtemp(prefix="cw-")
        self._manager = AsyncKernelManager(
            kernel_name=kernel_name,
            connection_file=os.path.join(self._folder, "kernel.json"),
            shutdown_wait_time=POLITE_SECONDS,
        )
        if os.name == "posix" and len(self._folder) < SOCKET_PATH_LIMIT:
            # Files in a folder that only this person can open: no port, nothing on a network.
            self._manager.transport = "ipc"

    def start(self, cwd: str, env: Mapping[str, str]) -> None:
        """Start it; it does not answer yet.

        Raises:
            KernelError: No kernel of this name is installed.
        """
        from jupyter_client.kernelspec import NoSuchKernel

        options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            if LAUNCHER in getattr(self._manager.kernel_spec, "argv", ()):
                options["extra_arguments"] = [NO_HISTORY]
            self._wait_for(self._manager.start_kernel, cwd=cwd, env=dict(env), **options)
        except NoSuchKernel:
            raise KernelError(
                f"There is no kernel named {self._manager.kernel_name!r}.",
                hint="`jupyter kernelspec list` shows those that are installed.",
            ) from None

    def client(self) -> Any:
        """A new connection, with a session of its own: a kernel tells its clients apart by that."""
        return client_of(self._manager.get_connection_info())

    def is_alive(self) -> bool:
        """Whether it is there."""
        return self._manager.has_kernel and bool(self._wait_for(self._manager.is_alive))

    @property
    def exit_code(self) -> int | None:
        """How a local process ended: negative for a signal; None where that is not known."""
        process = getattr(self._manager.provisioner, "process", None)
        code: int | None = getattr(process, "returncode", None)
        return code

    @property
    def living_pid(self) -> int | None:
        """Id of the local process that runs now: another one after a restart; None: not known."""
        process = getattr(self._manager.provisioner, "process", None)
        if process is None or process.poll() is not None:
            return None
        return int(process.pid)

    def interrupt_kernel(self) -> None:
        """Interrupt what runs."""
        if self._manager.has_kernel:
            self._wait_for(self._manager.interrupt_kernel)

    def restart(self) -> None:
        """Start anew, at the same sockets; variables are lost."""
        self._wait_for(self._manager.restart_kernel, now=True)

    def end(self, *, now: bool = False) -> None:
        """End it, politely unless ``now``; a second call does nothing."""
        try:
            if self._manager.has_kernel:
                self._wait_for(self._manager.shutdown_kernel, now=now)
        finally:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _wait_for(self, function: Callable[..., Any], **options: Any) -> Any:
        async def call() -> Any:
            return await function(**options)

        if not _loop_runs_here():
            return asyncio.run(call())
        with ThreadPoolExecutor(1) as elsewhere:
            return elsewhere.submit(asyncio.run, call()).result()


def client_of(connection: Mapping[str, Any]) -> Any:
    """A client for a connection file's content; its channels are not started."""
    import zmq
    from jupyter_client.blocking.client import BlockingKernelClient

    client: Any = BlockingKernelClient()
    # By default a flood of more than a thousand messages that wait to be read loses some.
    client.context.setsockopt(zmq.RCVHWM, 0)
    client.load_connection_info(connection)
    return client


def _loop_runs_here() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
