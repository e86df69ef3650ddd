"""Statistics against values that are known, and by their properties."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.bench.statistics import (
    Observation,
    bootstrap,
    clustered,
    compare_paired,
    estimate,
    mean,
    pass_at_k,
    pass_hat_k,
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
    alone = bootstrap(seen(*values))
    together = bootstrap(seen(*values, families=4))
    assert alone.value == together.value == 0.5
    assert together.high - together.low > alone.high - alone.low
    assert bootstrap(seen(*values)) == alone


def test_the_bootstrap_leaves_out_one_in_forty_on_each_side() -> None:
    values = [float(n) for n in range(101)]
    found = bootstrap(seen(*values))
    # The mean of 101 values is all but normal: 1.96 standard errors on each side.
    half = 1.96 * (sum((v - 50) ** 2 for v in values) / 101) ** 0.5 / 101**0.5
    assert found.value == 50
    assert found.low == pytest.approx(50 - half, rel=0.01)
    assert found.high == pytest.approx(50 + half, rel=0.01)


def test_the_interval_is_the_one_that_fits() -> None:
    assert estimate(seen(1, 0, 1)).method == "wilson"
    assert estimate(seen(1, 0, 1, 0, families=2)).method == "clustered bootstrap"
    assert estimate(seen(0.5, 0, 1)).method == "clustered bootstrap"
    assert estimate(seen(1, 0, families=1)).method == "wilson"
    assert bootstrap(seen(0.5)).method == "none"


def by_sample(*values: float) -> dict[object, Observation]:
    return {item.sample: item for item in seen(*values)}


def test_a_comparison_counts_what_changed_on_the_samples_both_have() -> None:
    found = compare_paired(by_sample(1, 1, 0, 0, 1), by_sample(1, 0, 1, 1, 1, 1))
    assert (found.better, found.worse, found.equal) == (2, 1, 2)
    assert found.difference.value == pytest.approx(0.2)
    assert found.p_value == 1.0


def test_a_clear_difference_has_a_small_p_value() -> None:
    found = compare_paired(by_sample(*[0] * 10), by_sample(*[1] * 10))
    assert found.p_value == pytest.approx(2 / 1024)
    assert (found.difference.low, found.difference.high) == (1.0, 1.0)
    assert compare_paired({}, {}).p_value == 1.0


@pytest.mark.parametrize("size", [1, 3])
def test_of_many_families_the_two_intervals_agree(size: int) -> None:
    values = [float(number % 10 < 6) for number in range(450)]
    seen = [
        Observation((family, member), family, value)
        for family, value in enumerate(values)
        for member in range(size)
    ]
    quick, slow = clustered(seen), bootstrap(seen)
    assert (quick.method, slow.method) == ("clustered normal", "clustered bootstrap")
    assert quick.value == slow.value
    assert quick.low == pytest.approx(slow.low, abs=0.01)
    assert quick.high == pytest.approx(slow.high, abs=0.01)


def test_a_share_of_many_families_stays_between_nothing_and_all() -> None:
    seen = [
        Observation((family, member), family, float(family > 0))
        for family in range(450)
        for member in range(2)
    ]
    assert estimate(seen).high == 1.0
