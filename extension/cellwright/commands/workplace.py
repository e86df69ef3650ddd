"""What a command needs to run cells: a fresh kernel, a notebook and whoever can be asked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from cellwright.assistants.files import project_folders
from cellwright.commands import Invocation
from cellwright.commands.approving import TerminalApprover, TerminalKeyboard
from cellwright.commands.interrupts import stopping
from cellwright.commands.notebook_files import NotebookFile
from cellwright.commands.progress import Progress
from cellwright.commands.records import make_redactor
from cellwright.commands.terminal import Console
from cellwright.kernels.fresh import Attendance, FreshKernel, start_kernel
from cellwright.record.events import Event
from cellwright.session.questions import Place
from cellwright.session.standard_sources import Sources
from cellwright.settings import Mode, check_batch_mode
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore
from cellwright.store.usage_table import UsageTable

WRITES_ONLY = (
    "cellwright: nobody can be asked here, so mode 'edits' writes cells and runs none. Use --mode "
    "auto to let code run."
)


@dataclass(frozen=True)
class KernelChoice:
    """Which kernel is started, and where."""

    folder: Path
    name: str = ""
    """Empty: the notebook's own, else ``python3``."""


def open_kernel(
    choice: KernelChoice, notebook: NotebookFile, stop: Stop, console: Console | None = None
) -> FreshKernel:
    """A fresh kernel, to be closed with the command.

    Args:
        choice: Which one.
        notebook: Says which one where the choice does not.
        stop: Set by Ctrl-C while the kernel starts. Raised out of a callback of the event loop that
            starts it, a ``KeyboardInterrupt`` would be lost now and then.
        console: Where the user answers what cells ask with ``input``; None: such a cell fails.

    Raises:
        KernelError: There is no such kernel, or it did not start.
        RunCancelled: Somebody pressed Ctrl-C.
    """
    name = choice.name or notebook.kernel_name or "python3"
    attendance = None
    if console is not None and console.is_interactive:
        attendance = Attendance(on_input=TerminalKeyboard(console))
    with stopping(stop):
        return start_kernel(choice.folder, kernel_name=name, attendance=attendance, stop=stop)


def make_place(
    invocation: Invocation,
    kernel: FreshKernel,
    store: RunStore,
    notebook: NotebookFile,
    folder: Path | None = None,
) -> Place:
    """The kernel, with everything else that a run needs.

    Args:
        invocation: The command.
        kernel: Where its code runs.
        store: Where it is recorded.
        notebook: Where its cells go.
        folder: Where outside tools are looked for, and above; None: where the command is.
    """
    console, settings, sources = invocation.console, invocation.settings, Sources(folder)
    folders = project_folders(folder) if folder is not None else None
    return Place(
        kernel=kernel,
        store=store,
        redactor=make_redactor(settings),
        approver=TerminalApprover(console) if console.is_interactive else None,
        lane="cli",
        notebook=notebook.memory,
        prices=settings.prices,
        spending=UsageTable(store.database),
        user_id=settings.user,
        is_guest=settings.is_guest,
        blocks=sources.blocks(store.database, settings),
        sources=sources.of(store.database, settings, folders),
    )


def checked_mode_here(invocation: Invocation, wanted: Mode) -> Mode:
    """The mode, if it can be kept here.

    Raises:
        SetupError: It asks, and nobody can be asked.
    """
    is_interactive = invocation.console.is_interactive
    if wanted == "edits" and not is_interactive:
        invocation.console.complain(WRITES_ONLY)
    else:
        check_batch_mode(wanted, is_interactive=is_interactive)
    return wanted


def follow(events: Iterator[Event], invocation: Invocation, stop: Stop) -> None:
    """Show what happens until the run has ended; Ctrl-C ends it in order."""
    progress = Progress(invocation.console)
    with stopping(stop):
        for event in events:
            progress.show(event)
