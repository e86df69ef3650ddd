"""``%agent library``: the documents of the project that the agent may ask."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping, Sequence

from cellwright.errors import SetupError
from cellwright.knowledge.library import Document, Hit, IndexingProgress
from cellwright.knowledge.library.citations import place_words
from cellwright.knowledge.library.indexing import Indexing
from cellwright.knowledge.library.libraries import Libraries, library_users
from cellwright.knowledge.library.searching import Scope
from cellwright.settings import Settings, not_for_guests
from cellwright.store.database import Database
from cellwright.tools import progress_display
from cellwright_magics.command_lines import CommandLine
from cellwright_magics.reports import Advice, TextTable
from cellwright_magics.wording import one_line

QUIET_SECONDS = 2.0
"""Work that takes longer shows how far it is."""
LOOK_SECONDS = 0.1
TEXT_CHARACTERS = 160
DOCUMENTS_SHOWN = 200
ShowProgress = Callable[[str, float | None], None]


class DocumentList(TextTable):
    """The documents of a library."""

    headings = ("id", "document", "kind", "pieces", "vectors", "problem")
    empty = "The library is empty. %agent library add FOLDER fills it."

    def __init__(self, documents: Sequence[Document]) -> None:
        self.documents = tuple(documents)

    def __len__(self) -> int:
        return len(self.documents)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a document."""
        rows: list[tuple[str, ...]] = [
            (
                document.document_id,
                document.name,
                document.kind,
                str(document.chunks),
                "yes" if document.is_embedded else "no",
                one_line(document.problem, TEXT_CHARACTERS),
            )
            for document in self.documents[:DOCUMENTS_SHOWN]
        ]
        more = len(self.documents) - DOCUMENTS_SHOWN
        return [*rows, ("…", f"{more} more", "", "", "", "")] if more > 0 else rows


class HitList(TextTable):
    """What was found."""

    headings = ("", "where", "text")
    empty = "Nothing was found."

    def __init__(self, hits: Sequence[Hit], problem: str = "") -> None:
        self.hits = tuple(hits)
        self.problem = problem
        """Why it was searched by words alone, though vectors are set."""

    def __len__(self) -> int:
        return len(self.hits)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a piece, the best first."""
        return [
            (f"[{number}]", place_words(hit), one_line(hit.text, TEXT_CHARACTERS))
            for number, hit in enumerate(self.hits, start=1)
        ]

    def __repr__(self) -> str:
        return "\n".join(filter(None, [super().__repr__(), self.problem]))

    def _repr_markdown_(self) -> str:
        return "\n\n".join(filter(None, [super()._repr_markdown_(), self.problem]))


def library_command(
    line: CommandLine, database: Database, settings: Settings
) -> TextTable | Advice:
    """Do what ``%agent library …`` says.

    Args:
        line: The command.
        database: Where the libraries are.
        settings: Which hosts are allowed, and what gives vectors.

    Raises:
        SetupError: A place or a document is not there, or a guest asked.
    """
    not_for_guests(settings, "The library")
    _, action, *words = (*line.words, "list") if len(line.words) == 1 else line.words
    asked = argparse.Namespace(words=words, own=settings.home, **vars(line.arguments))
    return ACTIONS_OF[action](Libraries(database, settings), asked)


def _add(libraries: Libraries, asked: argparse.Namespace) -> Advice:
    indexing = Indexing(libraries.adding(asked.words, os.getcwd(), asked.name))
    return _watched(indexing, progress_display())


def _update(libraries: Libraries, _asked: argparse.Namespace) -> Advice:
    return _watched(Indexing(libraries.updating(os.getcwd())), progress_display())


def _list(libraries: Libraries, _asked: argparse.Namespace) -> TextTable:
    return DocumentList(libraries.documents(libraries.around(os.getcwd())))


def _search(libraries: Libraries, asked: argparse.Namespace) -> TextTable:
    scope = Scope(libraries.around(os.getcwd()))
    results = libraries.searcher.search(scope, " ".join(asked.words))
    return HitList(results.hits, results.problem)


def _remove(libraries: Libraries, asked: argparse.Namespace) -> Advice:
    gone = [libraries.remove(word, os.getcwd()) for word in asked.words]
    return Advice(f"Removed from the library: {', '.join(gone)}. The files stay.")


def _default(libraries: Libraries, asked: argparse.Namespace) -> Advice:
    library = libraries.make_default(" ".join(asked.words), os.getcwd())
    return Advice(f"{library.name!r} is the library of this project now.")


def _forget(libraries: Libraries, asked: argparse.Namespace) -> Advice:
    folder, name = os.getcwd(), " ".join(asked.words)
    users = library_users(folder, asked.own)
    gone = libraries.forget(name, folder, users, with_documents=asked.all)
    return Advice(f"The library {gone!r} is deleted. The files stay.")


ACTIONS_OF: Mapping[str, Callable[[Libraries, argparse.Namespace], TextTable | Advice]] = {
    "add": _add,
    "list": _list,
    "search": _search,
    "remove": _remove,
    "update": _update,
    "default": _default,
    "forget": _forget,
}


def _watched(indexing: Indexing, show: ShowProgress) -> Advice:
    """Wait for the end, with progress once it takes long; Ctrl-C ends it in order."""
    shown_from = time.monotonic() + QUIET_SECONDS
    try:
        while not indexing.wait(LOOK_SECONDS):
            if time.monotonic() > shown_from:
                show(*_how_far(indexing.progress))
    except KeyboardInterrupt:
        indexing.stop()
        indexing.wait()
    if indexing.error is not None:
        raise SetupError(f"Reading ended early: {indexing.error}") from indexing.error
    return Advice(indexing.summary())


def _how_far(progress: IndexingProgress) -> tuple[str, float | None]:
    share = progress.done / progress.total if progress.total else None
    return f"{progress.done:,} of {progress.total:,} documents  {progress.name}", share
