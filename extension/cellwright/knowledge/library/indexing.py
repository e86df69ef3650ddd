"""Reads places into a library, only what changed, in the background where that is asked for.

A document that cannot be read stays in the list with its problem and is tried again by the next
update. What is gone from its place leaves the library.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.errors import LMError, SetupError
from cellwright.knowledge.library import (
    REASON_LIMIT,
    Chunk,
    Document,
    IndexingProgress,
    Library,
    SourceFile,
    document_id_of,
)
from cellwright.knowledge.library.chunking import chunks_of
from cellwright.knowledge.library.fetching import fetch, is_address
from cellwright.knowledge.library.places import NAME_CHARACTERS, files_of, shown_name
from cellwright.knowledge.library.reading import (
    SIZE_LIMIT_BYTES,
    kind_of,
    kind_of_mime,
    sections_of,
)
from cellwright.knowledge.library.store import Change, LibraryStore
from cellwright.knowledge.library.store_vectors import keep_vectors, unembedded
from cellwright.llm.embedding import Embedder
from cellwright.stopping import Stop, WorkerThread

BATCH_CHUNKS = 100
"""So many are written at once: a run that reads meanwhile waits for some milliseconds."""
BREATH_SECONDS = 0.012
"""A writer that waits for the file looks every 10 ms."""
EMBEDDED_AT_ONCE = 64
EMBEDDING_SECONDS = 60.0


@dataclass(frozen=True)
class IndexOptions:
    """What indexing may use."""

    hosts: tuple[str, ...] = ()
    """Allowed beside this machine."""
    embedder: Embedder | None = None
    clock: Callable[[], float] = time.time


@dataclass(frozen=True)
class _Listed:
    """What is to be looked at."""

    source: str
    found: SourceFile
    problem: str = ""


class Indexer:
    """Brings one library up to date.

    Args:
        store: Where it is.
        library: Which one.
        options: What may be used.
    """

    def __init__(
        self, store: LibraryStore, library: Library, options: IndexOptions | None = None
    ) -> None:
        self._store = store
        self._library = library
        self._options = options or IndexOptions()
        self._names = store.names(library.number)
        self._changes: list[Change] = []

    def index(self, places: Sequence[str], stop: Stop) -> Iterator[IndexingProgress]:
        """Look at these places; what was read is kept when it is stopped in between."""
        known = self._store.known(self._library.number)
        own = set(self._store.places(self._library.number))
        listed = [item for place in places for item in self._listed(place)]
        self._store.drop(_gone(known.values(), places, {item.found.place for item in listed}))
        progress = IndexingProgress(0, len(listed))
        for done, item in enumerate(listed):
            if stop.is_set():
                break
            progress = replace(progress, done=done, name=item.found.name)
            yield progress
            before = known.get(item.found.place)
            if _is_of_another(before, item, own):
                continue
            progress = self._counted(progress, self._look(item, before))
            self._write(BATCH_CHUNKS)
        else:
            progress = replace(progress, done=len(listed))
        self._write(0)
        yield from self._embed(progress, stop)

    def _listed(self, place: str) -> Iterator[_Listed]:
        root = self._library.root
        if is_address(place):
            yield _Listed(place, SourceFile(place, shown_name(place, root)))
            return
        try:
            for found in files_of(place, root):
                yield _Listed(place, found)
        except SetupError as error:
            yield _Listed(place, SourceFile(place, shown_name(place, root)), str(error))

    def _look(self, item: _Listed, before: Document | None) -> Document | None:
        """The document as it is now; None: it is as it was."""
        if before is not None and before.is_removed and before.source == item.source:
            return None
        found = item.found
        is_sound = before is not None and not (before.problem or before.is_removed)
        sound = before if is_sound else None
        if sound is not None and found.modified and _stamp(found) == _stamp(sound):
            return None
        document = Document(
            document_id=document_id_of(self._library.number, found.place),
            number=self._library.number,
            source=item.source,
            name=self._names.get(found.place, found.name)[:NAME_CHARACTERS],
            place=found.place,
            kind=kind_of(found.place) or kind_of(self._names.get(found.place, "")),
            size_bytes=found.size_bytes,
            modified=found.modified,
            indexed_at=self._options.clock(),
            problem=item.problem,
        )
        return self._read(document, sound)

    def _read(self, document: Document, before: Document | None) -> Document | None:
        chunks: Sequence[Chunk] = ()
        try:
            if document.problem:
                raise SetupError(document.problem)
            data, kind = self._data(document)
            document = replace(
                document,
                kind=kind,
                size_bytes=document.size_bytes or len(data),
                sha256=hashlib.sha256(data).hexdigest(),
            )
            if before is not None and before.sha256 == document.sha256:
                self._store.touch(replace(document, indexed_at=before.indexed_at))
                return None
            chunks = chunks_of(document.name, sections_of(kind, data))
            if not chunks:
                raise SetupError("There is no text in it.")
        except (SetupError, OSError) as error:
            document = replace(document, problem=str(error), sha256="")
        self._changes.append((document, chunks))
        return document

    def _data(self, document: Document) -> tuple[bytes, str]:
        """The bytes of a document, and of what kind they are."""
        if is_address(document.place):
            answer = fetch(document.place, self._options.hosts)
            kind = kind_of_mime(answer.mime)
            if kind in ("", "text"):
                kind = kind_of(document.place.partition("?")[0]) or kind
            return answer.data, _readable(kind)
        kind = _readable(document.kind)
        if document.size_bytes > SIZE_LIMIT_BYTES:
            raise SetupError("It has more than 50 MB.", hint="Add the part that matters.")
        return Path(document.place).read_bytes(), kind

    def _counted(self, progress: IndexingProgress, document: Document | None) -> IndexingProgress:
        if document is None:
            return progress
        return replace(
            progress,
            changed=progress.changed + (not document.problem),
            problems=progress.problems + bool(document.problem),
            reasons=(*progress.reasons, *_reason(document))[:REASON_LIMIT],
        )

    def _write(self, at_least: int) -> None:
        if self._changes and sum(len(chunks) or 1 for _, chunks in self._changes) >= at_least:
            for change in self._changes:
                self._keep_long(*change)
            self._store.keep([change for change in self._changes if not _is_long(change)])
            self._changes = []
            time.sleep(BREATH_SECONDS)

    def _keep_long(self, document: Document, chunks: Sequence[Chunk]) -> None:
        """Write a very long document in several transactions; it counts once the last is done."""
        if not _is_long((document, chunks)):
            return
        unread = replace(document, sha256="", problem="It was not read to its end.")
        self._store.keep([(unread, chunks[:BATCH_CHUNKS])])
        for start in range(BATCH_CHUNKS, len(chunks), BATCH_CHUNKS):
            time.sleep(BREATH_SECONDS)
            self._store.append(document, chunks[start : start + BATCH_CHUNKS], start)
        self._store.touch(document)

    def _embed(self, progress: IndexingProgress, stop: Stop) -> Iterator[IndexingProgress]:
        """Give every piece a vector that has none of the model that is set."""
        embedder = self._options.embedder
        number, database = self._library.number, self._store.database
        yield replace(progress, name="")
        while embedder is not None and not stop.is_set():
            missing = unembedded(database, number, embedder.model, EMBEDDED_AT_ONCE)
            if not missing:
                return
            try:
                texts = tuple(item.text for item in missing)
                vectors = embedder.embed(texts, EMBEDDING_SECONDS)
            except LMError as error:
                yield replace(progress, name="", notice=f"There are no vectors: {error}")
                return
            pairs = zip((item.sha256 for item in missing), vectors, strict=True)
            keep_vectors(database, embedder.model, pairs)
            yield replace(progress, name=f"vectors of {embedder.model}")


def _reason(document: Document) -> tuple[str, ...]:
    return (f"{document.name}: {document.problem}",) if document.problem else ()


def _gone(
    known: Iterable[Document], places: Sequence[str], there: set[str]
) -> tuple[Document, ...]:
    wanted = set(places)
    return tuple(
        document for document in known if document.source in wanted and document.place not in there
    )


def _is_of_another(before: Document | None, item: _Listed, places: set[str]) -> bool:
    """Whether another place has this document, and nobody has named it now."""
    if before is None or before.source == item.source:
        return False
    is_wanted = before.is_removed and item.source == item.found.place
    return before.source in places and not is_wanted


def _is_long(change: Change) -> bool:
    return len(change[1]) > 2 * BATCH_CHUNKS


def _stamp(file: SourceFile | Document) -> tuple[int, int]:
    return file.size_bytes, file.modified


def _readable(kind: str) -> str:
    if not kind:
        raise SetupError("Files of this kind cannot be read.", hint="Save it as text.")
    return kind


# Indexing beside everything else: one thread that can be watched and stopped.


Work = Callable[[Stop], Iterator[IndexingProgress]]


class Indexing:
    """Work that goes on in a thread from the moment this is made."""

    def __init__(self, work: Work) -> None:
        self.progress = IndexingProgress(0, 0)
        """How far it is."""
        self.error: Exception | None = None
        """Why it ended early."""
        self._stop = Stop()
        self._work = work
        self._thread = WorkerThread(self._run, name="library")
        self._thread.start()

    @property
    def is_going_on(self) -> bool:
        """Whether it has not ended yet."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End it after the document that is read now; what was read is kept."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Whether it has ended within so long; None: however long it takes."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            for progress in self._work(self._stop):
                self.progress = progress
        except Exception as error:  # told by whoever waits for it
            self.error = error
