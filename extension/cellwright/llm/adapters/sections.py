"""Text between fences, and text under headers: written so that it comes out the same.

Only ``\\n`` ends a line here: program text may hold every other line separator there is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
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


# Text in named sections, each under a header line such as ``[[ ## answer ## ]]``.
#
# What is written is read back byte for byte. A header counts wherever it stands, except between
# fences; so a value that holds something like a header or a fence is written between fences.


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


def write_section(name: str, value: str, *, code: bool = False) -> str:
    """One section; a value that could be taken for a header stands between fences."""
    return write_sections([(name, fenced(value, "python") if code else quoted(value))])


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


# One section of a reply, shown while the reply still comes.


BEGUN = re.compile(r"\s*(?:\[(?:\[(?: ?#{0,2}[^\[\]#\n]{0,40}#{0,2} ?\]?)?)?)?\Z")
"""The end of a text that may become a header, and the space before it."""
FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)


class SectionText:
    """Hands on the text under one header; what may become a header waits.

    Args:
        is_name: Which headers count.
        wanted: The section that is shown.
        before: The section that text before any header belongs to; None: the wanted one.
    """

    def __init__(
        self, is_name: Callable[[str], bool], wanted: str, *, before: str | None = None
    ) -> None:
        self._is_name = is_name
        self._wanted = wanted
        self._section = wanted if before is None else before
        self._held = ""
        self._line = ""
        """The line that goes on, as far as it is known."""
        self._fence = ""
        """The run that has to close before a header counts again."""
        self._started = False

    def feed(self, text: str) -> str:
        """What of this piece, and of what was held back, is shown now."""
        self._held += text
        shown = ""
        while match := HEADER.search(self._held):
            before, after = self._held[: match.start()], self._held[match.end() :]
            self._follow_fences(before)
            if self._is_name(match["name"]) and not self._fence:
                shown += self._wanted_part(before.rstrip())
                self._section, self._started = match["name"], False
            else:
                self._follow_fences(match[0])
                shown += self._wanted_part(before + match[0])
            self._held = after
        begun = BEGUN.search(self._held)
        safe = begun.start() if begun is not None else len(self._held)
        self._follow_fences(self._held[:safe])
        shown += self._wanted_part(self._held[:safe])
        self._held = self._held[safe:]
        return shown

    def finish(self) -> str:
        """What was held back, once the reply is whole."""
        shown, self._held = self._wanted_part(self._held.rstrip()), ""
        return shown

    def _wanted_part(self, text: str) -> str:
        if self._section != self._wanted:
            return ""
        shown = text if self._started else text.lstrip()
        self._started = self._started or bool(shown)
        return shown

    def _follow_fences(self, text: str) -> None:
        *lines, self._line = (self._line + text).split("\n")
        for line in lines:
            found = FENCE.match(line)
            if not found:
                continue
            if not self._fence:
                self._fence = found[1]
            elif found[1].startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
