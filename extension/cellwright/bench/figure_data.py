"""What a figure shows, as plain data, whichever library drew it.

This source is sent to the kernel (see ``ask_kernel``), which tells what is there and nothing of
what should be: of matplotlib and plotly only what the kernel has loaded itself is asked. What is
told is held against what a check wants in ``figure_check``.
"""

from __future__ import annotations

import sys
import types
from typing import Any

HELD = "_cellwright_figures"
"""The module of the kernel in which the figures that are drawn are held."""

KEPT = """
import sys, types, matplotlib.figure
held = sys.modules[name] = types.SimpleNamespace(figures=[])
begin = matplotlib.figure.Figure.__init__
def begun(self, *given, **options):
    begin(self, *given, **options)
    held.figures.append(self)
matplotlib.figure.Figure.__init__ = begun
"""
"""Run in the setup: a figure that was shown is closed after its cell, and would be gone."""


def describe_figure(arguments: dict[str, Any], user: dict[str, Any]) -> dict[str, Any]:
    """What a figure shows.

    Args:
        arguments: ``name`` of a variable, or empty for the last figure.
        user: The kernel's variables.
    """
    name = arguments["name"]
    found = user.get(name) if name else _last_figure(user)
    panels = _panels(found)
    if panels is None:
        return {"wrong": f"{name} is no figure" if name else "there is no figure"}
    return {"panels": [_told(panel) for panel in panels]}


def _told(panel: dict[str, Any]) -> dict[str, Any]:
    marks = [
        {
            "kind": str(mark["kind"]),
            "label": str(mark["label"]),
            "x": [_plain(value) for value in mark["x"]],
            "y": [_plain(value) for value in mark["y"]],
        }
        for mark in panel["marks"]
    ]
    return {**{text: str(panel[text]) for text in TEXTS}, "marks": marks}


TEXTS = ("title", "x_label", "y_label")


def _plain(value: Any) -> Any:
    """A number, or a text; a day at midnight is told by its date."""
    if hasattr(value, "item"):
        value = value.item() if getattr(value, "dtype", None) is None else _unboxed(value)
    if isinstance(value, (bool, int, float)):
        return float(value)
    text = str(value)
    return text[:-9] if text.endswith((" 00:00:00", "T00:00:00")) else text


def _unboxed(value: Any) -> Any:
    is_time = str(value.dtype).startswith("datetime64")
    return str(value.astype("datetime64[s]")) if is_time else value.item()


def _last_figure(user: dict[str, Any]) -> Any:
    held = sys.modules.get(HELD)
    drawn = [figure for figure in getattr(held, "figures", []) if figure.axes]
    if drawn:
        return drawn[-1]
    given = [value for value in user.get("_oh", {}).values() if _is_plotly(value)]
    given += [value for value in user.values() if _is_plotly(value)]
    return given[-1] if given else None


def _is_plotly(value: Any) -> bool:
    is_named = type(value).__module__.startswith("plotly.") and hasattr(value, "to_plotly_json")
    return is_named and _is_of_library(value)


def _is_of_library(value: Any) -> bool:
    """Whether its class is the one that its module has: no class of a cell's is a figure."""
    kind = type(value)
    module = sys.modules.get(kind.__module__)
    is_real = isinstance(module, types.ModuleType) and kind.__module__ != "__main__"
    # Older versions of matplotlib make classes of axes as they are needed.
    is_made = kind.__name__.endswith("Subplot") and kind.__module__.startswith("matplotlib.")
    return is_real and (is_made or getattr(module, kind.__name__, None) is kind)


def _panels(found: Any) -> list[dict[str, Any]] | None:
    """The parts of a figure with axes of their own; None: it is none."""
    if _is_plotly(found):
        return [_plotly(found)]
    while isinstance(found, (list, tuple)) and found:
        found = found[0]
    if hasattr(found, "flat"):
        found = next(iter(found.flat), None)
    figure = found if hasattr(found, "axes") and hasattr(found, "savefig") else None
    for name in ("figure", "fig"):
        figure = figure if figure is not None else getattr(found, name, None)
    axes = getattr(figure, "axes", None)
    if not isinstance(axes, list) or not all(map(_is_of_library, [figure, *axes])):
        return None
    return [_axes(part, figure) for part in axes]


