"""A figure comes out of a pickle as it was; whatever else is in it is refused."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.backends.backend_pdf import PdfFile

from cellwright.bench.figure_pickles import read_figure


@pytest.fixture(autouse=True)
def close() -> Iterator[None]:
    yield
    plt.close("all")


def read(figure: Any) -> Any:
    data = pickle.dumps(figure)
    plt.close("all")
    return read_figure(data)


def test_a_figure_comes_back_and_is_the_current_one() -> None:
    figure: Any
    figure, axes = plt.subplots(1, 2)
    axes[0].plot([1, 2], [3, 4], label="up")
    axes[0].legend()
    axes[1].bar(["a", "b"], [1, 2])
    colours = axes[1].imshow(np.ma.array([[1.0, 2.0]], mask=[[False, True]]))
    figure.colorbar(colours)
    figure.canvas.draw()
    back = read(figure)
    lines, bars = back.axes[:2]
    assert lines.get_legend().get_texts()[0].get_text() == "up"
    assert list(lines.lines[0].get_ydata()) == [3, 4]
    assert [bar.get_height() for bar in bars.patches[:2]] == [1, 2]
    assert plt.gcf() is back


def test_what_pandas_leaves_in_an_axes_is_left_out() -> None:
    days = pd.date_range("2026-11-28", periods=3, freq="D")
    pd.Series([1.0, 2.0, 4.0], index=days).plot()
    back = read(plt.gcf())
    assert list(back.axes[0].lines[0].get_ydata()) == [1.0, 2.0, 4.0]


class Calls:
    """Calls something when it is read."""

    def __init__(self, *reduced: Any) -> None:
        self.reduced = reduced

    def __reduce__(self) -> Any:
        return self.reduced


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (Calls(exec, ("1",)), "holds no builtins.exec"),
        (Calls(plt.savefig, ("here.png",)), "holds no matplotlib.pyplot.savefig"),
        (Calls(getattr, ("text", "format")), "no 'format' of a str"),
        (np.load, "holds no numpy.load"),
        (print, "holds no builtins.print"),
        (PdfFile, "holds no matplotlib.backends.backend_pdf.PdfFile"),
    ],
)
def test_what_no_figure_holds_is_refused(held: Any, why: str) -> None:
    figure = plt.figure()
    figure.held = held  # type: ignore[attr-defined]
    with pytest.raises(pickle.UnpicklingError, match=why):
        read(figure)


def test_a_method_of_a_figure_is_held_and_not_called() -> None:
    axes: Any = plt.figure().subplots()
    axes.held = axes.has_data
    assert read(axes.figure).axes[0].held() is False
    axes.held = Calls(axes.has_data, ())
    with pytest.raises(pickle.UnpicklingError, match="a figure calls no"):
        read(axes.figure)


def test_nothing_stands_in_the_place_of_a_method() -> None:
    axes: Any = plt.figure().subplots()
    axes.get_title = functools.partial(axes.get_xlabel)
    with pytest.raises(pickle.UnpicklingError, match="Axes.get_title is a method"):
        read(axes.figure)
