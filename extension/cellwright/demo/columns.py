"""Columns of a table as far as they are known: what they hold and how their text could be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any, Literal

DAYS = ("%Y-%m-%d", "%Y/%m/%d", "%Y.%m.%d", "%m/%d/%Y", "%d/%m/%Y", "%d.%m.%Y", "%d-%m-%Y")
TIMES = ("", *(f"{mark}%H:%M{end}" for mark in " T" for end in (":%S", "", ":%S%z", ":%S.%f")))
WRITTEN_DAYS = ("%d %b %Y", "%d %B %Y", "%b %d, %Y", "%b %d %Y", "%B %d, %Y", "%d-%b-%Y")
DATE_FORMATS = (
    *(day + time for day in DAYS for time in TIMES),
    *WRITTEN_DAYS,
    "%Y-%m",
    "%Y年%m月%d日",
)
MISSING_WORDS = frozenset(
    ["", "-", "--", "?", "n/a", "na", "n.a.", "nan", "none", "null", "tbc", "tbd", "unknown"]
    + ["missing", "pending"]
)
SYMBOLS = re.compile(r"[$€£¥%\s]")
ADDITIVE = re.compile(
    r"revenue|sales|turnover|amount|profit|units|quantity|qty|orders|visits|passengers|count\b"
    r"|^total(?:[ _](?:amount|price|value|sales|eur|usd|gbp))?\s*(?:$|[(\[])"
    r"|precipitation|rainfall|kwh|mwh|energy|votes|downloads|deaths|fatalities|casualties"
    r"|死亡(?!率)|伤亡(?!率)|收入|营收|销售|金额|数量|利润(?!率)|销量|订单|降水",
    re.I,
)
YEAR = re.compile(
    r"year|年份|年度|(?:^|_| )yr(?:$|_| )|^found(?:ed|ation)$|^established$|^built$|建成|成立", re.I
)
IDENTIFIER = re.compile(
    r"(?:^|_| )(?:id|key|code|index|postal|zip)(?:$|_| )|(?:^|_| )(?:no|nr|number)\.?$"
    r"|^unnamed|号$|编码$",
    re.I,
)
COUNTER = re.compile(r"rownames?|index|unnamed.*|序号|#", re.I)
NUMBERED = re.compile(r"flight|invoice|ticket|order|receipt|room|gate|train|bus|trip", re.I)
FLAGS = (
    ("1", "0"),
    ("1.0", "0.0"),
    ("true", "false"),
    ("yes", "no"),
    ("y", "n"),
    ("是", "否"),
    ("有", "无"),
)
NumberStyle = Literal["plain", "symbols", "comma"]
"""How numbers are written: with thousands commas at most, with signs, with a decimal comma."""


@dataclass(frozen=True)
class Column:
    """One column."""

    name: Any
    """The label as pandas has it, mostly text."""
    dtype: str
    missing: int = 0
    counts: Mapping[Any, int] = field(default_factory=dict, hash=False)
    """How often each of its most frequent values occurs."""
    rows: int = 0
    """How many rows the table has."""

    @cached_property
    def kind(self) -> Literal["number", "date", "text"]:
        """What it holds now."""
        if re.match(r"u?int|float|decimal|double", self.dtype, re.I):
            return "number"
        return "date" if self.dtype.startswith(("datetime64", "timestamp")) else "text"

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Some of its values, as text."""
        return tuple(map(str, self.counts))

    @cached_property
    def first(self) -> tuple[str, ...]:
        """The values by which it is judged; others may be odd."""
        return tuple(text for text in self.examples if not is_missing_word(text))[:3]

    @cached_property
    def reads_as(self) -> Literal["number", "date", "text"]:
        """What it holds once its text has been read as numbers or dates."""
        if self.kind != "text" or self.dtype in ("bool", "boolean", "category"):
            return self.kind
        if date_format(self.first):
            return "date"
        return "number" if _are_numbers(self.first) else "text"

    @property
    def needs_reading(self) -> bool:
        """Whether it is text that holds numbers or dates."""
        return self.reads_as != self.kind

    @cached_property
    def is_whole(self) -> bool:
        """Whether ``counts`` has every value."""
        return bool(self.counts) and sum(self.counts.values()) >= self.rows - self.missing

    @property
    def is_key(self) -> bool:
        """Whether hardly any value occurs twice, so that it names rows."""
        return max(self.counts.values(), default=2) == 1

    @property
    def is_identifier(self) -> bool:
        """Whether it names rows instead of measuring something."""
        return bool(IDENTIFIER.search(str(self.name)))

    @property
    def is_counter(self) -> bool:
        """Whether it only numbers the rows, so that nobody knows one by it."""
        return bool(COUNTER.fullmatch(str(self.name)))

    @property
    def is_additive(self) -> bool:
        """Whether its sum is what is usually meant."""
        return bool(ADDITIVE.search(str(self.name)))

    @property
    def is_number_of_thing(self) -> bool:
        """Whether it is called like a thing and holds its number, as a column "flight" does."""
        return self.dtype.startswith("int") and bool(NUMBERED.fullmatch(str(self.name)))

    @property
    def is_year(self) -> bool:
        """Whether it is a number that names years."""
        return self.reads_as == "number" and bool(YEAR.search(str(self.name)))

    @property
    def has_time(self) -> bool:
        """Whether its dates have, or may have, a time of day."""
        return not self.counts or any(":" in text for text in self.first)

    @cached_property
    def flags(self) -> tuple[Any, Any] | None:
        """Its values for yes and for no, where it has only these."""
        if not self.is_whole or len(self.counts) > 2:
            return None
        shown = {str(value).lower(): value for value in self.counts}
        for yes, no in FLAGS:
            if shown.keys() <= {yes, no}:
                return shown.get(yes, _like(yes, shown)), shown.get(no, _like(no, shown))
        return None


