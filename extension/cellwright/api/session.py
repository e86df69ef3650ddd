"""``cellwright.Session``: a conversation with a kernel of its own, for programs."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import contextvars
import os
import select
import signal
import sys
import threading
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Self, TypedDict, TypeVar, Unpack, cast

from cellwright.agent.policy import ApprovalAnswer, Approver
from cellwright.agent.typed_answers import TypedAnswers
from cellwright.api.answers import Answer
from cellwright.assistants.files import list_assistants, project_folders
from cellwright.commands import Invocation
from cellwright.commands.notebook_files import new_notebook
from cellwright.commands.records import open_store
from cellwright.commands.terminal import Console
from cellwright.commands.workplace import TerminalApprover, TerminalKeyboard, TypedLine, make_place
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import KernelDiedError, RunCancelled, RunFailedError, SetupError
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import Attendance, FreshKernel, start_kernel
from cellwright.kernels.shell import ShellKernel
from cellwright.kernels.tap import ShellOptions
from cellwright.llm.keys import load_settings
from cellwright.llm.signatures import Signature
from cellwright.record.events import Event, ToolStarted
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.composer import AssistantChoice, RunEnvironment, start_run
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.resuming import resume
from cellwright.session.run import Run
from cellwright.session.services import Service, ServiceCache
from cellwright.settings import Limits, Mode, Settings, check_batch_mode, checked_mode
from cellwright.stopping import Stop, WorkerThread, drive
from cellwright.store.runs import RunStore
from cellwright.tools import Component
from cellwright.tools.functions import as_component
from cellwright.tools.live_registry import RESERVED_TOOLS

# What a session holds open (record, service, kernel), and what its runs are composed from.


HERE = "here"
"""Names the kernel that the program runs in."""
LOOK_SECONDS = 0.2
"""How often it is looked whether a run was stopped while its question waits for a line."""


class InputConsole(Console):
    """Asks with ``input`` and shows with ``print``: a notebook has both, and so has a terminal."""

    def __init__(self) -> None:
        super().__init__(sys.stdin, sys.stdout, sys.stderr)
        self.is_quiet = True
        self.stop = Stop()
        """Of the run that may ask."""

    @property
    def is_interactive(self) -> bool:
        """Whether the program can ask the one who runs it."""
        shell = find_shell()
        if hasattr(shell, "kernel"):
            # nbclient and papermill say here that nobody can type.
            return bool(shell.get_parent().get("content", {}).get("allow_stdin", False))
        return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))

    def complain(self, text: str) -> None:
        """A line that is shown in any case."""
        print(text, flush=True)

    def ask(self, question: str) -> str:
        """What the person types; empty at the end of the input.

        Raises:
            RunCancelled: The run was stopped meanwhile.
        """
        return (self._read_line(question) or "").strip()

    def read_answer(self, question: str, *, is_secret: bool) -> str | None:
        """The line that the user types, as it is; None: the input has ended."""
        if is_secret:
            from getpass import getpass

            try:
                return getpass(question)
            except EOFError:
                return None
        line = self._read_line(question)
        return None if line is None else line.rstrip("\r\n")

    def _read_line(self, question: str) -> str | None:
        if hasattr(find_shell(), "kernel") or os.name != "posix":
            try:
                return input(question)
            except EOFError:
                return None
        print(question, end="", flush=True)
        # In a thread of its own nothing but this look ends the waiting for a line.
        while not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
            self.stop.check()
        return sys.stdin.readline() or None


class SessionKeyboard(TerminalKeyboard):
    """Answers what cells ask with ``input``, until the run is stopped."""

    def __call__(self, prompt: str, password: bool) -> TypedLine:
        """Put a question to the user and wait for the line."""
        try:
            return super().__call__(prompt, password)
        except RunCancelled:
            return TypedLine(None)


def find_shell() -> Any:
    """The IPython that this program runs in; None: it runs in none."""
    module = sys.modules.get("IPython")
    return module.get_ipython() if module is not None else None


class OwnTools:
    """The functions that a program gave its session: a ``TurnSource``."""

    name = "session"

    def __init__(self, components: tuple[Component, ...]) -> None:
        self._components = components

    def components(self) -> tuple[Component, ...]:
        """Its tools."""
        return self._components

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Nothing: it has tools alone."""
        return RetrievalResult()


