"""The person's own IPython: code runs nested in the cell that called the agent."""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import sys
import threading
import time
import traceback
from asyncio import events
from collections.abc import Callable, Coroutine, Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from tokenize import TokenError
from typing import Any

from cellwright.errors import KernelError, RunCancelled
from cellwright.kernels import (
    CellRequest,
    KernelDescription,
    OutputSink,
    cell_watch,
    probe,
    snapshots,
)
from cellwright.kernels.capture import INTERRUPTED, STUCK, Capture, answered, execution, reason_text
from cellwright.kernels.drain import Drain
from cellwright.kernels.interrupt_watch import CATCHABLE, InterruptWatch, StubbornCellError
from cellwright.kernels.tap import LateTap, SessionTap, ShellOptions, TerminalRecorder
from cellwright.record.events import CellOutput
from cellwright.record.outputs import ErrorOutput, Execution, ExecutionStatus
from cellwright.record.values import safe_text
from cellwright.stopping import Stop, WorkerThread

# Keeps the calling cell as it was while other cells run inside it.


UNDERSCORES = ("_", "__", "___")
OTHER_LOOPS = ("_trio_runner", "_curio_runner")


@contextmanager
def calling_cell_kept(shell: Any, code: str, loop_runner: Callable[..., Any]) -> Iterator[None]:
    """Leave ``_``, ``Out``, the loop and the result of the calling cell as they were.

    Args:
        code: The cell that runs inside; its own last semicolon counts, not the caller's.
        loop_runner: Runs the coroutine of a cell with top-level ``await``.
    """
    hook = shell.displayhook
    results = _Results(shell)
    result, runner = hook.exec_result, shell.loop_runner
    quiet = hook.__dict__.get("quiet")
    hook.quiet = lambda: _ends_with_semicolon(hook, code)
    if getattr(runner, "__name__", "") not in OTHER_LOOPS:
        shell.loop_runner = loop_runner
    try:
        yield
    finally:
        shell.loop_runner, hook.exec_result = runner, result
        del hook.quiet
        if quiet is not None:
            hook.quiet = quiet
        results.restore()


def _ends_with_semicolon(hook: Any, code: str) -> bool:
    try:
        return bool(hook.semicolon_at_end_of_expression(code))
    except (TokenError, SyntaxError):
        return False


class _Results:
    """``_`` and its like, and this prompt's entry of ``Out``."""

    def __init__(self, shell: Any) -> None:
        self._hook, self._namespace = shell.displayhook, shell.user_ns
        self._count = self._hook.prompt_count
        self._out = self._namespace["_oh"]
        self._cached = {name: getattr(self._hook, name) for name in UNDERSCORES}
        names = (*UNDERSCORES, f"_{self._count}")
        self._named = {name: self._namespace.get(name, self) for name in names}
        self._shown = self._out.get(self._count, self)
        # By these IPython tells its own ``_`` from one that the person assigned.
        self._hidden = shell.user_ns_hidden
        self._known = {name: self._hidden.get(name, self) for name in names}

    def restore(self) -> None:
        for name, value in self._cached.items():
            setattr(self._hook, name, value)
        for name, value in self._named.items():
            _put(self._namespace, name, value, absent=self)
        for name, value in self._known.items():
            _put(self._hidden, name, value, absent=self)
        _put(self._out, self._count, self._shown, absent=self)


def _put(mapping: Any, key: Any, value: Any, *, absent: object) -> None:
    if value is absent:
        mapping.pop(key, None)
    else:
        mapping[key] = value


# Top-level ``await`` in a cell that is run inside another cell.
#
# The kernel's own event loop is busy with the calling cell and cannot be entered again. The code
# gets a loop of its own, on the same thread, so that interrupts, figures and objects that belong
# to the main thread work as in any cell. What does not work: awaiting tasks that belong to the
# kernel's own loop.


GRACE_SECONDS = 1.0
"""How long a cancelled cell may take to clean up."""


class NestedLoop:
    """An event loop that lives as long as the run, so that sessions and tasks last over cells."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Run IPython's coroutine for one cell to its end; an interrupt cancels it."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        with _other_loop_set_aside():
            task = self._loop.create_task(coroutine)
            try:
                return self._loop.run_until_complete(task)
            except KeyboardInterrupt as error:
                interrupt = error.with_traceback(None)
            # Outside of the handler, or the cell's traceback would tell of both.
            return _cancelled(self._loop, task, interrupt)

    def close(self) -> None:
        """Cancel what is left and close the loop."""
        loop, self._loop = self._loop, None
        if loop is None or loop.is_closed():
            return
        with _other_loop_set_aside():
            left = asyncio.all_tasks(loop)
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.wait(left, timeout=GRACE_SECONDS))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()


def _cancelled(
    loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any], interrupt: KeyboardInterrupt
) -> Any:
    """The result of a cell that was interrupted while it awaited something."""
    task.cancel()
    loop.run_until_complete(asyncio.wait([task], timeout=GRACE_SECONDS))
    if not task.done() or task.cancelled() or task.exception() is not None:
        raise interrupt
    result = task.result()
    # The traceback that was shown says CancelledError; whoever asks is told what it was.
    result.error_in_exec = interrupt
    return result


@contextmanager
def _other_loop_set_aside() -> Iterator[None]:
    """Hide the loop that runs on this thread; it stands still until we are done."""
    running = events._get_running_loop()
    events._set_running_loop(None)
    try:
        yield
    finally:
        events._set_running_loop(running)


# Interrupting a thread of this process, as Jupyter's Stop button would.


def interrupt_thread(thread: threading.Thread) -> None:
    """Raise ``KeyboardInterrupt`` in a thread; in the main one it also ends a sleep.

    Child processes of the main thread's cell are interrupted too where the kernel leads a process
    group of its own, as it does under Jupyter: ``os.system`` waits for its child, not for us.
    """
    if thread is not threading.main_thread():
        _raise_in_thread(thread, KeyboardInterrupt)
    elif os.name == "posix" and _leads_group():
        os.killpg(os.getpgrp(), signal.SIGINT)
    elif os.name == "posix" and thread.ident is not None:
        signal.pthread_kill(thread.ident, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def _leads_group() -> bool:
    """Whether all processes of our group are this kernel's; after going back another one leads."""
    return os.getpgrp() in (os.getpid(), os.getppid() if snapshots.is_supervised() else -1)


