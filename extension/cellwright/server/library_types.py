"""What the routes of the library take and answer."""

from __future__ import annotations

from dataclasses import dataclass


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
    library: str
    """Id of the library that it is in."""


@dataclass(frozen=True)
class LibrarySummary:
    """A library of the server's folder, or of a project above or below it."""

    id: str
    name: str
    place: str
    """The project's folder."""
    is_default: bool
    documents: int


@dataclass(frozen=True)
class IndexingState:
    """How far reading is."""

    done: int
    total: int
    name: str


@dataclass(frozen=True)
class LibraryState:
    """The documents, what is being read, and the libraries."""

    documents: tuple[LibraryDocument, ...]
    indexing: IndexingState | None
    libraries: tuple[LibrarySummary, ...]


@dataclass(frozen=True)
class NewPlace:
    """A file, folder or address to add."""

    place: str = ""
    """Below the server's folder; or what an uploaded file is named by."""
    name: str = ""
    """What an uploaded file is called."""
    library: str = ""
    """Name of the library it goes into; empty: the default of the server's folder."""
    notebook: str = ""
    """Whose projects a named library is looked for in."""


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
