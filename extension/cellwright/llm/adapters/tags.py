"""Values between tags, found by their tags alone: no XML parser, which refuses program text."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

CDATA = re.compile(r"<!\[CDATA\[(.*?)\]\]>", re.DOTALL)
ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
ENTITY = re.compile("|".join(ENTITIES))
LOOSE = re.compile(r"<|&(?!(?:lt|gt|quot|apos|amp);)")
"""Text with one of these was not escaped by whoever wrote it."""


def write_tag(name: str, value: str) -> str:
    """A value between its tags."""
    return f"<{name}>\n{cdata(value)}\n</{name}>"


def cdata(value: str, *, always: bool = False) -> str:
    """The value as it may stand between tags: in a CDATA section if it holds ``<`` or ``&``."""
    if not always and "<" not in value and "&" not in value:
        return value
    # The end mark cannot stand inside, so it is divided between two sections.
    return f"<![CDATA[{value.replace(']]>', ']]]]><![CDATA[>')}]]>"


@dataclass(frozen=True)
class Element:
    """A pair of tags and what stands between them."""

    tag: str
    attribute: str
    body: str
    start: int
    end: int


def read_tag(text: str, name: str, names: Collection[str], *, raw: bool = False) -> str | None:
    """The value between the first pair of ``name``'s tags; None where there is no whole pair.

    Args:
        text: What a model wrote.
        name: The tag.
        names: All tags there may be; inside another's value they are text.
        raw: Program text: entities in it are part of it.
    """
    for element in elements(text, names):
        if element.tag == name:
            return read_body(element.body, raw=raw)
    return None


def elements(text: str, names: Collection[str]) -> list[Element]:
    """The elements in order; what looks like one inside another is part of that one's body."""
    opening = re.compile(f'<({_any(names)})(?:\\s+\\w+="([^"\\n]*)")?\\s*>')
    found: list[Element] = []
    start = opening.search(text)
    while start is not None:
        end = _end(text, start.end(), f"</{start[1]}>", names)
        place = start.end()
        if end >= 0:
            place = end + len(start[1]) + 3
            body = text[start.end() : end]
            found.append(Element(start[1], start[2] or "", body, start.start(), place))
        start = opening.search(text, place)
    return found


def read_body(body: str, *, raw: bool = False) -> str:
    """The value that stands between tags."""
    value = body.removeprefix("\r").removeprefix("\n").removesuffix("\n")
    stripped = value.strip()
    if stripped.startswith("<![CDATA[") and stripped.endswith("]]>"):
        pieces = CDATA.findall(stripped)
        if "".join(f"<![CDATA[{piece}]]>" for piece in pieces) == stripped:
            return "".join(pieces)
    if raw or LOOSE.search(value):
        return value
    return ENTITY.sub(lambda match: ENTITIES[match[0]], value)


def _end(text: str, start: int, closing: str, names: Collection[str]) -> int:
    """Where the element ends: at the first end tag that is neither in CDATA nor inside a line.

    Program text may hold the end tag in a string. So one that stands at the start of a line, or
    before another element or the end, goes before one that does not.
    """
    places = []
    skipped = [match.span() for match in CDATA.finditer(text, start)]
    place = text.find(closing, start)
    while place >= 0:
        if not any(first <= place < last for first, last in skipped):
            places.append(place)
        place = text.find(closing, place + 1)
    after = re.compile(f"\\s*(?:$|<(?:{_any(names)})[\\s>])")
    good = [p for p in places if after.match(text, p + len(closing))]
    return (good or places or [-1])[0]


def _any(names: Collection[str]) -> str:
    return "|".join(map(re.escape, names)) or "(?!)"
