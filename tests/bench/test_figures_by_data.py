"""Figures by the data they show, whichever library drew them."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure as Canvas

from cellwright.bench.checks import figure_cell
from cellwright.bench.figure_check import figure_difference
from cellwright.bench.figure_data import HELD, describe_figure

mpl.use("Agg")
SALES = pd.Series([3.0, 1.0, 2.0], index=["north", "south", "west"])


@pytest.fixture(autouse=True)
def forget() -> Iterator[None]:
    yield
    sys.modules.pop(HELD, None)


def wrong(user: dict[str, Any], *marks: dict[str, Any], name: str = "", **more: Any) -> str:
    told = json.loads(json.dumps(describe_figure({"name": name}, user)))
    return figure_difference(told, {"marks": marks, **more})


def drawn() -> Canvas:
    figure = Canvas()
    upper, lower = figure.subplots(2)
    upper.plot([1, 2, 3], [1.0, 4.0, 9.0], label="squares")
    upper.set(title="Growth", xlabel="year", ylabel="size")
    lower.bar(list(SALES.index), list(SALES), label="sales")
    return figure


RIGHT: list[dict[str, Any]] = [
    {"kind": "line", "x": [1, 2, 3], "y": [1, 4, 9], "label": "squares"},
    {"y": [1, 4, 9.0000001]},
    {"kind": "bar", "x": ["north", "south", "west"], "y": [3, 1, 2]},
    {"kind": "bar"},
]


@pytest.mark.parametrize("mark", RIGHT, ids=repr)
def test_what_a_figure_shows_is_found_in_any_of_its_panels(mark: dict[str, Any]) -> None:
    assert wrong({"fig": drawn()}, mark, name="fig") == ""


@pytest.mark.parametrize(
    ("mark", "why"),
    [
        ({"kind": "line", "y": [1, 4, 8]}, "no line shows these values; there is line, bar"),
        ({"kind": "pie"}, "no pie shows"),
        ({"label": "cubes"}, "no mark shows"),
        ({"y": [1, 4]}, "no mark shows"),
    ],
)
def test_what_it_does_not_show_is_told(mark: dict[str, Any], why: str) -> None:
    assert why in wrong({"fig": drawn()}, mark, name="fig")


def test_titles_and_labels_of_the_axes_count() -> None:
    user = {"fig": drawn()}
    assert wrong(user, name="fig", title="Growth", x_label="year", y_label="size") == ""
    assert wrong(user, name="fig", title="Decline") == "title is ['Growth', ''], not 'Decline'"


def test_one_mark_that_is_not_right_says_what_it_is() -> None:
    axes = Canvas().subplots()
    axes.plot([1, 2], [1, 3])
    found = wrong({"ax": axes}, {"kind": "line", "y": [1, 4]}, name="ax")
    assert found == "a line: item 1: item 0: it is 3.0, not 4.0"
    assert "it is a line, not a bar" in wrong({"ax": axes}, {"kind": "bar"}, name="ax")
    assert "its label is ''" in wrong({"ax": axes}, {"label": "x"}, name="ax")


def test_points_may_come_in_any_order() -> None:
    axes = Canvas().subplots()
    axes.scatter([3, 1, 2], [9, 1, 4])
    mark = {"kind": "scatter", "x": [1, 2, 3], "y": [1, 4, 9]}
    assert wrong({"ax": axes}, mark, name="ax", ignore_order=True) == ""
    assert wrong({"ax": axes}, mark, name="ax") != ""


def test_points_that_are_near_stand_at_one_place_of_any_order() -> None:
    axes = Canvas().subplots()
    axes.plot([0, 1], [9.999999999999998, 2.0])
    mark = {"kind": "line", "y": [10, 2]}
    assert wrong({"ax": axes}, mark, name="ax", ignore_order=True) == ""


def test_bars_that_lie_and_bars_without_names() -> None:
    upper, lower = Canvas().subplots(2)
    upper.barh(list(SALES.index), list(SALES))
    lower.hist([1, 1, 2], bins=[0.5, 1.5, 2.5])
    mark = {"kind": "bar", "x": ["north", "south", "west"], "y": [3, 1, 2]}
    assert wrong({"axes": np.array([upper, lower])}, mark, name="axes") == ""
    counted = {"kind": "bar", "y": [2, 1]}
    assert wrong({"axes": [upper, lower]}, counted, name="axes") == ""


def test_slices_are_shares() -> None:
    axes = Canvas().subplots()
    axes.pie([1, 3], labels=["a", "b"])
    assert wrong({"ax": axes}, {"kind": "pie", "x": ["a", "b"], "y": [0.25, 0.75]}, name="ax") == ""


def test_days_are_told_by_their_dates() -> None:
    axes = Canvas().subplots()
    axes.plot(pd.date_range("2026-01-01", periods=2), [1, 2])
    mark = {"x": ["2026-01-01", "2026-01-02"], "y": [1, 2]}
    assert wrong({"ax": axes}, mark, name="ax") == ""


def test_plotly_is_read_as_well() -> None:
    graphs = pytest.importorskip("plotly.graph_objects")
    figure = graphs.Figure(
        [
            graphs.Bar(x=["a", "b"], y=np.array([1, 2]), name="n"),
            graphs.Bar(y=["c"], x=[5], orientation="h"),
            graphs.Scatter(x=[1, 2], y=[3, 4]),
            graphs.Scatter(x=[1, 2], y=[5, 6], mode="markers"),
            graphs.Pie(labels=["p", "q"], values=[1, 1]),
            graphs.Histogram(x=[1, 1]),
        ]
    )
    figure.update_layout(title="All", xaxis_title="across")
    marks = (
        {"kind": "bar", "x": ["a", "b"], "y": [1, 2], "label": "n"},
        {"kind": "bar", "x": ["c"], "y": [5]},
        {"kind": "line", "y": [3, 4]},
        {"kind": "scatter", "y": [5, 6]},
        {"kind": "pie", "y": [0.5, 0.5]},
        {"kind": "histogram", "x": [1, 1]},
    )
    assert wrong({"f": figure}, *marks, title="All", x_label="across") == ""
    assert wrong({"_oh": {1: figure}}, {"kind": "pie"}) == ""


def test_a_figure_that_was_shown_is_held_by_the_setup() -> None:
    begin = Canvas.__init__
    try:
        exec(figure_cell(), {})
        Canvas().subplots().plot([1, 2], [3, 4])
        Canvas()
    finally:
        Canvas.__init__ = begin  # type: ignore[method-assign]
    assert wrong({}, {"kind": "line", "y": [3, 4]}) == ""


def test_what_is_no_figure_is_told() -> None:
    assert wrong({}, {"kind": "line"}) == "there is no figure"
    assert wrong({"x": 3}, {"kind": "line"}, name="x") == "x is no figure"
    assert wrong({}, name="x") == "x is no figure"
    assert wrong({"f": Canvas()}, {"kind": "line"}, name="f").endswith("there is nothing")
