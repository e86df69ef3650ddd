"""The notebook as Markdown: its headings as they are, of each other cell what it is about."""

from __future__ import annotations

from collections.abc import Iterable

from cellwright.record.cells import Cell
from cellwright.record.outputs import ErrorOutput

LINE_CHARACTERS = 100


def outline(cells: Iterable[Cell], path: str = "") -> str:
    """One line a cell, with its id and how often it has run."""
    lines = [_line(cell) for cell in cells]
    head = f"# {path}" if path else "# Notebook"
    return "\n".join([head, "", *(lines or ["(no cells)"]), ""])


def _line(cell: Cell) -> str:
    first = next((line.strip() for line in cell.source.splitlines() if line.strip()), "(empty)")
    about = first if len(first) <= LINE_CHARACTERS else f"{first[: LINE_CHARACTERS - 1]}…"
    if cell.cell_type == "markdown" and about.startswith("#"):
        return f"\n#{about} <!-- {cell.id} -->\n"
    count = "" if cell.execution_count is None else f" [{cell.execution_count}]"
    failed = any(isinstance(output, ErrorOutput) for output in cell.outputs)
    shown = f"`{about.replace('`', chr(39))}`" if cell.cell_type == "code" else about
    return f"- {cell.id} {cell.cell_type}{count}: {shown}{' — failed' if failed else ''}"
