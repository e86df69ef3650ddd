"""The libraries of a user: which belong to a folder, what is done to them, and who uses them."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

from cellwright.assistants.files import list_assistants, project_folders
from cellwright.errors import SetupError
from cellwright.knowledge.library import REASON_LIMIT, Document, IndexingProgress, Library
from cellwright.knowledge.library.fetching import check_address, is_address
from cellwright.knowledge.library.indexing import Indexer, IndexOptions
from cellwright.knowledge.library.places import checked_place, project_folder
from cellwright.knowledge.library.searching import Searcher
from cellwright.knowledge.library.store import LibraryStore
from cellwright.llm.embedding import embedder_of
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database

Users = Mapping[str, Collection[str]]
"""Names of the assistants that use libraries, by the libraries' names."""


class Libraries:
    """All libraries of one database.

    Args:
        database: Where they are.
        settings: Which hosts are allowed, what gives vectors, and how much memory those may take.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self.store = LibraryStore(database)
        self._embedder = embedder_of(settings)
        self._options = IndexOptions(settings.library_hosts, self._embedder)
        self.searcher = Searcher(database, self._embedder, settings.vector_memory_bytes)

    @property
    def model(self) -> str:
        """The embedding model; empty: none is set."""
        return self._embedder.model if self._embedder is not None else ""

    def above(self, folder: str) -> tuple[Library, ...]:
        """The libraries of the projects that a folder lies in, the nearest project first."""
        path = Path(folder).resolve()
        found = [item for item in self.store.libraries() if path.is_relative_to(item.root)]
        return tuple(sorted(found, key=lambda item: (-len(item.root), item.name)))

    def around(self, folder: str) -> tuple[Library, ...]:
        """Those of ``above``, and the libraries of projects below the folder."""
        path = Path(folder).resolve()
        above = self.above(folder)
        return above + tuple(
            item
            for item in self.store.libraries()
            if item not in above and Path(item.root).is_relative_to(path)
        )

    def defaults(self, folder: str) -> tuple[Library, ...]:
        """The default libraries of the projects that a folder lies in."""
        return tuple(item for item in self.above(folder) if item.is_default)

    def documents(self, libraries: Sequence[Library]) -> tuple[Document, ...]:
        """The documents of these libraries."""
        return tuple(
            document
            for library in libraries
            for document in self.store.documents(library.number, self.model)
        )

    def adding(
        self,
        places: Sequence[str],
        folder: str,
        name: str = "",
        names: Mapping[str, str] | None = None,
    ) -> Callable[[Stop], Iterator[IndexingProgress]]:
        """What reads new places into the project's library, once it is called.

        Args:
            places: Files, folders and addresses.
            folder: Whose project it is, and where relative paths start.
            name: Of the library; empty: the project's default.
            names: What files are called that have another name on the disk, by path.

        Raises:
            SetupError: One of them is not there, or is not allowed; nothing is added then.
        """
        checked = [self._checked(place, folder) for place in dict.fromkeys(places)]
        library = self.store.open(project_folder(folder), name)
        for place in checked:
            self.store.add_place(library.number, place, (names or {}).get(place, ""))
        return lambda stop: self._indexed(library, checked, stop)

    def updating(self, folder: str) -> Callable[[Stop], Iterator[IndexingProgress]]:
        """What looks again at all places of the libraries around a folder, once it is called."""
        libraries = self.around(folder)

        def work(stop: Stop) -> Iterator[IndexingProgress]:
            before = IndexingProgress(0, 0)
            for library in libraries:
                now = before
                places = self.store.places(library.number)
                for progress in self._indexed(library, places, stop):
                    now = _sum(before, progress)
                    yield now
                before = now

        return work

    def remove(self, target: str, folder: str) -> str:
        """Take out a document by id, path or name, or a place with all its documents; what went.

        Raises:
            SetupError: There is no such document or place here, or several have that name.
        """
        libraries = self.around(folder)
        document = self.store.document(target)
        if document is not None and document.number in {item.number for item in libraries}:
            self.store.take_out(document)
            return document.name
        wanted = target if is_address(target) else str((Path(folder) / target).resolve())
        for library in libraries:
            if wanted in self.store.places(library.number):
                count = self.store.remove_place(library.number, wanted)
                return f"{target} ({count} document{'s' * (count != 1)})"
        documents = self.documents(libraries)
        at_place = [each for each in documents if each.place == wanted]
        named = at_place or [each for each in documents if each.name == target]
        named = named or [each for each in documents if PurePath(each.name).name == target]
        if len(named) == 1:
            self.store.take_out(named[0])
            return named[0].name
        if named:
            raise SetupError(
                f"The library has {len(named)} documents {target!r}.",
                hint=f"Name one by its id: {', '.join(each.document_id for each in named)}.",
            )
        raise SetupError(
            f"The library has no document or place {target!r}.",
            hint="%agent library list shows their ids.",
        )

    def forget(self, name: str, folder: str, users: Users, *, with_documents: bool = False) -> str:
        """Delete a library; what went.

        Args:
            name: Of a library of a project that the folder lies in, the nearest first.
            folder: Where the person works.
            users: Names of the assistants that use a library, by its name.
            with_documents: Its documents go with it; files stay.

        Raises:
            SetupError: There is no such library here, it has documents, or assistants use it.
        """
        library = self._named(name, folder)
        self.forget_all([library], users, with_documents=with_documents)
        return library.name

    def forget_all(
        self, libraries: Sequence[Library], users: Users, *, with_documents: bool
    ) -> None:
        """Delete libraries: all of these, or none where one is in use.

        Raises:
            SetupError: One has documents, or assistants use it.
        """
        for library in libraries:
            bound = users.get(library.name, ())
            self.store.check_unused(library, bound, with_documents=with_documents)
        for library in libraries:
            self.store.forget(library)

    def make_default(self, name: str, folder: str) -> Library:
        """Let a library be the one that is asked where an assistant names none.

        Raises:
            SetupError: There is no such library here.
        """
        library = self._named(name, folder)
        self.store.make_default(library)
        return replace(library, is_default=True)

    def _named(self, name: str, folder: str) -> Library:
        libraries = self.above(folder)
        for library in libraries:
            if library.name == name:
                return library
        known = ", ".join(item.name for item in libraries) or "none"
        raise SetupError(f"There is no library {name!r} here.", hint=f"There are: {known}.")

    def _indexed(
        self, library: Library, places: Sequence[str], stop: Stop
    ) -> Iterator[IndexingProgress]:
        """Read places over a connection of its own: nobody who reads meanwhile waits for it."""
        shared = self.store.database
        if shared.path is None or not shared.is_durable:
            yield from Indexer(self.store, library, self._options).index(places, stop)
            return
        with contextlib.closing(open_database(shared.path)) as own:
            yield from Indexer(LibraryStore(own), library, self._options).index(places, stop)

    def _checked(self, place: str, folder: str) -> str:
        if is_address(place):
            check_address(place, self._options.hosts)
        return checked_place(place, folder)


def _sum(before: IndexingProgress, now: IndexingProgress) -> IndexingProgress:
    return replace(
        now,
        done=before.done + now.done,
        total=before.total + now.total,
        changed=before.changed + now.changed,
        problems=before.problems + now.problems,
        reasons=(*before.reasons, *now.reasons)[:REASON_LIMIT],
    )


# Which assistants use which libraries: one that is used is not deleted.


def library_users(folder: str, own: Path | None, roots: Iterable[str] = ()) -> Users:
    """Names of the assistants of a folder's project that name a library, by the library's name.

    Args:
        folder: Where the person works.
        own: The person's folder.
        roots: Folders of projects that lie elsewhere.
    """
    folders = [each for place in (folder, *roots) for each in project_folders(Path(place))]
    found: defaultdict[str, list[str]] = defaultdict(list)
    for assistant in list_assistants(dict.fromkeys(folders), own).assistants:
        for name in assistant.library or ():
            found[name].append(assistant.name)
    return found
