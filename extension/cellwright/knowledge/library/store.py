"""Libraries, their places and documents: how they are written, and how their words are searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from cellwright.errors import SetupError
from cellwright.knowledge.library import NUMBER_BITS, Chunk, Document, Hit, Library, library_number
from cellwright.store.database import Database, Row, Statement

DEFAULT_NAME = "default"
CHUNK_BITS = 62 - NUMBER_BITS
DOCUMENT_FIELDS = (
    "document_id, number, source, name, place, kind, size_bytes, modified, sha256, indexed_at, "
    "problem, is_removed"
)
COUNTED = f"""SELECT {DOCUMENT_FIELDS},
    (SELECT COUNT(*) FROM library_chunks c WHERE c.document_id = d.document_id),
    ? != '' AND NOT EXISTS (SELECT 1 FROM library_chunks c WHERE c.document_id = d.document_id
        AND NOT EXISTS (SELECT 1 FROM library_vectors v WHERE v.sha256 = c.sha256 AND v.model = ?))
    FROM library_documents d"""
INSERT_DOCUMENT = f"""INSERT OR REPLACE INTO library_documents ({DOCUMENT_FIELDS})
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"""
INSERT_CHUNK = """INSERT INTO library_chunks
    SELECT COALESCE(MAX(chunk_id), ?) + 1, ?, ?, ?, ?, ?, ? FROM library_chunks
    WHERE chunk_id BETWEEN ? AND ?"""
DROP_CHUNKS = "DELETE FROM library_chunks WHERE document_id = ?"
DROP_ALL_CHUNKS = """DELETE FROM library_chunks WHERE document_id IN
    (SELECT document_id FROM library_documents WHERE number = ?)"""
CHANGED = "UPDATE libraries SET version = version + 1 WHERE number = ?"
FIRST_IS_DEFAULT = """INSERT OR IGNORE INTO libraries
    SELECT ?, ?, ?, NOT EXISTS (SELECT 1 FROM libraries WHERE root = ? AND is_default), ?, ?"""

Change = tuple[Document, Sequence[Chunk]]
"""A document as it is now, with what can be found in it."""


class LibraryStore:
    """The libraries of one database; safe to use from any thread.

    Args:
        database: Where they are written.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self.database = database
        self._clock = clock

    @property
    def is_empty(self) -> bool:
        """Whether no library has a document that can be found."""
        return not self.database.read("SELECT 1 FROM library_chunks LIMIT 1")

    def libraries(self) -> tuple[Library, ...]:
        """All of them, by project and name."""
        rows = self.database.read(
            "SELECT number, name, root, is_default, version FROM libraries ORDER BY root, name"
        )
        return tuple({row[0]: _library(row) for row in rows}.values())

    def find(self, root: str, name: str) -> Library | None:
        """The library of that name in a project; None: there is none."""
        number = library_number(root, name)
        return next((item for item in self.libraries() if item.number == number), None)

    def default(self, root: str) -> Library | None:
        """The project's default library; None: it has no library."""
        return next((i for i in self.libraries() if i.root == root and i.is_default), None)

    def open(self, root: str, name: str = "") -> Library:
        """The library of that name, made when there is none; the first is the default.

        Args:
            root: The project's folder.
            name: Empty: the project's default.
        """
        found = self.find(root, name) if name else self.default(root)
        if found is not None:
            return found
        name = name or DEFAULT_NAME
        number = library_number(root, name)
        now = self._clock()
        # One that was deleted and made anew must not have a version that was seen before.
        parameters = (number, name, root, root, int(now * 1_000), now)
        self.database.write(Statement(FIRST_IS_DEFAULT, parameters))
        return self.find(root, name) or Library(number, name, root)

    def make_default(self, library: Library) -> None:
        """Let this be its project's default instead of the one that is."""
        self.database.write(
            Statement("UPDATE libraries SET is_default = 0 WHERE root = ?", (library.root,)),
            Statement("UPDATE libraries SET is_default = 1 WHERE number = ?", (library.number,)),
        )

    def check_unused(
        self, library: Library, bound: Iterable[str] = (), *, with_documents: bool = False
    ) -> None:
        """Refuse to delete what is in use.

        Args:
            library: Which one.
            bound: Names of the assistants that use it.
            with_documents: Its documents may go with it.

        Raises:
            SetupError: It has documents, or assistants use it.
        """
        users = sorted(bound)
        if users:
            raise SetupError(
                f"The library {library.name!r} is used by {', '.join(users)}.",
                hint="Take it out of their files first.",
            )
        count = len(self.documents(library.number))
        if count and not with_documents:
            raise SetupError(
                f"The library {library.name!r} has documents: {count}.",
                hint="Remove them first, or forget them with it (--all); the files stay.",
            )

    def forget(self, library: Library) -> None:
        """Delete a library with all that is in it; another of the project becomes the default."""
        key = (library.number,)
        self.database.write(
            Statement(DROP_ALL_CHUNKS, key),
            Statement("DELETE FROM library_documents WHERE number = ?", key),
            Statement("DELETE FROM library_places WHERE number = ?", key),
            Statement("DELETE FROM libraries WHERE number = ?", key),
        )
        left = next((item for item in self.libraries() if item.root == library.root), None)
        if left is not None and library.is_default:
            self.make_default(left)

    def places(self, number: int) -> tuple[str, ...]:
        """The files, folders and addresses that were added to a library, oldest first."""
        rows = self.database.read(
            "SELECT place FROM library_places WHERE number = ? ORDER BY added_at, place", (number,)
        )
        return tuple(dict.fromkeys(str(place) for (place,) in rows))

    def names(self, number: int) -> dict[str, str]:
        """What the person calls places that have another name on the disk."""
        rows = self.database.read(
            "SELECT place, name FROM library_places WHERE number = ? AND name != ''", (number,)
        )
        return {str(place): str(name) for place, name in rows}

    def add_place(self, number: int, place: str, name: str = "") -> None:
        """Keep a place, so that an update looks at it again.

        Args:
            number: Of the library.
            place: A file, a folder or an address.
            name: What its document is called; empty: as the place is.
        """
        insert = "INSERT OR IGNORE INTO library_places VALUES (?, ?, ?, ?)"
        self.database.write(Statement(insert, (number, place, name, self._clock())))

    def remove_place(self, number: int, place: str) -> int:
        """Forget a place and all of its documents; how many those were."""
        where = "number = ? AND source = ?"
        rows = self.database.read(
            f"SELECT document_id FROM library_documents WHERE {where}", (number, place)
        )
        self.database.write(
            *(Statement(DROP_CHUNKS, row) for row in rows),
            Statement(f"DELETE FROM library_documents WHERE {where}", (number, place)),
            Statement("DELETE FROM library_places WHERE number = ? AND place = ?", (number, place)),
            Statement(CHANGED, (number,)),
        )
        return len(rows)

    def documents(self, number: int, model: str = "") -> tuple[Document, ...]:
        """The documents of a library by name, those that cannot be read among them.

        Args:
            number: Of the library.
            model: The embedding model that ``is_embedded`` is about.
        """
        rows = self.database.read(
            f"{COUNTED} WHERE number = ? AND NOT is_removed ORDER BY name, place",
            (model, model, number),
        )
        return tuple(_counted(row) for row in rows)

    def document(self, document_id: str) -> Document | None:
        """One document; None: there is none."""
        rows = self.database.read(f"{COUNTED} WHERE document_id = ?", ("", "", document_id))
        return _counted(rows[-1]) if rows else None

    def known(self, number: int) -> dict[str, Document]:
        """What was indexed of a library before, by path, removed documents among them."""
        rows = self.database.read(
            f"SELECT {DOCUMENT_FIELDS} FROM library_documents WHERE number = ?", (number,)
        )
        return {document.place: document for document in map(_document, rows)}

    def keep(self, changes: Sequence[Change]) -> None:
        """Write documents with their pieces in place of what was there, in one transaction."""
        statements = [line for document, chunks in changes for line in _lines(document, chunks)]
        numbers = dict.fromkeys(document.number for document, _ in changes)
        self.database.write(*statements, *(Statement(CHANGED, (n,)) for n in numbers))

    def append(self, document: Document, chunks: Sequence[Chunk], position: int) -> None:
        """Write more pieces of a document, from this position on."""
        self.database.write(
            *_chunk_lines(document, chunks, position), Statement(CHANGED, (document.number,))
        )

    def touch(self, document: Document) -> None:
        """Keep what is known of a document whose text is as before."""
        self.database.write(Statement(INSERT_DOCUMENT, _row(document)))

    def drop(self, documents: Iterable[Document]) -> None:
        """Forget documents that are not where they were any more."""
        gone = tuple(documents)
        numbers = dict.fromkeys(document.number for document in gone)
        forget = "DELETE FROM library_documents WHERE document_id = ?"
        ids = [(document.document_id,) for document in gone]
        self.database.write(
            *(Statement(DROP_CHUNKS, key) for key in ids),
            *(Statement(forget, key) for key in ids),
            *(Statement(CHANGED, (number,)) for number in numbers),
        )

    def take_out(self, document: Document) -> None:
        """Take one document out for good; an update of its folder does not bring it back."""
        if document.source == document.place:
            self.remove_place(document.number, document.source)
        else:
            self.keep([(replace(document, is_removed=True, sha256="", problem=""), ())])


