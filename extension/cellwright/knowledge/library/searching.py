"""The pieces that answer a question best: by words, by parts of words, by vectors, joined by rank.

Words that thousands of pieces hold tell little and cost most, so rarer ones are asked for alone
where there are any.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from cellwright.knowledge.library import HIT_LIMIT, Hit, Library
from cellwright.knowledge.library.nearness import Nearness
from cellwright.knowledge.library.store import (
    IndexName,
    count_matching,
    hits_of,
    matching,
    trigrams_from,
)
from cellwright.knowledge.library.store_vectors import keep_vectors, unembedded
from cellwright.knowledge.retrieval import Near, Ranking, Retriever
from cellwright.llm.embedding import Embedder
from cellwright.store.database import Database

# A question as terms that can be looked up: words, and parts of Chinese sentences.


TERM_LIMIT = 16
CHINESE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
RUN = re.compile(f"[{CHINESE}]+")
WORD = re.compile(rf"[^\W{CHINESE}]+(?:[._-][^\W{CHINESE}]+)*")
PARTICLES = re.compile(
    "为什么|是什么|有什么|什么|怎么样|怎样|怎么|如何|哪些|哪个|多少|请问|可以|我们|你们|他们"
    "|[的了是吗呢和在请把被与或及有我你他这那]"
)
STOP_WORDS_TEXT = (
    "a about above after again all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing done down during each find for from further "
    "get give had has have having he her here hers him his how i if in into is it its just let "
    "like make many may me more most much must my need no nor not now of off on once only or other "
    "our ours out over own please say says she should show so some such take tell than that the "
    "their them then there these they this those through to too under until up us use used using "
    "very want was we were what when where which while who whom why will with would you your "
    "yours"
)
STOP_WORDS = frozenset(STOP_WORDS_TEXT.split())
ASKS = re.compile(
    r"\b(?:librar(?:y|ies)|knowledge ?base|(?:my|our|the|these|those|project) (?:documents?|docs)"
    r"|documentation)\b|资料库|知识库|文档库|文档里|资料里",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QueryTerms:
    """What is looked for."""

    words: tuple[str, ...] = ()
    """Whole words, in lower case."""
    parts: tuple[str, ...] = ()
    """Three signs in a row of a sentence that has no blanks."""
    short: tuple[str, ...] = ()
    """Chinese words of one or two signs, too short for an index."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.words) + len(self.parts) + len(self.short)


def read_query(text: str) -> QueryTerms:
    """The terms of a question, without what every text says."""
    words = [word for word in words_in(text) if word not in STOP_WORDS and len(word) > 1]
    pieces = [piece for run in RUN.findall(text) for piece in PARTICLES.split(run) if piece]
    parts = [run[at : at + 3] for run in pieces for at in range(len(run) - 2)]
    short = [run for run in pieces if len(run) < 3]
    return QueryTerms(
        tuple(dict.fromkeys(words))[:TERM_LIMIT],
        tuple(dict.fromkeys(parts))[:TERM_LIMIT],
        tuple(dict.fromkeys(short))[:TERM_LIMIT],
    )


def words_in(text: str) -> list[str]:
    """All words that are written with letters, in lower case."""
    return [found.lower() for found in WORD.findall(text)]


def asks_for_library(text: str) -> bool:
    """Whether the words are about the documents themselves."""
    return ASKS.search(text) is not None


COMMON = 2_000
"""A word in so many pieces is left out where others are not."""
BEGINNINGS = 60
"""So many trigrams that begin with a short word are looked for."""
TAKEN = 30
TAKEN_OF_SOME = 300
"""Where only some documents may be read."""


@dataclass(frozen=True)
class Scope:
    """Where is looked."""

    libraries: tuple[Library, ...]
    may_read: Callable[[Library, Hit], bool] | None = None
    """Which pieces may be shown; None: all."""


@dataclass(frozen=True)
class Results:
    """What was found."""

    hits: tuple[Hit, ...] = ()
    problem: str = ""
    """Why vectors were not looked at, though they are set."""


@dataclass(frozen=True)
class _Pieces:
    """The pieces of a library that one question is compared with."""

    database: Database
    library: Library
    model: str
    nearness: Nearness

    def missing(self, found: Sequence[int], limit: int) -> Sequence[tuple[str, str]]:
        some = found[:limit]
        if not some:
            return ()
        pieces = unembedded(self.database, self.library.number, self.model, len(some), some)
        return [(piece.sha256, piece.text) for piece in pieces]

    def keep(self, vectors: Iterable[tuple[str, bytes]]) -> None:
        keep_vectors(self.database, self.model, vectors)

    def nearest(self, wanted: bytes, limit: int) -> Sequence[Near]:
        return self.nearness.nearest(self.library, self.model, wanted, limit)


