"""What a tool result says: an error, columns, a table, a number.

The text around it is unknown and may be cut, so only the lines that are looked for are read.
"""

from __future__ import annotations

import ast
import contextlib
import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

FAILURE = re.compile(
    r"^\W*(?:\w+: )?(?:\w+\.)*([A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning))"
    r"(?::[ \t]*(.*))?$",
    re.M,
)
FOOTER = re.compile(r"(?:changed|removed|files): |\[")
"""What a tool adds below the output of a cell."""
ROWS = re.compile(r"^\W*(\d+) rows\b", re.M)


@dataclass(frozen=True)
class Failure:
    """The exception a cell ended with."""

    name: str
    message: str
    """Its first line."""


def failure(text: str) -> Failure | None:
    """The error a tool result reports, the last one when there are several."""
    found = FAILURE.findall(text)
    return Failure(found[-1][0], found[-1][1].strip()) if found else None


def row_count(text: str) -> int:
    """The number in a line such as ``360 rows``; 0 when there is none."""
    found = ROWS.search(text)
    return int(found[1]) if found else 0


def overview_lines(text: str) -> list[dict[str, Any]]:
    """The JSON objects, one a line, that describe a column each."""
    return [item for item in _objects(text) if "column" in item and "dtype" in item]


def facts(text: str) -> dict[str, Any]:
    """The JSON objects of ``text``, one a line, put together."""
    found: dict[str, Any] = {}
    for item in _objects(text):
        found |= item
    return found


def table(text: str, header: Sequence[str]) -> list[list[str]]:
    """The rows of the first CSV table in ``text`` that begins with ``header``."""
    line_of_header = _csv_line(header)
    lines = text.splitlines()
    for place, line in enumerate(lines):
        if line.strip().endswith(line_of_header):
            return _rows(lines[place + 1 :], len(header))
    return []


def labelled(text: str, label: str) -> str:
    """What stands after ``label:`` on its line; empty when it is not there."""
    found = re.search(rf"(?:^|\s){re.escape(label)}: (.*)$", text, re.M)
    return found[1].strip() if found else ""


def listed(text: str, label: str) -> list[str]:
    """The Python list printed after ``label:``, as texts."""
    try:
        found = ast.literal_eval(labelled(text, label))
    except (ValueError, SyntaxError):
        return []
    return [str(item) for item in found] if isinstance(found, list) else []


def without_footer(text: str) -> str:
    """The text without what a tool adds below the output of a cell."""
    lines = text.rstrip().splitlines()
    while lines and FOOTER.match(lines[-1]):
        lines.pop()
    return "\n".join(lines)


def _objects(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        start = line.find("{")
        if start >= 0:
            with contextlib.suppress(ValueError):
                yield json.loads(line[start:])


def _csv_line(fields: Sequence[str]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(fields)
    return line.getvalue()


def _rows(lines: list[str], width: int) -> list[list[str]]:
    rows = []
    for row in csv.reader(lines):
        if len(row) != width or FOOTER.match(row[0]):
            break
        rows.append(row)
    return rows
