"""The library as a server has it: one thread reads what was added, one place after the other."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import cast

from cellwright.assistants.files import folders_of, list_assistants
from cellwright.errors import SetupError
from cellwright.knowledge.library import Document, Library, Progress
from cellwright.knowledge.library.background import Indexing
from cellwright.knowledge.library.fetching import is_address
from cellwright.knowledge.library.libraries import Libraries, Users
from cellwright.knowledge.library.searching import Results, Scope
from cellwright.server.application import Application
from cellwright.server.library_offers import (
    checked_kind,
    chosen_assistant,
    is_offered,
    library_for,
    library_named,
)
from cellwright.server.library_types import IndexingState, NewPlace
from cellwright.server.uploads import shown_name
from cellwright.stopping import Stop

Work = Callable[[Stop], Iterator[Progress]]
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

    def _all(self, stop: Stop) -> Iterator[Progress]:
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