@dataclass(frozen=True)
class RunOptions:
    """What all questions of a session have in common."""

    settings: Settings
    folder: Path
    model: str = ""
    mode: Mode = "ask"
    kernel_name: str = ""
    tools: tuple[Component, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    lane: str = "api"


class Resources:
    """The record, the services and the kernel of a session, opened on first use.

    Args:
        options: The session's.
    """

    def __init__(self, options: RunOptions) -> None:
        self.options = options
        self.console = InputConsole()
        self.invocation = Invocation(argparse.Namespace(), options.settings, self.console)
        self._opened = contextlib.ExitStack()
        self._store: RunStore | None = None
        self._services: ServiceCache | None = None
        self._kernel: FreshKernel | ShellKernel | None = None

    def store(self) -> RunStore:
        """The record of all runs."""
        if self._store is None:
            self._store = self._opened.enter_context(open_store(self.invocation))
        return self._store

    def service(self, model: str) -> Service:
        """The service that answers as a model.

        Raises:
            SetupError: There is none for this model.
        """
        if self._services is None:
            self._services = self._opened.enter_context(contextlib.closing(ServiceCache()))
        return self._services.get(self.options.settings, model)

    def kernel(self, stop: Stop) -> Kernel:
        """The kernel; another one where the last has died.

        Raises:
            KernelError: There is no such kernel, or it did not start.
            RunCancelled: Somebody asked to stop.
        """
        if self._kernel is not None and _answers(self._kernel):
            return self._kernel
        self._end_kernel(now=True)
        if self.options.kernel_name == HERE:
            keyboard = self.console.is_interactive
            hidden = ShellOptions(show=lambda message: False, has_keyboard=keyboard)
            self._kernel = ShellKernel(find_shell(), hidden)
        else:
            attendance = None
            if self.console.is_interactive:
                attendance = Attendance(on_input=SessionKeyboard(self.console))
            name = self.options.kernel_name or "python3"
            folder = self.options.folder
            self._kernel = start_kernel(folder, kernel_name=name, attendance=attendance, stop=stop)
        return self._kernel

    def close(self, *, now: bool = False) -> None:
        """End the kernel and close all else; a second call does nothing."""
        try:
            self._end_kernel(now=now)
        finally:
            self._opened.close()

    def _end_kernel(self, *, now: bool) -> None:
        kernel, self._kernel = self._kernel, None
        if isinstance(kernel, FreshKernel):
            kernel.close(now=now)
        elif kernel is not None:
            kernel.close()


def _answers(kernel: Kernel) -> bool:
    """Whether a kernel is there: one that was just killed still counts as alive for a moment."""
    try:
        kernel.describe()
    except KernelDiedError:
        return False
    return True


def fill_request(
    options: RunOptions, prompt: str, files: tuple[str, ...], typed: TypedAnswers | None
) -> RunRequest:
    """What a program asks, with what it set for the session."""
    settings = options.settings
    return RunRequest(
        prompt,
        Parameters(options.model),
        files=files,
        mode=options.mode,
        limits=replace(settings.limits, **options.limits),  # type: ignore[arg-type]
        typed=typed,
        tells_time=settings.message_times,
    )


def compose_context(resources: Resources, kernel: Kernel, approver: Approver | None) -> RunContext:
    """Where the runs of a session happen: the same as for ``cellwright run``."""
    options = resources.options
    is_here = options.kernel_name == HERE
    store, notebook = resources.store(), new_notebook()
    place = make_place(resources.invocation, kernel, store, notebook, options.folder)
    own = (OwnTools(options.tools),) if options.tools else ()
    return replace(
        place,
        lane=options.lane,
        approver=approver,
        notebook=None if is_here else place.notebook,
        sources=(*place.sources, *own),
    )


def named_from(folder: Path, files: tuple[str | os.PathLike[str], ...]) -> tuple[str, ...]:
    """The files as the kernel's code should name them: from its folder, or by their full paths."""
    names = []
    for file in files:
        given = Path(file).expanduser()
        # A name alone may be meant from the session's folder or from the program's.
        full = (folder / given if (folder / given).exists() else given).resolve()
        names.append(str(full.relative_to(folder)) if full.is_relative_to(folder) else str(full))
    return tuple(names)


StrPath = str | os.PathLike[str]
Approve = Callable[[ToolStarted], bool]
OnEvent = Callable[[Event], None]
Result = TypeVar("Result")
Start = Callable[[RunContext, Stop], Iterator[Event]]
"""Starts a run: a recorded one, again."""
CANCEL_SECONDS = 5.0
"""So long a cancelled run may take to end by itself; then its record is ended for it."""
LIMIT_NAMES = tuple(field.name for field in fields(Limits))
NOBODY = (
    'Session(mode="auto") lets code run without asking, mode="plan" only looks, and approve=… asks '
    "a function of yours."
)
CLOSED = "This session is closed."


class RunSettings(TypedDict, total=False):
    """What ``Session`` takes beside the model."""

    mode: Mode | None
    kernel: str
    folder: StrPath | None
    tools: Sequence[Callable[..., Any] | Component]
    approve: Approve | None
    limits: Mapping[str, float] | None


class SessionOptions(RunSettings, total=False):
    """What ``Session`` takes, by name."""

    model: str


class FunctionApprover:
    """Asks a function of the program.

    Args:
        approve: Whether a call may run.
    """

    def __init__(self, approve: Approve) -> None:
        self._approve = approve

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the function says."""
        return ApprovalAnswer(bool(self._approve(call)))


class Session:
    """A conversation with a function-calling model that runs code in a kernel. Stability: stable.

    The kernel starts with the first question and ends with the ``with`` block, with ``close`` or
    with the program. Each question goes on where the last one ended: the model knows what was
    said, and the kernel's variables are still there. A session answers one question at a time.

    Args:
        model: Who answers: a name that the service knows, ``demo`` for the demo model, ``auto``;
            empty: what the settings say.
        mode: ``ask`` asks before code runs, ``auto`` runs it, ``plan`` lets the model look alone,
            ``edits`` lets it write cells and asks before they run. None: what
            ``CELLWRIGHT_MODE`` says, else ``ask``.
        kernel: Name of an installed kernel, as ``jupyter kernelspec list`` shows it; empty:
            ``python3``. ``here``: no new kernel, the IPython that this program runs in.
        folder: Where the kernel works; None: the current folder.
        tools: Functions that the model may call. They run in this program, not in the kernel.
        approve: Asked in mode ``ask`` in place of the person: called with the call (its ``name``
            and ``arguments``), returns whether it may run. Provisional.
        limits: What a run may take, by the names of ``cellwright.settings.Limits``, such as
            ``step_limit``, ``wall_seconds``, ``token_limit``, ``cost_limit_dollars`` and
            ``cell_timeout_seconds``.

    Raises:
        SetupError: A setting cannot be used, the folder is not there, or a tool is none.
    """

    def __init__(  # noqa: PLR0913 (what a person may choose; the names are the documentation)
        self,
        model: str = "",
        *,
        mode: Mode | None = None,
        kernel: str = "",
        folder: StrPath | None = None,
        tools: Sequence[Callable[..., Any] | Component] = (),
        approve: Approve | None = None,
        limits: Mapping[str, float] | None = None,
    ) -> None:
        settings = load_settings()
        options = RunOptions(
            settings=settings,
            folder=_checked_folder(folder),
            model=model,
            mode=settings.mode if mode is None else checked_mode(mode, "mode"),
            kernel_name=_checked_kernel(kernel),
            tools=_components(tools),
            limits=_checked_limits(limits or {}),
        )
        self._resources = Resources(options)
        self._approve = approve
        self._conversation: Conversation | None = None
        self._resumed: RunRecord | None = None
        self._told: set[str] = set()
        self._stop: Stop | None = None
        self._working, self._worker = threading.Lock(), 0
        # Somebody who forgets to close it leaves no kernel behind: this runs at the latest when
        # the interpreter ends, and it holds the resources, not the session.
        self._finalizer = weakref.finalize(self, partial(self._resources.close, now=True))

    @classmethod
    def resume(cls, run: str | Run | Answer, /, **options: Unpack[SessionOptions]) -> Self:
        """A session that goes on after a recorded run, in this program or another. Provisional.

        The model knows what was said up to that run. The kernel is a new one: the model is told
        that variables are gone, and makes again what it needs.

        Args:
            run: A run, its id or a part of it, or ``last``.
            **options: As for ``Session``. Model and folder are the run's unless they are given;
                mode and all else are not taken over.

        Raises:
            SetupError: There is no such run, or a setting cannot be used.
        """
        record = record_of(run)
        options.setdefault("model", record.parameters.model)
        if record.cwd and Path(record.cwd).is_dir():
            options.setdefault("folder", record.cwd)
        session = cls(**options)
        session._resumed = record
        return session

    @property
    def folder(self) -> Path:
        """Where a kernel of its own works, and where files are looked for."""
        return self._resources.options.folder

    def ask(
        self,
        prompt: str,
        *,
        files: Sequence[StrPath] = (),
        signature: Signature | str | None = None,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """Ask, and wait for the answer.

        Ctrl-C stops the run; ``KeyboardInterrupt`` comes when its record is whole.

        Args:
            prompt: The question. ``@name`` at its start lets that assistant answer.
            files: Files to look at, from the session's folder or from the current one. They stay
                where they are; the model is told their paths.
            signature: Typed results, such as ``"-> best: str, share: float"``; they are in
                ``Answer.values``, and in the kernel as variables. Provisional.
            on_event: Called with each event of the run as it is recorded: text of the model,
                cells, outputs. Provisional.

        Raises:
            SetupError: Something is missing or cannot be used; nothing was recorded then.
            KernelError: The kernel does not start.
            RunFailedError: It was stopped before it began.
            KeyboardInterrupt: Ctrl-C.
        """
        request = self._request(prompt, files, signature)
        stop = Stop()
        if self._resources.options.kernel_name == HERE:
            # Ctrl-C has to interrupt the code, which runs in this very thread.
            return self._ask(request, _flushed(on_event or _ignore), stop)
        with interrupts_stop(stop):
            return self._ask(request, on_event, stop)

    async def ask_async(
        self,
        prompt: str,
        *,
        files: Sequence[StrPath] = (),
        signature: Signature | str | None = None,
        on_event: OnEvent | None = None,
    ) -> Answer:
        """``ask``, while other tasks of the event loop go on.

        Cancelling the task stops the run; ``CancelledError`` comes when its record is whole.

        Args:
            prompt: As for ``ask``.
            files: As for ``ask``.
            signature: As for ``ask``.
            on_event: As for ``ask``; called in the event loop.

        Raises:
            SetupError: As for ``ask``; also where the kernel is ``here``, whose code runs in this
                very thread.
            KernelError: The kernel does not start.
            RunFailedError: It was stopped before it began.
        """
        if self._resources.options.kernel_name == HERE:
            raise SetupError(
                'kernel="here" runs code in the thread of this event loop.',
                hint="Use ask, or leave kernel out for one of its own.",
            )
        request = self._request(prompt, files, signature)
        loop = asyncio.get_running_loop()
        stop, raised = Stop(), list[BaseException]()

        def call(listener: OnEvent, event: Event) -> None:
            if raised:
                return
            try:
                listener(event)
            except BaseException as error:  # raised below, once the run has its record
                raised.append(error)
                stop.set(f"stopped: on_event raised {type(error).__name__}")

        def show(event: Event) -> None:
            if on_event is not None:
                loop.call_soon_threadsafe(call, on_event, event)

        answer = await _in_thread(partial(self._ask, request, show, stop), stop)
        if raised:
            raise raised[0]
        return answer

    def stop(self) -> None:
        """Stop the run that goes on, from any thread; its answer has the status ``cancelled``."""
        if self._stop is not None:
            self._stop.set()

    def close(self) -> None:
        """End the kernel and close the record; a run that goes on is stopped first.

        Raises:
            SetupError: It is called from within its own run.
        """
        self.stop()
        if self._worker == threading.get_ident():
            raise SetupError("A run cannot close its session.", hint="Call stop instead.")
        has_ended = self._working.acquire(timeout=CANCEL_SECONDS)
        try:
            if self._finalizer.detach() is not None:
                # What does not react (a cell in a system call, a line that nobody types) is left.
                self._resources.close(now=not has_ended)
        finally:
            if has_ended:
                self._working.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await _in_thread(self.close, Stop())

    def __repr__(self) -> str:
        options = self._resources.options
        state = "" if self._finalizer.alive else " closed"
        model = options.model or options.settings.service.model or "auto"
        return f"<Session{state} model={model} mode={options.mode} folder={options.folder}>"

    def _request(
        self, prompt: str, files: Sequence[StrPath], signature: Signature | str | None
    ) -> RunRequest:
        if not isinstance(prompt, str):
            raise SetupError(f"The question is {prompt!r}.", hint="Ask with a text.")
        if isinstance(files, (str, os.PathLike)):
            files = (files,)
        typed = None
        if signature is not None:
            parsed = Signature.parse(signature) if isinstance(signature, str) else signature
            typed = TypedAnswers(parsed, prompt)
        named = named_from(self.folder, tuple(files))
        return fill_request(self._resources.options, prompt, named, typed)

    def _ask(self, request: RunRequest, on_event: OnEvent | None, stop: Stop) -> Answer:
        with self._at_work(stop):
            self._check_mode()
            answer = self._follow(start_run(request, self._environment(stop), stop), on_event)
            if answer.status == "cancelled" and not stop.is_set():
                raise KeyboardInterrupt  # nobody else stopped it
            return answer

    def _environment(self, stop: Stop) -> RunEnvironment:
        messages = self._resumed.messages if self._resumed is not None else ()
        if self._conversation is not None:
            messages = self._conversation.messages
        settings = self._resources.options.settings
        listed = list_assistants(project_folders(self.folder), settings.home)
        return RunEnvironment(
            self._resources.service,
            lambda _: nullcontext(self._conversation_here(stop)),
            settings,
            AssistantChoice(listed, is_guest=settings.is_guest),
            messages,
            self.folder,
            told=self._told,
        )

    def _conversation_here(self, stop: Stop) -> Conversation:
        """The conversation, over a kernel that is there."""
        kernel = self._resources.kernel(stop)
        conversation = self._conversation
        if conversation is None:
            conversation = Conversation(self._place(kernel))
            if self._resumed is not None:
                resume(conversation, self._resumed.messages, self._resumed)
                conversation.last_run_id = self._resumed.run_id
            self._conversation = conversation
        elif conversation.place.kernel is not kernel:
            conversation.move(self._place(kernel))
        return conversation

    def _place(self, kernel: Kernel) -> RunContext:
        return compose_context(self._resources, kernel, self._approver(kernel))

    def _approver(self, kernel: Kernel | None) -> Approver | None:
        if self._approve is not None:
            return FunctionApprover(self._approve)
        console = self._resources.console
        return TerminalApprover(console, kernel) if console.is_interactive else None

    def _check_mode(self) -> None:
        try:
            check_batch_mode(
                self._resources.options.mode, is_interactive=self._approver(None) is not None
            )
        except SetupError as error:
            raise SetupError(error.message, hint=NOBODY) from None

    @contextmanager
    def _at_work(self, stop: Stop) -> Iterator[None]:
        """One run at a time; what is stopped before it has a record says so."""
        if not self._finalizer.alive:
            raise SetupError(CLOSED, hint="Make another, or ask inside its with block.")
        if not self._working.acquire(blocking=False):
            raise SetupError(
                "This session is answering a question.",
                hint="Wait for its answer, or use a Session for each.",
            )
        self._stop, self._worker = stop, threading.get_ident()
        self._resources.console.stop = stop
        try:
            yield
        except RunCancelled:
            raise RunFailedError("Stopped before the run began.") from None
        finally:
            self._stop, self._worker = None, 0
            self._working.release()

    def _follow(self, events: Iterator[Event], on_event: OnEvent | None) -> Answer:
        """Pull a run to its end."""
        store = self._resources.store()
        # Where a program's own function fails the run is left midway: closed, it gets its end.
        with closing(cast("Generator[Event, None, None]", events)):
            drive(events, on_event or _ignore)
        run_id = store.last_started
        return Answer(Run(store.record(run_id), store.storage(run_id).problem))


def run_again(session: Session, start: Start) -> Answer:
    """Start a recorded run again in a session that has asked nothing.

    Args:
        session: Where its kernel is.
        start: Starts it there.

    Raises:
        KernelError: The kernel does not start.
        KeyboardInterrupt: Ctrl-C; the run is recorded as stopped.
    """
    stop = Stop()
    with interrupts_stop(stop), session._at_work(stop):
        session._check_mode()
        place = session._place(session._resources.kernel(stop))
        return session._follow(start(place, stop), None)


def record_of(run: str | Run | Answer) -> RunRecord:
    """The record that a run, an answer or an id stands for.

    Raises:
        SetupError: There is no such run, or there are several.
    """
    if isinstance(run, Answer):
        return run.run.record
    if isinstance(run, Run):
        return run.record
    if not isinstance(run, str):
        raise SetupError(f"{run!r} is no run.", hint="Give a run, an answer, an id, or 'last'.")
    resources = Resources(RunOptions(load_settings(), Path()))
    try:
        store = resources.store()
        return store.record(store.resolve(run))
    finally:
        resources.close()


@contextmanager
def interrupts_stop(stop: Stop) -> Iterator[None]:
    """While it lasts, Ctrl-C sets ``stop``; it is delivered when the run has its record.

    Whatever the program does about Ctrl-C, it does it then: Python's own handler raises
    ``KeyboardInterrupt``, that of ``asyncio.run`` cancels the main task. A second one is delivered
    at once. Only the main thread is told of signals; elsewhere nothing changes.
    """
    is_main = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if is_main else None
    if handler is None or isinstance(handler, int):  # nobody in Python is told of it
        yield
        return
    deliver, seen = handler, False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal seen
        if stop.is_set():
            deliver(number, frame)
        seen = True
        stop.set()

    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if seen:
            signal.raise_signal(signal.SIGINT)


async def _in_thread(work: Callable[[], Result], stop: Stop) -> Result:
    """Do work in a thread of its own; cancelled, it is stopped and waited for.

    A daemon thread: one that waits for a line of input would keep the program from ending.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not done.done():
            set_outcome(outcome)

    def call() -> None:
        set_outcome: Callable[[Any], None] = done.set_result
        try:
            outcome: Any = context.run(work)
        except BaseException as error:
            set_outcome, outcome = done.set_exception, error
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, set_outcome, outcome)

    context = contextvars.copy_context()
    WorkerThread(call, name="session").start()
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        stop.set("cancelled")
        await asyncio.wait([done], timeout=CANCEL_SECONDS)
        if not done.done():
            stop.let_go("cancelled", "stuck")
        elif not done.cancelled():
            done.exception()  # looked at: who cancels does not want to know
        raise


