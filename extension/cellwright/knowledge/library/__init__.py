"""Documents that a model can ask: where they lie, what is in them, what is found.

Text of documents is data. It is quoted to the model as such and never followed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal

SectionKind = Literal["prose", "code"]
CHUNK_CHARACTERS = 1_024
OVERLAP_CHARACTERS = 128
"""Between two pieces of one long paragraph; code is cut without any."""
HIT_LIMIT = 7
REASON_LIMIT = 3
NUMBER_BITS = 28


@dataclass(frozen=True)
class DocumentSection:
    """A part of a document as its author divided it."""

    text: str
    heading: str = ""
    """Titles above it, the outermost first."""
    anchor: str = ""
    """Where it begins: ``line 12``, ``cell 3f2a``, ``page 4``; empty: the document's start."""
    kind: SectionKind = "prose"
    """``code`` stays byte for byte: its pieces put together are the section again."""


@dataclass(frozen=True)
class Chunk:
    """A piece of a document that is found as one."""

    text: str
    heading: str = ""
    anchor: str = ""

    @property
    def sha256(self) -> str:
        """The hash that a cached vector is found by; the same words have one vector."""
        words = f"{self.heading}\n{self.text}"
        return hashlib.sha256(words.encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class SourceFile:
    """A file or address that a place holds."""

    place: str
    """Its path or address."""
    name: str
    """As people read it, at most 128 characters."""
    size_bytes: int = 0
    modified: int = 0
    """Nanoseconds since the epoch; 0: not known."""


@dataclass(frozen=True)
class Library:
    """Documents of a project under a name."""

    number: int
    name: str
    root: str
    """The project's folder."""
    is_default: bool = False
    version: int = 0
    """Grows with every change."""


@dataclass(frozen=True)
class Document:
    """One document of a library, also one that could not be read."""

    document_id: str
    number: int
    """Of its library."""
    source: str
    """The place that was added, which it was found in."""
    name: str
    place: str
    kind: str
    size_bytes: int = 0
    modified: int = 0
    sha256: str = ""
    indexed_at: float = 0.0
    problem: str = ""
    is_removed: bool = False
    """The person took it out of a folder that stays."""
    chunks: int = 0
    is_embedded: bool = False
    """Whether every piece has a vector of the model that is set."""


@dataclass(frozen=True)
class Hit:
    """A piece that was found."""

    chunk_id: int
    document_id: str
    name: str
    place: str
    heading: str
    anchor: str
    text: str
    score: float = 0.0
    """Greater is better; only comparable within one search."""
    is_near: bool = False
    """It means what was asked for, also where it shares no word with it."""


@dataclass(frozen=True)
class IndexingProgress:
    """How far indexing is."""

    done: int
    total: int
    name: str = ""
    """What is read now."""
    changed: int = 0
    """Documents that were read anew so far."""
    problems: int = 0
    reasons: tuple[str, ...] = ()
    """Why the first of them cannot be read."""
    notice: str = ""
    """What the person should know, such as that there are no vectors."""


def library_number(root: str, name: str) -> int:
    """The number of a library; the same in every process."""
    digest = hashlib.sha256(f"{root}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:4], "big") >> (32 - NUMBER_BITS)


def document_id_of(number: int, place: str) -> str:
    """The id of a document; the same each time its place is indexed."""
    words = f"{number}\0{place}".encode("utf-8", "surrogatepass")
    return hashlib.sha256(words).hexdigest()[:12]
