"""A kernel started for one run, at once or when it is first needed, and ended with it."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

from cellwright.errors import CellwrightError, KernelDiedError, KernelError
from cellwright.kernels import CellRequest, InputAsker, KernelDescription, OutputSink
from cellwright.kernels.capture import ENDED
from cellwright.kernels.cell_run import CellRun
from cellwright.kernels.client import ClientKernel, ProcessManager
from cellwright.kernels.installing import flood_limit
from cellwright.record.events import CellOutput
from cellwright.record.outputs import Execution
from cellwright.stopping import Stop

# The process of a kernel of our own: started, asked, interrupted and ended.
#
# jupyter_client's own blocking calls leave an event loop behind in every thread that makes one;
# here each call has a loop of its own, and a running one is no obstacle.


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
        python: The interpreter that runs ipykernel; empty: what the installed kernel says.
        place: Where the folder is made; among temporary files by default.
    """

    way = "started"

    def __init__(self, kernel_name: str, python: str = "", place: str | None = None) -> None:
        from jupyter_client.manager import AsyncKernelManager

        self._folder = tempfile.mkdtemp(prefix="cw-", dir=place)
        self._manager = AsyncKernelManager(
            kernel_name=kernel_name,
            connection_file=os.path.join(self._folder, "kernel.json"),
            shutdown_wait_time=POLITE_SECONDS,
        )
        if os.name == "posix" and len(self._folder) < SOCKET_PATH_LIMIT:
            # Files in a folder that only this person can open: no port, nothing on a network.
            self._manager.transport = "ipc"
        self._python = python

    def command(self, argv: list[str]) -> list[str]:
        """The words that start it."""
        return argv

    def start(self, cwd: str, env: Mapping[str, str]) -> None:
        """Start it; it does not answer yet.

        Raises:
            KernelError: No kernel of this name is installed.
        """
        from jupyter_client.kernelspec import NoSuchKernel

        options: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            spec: Any = self._manager.kernel_spec
            if self._python:
                spec.argv = [self._python, "-m", LAUNCHER, "-f", "{connection_file}"]
            spec.argv = self.command(list(spec.argv))
            if LAUNCHER in spec.argv:
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


START_SECONDS = 60.0
LIMIT_MEMORY = "(lambda r: r.setrlimit(r.RLIMIT_AS, ({0}, {0})))(__import__('resource'))"


class OwnProcess(ProcessManager, Protocol):
    """The process of a kernel of our own, wherever it runs."""

    way: str
    """How it came to be: ``started``, ``forked`` or ``gateway``."""

    def client(self) -> Any:
        """A new connection; its channels are not started."""
        ...

    def end(self, *, now: bool = False) -> None:
        """End it, politely unless ``now``; a second call does nothing."""
        ...


@dataclass(frozen=True)
class Attendance:
    """Who attends to the kernel: what ``ClientKernel`` takes by the same names."""

    on_input: InputAsker | None = None
    on_waiting: Callable[[bool], None] | None = None


class FreshKernel(ClientKernel):
    """A kernel of our own; ``close`` ends its process, and so does leaving a ``with``."""

    is_shared = False
    _install_too = MappingProxyType({"flood": flood_limit(0)})
    _last_patience_seconds = 6.0
    """Giving a cell up ends the kernel, and a busy machine needs seconds to show an interrupt."""

    def __init__(
        self, client: Any, process: OwnProcess, attendance: Attendance | None = None
    ) -> None:
        attendance = attendance or Attendance()
        super().__init__(client, process, on_input=attendance.on_input)
        self._on_waiting = attendance.on_waiting
        self.process = process
        self._own_client = client

    @classmethod
    def opened(
        cls,
        process: OwnProcess,
        attendance: Attendance | None = None,
        stop: Stop | None = None,
    ) -> Self:
        """The kernel of a process, once it answers.

        Raises:
            KernelError: It died, or did not answer in time.
            RunCancelled: Somebody asked to stop.
        """
        client = process.client()
        try:
            client.start_channels(hb=False, stdin=False)
            kernel = cls(client, process, attendance)
            kernel.wait_until_ready(START_SECONDS, stop)
        except BaseException:
            disconnect(client)
            raise
        return kernel

    def __enter__(self) -> FreshKernel:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def wait_until_ready(self, seconds: float, stop: Stop | None = None) -> None:
        """Wait until the kernel answers.

        Raises:
            KernelError: It died, or did not answer in time.
            RunCancelled: Somebody asked to stop.
        """
        self._get_ready(stop or Stop(), within=seconds)
        # Only from here on it is somebody's cell that is waited for.
        self._waiting.tell = self._on_waiting

    def limit_memory(self, size_bytes: int) -> None:
        """Limit its address space: a cell that wants more gets a ``MemoryError``.

        Raises:
            KernelError: Its system cannot do that.
        """
        reply = self._silently(Stop(), LIMIT_MEMORY.format(size_bytes))
        answer = reply.get("user_expressions", {}).get("answer", {})
        if answer.get("status") != "ok":
            raise KernelError(f"The kernel's memory cannot be limited: {answer.get('evalue')!r}.")

    def fetch_files(self, folder: Path) -> None:
        """Bring the files of its folder into ours; nothing to do where they are one."""

    def _give_up(self, run: CellRun) -> None:
        """A cell does not react: the kernel is ours, and ends with it.

        Raises:
            KernelDiedError: It was not somebody's Stop, which says so itself.
        """
        run.stuck_text = ENDED
        self.process.end(now=True)
        if not run.is_stopped:
            raise KernelDiedError(ENDED)

    def close(self, *, now: bool = False) -> None:
        """End the process, politely unless ``now``; a second call does nothing."""
        disconnect(self._own_client)
        self.process.end(now=now)


