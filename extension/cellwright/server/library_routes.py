"""The library of documents that models may ask: list, add, remove, search; offered files."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.assistants import NO_ASSISTANT, Assistant, AssistantList
from cellwright.assistants.files import folders_of, list_assistants
from cellwright.errors import SetupError
from cellwright.knowledge.library import Document, IndexingProgress, Library
from cellwright.knowledge.library.fetching import is_address
from cellwright.knowledge.library.indexing import Indexing
from cellwright.knowledge.library.libraries import Libraries, Users, library_users
from cellwright.knowledge.library.reading import kind_of
from cellwright.knowledge.library.searching import Results, Scope
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.server.uploads import shown_name
from cellwright.stopping import Stop


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
    library: str = ""
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
    libraries: tuple[LibrarySummary, ...] = ()


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
    text: str
    score: float
    anchor: str = ""
    """Where in the document, such as ``line 12``, ``page 4``; empty: its start."""


@dataclass(frozen=True)
class LibraryHits:
    """What was found, the best first."""

    hits: tuple[LibraryHit, ...]
    problem: str = ""


# Which library an uploaded file is offered to, and where in the projects that library is.


OFFERED_KINDS = frozenset({"text", "notebook", "html", "pdf"})
"""What people read; tables and code are mostly there to be worked with."""


def is_offered(name: str) -> bool:
    """Whether a file of that name is what people put into libraries."""
    return kind_of(name) in OFFERED_KINDS


def library_for(assistant: Assistant, above: Iterable[Library]) -> str:
    """Name of the library that a document could go into; empty: there is none.

    Args:
        assistant: Who answers.
        above: The libraries of the projects that the notebook lies in, the nearest first.
    """
    for library in above:
        names_some = assistant.library is not None
        if assistant.may_read(library.name) if names_some else library.is_default:
            return library.name
    return ""


def chosen_assistant(name: str, listed: AssistantList) -> Assistant:
    """The assistant of that name, without one the default; nobody where it is gone."""
    return (listed.find(name) or NO_ASSISTANT) if name else listed.default


def library_named(name: str, above: Iterable[Library]) -> Library:
    """The nearest library of that name.

    Raises:
        SetupError: There is none.
    """
    for library in above:
        if library.name == name:
            return library
    raise SetupError(f"There is no library {name!r} here.", hint="Reload the page.")


def checked_kind(name: str) -> None:
    """Refuse an uploaded file that no library can read.

    Raises:
        SetupError: It is one.
    """
    if not kind_of(name):
        raise SetupError(
            f"{Path(name).name!r} is of a kind that the library cannot read.",
            hint="Use text, Markdown, notebooks, PDF, web pages, tables or code.",
        )


# The library as a server has it: one thread reads what was added, one place after the other.


Work = Callable[[Stop], Iterator[IndexingProgress]]
CLOSE_SECONDS = 5.0


def open_library(application: Application) -> LibraryDesk:
    """The library of a server, which routes share.

    Raises:
        HTTPError: The server is stopping.
    """
    with application.opening():
        if application.library is None:
            application.library = LibraryDesk(application)
        return cast("LibraryDesk", application.library)


class LibraryDesk:
    """What the routes of the library share.

    Args:
        application: The server's cellwright.
    """

    def __init__(self, application: Application) -> None:
        self._application = application
        self._changing = threading.Lock()
        self._waiting: deque[Work] = deque()
        self._indexing: Indexing | None = None
        self._libraries: Libraries | None = None
        self._made_for: object = None

    @property
    def is_busy(self) -> bool:
        """Whether documents are being read."""
        return self._indexing is not None and self._indexing.is_going_on

    @property
    def folder(self) -> str:
        """The folder whose project's libraries these are."""
        return str(self._application.root or Path.cwd())

    def documents(self) -> tuple[Document, ...]:
        """The documents of the libraries around the server's folder."""
        libraries = self._current()
        return libraries.documents(libraries.around(self.folder))

    def around(self) -> tuple[Library, ...]:
        """The libraries around the server's folder."""
        return self._current().around(self.folder)

    def forget(self, chosen: Sequence[Library], users: Users, *, with_documents: bool) -> None:
        """Delete libraries: all of these, or none where one is in use.

        Raises:
            SetupError: One has documents, or assistants use it.
        """
        self._current().forget_all(chosen, users, with_documents=with_documents)

    def state(self) -> IndexingState | None:
        """How far reading is; None: nothing is being read."""
        indexing = self._indexing
        if indexing is None or not indexing.is_going_on:
            return None
        progress = indexing.progress
        return IndexingState(progress.done, progress.total, progress.name)

    def search(self, query: str) -> Results:
        """The best pieces for a question."""
        libraries = self._current()
        return libraries.searcher.search(Scope(libraries.around(self.folder)), query)

    def add(self, new: NewPlace) -> None:
        """Read a place in the background, after those that were added before.

        Raises:
            SetupError: It is not there, or may not be read.
        """
        libraries, name = self._current(), shown_name(new.name) if new.name else ""
        checked = self._checked(new.place, name)
        names = {checked: name} if name else {}
        folder = self.folder
        if new.library:
            folder = library_named(new.library, libraries.above(self._beside(new.notebook))).root
        self._begin(libraries.adding([checked], folder, new.library, names))

    def offer(self, name: str, notebook: str, assistant: str) -> str:
        """Name of the library that an uploaded file could go into; empty: it is not asked about.

        Args:
            name: What the file is called.
            notebook: Beside which it was uploaded; empty: none.
            assistant: Who answers there; empty: the default.
        """
        if not is_offered(name):
            return ""
        application = self._application
        folders = folders_of(application.root, notebook)
        listed = list_assistants(folders, application.settings().home)
        above = self._current().above(self._beside(notebook))
        return library_for(chosen_assistant(assistant, listed), above)

    def shown_place(self, place: str) -> str:
        """A place as the panel opens it: below the server's folder where it is there.

        Empty: it was uploaded, and there is nothing to open.
        """
        if Path(place).is_relative_to(self._application.uploads.folder.resolve()):
            return ""
        root = Path(self.folder).resolve()
        if is_address(place) or not Path(place).is_relative_to(root):
            return place
        return Path(place).relative_to(root).as_posix()

    def remove(self, document_id: str) -> bool:
        """Take out a document; False: there is none."""
        libraries = self._current()
        numbers = {library.number for library in libraries.around(self.folder)}
        document = libraries.store.document(document_id)
        if document is None or document.is_removed or document.number not in numbers:
            return False
        libraries.store.take_out(document)
        return True

    def close(self) -> None:
        """Stop reading; what was read is kept."""
        with self._changing:
            self._waiting.clear()
            if self._indexing is not None:
                self._indexing.stop()
                self._indexing.wait(CLOSE_SECONDS)

    def _begin(self, work: Work) -> None:
        with self._changing:
            self._waiting.append(work)
            if not self.is_busy:
                self._indexing = Indexing(self._all)

    def _all(self, stop: Stop) -> Iterator[IndexingProgress]:
        while self._waiting and not stop.is_set():
            yield from self._waiting.popleft()(stop)

    def _checked(self, place: str, name: str) -> str:
        """A place that this server may read: an address, an uploaded file, or below its folder."""
        if is_address(place):
            return place
        if name:
            checked_kind(name)
            return str(self._application.uploads.path(place))
        root = Path(self.folder).resolve()
        path = (root / place).resolve()
        if not place.strip() or not path.is_relative_to(root):
            raise SetupError(
                f"{place!r} is not below the server's folder.", hint="Put a copy into it."
            )
        return str(path)

    def _beside(self, notebook: str) -> str:
        """The folder of a notebook; without one, the server's."""
        folders = folders_of(self._application.root, notebook)
        return str(folders[0]) if folders else self.folder

    def _current(self) -> Libraries:
        """The libraries with the settings as they are now."""
        settings = self._application.settings()
        key = (self._application.database, settings)
        with self._changing:
            if self._libraries is None or self._made_for != key:
                self._libraries, self._made_for = Libraries(*key), key
            return self._libraries


# Whole libraries as the panel lists and deletes them.


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
                hit.text,
                hit.score,
                hit.anchor,
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
