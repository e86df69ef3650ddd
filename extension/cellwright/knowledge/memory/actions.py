"""Names of what a person may have done with the memory."""

from __future__ import annotations

from typing import Literal, get_args

MemoryAction = Literal[
    "list", "add", "edit", "forget", "proposals", "accept", "reject", "on", "off"
]
ACTIONS: tuple[MemoryAction, ...] = get_args(MemoryAction)
