"""The server's kernels, reached from worker threads over connections of our own.

A connection lives as long as a run: an idle one would heap up everything that the person prints.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, TypeVar, cast
from urllib.parse import quote

from jupyter_core.utils import ensure_async
from tornado import web
from tornado.httpclient import HTTPRequest
from tornado.websocket import WebSocketClosedError, websocket_connect

from cellwright.errors import KernelError, KernelNotReadyError, SetupError, ToolError
from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import Attendance, client_of, disconnect
from cellwright.kernels.going_back import (
    NOTHING_TO_REDO,
    ChangedFiles,
    GoneBack,
    KernelSnapshots,
    explain_missing,
    find_before,
    find_files,
    find_later,
    go_to,
    list_snapshots,
    measure_snapshots,
    missing_step,
    news_of,
    put_files_back,
)
from cellwright.kernels.installing import flood_limit
from cellwright.kernels.json_channels import BROKEN_HINT, JsonClient
from cellwright.record.outputs import VariableSummary
from cellwright.server.application import Application
from cellwright.stopping import retry

# Kernels behind a Kernel Gateway or Enterprise Gateway, reached as the server itself does.
# The WebSocket is read on the server's loop; the worker's thread gets what comes by queues.
#
# Not covered: a gateway drops what a kernel prints past its own rate limit.


CONNECT_SECONDS = 40.0
"""A gateway may have to ask a cluster first."""
MESSAGE_LIMIT_BYTES = 256 * 1024 * 1024


def open_gateway_client(kernel_id: str, loop: asyncio.AbstractEventLoop) -> GatewayKernelClient:
    """A connection to a kernel that the server reaches through its gateway; for worker threads.

    Raises:
        KernelNotReadyError: The gateway does not let us in.
    """
    client = GatewayKernelClient(loop)
    connecting = asyncio.run_coroutine_threadsafe(client.connect(kernel_id), loop)
    try:
        connecting.result(CONNECT_SECONDS)
    # Whatever sockets, TLS and HTTP may raise.
    except Exception as error:
        connecting.cancel()
        client.stop_channels()
        raise KernelNotReadyError(
            f"The kernel's gateway cannot be reached: {error!r}.", hint=BROKEN_HINT
        ) from error
    return client


class GatewayKernelClient(JsonClient):
    """What ``ClientKernel`` needs of a blocking client.

    Args:
        loop: The server's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._websocket: Any = None

    async def connect(self, kernel_id: str) -> None:
        """Connect as the server itself does, with its credentials and certificates."""
        from jupyter_server.gateway.gateway_client import GatewayClient

        gateway: Any = GatewayClient.instance()
        address = "/".join(
            part.strip("/") for part in (gateway.ws_url or "", gateway.kernels_endpoint)
        )
        session = quote(self.session.name)
        url = f"{address}/{quote(kernel_id)}/channels?session_id={session}"
        request = HTTPRequest(url, **gateway.load_connection_args())
        self._websocket = await websocket_connect(request, max_message_size=MESSAGE_LIMIT_BYTES)
        self._reading = asyncio.ensure_future(self._read())

    def transmit(self, text: str) -> None:
        """Send a text, on the server's loop."""
        self._loop.call_soon_threadsafe(self._write, text)

    def stop_channels(self) -> None:
        """Let go of the kernel."""
        websocket = self._websocket
        if websocket is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(websocket.close)
        super().stop_channels()

    def _write(self, text: str) -> None:
        try:
            self._websocket.write_message(text)
        except WebSocketClosedError:
            self.lose()

    async def _read(self) -> None:
        try:
            while (text := await self._websocket.read_message()) is not None:
                if isinstance(text, str):
                    self.deliver(text)
        finally:
            self.lose()


T = TypeVar("T")
LOOK_SECONDS = 2.0
"""A busy server takes a moment; past this a kernel counts as what it was."""
FREE_SECONDS = 0.4
START_SECONDS = 60.0
RESTART = "Restart the kernel and run the cells before it."
START_HINT = "Start the kernel, then ask again."


