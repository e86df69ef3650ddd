"""``cellwright mcp``: the notebook's tools for other agents, on a Jupyter server or on a file."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.notebook_files import NotebookFile, new_notebook, read_notebook
from cellwright.commands.records import make_redactor, open_store
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import SetupError, ToolError
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.mcp_server import OutsideRun, RunBoundary, load_protocol
from cellwright.mcp_server.bridge import Bridge, address_of, serve, writer
from cellwright.mcp_server.notebook_tools import ListedNotebook, NotebookTools, find_notebooks
from cellwright.mcp_server.outside_agent import OutsideConversation, own_sources
from cellwright.mcp_server.session import McpServerSession
from cellwright.mcp_server.undoing import ChangeLog, UndoSource
from cellwright.record.events import (
    CellEdited,
    CellEvent,
    CellOutput,
    CellRemoved,
    CellStarted,
)
from cellwright.record.outputs import Cell, source_hash
from cellwright.session.prices import known_prices
from cellwright.session.questions import RunContext
from cellwright.session.standard_sources import Sources
from cellwright.settings import Limits, Mode, Settings
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor
from cellwright.tools import Risk

# A notebook file that an outside agent works in: read again when it changed, written at once.


NOT_SAVED = "{path!r} was changed by somebody else and cannot be read now, so it is not written."


class NotebookOnDisk:
    """``notebooks.Notebook`` over a file that nobody has open; the file need not be there yet.

    Args:
        path: The file; None: the notebook is in memory alone.

    Raises:
        SetupError: The file is no notebook.
    """

    is_editable = True

    def __init__(self, path: Path | None) -> None:
        self.changes = ChangeLog()
        self._path = path
        self._lock = RLock()
        self._problems: list[str] = []
        self._file = self._read()
        self._stamp = self._now()
        self._unwritten: list[CellEvent] = []
        """What has happened since the file was written."""

    @property
    def path(self) -> str:
        """The file's path; empty when it has none."""
        return str(self._path) if self._path is not None else ""

    @property
    def kernel_name(self) -> str:
        """The kernel the notebook names; empty when it names none."""
        return self._file.kernel_name

    def cells(self) -> tuple[Cell, ...]:
        """All cells, as the file has them now."""
        with self._lock:
            self._catch_up()
            return self._file.memory.cells()

    def confirm(self, cell_id: str, source: str, message_id: str = "") -> None:
        """Return when the cell is there with this source.

        Raises:
            ToolError: The person deleted or changed it.
        """
        with self._lock:
            self._catch_up()
            self._file.memory.confirm(cell_id, source, message_id)

    def apply(self, event: CellEvent) -> None:
        """Change the notebook, and the file with it once a cell is whole."""
        with self._lock:
            if not isinstance(event, (CellStarted, CellOutput)):
                self.changes.note(event, self._file.memory.cells())
            self._unwritten.append(event)
            if not self._renew():
                self._file.memory.apply(event)
            if not self._runs():
                self._write()

    def take_problems(self) -> tuple[str, ...]:
        """Why the file is not saved, once."""
        with self._lock:
            self._catch_up()
            problems, self._problems = tuple(self._problems), []
            return problems

    def _read(self) -> NotebookFile:
        is_there = self._path is not None and self._path.exists()
        return read_notebook(self._path) if self._path and is_there else new_notebook()

    def _now(self) -> tuple[int, int]:
        if self._path is not None:
            with contextlib.suppress(OSError):
                status = self._path.stat()
                return (status.st_mtime_ns, status.st_size)
        return (0, 0)

    def _runs(self) -> bool:
        """Whether a cell runs: the file is read and written again once it has ended."""
        return bool(self._unwritten) and isinstance(self._unwritten[-1], (CellStarted, CellOutput))

    def _catch_up(self) -> None:
        """Take over what somebody else has written, and write what could not be written then."""
        if self._renew() and self._unwritten:
            self._write()

    def _renew(self) -> bool:
        """Whether somebody else has written the file: that is taken over, where it can be read.

        What they made of it stays; what happened since it was written last goes into it.
        """
        now = self._now()
        if self._runs() or now in (self._stamp, (0, 0)):
            return False
        try:
            self._file = read_notebook(Path(self.path))
        except SetupError:
            return False
        self._stamp = now
        for event in self._unwritten:
            if not self._is_overtaken(event):
                self._file.memory.apply(event)
        return True

    def _is_overtaken(self, event: CellEvent) -> bool:
        """Whether somebody has written another text into the cell that was changed or removed."""
        if not isinstance(event, (CellEdited, CellRemoved)) or not event.previous_hash:
            return False
        sources = (c.source for c in self._file.memory.cells() if c.id == event.cell_id)
        return any(source_hash(source) != event.previous_hash for source in sources)

    def _write(self) -> None:
        if self._path is None:
            self._unwritten = []
            return
        if self._now() not in (self._stamp, (0, 0)):
            self._tell(NOT_SAVED.format(path=self.path))
            return
        try:
            self._file.write(self._path)
            self._stamp, self._unwritten = self._now(), []
        except SetupError as error:
            self._tell(str(error))

    def _tell(self, problem: str) -> None:
        if problem not in self._problems:
            self._problems.append(problem)


