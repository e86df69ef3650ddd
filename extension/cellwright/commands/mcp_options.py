"""What ``cellwright mcp`` takes."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from cellwright.settings import MODES


def add_mcp(commands: Any, command: Callable[..., argparse.ArgumentParser]) -> None:
    """Add the command to the parser of all commands."""
    text = "Offer a notebook's tools to another agent over MCP (stdin and stdout)."
    parser = command(commands, "mcp", "mcp", text)
    parser.add_argument("--notebook", metavar="FILE", default="", help="notebook to work in")
    parser.add_argument(
        "--mode",
        choices=MODES,
        help="only look, ask before everything, allow edits, or allow running code",
    )
    parser.add_argument("--kernel", metavar="NAME", default="", help="kernel to start (python3)")
    parser.add_argument(
        "--kernel-of", metavar="URL", default="", help="a Jupyter server where the notebook is open"
    )
    parser.add_argument(
        "--token-env",
        metavar="NAME",
        default="JUPYTER_TOKEN",
        help="variable with its token (JUPYTER_TOKEN)",
    )
