"""What a matplotlib figure shows, in words: for a model that cannot see pictures.

Runs inside the kernel, from the standard library alone, on Python 3.8 and later. It looks at
figures when they are displayed, for they are closed right after, and never imports matplotlib.
"""

from __future__ import annotations

import contextlib
from typing import Any

FIGURE_LIMIT = 8
AXES_LIMIT = 6
SERIES_LIMIT = 8
LABEL_CHARACTERS = 60


class FigureWatch:
    """Notes what each figure says that is displayed between ``start`` and ``stop``.

    Args:
        formatter: The shell's ``display_formatter``: everything displayed passes it.
    """

    def __init__(self, formatter: Any) -> None:
        self.seen: list[str] = []
        self._formatter = formatter
        self._format: Any = None
        self._shadowed: Any = None

    def start(self) -> None:
        """Look at what is displayed from now on."""
        if self._formatter is None:
            return
        self._shadowed = self._formatter.__dict__.get("format")
        self._format = self._formatter.format
        self._formatter.format = self._look_and_format

    def stop(self) -> None:
        """Leave the formatter as it was."""
        if self._formatter is None:
            return
        self._formatter.__dict__.pop("format", None)
        if self._shadowed is not None:
            self._formatter.format = self._shadowed

    def _look_and_format(self, shown: Any, *arguments: Any, **options: Any) -> Any:
        __tracebackhide__ = True
        # A figure may be as broken as it likes: it is shown all the same.
        with contextlib.suppress(Exception):
            self._look(shown)
        return self._format(shown, *arguments, **options)

    def _look(self, shown: Any) -> None:
        if not type(shown).__module__.startswith(("matplotlib", "ipympl")):
            return
        figure = shown if hasattr(shown, "axes") else getattr(shown, "figure", None)
        text = describe_figure(figure)
        if text and text not in self.seen and len(self.seen) < FIGURE_LIMIT:
            self.seen.append(text)


def describe_figure(figure: Any) -> str:
    """Title, axis labels and series of each of its plots; empty where it says nothing."""
    axes = [each for each in figure.axes if each.get_label() != "<colorbar>"]
    plots = [plot for plot in map(_plot, axes[:AXES_LIMIT]) if plot]
    if len(axes) > AXES_LIMIT:
        plots.append(f"{len(axes) - AXES_LIMIT} more plots")
    title = getattr(figure, "_suptitle", None)
    head = _quoted(title.get_text()) if title is not None else ""
    return "; ".join([head, *plots] if head else plots)


def _plot(axes: Any) -> str:
    titles = [axes.get_title(loc=place) for place in ("center", "left", "right")]
    head = " ".join(_quoted(title) for title in titles if title.strip())
    names = (("x", axes.get_xlabel()), ("y", axes.get_ylabel()))
    labels = [f"{name}: {_short(label)}" for name, label in names if label.strip()]
    return ", ".join(part for part in [head, *labels, *_series(axes), _legend(axes)] if part)


def _series(axes: Any) -> list[str]:
    """Kind, number and labels of what is drawn."""
    bars = [each for each in axes.containers if type(each).__name__ == "BarContainer"]
    inside = {id(patch) for bar in bars for patch in bar}
    dots = [each for each in axes.collections if type(each).__name__ == "PathCollection"]
    wedges = [each for each in axes.patches if type(each).__name__ == "Wedge"]
    known = {id(each) for each in dots} | inside | {id(each) for each in wedges}
    others = [each for each in [*axes.collections, *axes.patches] if id(each) not in known]
    return [
        _kind("line", axes.get_lines(), lambda line: len(line.get_xdata())),
        _kind("bar series", bars, len),
        _kind("scatter", dots, lambda each: len(each.get_offsets())),
        _kind("pie wedge", wedges),
        _kind("image", axes.images),
        _kind("other shape", others),
    ]


def _kind(name: str, drawn: Any, size: Any = None) -> str:
    drawn = list(drawn)
    if not drawn:
        return ""
    labels = [_short(str(each.get_label())) for each in drawn]
    told = [label for label in labels if label and not label.startswith("_")]
    more = [f"… {len(told) - SERIES_LIMIT} more"] if len(told) > SERIES_LIMIT else []
    sizes = sorted({size(each) for each in drawn}) if size is not None else []
    count = f"{len(drawn)} {name}{'s' if len(drawn) > 1 and not name.endswith('s') else ''}"
    if sizes:
        count += f" of {sizes[0]}" if len(sizes) == 1 else f" of {sizes[0]} to {sizes[-1]}"
    return f"{count} ({'; '.join([*told[:SERIES_LIMIT], *more])})" if told else count


def _legend(axes: Any) -> str:
    legend = axes.get_legend()
    if legend is None:
        return ""
    texts = [_short(each.get_text()) for each in legend.get_texts()[:SERIES_LIMIT]]
    return f"legend: {'; '.join(text for text in texts if text)}"


def _quoted(text: str) -> str:
    return f'"{_short(text)}"' if text.strip() else ""


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LABEL_CHARACTERS else f"{line[: LABEL_CHARACTERS - 1]}…"
