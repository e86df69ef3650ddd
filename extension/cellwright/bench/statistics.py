"""Numbers about scores: never a mean alone, and epochs reduced to one number.

Sources: Wilson 1927 for the interval of a share of samples that stand alone; Agresti and Coull 1998
and Agresti and Caffo 2000 for the invented families at the ends of the range; Liang and Zeger 1986
for the error of samples that vary together, with Student's t as Cameron and Miller 2015 advise for
few families; Holm 1979 for several comparisons; Miller 2024 (arXiv 2411.00640) for what of the
error comes from running once; Chen et al. 2021 (arXiv 2107.03374) for pass@k; Yao et al. 2024
(arXiv 2406.12045) for pass^k. ``tests/bench/test_statistics.py`` holds the intervals against
simulated benchmarks of which the truth is known.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Protocol

NORMAL_95 = 1.959963984540054
NORMAL_80 = 0.8416212335729143
SHARE, DIFFERENCE = (0.0, 1.0), (-1.0, 1.0)
"""Between what values of this kind lie."""
ALL_BUT_NORMAL = 2_000
"""Degrees of freedom from which Student's t and the normal curve agree to three digits."""

Range = tuple[float, float]


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
    """``wilson``, ``clustered t`` or ``none``."""
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
    """Two-sided, of the test whose interval ``difference`` has: below 0.05 where 0 is outside."""
    detectable: float
    """The smallest difference that samples like these would show in four of five tries."""


@dataclass(frozen=True)
class Variance:
    """Why scores differ: between samples, and when one sample runs again."""

    between: float
    within: float
    rerun_error: float
    """The standard error of the mean that comes from running again alone: the samples stay."""


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


@dataclass(frozen=True)
class _Spread:
    """Where a mean is thought to lie, and how sure that is."""

    centre: float
    error: float
    freedom: int


def _spread(observations: Sequence[Observation], limits: Range | None) -> _Spread | None:
    """What families that vary together tell; None: of fewer than two, nothing.

    Args:
        observations: The scores.
        limits: Between what every value lies. At both ends a family of the usual size is invented,
            so that the interval does not collapse where all agree.
    """
    families = _families(observations)
    if len(families) < 2:
        return None
    usual = len(observations) / len(families)
    invented = [(end * usual, usual) for end in limits or ()]
    both = [*families, *invented]
    size = math.fsum(count for _, count in both)
    centre = math.fsum(total for total, _ in both) / size
    squares = math.fsum((total - centre * count) ** 2 for total, count in both)
    error = math.sqrt(squares * len(both) / (len(both) - 1)) / size
    return _Spread(centre, error, len(families) - 1)


def clustered(observations: Sequence[Observation], limits: Range | None = None) -> Estimate:
    """The mean with an interval that takes into account that families vary together.

    Args:
        observations: The scores.
        limits: Between what every value lies; None: anywhere, as seconds and dollars do.
    """
    value, count = mean(seen.value for seen in observations), len(observations)
    lowest, highest = limits or (-math.inf, math.inf)
    spread = _spread(observations, limits)
    if spread is None:
        low, high = limits or (value, value)
        return Estimate(value, low, high, "none", count)
    half = _t_quantile(spread.freedom) * spread.error
    low, high = max(lowest, spread.centre - half), min(highest, spread.centre + half)
    return Estimate(value, min(low, value), max(high, value), "clustered t", count)


def _families(observations: Iterable[Observation]) -> list[tuple[float, float]]:
    """Of each family the sum and the number of its values."""
    sums: dict[Hashable, tuple[float, float]] = {}
    for seen in observations:
        total, count = sums.get(seen.family, (0.0, 0))
        sums[seen.family] = (total + seen.value, count + 1)
    return list(sums.values())


def estimate(observations: Sequence[Observation]) -> Estimate:
    """The mean share of samples with the interval that fits.

    The epochs of a sample are its mean first, so that one with more epochs counts no more. Wilson's
    interval is that of samples which stand alone and pass or do not; where all are of one family,
    they stand alone in it.

    Args:
        observations: Values from 0 to 1; several of a sample are its epochs.
    """
    samples = _with_families(mean_of_epochs(observations))
    stand_alone = len({seen.family for seen in samples}) == len(samples)
    if stand_alone and all(seen.value in SHARE for seen in samples):
        found = wilson(math.fsum(seen.value for seen in samples), len(samples))
    else:
        found = clustered(samples, SHARE)
    return replace(found, count=len(observations))


