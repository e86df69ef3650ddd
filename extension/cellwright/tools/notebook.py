"""Cells: run, add, edit and read them, waiting for them or in the background."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Literal

from cellwright.errors import ToolError
from cellwright.notebooks import Notebook
from cellwright.record.content import text
from cellwright.record.events import (
    CellAdded,
    CellEdited,
    CellMoved,
    CellRemoved,
)
from cellwright.record.outputs import Cell, source_hash
from cellwright.text.truncation import CHARACTERS_PER_TOKEN, shorten
from cellwright.tools import Component, Risk, ToolContext, ToolLimits, ToolYield
from cellwright.tools.cell_running import (
    SeenCells,
    check_secrets,
    checked_code,
    run_softly,
)
from cellwright.tools.summaries import summarise

BRACKETS = {"(": ")", "[": "]", "{": "}"}
LABEL_CHARACTERS = 60
SOURCE_TOKENS = 500
EDIT_FITS = "if your edit still fits, keeping what stands there"
STILL_DELETED = "if it is still to be deleted"
GLANCE = ToolLimits(output_tokens=120, step_tokens=240, images=0)
"""What of each cell's outputs reading the notebook shows."""


class CellTool(Component):
    """A tool that knows which cells the model has seen as they are now.

    Args:
        seen: Shared by the tools of a conversation; None: its own.
        **kwargs: As of every component.
    """

    def __init__(self, seen: SeenCells | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._seen = SeenCells() if seen is None else seen


class RunCell(CellTool):
    """Runs code in the live kernel, in a new cell."""

    name: ClassVar[str] = "run_cell"
    risk: ClassVar[Risk] = "execute"

    def label(self, **arguments: object) -> str:
        """For people."""
        return str(arguments.get("title") or f"run {_first_line(arguments.get('code'))}")

    def code_for(self, **arguments: object) -> str:
        """The code it runs."""
        return str(arguments.get("code", ""))

    def tool_eval(
        self,
        context: ToolContext,
        code: str,
        title: str = "",
        timeout_seconds: float | None = None,
    ) -> Iterator[ToolYield]:
        """Run code in a new cell of the person's live kernel; they see all it shows.

        Returns printed text, the last expression's value, errors and changed variables. Magics
        and top-level await work.

        Args:
            code: One small step.
            title: A few words on what it does.
            timeout_seconds: Give it for a cell that needs more than two minutes.
        """
        checked_code(code)
        cell_id = context.new_cell_id()
        yield CellAdded(cell_id, code, call_id=context.call_id)
        self._seen.note(cell_id, code)
        yield (yield from run_softly(context, self._seen, cell_id, code, timeout_seconds))


class RunExistingCell(Component):
    """Runs a cell that is there, as the model last saw it."""

    name: ClassVar[str] = "run_existing_cell"
    risk: ClassVar[Risk] = "execute"

    def __init__(
        self, find_notebook: Callable[[], Notebook | None] = lambda: None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self._seen = SeenCells()
        self._find_notebook = find_notebook
        self._source: str | None = None
        """What was read for the policy; another text is not run."""

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"run cell {arguments.get('cell_id')}"

    def code_for(self, **arguments: object) -> str:
        """What the cell holds now."""
        notebook = self._find_notebook()
        cells = notebook.cells() if notebook is not None else ()
        found = [cell.source for cell in cells if cell.id == arguments.get("cell_id")]
        source = self._source = found[0] if found else ""
        return source

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if there is such a cell, and it can run.

        Raises:
            ToolError: There is none, or it holds no code.
        """
        if notebook is not None:
            _code_cell(notebook, str(arguments.get("cell_id")))

    def tool_eval(
        self, context: ToolContext, cell_id: str, timeout_seconds: float | None = None
    ) -> Iterator[ToolYield]:
        """Run a code cell that is in the notebook, as it stands; its outputs are replaced.

        Args:
            cell_id: The cell.
            timeout_seconds: Give it for a cell that needs more than two minutes.
        """
        cell = _code_cell(_notebook(context), cell_id)
        if self._source not in (None, cell.source):
            raise ToolError("Nothing ran: the person has just changed the cell.", hint="Read it.")
        checked_code(cell.source)
        # The record of the run need not have the cell yet: it may be younger than the run.
        yield CellEdited(cell_id, cell.source, source_hash(cell.source), context.call_id)
        yield (yield from run_softly(context, self._seen, cell_id, cell.source, timeout_seconds))


class RunScratch(Component):
    """Runs code that no notebook shows."""

    name: ClassVar[str] = "run_scratch"
    risk: ClassVar[Risk] = "execute"

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"run without a cell: {_first_line(arguments.get('code'))}"

    def code_for(self, **arguments: object) -> str:
        """The code it runs."""
        return str(arguments.get("code", ""))

    def tool_eval(
        self, context: ToolContext, code: str, timeout_seconds: float | None = None
    ) -> Iterator[ToolYield]:
        """Run code in the live kernel without adding a cell, such as a quick look or a check.

        It is recorded like a cell, and what it changes in the kernel stays.

        Args:
            code: One small step.
            timeout_seconds: Give it for code that needs more than two minutes.
        """
        checked_code(code)
        cell_id = context.new_cell_id()
        yield CellAdded(cell_id, code, call_id=context.call_id, is_scratch=True)
        # No notebook has the cell, so that none is asked whether it may run.
        nowhere = replace(context, notebook=None)
        yield (yield from run_softly(nowhere, SeenCells(), cell_id, code, timeout_seconds))


class ClearOutputs(Component):
    """Clears what cells show."""

    name: ClassVar[str] = "clear_outputs"
    risk: ClassVar[Risk] = "edit"

    def label(self, **arguments: object) -> str:
        """For people."""
        cell_id = arguments.get("cell_id")
        return f"clear the outputs of cell {cell_id}" if cell_id else "clear all outputs"

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if cells can be changed here.

        Raises:
            ToolError: They cannot.
        """
        if notebook is not None and not notebook.is_editable:
            raise ToolError("Its cells cannot be changed now.", hint="No page has it open.")

    def tool_eval(self, context: ToolContext, cell_id: str = "") -> Iterator[ToolYield]:
        """Clear the outputs of a cell, or of all cells; the code stays.

        Args:
            cell_id: The cell; empty for all.
        """
        notebook = _notebook(context)
        self.check_call(notebook)
        cells = (_cell(notebook, cell_id),) if cell_id else notebook.cells()
        shown = [cell for cell in cells if cell.outputs or cell.execution_count is not None]
        for cell in shown:
            mark = source_hash(cell.source)
            yield CellEdited(cell.id, cell.source, mark, context.call_id, outputs=())
        yield text(f"Cleared the outputs of {len(shown)} cells.", scope="llm")


class AddCell(CellTool):
    """Adds a cell without running it."""

    name: ClassVar[str] = "add_cell"
    risk: ClassVar[Risk] = "edit"

    def label(self, **arguments: object) -> str:
        """For people."""
        kind = arguments.get("cell_type", "markdown")
        source = str(arguments.get("source") or "")
        heading = source.lstrip("# \n") if kind == "markdown" else source
        return f"add a {kind} cell: {_first_line(heading)}"

    def markdown_for(self, notebook: Notebook | None, /, **arguments: object) -> str:
        """The text of a Markdown cell."""
        is_code = arguments.get("cell_type") == "code"
        return "" if is_code else str(arguments.get("source", ""))

    def tool_eval(
        self,
        context: ToolContext,
        source: str,
        cell_type: Literal["markdown", "code"] = "markdown",
        after: str = "",
    ) -> Iterator[ToolYield]:
        """Add a cell without running it, such as a heading or a note.

        Args:
            source: Its text.
            cell_type: What it holds.
            after: Id of the cell it follows; empty: below the last one you added, else at the end.
        """
        if after and context.notebook is not None:
            _cell(context.notebook, after)
        if cell_type == "code":
            check_secrets(source)
        cell_id = context.new_cell_id()
        self._seen.note(cell_id, source)
        yield CellAdded(cell_id, source, cell_type, after, context.call_id)
        yield text(f"Added {cell_type} cell {cell_id}.", scope="llm")


class EditCell(CellTool):
    """Replaces a cell's source, unless the person has changed it meanwhile."""

    name: ClassVar[str] = "edit_cell"
    risk: ClassVar[Risk] = "edit"

    def label(self, **arguments: object) -> str:
        """For people."""
        and_run = " and run it" if arguments.get("run") else ""
        return f"edit cell {arguments.get('cell_id')}{and_run}"

    def risk_for(self, **arguments: object) -> Risk:
        """Running what was edited is as risky as running anything."""
        return "execute" if arguments.get("run") else "edit"

    def code_for(self, **arguments: object) -> str:
        """The code it writes."""
        return str(arguments.get("source", ""))

    def markdown_for(self, notebook: Notebook | None, /, **arguments: object) -> str:
        """The new text, where the cell is a Markdown cell."""
        cells = notebook.cells() if notebook is not None else ()
        kinds = {cell.cell_type for cell in cells if cell.id == arguments.get("cell_id")}
        return str(arguments.get("source", "")) if "markdown" in kinds else ""

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if the model has read the cell and may change it.

        Raises:
            ToolError: It has not, the person locked the cell, or there is no such cell.
        """
        if notebook is not None:
            cell = _cell(notebook, str(arguments.get("cell_id")))
            _check_unlocked(cell, "editable")
            _check_seen(self._seen, cell, EDIT_FITS)

    def tool_eval(
        self, context: ToolContext, cell_id: str, source: str, run: bool = False
    ) -> Iterator[ToolYield]:
        """Replace the whole source of a cell you have read or written.

        Args:
            cell_id: The cell.
            source: Its new text, all of it.
            run: Run it as well.
        """
        find = _code_cell if run else _cell
        cell = find(_notebook(context), cell_id)
        _check_unlocked(cell, "editable")
        _check_seen(self._seen, cell, EDIT_FITS)
        check_secrets(source)
        if run:
            checked_code(source)
        yield CellEdited(cell_id, source, source_hash(cell.source), context.call_id)
        self._seen.note(cell_id, source)
        if not run:
            yield text(f"Edited cell {cell_id}.", scope="llm")
            return
        yield (yield from run_softly(context, self._seen, cell_id, source))


class ArrangeCell(CellTool):
    """Deletes a cell, unless the person has changed it meanwhile, or moves it."""

    name: ClassVar[str] = "arrange_cell"
    risk: ClassVar[Risk] = "destroy"

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"{arguments.get('action')} cell {arguments.get('cell_id')}"

    def risk_for(self, **arguments: object) -> Risk:
        """What is deleted may be the person's own work."""
        return "edit" if arguments.get("action") == "move" else "destroy"

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if the cell is there, and the model has read what it deletes.

        Raises:
            ToolError: It has not, the person locked the cell, or there is no such cell.
        """
        if notebook is None:
            return
        cell = _cell(notebook, str(arguments.get("cell_id")))
        if arguments.get("action") == "delete":
            _check_unlocked(cell, "deletable")
            _check_seen(self._seen, cell, STILL_DELETED)

    def tool_eval(
        self,
        context: ToolContext,
        cell_id: str,
        action: Literal["delete", "move"],
        after: str = "",
    ) -> Iterator[ToolYield]:
        """Delete or move a cell.

        Args:
            cell_id: The cell.
            action: What to do.
            after: Where it moves: id of the cell it follows; empty for the top.
        """
        notebook = _notebook(context)
        cell = _cell(notebook, cell_id)
        if action == "delete":
            _check_unlocked(cell, "deletable")
            _check_seen(self._seen, cell, STILL_DELETED)
            yield CellRemoved(cell_id, source_hash(cell.source), context.call_id)
            yield text(f"Deleted cell {cell_id}.", scope="llm")
            return
        if after == cell_id:
            raise ToolError(f"Cell {cell_id!r} cannot follow itself.")
        if after:
            _cell(notebook, after)
        yield CellMoved(cell_id, after, context.call_id)
        yield text(f"Moved cell {cell_id}.", scope="llm")


class ReadNotebook(CellTool):
    """Shows cells with their ids and the gist of their outputs."""

    name: ClassVar[str] = "read_notebook"
    risk: ClassVar[Risk] = "read"

    def label(self, **arguments: object) -> str:
        """For people."""
        return "read the notebook"

    def tool_eval(
        self, context: ToolContext, start: int = 0, count: int = 20
    ) -> Iterator[ToolYield]:
        """Read the notebook's cells: id, source, outputs in brief.

        Args:
            start: How many cells to skip.
            count: How many to read.
        """
        if context.notebook is None:
            raise ToolError("There is no notebook here.", hint="Use list_variables.")
        cells = context.notebook.cells()
        first = max(0, start)
        blocks: list[str] = []
        room = context.limits.step_tokens * CHARACTERS_PER_TOKEN
        for cell in cells[first : first + max(1, count)]:
            block = self._block(context, cell)
            room -= len(block)
            if room < 0 and blocks:
                break
            blocks.append(block)
        yield text("\n".join([_range_line(len(cells), first, len(blocks)), *blocks]), scope="llm")

    def _block(self, context: ToolContext, cell: Cell) -> str:
        name = f"{cell.id}.source"
        short = shorten(cell.source, SOURCE_TOKENS, name)
        if short.was_cut:
            context.shelf.keep(name, cell.source)
        else:
            self._seen.note(cell.id, cell.source)
        count = f" [{cell.execution_count}]" if cell.execution_count is not None else ""
        return f"--- {cell.id} {cell.cell_type}{count}\n{short.text}{_glance(context, cell)}"


def _glance(context: ToolContext, cell: Cell) -> str:
    if not cell.outputs:
        return ""
    summary = summarise(cell.outputs, None, GLANCE, name=f"{cell.id}.output")
    for cut in summary.cut:
        context.shelf.keep(cut.name, cut.text)
    words = "".join(part.text for part in summary.parts if part.kind == "text")
    return f"\n=> {words}"


def _range_line(total: int, first: int, shown: int) -> str:
    if not shown:
        return f"The notebook has {total} cells; none after the first {first}."
    end = first + shown
    more = f" Go on with start={end}." if end < total else ""
    return f"Cells {first + 1} to {end} of {total}.{more}"


def _notebook(context: ToolContext) -> Notebook:
    if context.notebook is None:
        raise ToolError("There is no notebook here.", hint="Use run_cell.")
    return context.notebook


def _check_unlocked(cell: Cell, permission: Literal["editable", "deletable"]) -> None:
    """Return if the person has not locked the cell: its page would leave it as it is.

    Raises:
        ToolError: They have.
    """
    if cell.metadata.get(permission) is False:
        raise ToolError(
            f"Nothing was changed: cell {cell.id!r} is locked, as its metadata says "
            f'"{permission}": false.',
            hint="Leave it as it is, or ask the person to unlock it.",
        )


def _check_seen(seen: SeenCells, cell: Cell, condition: str) -> None:
    """The person's text wins: what the model has not read it does not replace."""
    if seen.is_current(cell.id, cell.source):
        return
    was_read = seen.has(cell.id)
    seen.note(cell.id, cell.source)
    why = (
        f"cell {cell.id!r} is not as you last saw it; the person may have edited it. It now reads:"
        if was_read
        else f"read cell {cell.id!r} first; you were not shown all of it. This is all of it:"
    )
    raise ToolError(
        f"Nothing was changed: {why}\n{cell.source}\n",
        hint=f"Call again {condition}.",
    )


def _cell(notebook: Notebook, cell_id: str) -> Cell:
    for cell in notebook.cells():
        if cell.id == cell_id:
            return cell
    raise ToolError(
        f"There is no cell {cell_id!r}; it may have been deleted.",
        hint="read_notebook lists the cells.",
    )


def _code_cell(notebook: Notebook, cell_id: str) -> Cell:
    cell = _cell(notebook, cell_id)
    if cell.cell_type != "code":
        raise ToolError(f"Cell {cell_id!r} is {cell.cell_type}; only code can run.")
    return cell


def _first_line(code: object) -> str:
    lines = [line.strip() for line in str(code or "").splitlines()]
    told = [line for line in lines if line and not line.startswith(("#", "import ", "from "))]
    line = (told or [line for line in lines if line] or [""])[0]
    line += f"…{BRACKETS[line[-1]]}" if line and line[-1] in BRACKETS else ""
    return line if len(line) <= LABEL_CHARACTERS else f"{line[: LABEL_CHARACTERS - 1]}…"
