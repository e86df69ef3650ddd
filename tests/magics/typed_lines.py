"""What a line after ``%agent`` is taken for."""

from __future__ import annotations

from cellwright_magics.arguments import parse
from cellwright_magics.command_lines import CommandLine, read_command

__all__ = ["command", "typed"]


def typed(line: str, body: str | None = None) -> CommandLine | None:
    """The command that a line, or a cell, is; None for a question."""
    return read_command(parse(line, body))


def command(line: str, body: str | None = None) -> CommandLine:
    """The command that a line is."""
    found = typed(line, body)
    assert found is not None, f"{line!r} is a question"
    return found