# Where an outside agent works without a Jupyter server: a file and a kernel of our own.


LANE = "mcp"
HOW_TO_ALLOW = (
    "Mode {mode!r} has a person asked, and this client cannot ask one. Tell them: start "
    "`cellwright mcp` with --mode auto to let code run, or --mode edits to let cells be changed."
)
PLAN = "Tell the person: `cellwright mcp` was started with --mode plan, which only looks."


@dataclass(frozen=True)
class RoomParts:
    """What a room is made of."""

    settings: Settings
    mode: Mode
    store: RunStore
    redactor: Redactor
    sources: tuple[TurnSource, ...] = ()
    kernel_name: str = ""
    """Empty: the notebook's own, else ``python3``."""


class FileRoom:
    """``mcp_server.Workroom`` over a file; its kernel is started by the first call.

    Args:
        path: The notebook's file; None: none is kept.
        parts: What else it is made of.

    Raises:
        SetupError: The file is no notebook.
    """

    restart_risk: Risk = "execute"
    """Its kernels are started for the client: nobody else has variables there."""

    def __init__(self, path: Path | None, parts: RoomParts) -> None:
        self._parts = parts
        self._root = path.resolve().parent if path is not None else Path.cwd()
        self._current = _OpenFile(path)
        self._open = {self._current.file: self._current}
        self.boundary = RunBoundary()
        undoing = UndoSource(lambda: self.notebook.changes)
        self._sources = (*parts.sources, undoing, NotebookTools(self))
        self._conversation = OutsideConversation()

    @property
    def mode(self) -> Mode:
        """What may be done without asking."""
        return self._parts.mode

    @property
    def limits(self) -> Limits:
        """How long one cell may take."""
        return self._parts.settings.limits

    @property
    def notebook(self) -> NotebookOnDisk:
        """The notebook as it is now."""
        return self._current.notebook

    @property
    def kernel(self) -> Kernel | None:
        """The kernel; None: nothing has run yet."""
        return self._current.kernel

    @property
    def sources(self) -> tuple[TurnSource, ...]:
        """What has tools of its own."""
        return self._sources

    @property
    def redactor(self) -> Redactor:
        """Takes secrets out."""
        return self._parts.redactor

    def run(self, run: OutsideRun) -> None:
        """Do a run in the file, with a kernel that lives: one that died is replaced.

        Raises:
            KernelError: None could be started.
        """
        parts = self._parts
        place = RunContext(
            kernel=self._living(),
            store=parts.store,
            redactor=parts.redactor,
            lane=LANE,
            notebook=self.notebook,
            prices=known_prices(parts.settings),
            user_id=parts.settings.user,
            is_guest=parts.settings.is_guest,
            sources=self._sources,
        )
        self._conversation.run(place, run)

    def take_problems(self) -> tuple[str, ...]:
        """Why the file is not saved."""
        return self.notebook.take_problems()

    def how_to_allow(self) -> str:
        """How to start it so that more may run."""
        return PLAN if self.mode == "plan" else HOW_TO_ALLOW.format(mode=self.mode)

    def list_notebooks(self) -> tuple[ListedNotebook, ...]:
        """Those in the folder of the one it began with, and below."""
        running = {one.file for one in self._open.values() if one.kernel is not None}
        return tuple(
            ListedNotebook(
                file.relative_to(self._root).as_posix(),
                is_current=file == self._current.file,
                has_kernel=file in running,
            )
            for file in find_notebooks(self._root)
        )

    def find_notebook(self, path: str) -> str:
        """The path of a notebook that is there, from that folder.

        Raises:
            ToolError: There is none.
        """
        file = (self._root / path).resolve()
        if not file.is_relative_to(self._root) or file.suffix != ".ipynb" or not file.is_file():
            raise ToolError(f"There is no notebook {path!r}.", hint="list_notebooks names them.")
        return file.relative_to(self._root).as_posix()

    def use_notebook(self, path: str) -> None:
        """Work there from now on; the kernel of the one before goes on.

        Raises:
            SetupError: The file is no notebook.
        """
        file = self._root / path
        if file not in self._open:
            self._open[file] = _OpenFile(file)
        self._current = self._open[file]

    def restart_kernel(self) -> None:
        """End the kernel; the next run starts another one."""
        self._current.close()

    def close(self) -> None:
        """End the kernels."""
        for opened in self._open.values():
            opened.close()

    def _living(self) -> FreshKernel:
        current = self._current
        kernel = current.kernel
        if kernel is None or not kernel.is_alive():
            current.close(now=True)
            folder = current.file.parent if current.file is not None else self._root
            name = self._parts.kernel_name or self.notebook.kernel_name or "python3"
            current.kernel = kernel = start_kernel(folder, current.environment(), name)
        return kernel


