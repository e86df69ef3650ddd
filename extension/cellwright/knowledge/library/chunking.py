"""Sections as pieces of about a thousand characters, cut where the author paused.

Paragraphs, fences and tables stay whole where they fit. Only a single paragraph that is longer
than a piece is cut inside; its pieces overlap a little, so that no sentence is lost between them.
Code is cut between lines and stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from cellwright.knowledge.library import (
    CHUNK_CHARACTERS,
    OVERLAP_CHARACTERS,
    Chunk,
    DocumentSection,
)

LINE_LIMIT_CHARACTERS = 8_192
"""A longer line, as minified code has them, is cut."""
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})")
PAUSES = ("\n", ". ", "! ", "? ", "。", "！", "？", "; ", "；", ", ", "，", " ")
"""Where a long paragraph may be cut, the best first."""
LINE_ANCHOR = re.compile(r"line (\d+)")


def chunks_of(name: str, sections: Iterable[DocumentSection]) -> tuple[Chunk, ...]:
    """The pieces of a document in their order.

    Args:
        name: What the document is called; begins every heading.
        sections: Its parts.
    """
    return tuple(chunk for section in sections for chunk in _chunks(name, section))


def _chunks(name: str, section: DocumentSection) -> Iterator[Chunk]:
    heading = " › ".join(filter(None, (name, section.heading)))
    start, lines = _first_line(section.anchor), 0
    cut = code_pieces if section.kind == "code" else prose_pieces
    for piece in cut(section.text):
        if piece.strip():
            anchor = f"line {start + lines}" if start else section.anchor
            yield Chunk(_storable(piece), _storable(heading), anchor)
        if section.kind == "code":
            lines += piece.count("\n")


def _storable(text: str) -> str:
    # JSON can hold halves of signs, which no database takes
    return text.encode("utf-8", "replace").decode().replace("\0", " ")


def _first_line(anchor: str) -> int:
    found = LINE_ANCHOR.fullmatch(anchor)
    return int(found[1]) if found else 0


def code_pieces(text: str) -> list[str]:
    """Code cut between lines, where possible before an empty one; together they are the code."""
    pieces: list[str] = []
    piece, blank = "", 0
    for line in _lines(text):
        if piece and len(piece) + len(line) > CHUNK_CHARACTERS:
            cut = blank if blank > CHUNK_CHARACTERS // 2 else len(piece)
            pieces.append(piece[:cut])
            piece, blank = piece[cut:], 0
        if not line.strip():
            blank = len(piece)
        piece += line
    return [*pieces, piece] if piece else pieces


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines(keepends=True):
        for start in range(0, len(line), LINE_LIMIT_CHARACTERS):
            yield line[start : start + LINE_LIMIT_CHARACTERS]


def prose_pieces(text: str) -> list[str]:
    """Text cut between paragraphs; a paragraph that is too long is cut with an overlap."""
    pieces: list[str] = []
    room = ""
    for block, is_fence in _blocks(text):
        if room and len(room) + len(block) + 2 > CHUNK_CHARACTERS:
            pieces.append(room)
            room = ""
        if len(block) <= CHUNK_CHARACTERS:
            room = f"{room}\n\n{block}" if room else block
        else:
            pieces += code_pieces(block) if is_fence else _overlapping(block)
    return [*pieces, room] if room else pieces


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """Paragraphs and fences, each whole; and whether it is a fence."""
    lines: list[str] = []
    fence = ""
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if fence:
            lines.append(line)
            closes = mark is not None and mark[1].startswith(fence) and line.strip() == mark[1]
            if closes:
                yield "\n".join(lines), True
                lines, fence = [], ""
        elif mark is not None:
            if lines:
                yield "\n".join(lines), False
            lines, fence = [line], mark[1]
        elif line.strip():
            lines.append(line)
        elif lines:
            yield "\n".join(lines), False
            lines = []
    if lines:
        yield "\n".join(lines), bool(fence)


def _overlapping(paragraph: str) -> list[str]:
    pieces, start = [], 0
    while len(paragraph) - start > CHUNK_CHARACTERS:
        end = start + _pause(paragraph[start : start + CHUNK_CHARACTERS])
        pieces.append(paragraph[start:end].strip())
        start = _word_start(paragraph, end - OVERLAP_CHARACTERS, end)
    return [*pieces, paragraph[start:].strip()]


def _pause(window: str) -> int:
    """Where a window is cut: after the last pause of the best kind in its second half."""
    for pause in PAUSES:
        at = window.rfind(pause, len(window) // 2)
        if at >= 0:
            return at + len(pause)
    return len(window)


def _word_start(text: str, wanted: int, limit: int) -> int:
    at = text.find(" ", wanted, limit)
    return at + 1 if at >= 0 else wanted
