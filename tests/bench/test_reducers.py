"""Epochs as one number, in every way, and with an interval."""

from __future__ import annotations

from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.bench.statistics import Observation, at_least_k, mode, reduce_epochs, reducers


def tries(**values: list[float]) -> dict[Hashable, list[Observation]]:
    return {
        name: [Observation(name, name[0], value) for value in some] for name, some in values.items()
    }


def test_the_mode_is_what_most_epochs_say_and_in_doubt_the_lower() -> None:
    assert [mode(v) for v in ([1, 0, 1], [1, 0], [0.5, 0.5, 1], [])] == [1, 0, 0.5, 0]


def test_at_least_k_counts_the_epochs_that_passed() -> None:
    assert [at_least_k([1, 0.5, 1, 0], k) for k in (1, 2, 3)] == [1, 1, 0]
    with pytest.raises(ValueError, match="there are 4 epochs"):
        at_least_k([1, 0, 1, 0], 5)


def test_more_epochs_allow_for_a_larger_k() -> None:
    assert list(reducers(2)) == ["mean", "mode", "pass@2", "pass^2", "at_least_2"]
    assert [name for name in reducers(9) if "@" in name] == ["pass@2", "pass@4", "pass@8", "pass@9"]


def test_every_reducer_has_an_interval_over_families() -> None:
    found = reduce_epochs(tries(a1=[1, 1], a2=[1, 0], b1=[0, 0], b2=[1, 1]))
    assert {name: number.value for name, number in found.items()} == {
        "mean": 0.625,
        "mode": 0.5,
        "pass@2": 0.75,
        "pass^2": 0.5,
        "at_least_2": 0.5,
    }
    assert {number.method for number in found.values()} == {"clustered t"}
    assert all(0 <= number.low <= number.value <= number.high <= 1 for number in found.values())


def test_one_epoch_says_nothing_of_others() -> None:
    assert reduce_epochs(tries(a=[1], b=[1, 0])) == {}
    assert reduce_epochs({}) == {}


@given(st.lists(st.sampled_from([0.0, 1.0]), min_size=2, max_size=8))
def test_the_reducers_go_together(values: list[float]) -> None:
    by = {name: reducer(values) for name, reducer in reducers(len(values)).items()}
    every = len(values)
    assert by[f"pass^{every}"] <= by["mean"] <= by[f"pass@{every}"]
    assert by[f"at_least_{every}"] == by[f"pass^{every}"] == float(all(values))
