"""A question in terms of a table, and why it cannot be put so."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.demo.columns import Column

DATE_SIGNS = ("year", "month", "day", "quarter", "month_of_year", "quarter_of_year", "day_of_week")


@dataclass(frozen=True)
class Group:
    """What rows are put together by."""

    column: Column
    bucket: str = ""
    """The unit of time that a date is cut to."""

    @property
    def label(self) -> str:
        """The name of the column in the result."""
        return self.bucket or str(self.column.name)


@dataclass(frozen=True)
class Aggregate:
    """A column's own mean or median, as in "above average"."""

    function: str


@dataclass(frozen=True)
class PartOfText:
    """What a text holds, or begins with."""

    said: str
    """How the question says it."""
    word: str
    at_start: bool = False

    def __str__(self) -> str:
        return self.said


@dataclass(frozen=True)
class Filter:
    """Which rows count."""

    column: Column
    sign: str
    """A comparison, ``in``, ``between``, ``missing``, or a part of a date such as ``month``."""
    value: Any = None
    """What it is compared with; a ``Column``: what the same row has there."""
    place: int = 0
    """Where it stands in the question."""
    joined_by: str = ""
    """The word between the values of a list."""


@dataclass(frozen=True)
class Query:
    """A question in terms of the table."""

    task: str
    measures: tuple[Column, ...] = ()
    functions: tuple[str, ...] = ()
    by: tuple[Group, ...] = ()
    subject: Group | None = None
    """What the best or the top N of is looked for."""
    filters: tuple[Filter, ...] = ()
    base: tuple[Filter, ...] = ()
    """Of which rows a share is taken."""
    lowest: bool = False
    limit: int = 1
    nth: bool = False
    """Only the last of the ``limit`` best is meant, as in "the third highest"."""
    chart: str = ""
    rule: str = "iqr"
    """Which form of its kind it is: outliers by ``iqr`` or ``z``, gaps as a ``share``, in ``rows``
    or rows that are ``complete``, different values with what is ``named``, an extreme that has the
    ``most``, a correlation by ``pearson`` or ``spearman``."""
    order: str = ""
    """How a table of groups is sorted, where the question says it."""
    difference: bool = False
    """Two groups are compared."""
    by_column: bool = False
    """Gaps are counted for each column."""
    having: Filter | None = None
    """Which groups count, by their result; its column is not looked at."""
    details: tuple[Column, ...] = ()
    """What else is asked of the rows that are found."""
    whole_rows: bool = False
    """All columns of the rows that are found are asked for."""

    @property
    def measure(self) -> Column | None:
        """The one column of numbers; None: rows are counted."""
        return self.measures[0] if self.measures else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column it needs."""
        groups = [*self.by, *([self.subject] if self.subject else [])]
        filters = [each.column for each in (*self.filters, *self.base)]
        filters += [each.value for each in self.filters if isinstance(each.value, Column)]
        found = [*self.measures, *(group.column for group in groups), *filters, *self.details]
        return tuple(dict.fromkeys(found))


class UnclearError(Exception):
    """A question with words that cannot be put to use.

    Args:
        words: Which.
        reason: Why, a key of the analyst's sentences; empty where the words mean nothing.
        columns: Among which columns the person has to choose.
    """

    def __init__(
        self, words: Sequence[str], reason: str = "", columns: Iterable[Column] = ()
    ) -> None:
        super().__init__(reason, *words)
        self.words = tuple(words)
        self.reason = reason
        self.columns = tuple(dict.fromkeys(columns))
