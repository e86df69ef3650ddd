"""The options of ``cellwright tools``."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any


def add_tools(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to the command line.

    Args:
        commands: Where commands are added.
        command: Makes the parser of one, with what all have.
    """
    text = "Services whose functions the agent may call: MCP servers, discovery URLs, OpenAPI."
    parser = command(commands, "tools", "tools", text)
    parser.add_argument(
        "action",
        metavar="ACTION",
        nargs="?",
        default="list",
        help="check, connect, discover, list, refresh or remove (list)",
    )
    # read by the same parser as %agent tool
    parser.add_argument("words", metavar="WORD", nargs=argparse.REMAINDER, help="what it is about")
