"""The options of ``cellwright memory``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cellwright.knowledge.memory.actions import ACTIONS


def add_memory(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to the command line.

    Args:
        commands: Where commands are added.
        command: Makes the parser of one, with what all have.
    """
    text = "List, add, change and forget what is kept for later conversations."
    parser = command(commands, "memory", "memory", text)
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        choices=ACTIONS,
        default="list",
        help=f"one of: {', '.join(ACTIONS)} (list)",
    )
    parser.add_argument(
        "words", metavar="ID, TEXT", nargs="*", help="what the action is about; words to search"
    )
    parser.add_argument(
        "--project", action="store_true", help="keep it for the folder it is called in alone"
    )
