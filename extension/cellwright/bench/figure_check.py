"""Figures, by the data they show and not by their pixels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.bench import comparing, figure_data
from cellwright.bench.kernel_source import program_of
from cellwright.bench.scenes import Found, Scene, asked, found_wrong


@dataclass(frozen=True)
class Figure:
    """A figure shows certain values."""

    name: str = ""
    """A variable with a figure or its axes; empty: the last figure that was drawn."""
    marks: tuple[Mapping[str, Any], ...] = ()
    """What has to be in it: ``kind`` (``line``, ``bar``, ``scatter``, ``pie`` …), ``x``, ``y``,
    ``label``; each may be left out."""
    title: str = ""
    x_label: str = ""
    y_label: str = ""
    tolerance: float = 1e-6
    ignore_order: bool = False
    """The points of a mark may come in any order."""
    kind: Literal["figure"] = field(default="figure", init=False)

    @property
    def score_name(self) -> str:
        """What its score is called."""
        return f"figure {self.name}" if self.name else "figure"


def figure_cell() -> str:
    """A cell of the setup, without which figures that were shown cannot be looked at."""
    space = f"{{'name': {figure_data.HELD!r}}}"
    return f"exec({figure_data.KEPT!r}, {space})"


def find_figure(check: Figure, scene: Scene) -> Found:
    """Look at the figure in the kernel."""
    program = program_of(comparing, figure_data)
    arguments = {
        "name": check.name,
        "marks": [dict(mark) for mark in check.marks],
        "title": check.title,
        "x_label": check.x_label,
        "y_label": check.y_label,
        "tolerance": check.tolerance,
        "ignore_order": check.ignore_order,
    }
    asking = f"{program}\nfound = figure_difference(user, arguments)\n"
    return found_wrong(asked(scene, asking, arguments))
