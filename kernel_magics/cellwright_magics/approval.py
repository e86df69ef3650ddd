"""Asks the person, in the cell that is running, whether a call may run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from getpass import getpass

from IPython.core.error import StdinNotImplementedError

from cellwright.agent.policy import ApprovalAnswer
from cellwright.record.asked_calls import ASKED_ALONE, deed_of
from cellwright.record.events import ToolStarted
from cellwright.session.previewing import KEEP, PREVIEW, Previews, ask_with_previews
from cellwright.stopping import Stop

YES = ("y", "yes", "ok")
NO = ("", "n", "no")
ALL = ("a", "all")
OFFERS = {"p": PREVIEW, PREVIEW: PREVIEW, "k": KEEP, KEEP: KEEP}
OFFERED = {PREVIEW: " / [p]review", KEEP: " / [k]eep result"}
END_OF_INPUT = "\x04"
NOBODY = "Nobody can be asked here, so mode 'ask' cannot run code. Use --mode auto."


def question_for(call: ToolStarted, offers: Sequence[str] = ()) -> str:
    """What a yes does, and what else can be said; of previews what is offered."""
    deed = deed_of(call).capitalize()
    others = "" if call.risk in ASKED_ALONE else " / [a]ll"
    others += "".join(OFFERED[offer] for offer in offers)
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
        open_previews: Makes what tries calls in copies of the kernel; None: that cannot be done
            here.
        show: Shows a MIME bundle of what came of it.
    """

    def __init__(
        self,
        read: Callable[[str], str] = read_line,
        open_previews: Callable[[], Previews] | None = None,
        show: Callable[[dict[str, str]], object] = print,
    ) -> None:
        self._read, self._open_previews, self._show = read, open_previews, show
        self._all = False

    def new_run(self) -> None:
        """Forget what was allowed for the last run."""
        self._all = False

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run; whatever is not a yes or a no is what to do instead."""
        if self._all and call.risk in ("edit", "execute"):
            return ApprovalAnswer(True, reason="all in this run")
        previews = self._open_previews() if self._open_previews is not None else None

        def read(offers: Sequence[str]) -> str:
            typed = self._read(question_for(call, offers)).strip()
            offer = OFFERS.get(_word(typed), "")
            return offer if offer in offers else typed

        try:
            said = ask_with_previews(call, previews, read, self._show, Stop())
        except (EOFError, StdinNotImplementedError):
            return ApprovalAnswer(False, "batch", NOBODY)
        word = _word(said.word)
        if said.adopted or word in YES or word in ALL:
            self._all = self._all or (word in ALL and call.risk not in ASKED_ALONE)
            return ApprovalAnswer(True, previewed=said.previewed, adopted=said.adopted)
        reason = "" if word in NO else said.word
        return ApprovalAnswer(False, reason=reason, previewed=said.previewed)


def _word(typed: str) -> str:
    return typed.lower().rstrip(".!")
