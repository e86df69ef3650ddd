"""Where a wish's words name columns, and which part each of them plays."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.wishes import BUCKETS, SUBJECT_BEFORE, Bucket, PromptWish

MEASURES = ("revenue", "sales", "turnover", "amount", "total", "value", "profit", "income", "price")
WORD = re.compile(r"[^\W_]+")
NO_ARTICLE = r"(?!\s+(?!(?:by|per|for|in|and|over|vs|against|from|of)\b)[a-z])"
"""The column "a" is not the "a" of "a plot"."""
FEW_VALUES = 40
FEW_IN_A_PLOT = 12
"""With more values than this, two numbers make a scatter plot."""
VALUE = re.compile(r"[\"“`]([^\"”`]+)[\"”`]|\b(?:19|20)\d\d\b|(?<=[a-z,] )[A-Z][\w-]*")
NO_VALUES = frozenset({"I", "CSV", "DataFrame", "Excel", "Python"})
COMMON_WORDS = frozenset(
    # fmt: off
    (
        "about",
        "across",
        "average",
        "best",
        "bottom",
        "chart",
        "column",
        "columns",
        "count",
        "data",
        "draw",
        "each",
        "every",
        "file",
        "find",
        "from",
        "have",
        "highest",
        "leave",
        "lowest",
        "mean",
        "median",
        "most",
        "plot",
        "show",
        "table",
        "than",
        "that",
        "then",
        "there",
        "these",
        "this",
        "total",
        "value",
        "values",
        "what",
        "which",
        "with",
    )
    # fmt: on
)


@dataclass(frozen=True)
class Group:
    """What rows are put together by."""

    column: Column
    bucket: Bucket = ""
    """The unit of time a date is cut to."""

    @property
    def label(self) -> str:
        """The name of the column in the result."""
        return self.bucket or str(self.column.name)


@dataclass(frozen=True)
class Mention:
    """A place in the text that names a column, or a unit of time of a date column."""

    group: Group
    start: int
    end: int


@dataclass(frozen=True)
class Query:
    """A wish put in terms of columns."""

    measure: Column | None
    """None: rows are counted."""
    function: str
    by: tuple[Group, ...] = ()
    subject: Group | None = None
    """What the best or the top N of is looked for."""
    lowest: bool = False
    limit: int = 1
    second: Column | None = None
    """Another number, for a scatter plot."""

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column it needs."""
        groups = [*self.by, *([self.subject] if self.subject else [])]
        found = [self.measure, self.second, *(group.column for group in groups)]
        return tuple(dict.fromkeys(column for column in found if column is not None))

    @property
    def value_label(self) -> str:
        """The name of the summed-up column in the result."""
        return "count" if self.measure is None else str(self.measure.name)


def closest(name: str, names: Iterable[str]) -> str:
    """The most similar of ``names``, upper and lower case alike; empty when none is near."""
    by_lower = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), list(by_lower), 1, 0.6)
    return by_lower[found[0]] if found else ""


def mentions(text: str, frame: TableColumns) -> list[Mention]:
    """Columns named in ``text``, in order, none overlapping another."""
    taken: list[Mention] = []
    for column in sorted(frame.columns, key=lambda c: -len(str(c.name))):
        for found in _exactly(text, column):
            _add(taken, Mention(Group(column), found.start(), found.end()))
    dates = frame.of_kind("date")
    for bucket, pattern in BUCKETS:
        for found in pattern.finditer(text) if dates else ():
            date = next((m.group.column for m in taken if m.group.column in dates), dates[0])
            _add(taken, Mention(Group(date, bucket), found.start(), found.end()))
    named = {mention.group.column for mention in taken if not mention.group.bucket}
    rest = [column for column in frame.columns if column not in named]
    for found in WORD.finditer(text):
        similar = _similar(found[0].lower(), rest)
        if similar is not None:
            _add(taken, Mention(Group(similar), found.start(), found.end()))
    return sorted(taken, key=lambda mention: mention.start)


def read_query(wish: PromptWish, frame: TableColumns) -> Query | None:
    """The wish in terms of columns; None when it names nothing that is there."""
    found = mentions(wish.text, frame)
    groups, numbers = _split(wish, found)
    measure = numbers[0].group.column if numbers else None
    if not groups and measure is None and not (wish.function or wish.extreme):
        return None
    subject = _subject(wish, groups)
    if wish.wants_time and not any(m.group.column.reads_as == "date" for m in groups):
        groups = [*(Mention(Group(date), 0, 0) for date in frame.of_kind("date")[:1]), *groups]
    if measure is None and wish.function != "count" and (wish.function or subject):
        measure = _default_measure(frame)
    by = dict.fromkeys(m.group for m in groups if m is not subject)
    return Query(
        measure=measure,
        function=_function(wish, measure, subject is not None),
        by=tuple(_without_raw_dates(list(by), subject)),
        subject=subject.group if subject else None,
        lowest=wish.extreme == "low",
        limit=max(1, wish.limit),
        second=numbers[1].group.column if len(numbers) > 1 else None,
    )


