"""Statistics against values that are known, and by their properties."""

from __future__ import annotations

import itertools
import random
from collections.abc import Hashable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.bench.statistics import (
    SHARE,
    Comparison,
    Observation,
    adjust_p_values,
    clustered,
    compare_paired,
    estimate,
    mean,
    pass_at_k,
    pass_hat_k,
    variance_of,
    wilson,
)

tries = st.integers(1, 8).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(1, n))
)


@given(tries)
def test_pass_at_k_and_pass_hat_k_count_the_draws(numbers: tuple[int, int, int]) -> None:
    total, passed, k = numbers
    draws = list(itertools.combinations([True] * passed + [False] * (total - passed), k))
    assert pass_at_k(total, passed, k) == pytest.approx(mean(any(draw) for draw in draws))
    assert pass_hat_k(total, passed, k) == pytest.approx(mean(all(draw) for draw in draws))


@pytest.mark.parametrize("numbers", [(3, 4, 1), (3, -1, 1), (3, 1, 0), (3, 1, 4)])
def test_numbers_that_do_not_go_together_are_refused(numbers: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="passed and k up to tries"):
        pass_at_k(*numbers)


def test_wilson_gives_the_known_interval() -> None:
    found = wilson(8, 10)
    assert (found.low, found.high) == (
        pytest.approx(0.4902, abs=1e-4),
        pytest.approx(0.9433, abs=1e-4),
    )
    assert wilson(0, 10).low == 0.0
    assert wilson(0, 10).high == pytest.approx(0.2775, abs=1e-4)
    assert wilson(164, 164).high == 1.0


def test_of_nothing_everything_is_possible() -> None:
    assert (wilson(0, 0).low, wilson(0, 0).high) == (0.0, 1.0)
    assert mean([]) == 0.0
    assert estimate([]).count == 0


