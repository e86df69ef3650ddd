"""Rows of a list in the order of one of its columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Columns = Mapping[str, Callable[[T], Any]]
"""What each column of a list sorts by; None: nothing is known of it."""


def ordered(rows: Sequence[T], sort: str, columns: Columns[T]) -> list[T]:
    """The rows sorted by a column; what is not known comes last either way.

    Args:
        rows: As they come; those that are equal stay so.
        sort: Name of a column, with ``-`` before it the largest first; another name changes
            nothing.
        columns: The columns that there are.
    """
    value_of = columns.get(sort.removeprefix("-"))
    if value_of is None:
        return list(rows)
    known = [(value, row) for row in rows if (value := value_of(row)) is not None]
    known.sort(key=lambda pair: pair[0], reverse=sort.startswith("-"))
    return [row for _, row in known] + [row for row in rows if value_of(row) is None]


def natural(text: str) -> tuple[tuple[int, int, str], ...]:
    """A text so that numbers in it count as numbers: 2 comes before 10."""
    parts = re.split(r"([0-9]{1,18})", text.casefold())
    return tuple(
        (1, 0, part) if at % 2 == 0 else (0, int(part), "") for at, part in enumerate(parts)
    )
