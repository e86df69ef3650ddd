"""The nearest of many pieces, in an order that does not depend on how they were compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

FEW_PIECES = 20
"""Among fewer, how near most of them are says nothing."""
CLEARLY_NEAR = 0.35
CLEARLY_NEAR_OF_FEW = 0.5
NEARER = 1e-6
"""Of pieces that are all as near, rounding lets none stand out."""
ROUNDING = 2.0**-23
"""A product of 32-bit numbers is off by less than this for each of them."""
EXACT_AT_ONCE = 256


@dataclass(frozen=True)
class Near:
    """A piece and how near it is."""

    chunk_id: int
    cosine: float
    stands_out: bool = False
    """Nearer than any is by chance: it fits also where it shares no word."""


class Vectors(Protocol):
    """Pieces with vectors, wherever those are."""

    @property
    def chunk_ids(self) -> Any:
        """The pieces."""
        ...

    def cosines(self, wanted: Any) -> Any:
        """How near each piece is, as 32-bit numbers tell it."""
        ...

    def numbers(self, positions: Any) -> Any:
        """The vectors of some of the pieces, by their positions."""
        ...


@dataclass(frozen=True)
class Candidates:
    """Pieces that may be the nearest, and how near all are."""

    chunk_ids: Any
    numbers: Callable[[slice], Any]
    """The vectors of some of them."""
    count: int
    """Of all pieces that were compared."""
    mean: float
    deviation: float


def margin_of(dimension: int) -> float:
    """How much two ways to compare the same vectors may differ."""
    return 2 * ROUNDING * (dimension + 8)


def candidates_among(vectors: Vectors, wanted: Any, limit: int) -> Candidates:
    """The pieces of which the nearest are some."""
    import numpy

    cosines = vectors.cosines(wanted)
    count = min(limit, len(cosines))
    edge = numpy.partition(cosines, -count)[-count] - margin_of(len(wanted))
    positions = numpy.flatnonzero(cosines >= edge)
    return Candidates(
        vectors.chunk_ids[positions],
        lambda some: vectors.numbers(positions[some]),
        len(cosines),
        float(cosines.mean(dtype="float64")),
        float(cosines.std(dtype="float64")),
    )


def nearest_of(candidates: Candidates, wanted: Any, limit: int) -> tuple[Near, ...]:
    """The nearest, the nearest first; of those that are as near, the first in its library."""
    import numpy

    starts = range(0, len(candidates.chunk_ids), EXACT_AT_ONCE)
    parts = [candidates.numbers(slice(start, start + EXACT_AT_ONCE)) for start in starts]
    # A sum of 64-bit numbers along each row is the same for the same vector, whatever is beside it.
    exact = numpy.concatenate([(part.astype("float64") * wanted).sum(axis=1) for part in parts])
    order = numpy.lexsort((candidates.chunk_ids, -exact))[:limit]
    least = _least(candidates)
    return tuple(
        Near(int(candidates.chunk_ids[at]), float(exact[at]), float(exact[at]) >= least)
        for at in order
    )


def _least(candidates: Candidates) -> float:
    """How near a piece has to be to fit by its meaning alone.

    Models differ in how near they put texts that have nothing in common, and of many such pieces
    the nearest is further from their mean: by about the square root of 2 ln n deviations.
    """
    if candidates.count < FEW_PIECES:
        return CLEARLY_NEAR_OF_FEW
    chance = max(3.0, math.sqrt(2 * math.log(candidates.count)))
    return max(CLEARLY_NEAR, candidates.mean + chance * candidates.deviation + NEARER)