def open_kernels(application: Application) -> ServerKernels:
    """The way into the server's kernels, which routes share.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.kernels is None:
            server = application.server
            loop: asyncio.AbstractEventLoop = cast("Any", server.io_loop).asyncio_loop
            idle_seconds = application.configuration.kernel_idle_seconds
            application.kernels = ServerKernels(
                server.kernel_manager, loop, server.session_manager, idle_seconds
            )
        return cast("ServerKernels", application.kernels)


class ConnectedKernel(ClientKernel):
    """A kernel of the server; ``close`` ends the connection, never the kernel.

    Args:
        client: Speaks with it.
        process: As the server's manager owns it.
        attendance: Who attends to it.
    """

    # A page that does not read must not fill the person's kernel without end.
    _install_too = MappingProxyType({"flood": flood_limit(100_000)})

    def __init__(self, client: Any, process: ServerKernelProcess, attendance: Attendance) -> None:
        super().__init__(
            client, process, on_input=attendance.on_input, on_waiting=attendance.on_waiting
        )
        self._own_client, self._process = client, process

    def close(self) -> None:
        """Let go of the kernel."""
        disconnect(self._own_client)
        self._process.leave()


class ServerKernelProcess:
    """A kernel's process, as the server's own manager owns it.

    Looking takes a while where the server is busy or the kernel is behind a gateway, and whoever
    asks has outputs to read: told is what the last look has shown, and the next one begins.
    """

    def __init__(self, kernels: ServerKernels, kernel_id: str) -> None:
        self._kernels, self._kernel_id = kernels, kernel_id
        self._was_alive = True
        self._looking: concurrent.futures.Future[bool] | None = None

    def leave(self) -> None:
        """One connection of ours less."""
        self._kernels.count_connections(self._kernel_id, -1)

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
        sessions: The server's ``SessionManager``; None: nobody lists what is started here.
        idle_seconds: So long a kernel that was started here may do nothing; 0: for ever.
    """

    def __init__(
        self,
        manager: Any,
        loop: asyncio.AbstractEventLoop,
        sessions: Any = None,
        idle_seconds: float = 0.0,
    ) -> None:
        self._manager, self._loop, self._sessions = manager, loop, sessions
        self._idle_seconds = idle_seconds
        self._connected: Counter[str] = Counter()
        """Our own connections to each kernel, which the server does not count."""
        self._counting = threading.Lock()

    def has(self, kernel_id: str) -> bool:
        """Whether the server knows a kernel of that id."""
        return bool(kernel_id) and kernel_id in self._manager

    @property
    def language(self) -> str:
        """In which the cells of a kernel are written that is started here."""
        specs: Any = getattr(self._manager, "kernel_spec_manager", None)
        # A name that is not installed is told when the kernel is to start.
        with suppress(Exception):
            return str(specs.get_kernel_spec(self._manager.default_kernel_name).language)
        return "python"

    def start(self, folder: str, name: str) -> str:
        """Start a kernel that is listed among the server's sessions; its id.

        It is ended when it has done nothing for a while.

        Args:
            folder: Of the server's root, in which it starts.
            name: What it is listed as.

        Raises:
            SetupError: It did not start.
        """
        try:
            starting: Callable[[], Any] = partial(self._start, folder, name)
            return str(self._wait(starting, START_SECONDS))
        # Whatever a provisioner, a spawner or a gateway may raise.
        except Exception as error:
            raise SetupError(f"No kernel could be started: {error}.", hint=START_HINT) from error

    def shut_down(self, kernel_id: str) -> None:
        """End a kernel that was started here, without waiting for it."""
        if self.has(kernel_id):
            ending: Callable[[], Any] = partial(self._shut_down, kernel_id)
            self._schedule(ending)

    def restart(self, kernel_id: str) -> None:
        """Start a kernel anew; waits for it.

        Raises:
            SetupError: It did not start.
        """
        restarting: Callable[[], Any] = partial(self._manager.restart_kernel, kernel_id)
        try:
            self._wait(restarting, START_SECONDS)
        except Exception as error:
            raise SetupError(f"The kernel was not restarted: {error}.", hint=START_HINT) from error

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
        self.count_connections(kernel_id, 1)
        process = ServerKernelProcess(self, kernel_id)
        try:
            return ConnectedKernel(client, process, attendance or Attendance())
        except BaseException:
            disconnect(client)
            process.leave()
            raise

    def count_connections(self, kernel_id: str, more: int) -> None:
        """Note that there are so many connections of ours more."""
        with self._counting:
            self._connected[kernel_id] += more

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

    def go_back(self, kernel_id: str, run_id: str, kept: int, step: int) -> GoneBack:
        """Bring a kernel's variables back as they were before a run; where it went to.

        Args:
            kernel_id: The kernel.
            run_id: The run; empty: forth, to where the last undo left.
            kept: How many states of a kernel are kept, to say why there is none.
            step: Before which of the run's cells, counted from 1; 0: before the run.

        Raises:
            SetupError: It cannot be done; the text says why.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        with closing(self.connect(kernel_id)) as kernel:
            self._check_alone(kernel_id)
            snapshot = find_before(kernel, run_id, step) if run_id else find_later(kernel)
            if snapshot is None and not run_id:
                raise SetupError(NOTHING_TO_REDO, hint="Run the cells again.")
            if snapshot is None and step > 1:
                raise missing_step(kernel, run_id, step, kept)
            if snapshot is None:
                why = explain_missing(kernel, kept)
                raise SetupError(f"The variables cannot be brought back: {why}.", hint=RESTART)
            go_to(kernel, snapshot, news=news_of(snapshot))
            return GoneBack(snapshot, find_files(kernel, run_id, step))

    def files_before(self, kernel_id: str, run_id: str, step: int) -> ChangedFiles:
        """Which files could be put back as they were before a run; the arguments are those of it.

        Raises:
            SetupError: There is no such kernel.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        with closing(self.connect(kernel_id)) as kernel:
            self.check_free(kernel_id)
            return find_files(kernel, run_id, step)

    def put_files_back(self, kernel_id: str, run_id: str, step: int) -> ChangedFiles:
        """Put files back as they were before a run; which were, and which were not.

        Args:
            kernel_id: The kernel.
            run_id: The run; empty: forth, as they were before they were put back.
            step: Before which of the run's cells, counted from 1; 0: before the run.

        Raises:
            SetupError: There is no such kernel.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        with closing(self.connect(kernel_id)) as kernel:
            self._check_alone(kernel_id)
            return put_files_back(kernel, run_id, step)

    def snapshots(self, kernel_id: str, *, measured: bool) -> KernelSnapshots:
        """The states that a kernel can be taken back to.

        Args:
            kernel_id: The kernel.
            measured: Whether to tell how much memory they hold, for which the kernel reads a while.

        Raises:
            SetupError: There is no such kernel.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        with closing(self.connect(kernel_id)) as kernel:
            self.check_free(kernel_id)
            found = list_snapshots(kernel)
            held = measure_snapshots(kernel) if measured and found else 0.0
            return KernelSnapshots(found, held if measured else None)

    def forget_snapshots(self, kernel_id: str) -> KernelSnapshots:
        """End all of those states; what is left of them.

        Raises:
            SetupError: There is no such kernel.
            KernelNotReadyError: A cell runs in the kernel.
            KernelError: It is gone, or does not answer.
        """
        with closing(self.connect(kernel_id)) as kernel:
            self.check_free(kernel_id)
            kernel.ask_snapshots("drop", {})
            return KernelSnapshots(list_snapshots(kernel), 0.0)

    def look(self, kernel_id: str) -> concurrent.futures.Future[bool]:
        """Begin to look whether the kernel's process is there.

        Raises:
            TimeoutError: The server has ended.
        """
        return self._schedule(lambda: self._manager.is_alive(kernel_id))

    def interrupt(self, kernel_id: str) -> None:
        """Interrupt what runs in a kernel; whoever asks looks for itself whether it helped."""
        if self.has(kernel_id):
            with suppress(TimeoutError):  # where the server has ended, the kernel soon does
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
            KernelError: It is gone.
        """

        def check() -> None:
            if getattr(self._kernel(kernel_id), "execution_state", "") == "busy":
                raise KernelNotReadyError("The kernel is busy.", hint="Ask when its cell ended.")

        # What we asked of it a moment ago may still make it look busy.
        retry(check, KernelNotReadyError, FREE_SECONDS, 0.02)

    def _check_alone(self, kernel_id: str) -> None:
        """Return if nothing runs in the kernel and the caller's is our only connection to it.

        A run keeps its own while its model thinks, and would go on as if nothing had changed.

        Raises:
            KernelNotReadyError: A cell or a run works in it.
            KernelError: It is gone.
        """
        self.check_free(kernel_id)

        def check() -> None:
            if self._connected[kernel_id] > 1:
                raise KernelNotReadyError(
                    "A run works in this kernel.", hint="Stop it, or wait for its end."
                )

        # One that has just ended lets go of its connection a little later.
        retry(check, KernelNotReadyError, LOOK_SECONDS)

    def check_can_be_copied(self, kernel_id: str) -> None:
        """Return if the kernel runs where its processes can be reached, and nothing runs in it.

        Raises:
            KernelError: It does not.
        """
        self.check_free(kernel_id)
        if getattr(self._kernel(kernel_id), "kernel_url", ""):
            raise KernelError(
                "This kernel cannot be copied: it runs behind a gateway.",
                hint="Ask without branches.",
            )

    async def _start(self, folder: str, name: str) -> str:
        kernel_id = str(await ensure_async(self._manager.start_kernel(path=folder)))
        if self._idle_seconds > 0:
            self._look_later(kernel_id, self._idle_seconds)
        if self._sessions is not None:
            # Like a console: JupyterLab lists it as running and opens one on it.
            path = f"{folder}/{name}".lstrip("/")
            try:
                saving = self._sessions.create_session(
                    path=path, name=name, type="console", kernel_id=kernel_id
                )
                await ensure_async(saving)
            except BaseException:
                await ensure_async(self._manager.shutdown_kernel(kernel_id))
                raise
        return kernel_id

    async def _shut_down(self, kernel_id: str) -> None:
        if self._sessions is not None:
            with suppress(web.HTTPError):
                session = await ensure_async(self._sessions.get_session(kernel_id=kernel_id))
                await ensure_async(self._sessions.delete_session(session["id"]))
                return
        await ensure_async(self._manager.shutdown_kernel(kernel_id))

    def _look_later(self, kernel_id: str, seconds: float) -> None:
        def look() -> None:
            self._loop.create_task(self._end_if_idle(kernel_id))

        # A handle, and no task that sleeps: the server's end leaves nothing pending.
        self._loop.call_later(seconds, look)

    async def _end_if_idle(self, kernel_id: str) -> None:
        """End a kernel that nobody has used for long enough, or look again when that may be."""
        if not self.has(kernel_id):
            return
        model = await ensure_async(self._manager.kernel_model(kernel_id))
        idle_seconds = time.time() - datetime.fromisoformat(model["last_activity"]).timestamp()
        is_used = model["connections"] or self._connected[kernel_id] > 0
        if is_used or model["execution_state"] == "busy":
            idle_seconds = 0.0
        if idle_seconds >= self._idle_seconds:
            await self._shut_down(kernel_id)
        else:
            self._look_later(kernel_id, self._idle_seconds - idle_seconds)

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

    def _kernel(self, kernel_id: str) -> Any:
        """The server's manager of one kernel.

        Raises:
            KernelError: The kernel is gone, just now perhaps.
        """
        try:
            return self._manager.get_kernel(kernel_id)
        except (KeyError, web.HTTPError) as error:
            raise KernelError("The notebook's kernel is gone.", hint=START_HINT) from error

    def _client(self, kernel_id: str) -> Any:
        manager = self._kernel(kernel_id)
        if getattr(manager, "kernel_url", ""):
            return open_gateway_client(kernel_id, self._loop)
        client = client_of(manager.get_connection_info())
        client.start_channels(hb=False, stdin=True)
        return client

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
            raise TimeoutError(f"it took longer than {seconds:.0f} s") from None

    def _schedule(self, call: Callable[[], Awaitable[T] | T]) -> concurrent.futures.Future[T]:
        async def run() -> T:
            return await ensure_async(call())

        running: Coroutine[Any, Any, T] = run()
        try:
            return asyncio.run_coroutine_threadsafe(running, self._loop)
        except RuntimeError:
            # The server has ended, and its loop with it.
            running.close()
            raise TimeoutError("the server is stopping") from None


class SnapshotAsker:
    """Asks the notebook's kernel for functions of ``kernels.snapshots``; an ``AskSnapshots``.

    Args:
        kernels: The server's.
        kernel_id: Which one.
    """

    def __init__(self, kernels: ServerKernels, kernel_id: str) -> None:
        self._kernels, self._kernel_id = kernels, kernel_id
        self._lock = threading.RLock()
        self._connection: ConnectedKernel | None = None

    def __call__(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The kernel's answer.

        Raises:
            KernelError: It is busy, gone, or failed.
        """
        with self.connected() as kernel:
            return kernel.ask_snapshots(function, arguments)

    @contextmanager
    def connected(self) -> Iterator[ConnectedKernel]:
        """One connection for all that is asked within.

        Raises:
            KernelError: The kernel is busy or gone.
        """
        with self._lock:
            if self._connection is not None:
                yield self._connection
                return
            try:
                kernel = self._kernels.connect(self._kernel_id)
            except SetupError as error:
                raise KernelError(error.message, hint=error.hint) from error
            with closing(kernel):
                self._kernels.check_free(self._kernel_id)
                self._connection = kernel
                try:
                    yield kernel
                finally:
                    self._connection = None
