"""The tools every conversation has, in the one order the model is told of them."""

from __future__ import annotations

from cellwright.components import Component
from cellwright.components.cell_running import SeenCells
from cellwright.components.finish import Submit
from cellwright.components.kernel import InspectVariable, InstallPackage, ListVariables
from cellwright.components.notebook import (
    AddCell,
    ArrangeCell,
    EditCell,
    ReadNotebook,
    RunCell,
)
from cellwright.components.reading import ReadOutput
from cellwright.notebooks import Notebook

__all__ = ["standard_tools"]


def standard_tools(notebook: Notebook | None) -> tuple[Component, ...]:
    """New tools for one conversation; those for cells only where a notebook can take them."""
    seen = SeenCells()
    cells: list[Component] = []
    if notebook is not None and notebook.is_editable:
        cells += [AddCell(seen), EditCell(seen), ArrangeCell(seen)]
    if notebook is not None:
        cells.append(ReadNotebook(seen))
    return (
        RunCell(seen),
        *cells,
        ReadOutput(),
        ListVariables(),
        InspectVariable(),
        InstallPackage(seen),
        Submit(),
    )
