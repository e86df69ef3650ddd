"""The epochs of a sample as one number, in several ways, each with its interval over the samples.

``mean`` and ``mode`` say how a sample goes as a rule, ``pass@k`` whether one of k tries passes,
``pass^k`` whether all of them do, ``at_least_k`` whether k of all its tries passed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from cellwright.bench.statistics import (
    Estimate,
    Observation,
    estimate,
    mean,
    pass_at_k,
    pass_hat_k,
)

PASSED = 1.0


class Reducer(Protocol):
    """The values of a sample's epochs as one."""

    def __call__(self, values: Sequence[float], /) -> float:
        """Reduce them."""
        ...


def mode(values: Sequence[float]) -> float:
    """The value most epochs have; of several, the lowest: what is in doubt has not passed."""
    counts = Counter(values)
    most = max(counts.values(), default=0)
    return min((value for value, count in counts.items() if count == most), default=0.0)


def at_least_k(values: Sequence[float], k: int) -> float:
    """1 where at least ``k`` epochs passed.

    Raises:
        ValueError: There are not so many epochs.
    """
    if not 1 <= k <= len(values):
        raise ValueError(f"k={k}: there are {len(values)} epochs")
    return float(_passed(values) >= k)


def _passed(values: Iterable[float]) -> int:
    return sum(value >= PASSED for value in values)


def _at_k(values: Sequence[float], k: int) -> float:
    return pass_at_k(len(values), _passed(values), k)


def _hat_k(values: Sequence[float], k: int) -> float:
    return pass_hat_k(len(values), _passed(values), k)


def reducers(epochs: int) -> dict[str, Reducer]:
    """What can be said of so many epochs, by name; k is 2, 4, 8 … and all of them."""
    found: dict[str, Reducer] = {"mean": mean, "mode": mode}
    powers = [2**power for power in range(1, epochs.bit_length())]
    for k in sorted({k for k in (*powers, epochs) if 2 <= k <= epochs}):
        found[f"pass@{k}"] = partial(_at_k, k=k)
        found[f"pass^{k}"] = partial(_hat_k, k=k)
        found[f"at_least_{k}"] = partial(at_least_k, k=k)
    return found


def reduce_epochs(
    tries: Mapping[Hashable, Sequence[Observation]], names: Iterable[str] = ()
) -> dict[str, Estimate]:
    """Each reducer over all samples; none where a sample has only one epoch.

    Args:
        tries: The epochs of each sample; of one with more than another has, all are used.
        names: Some of the reducers; empty: all.

    Raises:
        ValueError: A reducer is not known, or needs more epochs.
    """
    epochs = min((len(some) for some in tries.values()), default=1)
    known = reducers(epochs) if epochs > 1 else {}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise ValueError(f"{unknown[0]!r} cannot be told of {epochs} epochs")
    return {name: _over_samples(tries, known[name]) for name in (names or known)}


def _over_samples(tries: Mapping[Hashable, Sequence[Observation]], reducer: Reducer) -> Estimate:
    found = estimate(
        [
            Observation(key, some[0].family, reducer([seen.value for seen in some]))
            for key, some in tries.items()
        ]
    )
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
