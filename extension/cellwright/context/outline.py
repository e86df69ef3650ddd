"""A notebook in a few lines, and what a person made of its cells since then."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from cellwright.record.outputs import Cell, ErrorOutput, source_hash

# Cells that asked the agent, told apart from the person's own.


OWN_CELL = re.compile(r"\s*%%agent\b")
OWN_LINE = re.compile(
    r"^[ \t]*(?:[^\n#'\"=]*=[ \t]*)?%(?:agent\b|(?:re)?load_ext[ \t]+cellwright).*\n?", re.MULTILINE
)
OWN_CALL = re.compile(r"^cell line \d+: get_ipython\(\)\.run_(?:line|cell)_magic\('agent'")


def is_own_error(text: str) -> bool:
    """Whether what a cell failed with is what the agent's magic said to the person."""
    return bool(OWN_CALL.match(text))


def without_own_magics(sources: Iterable[str]) -> list[str]:
    """The sources without what asks the agent or loads its magics; the rest of a cell stays.

    What the agent ran for a question is recorded by itself; run again, the question would be
    asked again.
    """
    kept = (OWN_LINE.sub("", source) for source in sources if not OWN_CELL.match(source))
    return [source for source in kept if source.strip()]


def seen_before(executed: list[str], log: list[str]) -> int:
    """How many of the person's first cells are in the log already, in the same order."""
    logged = iter(log)

    def is_logged(source: str) -> bool:
        return not without_own_magics([source]) or source in logged

    return sum(1 for _ in itertools.takewhile(is_logged, executed))


FIRST_CELLS, LAST_CELLS = 10, 30
LINE_CHARACTERS = 80
SOURCE_CHARACTERS = 400
CHANGES_TOLD = 5

Marks = Mapping[str, str]
"""The hash of each cell's source, by cell id, in the order of the notebook."""


def outline(cells: Sequence[Cell]) -> tuple[str, ...]:
    """One line a cell: its id, when it ran and how it begins; cells for the agent left out."""
    shown = [cell for cell in cells if _is_theirs(cell)]
    lines = [_line(cell) for cell in shown]
    if len(lines) <= FIRST_CELLS + LAST_CELLS:
        return tuple(lines)
    gone = f"… {len(lines) - FIRST_CELLS - LAST_CELLS} more; read_notebook shows them"
    return (*lines[:FIRST_CELLS], gone, *lines[-LAST_CELLS:])


def marks_of(cells: Sequence[Cell]) -> Marks:
    """What the cells are like now, to tell later what became of them."""
    return {cell.id: source_hash(cell.source) for cell in cells}


def cell_changes(
    before: Marks, cells: Sequence[Cell], executed: Collection[str]
) -> tuple[str, ...]:
    """What a person did to the cells, a few lines each.

    Args:
        before: What they were like.
        cells: What they are like now.
        executed: Sources that the person ran, which are told elsewhere.
    """
    told: list[str] = []
    others = 0
    for cell in cells:
        known = before.get(cell.id)
        if known == source_hash(cell.source) or not _is_theirs(cell):
            continue
        if len(told) == CHANGES_TOLD:
            others += 1
            continue
        what = "edited" if known else "added"
        ran = cell.source in executed
        body = " and ran it" if ran else f":\n{_indented(cell.source[:SOURCE_CHARACTERS])}"
        told.append(f"the person {what} cell {cell.id}{body}")
    if others:
        told.append(f"and {others} more cells; read_notebook shows them")
    gone = [cell_id for cell_id in before if cell_id not in {cell.id for cell in cells}]
    if gone:
        told.append(f"cells that are gone: {', '.join(gone)}")
    return tuple(told)


def _is_theirs(cell: Cell) -> bool:
    return bool(cell.cell_type != "code" or without_own_magics([cell.source]))


def _line(cell: Cell) -> str:
    first = next((line for line in cell.source.splitlines() if line.strip()), "").strip()
    cut = first if len(first) <= LINE_CHARACTERS else f"{first[: LINE_CHARACTERS - 1]}…"
    if cell.cell_type != "code":
        return f"{cell.id} {cell.cell_type}: {cut}"
    ran = f"[{cell.execution_count}]" if cell.execution_count is not None else "[ ]"
    failed = next((o.ename for o in cell.outputs if isinstance(o, ErrorOutput)), "")
    return f"{cell.id} {ran} {cut}" + (f"  -> {failed}" if failed else "")


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())