class _OpenFile:
    """A notebook that was worked in, and its kernel once there is one.

    Args:
        path: The file; None: the notebook is in memory alone.

    Raises:
        SetupError: The file is no notebook.
    """

    def __init__(self, path: Path | None) -> None:
        self.file = path.resolve() if path is not None else None
        self.notebook = NotebookOnDisk(path)
        self.kernel: FreshKernel | None = None

    def environment(self) -> Mapping[str, str]:
        """The kernel's, with the notebook named as a Jupyter server does."""
        if self.file is None:
            return os.environ
        return {**os.environ, "JPY_SESSION_NAME": str(self.file)}

    def close(self, *, now: bool = False) -> None:
        """End the kernel; the notebook stays."""
        if self.kernel is not None:
            self.kernel.close(now=now)
            self.kernel = None


def mcp(invocation: Invocation) -> int:
    """Serve one client over stdin and stdout until it closes them."""
    options = invocation.options
    if options.kernel_of:
        _bridge(invocation, options)
    else:
        _serve(invocation, options)
    return COMPLETED


def _bridge(invocation: Invocation, options: argparse.Namespace) -> None:
    """Hand all on to a Jupyter server, where the notebook is open."""
    # A client that ends us ends us in order: its session first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    token = os.environ.get(options.token_env, "")
    parameters = {"notebook": options.notebook, "mode": options.mode or ""}
    address = address_of(options.kernel_of, token, parameters)
    if not token:
        invocation.console.note(f"cellwright: {options.token_env} is not set, so no token is sent.")
    bridge = Bridge(address, writer(sys.stdout.buffer))
    try:
        serve(sys.stdin.buffer, bridge.receive)
    finally:
        bridge.close()


def _serve(invocation: Invocation, options: argparse.Namespace) -> None:
    """Work here: in a file, with a kernel of our own."""
    protocol = load_protocol()
    settings = invocation.settings
    with open_store(invocation) as store:
        parts = RoomParts(
            settings,
            options.mode or settings.mode,
            store,
            make_redactor(settings),
            own_sources(Sources().of(store.database, settings)),
            options.kernel,
        )
        session = McpServerSession(FileRoom(_path(options.notebook), parts))

        def end(*_: object) -> None:
            # The thread that reads stdin can be ended with the process alone.
            session.close()
            os._exit(0)

        signal.signal(signal.SIGTERM, end)
        try:
            asyncio.run(protocol.serve_stdio(session))
        finally:
            session.close()


def _path(name: str) -> Path | None:
    return Path(name).expanduser() if name else None
