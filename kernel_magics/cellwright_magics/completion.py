"""Completion of what can follow ``%agent`` and ``%%agent``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from IPython.core.error import TryNext

from cellwright.settings import MODES
from cellwright_magics.arguments import OPTIONS
from cellwright_magics.commands import COMMANDS, FORMATS

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

__all__ = ["Offers", "install", "uninstall"]

CALL = r"(?:.*=\s*)?%%?agent\b"
LINE = re.compile(r"(?:.*=\s*)?(?P<magic>%%?)agent\s+(?P<before>.*?)(?P<word>\S*)", re.DOTALL)


class Offers:
    """What can be written next.

    Args:
        runs: Ids of the newest runs.
        models: Names of models that can be asked.
    """

    def __init__(
        self, runs: Callable[[], Sequence[str]], models: Callable[[], Sequence[str]]
    ) -> None:
        self._runs = runs
        self._models = models

    def complete(self, shell: Any, event: SimpleNamespace) -> list[str]:
        """The hook IPython calls; ``event.symbol`` is the word it wants to complete."""
        found = LINE.fullmatch(event.text_until_cursor)
        if found is None or "\n" in found["before"]:
            raise TryNext
        offers = self.after(found["before"].split(), line=found["magic"] == "%")
        fitting = [offer for offer in offers if offer.startswith(found["word"])]
        if not fitting:
            raise TryNext
        # IPython's word may begin later than ours, after a "-".
        cut = len(found["word"]) - len(event.symbol)
        return [offer[cut:] if offer[cut:].startswith(event.symbol) else offer for offer in fitting]

    def after(self, words: Sequence[str], *, line: bool) -> list[str]:
        """What can follow these words."""
        previous = words[-1] if words else ""
        command = COMMANDS.get(words[0]) if words and line else None
        if previous == "--mode":
            return list(MODES)
        if previous in ("-m", "--model"):
            return list(self._models())
        if previous == "--to":
            return list(FORMATS)
        if command is not None:
            named = command.takes is not None and command.default == "last" and len(words) == 1
            return [*(["last", *self._runs()] if named else []), *command.option_names()]
        names = [name for option in OPTIONS for name in option.names]
        return [*names, *(COMMANDS if line and not words else ())]


def install(shell: InteractiveShell, offers: Offers) -> None:
    """Have the shell ask these offers."""
    shell.set_hook(  # type: ignore[no-untyped-call]
        "complete_command", offers_hook(offers), re_key=CALL
    )


def offers_hook(offers: Offers) -> Callable[[Any, SimpleNamespace], list[str]]:
    """The hook as a plain function; IPython binds it to the shell."""

    def complete_agent(shell: Any, event: SimpleNamespace) -> list[str]:
        return offers.complete(shell, event)

    return complete_agent


def uninstall(shell: InteractiveShell) -> None:
    """Take the hook out again."""
    dispatcher = shell.strdispatchers.get("complete_command")
    regexes = getattr(dispatcher, "regexs", {})
    for pattern in [found for found in regexes if found.pattern == CALL]:
        del regexes[pattern]