def _raise_in_thread(thread: threading.Thread, error: type[BaseException]) -> None:
    """Raise an exception in a thread as soon as it runs Python code again."""
    if thread.ident is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread.ident), ctypes.py_object(error)
        )


# Looks after one cell from another thread: its time, its output, and whether to stop it.


LOOK_SECONDS = 0.1
INTERRUPTS = 4
ONCE_MORE = "Interrupt once more to end it by force."
PATIENCE_SECONDS = 0.7
"""How long an interrupted cell may take to end before it is interrupted again."""


class Watchdog:
    """Interrupts the thread that runs a cell when there is a reason to.

    Code that catches ``KeyboardInterrupt`` is interrupted again; the third time it meets an
    exception that it cannot expect (``interrupt_watch``). When it has not reacted to two of them,
    the person is told how to end it, and the run's record gets its end: what comes next may be
    the death of this process.

    Args:
        request: The cell.
        stop: Of the run.
        capture: Takes its outputs.
        tell: Shows the person a sentence under the calling cell; called from another thread.
        interrupts: Counts those that come from elsewhere; None: nobody counts them.
    """

    def __init__(
        self,
        request: CellRequest,
        stop: Stop,
        capture: Capture,
        tell: Callable[[str], None],
        interrupts: InterruptWatch | None = None,
    ) -> None:
        self.reason = ""
        """Why it interrupted: ``stop``, ``timeout``, ``output`` or ``record``."""
        self._tell, self._interrupts = tell, interrupts
        self._is_let_go = False
        self._request = request
        self._stop = stop
        self._capture = capture
        self._watched = threading.current_thread()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._thread = WorkerThread(self._watch, name="watchdog")

    def start(self) -> None:
        """Begin to watch the thread that called the constructor."""
        self._thread.start()

    def end(self) -> None:
        """The cell has ended; after this nothing is interrupted any more."""
        self._ended.set()
        while True:
            try:
                with self._lock:
                    return
            except (KeyboardInterrupt, StubbornCellError):
                # An interrupt that came too late for the cell.
                continue

    def _watch(self) -> None:
        limit = self._request.timeout_seconds
        until = None if limit is None else time.monotonic() + limit
        deadline = until
        # It looks at a clock, at interrupts that a signal handler counts, and at open pipes.
        while not self._ended.wait(_pause(deadline)):
            self._capture.flush()
            # The time in which somebody is asked with input() is not the cell's.
            deadline = None if until is None else until + cell_watch.waited_seconds()
            if self._is_stubborn():
                self._let_go(f"interrupted by the person. {STUCK}", "stopped")
            found = self._found(deadline)
            if found:
                self._interrupt_until_it_ends(found)
                return

    def _found(self, deadline: float | None) -> str:
        if self._stop.is_set():
            return "stop"
        if deadline is not None and time.monotonic() >= deadline:
            return "timeout"
        if self._capture.failure is not None:
            return "record"
        return "output" if self._capture.overflowed else ""

    def _interrupt_until_it_ends(self, reason: str) -> None:
        for count in range(1, INTERRUPTS + 1):
            with self._lock:
                if self._ended.is_set():
                    return
                self.reason = reason
                interrupt_thread(self._watched)
            if self._ended.wait(PATIENCE_SECONDS):
                return
            if reason == "stop" and count == CATCHABLE:
                self._let_go(f"{self._stop.reason}. {STUCK}", "stopped")
        why = reason_text(reason, self._request.timeout_seconds)
        self._let_go(f"{why} {STUCK}".strip(), "stuck")
        while not self._ended.wait(LOOK_SECONDS):
            self._capture.flush()

    def _is_stubborn(self) -> bool:
        """Whether the person has interrupted it twice, and it goes on."""
        watch = self._interrupts
        if watch is None or watch.count < CATCHABLE:
            return False
        return time.monotonic() - watch.last_at > PATIENCE_SECONDS

    def _let_go(self, reason: str, cause: str) -> None:
        if self._is_let_go or self._ended.is_set():
            return
        self._is_let_go = True
        self._stop.let_go(reason, cause)
        self._tell(STUCK if cause == "stuck" else f"{ONCE_MORE} {STUCK}")


def _pause(deadline: float | None) -> float:
    if deadline is None:
        return LOOK_SECONDS
    return max(0.001, min(LOOK_SECONDS, deadline - time.monotonic()))


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

    @staticmethod
    def ask_snapshots(function: str, arguments: Mapping[str, Any]) -> Any:
        """The answer of a function of ``kernels.snapshots``.

        ``go_back`` does not return: the kernel that comes answers the cell that runs.

        Raises:
            KernelError: It cannot be done.
        """
        try:
            return snapshots.FUNCTIONS[function](**arguments)
        except Exception as error:  # whatever a fork meets, no run fails because of it
            told = f"{type(error).__name__}: {error}"
            raise KernelError(f"The kernel could not do {function!r}: {told}.") from error

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