def start_kernel(
    cwd: str | os.PathLike[str] | None = None,
    env: Mapping[str, str] | None = None,
    kernel_name: str = "python3",
    attendance: Attendance | None = None,
    stop: Stop | None = None,
) -> FreshKernel:
    """Start a kernel and wait until it answers.

    Args:
        cwd: Its folder; ours by default.
        env: Its environment; ours by default.
        kernel_name: Name of an installed kernel.
        attendance: Answers what cells ask; by default nobody does.
        stop: Ends the waiting.

    Raises:
        KernelError: There is no such kernel, or it did not start.
        RunCancelled: Somebody asked to stop.
    """
    folder = cwd if cwd is not None else os.getcwd()
    environ = env if env is not None else os.environ
    return open_kernel(KernelProcess(kernel_name), folder, environ, attendance, stop)


def open_kernel(
    process: KernelProcess,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str],
    attendance: Attendance | None = None,
    stop: Stop | None = None,
) -> FreshKernel:
    """Start a process and wait until its kernel answers; where it does not, it is ended.

    Raises:
        KernelError: It did not start.
        RunCancelled: Somebody asked to stop.
    """
    try:
        process.start(os.fspath(cwd), env)
        return FreshKernel.opened(process, attendance, stop)
    except BaseException:
        process.end(now=True)
        raise


def disconnect(client: Any) -> None:
    """Close a client's sockets."""
    client.stop_channels()
    context = getattr(client, "context", None)
    if context is not None:  # a gateway's client has none
        context.destroy(linger=100)


# A kernel that is started when something has to run in it: many a question needs none.


Started = TypeVar("Started", bound=ClientKernel)
OF_A_NEW_KERNEL: Mapping[str, Any] = {
    "executed_cells": [],
    "last_error": None,
    "list_variables": [],
    "live_tools": [],
}
"""What a kernel would answer in which nothing has run yet."""
NOT_ASKED: Mapping[str, Any] = {"packages": {}}
"""For the record alone, which does not say what a kernel has that was not there."""


