"""The tools every conversation has, in the one order the model is told of them."""

from __future__ import annotations

from cellwright.notebooks import Notebook
from cellwright.tools import Component
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.finish import Submit
from cellwright.tools.kernel import InspectVariable, InstallPackage, ListVariables
from cellwright.tools.notebook import AddCell, ArrangeCell, EditCell, ReadNotebook, RunCell
from cellwright.tools.reading import ReadOutput


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
