"""What ``cellwright COMMAND`` does: each command is a function of an ``Invocation``.

The parser is in ``cli.py``, which imports the module of the one command that was asked for.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

from cellwright.commands.terminal import Console
from cellwright.settings import Settings

COMPLETED = 0
NOT_COMPLETED = 1
"""The run ended otherwise, a replay differs, or a check failed."""
WRONG_USE = 2
"""Something is to be set or written differently; nothing was asked of a model."""
SERVICE_FAILED = 3
NOT_RECORDED = 4
"""The run completed, but its record is not on disk."""
INTERRUPTED = 130


@dataclass(frozen=True)
class Invocation:
    """One call of the command line."""

    options: argparse.Namespace
    settings: Settings
    console: Console
