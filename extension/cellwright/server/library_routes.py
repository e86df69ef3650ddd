"""The documents that models may ask: list, add, remove, search."""

from __future__ import annotations

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.knowledge.library import Document
from cellwright.record.values import to_dict
from cellwright.server.library_desk import LibraryDesk, open_library
from cellwright.server.library_forgetting import forget_libraries, library_summaries
from cellwright.server.library_types import (
    LibraryDocument,
    LibraryHit,
    LibraryHits,
    LibraryState,
    NewPlace,
)
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable


class LibraryRoute(Route):
    """A route about documents; guests have none."""

    @property
    def desk(self) -> LibraryDesk:
        """The server's library."""
        return open_library(self.shared)

    async def state(self) -> LibraryState:
        """The documents, and what is being read."""
        desk = self.desk
        documents = await self.answer(lambda shared: desk.documents())
        shown = tuple(_shown(each, desk.shown_place(each.place)) for each in documents)
        libraries = await self.answer(lambda shared: library_summaries(desk, documents))
        return LibraryState(shown, desk.state(), libraries)


class DocumentsRoute(LibraryRoute):
    """The documents."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """All of them, those that could not be read among them."""
        self.send(to_dict(await self.state()))

    @web.authenticated
    @authorized
    async def post(self) -> None:
        """Add a file, a folder or a page; it is read in the background."""
        desk = self.desk
        new = NewPlace(**self.fields(place=str, name=str, library=str, notebook=str))
        await self.answer(lambda shared: desk.add(new))
        self.send(to_dict(await self.state()), 202)

    @web.authenticated
    @authorized
    async def delete(self) -> None:
        """Delete a library, or all of them with what is in them; files stay."""
        wanted, every, desk = self.word("library"), self.word("all") == "1", self.desk
        if not wanted and not every:
            raise Refusal(400, "No library is named.", "Name one with library=ID, or say all=1.")
        await self.answer(
            lambda shared: forget_libraries(shared, desk, wanted, with_documents=every)
        )
        self.send(to_dict(await self.state()))


class DocumentRoute(LibraryRoute):
    """One document."""

    @web.authenticated
    @authorized
    async def delete(self, document_id: str) -> None:
        """Take it out; the file stays."""
        desk = self.desk
        if not await self.answer(lambda shared: desk.remove(document_id)):
            raise Refusal(404, f"There is no document {document_id!r}.", "See the list.")
        self.send({})


class SearchRoute(LibraryRoute):
    """What fits some words."""

    @web.authenticated
    @authorized
    async def get(self) -> None:
        """The best pieces."""
        query, desk = self.word("query"), self.desk
        results = await self.answer(lambda shared: desk.search(query))
        hits = tuple(
            LibraryHit(
                number,
                hit.document_id,
                hit.name,
                desk.shown_place(hit.place),
                hit.heading,
                hit.anchor,
                hit.text,
                hit.score,
            )
            for number, hit in enumerate(results.hits, start=1)
        )
        self.send(to_dict(LibraryHits(hits, results.problem)))


def _shown(document: Document, place: str) -> LibraryDocument:
    return LibraryDocument(
        document.document_id,
        document.name,
        place,
        document.kind,
        document.chunks,
        document.is_embedded,
        document.indexed_at,
        document.problem,
        str(document.number),
    )


ROUTES: RouteTable = (
    ("library", DocumentsRoute),
    ("library/search", SearchRoute),
    (f"library/{ROUTE_ID}", DocumentRoute),
)
