"""Asks the person at the terminal whether a call may run."""

from __future__ import annotations

import signal
from dataclasses import dataclass

from cellwright.agent.policy import Answer
from cellwright.commands.interrupts import interruptible
from cellwright.commands.progress import code_lines
from cellwright.commands.terminal import Console, one_line
from cellwright.errors import RunCancelled
from cellwright.record.asked_calls import (
    ASKED_ALONE,
    code_of,
    deed_of,
    spelled_out,
    words_of,
    written_by,
)
from cellwright.record.events import ToolStarted
from cellwright.text.safe_markdown import plain_text

YES = ("y", "yes")
NO = ("", "n", "no")
ALL = ("a", "all")
END_OF_INPUT = "\x04"


class TerminalApprover:
    """Shows a call and reads ``y``, ``n``, ``a`` (all like this) or a reason to refuse.

    Args:
        console: Where the person sits.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def ask(self, call: ToolStarted, reason: str) -> Answer:
        """What the person says.

        Raises:
            RunCancelled: They pressed Ctrl-C.
        """
        for line in self._shown(call):
            self._console.complain(line)
        everything = "" if call.risk in ASKED_ALONE else " [a]ll of these,"
        why = spelled_out(" ".join(reason.split()))  # addresses in it are told in full
        question = f"{why} {deed_of(call).capitalize()} it? [y]es, [n]o,{everything} or why not: "
        try:
            with interruptible():
                said = self._console.ask(question)
        except KeyboardInterrupt:
            raise RunCancelled from None
        return _answer(said)

    def _shown(self, call: ToolStarted) -> list[str]:
        """What the progress has not shown: nobody allows code that they have not seen whole."""
        lines = [one_line(call.label or call.name)] if self._console.is_quiet else []
        code = code_of(call)
        if call.cells:
            lines = [words_of(call)]
        whole = [f"    {line}" for line in code.rstrip().split("\n")] if code else []
        is_shown = not lines and bool(written_by(call)) and whole == code_lines(code)
        return [] if is_shown else [*lines, *whole]


class TerminalKeyboard:
    """Answers what cells ask with ``input`` from the terminal: an ``InputAsker``.

    Args:
        console: Where the user sits.
    """

    def __init__(self, console: Console) -> None:
        self._console = console

    def __call__(self, prompt: str, password: bool) -> TypedLine:
        """Put a question to the user and wait for the line."""
        question = plain_text(prompt) or "The code asks for a line of input: "
        try:
            with interruptible():
                line = self._console.read_answer(question, is_secret=password)
        except KeyboardInterrupt:
            signal.raise_signal(signal.SIGINT)  # the run is stopped as by any other Ctrl-C
            return TypedLine(None)
        return TypedLine(END_OF_INPUT if line is None else line)


@dataclass(frozen=True)
class TypedLine:
    """A question of a running cell that was answered: a ``PendingInput``."""

    line: str | None

    def value(self) -> str | None:
        """What was typed; None: the run was stopped instead."""
        return self.line

    def close(self) -> None:
        """Nothing is open."""


def _answer(said: str) -> Answer:
    word = said.strip().lower()
    if word in YES:
        return Answer(True)
    if word in ALL:
        return Answer(True, for_session=True)
    return Answer(False) if word in NO else Answer(False, reason=said.strip())