class Searcher:
    """Searches the libraries of one database; safe to use from any thread.

    Args:
        database: Where they are.
        embedder: Gives the question a vector; None: words alone.
        memory_bytes: How much memory the pieces' vectors may take.
    """

    def __init__(self, database: Database, embedder: Embedder | None, memory_bytes: int) -> None:
        self._database = database
        self._model = embedder.model if embedder is not None else ""
        self._retriever = Retriever(embedder)
        self._nearness = Nearness(database, memory_bytes)

    def search(self, scope: Scope, query: str, limit: int = HIT_LIMIT) -> Results:
        """The best pieces for a question, each text once, the best first."""
        query = query.encode("utf-8", "replace").decode()
        terms = read_query(query)
        taken = TAKEN if scope.may_read is None else TAKEN_OF_SOME
        hits: list[Hit] = []
        problem = ""
        for library in scope.libraries:
            by_words = self._by_words(library, terms, taken)
            pieces = _Pieces(self._database, library, self._model, self._nearness)
            ranking = self._retriever.rank(query, by_words, pieces, taken)
            if ranking.problem:
                problem = f"The library was searched by words alone: {ranking.problem}"
            found = self._hits(ranking)
            if scope.may_read is not None:
                found = [hit for hit in found if scope.may_read(library, hit)]
            hits += found
        return Results(tuple(_best(hits, limit)), problem)

    def _by_words(self, library: Library, terms: QueryTerms, taken: int) -> list[tuple[int, ...]]:
        counts = {word: self._count("words", library, _quoted(word)) for word in terms.words}
        known = {_quoted(word): count for word, count in counts.items() if count}
        # What is no word anywhere may be a part of one.
        rest = [word for word in terms.words if not counts[word] and len(word) > 2]
        parts = [*map(_quoted, (*rest, *terms.parts)), *self._beginnings(terms)]
        held = {part: self._count("trigrams", library, part) for part in parts}
        return [
            self._ranked("words", library, known, taken),
            self._ranked("trigrams", library, {p: n for p, n in held.items() if n}, taken),
        ]

    def _beginnings(self, terms: QueryTerms) -> list[str]:
        """Words too short for the index, each as the trigrams that begin with it."""
        pairs = [word for word in terms.short if len(word) > 1]
        is_all = not (pairs or terms.words or terms.parts)
        found = (
            trigrams_from(self._database, word, BEGINNINGS)
            for word in (terms.short if is_all else pairs)
        )
        return [f"({_any(map(_quoted, trigrams))})" for trigrams in found if trigrams]

    def _ranked(
        self, index: IndexName, library: Library, counts: dict[str, int], taken: int
    ) -> tuple[int, ...]:
        if not counts:
            return ()
        rare = [part for part, count in counts.items() if count < COMMON]
        number = library.number
        if rare:
            return matching(self._database, index, _any(rare), number, taken)
        together = matching(self._database, index, _all(counts), number, taken)
        return together or matching(self._database, index, _any(list(counts)[:2]), number, taken)

    def _count(self, index: IndexName, library: Library, expression: str) -> int:
        return count_matching(self._database, index, expression, library.number, COMMON)

    def _hits(self, ranking: Ranking) -> list[Hit]:
        found = hits_of(self._database, ranking.scores) if ranking.scores else {}
        return [
            replace(found[chunk_id], score=round(score, 6), is_near=chunk_id in ranking.near)
            for chunk_id, score in ranking.scores.items()
            if chunk_id in found
        ]


def _best(hits: list[Hit], limit: int) -> Iterable[Hit]:
    texts: set[str] = set()
    for hit in sorted(hits, key=lambda hit: -hit.score):
        words = " ".join(hit.text.split())
        if words not in texts and len(texts) < limit:
            texts.add(words)
            yield hit


def _any(expressions: Iterable[str]) -> str:
    return " OR ".join(expressions)


def _all(expressions: Iterable[str]) -> str:
    return " AND ".join(expressions)


def _quoted(word: str) -> str:
    doubled = word.replace('"', '""')
    return f'"{doubled}"'