def _axes(part: Any, figure: Any) -> dict[str, Any]:
    heading = getattr(figure, "_suptitle", None)
    return {
        "title": part.get_title() or (heading.get_text() if heading is not None else ""),
        "x_label": part.get_xlabel(),
        "y_label": part.get_ylabel(),
        "marks": [*_lines(part), *_bars(part), *_collections(part), *_wedges(part)],
    }


def _lines(part: Any) -> list[dict[str, Any]]:
    return [
        _mark("line", list(line.get_xdata(orig=True)), list(line.get_ydata(orig=True)), line)
        for line in part.get_lines()
        if len(line.get_xdata(orig=True))
    ]


def _bars(part: Any) -> list[dict[str, Any]]:
    found = []
    for group in part.containers:
        bars = list(getattr(group, "patches", None) or ())
        if not bars:
            continue
        is_flat = getattr(group, "orientation", "") == "horizontal"
        axis = part.yaxis if is_flat else part.xaxis
        places = [
            bar.get_y() + bar.get_height() / 2 if is_flat else bar.get_x() + bar.get_width() / 2
            for bar in bars
        ]
        sizes = [bar.get_width() if is_flat else bar.get_height() for bar in bars]
        found.append(_mark("bar", _named(axis, places), sizes, group))
    return found


def _named(axis: Any, places: list[float]) -> list[Any]:
    """The names of categories where the axis has some, and the places where it has none."""
    texts = [label.get_text() for label in axis.get_ticklabels()]
    names = dict(zip([round(float(place), 6) for place in axis.get_ticklocs()], texts))  # noqa: B905
    found = [names.get(round(float(place), 6), "") for place in places]
    return [*found] if all(found) else [*places]


def _collections(part: Any) -> list[dict[str, Any]]:
    found = []
    for group in part.collections:
        points = group.get_offsets()
        if type(group).__name__ == "PathCollection" and len(points):
            found.append(_mark("scatter", [p[0] for p in points], [p[1] for p in points], group))
    return found


def _wedges(part: Any) -> list[dict[str, Any]]:
    wedges = [patch for patch in part.patches if type(patch).__name__ == "Wedge"]
    if not wedges:
        return []
    shares = [(wedge.theta2 - wedge.theta1) / 360 for wedge in wedges]
    return [{"kind": "pie", "x": [w.get_label() for w in wedges], "y": shares, "label": ""}]


def _mark(kind: str, x: list[Any], y: list[Any], artist: Any) -> dict[str, Any]:
    label = str(artist.get_label() or "")
    return {"kind": kind, "x": x, "y": y, "label": "" if label.startswith("_") else label}


def _plotly(found: Any) -> dict[str, Any]:
    layout = found.layout
    return {
        "title": str(layout.title.text or ""),
        "x_label": str(layout.xaxis.title.text or ""),
        "y_label": str(layout.yaxis.title.text or ""),
        "marks": [_trace(trace) for trace in found.data],
    }


def _trace(trace: Any) -> dict[str, Any]:
    kind, label = str(trace.type), str(trace.name or "")
    if kind == "pie":
        shares = [value / sum(trace["values"]) for value in trace["values"]]
        return {"kind": kind, "x": list(trace.labels), "y": shares, "label": label}
    if kind in ("scatter", "scattergl"):
        kind = "line" if "lines" in (trace.mode or "lines") else "scatter"
    x, y = (list(value) if value is not None else [] for value in (trace["x"], trace["y"]))
    if getattr(trace, "orientation", None) == "h":
        x, y = y, x
    return {"kind": kind, "x": x, "y": y, "label": label}
