"""Numbers about scores: never a mean alone, and epochs reduced to one number.

Sources: Wilson 1927 for the interval of a share; Chen et al. 2021 (arXiv 2107.03374) for pass@k;
Yao et al. 2024 (arXiv 2406.12045) for pass^k.
"""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol

NORMAL_95 = 1.959963984540054
RESAMPLES = 2_000
LOWER, UPPER = 0.025, 0.975
MANY_FAMILIES = 400
"""From so many on the bootstrap and the normal interval agree, and the bootstrap takes seconds."""


@dataclass(frozen=True)
class Observation:
    """One score of one sample."""

    sample: Hashable
    family: Hashable
    """Samples of one family vary together."""
    value: float


@dataclass(frozen=True)
class Estimate:
    """A number with its interval at 95 %."""

    value: float
    low: float
    high: float
    method: str
    """``wilson``, ``clustered bootstrap``, ``clustered normal`` or ``none``."""
    count: int


@dataclass(frozen=True)
class Comparison:
    """The second of two against the first, on the samples that both have."""

    difference: Estimate
    better: int
    """Samples where the second scores higher."""
    worse: int
    equal: int
    p_value: float
    """Two-sided sign test over the samples that differ (McNemar's exact test for pass and fail)."""


def mean(values: Iterable[float]) -> float:
    """The mean; of no values, 0."""
    listed = list(values)
    return math.fsum(listed) / len(listed) if listed else 0.0


def pass_at_k(tries: int, passed: int, k: int) -> float:
    """The chance that at least one of ``k`` tries passes, unbiased.

    Raises:
        ValueError: The numbers do not go together.
    """
    _check_tries(tries, passed, k)
    return 1.0 - math.comb(tries - passed, k) / math.comb(tries, k)


def pass_hat_k(tries: int, passed: int, k: int) -> float:
    """The chance that all of ``k`` tries pass, unbiased.

    Raises:
        ValueError: The numbers do not go together.
    """
    _check_tries(tries, passed, k)
    return math.comb(passed, k) / math.comb(tries, k)


def _check_tries(tries: int, passed: int, k: int) -> None:
    if not 0 <= passed <= tries or not 1 <= k <= tries:
        raise ValueError(f"tries={tries}, passed={passed}, k={k}: need passed and k up to tries")


def wilson(passed: float, total: int) -> Estimate:
    """The share of passed with Wilson's interval; of nothing, everything is possible."""
    if total == 0:
        return Estimate(0.0, 0.0, 1.0, "none", 0)
    share, z2 = passed / total, NORMAL_95**2
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = NORMAL_95 * math.sqrt(share * (1 - share) / total + z2 / (4 * total**2))
    half /= 1 + z2 / total
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Estimate(share, min(low, share), max(high, share), "wilson", total)


def bootstrap(observations: Sequence[Observation], seed: int = 0) -> Estimate:
    """The mean with a bootstrap interval that draws whole families.

    Args:
        observations: The scores.
        seed: Gives the same interval for the same scores.
    """
    value = mean(seen.value for seen in observations)
    families = _families(observations)
    if len(families) < 2:
        return Estimate(value, value, value, "none", len(observations))
    generator, drawn = random.Random(seed), []
    for _ in range(RESAMPLES):
        picked = generator.choices(families, k=len(families))
        drawn.append(sum(total for total, _ in picked) / sum(count for _, count in picked))
    drawn.sort()
    low, high = (drawn[min(int(q * RESAMPLES), RESAMPLES - 1)] for q in (LOWER, UPPER))
    return Estimate(
        value, min(low, value), max(high, value), "clustered bootstrap", len(observations)
    )


def clustered(observations: Sequence[Observation]) -> Estimate:
    """The mean with an interval that takes into account that families vary together."""
    families = _families(observations)
    if len(families) < MANY_FAMILIES:
        return bootstrap(observations)
    value, count = mean(seen.value for seen in observations), len(observations)
    squares = math.fsum((total - value * size) ** 2 for total, size in families)
    half = NORMAL_95 * math.sqrt(squares * len(families) / (len(families) - 1)) / count
    return Estimate(value, value - half, value + half, "clustered normal", count)


def _families(observations: Iterable[Observation]) -> list[tuple[float, int]]:
    """Of each family the sum and the number of its values."""
    sums: dict[Hashable, tuple[float, int]] = {}
    for seen in observations:
        total, count = sums.get(seen.family, (0.0, 0))
        sums[seen.family] = (total + seen.value, count + 1)
    return list(sums.values())


def estimate(observations: Sequence[Observation]) -> Estimate:
    """The mean with the interval that fits: Wilson's where every sample stands alone."""
    families = {seen.family for seen in observations}
    is_share = all(seen.value in (0.0, 1.0) for seen in observations)
    if is_share and (len(families) == len(observations) or len(families) < 2):
        return wilson(math.fsum(seen.value for seen in observations), len(observations))
    found = clustered(observations)
    if not is_share:
        return found
    return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))


def compare_paired(
    first: Mapping[Hashable, Observation], second: Mapping[Hashable, Observation]
) -> Comparison:
    """The second against the first, sample by sample.

    Args:
        first: By sample; what only one of the two has is left out.
        second: The same.
    """
    shared = [sample for sample in first if sample in second]
    differences = [
        Observation(key, first[key].family, second[key].value - first[key].value) for key in shared
    ]
    better = sum(seen.value > 0 for seen in differences)
    worse = sum(seen.value < 0 for seen in differences)
    return Comparison(
        clustered(differences),
        better,
        worse,
        len(differences) - better - worse,
        _sign_test(better, worse),
    )


def _sign_test(better: int, worse: int) -> float:
    total, fewer = better + worse, min(better, worse)
    tail = sum(math.comb(total, number) for number in range(fewer + 1))
    return min(1.0, float(2 * tail / 2**total))


# The epochs of a sample as one number, in several ways, each with its interval over the samples.
#
# ``mean`` and ``mode`` say how a sample goes as a rule, ``pass@k`` whether one of k tries passes,
# ``pass^k`` whether all of them do, ``at_least_k`` whether k of all its tries passed.


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
