"""``library``: the documents of a project that models may ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from cellwright.commands import COMPLETED, NOT_COMPLETED, VerbContext
from cellwright.commands.records import make_redactor
from cellwright.commands.results import Result
from cellwright.commands.terminal import cut, one_line, stopping
from cellwright.errors import RunCancelled
from cellwright.knowledge.library import Document, IndexingProgress
from cellwright.knowledge.library.citations import place_words
from cellwright.knowledge.library.libraries import Libraries, library_users
from cellwright.knowledge.library.searching import Scope
from cellwright.record.values import to_dict
from cellwright.settings import not_for_guests
from cellwright.stopping import Stop

DOCUMENTS_SHOWN = 200
TEXT_CHARACTERS = 400
HEADINGS = ("id", "kind", "<pieces>", "vectors", "document", "problem")
Work = Callable[[Stop], Iterator[IndexingProgress]]


@contextmanager
def _open(context: VerbContext) -> Iterator[Libraries]:
    not_for_guests(context.settings, "The library")
    with context.open_store() as store:
        yield Libraries(store.database, context.settings)


def add(context: VerbContext) -> Result:
    """Read places into a library of the project."""
    with _open(context) as libraries:
        work = libraries.adding(context.words, os.getcwd(), context.options.name)
        return _index(work, context)


def update(context: VerbContext) -> Result:
    """Look at all places again."""
    with _open(context) as libraries:
        return _index(libraries.updating(os.getcwd()), context)


def _index(work: Work, context: VerbContext) -> Result:
    stop, progress = Stop(), IndexingProgress(0, 0)
    with stopping(stop):
        for progress in work(stop):
            if progress.name:
                context.show_progress(progress.done, progress.total, progress.name)
    if stop.is_set():
        raise RunCancelled("It was stopped; what was read is kept.")
    return Result(
        describe(progress),
        document=to_dict(progress),
        exit_code=NOT_COMPLETED if progress.problems else COMPLETED,
    )


def describe(progress: IndexingProgress) -> str:
    """Say what was read, and why the rest was not."""
    read = "1 document" if progress.changed == 1 else f"{progress.changed:,} documents"
    lines = [f"{read} read; {progress.done:,} of {progress.total:,} looked at."]
    if progress.problems:
        lines[0] += f" {progress.problems:,} cannot be read:"
        lines += [f"  {one_line(reason)}" for reason in progress.reasons]
    if progress.problems > len(progress.reasons):
        lines.append("  The list of documents says why of the rest.")
    return "\n".join([*lines, *filter(None, [progress.notice])])


def list_documents(context: VerbContext) -> Result:
    """List the documents of the project's libraries."""
    with _open(context) as libraries:
        documents = libraries.documents(libraries.around(os.getcwd()))
    more = len(documents) - DOCUMENTS_SHOWN
    text = f"The first {DOCUMENTS_SHOWN}; there are {more} more." if more > 0 else ""
    if not documents:
        text = f"The library is empty. {context.prefix}library add FOLDER fills it."
    document = {"documents": [to_dict(item) for item in documents]}
    rows = [_row(item) for item in documents[:DOCUMENTS_SHOWN]]
    return Result(text, HEADINGS, rows, documents, document)


def _row(document: Document) -> tuple[str, ...]:
    return (
        document.document_id,
        document.kind,
        str(document.chunks),
        "yes" if document.is_embedded else "no",
        document.name,
        cut(one_line(document.problem), TEXT_CHARACTERS),
    )


def search(context: VerbContext) -> Result:
    """Find what a model would be given for these words."""
    with _open(context) as libraries:
        scope = Scope(libraries.around(os.getcwd()))
        results = libraries.searcher.search(scope, context.words[0])
    rows, lines = [], []
    redactor = make_redactor(context.settings)
    hits = [redactor.event(hit) for hit in results.hits]
    for number, hit in enumerate(hits, start=1):
        place, words = one_line(place_words(hit)), cut(one_line(hit.text), TEXT_CHARACTERS)
        rows.append((f"[{number}]", place, words))
        lines += [f"[{number}] {place}", f"    {words}"]
    none = "" if results.hits else "Nothing was found."
    text = "\n".join(filter(None, [none, results.problem]))
    return Result(
        text,
        ("", "where", "text"),
        rows,
        hits,
        {"hits": [to_dict(hit) for hit in hits], "problem": results.problem},
        "\n".join(filter(None, [text, *lines])),
        COMPLETED if results.hits else NOT_COMPLETED,
    )


def remove(context: VerbContext) -> Result:
    """Take documents or places out."""
    with _open(context) as libraries:
        gone = [libraries.remove(word, os.getcwd()) for word in context.words]
    text = f"Removed from the library: {', '.join(map(one_line, gone))}. The files stay."
    return Result(text, document={"removed": gone})


def make_default(context: VerbContext) -> Result:
    """Choose the library that is asked where none is named."""
    with _open(context) as libraries:
        chosen = libraries.make_default(" ".join(context.words), os.getcwd())
    text = f"{one_line(chosen.name)!r} is the library of this project now."
    return Result(text, document=to_dict(chosen))


def forget(context: VerbContext) -> Result:
    """Delete a library; the files stay."""
    folder, name = os.getcwd(), " ".join(context.words)
    with _open(context) as libraries:
        users = library_users(folder, context.settings.home)
        gone = libraries.forget(name, folder, users, with_documents=context.options.all)
    text = f"The library {one_line(gone)!r} is deleted. The files stay."
    return Result(text, document={"forgotten": gone})