def _with_families(samples: list[Observation]) -> list[Observation]:
    """The same; where all are of one family, each stands alone in it."""
    if len({seen.family for seen in samples}) > 1:
        return samples
    return [replace(seen, family=seen.sample) for seen in samples]


def mean_of_epochs(observations: Iterable[Observation]) -> list[Observation]:
    """One observation of each sample."""
    return [
        replace(some[0], value=mean(seen.value for seen in some))
        for some in _by_sample(observations).values()
    ]


def _by_sample(observations: Iterable[Observation]) -> dict[Hashable, list[Observation]]:
    found: dict[Hashable, list[Observation]] = {}
    for seen in observations:
        found.setdefault(seen.sample, []).append(seen)
    return found


def variance_of(observations: Iterable[Observation]) -> Variance | None:
    """Where scores differ; None: no sample ran twice, or there is one sample.

    Args:
        observations: Several of a sample are its epochs; their numbers may differ.
    """
    tries = [[seen.value for seen in some] for some in _by_sample(observations).values()]
    freedom = sum(len(some) - 1 for some in tries)
    if len(tries) < 2 or not freedom:
        return None
    within = math.fsum(_squares(some) for some in tries) / freedom
    of_means = math.fsum(within / len(some) for some in tries) / len(tries)
    between = _squares([mean(some) for some in tries]) / (len(tries) - 1) - of_means
    return Variance(max(0.0, between), within, math.sqrt(of_means / len(tries)))


def _squares(values: Sequence[float]) -> float:
    middle = mean(values)
    return math.fsum((value - middle) ** 2 for value in values)


def compare_paired(
    first: Mapping[Hashable, Observation], second: Mapping[Hashable, Observation]
) -> Comparison:
    """The second against the first, sample by sample; interval and p-value are of one test.

    Args:
        first: By sample; what only one of the two has is left out.
        second: The same.
    """
    differences = [
        replace(seen, value=second[key].value - seen.value)
        for key, seen in first.items()
        if key in second
    ]
    differences = _with_families(differences)
    better = sum(seen.value > 0 for seen in differences)
    worse = sum(seen.value < 0 for seen in differences)
    difference = clustered(differences, DIFFERENCE)
    spread = _spread(differences, DIFFERENCE)
    p_value, detectable = 1.0, 1.0
    if spread is not None:
        p_value = _t_tails(abs(spread.centre) / spread.error, spread.freedom)
        needed = (_t_quantile(spread.freedom) + NORMAL_80) * spread.error
        detectable = min(1.0, needed)
    equal = len(differences) - better - worse
    return Comparison(difference, better, worse, equal, p_value, detectable)


def adjust_p_values(p_values: Sequence[float]) -> list[float]:
    """Each p-value as it stands among several comparisons, by Holm's rule."""
    adjusted, largest = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = largest
    return adjusted


def _t_tails(value: float, freedom: int) -> float:
    """How often Student's t is further from 0 than this; Abramowitz and Stegun 26.7.3 and .4."""
    if freedom >= ALL_BUT_NORMAL:
        return math.erfc(value / math.sqrt(2))
    angle = math.atan2(value, math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    is_odd = freedom % 2 == 1
    term = total = 0.0 if freedom == 1 else cosine if is_odd else 1.0
    for step in range(2 + is_odd, freedom - 1, 2):
        term *= cosine**2 * (step - 1) / step
        total += term
    inside = 2 / math.pi * (angle + sine * total) if is_odd else sine * total
    return min(1.0, max(0.0, 1.0 - inside))


@lru_cache(maxsize=256)
def _t_quantile(freedom: int) -> float:
    """What Student's t exceeds in either direction once in twenty."""
    low, high = 1.0, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_tails(middle, freedom) > 0.05 else (low, middle)
    return high


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


def reduce_epochs(tries: Mapping[Hashable, Sequence[Observation]]) -> dict[str, Estimate]:
    """Each reducer over all samples; none where a sample has only one epoch.

    Args:
        tries: The epochs of each sample; of one with more than another has, all are used.
    """
    epochs = min((len(some) for some in tries.values()), default=1)
    known = reducers(epochs) if epochs > 1 else {}
    return {name: _over_samples(tries, reducer) for name, reducer in known.items()}


def _over_samples(tries: Mapping[Hashable, Sequence[Observation]], reducer: Reducer) -> Estimate:
    return estimate(
        [
            Observation(key, some[0].family, reducer([seen.value for seen in some]))
            for key, some in tries.items()
        ]
    )
