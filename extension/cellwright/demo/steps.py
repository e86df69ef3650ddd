"""The moves of a plan: a generator yields calls, is sent their results, and returns an answer.

A plan is run again from the start for every request and fed the results the transcript holds,
so the same words and results always lead to the same next call.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from cellwright.demo.lexicon import say
from cellwright.demo.transcript import CellFailure, failure

REFUSED = re.compile(r"^\s*(?:refused|not run|not allowed|denied)\b", re.I)

Result = TypeVar("Result")


@dataclass(frozen=True)
class DemoCall:
    """One tool call and the sentence said before it."""

    text: str
    tool: str
    arguments: Mapping[str, Any]


Steps = Generator[DemoCall, str, Result]


@dataclass(frozen=True)
class Done:
    """A cell that has run."""

    code: str
    text: str
    """What came back."""
    error: CellFailure | None


class CannotGoOnError(Exception):
    """The plan ends here; the text is the answer."""


def run_code(text: str, code: str) -> Steps[Done]:
    """Run a cell.

    Raises:
        CannotGoOnError: The person or the mode refused it.
    """
    result = yield DemoCall(text, "run_cell", {"code": code})
    if REFUSED.match(result):
        raise CannotGoOnError(say("not_allowed", result=result.strip()))
    return Done(code, result, failure(result))


def install(module: str, tools: frozenset[str]) -> Steps[bool]:
    """Ask for a missing package; tell whether there was a tool to ask with."""
    if "install_package" not in tools:
        return False
    yield DemoCall(say("install", module=module), "install_package", {"name": module})
    return True
