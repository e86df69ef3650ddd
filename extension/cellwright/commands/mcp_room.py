"""Where an outside agent works without a Jupyter server: a file and a kernel of our own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from cellwright.commands.mcp_notebook import NotebookOnDisk
from cellwright.context.turn_sources import TurnSource
from cellwright.kernels import Kernel
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.mcp_server import OutsideRun
from cellwright.mcp_server.conversing import OutsideConversation
from cellwright.mcp_server.undoing import UndoSource
from cellwright.session.questions import Place
from cellwright.settings import Limits, Mode, Settings
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

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

    def __init__(self, path: Path | None, parts: RoomParts) -> None:
        self._parts = parts
        self._folder = path.resolve().parent if path is not None else Path.cwd()
        self._path = path.resolve() if path is not None else None
        self._notebook = NotebookOnDisk(path)
        self._sources = (*parts.sources, UndoSource(self._notebook.changes))
        self._kernel: FreshKernel | None = None
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
        return self._notebook

    @property
    def kernel(self) -> Kernel | None:
        """The kernel; None: nothing has run yet."""
        return self._kernel

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
        place = Place(
            kernel=self._living(),
            store=parts.store,
            redactor=parts.redactor,
            lane=LANE,
            notebook=self._notebook,
            prices=parts.settings.prices,
            user_id=parts.settings.user,
            sources=self._sources,
        )
        self._conversation.run(place, run)

    def take_problems(self) -> tuple[str, ...]:
        """Why the file is not saved."""
        return self._notebook.take_problems()

    def how_to_allow(self) -> str:
        """How to start it so that more may run."""
        return PLAN if self.mode == "plan" else HOW_TO_ALLOW.format(mode=self.mode)

    def close(self) -> None:
        """End the kernel."""
        if self._kernel is not None:
            self._kernel.close()
            self._kernel = None

    def _living(self) -> FreshKernel:
        kernel = self._kernel
        if kernel is None or not kernel.is_alive():
            if kernel is not None:
                kernel.close(now=True)
            self._kernel = None
            name = self._parts.kernel_name or self._notebook.kernel_name or "python3"
            self._kernel = kernel = start_kernel(self._folder, self._environment(), name)
        return kernel

    def _environment(self) -> Mapping[str, str]:
        """The kernel's, with the notebook named as a Jupyter server does."""
        if self._path is None:
            return os.environ
        return {**os.environ, "JPY_SESSION_NAME": str(self._path)}
