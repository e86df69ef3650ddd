"""``cellwright library``: the documents of a project that models may ask."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.records import open_store
from cellwright.commands.terminal import one_line, stopping, table
from cellwright.errors import RunCancelled, SetupError
from cellwright.knowledge.library import IndexingProgress
from cellwright.knowledge.library.citations import place_words
from cellwright.knowledge.library.libraries import Libraries, library_users
from cellwright.knowledge.library.searching import Scope
from cellwright.record.values import to_dict
from cellwright.stopping import Stop

EVERY = 100
"""So many documents a line of progress is written."""
Work = Callable[[Stop], Iterator[IndexingProgress]]


def library(invocation: Invocation) -> int:
    """Do what the action says, for the project of the current folder."""
    action, words = invocation.options.action, invocation.options.words
    if bool(words) != (action in WITH_WORDS):
        what = "needs something to work on" if action in WITH_WORDS else "takes no words"
        raise SetupError(f"library {action} {what}.", hint="See cellwright library --help.")
    with open_store(invocation) as store:
        return ACTIONS[action](Libraries(store.database, invocation.settings), invocation)


def _add(libraries: Libraries, invocation: Invocation) -> int:
    options = invocation.options
    return _index(libraries.adding(options.words, os.getcwd(), options.name), invocation)


def _update(libraries: Libraries, invocation: Invocation) -> int:
    return _index(libraries.updating(os.getcwd()), invocation)


def _index(work: Work, invocation: Invocation) -> int:
    stop, progress = Stop(), IndexingProgress(0, 0)
    with stopping(stop):
        for progress in work(stop):
            if progress.name and progress.done % EVERY == 0 and progress.done:
                invocation.console.note(f"{progress.done:,} of {progress.total:,}")
    if stop.is_set():
        raise RunCancelled(stop.reason)
    if progress.notice:
        invocation.console.complain(progress.notice)
    words = f"{progress.changed} of {progress.total} documents read anew"
    more = f", {progress.problems} cannot be read" if progress.problems else ""
    reasons = [f"  {one_line(reason)}" for reason in progress.reasons]
    invocation.console.result(to_dict(progress), "\n".join([f"{words}{more}.", *reasons]))
    return COMPLETED if not progress.problems else NOT_COMPLETED


def _list(libraries: Libraries, invocation: Invocation) -> int:
    documents = libraries.documents(libraries.around(os.getcwd()))
    rows = [
        (item.document_id, item.kind, str(item.chunks), one_line(f"{item.name}  {item.problem}"))
        for item in documents
    ]
    text = table(("ID", "KIND", "<PIECES>", "DOCUMENT"), rows) if rows else "No documents."
    invocation.console.result({"documents": [to_dict(item) for item in documents]}, text)
    return COMPLETED


def _search(libraries: Libraries, invocation: Invocation) -> int:
    scope = Scope(libraries.around(os.getcwd()))
    results = libraries.searcher.search(scope, " ".join(invocation.options.words))
    if results.problem:
        invocation.console.complain(results.problem)
    lines = []
    for number, hit in enumerate(results.hits, start=1):
        lines += [f"[{number}] {one_line(place_words(hit))}", f"    {one_line(hit.text)[:400]}"]
    document = {"hits": [to_dict(hit) for hit in results.hits]}
    invocation.console.result(document, "\n".join(lines) or "Nothing was found.")
    return COMPLETED if results.hits else NOT_COMPLETED


def _remove(libraries: Libraries, invocation: Invocation) -> int:
    gone = [libraries.remove(word, os.getcwd()) for word in invocation.options.words]
    invocation.console.result({"removed": gone}, f"Removed: {', '.join(map(one_line, gone))}.")
    return COMPLETED


def _default(libraries: Libraries, invocation: Invocation) -> int:
    chosen = libraries.make_default(" ".join(invocation.options.words), os.getcwd())
    words = f"{one_line(chosen.name)} is the default library of this project."
    invocation.console.result(to_dict(chosen), words)
    return COMPLETED


def _forget(libraries: Libraries, invocation: Invocation) -> int:
    folder, options = os.getcwd(), invocation.options
    users = library_users(folder, invocation.settings.home)
    name = " ".join(options.words)
    gone = libraries.forget(name, folder, users, with_documents=options.all)
    words = f"The library {one_line(gone)!r} is deleted. The files stay."
    invocation.console.result({"forgotten": gone}, words)
    return COMPLETED


ACTIONS: Mapping[str, Callable[[Libraries, Invocation], int]] = {
    "add": _add,
    "list": _list,
    "search": _search,
    "remove": _remove,
    "update": _update,
    "default": _default,
    "forget": _forget,
}
WITH_WORDS = ("add", "search", "remove", "default", "forget")
