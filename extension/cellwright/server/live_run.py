"""One run while it goes on: how far it has got, and everything that a tab can reach of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cellwright.kernels.client import ClientKernel
from cellwright.kernels.fresh import LateKernel
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    Event,
    HistoryCompacted,
    ModelAsked,
    ModelReplied,
    RunFinished,
    RunStatus,
    ToolStarted,
)
from cellwright.server.approvals import PanelApprover, PanelKeyboard
from cellwright.server.frames import InputAsked, Phase
from cellwright.server.prompt_queue import WaitingPrompt
from cellwright.server.tab import AttachedNotebook
from cellwright.stopping import Stop


class RunProgress:
    """Fed with events, in order."""

    def __init__(self) -> None:
        self.run = ""
        """The run's id; empty: nothing was recorded yet."""
        self.status: RunStatus = "running"
        self.approval = ""
        """The call that waits for the person; empty: none."""
        self.context_tokens = 0
        """Of the last request; 0: there was none yet."""
        self.is_waiting = False
        """Somebody else's cell is waited for."""
        self._phase: Phase = "starting"

    @property
    def is_over(self) -> bool:
        """Whether the run has ended."""
        return self.status != "running"

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        if self.is_over:
            return "idle"
        return "kernel_busy" if self.is_waiting else self._phase

    def note(self, event: Event) -> None:
        """Something happened."""
        match event:
            case ModelAsked():
                self._phase = "model"
            case ModelReplied():
                self.context_tokens = event.usage.prompt_tokens
            case HistoryCompacted():
                self.context_tokens = event.tokens_after
            case ToolStarted():
                self._phase = "tool"
            case ApprovalAsked():
                self._phase, self.approval = "approval", event.call_id
            case ApprovalAnswered():
                self._phase, self.approval = "tool", ""
            case RunFinished():
                self.status, self.approval = event.status, ""
            case _:
                pass


RunKernel = ClientKernel | LateKernel[Any]
NOTEBOOK_CLOSED = "ended: its notebook was closed"


class LiveRun:
    """A prompt that is being answered.

    Args:
        prompt: What is asked, and by which page.
        tell: Called whenever a tab would see a difference.
    """

    def __init__(self, prompt: WaitingPrompt, tell: Callable[[], None]) -> None:
        self.prompt = prompt
        self.stop = Stop()
        self.progress = RunProgress()
        self.approver = PanelApprover(self.stop)
        self.keyboard = PanelKeyboard(tell)
        self.notebook: AttachedNotebook | None = None
        self.kernel: RunKernel | None = None
        self.is_replaced = False
        """It was stopped so that another prompt can go before it."""
        self.supersedes = ""
        """The run that it takes the place of, with all that followed; empty: none."""
        self.context_limit = 0
        """How many tokens the model takes; 0: not known."""
        self._tell = tell

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.progress.is_over

    @property
    def phase(self) -> Phase:
        """What it is doing."""
        phase = self.progress.phase
        return "input" if phase != "idle" and self.input is not None else phase

    @property
    def input(self) -> InputAsked | None:
        """What its cell asks the person; None: nothing."""
        return self.keyboard.asked

    def replace(self) -> None:
        """Stop it so that another prompt can go before it."""
        self.is_replaced = True
        self.stop.set()

    def note(self, event: Event) -> None:
        """Something happened in it."""
        self.progress.note(event)
        if isinstance(event, ApprovalAsked):
            self.approver.expect(event.call_id)
        closed = self.notebook is not None and self.notebook.is_closed
        if closed and isinstance(event, ToolStarted):
            self.stop.set(NOTEBOOK_CLOSED)

    def waits(self, waiting: bool) -> None:
        """Somebody else's cell is waited for, or no longer."""
        self.progress.is_waiting = waiting
        self._tell()
