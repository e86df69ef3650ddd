"""Whole libraries as the panel lists and deletes them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cellwright.errors import SetupError
from cellwright.knowledge.library import Document
from cellwright.knowledge.library.users import library_users
from cellwright.server.application import Application
from cellwright.server.library_desk import LibraryDesk
from cellwright.server.library_types import LibrarySummary
from cellwright.server.routes import Refusal


def library_summaries(
    desk: LibraryDesk, documents: Sequence[Document]
) -> tuple[LibrarySummary, ...]:
    """The libraries around the server's folder, with how many of these documents each has."""
    counts = Counter(document.number for document in documents)
    return tuple(
        LibrarySummary(
            str(library.number),
            library.name,
            desk.shown_place(library.root),
            library.is_default,
            counts[library.number],
        )
        for library in desk.around()
    )


def forget_libraries(
    shared: Application, desk: LibraryDesk, wanted: str, *, with_documents: bool
) -> None:
    """Delete a library, or all around the server's folder; files stay.

    Args:
        shared: The server's cellwright.
        desk: Its libraries.
        wanted: Id of the library; empty: all.
        with_documents: What is in them goes with them.

    Raises:
        Refusal: There is no such library, or one is in use; nothing is deleted then.
    """
    chosen = [item for item in desk.around() if wanted in ("", str(item.number))]
    if wanted and not chosen:
        raise Refusal(404, f"There is no library {wanted!r}.", "See the list.")
    if desk.is_busy:
        raise Refusal(409, "Documents are being read.", "Try again when that is done.")
    home = shared.settings().home
    users = library_users(desk.folder, home, (item.root for item in chosen))
    try:
        desk.forget(chosen, users, with_documents=with_documents)
    except SetupError as error:
        raise Refusal(409, shared.redactor().text(error.message), error.hint) from error
