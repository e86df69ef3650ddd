"""What the routes of the library take and answer."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "IndexingState",
    "LibraryDocument",
    "LibraryHit",
    "LibraryHits",
    "LibraryState",
    "NewPlace",
]


@dataclass(frozen=True)
class LibraryDocument:
    """A document of the library."""

    id: str
    name: str
    place: str
    kind: str
    chunks: int
    is_embedded: bool
    indexed_at: float
    problem: str


@dataclass(frozen=True)
class IndexingState:
    """How far reading is."""

    done: int
    total: int
    name: str


@dataclass(frozen=True)
class LibraryState:
    """The documents, and what is being read."""

    documents: tuple[LibraryDocument, ...]
    indexing: IndexingState | None


@dataclass(frozen=True)
class NewPlace:
    """A file, folder or address to add."""

    place: str = ""
    """Below the server's folder; or what an uploaded file is named by."""
    name: str = ""
    """What an uploaded file is called."""


@dataclass(frozen=True)
class LibraryHit:
    """A piece that was found."""

    number: int
    document_id: str
    name: str
    place: str
    heading: str
    anchor: str
    text: str
    score: float


@dataclass(frozen=True)
class LibraryHits:
    """What was found, the best first."""

    hits: tuple[LibraryHit, ...]
    problem: str
