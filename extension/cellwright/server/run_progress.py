"""How far a run has got, told by its events."""

from __future__ import annotations

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
from cellwright.server.frames import Phase


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
