"""Fenced blocks in text, and how any text is put between fences so that it comes out the same.

Only ``\\n`` ends a line here: program text may hold every other line separator there is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from cellwright.text.cleaning import fenced

OPENING = re.compile(r"^ {0,3}(?P<run>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$", re.MULTILINE)


@dataclass(frozen=True)
class Fence:
    """One closed block."""

    start: int
    """Where its opening line begins."""
    end: int
    """Where its closing line ends."""
    info: str
    """What stands after the opening run, such as ``python``."""
    content: str


def fences(text: str, start: int = 0) -> Iterator[Fence]:
    """The closed blocks of ``text``, in order; a run that is never closed opens nothing."""
    opening = OPENING.search(text, start)
    while opening is not None:
        block = _closed(text, opening)
        if block is not None:
            yield block
        opening = OPENING.search(text, block.end if block is not None else opening.end())


def only_fence(text: str) -> Fence | None:
    """The block that ``text`` consists of, blank space around it aside."""
    first = next(fences(text), None)
    if first is None or text[: first.start].strip() or text[first.end :].strip():
        return None
    return first


def in_fence(code: str) -> str:
    """Program text that itself holds a fence, between fences; any other as it is."""
    return fenced(code) if next(fences(code), None) is not None else code


def _closed(text: str, opening: re.Match[str]) -> Fence | None:
    run = opening["run"]
    closing_line = re.compile(rf"^ {{0,3}}{run[0]}{{{len(run)},}}[ \t\r]*$", re.MULTILINE)
    closing = closing_line.search(text, opening.end() + 1)
    if closing is None:
        return None
    content = text[opening.end() + 1 : closing.start()].removesuffix("\n")
    return Fence(opening.start(), closing.end(), opening["info"].strip(), content)