def id_range(number: int) -> tuple[int, int]:
    """The first and the last id that a piece of this library may have."""
    start = number << CHUNK_BITS
    return start, start + (1 << CHUNK_BITS) - 1


def _lines(document: Document, chunks: Sequence[Chunk]) -> Iterable[Statement]:
    yield Statement(DROP_CHUNKS, (document.document_id,))
    yield Statement(INSERT_DOCUMENT, _row(document))
    yield from _chunk_lines(document, chunks, 0)


def _chunk_lines(document: Document, chunks: Sequence[Chunk], first: int) -> Iterable[Statement]:
    start, end = id_range(document.number)
    for position, chunk in enumerate(chunks, start=first):
        told = (chunk.heading, chunk.anchor, chunk.text, chunk.sha256)
        row = (start, document.document_id, position, *told, start, end)
        yield Statement(INSERT_CHUNK, row)


def _row(document: Document) -> Row:
    return (
        document.document_id,
        document.number,
        document.source,
        document.name,
        document.place,
        document.kind,
        document.size_bytes,
        document.modified,
        document.sha256,
        document.indexed_at,
        document.problem,
        int(document.is_removed),
    )


def _document(row: Row) -> Document:
    return replace(Document(*row[:11]), is_removed=bool(row[11]))


def _counted(row: Row) -> Document:
    chunks = int(row[12])
    return replace(_document(row), chunks=chunks, is_embedded=bool(chunks and row[13]))