def _flushed(on_event: OnEvent) -> OnEvent:
    """The same; what it prints is sent before code runs, whose output it would be counted as."""

    def show(event: Event) -> None:
        on_event(event)
        for stream in filter(None, (sys.stdout, sys.stderr)):
            stream.flush()

    return show


def _ignore(event: Event) -> None:
    """Nobody wants to see it."""


def _checked_folder(folder: StrPath | None) -> Path:
    path = Path(folder or ".").expanduser().resolve()
    if not path.is_dir():
        raise SetupError(f"There is no folder {str(path)!r}.", hint="Make it first.")
    return path


def _checked_kernel(kernel: str) -> str:
    if kernel == HERE and find_shell() is None:
        raise SetupError(
            'kernel="here" needs IPython, and this program does not run in it.',
            hint="Leave it out for a kernel of its own.",
        )
    return kernel


def _checked_limits(limits: Mapping[str, float]) -> Mapping[str, float]:
    for name in limits:
        if name not in LIMIT_NAMES:
            raise SetupError(f"There is no limit {name!r}.", hint=f"Use {', '.join(LIMIT_NAMES)}.")
    return dict(limits)


def _components(tools: Sequence[Callable[..., Any] | Component]) -> tuple[Component, ...]:
    made = tuple(map(as_component, tools))
    for name in (manifest.name for each in made for manifest in each.tool_manifests()):
        if name in RESERVED_TOOLS:
            raise SetupError(
                f"{name!r} is a name of the agent's own.", hint="Give it another: tool(name=…)."
            )
    return made
