"""What answers a question best: lists by words and one by meaning, joined by rank.

Documents and old turns are both found this way. What was found by words and has no vector yet is
given one in the one request that the question's own vector takes.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from cellwright.errors import LMError
from cellwright.llm.embedding import Embedder

Key = TypeVar("Key")
"""What a vector is kept under."""

# The nearest of many texts, in an order that does not depend on how they were compared.


FEW_TEXTS = 20
"""Among fewer, how near most of them are says nothing."""
CLEARLY_NEAR = 0.35
CLEARLY_NEAR_OF_FEW = 0.5
NEARER = 1e-6
"""Of texts that are all as near, rounding lets none stand out."""
ROUNDING = 2.0**-23
"""A product of 32-bit numbers is off by less than this for each of them."""
EXACT_AT_ONCE = 256


@dataclass(frozen=True)
class Near:
    """A text and how near it is."""

    text_id: int
    cosine: float
    stands_out: bool = False
    """Nearer than any is by chance: it fits also where it shares no word."""


class Vectors(Protocol):
    """Texts with vectors, wherever those are."""

    @property
    def text_ids(self) -> Any:
        """The texts."""
        ...

    def cosines(self, wanted: Any) -> Any:
        """How near each text is, as 32-bit numbers tell it."""
        ...

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the texts, by their positions."""
        ...


@dataclass(frozen=True)
class LoadedVectors:
    """The texts that have a vector, and the rows those are in; never changed once it is made."""

    text_ids: Any
    places: Any
    rows: Any

    def cosines(self, wanted: Any) -> Any:
        """How near each text is."""
        return (self.rows @ wanted)[self.places]

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the texts, by their positions."""
        return self.rows[self.places[positions]]


def find_nearest(vectors: Vectors, wanted: Any, limit: int) -> tuple[Near, ...]:
    """Find the nearest texts, the nearest first; of equals, the one with the lowest number."""
    import numpy

    if not len(vectors.text_ids):
        return ()
    cosines = vectors.cosines(wanted)
    count = min(limit, len(cosines))
    # 32-bit numbers tell only which texts may be among the nearest.
    margin = 2 * ROUNDING * (len(wanted) + 8)
    edge = numpy.partition(cosines, -count)[-count] - margin
    positions = numpy.flatnonzero(cosines >= edge)
    starts = range(0, len(positions), EXACT_AT_ONCE)
    parts = [vectors.numbers(positions[start : start + EXACT_AT_ONCE]) for start in starts]
    # A sum of 64-bit numbers along each row is the same for the same vector, whatever is beside it.
    exact = numpy.concatenate([(part.astype("float64") * wanted).sum(axis=1) for part in parts])
    text_ids = vectors.text_ids[positions]
    order = numpy.lexsort((text_ids, -exact))[:limit]
    least = _least(cosines)
    return tuple(
        Near(int(text_ids[at]), float(exact[at]), float(exact[at]) >= least) for at in order
    )


def _least(cosines: Any) -> float:
    """How near a text has to be to fit by its meaning alone.

    Models differ in how near they put texts that have nothing in common, and of many such texts
    the nearest is further from their mean: by about the square root of 2 ln n deviations.
    """
    if len(cosines) < FEW_TEXTS:
        return CLEARLY_NEAR_OF_FEW
    chance = max(3.0, math.sqrt(2 * math.log(len(cosines))))
    mean, deviation = cosines.mean(dtype="float64"), cosines.std(dtype="float64")
    return max(CLEARLY_NEAR, float(mean + chance * deviation + NEARER))


RANK_SHIFT = 60
"""How much the first places of a list count for."""
NEAR = 0.3
"""A vector that is less near says nothing."""
QUERY_SECONDS = 2.0
EMBEDDED_AT_ONCE = 32
PAUSE_SECONDS = 60.0
"""After a failure of the service, words alone are looked for so long."""


class Embedded(Protocol[Key]):
    """The texts that a question is compared with by meaning."""

    def missing(self, found: Sequence[int], limit: int) -> Sequence[tuple[Key, str]]:
        """Texts without a vector that are to get one now, each with its key.

        Args:
            found: What was found by words, list after list.
            limit: How many at most.
        """
        ...

    def keep(self, vectors: Iterable[tuple[Key, bytes]]) -> None:
        """Keep vectors by the keys of their texts."""
        ...

    def nearest(self, wanted: bytes, limit: int) -> Sequence[Near]:
        """The texts whose vectors are nearest, the nearest first."""
        ...


@dataclass(frozen=True)
class Ranking:
    """What was found."""

    scores: Mapping[int, float] = field(default_factory=dict)
    """By number of the text, the best first."""
    near: frozenset[int] = frozenset()
    """Those that fit by their meaning alone."""
    problem: str = ""
    """Why vectors were not looked at, though they are set."""


class Retriever:
    """Ranks texts for questions; safe to use from any thread.

    Args:
        embedder: Gives a question its vector; None: words alone.
    """

    def __init__(self, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._at_once = EMBEDDED_AT_ONCE
        self._paused_until = 0.0

    def rank(
        self, query: str, by_words: Sequence[Sequence[int]], texts: Embedded[Key], limit: int
    ) -> Ranking:
        """Join what was found by words with what is near by meaning.

        Args:
            query: The question.
            by_words: Numbers of texts, the best of each list first.
            texts: What the question's vector is compared with.
            limit: So many of the nearest are joined.
        """
        near: Sequence[Near] = ()
        problem = ""
        try:
            near = self._near(query, by_words, texts, limit)
        except LMError as error:
            problem = str(error)
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            # a service that was too slow for many may be quick enough for few
            self._at_once = max(1, self._at_once // 4)
        scores = fuse([*by_words, [item.text_id for item in near]])
        return Ranking(scores, frozenset(i.text_id for i in near if i.stands_out), problem)

    def _near(
        self, query: str, by_words: Sequence[Sequence[int]], texts: Embedded[Key], limit: int
    ) -> Sequence[Near]:
        embedder = self._embedder
        if embedder is None or time.monotonic() < self._paused_until or not query.strip():
            return ()
        found = tuple(dict.fromkeys(number for numbers in by_words for number in numbers))
        missing = texts.missing(found, self._at_once)
        asked = (query, *(text for _, text in missing))
        wanted, *vectors = embedder.embed(asked, QUERY_SECONDS)
        if missing:
            texts.keep(zip((key for key, _ in missing), vectors, strict=True))
            self._at_once = min(EMBEDDED_AT_ONCE, 2 * self._at_once)
        return [item for item in texts.nearest(wanted, limit) if item.cosine >= NEAR]


def fuse(lists: Iterable[Iterable[int]]) -> dict[int, float]:
    """Join ranked lists by reciprocal rank: each number with its score, the best first."""
    scores: dict[int, float] = {}
    for numbers in lists:
        for rank, found in enumerate(numbers, start=1):
            scores[found] = scores.get(found, 0.0) + 1 / (RANK_SHIFT + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
