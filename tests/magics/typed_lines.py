"""What a line after ``%agent`` is taken for, and what ``%agent tool`` says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from cellwright.commands import VerbContext
from cellwright.commands.calling import run_verb
from cellwright.commands.results import Result
from cellwright.external.source import OutsideTools
from cellwright.settings import Settings
from cellwright.store.runs import RunStore
from cellwright_magics.arguments import parse
from cellwright_magics.command_lines import CommandLine, read_command

__all__ = ["answer_tool", "command", "typed"]


def typed(line: str, body: str | None = None) -> CommandLine | None:
    """The command that a line, or a cell, is; None for a question."""
    return read_command(parse(line, body))


def command(line: str, body: str | None = None) -> CommandLine:
    """The command that a line is."""
    found = typed(line, body)
    assert found is not None, f"{line!r} is a question"
    return found


@dataclass(frozen=True)
class _KernelFace:
    variables: Mapping[str, Any]
    tools: OutsideTools

    def open_tools(self, _store: RunStore) -> AbstractContextManager[OutsideTools]:
        return nullcontext(self.tools)


def answer_tool(line: str, variables: Mapping[str, Any], tools: OutsideTools) -> str:
    """What ``%agent tool …`` says in a kernel with these variables and services."""
    asked = command(line)
    face: Any = _KernelFace(variables, tools)
    no_store: Any = nullcontext
    context = VerbContext(
        asked.given, Settings(), no_store, asked.arguments, "%agent /", open_face=lambda: face
    )
    result = run_verb(asked.command, context)
    assert isinstance(result, Result)
    return repr(result)
