"""Tools for agents of others beside the standard ones: other notebooks, the kernel, cells there.

What such a call changes for the next one (the notebook, the kernel) waits for the end of its run:
a run has one notebook and one life of a kernel.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Protocol

from cellwright.context.turn_sources import RetrievalResult, SourceQuestion
from cellwright.mcp_server import RunBoundary
from cellwright.notebooks import Notebook
from cellwright.record.content import text
from cellwright.tools import Component, Risk, ToolContext, ToolYield
from cellwright.tools.notebook import ClearOutputs, RunExistingCell, RunScratch

LISTED_LIMIT = 200
FOLDER_LIMIT = 2_000
SKIPPED = "node_modules"


@dataclass(frozen=True)
class ListedNotebook:
    """A notebook that can be worked in."""

    path: str
    is_current: bool = False
    is_open: bool = False
    """A page has it open."""
    has_kernel: bool = False
    """Its kernel runs."""

    @property
    def line(self) -> str:
        """For the agent."""
        facts = [("current", self.is_current), ("open", self.is_open)]
        facts.append(("kernel running", self.has_kernel))
        words = ", ".join(word for word, is_so in facts if is_so)
        return f"- {self.path}" + (f" ({words})" if words else "")


def find_notebooks(root: Path) -> tuple[Path, ...]:
    """The notebook files of a folder and below, hidden folders left out; the look is bounded."""
    found: list[Path] = []
    for seen, (folder, folders, files) in enumerate(os.walk(root)):
        folders[:] = sorted(name for name in folders if name[0] not in "._" and name != SKIPPED)
        found += [Path(folder, name) for name in sorted(files) if name.endswith(".ipynb")]
        if seen >= FOLDER_LIMIT or len(found) > LISTED_LIMIT:
            break
    return tuple(found)


class NotebookPlace(Protocol):
    """A workroom as these tools see it."""

    restart_risk: Risk
    """``destroy`` where the variables of a kernel may be the person's."""

    @property
    def boundary(self) -> RunBoundary:
        """What waits for the end of a run."""
        ...

    @property
    def notebook(self) -> Notebook | None:
        """The notebook as it is now."""
        ...

    def list_notebooks(self) -> tuple[ListedNotebook, ...]:
        """The notebooks that can be worked in."""
        ...

    def find_notebook(self, path: str) -> str:
        """The path of a notebook, as ``use_notebook`` takes it.

        Raises:
            ToolError: There is none, or it is not to be reached.
        """
        ...

    def use_notebook(self, path: str) -> None:
        """Work there from now on; no run goes on."""
        ...

    def restart_kernel(self) -> None:
        """Start the kernel anew; no run goes on."""
        ...


class ListNotebooks(Component):
    """Lists the notebooks that can be worked in."""

    name: ClassVar[str] = "list_notebooks"
    risk: ClassVar[Risk] = "read"

    def __init__(self, place: NotebookPlace, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._place = place

    def label(self, **arguments: object) -> str:
        """For people."""
        return "list the notebooks"

    def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
        """List the notebooks that use_notebook can go to: which is open, which has a kernel."""
        found = self._place.list_notebooks()
        lines = [each.line for each in found[:LISTED_LIMIT]]
        if len(found) > LISTED_LIMIT:
            lines.append(f"[… {len(found) - LISTED_LIMIT} more …]")
        yield text("\n".join(lines) or "There are no notebooks here.", scope="llm")


class UseNotebook(Component):
    """Goes to another notebook."""

    name: ClassVar[str] = "use_notebook"
    # A person who lets cells be changed unasked has said so of one notebook.
    risk: ClassVar[Risk] = "execute"
    asks: ClassVar[str] = "goes on in another notebook and its kernel"

    def __init__(self, place: NotebookPlace, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._place = place

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"go on in {arguments.get('path')}"

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if there is such a notebook.

        Raises:
            ToolError: There is none, or it is not to be reached.
        """
        self._place.find_notebook(str(arguments.get("path")))

    def tool_eval(self, context: ToolContext, path: str) -> Iterator[ToolYield]:
        """Work in another notebook from the next call on; each has its own kernel.

        Args:
            path: As list_notebooks says.
        """
        found = self._place.find_notebook(path)
        self._place.boundary.put(lambda: self._place.use_notebook(found))
        yield text(f"The next call works in {found}; read_notebook shows it.", scope="llm")


class RestartKernel(Component):
    """Starts the kernel anew."""

    name: ClassVar[str] = "restart_kernel"
    risk: ClassVar[Risk] = "destroy"
    asks: ClassVar[str] = "restarts the kernel, whose variables are lost"

    def __init__(self, place: NotebookPlace, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._place = place

    def label(self, **arguments: object) -> str:
        """For people."""
        return "restart the kernel"

    def risk_for(self, **arguments: object) -> Risk:
        """What is lost may be the person's own work."""
        return self._place.restart_risk

    def tool_eval(self, context: ToolContext) -> Iterator[ToolYield]:
        """Restart the kernel before the next call; all its variables are lost, cells stay."""
        self._place.boundary.put(self._place.restart_kernel)
        yield text("The kernel is restarted before the next call; variables are lost.", scope="llm")


class NotebookTools:
    """``TurnSource`` with these tools.

    Args:
        place: Where they work.
    """

    name = "notebooks"

    def __init__(self, place: NotebookPlace) -> None:
        self._components: tuple[Component, ...] = (
            RunExistingCell(lambda: place.notebook),
            RunScratch(),
            ClearOutputs(),
            ListNotebooks(place),
            UseNotebook(place),
            RestartKernel(place),
        )

    def components(self) -> tuple[Component, ...]:
        """The tools."""
        return self._components

    def look_up(self, turn: SourceQuestion) -> RetrievalResult:
        """Nothing: it has no more to say to a question."""
        return RetrievalResult()
