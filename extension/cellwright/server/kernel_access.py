"""The server's kernels, reached from worker threads over connections of our own.

A connection lives as long as a run: an idle one would heap up everything that the person prints.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import closing, suppress
from types import MappingProxyType
from typing import Any, TypeVar

from jupyter_core.utils import ensure_async

from cellwright.cells import VariableSummary
from cellwright.errors import KernelError, KernelNotReadyError, SetupError, ToolError
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import Attendance
from cellwright.kernels.installing import flood_limit
from cellwright.server.gateway_client import open_gateway_client

__all__ = ["ConnectedKernel", "ServerKernels"]

T = TypeVar("T")
LOOK_SECONDS = 2.0
"""A busy server takes a moment; past this a kernel counts as what it was."""
FREE_SECONDS = 0.4
START_SECONDS = 60.0
START_HINT = "Start the kernel, then ask again."


class ConnectedKernel(ClientKernel):
    """A kernel of the server; ``close`` ends the connection, never the kernel."""

    # A page that does not read must not fill the person's kernel without end.
    _install_too = MappingProxyType({"flood": flood_limit(100_000)})

    def __init__(self, client: Any, process: ServerKernelProcess, attendance: Attendance) -> None:
        super().__init__(
            client, process, on_input=attendance.on_input, on_waiting=attendance.on_waiting
        )
        self._own_client = client

    def close(self) -> None:
        """Let go of the kernel."""
        disconnect(self._own_client)


class ServerKernelProcess:
    """A kernel's process, as the server's own manager owns it.

    Looking takes a while where the server is busy or the kernel is behind a gateway, and whoever
    asks has outputs to read: told is what the last look has shown, and the next one begins.
    """

    def __init__(self, kernels: ServerKernels, kernel_id: str) -> None:
        self._kernels, self._kernel_id = kernels, kernel_id
        self._was_alive = True
        self._looking: concurrent.futures.Future[bool] | None = None

    def is_alive(self) -> bool:
        """Whether the process is there."""
        if not self._kernels.has(self._kernel_id):
            return False
        looking = self._looking
        if looking is not None and looking.done():
            self._looking = None
            # A gateway that cannot be asked says nothing about the kernel.
            with suppress(Exception):
                self._was_alive = looking.result()
        if self._looking is None:
            with suppress(TimeoutError):
                self._looking = self._kernels.look(self._kernel_id)
        return self._was_alive

    def interrupt_kernel(self) -> None:
        """Interrupt what runs."""
        self._kernels.interrupt(self._kernel_id)

    @property
    def exit_code(self) -> int | None:
        """How a local process ended; None where that is not known."""
        return self._kernels.exit_code(self._kernel_id)


class ServerKernels:
    """The kernels of one server. Every method is for worker threads alone.

    Args:
        manager: The server's ``MappingKernelManager``.
        loop: The loop on which the server runs.
    """

    def __init__(self, manager: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._manager, self._loop = manager, loop

    def has(self, kernel_id: str) -> bool:
        """Whether the server knows a kernel of that id."""
        return bool(kernel_id) and kernel_id in self._manager

    def start(self, path: str) -> str:
        """Start a kernel in a folder of the server's root; its id.

        Raises:
            SetupError: It did not start.
        """
        try:
            return str(self._wait(lambda: self._manager.start_kernel(path=path), START_SECONDS))
        # Whatever a provisioner, a spawner or a gateway may raise.
        except Exception as error:
            raise SetupError(f"No kernel could be started: {error}.", hint=START_HINT) from error

    def shut_down(self, kernel_id: str) -> None:
        """End a kernel that was started here, without waiting for it."""
        if self.has(kernel_id):
            self._schedule(lambda: self._manager.shutdown_kernel(kernel_id))

    def connect(self, kernel_id: str, attendance: Attendance | None = None) -> ConnectedKernel:
        """A connection to a kernel, to be closed by the caller.

        Raises:
            SetupError: There is no such kernel, or it is dead.
        """
        if not self.has(kernel_id):
            raise SetupError("The notebook has no running kernel.", hint=START_HINT)
        if not self._is_alive_or_unknown(kernel_id):
            raise SetupError("The notebook's kernel is dead.", hint=START_HINT)
        client = self._client(kernel_id)
        try:
            process = ServerKernelProcess(self, kernel_id)
            return ConnectedKernel(client, process, attendance or Attendance())
        except BaseException:
            disconnect(client)
            raise

    def variables(self, kernel_id: str) -> tuple[VariableSummary, ...]:
        """The person's variables.

        Raises:
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        listed = self._probe(kernel_id, "list_variables", {})
        return tuple(VariableSummary(**item) for item in listed)

    def variable(self, kernel_id: str, name: str) -> str:
        """One variable in a few lines.

        Raises:
            SetupError: There is no such variable.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        try:
            return str(self._probe(kernel_id, "inspect_variable", {"name": name}))
        except ToolError as error:
            raise SetupError(error.message, hint=error.hint) from error

    def look(self, kernel_id: str) -> concurrent.futures.Future[bool]:
        """Begin to look whether the kernel's process is there.

        Raises:
            TimeoutError: The server has ended.
        """
        return self._schedule(lambda: self._manager.is_alive(kernel_id))

    def interrupt(self, kernel_id: str) -> None:
        """Interrupt what runs in a kernel; whoever asks looks for itself whether it helped."""
        if self.has(kernel_id):
            self._schedule(lambda: self._manager.interrupt_kernel(kernel_id))

    def exit_code(self, kernel_id: str) -> int | None:
        """How a kernel's local process ended; None where that is not known."""
        if not self.has(kernel_id):
            return None
        provisioner = getattr(self._manager.get_kernel(kernel_id), "provisioner", None)
        code = getattr(getattr(provisioner, "process", None), "returncode", None)
        return code if isinstance(code, int) else None

    def check_free(self, kernel_id: str) -> None:
        """Return when nothing runs in the kernel, in a moment at most.

        Raises:
            KernelNotReadyError: A cell runs in it.
        """
        # What we asked of it a moment ago may still make it look busy.
        deadline = time.monotonic() + FREE_SECONDS
        while getattr(self._manager.get_kernel(kernel_id), "execution_state", "") == "busy":
            if time.monotonic() > deadline:
                raise KernelNotReadyError("The kernel is busy.", hint="Ask when its cell ended.")
            time.sleep(LOOK_SECONDS / 100)

    def _is_alive_or_unknown(self, kernel_id: str) -> bool:
        try:
            return bool(self._wait(lambda: self._manager.is_alive(kernel_id), LOOK_SECONDS))
        except TimeoutError:
            # The server is busy, which says nothing about the kernel.
            return True
        # Whatever a provisioner or a gateway may raise.
        except Exception as error:
            raise SetupError(
                f"The notebook's kernel cannot be reached: {error}.", hint=START_HINT
            ) from error

    def _client(self, kernel_id: str) -> Any:
        manager = self._manager.get_kernel(kernel_id)
        if getattr(manager, "kernel_url", ""):
            return open_gateway_client(kernel_id, self._loop)
        return connected_client(manager)

    def _probe(self, kernel_id: str, function: str, arguments: dict[str, Any]) -> Any:
        try:
            kernel = self.connect(kernel_id)
        except SetupError as error:
            raise KernelError(error.message, hint=error.hint) from error
        with closing(kernel):
            self.check_free(kernel_id)
            return kernel.probe(function, arguments)

    def _wait(self, call: Callable[[], Awaitable[T] | T], seconds: float) -> T:
        future = self._schedule(call)
        try:
            return future.result(seconds)
        except concurrent.futures.TimeoutError:
            future.cancel()
            raise TimeoutError from None

    def _schedule(self, call: Callable[[], Awaitable[T] | T]) -> concurrent.futures.Future[T]:
        async def run() -> T:
            return await ensure_async(call())

        running: Coroutine[Any, Any, T] = run()
        try:
            return asyncio.run_coroutine_threadsafe(running, self._loop)
        except RuntimeError:
            # The server has ended, and its loop with it.
            running.close()
            raise TimeoutError from None


def connected_client(manager: Any) -> Any:
    """A blocking client of a local kernel, with a session of its own."""
    import zmq
    from jupyter_client.blocking.client import BlockingKernelClient

    client: Any = BlockingKernelClient()
    # By default a flood of more than a thousand messages that wait to be read loses some.
    client.context.setsockopt(zmq.RCVHWM, 0)
    client.load_connection_info(manager.get_connection_info())
    client.start_channels(hb=False, stdin=True)
    return client


def disconnect(client: Any) -> None:
    """Close a client's sockets."""
    client.stop_channels()
    context = getattr(client, "context", None)
    if context is not None:
        context.destroy(linger=100)
