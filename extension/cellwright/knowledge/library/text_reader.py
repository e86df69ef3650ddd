"""Markdown and plain text, divided by their headings."""

from __future__ import annotations

import re

from cellwright.knowledge.library import Section

HASHES = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.+?)[ \t]*#*$")
UNDERLINE = re.compile(r"""^([=\-~^"*+])\1{2,}\s*$""")
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
TITLE_CHARACTERS = 120


def text_sections(text: str) -> tuple[Section, ...]:
    """The parts of a text, each under the titles that it stands below.

    Titles are marked with ``#`` or underlined; nothing inside a fence is one.
    """
    return _Divided(text.replace("\r\n", "\n").split("\n")).sections()


class _Divided:
    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._titles: dict[int, str] = {}
        self._marks: list[str] = []
        """Signs that underline titles, in the order in which they came."""
        self._found: list[Section] = []
        self._kept: list[str] = []
        self._first = 1

    def sections(self) -> tuple[Section, ...]:
        fence = ""
        for number, line in enumerate(self._lines, start=1):
            mark = FENCE.match(line)
            if mark is not None and (not fence or mark[1].startswith(fence)):
                fence = "" if fence else mark[1]
            if fence or not self._is_title(number, line):
                self._kept.append(line)
        self._end()
        return tuple(self._found)

    def _is_title(self, number: int, line: str) -> bool:
        hashed = HASHES.match(line)
        if hashed is not None:
            self._begin(len(hashed[1]), hashed[2], number)
            return True
        above = self._kept[-1].strip() if self._kept else ""
        underlined = UNDERLINE.match(line)
        if underlined is None or not _fits(above, line, self._kept):
            return False
        if underlined[1] not in self._marks:
            self._marks.append(underlined[1])
        self._kept.pop()
        self._begin(self._marks.index(underlined[1]) + 1, above, number - 1)
        return True

    def _begin(self, level: int, title: str, number: int) -> None:
        self._end()
        kept = {at: words for at, words in self._titles.items() if at < level}
        self._titles = {**kept, level: title.strip()[:TITLE_CHARACTERS]}
        self._first = number

    def _end(self) -> None:
        body = "\n".join(self._kept).strip("\n")
        self._kept = []
        titles = list(self._titles.values())
        if body.strip() or titles:
            # a title without words below it is still something to find
            text = "\n".join(filter(None, [titles[-1] if titles else "", body]))
            anchor = f"line {self._first}"
            self._found.append(Section(text, " › ".join(titles), anchor))


def _fits(title: str, underline: str, before: list[str]) -> bool:
    """Whether a line of signs underlines a title, and is no table, list or rule."""
    is_alone = len(before) < 2 or not before[-2].strip()
    starts_well = bool(title) and (title[0].isalnum() or title[0] in "\"'(`")
    is_long = len(underline.strip()) >= min(len(title), 3)
    return is_alone and starts_well and is_long and len(title) <= TITLE_CHARACTERS
