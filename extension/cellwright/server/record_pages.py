"""What pages of records need: a record cut to a size that they can take, rows in an order."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

WHOLE_CHARACTERS = 6_000_000
TEXT_CHARACTERS = 200_000
PICTURE_CHARACTERS = 2_000_000
SHORTEST_CUT = 200
"""What is shorter stays, also when there is no room left."""


def trimmed(document: Any) -> Any:
    """Plain JSON data of at most a few megabytes."""
    return _Trimmer(WHOLE_CHARACTERS).value(document)


class _Trimmer:
    """Takes from the start of a document what there is room for."""

    def __init__(self, room: int) -> None:
        self._room = room

    def value(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, list):
            return [self.value(item) for item in value]
        if isinstance(value, dict):
            return self._object(value)
        return value

    def _object(self, value: dict[str, Any]) -> dict[str, Any]:
        kept, left_out = {}, 0
        for key, item in value.items():
            if isinstance(item, str) and (key.startswith("image/") or key == "application/pdf"):
                if len(item) > min(PICTURE_CHARACTERS, self._room):
                    left_out += len(item)
                    continue
                self._room -= len(item)
                kept[key] = item
            else:
                kept[key] = self.value(item)
        if left_out:
            kept["text/plain"] = f"(a picture of {left_out // 1_333:,} kB is left out here)"
        return kept

    def _text(self, text: str) -> str:
        is_picture = text.startswith("data:")
        limit = min(PICTURE_CHARACTERS if is_picture else TEXT_CHARACTERS, self._room)
        if len(text) <= max(limit, SHORTEST_CUT):
            self._room = max(0, self._room - len(text))
            return text
        if is_picture:
            return ""
        limit = max(limit, SHORTEST_CUT)
        self._room = max(0, self._room - limit)
        return f"{text[:limit]}\n… ({len(text) - limit:,} more characters are left out here)"


# Rows in the order of a column.


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
