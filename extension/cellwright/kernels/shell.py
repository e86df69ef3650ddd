"""The person's own IPython: code runs nested in the cell that called the agent."""

from __future__ import annotations

import sys
import threading
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from contextlib import ExitStack
from typing import Any

from cellwright.errors import RunCancelled
from cellwright.kernels import CellRequest, KernelDescription, OutputSink, cell_watch, probe
from cellwright.kernels.calling_cell import calling_cell_kept
from cellwright.kernels.capture import Capture
from cellwright.kernels.drain import Drain
from cellwright.kernels.interrupt_watch import StubbornCellError
from cellwright.kernels.interrupts import interrupt_thread
from cellwright.kernels.nested_loop import NestedLoop
from cellwright.kernels.outcome import INTERRUPTED, answered, execution, reason_text
from cellwright.kernels.recorder import TerminalRecorder
from cellwright.kernels.tap import LateTap, SessionTap, ShellOptions
from cellwright.kernels.watchdog import Watchdog
from cellwright.record.cells import Execution, ExecutionStatus
from cellwright.record.events import CellOutput
from cellwright.record.outputs import ErrorOutput, safe_text
from cellwright.stopping import Stop

OUTPUTS_WAITING = 100_000
"""A front end that does not read at all must not fill the kernel without end."""


class ShellKernel:
    """Runs code in a live ``InteractiveShell``, from inside a cell of it.

    Args:
        shell: What ``get_ipython()`` returns.
        options: How outputs show under the calling cell.
    """

    def __init__(self, shell: Any, options: ShellOptions | None = None) -> None:
        self._shell = shell
        self._options = options or ShellOptions()
        self._loop = NestedLoop()
        self._running: threading.Thread | None = None
        self._prompt = -1
        self._late: LateTap | None = None
        _let_outputs_wait(shell)

    session = ""
    """A restart ends us too."""

    def wait_until_free(self, stop: Stop) -> None:
        """The cell that runs is the one that called us."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """Run a cell here and now; its outputs show as they come and are yielded at the end."""
        stop.check()
        if self._late is not None:
            yield from self._late.leave()
        capture = Capture(request, on_output)
        started = time.monotonic()
        self._forget_files()
        keyboard = self._options.has_keyboard
        cell_watch.before_cell(self._shell, is_nested=True, has_keyboard=keyboard)
        watch = cell_watch.STATE.cell.interrupts if cell_watch.STATE.cell else None
        result, watchdog = None, Watchdog(request, stop, capture, self._teller(), watch)
        try:
            result = self._run(request, capture, watchdog)
        except (KeyboardInterrupt, StubbornCellError) as interrupt:
            result = interrupt
        finally:
            report = cell_watch.after_cell(self._shell, result)
            self._late = self._listen_on(Capture(request, on_output))
        seconds = time.monotonic() - started
        yield from capture.take()
        _raise_if_ended_early(stop, capture, watchdog.reason)
        if report["interrupted"] and not watchdog.reason:
            raise RunCancelled(INTERRUPTED)
        if watchdog.reason:
            status: ExecutionStatus = "timeout" if watchdog.reason == "timeout" else "interrupted"
            note = reason_text(watchdog.reason, request.timeout_seconds)
            return execution(status, seconds, report, note=note)
        error = capture.error or _error_of(result)
        return execution("error" if error else "ok", seconds, report, error=error)

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of a function of ``cellwright.probe``."""
        return answered(function, probe.answer(function, dict(arguments), self._shell))

    def describe(self) -> KernelDescription:
        """Version, folder and process."""
        return KernelDescription(**self.probe("describe_kernel", {}))

    def is_alive(self) -> bool:
        """Whoever can ask is alive."""
        return True

    def interrupt(self) -> None:
        """Interrupt the cell that ``execute`` runs; from another thread."""
        if self._running is not None:
            interrupt_thread(self._running)

    def close(self) -> None:
        """End what top-level ``await`` left behind, and listen no more."""
        if self._late is not None:
            self._late.leave()
        self._loop.close()

    def _forget_files(self) -> None:
        """After a cell of the person's own, files have to be looked at anew."""
        if self._shell.execution_count != self._prompt:
            cell_watch.STATE.files = None
            self._prompt = self._shell.execution_count

    def _run(self, request: CellRequest, capture: Capture, watchdog: Watchdog) -> Any:
        self._running = threading.current_thread()
        drain = Drain()
        with ExitStack() as around:
            around.enter_context(calling_cell_kept(self._shell, request.code, self._loop.run))
            around.enter_context(self._tap(capture))
            around.callback(capture.finish)
            around.callback(drain.finish)
            around.callback(watchdog.end)
            watchdog.start()
            try:
                return self._shell.run_cell(request.code, store_history=False)
            finally:
                self._running = None

    def _tap(self, capture: Capture) -> SessionTap | TerminalRecorder:
        kernel = getattr(self._shell, "kernel", None)
        session = getattr(kernel, "session", None)
        if session is None:
            return TerminalRecorder(self._shell, capture, self._options)
        # A comm message that came meanwhile points later output of children and threads elsewhere.
        self._shell.set_parent(self._shell.get_parent())
        return SessionTap(session, self._parent_id(), capture, self._options)

    def _listen_on(self, capture: Capture) -> LateTap | None:
        """Text that comes between two cells belongs to the first."""
        session = getattr(getattr(self._shell, "kernel", None), "session", None)
        if session is None or threading.current_thread() is not threading.main_thread():
            return None
        late = LateTap(session, self._parent_id(), capture)
        late.__enter__()
        return late

    def _teller(self) -> Callable[[str], None]:
        """Shows a sentence of ours under the calling cell, from any thread."""
        kernel = getattr(self._shell, "kernel", None)
        session = getattr(kernel, "session", None)
        if kernel is None or session is None:
            stream = sys.stderr
            return lambda text: print(f"\n■ {text}", file=stream, flush=True)
        # What is captured as the cell's own comes by the instance's ``send``.
        send, parent = type(session).send, self._shell.get_parent()

        def tell(text: str) -> None:
            content = {"data": {"text/plain": f"■ {text}"}, "metadata": {}, "transient": {}}
            send(session, kernel.iopub_socket, "display_data", content, parent=parent)

        return tell

    def _parent_id(self) -> str:
        parent = self._shell.get_parent() or {}
        return str(parent.get("header", {}).get("msg_id", ""))


