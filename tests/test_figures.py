"""Figures in words; the pictures themselves are drawn by a real matplotlib."""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
import pytest
from matplotlib.figure import Figure

from cellwright.kernels.figures import FigureWatch, describe_figure

mpl.use("agg")


def one(**options: Any) -> tuple[Figure, Any]:
    figure = Figure()
    axes = figure.subplots()
    axes.set(**options)
    return figure, axes


def test_title_axis_labels_and_series_are_told() -> None:
    figure, axes = one(title="Sales", xlabel="month", ylabel="units")
    axes.plot([1, 2, 3], label="north")
    axes.plot([1, 2], label="south")
    axes.plot([1, 2])
    axes.scatter([1, 2, 3, 4], [1, 2, 3, 4], label="outliers")
    axes.legend()
    assert describe_figure(figure) == (
        '"Sales", x: month, y: units, 3 lines of 2 to 3 (north; south), '
        "1 scatter of 4 (outliers), legend: north; south; outliers"
    )


def test_bars_histograms_pies_and_pictures_have_their_names() -> None:
    figure, axes = one()
    axes.bar(["a", "b"], [1, 2], label="first")
    axes.bar(["a", "b"], [3, 4], label="second")
    assert describe_figure(figure) == "2 bar series of 2 (first; second)"
    figure, axes = one()
    axes.hist([1, 2, 2, 3], bins=5)
    assert describe_figure(figure) == "1 bar series of 5"
    figure, axes = one()
    axes.pie([1, 2, 3], labels=["x", "y", "z"])
    assert describe_figure(figure) == "3 pie wedges (x; y; z)"
    figure, axes = one()
    axes.imshow([[1, 2], [3, 4]])
    assert describe_figure(figure) == "1 image"
    figure, axes = one()
    axes.fill_between([1, 2], [1, 2], label="range")
    assert describe_figure(figure) == "1 other shape (range)"


def test_several_plots_are_told_one_by_one_and_colour_bars_left_out() -> None:
    figure = Figure()
    left, right = figure.subplots(1, 2)
    figure.suptitle("Both")
    left.set_title("one", loc="left")
    image = right.imshow([[1, 2], [3, 4]])
    figure.colorbar(image, ax=right)
    assert describe_figure(figure) == '"Both"; "one"; 1 image'
    assert describe_figure(Figure()) == ""


def test_what_is_long_or_many_is_cut() -> None:
    figure = Figure()
    for axes in figure.subplots(2, 4).flat:
        axes.set_title("long title " * 20)
        for number in range(12):
            axes.plot([1], label=f"series {number}")
    told = describe_figure(figure)
    assert told.endswith("; 2 more plots")
    assert "series 7; … 4 more)" in told
    assert len(told) < 1_500


class Formatter:
    """Formats anything as its type's name."""

    def format(self, shown: object, include: object = None) -> str:
        return type(shown).__name__


class Broken:
    """Says it is matplotlib's, and fails at whatever it is asked."""

    __module__ = "matplotlib.broken"

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_every_figure_that_is_displayed_is_seen_once() -> None:
    formatter = Formatter()
    watch = FigureWatch(formatter)
    watch.start()
    figure, axes = one(title="A")
    assert formatter.format(figure, include=None) == "Figure"
    formatter.format(figure)
    formatter.format(one(title="B")[0])
    formatter.format(axes)
    formatter.format(5)
    watch.stop()
    formatter.format(one(title="after")[0])
    assert watch.seen == ['"A"', '"B"']
    assert vars(formatter) == {}


def test_a_broken_figure_is_formatted_all_the_same() -> None:
    formatter = Formatter()
    watch = FigureWatch(formatter)
    watch.start()
    assert formatter.format(Broken()) == "Broken"
    watch.stop()
    assert watch.seen == []


def test_a_hundred_figures_are_not_all_told() -> None:
    formatter = Formatter()
    watch = FigureWatch(formatter)
    watch.start()
    for number in range(100):
        formatter.format(one(title=str(number))[0])
    watch.stop()
    assert len(watch.seen) == 8


def test_a_formatter_that_was_changed_before_is_left_changed() -> None:
    formatter = Formatter()
    formatter.format = lambda shown, include=None: "mine"  # type: ignore[method-assign]
    mine = formatter.format
    watch = FigureWatch(formatter)
    watch.start()
    assert formatter.format(5) == "mine"
    watch.stop()
    assert formatter.format is mine


def test_a_shell_without_a_formatter_has_no_figures() -> None:
    watch = FigureWatch(None)
    watch.start()
    watch.stop()
    assert watch.seen == []


@pytest.mark.parametrize("shown", [None, "text", object()])
def test_what_is_no_figure_says_nothing(shown: object) -> None:
    formatter = Formatter()
    watch = FigureWatch(formatter)
    watch.start()
    formatter.format(shown)
    watch.stop()
    assert watch.seen == []
