"""Asks the person, in the cell that is running, whether a call may run."""

from __future__ import annotations

from collections.abc import Callable

from IPython.core.error import StdinNotImplementedError

from cellwright.events import ToolStarted
from cellwright.policy import Answer

__all__ = ["QUESTION", "StdinApprover"]

QUESTION = "Run it? [y]es / [n]o / [a]ll / or what to do instead: "
YES = ("y", "yes", "ok")
NO = ("", "n", "no")
ALL = ("a", "all")
NOBODY = "Nobody can be asked here, so mode 'ask' cannot run code. Use --mode auto."


class StdinApprover:
    """Asks over the stdin channel; the transcript has shown what would run.

    Args:
        read: Shows a question and returns the line that was typed.
    """

    def __init__(self, read: Callable[[str], str] = input) -> None:
        self._read = read
        self._all = False

    def new_run(self) -> None:
        """Forget what was allowed for the last run."""
        self._all = False

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """Whether the call may run; whatever is not a yes or a no is what to do instead."""
        if self._all and call.risk in ("edit", "execute"):
            return Answer(True, reason="all in this run")
        try:
            said = self._read(QUESTION).strip()
        except (EOFError, StdinNotImplementedError):
            return Answer(False, "batch", NOBODY)
        word = said.lower().rstrip(".!")
        if word in YES or word in ALL:
            self._all = word in ALL
            return Answer(True)
        return Answer(False, reason="" if word in NO else said)