def _let_outputs_wait(shell: Any) -> None:
    """Keep a flood of outputs for a front end that reads slowly.

    ipykernel drops what comes after a thousand messages that wait, those of the next cell too.
    """
    thread = getattr(
        getattr(getattr(shell, "kernel", None), "iopub_socket", None), "io_thread", None
    )
    socket = getattr(thread, "socket", None)
    if thread is None or socket is None:
        return

    def widen() -> None:
        if 0 < socket.sndhwm < OUTPUTS_WAITING:
            socket.sndhwm = OUTPUTS_WAITING

    thread.schedule(widen)


def _raise_if_ended_early(stop: Stop, capture: Capture, reason: str) -> None:
    if capture.failure is not None:
        raise capture.failure
    if reason == "stop":
        raise RunCancelled(stop.reason)
    if stop.is_set():
        # The watchdog had let go of it; now it has ended all the same.
        raise RunCancelled("stopped: its cell did not end at its limit" if reason else INTERRUPTED)


def _exception_of(result: Any) -> BaseException | None:
    if isinstance(result, BaseException):
        return result
    error: BaseException | None = result.error_before_exec or result.error_in_exec
    return error


def _error_of(result: Any) -> ErrorOutput | None:
    """The exception of a cell that did not show it, for instance under ``%%capture``."""
    error = _exception_of(result)
    if error is None:
        return None
    lines = tuple(safe_text(line) for line in traceback.format_exception(error))
    return ErrorOutput(type(error).__name__, safe_text(error), lines)
