"""Asks the person, in the cell that is running, whether a call may run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from getpass import getpass

from IPython.core.error import StdinNotImplementedError

from cellwright.agent.policy import ApprovalAnswer
from cellwright.record.asked_calls import ASKED_ALONE, code_to_run, deed_of
from cellwright.record.events import ToolStarted

YES = ("y", "yes", "ok")
NO = ("", "n", "no")
ALL = ("a", "all")
PREVIEW = ("p", "preview")
END_OF_INPUT = "\x04"
NOBODY = "Nobody can be asked here, so mode 'ask' cannot run code. Use --mode auto."


def question_for(call: ToolStarted, *, can_preview: bool = False) -> str:
    """What a yes does, and what else can be said."""
    deed = deed_of(call).capitalize()
    others = "" if call.risk in ASKED_ALONE else " / [a]ll"
    if can_preview:
        others += " / [p]review"
    return f"{deed} it? [y]es / [n]o{others} / or what to do instead: "


def read_line(question: str) -> str:
    """Show a question and return what was typed.

    Whoever imported this may have done so before a cell ran: only during one is ``input`` the
    kernel's, which asks the front end.
    """
    return input(question)


@dataclass(frozen=True)
class StdinLine:
    """A line that was typed: a ``PendingInput``."""

    line: str

    def value(self) -> str:
        """What was typed."""
        return self.line

    def close(self) -> None:
        """Nothing is open."""


def read_stdin(prompt: str, password: bool) -> StdinLine:
    """Put a question of a service to the person, in the cell: an ``InputAsker``."""
    try:
        return StdinLine((getpass if password else read_line)(prompt))
    except (EOFError, StdinNotImplementedError):
        return StdinLine(END_OF_INPUT)


class StdinApprover:
    """Asks over the stdin channel; the transcript has shown what would run.

    Args:
        read: Shows a question and returns the line that was typed.
        show_preview: Tries a call in a copy of the kernel, and shows what came of it; None: it
            cannot be done here.
    """

    def __init__(
        self,
        read: Callable[[str], str] = read_line,
        show_preview: Callable[[ToolStarted], None] | None = None,
    ) -> None:
        self._read, self._show_preview = read, show_preview
        self._all = False

    def new_run(self) -> None:
        """Forget what was allowed for the last run."""
        self._all = False

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run; whatever is not a yes or a no is what to do instead."""
        if self._all and call.risk in ("edit", "execute"):
            return ApprovalAnswer(True, reason="all in this run")
        show = self._show_preview if code_to_run(call) else None
        question = question_for(call, can_preview=show is not None)
        previewed = False
        while True:
            try:
                said = self._read(question).strip()
            except (EOFError, StdinNotImplementedError):
                return ApprovalAnswer(False, "batch", NOBODY)
            word = said.lower().rstrip(".!")
            if show is None or word not in PREVIEW:
                break
            show(call)
            previewed = True
        if word in YES or word in ALL:
            self._all = self._all or (word in ALL and call.risk not in ASKED_ALONE)
            return ApprovalAnswer(True, previewed=previewed)
        reason = "" if word in NO else said
        return ApprovalAnswer(False, reason=reason, previewed=previewed)
