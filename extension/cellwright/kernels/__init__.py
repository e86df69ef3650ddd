"""Where code runs: one protocol over the user's own shell and over a kernel client.

What this does not protect against: code runs with the rights of the person who started the
kernel. It can read and delete files, use the network, read environment variables (keys too),
start processes and change or end the kernel. The permission mode decides *whether* code runs;
nothing here limits *what* it does once it runs.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from cellwright.errors import RunCancelled, ToolError
from cellwright.record.events import CellOutput
from cellwright.record.outputs import Execution, OutputMessage
from cellwright.stopping import Stop, WorkerThread

OutputSink = Callable[[CellOutput], CellOutput]
"""Sees each output when it is captured, before it is shown; returns it redacted and recorded.

It may hold back the end of a stream's text, which could be half of a secret; a stream's empty text
says that the stream has ended. What it returns is empty where all of it is held back.
"""


class PendingInput(Protocol):
    """A question of a running cell (``input``, ``getpass``) that waits for the person."""

    def value(self) -> str | None:
        """What they typed; None: nothing yet. Asked again and again, so it answers at once.

        ``"\\x04"`` ends the input: the cell gets an ``EOFError``.
        """
        ...

    def close(self) -> None:
        """It was answered, or the cell ended and nobody waits for it any more."""
        ...


InputAsker = Callable[[str, bool], PendingInput]
"""Puts a question to the person and returns at once: its text, and whether it is a password."""


@dataclass(frozen=True)
class CellRequest:
    """A cell to run."""

    cell_id: str
    code: str
    timeout_seconds: float | None = 120.0
    """None: no limit."""
    output_limit_bytes: int = 10_000_000
    """Past this the middle of the output is dropped; past ten times this the cell is stopped."""
    message_id: str = ""
    """Id of the request that carries it, where one does; empty: any."""
    kernel_session: str = ""
    """The life of the kernel that it is meant for: it does not run in another; empty: in any."""
    is_secret: bool = False
    """The kernel does not tell its other clients the code, and does not count or keep it."""


@dataclass(frozen=True)
class KernelDescription:
    """Which kernel this is."""

    language: str
    version: str
    implementation: str
    cwd: str
    process_id: int | None = None


class Kernel(Protocol):
    """A live kernel."""

    @property
    def session(self) -> str:
        """Names the life of the kernel: another one after a restart. Empty: ours, or not known."""
        ...

    def wait_until_free(self, stop: Stop) -> None:
        """Return when nobody else's cell runs, however long it takes.

        Raises:
            RunCancelled: ``stop`` was set.
            KernelError: The kernel died or does not answer.
        """
        ...

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell; yield its outputs as soon as the caller can have them.

        ``on_output`` is called at capture, from any thread, with coalesced outputs (at most some
        twenty a second for streams); what it returns is what is yielded. An output of an earlier
        cell that comes late carries that cell's id. An exception in the cell is not an error
        here: it is in ``Execution.error``.

        Raises:
            RunCancelled: ``stop`` was set or the person interrupted; the cell was interrupted
                first and what it had sent went through ``on_output``.
            KernelDiedError: The kernel's process is gone.
            KernelNotReadyError: The kernel does not answer.
        """
        ...

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The JSON answer of a function of ``cellwright.probe``, run silently in the kernel.

        Raises:
            ToolError: The function refused, for instance for an unknown variable.
            KernelError: The kernel cannot answer.
        """
        ...

    def describe(self) -> KernelDescription:
        """Language, version and folder."""
        ...

    def is_alive(self) -> bool:
        """Whether the process is there."""
        ...

    def interrupt(self) -> None:
        """Interrupt what is running, only when it is ours."""
        ...


# Cells that go on in the kernel while something else is done.
#
# A cell is driven in a thread of its own: its outputs are recorded and drawn as they come, its time
# limit and Stop hold, whoever looks at it or not. What else needs the kernel waits its turn.


LOOK_SECONDS = 0.1
"""Short waits: whoever waits may be a main thread, which Windows lets Ctrl-C reach between them."""
INTERRUPTED = "interrupted by the agent"


class GoingCell:
    """A cell that runs by itself.

    Args:
        kernel: Where it runs; free.
        request: The cell.
        stop: Of the run that it belongs to.
        on_output: Sees each output when it is captured.
    """

    def __init__(
        self, kernel: Kernel, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> None:
        self.cell_id = request.cell_id
        self._kernel, self._request, self._on_output = kernel, request, on_output
        self._stop = _OwnStop(stop)
        self._messages: list[OutputMessage] = []
        self._outputs: queue.SimpleQueue[CellOutput | None] = queue.SimpleQueue()
        self._over = threading.Event()
        self._ended: Execution | BaseException | None = None
        self._began = time.monotonic()
        self._seconds = 0.0
        WorkerThread(self._drive, name="cell").start()

    @property
    def is_over(self) -> bool:
        """Whether it has ended, however that was."""
        return self._over.is_set()

    @property
    def seconds(self) -> float:
        """How long it runs, or ran."""
        return self._seconds if self.is_over else time.monotonic() - self._began

    @property
    def messages(self) -> tuple[OutputMessage, ...]:
        """What it has sent so far."""
        return tuple(self._messages)

    def outputs(self, seconds: float | None) -> Iterator[CellOutput]:
        """Its outputs as they come, until it has ended or so long has passed; None: no limit."""
        until = float("inf") if seconds is None else time.monotonic() + seconds
        while True:
            left = until - time.monotonic()
            try:
                output = self._outputs.get(timeout=max(0.0, min(LOOK_SECONDS, left)))
            except queue.Empty:
                if left <= 0 or self.is_over:
                    return
                continue
            if output is not None:
                yield output

    def wait(self, stop: Stop) -> None:
        """Return when it has ended.

        Raises:
            RunCancelled: ``stop`` was set.
        """
        while not self._over.wait(LOOK_SECONDS):
            stop.check()

    def execution(self) -> Execution:
        """How it ended.

        Raises:
            RunCancelled: The run was stopped, or the person interrupted it.
            KernelError: The kernel died or does not answer.
        """
        if isinstance(self._ended, Execution):
            return self._ended
        assert self._ended is not None
        raise self._ended

    def interrupt(self) -> None:
        """Let it end early."""
        self._stop.set(INTERRUPTED)

    def _drive(self) -> None:
        try:
            self._ended = self._run_to_end(
                self._kernel.execute(self._request, self._stop, self._sink)
            )
        except RunCancelled as stopped:
            self._ended = self._interrupted(stopped)
        except BaseException as error:  # whoever looks at the cell is told
            self._ended = error
        self._seconds = time.monotonic() - self._began
        self._over.set()
        self._outputs.put(None)

    def _run_to_end(self, running: Generator[CellOutput, None, Execution]) -> Execution:
        while True:
            try:
                self._outputs.put(next(running))
            except StopIteration as ended:
                execution: Execution = ended.value
                return execution

    def _sink(self, output: CellOutput) -> CellOutput:
        kept = self._on_output(output)
        if kept.cell_id == self.cell_id:
            self._messages.append(kept.message)
        return kept

    def _interrupted(self, stopped: RunCancelled) -> Execution | RunCancelled:
        """An end that the model asked for is an end like any other."""
        if not self._stop.is_own or not stopped.reason.startswith(INTERRUPTED):
            return stopped
        seconds = time.monotonic() - self._began
        return Execution("interrupted", seconds, note=stopped.reason)


class _OwnStop(Stop):
    """Set by itself, or with another one."""

    def __init__(self, above: Stop) -> None:
        super().__init__()
        self._above = above

    @property
    def is_own(self) -> bool:
        """Whether it was set by itself alone."""
        return not self._above.is_set()

    def is_set(self) -> bool:
        """Whether either is."""
        if self._above.is_set():
            self.set(self._above.reason)
        return super().is_set()

    def check(self) -> None:
        """Raise when either is set."""
        self.is_set()
        super().check()


class PatientKernel:
    """A kernel in which a cell may go on while the model is asked again.

    Args:
        kernel: The kernel.
        soft_seconds: How long a cell is waited for before the model is told what it has shown.
    """

    def __init__(self, kernel: Kernel, soft_seconds: float) -> None:
        self.soft_seconds = soft_seconds
        self.left: GoingCell | None = None
        """The cell whose call was answered before its end, until that is told."""
        self.ended: dict[str, GoingCell] = {}
        """Those that have ended since, by id, until the model looks at them."""
        self.begun: set[str] = set()
        """Ids of all cells that could go on."""
        self._kernel = kernel

    def begin(self, request: CellRequest, stop: Stop, on_output: OutputSink) -> GoingCell:
        """Begin a cell; the kernel is free."""
        self.begun.add(request.cell_id)
        return GoingCell(self._kernel, request, stop, on_output)

    @property
    def session(self) -> str:
        """Names the life of the kernel."""
        return self._kernel.session

    def wait_until_free(self, stop: Stop) -> None:
        """Return when no cell runs, ours neither."""
        if self.left is not None:
            self.left.wait(stop)
        self._kernel.wait_until_free(stop)

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell and wait for it."""
        self.wait_until_free(stop)
        return (yield from self._kernel.execute(request, stop, on_output))

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """What the kernel knows, where no cell runs."""
        self._check_idle()
        return self._kernel.probe(function, arguments)

    def describe(self) -> KernelDescription:
        """Language, version and folder."""
        self._check_idle()
        return self._kernel.describe()

    def is_alive(self) -> bool:
        """Whether the process is there."""
        return self._kernel.is_alive()

    def interrupt(self) -> None:
        """Interrupt what is running, only when it is ours."""
        self._kernel.interrupt()

    def _check_idle(self) -> None:
        if self.left is not None and not self.left.is_over:
            cell_id = self.left.cell_id
            raise ToolError(
                f"The cell {cell_id!r} still runs.",
                hint=f"read_output(name={cell_id!r}, wait_seconds=60) waits for it.",
            )


def can_go_on(kernel: Kernel) -> bool:
    """Whether cells of this kernel run elsewhere than whoever waits for them."""
    return bool(getattr(kernel, "runs_elsewhere", False))
