"""The time axis of a drawn run."""

from __future__ import annotations

import re

import pytest
from recorded_runs import analysis_run, record_of

from cellwright.exports.run_plot import _round_step, draw_run
from cellwright.exports.sampling import sample_of


@pytest.mark.parametrize(
    ("seconds", "step"), [(0.0274, 0.02), (0.1, 0.1), (0.7, 0.5), (1.0, 1), (33, 20), (300, 200)]
)
def test_steps_are_round(seconds: float, step: float) -> None:
    assert _round_step(seconds) == pytest.approx(step)


def test_the_axis_is_written_in_round_seconds() -> None:
    drawn = draw_run(sample_of(record_of(analysis_run()), "it"))
    assert all(len(number) <= 5 for number in re.findall(r">([\d.]+) s<", drawn))
    assert ">0 s<" in drawn
