"""A figure shows certain values: what a kernel tells of it, held against what a check wants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.bench.comparing import difference
from cellwright.bench.figure_data import TEXTS
from cellwright.bench.value_data import ValueWriter

USUAL_TOLERANCE = 1e-6
"""Relative: what a library draws it may keep with less precision than it was given."""


def figure_difference(told: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """In what a figure differs from what it should show; empty: in nothing.

    Args:
        told: What ``describe_figure`` says.
        wanted: ``marks``, each with ``kind``, ``x``, ``y`` and ``label`` or some of them;
            ``title``, ``x_label`` and ``y_label`` or some of them; tolerances; ``ignore_order``.
    """
    if "wrong" in told:
        return str(told["wrong"])
    panels = told["panels"]
    for text in TEXTS:
        given = wanted.get(text)
        if given and given not in [panel[text] for panel in panels]:
            return f"{text} is {[panel[text] for panel in panels]!r}, not {given!r}"
    drawn = [mark for panel in panels for mark in panel["marks"]]
    for one in wanted["marks"]:
        wrong = [_mark_difference(mark, one, wanted) for mark in drawn]
        if not wrong or all(wrong):
            return _why(one, drawn, wrong)
    return ""


def _why(wanted: Mapping[str, Any], drawn: list[dict[str, Any]], wrong: list[str]) -> str:
    if len(wrong) == 1:
        return wrong[0]
    kinds = ", ".join(str(mark["kind"]) for mark in drawn) or "nothing"
    return f"no {wanted.get('kind', 'mark')} shows these values; there is {kinds}"


def _mark_difference(
    mark: Mapping[str, Any], wanted: Mapping[str, Any], options: Mapping[str, Any]
) -> str:
    if wanted.get("kind", mark["kind"]) != mark["kind"]:
        return f"it is a {mark['kind']}, not a {wanted['kind']}"
    if wanted.get("label", mark["label"]) != mark["label"]:
        return f"its label is {mark['label']!r}, not {wanted['label']!r}"
    axes = [axis for axis in ("x", "y") if axis in wanted]
    points, expected = _points(mark, axes), _points(wanted, axes)
    if options.get("ignore_order"):
        points, expected = sorted(points, key=_order), sorted(expected, key=_order)
    data = ValueWriter().write(points), ValueWriter().write(expected)
    wrong = difference(*data, {**options, "default_tolerance": USUAL_TOLERANCE})
    return f"a {mark['kind']}: {wrong}" if wrong else ""


def _points(mark: Mapping[str, Any], axes: list[str]) -> list[list[Any]]:
    columns = [[_plain(value) for value in mark[axis]] for axis in axes]
    if len({len(column) for column in columns}) > 1:
        return columns
    return [list(point) for point in zip(*columns, strict=True)]


def _order(point: list[Any]) -> list[tuple[bool, Any]]:
    """Numbers by their size: two that are near are written in quite other ways."""
    return [(isinstance(value, str), value) for value in point]


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, (int, float)) else str(value)