def left_over(wish: PromptWish, frame: TableColumns) -> list[str]:
    """Words that look like values to pick rows by, which no rule here uses."""
    found = mentions(wish.text, frame)
    return [
        (value[1] or value[0]).strip()
        for value in VALUE.finditer(wish.text)
        if all(value.end() <= m.start or value.start() >= m.end for m in found)
        and value[0] not in NO_VALUES
    ]


def _exactly(text: str, column: Column) -> Iterator[re.Match[str]]:
    """Places that write the column's name, spaces for underscores and a plural included."""
    name = str(column.name)
    parts = [re.escape(part) for part in re.split(r"[\s_\-]+", _spaced(name)) if part]
    if not parts:
        return iter(())
    body = r"[\s_\-]*".join([*parts[:-1], _plural(parts[-1])])
    edge = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
    if len(name) == 1:
        body, edge = re.escape(name), (edge[0], edge[1] + NO_ARTICLE)
    return re.finditer(f"{edge[0]}{body}{edge[1]}", text, re.I)


def _spaced(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _plural(word: str) -> str:
    if word.endswith("y"):
        return f"{word[:-1]}(?:y|ies)"
    stem = word.removesuffix("s") if len(word) > 3 else word
    return f"{stem}(?:s|es)?" if word.isascii() else word


def _similar(word: str, columns: list[Column]) -> Column | None:
    """The one column that has ``word`` as a part of its name, or nearly."""
    if len(word) < 4 or word in COMMON_WORDS:
        return None
    parts = {c: [p.lower() for p in WORD.findall(_spaced(str(c.name)))] for c in columns}
    singular = word.removesuffix("s")
    holding = [c for c in columns if any(p.removesuffix("s") == singular for p in parts[c])]
    if len(holding) == 1:
        return holding[0]
    starting = [c for c in columns if any(len(p) > 3 and word.startswith(p) for p in parts[c])]
    if len(starting) == 1:
        return starting[0]
    near = difflib.get_close_matches(word, [str(c.name).lower() for c in columns], 1, 0.8)
    return next((c for c in columns if near and str(c.name).lower() == near[0]), None)


def _add(taken: list[Mention], new: Mention) -> None:
    if all(new.end <= old.start or new.start >= old.end for old in taken):
        taken.append(new)


def _split(wish: PromptWish, found: list[Mention]) -> tuple[list[Mention], list[Mention]]:
    """Mentions to group by, and numbers to sum up."""
    groups = [m for m in found if m.group.bucket or m.group.column.reads_as != "number"]
    numbers = [m for m in found if m not in groups]
    by = wish.by_places()
    if len(numbers) > 1 and by and wish.chart != "scatter":
        # "mean price by year", where year is a number with few values
        limit = FEW_IN_A_PLOT if wish.tasks[-1:] == ("plot",) and not wish.function else FEW_VALUES
        few = [m for m in numbers[1:] if 0 < m.group.column.unique <= limit and min(by) <= m.start]
        groups += few
        numbers = [m for m in numbers if m not in few]
    return sorted(groups, key=lambda mention: mention.start), numbers


def _subject(wish: PromptWish, groups: list[Mention]) -> Mention | None:
    """The group whose best is looked for: "which month …", "top 5 products"."""
    if not wish.extreme:
        return None
    near = [m for m in groups if SUBJECT_BEFORE.search(wish.text[: m.start])]
    if near:
        return near[0]
    by = wish.by_places()
    before = [
        m for m in groups if m.start < wish.extreme_at and not any(end <= m.start for end in by)
    ]
    return before[0] if before else None


def _default_measure(frame: TableColumns) -> Column | None:
    numbers = [column for column in frame.of_kind("number") if not column.is_identifier]
    for word in MEASURES:
        for column in numbers:
            if word in str(column.name).lower():
                return column
    return numbers[0] if numbers else None


def _function(wish: PromptWish, measure: Column | None, has_subject: bool) -> str:
    if measure is None:
        return "count"
    if wish.function and (wish.function != "count" or measure.is_identifier):
        return wish.function
    if wish.extreme and (not has_subject or measure.is_averaged):
        return "max" if wish.extreme == "high" else "min"
    return "mean" if measure.is_averaged else "sum"


def _without_raw_dates(by: list[Group], subject: Mention | None) -> list[Group]:
    """A date named beside one of its own units is the same group twice."""
    cut = {group.column for group in by if group.bucket}
    if subject is not None and subject.group.bucket:
        cut.add(subject.group.column)
    return [group for group in by if group.bucket or group.column not in cut]
