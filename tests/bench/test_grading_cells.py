"""Checks become cells that can be run where cellwright is not installed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from cellwright.bench.checks import (
    AnswerCheck,
    Assertion,
    Check,
    Figure,
    File,
    NamespaceIntact,
    RestartAndRunAll,
    Solution,
    Stdout,
    Variable,
)
from cellwright.bench.grading_cells import CELLS, _program, _unique, _with_cell
from cellwright.bench.suites import Item
from cellwright.errors import SetupError
from cellwright.exports.formats import find_format
from cellwright.exports.sample import Score

CHECKS: tuple[Check, ...] = (
    Variable("total", equals=3),
    Variable("two words", expression="pd.Series([1])", options={"ignore_index": True}),
    AnswerCheck(name="region", value="north"),
    AnswerCheck(regex="nor.h"),
    AnswerCheck(exact="North", ignore_case=True),
    AnswerCheck(exact="North", ignore_case=False),
    File("a.csv", regex="x"),
    File("a.csv", exact="x"),
    File("a.csv"),
    File("a.csv", is_there=False),
    Figure("figure", marks=({"kind": "line"},), title="T"),
    Figure(),
    Solution("assert total"),
    Solution("assert total", shares_variables=True),
    Stdout("done"),
    NamespaceIntact(),
    RestartAndRunAll(),
)


@pytest.mark.parametrize("check", CHECKS)
def test_every_cell_is_python_and_says_what_is_expected(check: Check) -> None:
    expected, lines = CELLS[type(check)](check)
    assert expected
    compile(lines, "<cell>", "exec")


def test_a_check_without_a_cell_keeps_its_score_as_recorded() -> None:
    score = Score("judge", 1.0, True)
    assert _with_cell(score, object()) is score  # type: ignore[arg-type]
    assert "total" in _with_cell(score, Assertion("assert total")).code


def test_two_checks_of_one_name_are_told_apart() -> None:
    taken: set[str] = set()
    names = [_unique("assertion", taken) for _ in range(3)]
    assert names == ["assertion", "assertion 2", "assertion 3"]


def item_of(*checks: Check) -> Item:
    return replace(Item("i", "Do it."), checks=checks)


def test_what_is_carried_compares_values_and_figures() -> None:
    assert _program(item_of(File("a.csv"))) == ""
    pyplot = pytest.importorskip("matplotlib.pyplot")
    space: dict[str, Any] = {}
    exec(_program(item_of(Variable("x"), Figure("figure"))), space)
    table = "pd.DataFrame({'a': [1]})"
    assert space["difference"](space["evaluate"](table), space["evaluate"](table), {}) == ""
    assert space["difference"](1, 2, {"tolerance": 0.5}) != ""
    assert space["fingerprints"]({"a": 1}) != space["fingerprints"]({"a": 2})
    figure, axes = pyplot.subplots()
    axes.plot([0, 1], [2, 3])
    wanted = {"name": "figure", "marks": [{"kind": "line", "y": [2, 3]}]}
    assert space["figure_difference"]({"figure": figure}, wanted) == ""
    wanted["marks"] = [{"kind": "line", "y": [2, 4]}]
    assert space["figure_difference"]({"figure": figure}, wanted) != ""
    pyplot.close(figure)


def test_a_format_that_is_not_there_is_refused_by_name() -> None:
    assert find_format("csv").one_for_all
    with pytest.raises(SetupError, match="cassette"):
        find_format("cassette")
