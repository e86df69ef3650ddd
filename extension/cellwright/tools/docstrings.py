"""Google docstrings, looked at line by line (requirements 000-55, X-06)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from cellwright.tools.manifest import read_docstring

ENGLISH = {
    "参数": "Args", "返回": "Returns", "返回值": "Returns", "异常": "Raises", "示例": "Examples",
    "parameters": "Args", "arguments": "Args", "return": "Returns", "example": "Examples",
}  # fmt: skip
SECTIONS = ("Args", "Returns", "Yields", "Raises", "Examples", "Attributes", "References", "Note")
HEADING = re.compile(r"^(?P<name>[^\s:：][^:：]{0,20})[:：]$")
DIRECTIVE = ".. code-block:: python"


@dataclass(frozen=True)
class DocstringProblem:
    """What is wrong, and what to write instead."""

    detail: str
    fix: str


def docstring_problems(text: str, parameters: Sequence[str]) -> Iterator[DocstringProblem]:
    """What a docstring lacks.

    Args:
        text: As ``inspect.getdoc`` gives it.
        parameters: Names that it should describe.
    """
    if not text.strip():
        yield DocstringProblem("there is no docstring", "Say in one sentence what it does.")
        return
    found = read_docstring(text)
    if not found.description:
        yield DocstringProblem("it has no summary", "Begin with one sentence on what it does.")
    for name in parameters:
        if not found.arguments.get(name):
            yield DocstringProblem(f"{name!r} is not described", f"Add '{name}: …' under Args:.")
    for name in found.arguments:
        if name not in parameters:
            yield DocstringProblem(f"{name!r} is no parameter", "Take it out, or rename it.")
    yield from _headings(text)
    yield from _examples(text.split("\n"))


def _headings(text: str) -> Iterator[DocstringProblem]:
    for line in text.split("\n"):
        match = HEADING.match(line)
        name = match["name"] if match else ""
        wanted = ENGLISH.get(name.lower(), "")
        if wanted and name not in SECTIONS:
            yield DocstringProblem(f"the heading is {name!r}", f"Write '{wanted}:'.")


def _examples(lines: list[str]) -> Iterator[DocstringProblem]:
    """After ``Examples:`` a blank line, the directive, a blank line."""
    for number, line in enumerate(lines):
        if line.strip() != "Examples:":
            continue
        wanted = ["", DIRECTIVE, ""]
        after = [following.strip() for following in lines[number + 1 : number + 4]]
        if after != wanted:
            detail = "Examples: is not followed by a blank line, a code block and a blank line"
            fix = f"Write a blank line, '{DIRECTIVE}' and a blank line after it."
            yield DocstringProblem(detail, fix)
