"""What a question gets from the library: pieces that answer it, and the tool ``search_library``.

There is one way: the best pieces stand beside the question, quoted, with the numbers that
``search_library`` uses too. Where nothing fits nothing is said, unless the person asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, ClassVar

from cellwright.context.assemble import Quoted
from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.knowledge.library import HIT_LIMIT, Hit, Library
from cellwright.knowledge.library.citations import (
    DATA_NOTE,
    ChatNumbers,
    Numbering,
    place_words,
    quoted_label,
    reference,
)
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.searching import Scope, asks_for_library, read_query
from cellwright.record.content import ComponentOutput, text
from cellwright.record.events import Notice
from cellwright.settings import Settings
from cellwright.store.database import Database
from cellwright.text.truncation import estimate_tokens
from cellwright.tools import Component, Risk, ToolContext, ToolYield

# ``search_library``: the model asks the documents of this project.


TOKEN_LIMIT = 2_000
HEAD = f"[{DATA_NOTE}; cite what you use with its number, such as [{{first}}]]"
NOTHING = "The library has nothing about {query!r}. Try other words, or answer without it."
EMPTY = "No library is open to this run. The person can add one: %agent library add FOLDER."


class SearchLibrary(Component):
    """Searches the documents that the person has added.

    Args:
        libraries: Where they are.
        numbering: Numbers of what was found, and where runs may look.
    """

    name: ClassVar[str] = "search_library"
    risk: ClassVar[Risk] = "read"

    def __init__(self, libraries: Libraries, numbering: Numbering, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._libraries = libraries
        self._numbering = numbering

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"look in the library for {arguments.get('query')}"

    def tool_eval(self, context: ToolContext, query: str) -> Iterator[ToolYield]:
        """Search the person's documents: guides, data dictionaries, notebooks, papers.

        Cite what you use in the answer as [number].

        Args:
            query: A few telling words, or a question.
        """
        scope = self._scope(context)
        if not scope.libraries:
            yield text(EMPTY, scope="llm")
            return
        results = self._libraries.searcher.search(scope, query, HIT_LIMIT)
        hits = within_tokens(results.hits)
        if not hits:
            yield text(NOTHING.format(query=query), scope="llm")
            return
        numbers = self._numbering.of(context.chat_id)
        yield text(_told(hits, numbers), scope="llm")
        shown = tuple(reference(numbers.number_of(hit), hit) for hit in hits)
        yield ComponentOutput(shown)

    def _scope(self, context: ToolContext) -> Scope:
        allowed = self._numbering.scope(context.run_id)
        if allowed is not None:
            return allowed
        # called by hand: whoever calls works in this kernel
        folder = context.kernel.describe().cwd or str(Path.cwd())
        return Scope(self._libraries.defaults(folder))


def within_tokens(hits: tuple[Hit, ...], limit: int = TOKEN_LIMIT) -> tuple[Hit, ...]:
    """The first hits that fit into so many tokens, at least one."""
    kept: list[Hit] = []
    room = limit
    for hit in hits:
        room -= estimate_tokens(hit.text) + estimate_tokens(hit.heading)
        if room < 0 and kept:
            break
        kept.append(hit)
    return tuple(kept)


def _told(hits: tuple[Hit, ...], numbers: ChatNumbers) -> str:
    blocks = [HEAD.format(first=numbers.number_of(hits[0]))]
    for hit in hits:
        blocks.append(f"[{numbers.number_of(hit)}] {place_words(hit)}\n{hit.text}")
    return "\n\n".join(blocks)


ERROR_NAME = re.compile(r"\b\w*(?:Error|Exception|Warning|Interrupt)\b")
NO_RESULTS = Quoted("library", "No document of the library fits this question.")
GUEST = (
    "Guests have no library but a public assistant's; CELLWRIGHT_GUEST=yes makes whoever asks here "
    "a guest."
)
GIVEN = "Quoted earlier in this conversation; search_library shows it again."
FOUND_BY_CHARACTERS = 60
LEAST_TERMS = 2
"""A piece that shares less with a question, or half as much as the best, is no answer to it."""


class LibrarySource:
    """The documents of the folder's project, or those that the assistant may read.

    Args:
        libraries: Where they are.
    """

    name = "library"

    def __init__(self, libraries: Libraries) -> None:
        self._libraries = libraries
        self._numbering = Numbering()
        self._tool = SearchLibrary(libraries, self._numbering)
        self._has_documents = False

    @classmethod
    def of(cls, database: Database, settings: Settings) -> LibrarySource:
        """Make the one over a database; an entry point names it."""
        return cls(Libraries(database, settings))

    def components(self) -> tuple[Component, ...]:
        """The tool that searches, from the first document on."""
        self._has_documents = self._has_documents or not self._libraries.store.is_empty
        return (self._tool,) if self._has_documents else ()

    def begin(self, turn: SourceQuestion) -> None:
        """Note where the tool of a run may look."""
        self._numbering.allow(turn.run_id, self._scope(turn))

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """The best pieces for the question, as far as they really fit it."""
        scope = self._scope(turn)
        self._numbering.allow(turn.run_id, scope)
        if not scope.libraries:
            is_told = turn.is_guest and asks_for_library(turn.prompt)
            return RetrievalResult(notices=(GUEST,) if is_told else ())
        query = _query(turn)
        results = self._libraries.searcher.search(scope, query, HIT_LIMIT)
        hits = within_tokens(tuple(_fitting(results.hits, turn.prompt)))
        problems = (results.problem,) if results.problem else ()
        if not hits:
            blocks = (NO_RESULTS,) if asks_for_library(turn.prompt) else ()
            return RetrievalResult(blocks, problems=problems)
        return self._found(hits, turn, problems)

    def _found(
        self, hits: tuple[Hit, ...], turn: SourceQuestion, problems: tuple[str, ...]
    ) -> RetrievalResult:
        said = turn.said()
        numbers = self._numbering.of(turn.chat_id, said)
        blocks, told, sources = [], [], []
        for hit in hits:
            number = numbers.number_of(hit)
            # a turn that quoted it may have been summed up or taken back
            is_given = not numbers.is_new(hit) and _first_words(hit.text) in said
            words = GIVEN if is_given else hit.text
            blocks.append(Quoted(quoted_label(number, hit), words))
            told.append(f"[{number}] {place_words(hit)}")
            sources.append(reference(number, hit))
        words = f"From the library: {'; '.join(told)}."
        notice = Notice("info", words, code="looked_up", contents=tuple(sources))
        return RetrievalResult(tuple(blocks), (notice,), problems)

    def _scope(self, turn: SourceQuestion) -> Scope:
        """Where this question may be looked up; a guest needs a public assistant with a library."""
        assistant = turn.assistant
        wanted = assistant.library
        if turn.is_guest and not (assistant.is_public and wanted):
            return Scope(())
        if wanted is None:
            return Scope(self._libraries.defaults(turn.folder))
        if not wanted:
            return Scope(())

        def may_read(library: Library, hit: Hit) -> bool:
            return assistant.may_read(library.name, hit.name, hit.place)

        return Scope(self._libraries.above(turn.folder), may_read)


def _first_words(text: str) -> str:
    """Enough of a piece to find it where it was quoted, whatever its lines are indented by."""
    return next(filter(None, map(str.strip, text.splitlines())), "")[:FOUND_BY_CHARACTERS]


def _query(turn: SourceQuestion) -> str:
    """The message, and the name of the error that the last cell ended with (002-59)."""
    error = ERROR_NAME.search(turn.last_error)
    return f"{turn.prompt} {error[0]}" if error else turn.prompt


def _fitting(hits: Iterable[Hit], prompt: str) -> list[Hit]:
    """The pieces that share enough with the question, in words or meaning, to be worth tokens."""
    terms = read_query(prompt)
    wanted = [_stem(word) for word in terms.words] + [*terms.parts, *terms.short]
    shared = [(_shared(hit, wanted), hit) for hit in hits]
    best = max((count for count, _ in shared), default=0)
    least = max(1, min(LEAST_TERMS, len(wanted)), -(-best // 2))
    return [hit for count, hit in shared if hit.is_near or count >= least]


def _shared(hit: Hit, terms: Iterable[str]) -> int:
    words = f"{hit.heading}\n{hit.text}".lower()
    return sum(term in words for term in terms)


def _stem(word: str) -> str:
    for ending in ("ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 4:
            return word.removesuffix(ending)
    return word
