"""What people paste, made plain: line ends, terminal colours, heaps of blank lines; never code."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cellwright.text_cleaning import ESCAPES

__all__ = ["TEXT_FILTERS", "TextFilter", "filtered"]

LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")
FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})(?P<info>[^\r\n]*)")
LINE_END = re.compile(r"\r\n?")
ESCAPE = "\x1b"
BLANK_LINES = re.compile(r"\n{3,}")
REMEMBERED_TEXTS = 512
SIGNS = ("\r", ESCAPE, "\n\n\n")
"""A text without any of them has nothing to be made plain."""

TextFilter = Callable[[str], str]


def _line_ends(text: str) -> str:
    return LINE_END.sub("\n", text)


def _plain(text: str) -> str:
    if ESCAPE not in text:
        return text
    # Line by line: no sequence takes a line end with it. What is left of a broken one goes too,
    # for it could be whole with what follows.
    return "\n".join(ESCAPES.sub("", line).replace(ESCAPE, "") for line in text.split("\n"))


def _fewer_blank_lines(text: str) -> str:
    return BLANK_LINES.sub("\n\n", text)


TEXT_FILTERS: tuple[TextFilter, ...] = (_line_ends, _plain, _fewer_blank_lines)
"""In the order in which they are applied to words outside of code (requirements 002-47)."""


@dataclass
class _Fenced:
    """Tells lines of fenced code from words."""

    fence: str = ""

    def is_code(self, line: str) -> bool:
        """Whether a line stands in a fence or closes it; one that opens it is no code itself."""
        found = FENCE.match(line)
        if not self.fence:
            # a fence of backticks has none in its first line: that would be code in the line
            opens = found is not None and not (found["fence"][0] == "`" and "`" in found["info"])
            self.fence = found["fence"] if found is not None and opens else ""
            return False
        if found and found["fence"].startswith(self.fence) and not found["info"].strip():
            self.fence = ""
        return True


def filtered(text: str, filters: Iterable[TextFilter] = TEXT_FILTERS) -> str:
    """The text with the filters applied outside of fenced code; applying it twice is the same."""
    if not any(sign in text for sign in SIGNS):
        return text
    return _filtered(text, tuple(filters))


@functools.lru_cache(maxsize=REMEMBERED_TEXTS)
def _filtered(text: str, filters: tuple[TextFilter, ...]) -> str:
    pieces: list[str] = []
    words: list[str] = []
    fenced = _Fenced()
    for line in LINE.findall(text):
        # What a line is must not change with what is taken out of it.
        if fenced.is_code(_plain(line)):
            pieces += [_through(filters, words), line]
            words = []
        else:
            words.append(line)
    return "".join([*pieces, _through(filters, words)])


def _through(filters: tuple[TextFilter, ...], words: list[str]) -> str:
    text = "".join(words)
    for apply in filters:
        text = apply(text)
    return text
