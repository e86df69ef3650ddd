"""What a session holds open (record, service, kernel), and what its runs are composed from."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cellwright.agent.policy import Approver
from cellwright.agent.typed_answers import TypedAnswers
from cellwright.commands import Invocation
from cellwright.commands.notebook_files import new_notebook
from cellwright.commands.records import open_store
from cellwright.commands.terminal import Console
from cellwright.commands.workplace import TerminalKeyboard, TypedLine, make_place
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.errors import KernelDiedError, RunCancelled
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import Attendance, FreshKernel, start_kernel
from cellwright.kernels.shell import ShellKernel
from cellwright.kernels.tap import ShellOptions
from cellwright.record.messages import Parameters
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.services import Service, ServiceCache
from cellwright.settings import Mode, Settings
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore
from cellwright.tools import Component

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

            return getpass(question)
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
