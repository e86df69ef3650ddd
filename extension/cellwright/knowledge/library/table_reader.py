"""Tables as text: the names of their columns and their first rows."""

from __future__ import annotations

import csv
import io
import itertools

from cellwright.knowledge.library import CHUNK_CHARACTERS, Section

ROW_LIMIT = 20
CELL_CHARACTERS = 60
SNIFFED_CHARACTERS = 8_192
DELIMITERS = ",;\t|"


def table_sections(text: str) -> tuple[Section, ...]:
    """The columns of a table and as many of its first rows as fit into a piece."""
    sample = text[:SNIFFED_CHARACTERS]
    try:
        dialect: type[csv.Dialect] = csv.Sniffer().sniff(sample, DELIMITERS)
    except csv.Error:
        dialect = csv.excel
    reader = csv.reader(io.StringIO(text, newline=""), dialect)
    rows = list(itertools.islice(reader, ROW_LIMIT + 1))
    if not rows:
        return ()
    lines = [f"columns: {', '.join(_cells(rows[0]))}"]
    for row in rows[1:]:
        line = " | ".join(_cells(row))
        if sum(map(len, lines)) + len(line) > CHUNK_CHARACTERS:
            break
        lines.append(line)
    return (Section("\n".join(lines), "first rows", "line 1"),)


def _cells(row: list[str]) -> list[str]:
    return [" ".join(cell.split())[:CELL_CHARACTERS] for cell in row]