def _like(word: str, shown: Mapping[str, Any]) -> Any:
    """A flag that does not occur, written as the other is."""
    other = next(iter(shown.values()), "")
    if isinstance(other, (bool, int, float)):
        return type(other)(word in ("1", "true", "1.0"))
    return word.capitalize() if other[:1].isupper() else word


@dataclass(frozen=True)
class TableColumns:
    """A table in the kernel."""

    name: str
    """The variable."""
    rows: int
    columns: tuple[Column, ...]
    path: str = ""
    """The file it was read from."""

    def of_kind(self, kind: str) -> tuple[Column, ...]:
        """Columns that hold ``kind``, or will once read."""
        return tuple(column for column in self.columns if column.reads_as == kind)


@cache
def date_format(examples: tuple[str, ...]) -> str:
    """The first known format that reads all examples; empty when none does."""
    texts = [text.strip() for text in examples]
    if not texts:
        return ""
    return next((f for f in DATE_FORMATS if all(_reads(text, f) for text in texts)), "")


def number_style(text: str) -> NumberStyle | None:
    """How a number is written in ``text``; None when it is not a number."""
    bare = SYMBOLS.sub("", text)
    if re.fullmatch(r"[-+]?\d{1,3}(\.\d{3})+,\d+|[-+]?\d+,\d{1,2}", bare):
        return "comma"
    try:
        float(bare.replace(",", ""))
    except ValueError:
        return None
    return "plain" if bare == text.strip() else "symbols"


def cleaning_code(texts: Iterable[str]) -> str:
    """String methods that leave only what the numbers in ``texts`` are made of."""
    styles = {number_style(text) for text in texts}
    if "comma" in styles:
        return r'.str.replace(r"[^\d,-]", "", regex=True).str.replace(",", ".")'
    if "symbols" in styles:
        return r'.str.replace(r"[^\d.\-]", "", regex=True)'
    return '.str.replace(",", "")'


def is_missing_word(text: str) -> bool:
    """Whether ``text`` stands for a missing value."""
    return text.strip().lower() in MISSING_WORDS


def _are_numbers(examples: tuple[str, ...]) -> bool:
    values = [text for text in examples if not is_missing_word(text)]
    return bool(values) and all(number_style(text) for text in values)


def _reads(text: str, form: str) -> bool:
    try:
        datetime.strptime(text, form)
    except ValueError:
        return False
    return True
