"""Code, divided by its definitions; put together the parts are the file, byte for byte."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from cellwright.knowledge.library import CHUNK_CHARACTERS, Section

DEFINITION = re.compile(
    r"^(?:export\s+|default\s+|public\s+|private\s+|pub\s+|static\s+|async\s+|abstract\s+)*"
    r"(?:function\*?|class|interface|enum|struct|trait|impl|fn|func|def|module|macro|type|object"
    r"|create\s+(?:or\s+replace\s+)?(?:table|view|function|procedure|index))\s+"
    r"[`\"']?(?P<name>[\w.:$]+)",
    re.IGNORECASE,
)
ASSIGNED = re.compile(r"^(?:const\s+|let\s+|var\s+)?(?P<name>[\w.]+)\s*(?:<-|=)\s*(?:async\s*)?"
                      r"(?:function\b|\([^()]*\)\s*=>)")  # fmt: skip
Mark = tuple[int, str]
"""The line, counted from 0, in which a part begins, and its name."""


def python_sections(code: str) -> tuple[Section, ...]:
    """The parts of Python code: what stands before, each function, each class or its methods."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code_sections(code)
    lines = _lines(code)
    return tuple(_sections(lines, list(_python_marks(tree.body, lines))))


def code_sections(code: str) -> tuple[Section, ...]:
    """The parts of code in any language: what begins a definition at the start of a line."""
    lines = _lines(code)
    marks = [(at, name) for at, line in enumerate(lines) if (name := _defined(line))]
    return tuple(_sections(lines, marks))


def _python_marks(body: list[ast.stmt], lines: list[str], within: str = "") -> Iterator[Mark]:
    was_definition = False
    for node in body:
        is_definition = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            decorators = [each.lineno for each in node.decorator_list]
            first = min([node.lineno, *decorators]) - 1
            name = f"{within}{node.name}"
            yield first, name
            size = sum(len(line) for line in lines[first : node.end_lineno])
            if isinstance(node, ast.ClassDef) and size > CHUNK_CHARACTERS:
                yield from _python_marks(node.body, lines, f"{name}.")
        elif was_definition:
            yield node.lineno - 1, within.rstrip(".")
        was_definition = is_definition


def _sections(lines: list[str], marks: list[Mark]) -> Iterator[Section]:
    starts = [(0, ""), *marks]
    ends = [*(at for at, _ in marks), len(lines)]
    for (start, name), end in zip(starts, ends, strict=True):
        text = "".join(lines[start:end])
        if text:
            yield Section(text, name, f"line {start + 1}", "code")


def _defined(line: str) -> str:
    found = DEFINITION.match(line) or ASSIGNED.match(line)
    return found["name"] if found else ""


def _lines(code: str) -> list[str]:
    # Only these end a line for Python's parser; str.splitlines knows more.
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", code)