@given(st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_an_interval_holds_its_value(numbers: tuple[int, int]) -> None:
    found = wilson(*numbers)
    assert 0 <= found.low <= found.value <= found.high <= 1


def seen(*values: float, families: int = 0) -> list[Observation]:
    return [
        Observation(n, n % families if families else n, value) for n, value in enumerate(values)
    ]


def test_samples_of_one_family_widen_the_interval() -> None:
    values = [float(n % 4 < 2) for n in range(80)]
    alone = clustered(seen(*values), SHARE)
    together = clustered(seen(*values, families=4), SHARE)
    assert alone.value == together.value == 0.5
    assert together.high - together.low > alone.high - alone.low


def test_of_values_without_limits_it_is_students_interval() -> None:
    values = [float(n) for n in range(101)]
    found = clustered(seen(*values))
    # 1.98397 is the 97.5 % point of Student's t with 100 degrees of freedom.
    half = 1.98397 * (sum((v - 50) ** 2 for v in values) / 100) ** 0.5 / 101**0.5
    assert found.value == 50
    assert (found.low, found.high) == (pytest.approx(50 - half), pytest.approx(50 + half))


def test_the_interval_is_the_one_that_fits() -> None:
    assert estimate(seen(1, 0, 1)).method == "wilson"
    assert estimate(seen(1, 0, 1, 0, families=2)).method == "clustered t"
    assert estimate(seen(0.5, 0, 1)).method == "clustered t"
    assert estimate(seen(1, 0, families=1)).method == "wilson"
    only = estimate(seen(0.5))
    assert (only.method, only.value, only.low, only.high) == ("none", 0.5, 0.0, 1.0)


def test_no_interval_collapses_where_all_agree() -> None:
    for value in (0.0, 1.0):
        found = estimate(seen(*[value] * 257, families=40))
        assert found.value == value
        assert 0.02 < found.high - found.low < 0.15
        assert 0 <= found.low <= value <= found.high <= 1


def test_a_sample_with_more_epochs_counts_no_more() -> None:
    tries = [Observation("often", "a", 1.0)] * 9 + [Observation("once", "b", 0.0)]
    assert (estimate(tries).value, estimate(tries).count) == (0.5, 10)


@pytest.mark.no_cover  # thousands of draws, of which the tests above take every branch
@pytest.mark.parametrize("agreement", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("families", [5, 12, 60])
def test_intervals_hold_the_truth_in_simulated_benchmarks(families: int, agreement: float) -> None:
    draw = random.Random(families)
    for share in (0.02, 0.1, 0.5, 0.95):
        held = sum(
            found.low <= share <= found.high
            for found in (estimate(drawn(draw, families, share, agreement)) for _ in range(250))
        )
        # 0.93 less what 250 draws may miss it by.
        assert held / 250 >= 0.90, (share, held)


@pytest.mark.no_cover
@pytest.mark.parametrize("families", [5, 12, 60])
def test_differences_hold_the_truth_in_simulated_benchmarks(families: int) -> None:
    draw, held, found_nothing = random.Random(families), 0, 0
    for _ in range(250):
        common = drawn(draw, families, 0.5, 0.3)
        better = [replace(o, value=max(o.value, float(draw.random() < 0.2))) for o in common]
        found = compare_paired(keyed(common), keyed(better))
        held += found.difference.low <= 0.1 <= found.difference.high
        same = compare_paired(keyed(common), keyed(drawn(draw, families, 0.5, 0.0, common)))
        found_nothing += same.p_value >= 0.05
    assert held / 250 >= 0.90
    assert found_nothing / 250 >= 0.93


def drawn(
    draw: random.Random,
    families: int,
    share: float,
    agreement: float,
    like: list[Observation] | None = None,
) -> list[Observation]:
    """Families of one to ten samples; ``agreement`` is how often one does as its family does."""
    if like is not None:
        return [replace(o, value=float(draw.random() < share)) for o in like]
    found = []
    for family in range(families):
        common = float(draw.random() < share)
        for member in range(draw.randint(1, 10)):
            own = float(draw.random() < share)
            value = common if draw.random() < agreement else own
            found.append(Observation((family, member), family, value))
    return found


def keyed(observations: list[Observation]) -> dict[object, Observation]:
    return {o.sample: o for o in observations}


def by_sample(*values: float) -> dict[object, Observation]:
    return {item.sample: item for item in seen(*values)}


def test_a_comparison_counts_what_changed_on_the_samples_both_have() -> None:
    found = compare_paired(by_sample(1, 1, 0, 0, 1), by_sample(1, 0, 1, 1, 1, 1))
    assert (found.better, found.worse, found.equal) == (2, 1, 2)
    assert found.difference.value == pytest.approx(0.2)
    assert found.p_value > 0.5


def test_a_clear_difference_has_a_small_p_value_and_an_interval_of_some_width() -> None:
    found = compare_paired(by_sample(*[0] * 10), by_sample(*[1] * 10))
    assert found.p_value < 0.001
    assert 0.3 < found.difference.low < 0.7
    assert found.difference.high == found.difference.value == 1.0
    nothing = compare_paired({}, {})
    assert (nothing.p_value, nothing.detectable) == (1.0, 1.0)
    assert (nothing.difference.low, nothing.difference.high) == (-1.0, 1.0)


@given(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=2, max_size=60))
def test_interval_and_p_value_are_of_one_test(pairs: list[tuple[int, int]]) -> None:
    found = compare_paired(
        by_sample(*[first for first, _ in pairs]), by_sample(*[second for _, second in pairs])
    )
    is_outside = found.difference.low > 1e-9 or found.difference.high < -1e-9
    assert is_outside == (found.p_value < 0.05 - 1e-9) or abs(found.p_value - 0.05) < 1e-6


def test_samples_of_one_family_alone_are_compared_as_their_shares_are_told() -> None:
    def compare(*, is_one_family: bool) -> Comparison:
        sides: list[dict[Hashable, Observation]] = [
            {n: Observation(n, is_one_family or n, value) for n in map(str, range(40))}
            for value in (0.0, 1.0)
        ]
        return compare_paired(*sides)

    found = compare(is_one_family=True)
    assert found == compare(is_one_family=False)
    assert found.p_value < 0.001
    assert found.difference.low > 0.8


def test_the_detectable_difference_is_seen_in_four_of_five_tries() -> None:
    draw = random.Random(7)

    def tried(better: float) -> Comparison:
        first = by_sample(*[float(draw.random() < 0.4) for _ in range(120)])
        second = {
            key: replace(o, value=1.0 if o.value or draw.random() < better / 0.6 else 0.0)
            for key, o in first.items()
        }
        return compare_paired(first, second)

    smallest = mean(tried(0.1).detectable for _ in range(100))
    assert 0.05 < smallest < 0.2
    assert 0.7 < mean(tried(smallest).p_value < 0.05 for _ in range(300)) <= 1.0


def test_several_p_values_are_adjusted_by_holms_rule() -> None:
    # The example of R's p.adjust(c(0.01, 0.04, 0.03), "holm").
    assert adjust_p_values([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert adjust_p_values([0.6, 0.7]) == [1.0, 1.0]
    assert adjust_p_values([]) == []


def test_variance_is_told_apart_by_samples_and_by_running_again() -> None:
    draw = random.Random(3)
    tries = []
    for sample in range(2000):
        chance = draw.choice((0.2, 0.8))
        for _ in range(draw.choice((2, 5))):
            tries.append(Observation(sample, sample, float(draw.random() < chance)))
    found = variance_of(tries)
    assert found is not None
    assert found.between == pytest.approx(0.09, abs=0.01)
    assert found.within == pytest.approx(0.16, abs=0.01)
    assert 0 < found.rerun_error < 0.01
    assert variance_of(seen(1, 0, 1)) is None


def test_a_share_of_many_families_stays_between_nothing_and_all() -> None:
    many = [
        Observation((family, member), family, float(family > 0))
        for family in range(2450)
        for member in range(2)
    ]
    assert 0.99 < estimate(many).low < estimate(many).high <= 1.0
