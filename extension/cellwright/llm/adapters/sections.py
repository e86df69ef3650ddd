"""Text in named sections, each under a header line such as ``[[ ## answer ## ]]``.

What is written is read back byte for byte. A header counts wherever it stands, except between
fences; so a value that holds something like a header or a fence is written between fences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from cellwright.llm.adapters.fences import Fence, fenced, fences, only_fence

HEADER = re.compile(r"\[\[ ?## ?(?P<name>[^\[\]#\n]+?) ?## ?\]\]")
RISKY = re.compile(r"\[\[ ?##|`{3}|~{3}")
"""What could be taken for a header or a fence."""
QUOTE = "verbatim"
"""The word after a fence that was put round a value to protect it."""


@dataclass(frozen=True)
class Section:
    """One section of a text."""

    name: str
    text: str
    is_closed: bool
    """Whether another header follows it: what stands last may have been cut off."""


def header(name: str) -> str:
    """The line that opens a section."""
    return f"[[ ## {name} ## ]]"


def write_sections(sections: Iterable[tuple[str, str]]) -> str:
    """Names and texts as one text; a text must have been made safe with ``quoted`` or fences."""
    return "\n\n".join(f"{header(name)}\n{text}" for name, text in sections)


def read_sections(text: str, is_name: Callable[[str], bool]) -> tuple[Section, ...]:
    """The sections of ``text``; what stands before the first header has an empty name.

    Args:
        text: What a model wrote.
        is_name: Which headers count; all others are text.
    """
    blocks = tuple(fences(text))
    found = [
        match
        for match in HEADER.finditer(text)
        if is_name(match["name"]) and not _is_inside(match.start(), blocks)
    ]
    if not found:
        return (Section("", text, False),) if text.strip() else ()
    sections = [Section("", text[: found[0].start()].strip(), True)]
    ends = [match.start() for match in found[1:]] + [len(text)]
    for match, end in zip(found, ends, strict=True):
        body = _unframed(text[match.end() : end])
        sections.append(Section(match["name"], body, end < len(text)))
    return tuple(sections) if sections[0].text else tuple(sections[1:])


def quoted(value: str) -> str:
    """``value`` as it may stand in a section."""
    return fenced(value, QUOTE) if RISKY.search(value) else value


def unquoted(text: str) -> str:
    """The value that ``quoted`` was given."""
    block = only_fence(text)
    return block.content if block is not None and block.info == QUOTE else text


def _is_inside(place: int, blocks: tuple[Fence, ...]) -> bool:
    return any(block.start <= place < block.end for block in blocks)


def _unframed(body: str) -> str:
    """A body without the line break after its header and the empty line after itself."""
    start = re.match(r"[ \t\r]*\n", body)
    body = body[start.end() :] if start else body.removeprefix(" ")
    if "\n" in body and not body.rpartition("\n")[2].strip(" \t"):
        body = body[: body.rindex("\n") + 1]  # the next header was indented
    return body.removesuffix("\n").removesuffix("\n")
