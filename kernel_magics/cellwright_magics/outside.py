"""``%agent tool discover|connect|…``: services whose functions the agent may call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.external.commands import order, parse
from cellwright.external.source import OutsideTools
from cellwright_magics.reports import Advice
from cellwright_magics.tools import tool_command

NEEDING_NAMES = ("connect", "discover", "refresh", "remove")
SHARED = ("list", "check", "remove")
"""Actions that functions of the kernel have too."""


def outside_command(words: list[str], namespace: Mapping[str, Any], tools: OutsideTools) -> Advice:
    """Do what ``%agent tool …`` says; the answer as text.

    Args:
        words: Those after ``%agent``.
        namespace: The person's variables.
        tools: The outside tools of this shell.

    Raises:
        SetupError: It cannot be done.
    """
    words = words if len(words) > 1 else ["tool", "list"]
    action, names = words[1], words[2:]
    if action == "list":
        of_kernel = str(tool_command(words, namespace).text)
        return Advice("\n".join([of_kernel, *_ordered(words, tools)]))
    if action in SHARED and names and not _are_outside(names, tools):
        return tool_command(words, namespace)
    if action not in (*NEEDING_NAMES, *SHARED):
        return tool_command(words, namespace)
    return Advice("\n".join(_ordered(words, tools)))


def _ordered(words: list[str], tools: OutsideTools) -> list[str]:
    return order(parse(words[1:]), tools)


def _are_outside(names: list[str], tools: OutsideTools) -> bool:
    known = {entry.definition.name for entry in tools.book.pages().entries}
    return any(name in known or name.endswith(".json") for name in names)
