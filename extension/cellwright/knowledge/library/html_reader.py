"""HTML as text, divided by its headings; nothing of it is loaded or run."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cellwright.knowledge.library import Section

if TYPE_CHECKING:
    from bs4 import Tag

UNREAD = ("script", "style", "template", "noscript", "svg", "iframe", "nav", "form", "head")
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
BLOCKS = ("div", "li", "ul", "ol", "tr", "section", "article", "br", "dt", "dd", "main", "hr")
CELL = " | "
EDGES = {
    **dict.fromkeys(BLOCKS, ("\n", "\n")),
    **dict.fromkeys(("p", "table"), ("\n\n", "\n\n")),
    **dict.fromkeys(("td", "th"), ("", CELL)),
}
"""What stands before and after the words of a tag."""
DEEPEST = 200
"""Deeper than any page that people write; beyond it text is taken as it stands."""

WHITE = re.compile(r"\s+")
BLANKS = re.compile(r"\n{3,}")
NEWLINES = "\n"


@dataclass(frozen=True)
class _Piece:
    kind: str
    """``pre``, a heading's tag, or ``text``."""
    text: str


def html_sections(text: str) -> tuple[Section, ...]:
    """What people read of a page, under its headings."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(text, "html.parser")
    title = page.title.get_text(" ", strip=True) if page.title else ""
    for tag in page(list(UNREAD)):
        tag.decompose()
    return tuple(_sections(page, title))


def _sections(page: Tag, title: str) -> Iterator[Section]:
    titles: dict[int, str] = {0: title} if title else {}
    pieces: list[_Piece] = []
    for piece in _pieces(page, 0):
        if piece.kind not in HEADINGS:
            pieces.append(piece)
            continue
        yield from _section(titles, pieces)
        level, pieces = int(piece.kind[1]), []
        titles = {at: known for at, known in titles.items() if at < level}
        titles[level] = " ".join(piece.text.split())
    yield from _section(titles, pieces)


def _section(titles: dict[int, str], pieces: list[_Piece]) -> Iterator[Section]:
    blocks = []
    for is_code, group in itertools.groupby(pieces, key=lambda piece: piece.kind == "pre"):
        if is_code:
            blocks += [f"```\n{piece.text.strip(NEWLINES)}\n```" for piece in group]
        else:
            blocks.append(_paragraphs("".join(piece.text for piece in group)))
    body = "\n\n".join(filter(None, blocks))
    if body.strip():
        yield Section(body, " › ".join(dict.fromkeys(titles.values())))


def _paragraphs(text: str) -> str:
    lines = (
        " ".join(line.split()).removesuffix(CELL.rstrip()).rstrip() for line in text.split("\n")
    )
    return BLANKS.sub("\n\n", "\n".join(lines)).strip(NEWLINES)


def _pieces(tag: Tag, depth: int) -> Iterator[_Piece]:
    """Text as it comes, with what it is: a heading, code, or anything else."""
    from bs4.element import PreformattedString, Tag

    for child in tag.children:
        if not isinstance(child, Tag):
            is_read = not isinstance(child, PreformattedString)  # comments, declarations
            yield _Piece("text", WHITE.sub(" ", str(child)) if is_read else "")
        elif child.name in (*HEADINGS, "pre") or depth > DEEPEST:
            kind = child.name if child.name in (*HEADINGS, "pre") else "text"
            yield _Piece(kind, child.get_text())
        else:
            before, after = EDGES.get(child.name, ("", ""))
            yield _Piece("text", before)
            yield from _pieces(child, depth + 1)
            yield _Piece("text", after)
