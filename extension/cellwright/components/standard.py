"""The tools every conversation has, in the one order the model is told of them."""

from __future__ import annotations

from cellwright.components import Component
from cellwright.components.cell_running import SeenCells
from cellwright.components.finish import Submit
from cellwright.components.kernel import InspectVariable, InstallPackage, ListVariables
from cellwright.components.notebook import AddCell, EditCell, ReadNotebook, RunCell
from cellwright.components.reading import ReadOutput

__all__ = ["standard_tools"]


def standard_tools(*, has_notebook: bool) -> tuple[Component, ...]:
    """New tools for one conversation; those that change cells only where there is a notebook."""
    seen = SeenCells()
    cells: tuple[Component, ...] = (AddCell(seen), EditCell(seen), ReadNotebook(seen))
    return (
        RunCell(seen),
        *(cells if has_notebook else ()),
        ReadOutput(),
        ListVariables(),
        InspectVariable(),
        InstallPackage(seen),
        Submit(),
    )