class LateKernel(Generic[Started]):
    """``kernels.Kernel``, there from its first cell on.

    Args:
        start: Starts it.
        cwd: Its folder.
        language: In which its cells are written.
    """

    runs_elsewhere = True
    """Cells go on whatever this process does meanwhile."""

    def __init__(self, start: Callable[[], Started], cwd: str, language: str = "python") -> None:
        self.failure = ""
        """Why it did not start; empty: it did, or nobody asked it to."""
        self._start = start
        self._cwd, self._language = cwd, language
        self._kernel: Started | None = None

    @property
    def session(self) -> str:
        """Names the life of the kernel; empty before it was started."""
        return self._kernel.session if self._kernel is not None else ""

    def started(self) -> Started:
        """The kernel itself, started now if it was not.

        Raises:
            CellwrightError: It does not start.
        """
        if self._kernel is None:
            self._kernel = self._start()
        return self._kernel

    def wait_until_free(self, stop: Stop) -> None:
        """Return at once where nobody can have cells in it."""
        stop.check()
        if self._kernel is not None:
            self._kernel.wait_until_free(stop)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as they come."""
        try:
            kernel = self.started()
        except (CellwrightError, OSError) as error:
            self.failure = f"{type(error).__name__}: {error}"
            # Whatever it was: there is no kernel, so the run cannot go on.
            raise KernelDiedError(f"The kernel did not start: {error}") from error
        return (yield from kernel.execute(request, stop, on_output))

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of the probe, or what a kernel would answer that is not there yet."""
        if self._kernel is None and function in NOT_ASKED:
            return NOT_ASKED[function]
        if self._kernel is None and function in OF_A_NEW_KERNEL:
            return OF_A_NEW_KERNEL[function]
        return self.started().probe(function, arguments)

    def describe(self) -> KernelDescription:
        """Language, version and folder; no version before it was started."""
        if self._kernel is None:
            return KernelDescription(self._language, "", "", self._cwd)
        return self._kernel.describe()

    def is_alive(self) -> bool:
        """Whether it is there, or can be started."""
        return self._kernel is None or self._kernel.is_alive()

    def interrupt(self) -> None:
        """Interrupt our own cell if it runs."""
        if self._kernel is not None:
            self._kernel.interrupt()

    def extend(self, seconds: float) -> bool:
        """Let the cell that runs go on for longer; whether one does."""
        return self._kernel is not None and self._kernel.extend(seconds)

    def close(self) -> None:
        """Let go of it, where it was started."""
        if self._kernel is not None:
            self._kernel.close()


# The part of an environment that a kernel for other people's tasks is given.
#
# What is not on the list is left out: of variables that nobody has heard of, some hold keys. What
# is on it and is called a secret, or is an address with a password, is left out too.
#
# What this does not protect against: a kernel runs with the rights of the person who started it. It
# can read their files, and on Linux the environment that the programs above it were started with
# (``/proc/PID/environ``).


PASSED_ON = (
    r"(?i:"
    # The system: where things are, and in which language it speaks.
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TMP|TEMP"
    r"|(?:LD|DYLD|XDG)_\w+|SYSTEM(?:ROOT|DRIVE)|WINDIR|COMSPEC|PATHEXT|(?:LOCAL)?APPDATA"
    r"|USERPROFILE|HOMEDRIVE|HOMEPATH|PROGRAM(?:DATA|FILES)|NUMBER_OF_PROCESSORS|PROCESSOR_\w+"
    # Python, its environments, and Jupyter.
    r"|PYTHON\w*|VIRTUAL_ENV|CONDA_\w+|JUPYTER_\w+|IPYTHON\w*|KERNEL_\w+|COVERAGE_\w+"
    r"|JPY_(?:PARENT_PID|SESSION_NAME|INTERRUPT_EVENT)"
    # What libraries compute and draw with.
    r"|(?:ARROW|BLIS|CUDA|GOTO|HIP|KMP|MALLOC|MKL|MPL|NPY|NUMBA|NUMEXPR|NUMPY|NVIDIA|OMP|OPENBLAS"
    r"|PANDAS|POLARS|RAYON|ROCR|TF|TORCH|VECLIB)_\w+|MPLBACKEND|MPLCONFIGDIR|JAVA_HOME|R_HOME"
    # How the network is reached.
    r"|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE"
    r")"
)
"""Names that are passed on, as a regular expression for the whole name."""
HELD_BACK = (
    r"(?i:(?:^|_)(?:PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|SECRETS?|TOKENS?|(?:API)?KEYS?|DSN|AUTH"
    r"|PAT|COOKIE|CREDENTIALS?)(?:_|$))"
)
"""Finds the names among them that are held back all the same."""
HAS_PASSWORD = re.compile(r"://[^/\s]*@")


def select_environment(
    environ: Mapping[str, str] | None = None, named: Iterable[str] = ()
) -> dict[str, str]:
    """What a kernel is given of an environment.

    Args:
        environ: The whole; ours by default.
        named: Names that the person wants passed on whatever they are.
    """
    wanted = frozenset(named)
    found = os.environ if environ is None else environ
    return {
        name: value for name, value in found.items() if name in wanted or _is_plain(name, value)
    }


def _is_plain(name: str, value: str) -> bool:
    return (
        re.fullmatch(PASSED_ON, name) is not None
        and re.search(HELD_BACK, name) is None
        and HAS_PASSWORD.search(value) is None
    )
