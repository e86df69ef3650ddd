"""The notebook in a few lines, and what a person made of its cells meanwhile."""

from __future__ import annotations

from cellwright.context.assemble import cell_changes, marks_of, outline
from cellwright.record.outputs import Cell, ErrorOutput


def code(cell_id: str, source: str, count: int | None = None) -> Cell:
    return Cell(cell_id, "code", source, execution_count=count)


CELLS = (
    Cell("a", "markdown", "# Sales\ntext"),
    code("b", "\nimport pandas as pd\ndf = 1", 3),
    Cell("c", "code", "df.x", (ErrorOutput("AttributeError", "x"),), 4),
    code("d", ""),
    code("e", "x = " + "1 + " * 40),
    code("f", "%%agent\nDo it."),
)


def test_a_cell_is_a_line_with_its_id_when_it_ran_and_how_it_begins() -> None:
    assert outline(CELLS) == (
        "a markdown: # Sales",
        "b [3] import pandas as pd",
        "c [4] df.x  -> AttributeError",
        "e [ ] " + ("x = " + "1 + " * 40)[:79] + "…",
    )


def test_of_a_long_notebook_the_start_and_the_end_are_told() -> None:
    lines = outline([code(f"c{n}", f"x = {n}") for n in range(100)])
    assert len(lines) == 41
    assert lines[10] == "… 60 more; read_notebook shows them"
    assert (lines[0], lines[-1]) == ("c0 [ ] x = 0", "c99 [ ] x = 99")


def test_edited_added_and_removed_cells_are_told() -> None:
    before = marks_of(CELLS)
    now = (CELLS[0], code("b", "df = 2"), code("new", "y = 1\nz = 2"), *CELLS[3:])
    assert cell_changes(before, now, ["df = 2"]) == (
        "the person edited cell b and ran it",
        "the person added cell new:\n  y = 1\n  z = 2",
        "cells that are gone: c",
    )
    assert cell_changes(before, CELLS, ()) == ()


def test_of_many_changes_a_few_are_told_and_the_agents_own_cells_never() -> None:
    now = [code(f"n{n}", f"x = {n}") for n in range(8)] + [code("q", "%%agent\nAgain.")]
    told = cell_changes({}, now, ())
    assert len(told) == 6
    assert told[-1] == "and 3 more cells; read_notebook shows them"