def _library(row: Row) -> Library:
    return Library(int(row[0]), str(row[1]), str(row[2]), bool(row[3]), int(row[4]))


# Which pieces of a library hold some words; every answer is bounded.


IndexName = Literal["words", "trigrams"]
WEIGHTS = "bm25(1.0, 2.0)"
"""A word in a heading counts twice."""
HITS = """SELECT c.chunk_id, c.document_id, d.name, d.place, c.heading, c.anchor, c.text
    FROM library_chunks c JOIN library_documents d ON d.document_id = c.document_id
    WHERE c.chunk_id IN ({})"""


def matching(
    database: Database, index: IndexName, expression: str, number: int, limit: int
) -> tuple[int, ...]:
    """Ids of the pieces that fit an FTS5 expression, the best first."""
    table = f"library_{index}"
    rows = database.read(
        f"""SELECT rowid FROM {table} WHERE {table} MATCH ? AND rowid BETWEEN ? AND ?
        AND rank MATCH '{WEIGHTS}' ORDER BY rank LIMIT ?""",
        (expression, *id_range(number), limit),
    )
    return tuple(int(chunk_id) for (chunk_id,) in rows)


def count_matching(
    database: Database, index: IndexName, expression: str, number: int, limit: int
) -> int:
    """How many pieces fit; counting stops at ``limit``."""
    table = f"library_{index}"
    rows = database.read(
        f"""SELECT COUNT(*) FROM (SELECT 1 FROM {table} WHERE {table} MATCH ?
        AND rowid BETWEEN ? AND ? LIMIT ?)""",
        (expression, *id_range(number), limit),
    )
    return sum(int(count) for (count,) in rows)


def trigrams_from(database: Database, start: str, limit: int) -> tuple[str, ...]:
    """Trigrams of the index that begin with one or two signs."""
    after = start[:-1] + chr(ord(start[-1]) + 1)
    rows = database.read(
        "SELECT term FROM library_trigram_terms WHERE term >= ? AND term < ? LIMIT ?",
        (start, after, limit),
    )
    return tuple(str(term) for (term,) in rows if "\0" not in str(term))


def hits_of(database: Database, chunk_ids: Iterable[int]) -> dict[int, Hit]:
    """The pieces of these ids."""
    wanted = tuple(chunk_ids)
    rows = database.read(HITS.format(", ".join("?" * len(wanted))), wanted)
    return {int(row[0]): Hit(*row) for row in rows}
