"""Completion of what can follow ``%agent`` and ``%%agent``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cellwright.assistants.fields import SET_KEYS
from cellwright.context.text_filters import STANDARD_FILTERS
from cellwright.exports import FORMATS
from cellwright.settings import MODES
from cellwright.usage import USAGE_GROUPS
from cellwright_magics.arguments import OPTIONS
from cellwright_magics.commands import COMMANDS

__all__ = ["Offers"]

LINE = re.compile(r"(?:.*=\s*)?(?P<magic>%%?)agent[ \t]+(?P<before>.*?)(?P<word>\S*)")
ACTIONS = {
    "chat": ("new",),
    "chats": ("all", "delete", "find", "rename"),
    "resume": ("last",),
    "context": ("summary",),
    "context summary": ("clear",),
    "pin": ("list",),
    "unpin": ("all",),
    "prompt": ("clear",),
    "filters": (*STANDARD_FILTERS, "off", "reset"),
    **{f"filters {name}": ("off", "on", *STANDARD_FILTERS) for name in STANDARD_FILTERS},
    "memory": (*("accept", "add", "edit", "forget", "list", "off", "on", "proposals", "reject"),),
    "library": ("add", "default", "forget", "list", "remove", "search", "update"),
    "assistant": ("delete", "list", "new", "rename", "set", "show", "use"),
    "demos": ("clear", "from"),
    "scene": ("add", "list", "remove"),
    "tool": (
        *("add", "bind", "check", "connect", "discover", "list", "refresh", "remove", "unbind"),
    ),
}
"""What the sub-commands that have some can do."""


@dataclass(frozen=True)
class Completed:
    """A word and what it can become."""

    word: str
    offers: tuple[str, ...]


class Offers:
    """What can be written next.

    Args:
        runs: Ids of the newest runs.
        models: Names of models that can be asked.
        assistants: Names of assistants that can be chosen.
    """

    def __init__(
        self,
        runs: Callable[[], Sequence[str]],
        models: Callable[[], Sequence[str]],
        assistants: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._runs = runs
        self._models = models
        self._assistants = assistants

    def complete(self, text_until_cursor: str) -> Completed | None:
        """What the word before the cursor can become; None for lines of others."""
        found = LINE.fullmatch(text_until_cursor)
        if found is None:
            return None
        offers = self.after(found["before"].split(), line=found["magic"] == "%")
        word = found["word"]
        return Completed(word, tuple(offer for offer in offers if offer.startswith(word)))

    def after(self, words: Sequence[str], *, line: bool) -> list[str]:
        """What can follow these words."""
        previous = words[-1] if words else ""
        command = COMMANDS.get(words[0]) if words and line else None
        if previous == "--mode":
            return list(MODES)
        if previous in ("-m", "--model"):
            return list(self._models())
        if previous in ("-a", "--assistant"):
            return list(self._assistants())
        if previous == "--by":
            return list(USAGE_GROUPS)
        if previous == "--to":
            return list(FORMATS) if command is None or command.name == "export" else []
        if command is not None:
            named = command.takes is not None and command.default == "last" and len(words) == 1
            actions = ACTIONS.get(" ".join(words), ())
            runs = ["last", *self._runs()] if named else []
            return [*actions, *runs, *self._of_assistant(words), *command.option_names()]
        names = [name for option in OPTIONS for name in option.names]
        return [*names, *(COMMANDS if line and not words else ())]

    def _of_assistant(self, words: Sequence[str]) -> Sequence[str]:
        """Which assistant, and which of its keys."""
        if words[0] != "assistant" or len(words) == 1 or words[1] in ("list", "new"):
            return ()
        if len(words) == 2:
            return self._assistants()
        return SET_KEYS if words[1] == "set" and len(words) == 3 else ()
