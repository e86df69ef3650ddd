"""Several lists of what was found as one, by reciprocal rank."""

from __future__ import annotations

from collections.abc import Iterable

RANK_SHIFT = 60
"""How much the first places of a list count for."""


def fused(lists: Iterable[Iterable[int]]) -> dict[int, float]:
    """What is in any of the lists with its score, the best first.

    Args:
        lists: Ids, the best of each list first.
    """
    scores: dict[int, float] = {}
    for ids in lists:
        for rank, found in enumerate(ids, start=1):
            scores[found] = scores.get(found, 0.0) + 1 / (RANK_SHIFT + rank)
    return dict(sorted(scores.items(), key=lambda item: -item[1]))
