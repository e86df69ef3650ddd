"""What a question asks of a table: every word plays a part, or the question is refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.words import (
    BUCKETS,
    Token,
    has_unit,
    is_only_part,
    read_tokens,
    time_unit,
)

SOFT = frozenset(
    ["fill", "end", "ask", "which", "and", "noun", "row", "then", "load", "folder", "span"]
)
"""Words that may stand anywhere without changing what is asked."""
SPLITTING = frozenset(["col", "fn", "count", "share", "cmp", "datecmp", "ext", "most"])
"""Words between two values that show that they are not two of one list."""
VALUED = frozenset(["value", "weak", "date", "number", *("month_of_year", "day_of_week")])
EQUALS = frozenset(["is", "are", "was", "were", "of", "a", "the", "equal", "=", "是", "为"])
VERBS = frozenset(
    [
        "is",
        "are",
        "was",
        "were",
        "be",
        "have",
        "has",
        "had",
        "do",
        "does",
        "did",
        "come",
        "comes",
        "came",
        "contain",
        "是",
        "有",
        "中",
        "为",
    ]
)
GROUPED = frozenset(["count", "groups", "best", "distinct", "share", "chart"])
UNFILTERED = frozenset(["describe", "clean", "columns"])
LIMITED = frozenset(["extreme", "best", "head"])
COUNTS_OF = frozenset(["number of", "count", "count of", "数量", "个数", "人数", "数"])
EACH = frozenset(["各", "每", "each", "分组"])
MEASURE_WORDS = frozenset(["个", "名", "位", "辆"])
ASKS_WHO = frozenset(["who", "谁", "是谁"])
NAMED = frozenset(["noun", "row", "col"])
LASTS = re.compile(r"时|长|time|hour|minute|duration", re.I)
"""Columns of which "分" may mean minutes."""
HAN_UNITS = frozenset(["天", "日", "个月"])
DATE_PARTS = ("month_of_year", "quarter_of_year", "day_of_week")
GROUP_VALUES = 60
DRAWN_NUMBERS = 20
DRAWN_LINES = 8
DEFAULT_ROWS = 5


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
class Filter:
    """Which rows count."""

    column: Column
    sign: str
    """A comparison, ``in``, ``between``, ``year`` or ``month``."""
    value: Any
    place: int = 0
    """Where it stands in the question."""


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
    chart: str = ""
    rule: str = "iqr"
    difference: bool = False
    """Two groups are compared."""
    nth: bool = False
    """Only the last of the ``limit`` best is meant, as in "the third highest"."""

    @property
    def measure(self) -> Column | None:
        """The one column of numbers; None: rows are counted."""
        return self.measures[0] if self.measures else None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column it needs."""
        groups = [*self.by, *([self.subject] if self.subject else [])]
        filters = [each.column for each in (*self.filters, *self.base)]
        found = [*self.measures, *(group.column for group in groups), *filters]
        return tuple(dict.fromkeys(found))


class GrammarError(Exception):
    """A question with words that cannot be put to use.

    Args:
        words: Which.
        reason: Why, a key of the analyst's sentences; empty where the words mean nothing.
    """

    def __init__(
        self, words: Sequence[str], reason: str = "", columns: Sequence[Column] = ()
    ) -> None:
        super().__init__(", ".join(words))
        self.words = tuple(words)
        self.reason = reason
        self.columns = tuple(columns)


def read_query(
    text: str,
    frame: TableColumns,
    found: Iterable[tuple[Column, str]] = (),
    previous: Query | None = None,
) -> Query:
    """What one sentence asks.

    Args:
        text: The sentence.
        frame: The table.
        found: Values of its columns beside those that the look at it showed.
        previous: What the sentence before asked, for "plot it".

    Raises:
        GrammarError: Some of its words have no part in what is asked.
    """
    tokens = _settle_participles(read_tokens(text, frame, found))
    unknown = [token.text for token in tokens if token.kind in ("word", "half")]
    if unknown:
        raise GrammarError(unknown)
    try:
        return _Reading(tokens, frame, previous).query()
    except GrammarError as refused:
        words = refused.words or [t.text for t in tokens if t.kind not in ("fill", "end")]
        raise GrammarError(
            list(filter(None, words)) or [text], refused.reason, refused.columns
        ) from None


def _settle_participles(tokens: list[Token]) -> list[Token]:
    """Leave out "used" of "kwh used by each site"; "used cars" are not all cars."""
    settled = []
    for token in tokens:
        before, after = (
            tokens[place].kind if 0 <= place < len(tokens) else ""
            for place in (token.place - 1, token.place + 1)
        )
        attribute = after in NAMED and before not in NAMED
        kind = "word" if attribute else "fill"
        settled.append(replace(token, kind=kind) if token.kind == "participle" else token)
    return settled


def unknown_words(text: str, frame: TableColumns) -> list[str]:
    """Runs of words that mean nothing for the table as far as it is known."""
    runs: list[str] = []
    last = -2
    for token in read_tokens(text, frame):
        if token.kind == "word":
            runs = (
                [*runs[:-1], f"{runs[-1]} {token.text}"]
                if token.place == last + 1
                else [*runs, token.text]
            )
            last = token.place
    return runs


def similar_names(word: str, frame: TableColumns) -> list[str]:
    """Columns whose names look like a word."""
    names = {str(column.name).lower(): str(column.name) for column in frame.columns}
    return [names[near] for near in difflib.get_close_matches(word.lower(), names, 2, 0.7)]


@dataclass
class _Reading:
    tokens: list[Token]
    frame: TableColumns
    previous: Query | None
    used: set[int] = field(default_factory=set)
    by: list[Group] = field(default_factory=list)
    filters: list[Filter] = field(default_factory=list)
    limit: int = 0
    is_nth: bool = False

    def query(self) -> Query:
        self._settle_names()
        self._read_limit()
        self._read_groups()
        self._read_filters()
        for token in self._all("by"):
            near = self._beside(token.place, 1)
            if near is not None and near.kind == "value" or (self.by and token.text in EACH):
                self._use(token)
        query = replace(self._task(), nth=self.is_nth)
        if self.is_nth and (query.task not in LIMITED or query.by or query.task == "head"):
            raise GrammarError([str(self.limit)], "unused")
        if all(group.column.reads_as == "text" for group in query.by) and query.by:
            self._take("sorted")
        self._check_panel(query)
        self._check_parts(query)
        left = [
            token
            for token in self.tokens
            if token.place not in self.used and not self._is_soft(token)
        ]
        if left:
            raise GrammarError([token.text for token in left], "unused")
        return query

    def _check_panel(self, query: Query) -> None:
        """Refuse to add up, over the years, what each thing has in each year, such as people."""
        years = [c for c in self.frame.of_kind("number") if str(c.name).lower() in ("year", "年份")]
        is_sum = "sum" in query.functions or (query.task == "share" and query.measures)
        if not is_sum or not years or years[0] in query.columns:
            return
        added = [c for c in query.measures if not c.is_additive]
        things = self.frame.of_kind("text")
        if added and any(c.unique * years[0].unique == self.frame.rows for c in things):
            raise GrammarError([str(c.name) for c in added], "panel")

    def _check_parts(self, query: Query) -> None:
        """See that a task makes use of groups, filters and a number of rows, where they are."""
        if self.by and query.task not in GROUPED:
            raise GrammarError([group.label for group in self.by], "unused")
        if self.filters and query.task in UNFILTERED:
            raise GrammarError([str(each.value) for each in self.filters], "unused")
        if self.limit and query.task not in LIMITED:
            raise GrammarError([str(self.limit)], "unused")
        who = [t for t in self.tokens if t.text.lower() in ASKS_WHO]
        if who and (who[0].place == 0 or who[0].text != "who") and not query.subject:
            named = any(
                c.reads_as == "text" and not c.is_identifier and c.unique > self.frame.rows / 2
                for c in self.frame.columns
            )
            if not named or query.task not in ("extreme", "rows", "values", "lookup"):
                raise GrammarError([who[0].text], "unused")

    # The tokens.

    def _is_soft(self, token: Token) -> bool:
        return token.kind in SOFT or (
            token.kind in ("column", "this") and self._any("col", used=True) is not None
        )

    def _any(self, kind: str, value: Any = None, *, used: bool | None = False) -> Token | None:
        """The first token of a kind; used ones are passed over unless they are looked for."""
        for token in self.tokens:
            fits = token.kind == kind and (value is None or token.value == value)
            if fits and (used is None or (token.place in self.used) is used):
                return token
        return None

    def _all(self, kind: str) -> list[Token]:
        return [t for t in self.tokens if t.kind == kind and t.place not in self.used]

    def _take(self, *kinds: str) -> Token | None:
        """Use up all tokens of these kinds; the first of them."""
        taken = [token for kind in kinds for token in self._all(kind)]
        self.used |= {token.place for token in taken}
        return taken[0] if taken else None

    def _take_one(self, *kinds: str) -> Token | None:
        """The same for words of which only one may be said, such as "highest" and "lowest"."""
        tokens = [token for kind in kinds for token in self._all(kind)]
        if len({str(token.value).split(" ")[-1] for token in tokens}) > 1:
            raise GrammarError([token.text for token in tokens], "one_function")
        return self._take(*kinds)

    def _beside(self, place: int, step: int, over: tuple[str, ...] = ("fill",)) -> Token | None:
        """The next token to the right or the left that is no filler."""
        place += step
        while 0 <= place < len(self.tokens) and self.tokens[place].kind in over:
            place += step
        return self.tokens[place] if 0 <= place < len(self.tokens) else None

    def _use(self, *tokens: Token | None) -> None:
        self.used |= {token.place for token in tokens if token is not None}

    # Names.

    def _settle_names(self) -> None:
        """Units of time become groups of the date, or the column that is called so."""
        for token in self.tokens:
            if token.kind == "several":
                words = {w for t in self._all("super") for w in t.value.split(" ")[0].split("|")}
                fits = [c for c in token.value if _is_called(c, words)]
                if len(fits) == 1:  # "the longest petals" of petal_length and petal_width
                    self._change(token, "col", fits[0])
                    continue
                raise GrammarError([token.text], "several", token.value)
            before = self._beside(token.place, -1)
            if token.kind == "percentile" and before is not None and before.kind == "number":
                self._use(before)
                token = self._change(token, "fn", f"quantile({before.value / 100:g})")
            unit = time_unit(token.text) if token.kind == "weak" else ""
            if unit and before is not None and before.kind == "by":
                token = self._change(token, unit, None)
            if token.kind in BUCKETS:
                self._settle_unit(token, before is not None and before.kind == "by")

    def _settle_unit(self, token: Token, is_grouped: bool) -> None:
        dates = self.frame.of_kind("date")
        holding = [c for c in self.frame.columns if token.kind in str(c.name).lower()]
        if token.kind == "day" and not is_grouped and self._has_row_each_day(dates):
            self._change(token, "noun", None)
        elif len(dates) == 1:
            self._change(token, "bucket", Group(dates[0], token.kind))
        elif len(holding) == 1 and not dates:
            self._change(token, "col", holding[0])
        elif not dates and token.text in HAN_UNITS:
            self._change(token, "fill", None)
        else:
            raise GrammarError([token.text], "several" if dates else "no_date", dates)

    def _has_row_each_day(self, dates: Sequence[Column]) -> bool:
        """Whether "how many days" asks for rows."""
        if len(dates) != 1 or dates[0].unique != self.frame.rows:
            return False
        return all(len(text) <= len("2024-01-31") for text in dates[0].examples)

    def _change(self, token: Token, kind: str, value: Any) -> Token:
        self.tokens[token.place] = replace(token, kind=kind, value=value)
        return self.tokens[token.place]

    # "Top 5", "the 3 heaviest", "first 10".

    def _read_limit(self) -> None:
        ranks = ("ext", "most", "mode", "first", "last", "super", "latest")
        ranked = any(map(self._any, ("ext", "most", "super", "latest")))
        for token in self._all("ordinal"):
            near = self._beside(token.place, 1, ())
            if near is not None and near.kind in ("ext", "most", "mode", "super"):
                self._use(token)
                self.limit, self.is_nth = int(token.value), True
        for token in self._all("nth"):
            place, _, end = token.value.partition(" ")
            self._change(token, "ext", end)
            self.limit, self.is_nth = int(place), True
        for token in self._all("number"):
            after = self._beside(token.place, 1, ())
            names = after is not None and after.kind == "col" and after.value.reads_as == "text"
            if ranked and after is not None and (after.kind in ("row", "noun") or names):
                self.limit = token.value
                self._use(token)
                continue
            sides = (self._beside(token.place, -1), self._beside(token.place, 1))
            for beside in sides:
                if beside is not None and beside.kind in ranks and isinstance(token.value, int):
                    self.limit = token.value
                    self._use(token)
                    if beside.kind == "first" and any(
                        map(self._any, ("ext", "most", "mode", "super"))
                    ):
                        self._use(beside)
                    break

    # "By region and month".

    def _read_groups(self) -> None:
        self._read_adverbs()
        for token in self._all("by"):
            near = self._beside(token.place, 1, ("fill", "count", "column", "distinct"))
            if near is not None and near.kind in ("col", "bucket") and near.place not in self.used:
                self._use(token, *self.tokens[token.place : near.place])
                if self._ranks_by(near):
                    continue
                self._group(near)
                self._more_groups(near)
            elif near is not None and near.kind in ("noun", "row"):
                counted = any(t.kind == "count" for t in self.tokens[token.place : near.place])
                if counted or [t.value for t in self._all("fn")] == ["mean"]:
                    self._use(token)  # "by number of orders", "on average for each order"
            elif near is not None and near.kind in ("fn", "rule"):
                self._use(token)
        if self.by:
            self._take("by")
        for token in self._all("distinct"):
            near = self._beside(token.place, 1)
            if (
                near is not None
                and near.kind == "col"
                and self._any("fn")
                and not self._any("count")
            ):
                self._use(token)
                self._group(near)

    def _read_adverbs(self) -> None:
        """Take "monthly" as by month, and "over" before a column as "by"."""
        for token in self._all("bucket"):
            if token.text.lower().endswith(("ly", "annual")):
                self._group(token)
        for token in self._all("cmp"):
            near = self._beside(token.place, 1)
            if token.text.lower() == "over" and near is not None and near.kind in ("col", "bucket"):
                self._change(token, "by", "")

    def _ranks_by(self, token: Token) -> bool:
        """Whether "by" names what a ranking goes by, as in "top 5 cars by price"."""
        column = token.value
        ranked = self.limit or self._any("ext")
        return bool(
            ranked
            and isinstance(column, Column)
            and column.reads_as == "number"
            and len([t for t in self._all("col") if t.value.reads_as == "number"]) == 1
        )

    def _more_groups(self, last: Token) -> None:
        link = self._beside(last.place, 1)
        while link is not None and link.kind == "and":
            near = self._beside(link.place, 1, ("fill", "by"))
            if near is None or near.kind not in ("col", "bucket") or self._is_measure(near):
                return
            self._use(link)
            self._group(near)
            link = self._beside(near.place, 1)

    def _is_measure(self, token: Token) -> bool:
        column = token.value
        return (
            isinstance(column, Column)
            and column.reads_as == "number"
            and column.unique > GROUP_VALUES
        )

    def _group(self, token: Token) -> None:
        self._use(token)
        group = token.value if isinstance(token.value, Group) else Group(token.value)
        if group not in self.by:
            self.by.append(group)

    # Which rows count.

    def _read_filters(self) -> None:
        self._read_ranges()
        self._read_comparisons()
        self._read_number_lists()
        self._read_equal_numbers()
        self._read_dates()
        self._read_values()
        self._join_values()
        self._check_filters()

    def _read_ranges(self) -> None:
        for token in self._all("between"):
            other, link, first = (self._beside(token.place, -step, ()) for step in (1, 2, 3))
            linked = link is not None and link.kind in ("until", "and", "versus")
            if first and other and linked and first.kind == other.kind == "number":
                column = self._column_beside(first.place, token.place, first.value)
                if column is None:
                    raise GrammarError([first.text, other.text], "no_column")
                if self._beside(first.place, -1) is not self._any("range"):
                    self._use(token, first, link, other)
                    self._filter(column, "between", (first.value, other.value), token.place)
            self._change(token, "fill", None)
        for token in self._all("range"):
            first = self._beside(token.place, 1)
            link = self._beside(first.place, 1, ()) if first else None
            other = self._beside(link.place, 1) if link else None
            if not (first and link and other and first.kind == other.kind == "number"):
                if token.text.lower() == "from" or self._any("corr") or self._any("pair"):
                    self._change(token, "fill", None)
                continue
            column = self._year_column(first.value) and self._year_column(other.value)
            column = column or self._column_beside(token.place, other.place, first.value)
            if column is None:
                raise GrammarError([token.text, first.text, other.text], "no_column")
            self._use(token, first, link, other)
            self._filter(column, "between", (first.value, other.value), token.place)

    def _column_beside(self, start: int, end: int, value: Any) -> Column | None:
        """The column of numbers that stands right before or right after a comparison."""
        before = self._beside(start, -1)
        after = self._beside(end, 1, ())
        if after is not None and after.text.lower() == "of":  # "more than 10 mm of rain"
            after = self._beside(after.place, 1, ())
        before_fits = before if self._is_number(before) else None
        after_fits = after if self._is_number(after) else None
        if before_fits and after_fits:
            raise GrammarError([before_fits.text, after_fits.text], "two_columns")
        chosen = before_fits or after_fits
        if chosen is not None:
            self._use(chosen)
            return chosen.value  # type: ignore[no-any-return]
        return self._year_column(value)

    def _is_number(self, token: Token | None) -> bool:
        return (
            token is not None
            and token.kind == "col"
            and token.place not in self.used
            and token.value.reads_as == "number"
        )

    def _year_column(self, value: Any) -> Column | None:
        """The column that a number such as 1982 can only be meant for."""
        if not isinstance(value, int) or not 1500 <= value <= 2200:
            return None
        found = [
            c
            for c in self.frame.of_kind("number")
            if "year" in str(c.name).lower() or "年" in str(c.name)
        ]
        dates = self.frame.of_kind("date")
        if len(found) + len(dates) != 1:
            return None
        if found and not any(
            text[:2] in ("15", "16", "17", "18", "19", "20", "21") and len(text.split(".")[0]) == 4
            for text in found[0].examples
        ):
            return None
        return (found or list(dates))[0]

    def _filter(self, column: Column, sign: str, value: Any, place: int) -> None:
        self.filters.append(Filter(column, sign, value, place))

    def _read_comparisons(self) -> None:
        for token in [*self._all("cmp"), *self._all("datecmp"), *self._all("agecmp")]:
            near = self._beside(token.place, 1, ())
            if near is not None and near.kind in ("value", "weak") and token.value in ("=", "!="):
                continue
            number = near if near is not None and near.kind in ("number", "date") else None
            if number is None and token.kind == "datecmp":
                number = self._beside(token.place, -1, ("fill", "bucket"))
                number = number if number and number.kind in ("number", "date") else None
            if number is None or number.place in self.used:
                if token.text == "为":
                    self._use(token)
                    continue
                raise GrammarError([token.text], "no_number")
            self._compare(token, number)
        for token in self._all("postcmp"):
            number = self._beside(token.place, -1, ("fill", "points"))
            if number is None or number.kind != "number":
                raise GrammarError([token.text], "no_number")
            self._compare(token, number)

    def _compare(self, token: Token, number: Token) -> None:
        start, end = sorted((token.place, number.place))
        if token.kind == "agecmp":
            ages = [c for c in self.frame.of_kind("number") if str(c.name).lower() == "age"]
            if not ages:
                raise GrammarError([token.text], "no_column")
            self._use(token, number, *self._unit_after(end))
            return self._filter(ages[0], token.value, number.value, token.place)
        if token.kind == "datecmp" or number.kind == "date":
            dates = self.frame.of_kind("date")
            column = dates[0] if len(dates) == 1 else self._year_column(number.value)
            beside = self._beside(end, 1)
            if beside is not None and beside.kind == "bucket" and beside.text == "年":
                self._use(beside)
        else:
            column = self._column_beside(start, end, number.value)
        if column is None:
            raise GrammarError([token.text, number.text], "no_column")
        self._use(token, number)
        unit = self._beside(number.place, 1, ())
        if unit is not None and unit.kind == "points" and not LASTS.search(str(column.name)):
            self._use(unit)
        return self._filter(column, token.value, number.value, token.place)

    def _unit_after(self, place: int) -> list[Token]:
        near = self._beside(place, 1)
        return (
            [near]
            if near is not None and near.kind in ("bucket",) or (near and near.text in ("岁",))
            else []
        )

    def _read_number_lists(self) -> None:
        """Take "4 or 6 cylinders" and "neither 4 nor 6 cylinders"."""
        for token in self._all("number"):
            numbers = [token]
            link = self._beside(token.place, 1, ())
            while link is not None and link.kind == "or":
                near = self._beside(link.place, 1, ())
                if near is None or near.kind != "number":
                    break
                numbers.append(near)
                link = self._beside(near.place, 1, ())
            if len(numbers) > 1 and link is not None and self._is_number(link):
                before = self._beside(token.place, -1)
                is_not = before is not None and before.kind == "not"
                self._use(before if is_not else None)
                self._use(*self.tokens[token.place : link.place + 1])
                values = [number.value for number in numbers]
                self._filter(link.value, "not in" if is_not else "in", values, token.place)

    def _read_equal_numbers(self) -> None:
        for token in self._all("number"):
            after = self._beside(token.place, 1, ())
            if after is not None and after.text in MEASURE_WORDS:
                after = self._beside(after.place, 1, ())
            before = self._beside(token.place, -1)
            fits = [near for near in (after, before) if near and self._is_number(near)]
            if before is not None and before in fits and not self._equals(before, token):
                fits.remove(before)
            if len(fits) == 2 and before is not self.tokens[token.place - 1]:
                fits = fits[:1]
            if len(fits) == 1:
                self._use(token, fits[0])
                self._filter(fits[0].value, "==", token.value, token.place)
            elif len(fits) == 2:
                raise GrammarError([token.text], "two_columns")

    def _equals(self, before: Token, number: Token) -> bool:
        """Whether a number after a column can be its value: "size of 4", not "price in 2007"."""
        between = {t.text.lower() for t in self.tokens[before.place + 1 : number.place]}
        year = self._year_column(number.value)
        return between <= EQUALS and (year is None or year == before.value)

    def _read_dates(self) -> None:
        for token in [*self._all("number"), *self._all("date")]:
            if token.place in self.used:
                continue
            if token.kind == "date":
                day = "month" if token.text.count("-") == 1 else "day"
                self._use(token)
                self._filter(self._one_date(token), day, token.text, token.place)
                continue
            unit = self._beside(token.place, 1, ())
            if (
                unit is not None
                and unit.text == "月"
                and unit.kind == "bucket"
                and 1 <= token.value <= 12
            ):
                self._use(token, unit)
                self._filter(self._one_date(token), "month_of_year", token.value, token.place)
                continue
            column = self._year_column(token.value)
            if column is None:
                continue
            if unit is not None and unit.text == "年":
                self._use(unit)
            self._use(token)
            self._filter(
                column, "year" if column.reads_as == "date" else "==", token.value, token.place
            )
        for date_part in DATE_PARTS:
            names = self._all(date_part)
            if len(names) > 1:  # a range, or a comparison
                raise GrammarError([token.text for token in names], "unused")
            for token in names:
                self._use(token)
                part = token.value if token.value == "weekend" else int(token.value)
                sign = "weekend" if part == "weekend" else date_part
                self._filter(self._one_date(token), sign, part, token.place)

    def _one_date(self, token: Token) -> Column:
        dates = self.frame.of_kind("date")
        if len(dates) != 1:
            raise GrammarError([token.text], "no_date")
        return dates[0]

    def _read_values(self) -> None:
        for token in [*self._all("value"), *self._all("weak")]:
            near = [self._beside(token.place, step, ("fill", "cmp", "not")) for step in (-1, 1)]
            named = [
                n
                for n in near
                if n is not None and n.kind == "col" and any(c == n.value for c, _ in token.value)
            ]
            choices = [pair for pair in token.value if not named or pair[0] == named[0].value]
            if token.kind == "weak" and not named:
                raise GrammarError([token.text], "weak")
            columns = list(dict.fromkeys(column for column, _ in choices))
            if len(columns) > 1:
                raise GrammarError([token.text], "in_several", columns)
            values = [value for _, value in choices]
            sign = "in" if len(values) > 1 else "=="
            before = self._beside(token.place, -1)
            if before is not None and before.kind in ("not", "cmp") and before.value != "=":
                sign = "not in" if len(values) > 1 else "!="
            if before is not None and before.kind in ("not", "cmp"):
                self._use(before)
            after = self._beside(token.place, 1, ())
            self._use(token, after if after and after.kind == "sort" else None)
            self._use(before if before and before.kind == "via" else None)
            if sign in ("!=", "not in"):
                self._use(after if after and after.kind == "notend" else None)
            self._use(*(n for n in named if n.place not in self.used))
            self._filter(columns[0], sign, values if len(values) > 1 else values[0], token.place)

    def _join_values(self) -> None:
        """Several values of a column: either of them with "or", each by itself with "and"."""
        for column in dict.fromkeys(f.column for f in self.filters):
            same = sorted(
                (f for f in self.filters if f.column == column and f.sign in ("==", "!=")),
                key=lambda f: f.place,
            )
            if len(same) < 2 or any(f.sign == "!=" for f in same[1:]):
                continue
            between = self.tokens[same[0].place + 1 : same[-1].place]
            links = [t for t in between if t.kind in ("or", "and", "versus")]
            places = {f.place for f in same}
            others = [
                t
                for t in between
                if (t.kind in SPLITTING and t.text != "年")
                or (t.kind in VALUED and t.place not in places)
            ]
            if len(links) < len(same) - 1 or others:
                raise GrammarError([str(f.value) for f in same], "one_value")
            self._use(*links)
            self.filters = [f for f in self.filters if f not in same]
            sign = "not in" if same[0].sign == "!=" else "in"
            self._filter(column, sign, [f.value for f in same], same[0].place)
            if (
                sign == "in"
                and all(link.kind == "and" for link in links)
                and Group(column) not in self.by
            ):
                self.by.append(Group(column))

    def _check_filters(self) -> None:
        """See that no two speak against each other, and that each number keeps its unit."""
        dates = [f.column for f in self.filters if f.column.reads_as == "date"]
        self._use(*(t for t in self._all("col") if t.value in dates and t.text != t.value.name))
        for column in dict.fromkeys(f.column for f in self.filters):
            of_it = [f for f in self.filters if f.column == column]
            only = [f for f in of_it if f.sign in ("==", "in")]
            if len(of_it) > len(only) and only or len(only) > 1:
                raise GrammarError([str(f.value) for f in of_it], "one_value")
        numbers = [f.column for f in self.filters if f.column.reads_as == "number"]
        for token in self.tokens:
            if token.unit and (len(numbers) != 1 or not has_unit(numbers[0], token.unit)):
                raise GrammarError([token.text, token.unit], "unit")

    # What is asked.

    def _task(self) -> Query:
        """The task that the words left name; the first of these that they name."""
        tasks: tuple[tuple[tuple[str, ...], Callable[[], Query]], ...] = (
            (("clean",), self._clean),
            (("describe",), self._describe),
            (("chart", "draw", "into", "spread"), self._chart),
            (("corr", "pair"), self._correlation),
            (("outlier",), self._outliers),
            (("dup",), self._duplicates),
            (("missing",), self._missing),
            (("share", "rate"), self._share),
            (("mode",), self._mode),
            (("latest",), self._latest),
            (("ext", "most", "super"), self._extreme),
            (("distinctcount", "distinct"), self._distinct),
            (("fn",), self._function),
            (("count",), self._count),
            (("ask",), self._asked),
            (("first", "last"), self._some_rows),
        )
        for kinds, task in tasks:
            if any(self._all(kind) for kind in kinds):
                return task()
        return self._no_verb()

    def _query(self, task: str, **given: Any) -> Query:
        return Query(task, by=tuple(self.by), **{"filters": tuple(self.filters), **given})

    def _numbers(self) -> list[Token]:
        return [t for t in self._all("col") if t.value.reads_as == "number"]

    def _measures(self) -> tuple[Column, ...]:
        """The numbers that are left; marks such as "survived" say which rows count."""
        numbers = self._numbers()
        plain = [t for t in numbers if not t.value.is_flag]
        self._read_flags(numbers if plain else [])
        chosen = plain or numbers
        self._use(*chosen)
        return tuple(dict.fromkeys(t.value for t in chosen))

    def _read_flags(self, tokens: Iterable[Token] | None = None) -> None:
        """Take a mark that is merely named as "where it is true"."""
        for token in [*self._all("col")] if tokens is None else [*tokens, *self._all("col")]:
            if token.place in self.used or not token.value.is_flag:
                continue
            before = self._beside(token.place, -1)
            is_not = before is not None and before.kind == "not"
            self._use(token, before if is_not else None)
            yes, no = token.value.flag_values
            self._filter(token.value, "==", no if is_not else yes, token.place)

    def _clean(self) -> Query:
        self._take("clean", "missing")
        return self._query("clean")

    def _describe(self) -> Query:
        columns = tuple(dict.fromkeys(t.value for t in self._all("col")))
        self._take("describe", "about", "missing", "column", "col")
        return self._query("describe", measures=columns)

    def _no_verb(self) -> Query:
        if self._any("load") or self._any("about") or self._any("folder"):
            return self._describe()
        if self._any("column") and not self._any("col", used=None):
            self._take("column", "count")
            return self._query("columns")
        listed = self._all("col")
        if len(listed) == 1 and listed[0].value.reads_as == "date" and self._any("span"):
            return self._describe()
        if len(listed) == 1 and self._any("which") and self._is_listed(listed[0]):
            self._use(*listed)
            return self._query("values", measures=(listed[0].value,))
        return self._plain()

    def _is_listed(self, token: Token) -> bool:
        return not self._is_measure(token) and not token.value.is_flag

    def _plain(self) -> Query:
        """What is asked without any word of a task, as in "orders per month"."""
        numbers = self._numbers()
        if self.by and len(numbers) == 1 and numbers[0].value.is_additive:
            self._use(*numbers)
            return self._query("groups", functions=("sum",), measures=(numbers[0].value,))
        if self.filters or self._all("col"):
            self._read_flags()
        rest = self._all("col")
        if self.by and not rest and self._any("noun") and not self._any("which"):
            return self._query("count")  # "orders per month"
        joined = [f.column for f in self.filters if f.sign == "in"]
        if self.by and rest and all(group.column in joined for group in self.by):
            columns = [*(group.column for group in self.by), *(t.value for t in rest)]
            self._use(*rest)
            self.by = []
            return self._query("lookup", measures=tuple(dict.fromkeys(columns)))
        if self.filters and not self.by and rest:
            return self._look_up(rest)
        if (
            self.filters
            and not self.by
            and (self._any("row") or self._any("noun") or self._any("which"))
        ):
            return self._query("rows")
        left = [t.text for t in self.tokens if t.kind not in SOFT] or [t.text for t in self.tokens]
        raise GrammarError(left, "no_task")

    def _some_rows(self) -> Query:
        last = bool(self._all("last"))
        if last and self._all("first"):
            raise GrammarError(
                [t.text for t in (*self._all("first"), *self._all("last"))], "one_function"
            )
        token = self._take("first", "last")
        near = self._beside(token.place, 1) if token is not None else None
        is_one = near is not None and near.text.isascii() and not near.text.endswith("s")
        limit = self.limit or (1 if is_one else DEFAULT_ROWS)
        return self._query("head", lowest=last, limit=limit)

    def _count(self) -> Query:
        if self._any("column") and not self._any("col", used=None):
            self._take("count", "column")
            return self._query("columns")
        spans = [t for t in self._all("bucket") if self._is_counted(t)]
        if len(spans) == 1 and spans[0].value.column.unique == self.frame.rows:
            self._use(*spans)
            self._take("count", "ask")
            column = spans[0].value.column
            return self._query("distinct", measures=(column,), subject=spans[0].value)
        self._take("count")
        columns = [t for t in self._all("col") if not t.value.is_flag]
        if len(columns) == 1 and self._is_counted(columns[0]):
            column = columns[0].value
            self._use(columns[0])
            if column.reads_as == "number":
                self._take("fn")
            if column.reads_as == "number" and column.is_additive and not column.is_identifier:
                return self._query(
                    "groups" if self.by else "number", functions=("sum",), measures=(column,)
                )
            if column.reads_as == "date" or is_only_part(columns[0].text, column):
                raise GrammarError([columns[0].text], "different")
            if (
                column.reads_as != "number"
                or column.is_identifier
                or "year" in str(column.name).lower()
            ):
                return self._query("distinct", measures=(column,))
            raise GrammarError([columns[0].text], "no_task")
        self._read_flags()
        if not self._any("count", used=True) and not self._any("row") and not self._any("noun"):
            raise GrammarError(
                [t.text for t in self.tokens if t.kind not in ("fill", "end")], "no_task"
            )
        return self._query("count")

    def _asked(self) -> Query:
        """How much or how many, without saying of what, as in "中国的人口是多少"."""
        rest = [t for t in self._all("col") if not t.value.is_flag]
        if self.filters and rest and not self.by and not any(map(self._is_counted, rest[1:])):
            return self._look_up(rest)
        return self._count()

    def _look_up(self, tokens: list[Token]) -> Query:
        """What columns hold in the rows that are meant; the sum of what adds up."""
        self._use(*tokens)
        columns = tuple(dict.fromkeys(token.value for token in tokens))
        if len(columns) == 1 and columns[0].reads_as == "number" and columns[0].is_additive:
            return self._query("number", functions=("sum",), measures=columns)
        return self._query("lookup", measures=columns)

    def _is_counted(self, token: Token) -> bool:
        """Whether "how many" is about a column, not about rows."""
        near = [self._beside(token.place, step) for step in (-1, 1)]
        return any(other is not None and other.kind in ("count", "ask") for other in near)

    def _distinct(self) -> Query:
        counted = self._take("count", "distinctcount", "ask")
        self._take("distinct")
        columns = self._all("col")
        if len(columns) != 1:
            raise GrammarError([t.text for t in columns] or ["distinct"], "no_column")
        if is_only_part(columns[0].text, columns[0].value):
            raise GrammarError([columns[0].text], "different")
        self._use(*columns)
        return self._query(
            "distinct" if counted or self.by else "values", measures=(columns[0].value,)
        )

    def _duplicates(self) -> Query:
        self._take("dup", "count")
        return self._query("duplicates")

    def _missing(self) -> Query:
        share = self._take("share")
        self._take("missing", "count", "fn" if self._any("fn", "sum") else "count")
        ranked = self._take("most", "ext")
        columns = tuple(dict.fromkeys(t.value for t in self._all("col")))
        self._take("col")
        if self.by:
            raise GrammarError([group.label for group in self.by], "unused")
        each = self._any("by")
        which = (each or self._any("which")) and self._take("column")
        self._use(each if which else None)
        self._take("column")
        has_rows = self._any("row") and not columns
        kind = "by_column" if which or ranked else "rows" if has_rows else "values"
        if ranked and ranked.value == "low":
            raise GrammarError([ranked.text], "unused")
        return self._query(
            "missing", measures=columns, chart=kind, rule="share" if share else "count"
        )

    def _share(self) -> Query:
        share = self._take("share")
        for token in self._all("rate"):
            near = self._beside(token.place, -1)
            if near is None or near.kind != "col" or not near.value.is_flag:
                raise GrammarError([token.text], "no_share")
            self._use(token)
        self._use(*(t for t in self._all("count") if t.text.lower() in COUNTS_OF))
        measures = self._summed(share)
        self._read_flags()
        columns = self._all("col")
        is_part = len(columns) == 1 and not self._is_measure(columns[0])
        if not self.filters and is_part and not measures and not self.by:
            self._use(*columns)
            self.by.append(Group(columns[0].value))
        if not self.filters and not self.by:
            named = [t.text for t in self.tokens if t.kind in ("share", "rate")]
            raise GrammarError(named, "no_share")
        targets, base = self._split_share()
        return self._query("share", measures=measures, filters=tuple(targets), base=tuple(base))

    def _summed(self, share: Token | None) -> tuple[Column, ...]:
        """The numbers of which a share is taken; none: rows are counted."""
        total = self._all("fn")
        if [t.value for t in total] == ["sum"]:
            self._use(*total)
            return self._measures() if self._numbers() else ()
        if total:
            return ()
        summed = [
            t
            for t in self._numbers()
            if t.value.is_additive
            or "total" in t.text.lower()
            or (share is not None and self._beside(share.place, 1) == t)
        ]
        self._use(*summed)
        return tuple(t.value for t in summed)

    def _split_share(self) -> tuple[list[Filter], list[Filter]]:
        """The rows whose share is asked for, and those of which it is a share."""
        if len(self.filters) < 2:
            return list(self.filters), []
        rates = [self._beside(t.place, -1) for t in self.tokens if t.kind == "rate"]
        if rates:
            asked = [f for f in self.filters if rates[0] and f.place == rates[0].place]
            return asked, [f for f in self.filters if f not in asked]
        share = next(t.place for t in self.tokens if t.kind == "share")
        first, last = (f(f_.place for f_ in self.filters) for f in (min, max))
        verbs = [
            t.place
            for t in self.tokens
            if t.text.lower() in VERBS
            and t.kind in ("fill", "cmp")
            and first < t.place <= last
            and (t.place > share or share > last)
        ]
        marks = [f for f in self.filters if f.column.is_flag and f.place == last]
        split = verbs[0] if verbs else last if marks else share if first < share < last else -1
        if split < 0:
            raise GrammarError([str(f.value) for f in self.filters], "no_share")
        base = [f for f in self.filters if f.place < split]
        targets = [f for f in self.filters if f.place >= split]
        return targets, base

    def _mode(self) -> Query:
        mode = self._take_one("mode")
        self._take("count")
        if len(self._all("col")) > 1:
            self._read_flags()
        columns = self._all("col")
        if len(columns) != 1 or mode is None:
            raise GrammarError(
                [t.text for t in columns] or [mode.text if mode else ""], "no_column"
            )
        self._use(*columns)
        group = Group(columns[0].value)
        return self._query("best", subject=group, lowest=mode.value == "low", limit=self.limit or 1)

    def _extreme(self) -> Query:
        """The best row, group or value: "which car …", "the highest …", "top 5 …"."""
        token = self._take_one("super", "ext", "most")
        assert token is not None
        kind = token.value or ""
        low = kind.endswith("low")
        superlative = self._superlative(kind) if token.kind == "super" else ()
        functions = tuple(dict.fromkeys(t.value for t in self._all("fn")))
        counted = self._take("count")
        self._take("fn")
        if len(functions) > 1:
            raise GrammarError(functions, "one_function")
        subjects = self._subjects()
        measures = superlative or self._measures()
        self._read_flags()
        if (
            len(measures) > 1
            or len(subjects) > 1
            or (counted and measures and not measures[0].is_additive)
        ):
            named = [*(str(each.name) for each in measures), *(each.label for each in subjects)]
            raise GrammarError(named, "one_column")
        subject = subjects[0] if subjects else None
        if subject in self.by:
            self.by.remove(subject)
        given: dict[str, Any] = {"lowest": low, "limit": self.limit or 1, "measures": measures}
        if not measures:
            is_count = counted or self._any("row", used=None) or self._any("noun")
            if token.kind == "ext" and not is_count:
                raise GrammarError([token.text], "no_column")
            return self._most_rows(subject, functions, given)
        if subject is None and self.by and functions:
            subject = self.by.pop()
        if subject is not None:
            if "peak" in token.text.lower() or token.text == "峰值":
                functions = functions or ("min" if low else "max",)
            return self._best_subject(subject, functions, given)
        return self._highest_value(token, functions, given)

    def _latest(self) -> Query:
        """The rows with the last or the first date."""
        token = self._take_one("latest")
        assert token is not None
        date = self._one_date(token)
        self._use(*(t for t in self._all("col") if t.value == date))
        names = [t for t in self._all("col") if self._names_row(t.value)]
        self._use(*names)
        if self._any("count") or self._any("ask"):
            raise GrammarError([token.text], "unused")
        subject = Group(names[0].value) if names else None
        return self._query(
            "extreme",
            subject=subject,
            lowest=token.value == "low",
            limit=self.limit or 1,
            measures=(date,),
        )

    def _highest_value(
        self, token: Token, functions: tuple[str, ...], given: dict[str, Any]
    ) -> Query:
        if functions:
            raise GrammarError([*functions, token.text], "unused")
        function = "min" if given["lowest"] else "max"
        measures = given["measures"]
        when = None if self.by else self._take("when")
        if when is not None:
            return self._query("extreme", subject=Group(self._one_date(when)), **given)
        if self.by:
            return self._query("groups", functions=(function,), measures=measures)
        rows = any(map(self._any, ("which", "noun", "row")))
        if self.limit or token.kind == "super" or rows:
            return self._query("extreme", **given)
        return self._query("number", functions=(function,), measures=measures)

    def _most_rows(
        self, subject: Group | None, functions: tuple[str, ...], given: dict[str, Any]
    ) -> Query:
        if subject is None and self.by:
            subject = self.by.pop()
        near = next((self._beside(t.place, 1) for t in self.tokens if t.kind == "most"), None)
        is_part = near is not None and any(f.place == near.place for f in self.filters)
        counted = is_part or self._any("row") or self._any("noun")
        if subject is None or functions or not counted or (given["lowest"] and self.filters):
            raise GrammarError(
                [t.text for t in self.tokens if t.kind in ("ext", "most", "super")], "no_column"
            )
        return self._query("best", subject=subject, **given)

    def _best_subject(
        self, subject: Group, functions: tuple[str, ...], given: dict[str, Any]
    ) -> Query:
        measure: Column = given["measures"][0]
        is_most = self._any("most", used=True) is not None
        if functions:
            return self._query("best", subject=subject, functions=functions, **given)
        end = "min" if given["lowest"] else "max"
        is_row = not subject.bucket and self._names_row(subject.column)
        if is_row and not self.by:
            return self._query("extreme", subject=subject, **given)
        if measure.is_additive and (self.by or subject.bucket or given["limit"] > 1):
            return self._query("best", subject=subject, functions=("sum",), **given)
        if self.by or subject.bucket:
            raise GrammarError([str(measure.name)], "name_function")
        functions = ("sum",) if measure.is_additive or is_most else (end,)
        return self._query("best", subject=subject, functions=functions, **given)

    def _names_row(self, column: Column) -> bool:
        """Whether each row that counts has a value of its own, but for repeated rows."""
        if column.unique >= self.frame.rows * (0.8 if column.is_identifier else 1):
            return True
        fixed = [f for f in self.filters if f.sign in ("==", "year")]
        return any(column.unique * f.column.unique == self.frame.rows for f in fixed)

    def _superlative(self, kind: str) -> tuple[Column, ...]:
        words = kind.split(" ")[0].split("|")
        found = [c for c in self.frame.of_kind("number") if _is_called(c, words)]
        named = {t.value for t in self._all("col")}
        found = [c for c in found if c in named] or found
        for column in found:
            self._use(*(t for t in self._all("col") if t.value == column))
        if len(found) != 1:
            raise GrammarError(
                [t.text for t in self.tokens if t.kind == "super"], "no_column", found
            )
        return tuple(found)

    def _subjects(self) -> list[Group]:
        """The columns that are no numbers, and numbers right after "which"."""
        found = []
        for token in self.tokens:
            if token.place in self.used or token.kind not in ("col", "bucket"):
                continue
            if token.kind == "bucket":
                group = token.value
            elif self._names_subject(token):
                group = Group(token.value)
            else:
                continue
            self._use(token)
            found.append(group)
        return list(dict.fromkeys(found))

    def _names_subject(self, token: Token) -> bool:
        column: Column = token.value
        before = self._beside(token.place, -1, ("fill", "number", "ext"))
        asked = (
            before is not None and before.kind == "which" and before.text.lower() not in ASKS_WHO
        )
        if column.reads_as == "text" and not (column.is_flag and not asked):
            return True
        return asked and column.unique <= GROUP_VALUES * 5

    def _function(self) -> Query:
        named = [t.value for t in self._all("fn")]
        functions = tuple(dict.fromkeys(named))
        self._take("fn")
        measures = self._measures()
        self._read_flags()
        is_quantile = any(function.startswith("quantile") for function in functions)
        means_of_means = len(named) > max(len(functions), len(measures))
        if means_of_means or (is_quantile and len(functions) > 1):
            raise GrammarError(named, "one_function")
        count = self._any("count")
        if (
            count is not None
            and measures
            and (after := self._beside(count.place, 1))
            and after.value in measures
        ):
            self._use(count)
        for token in self._all("bucket"):
            if not self._any("which"):
                self._group(token)
        if not measures:
            named = [t for t in self._all("col") if not t.value.is_flag]
            if functions == ("sum",) and not named and (self._any("row") or self._any("count")):
                return self._count()
            left = [t.text for t in self.tokens if t.kind == "col"] or [
                t.text for t in self.tokens if t.kind == "fn"
            ]
            raise GrammarError(left, "no_numbers")
        if self.by and len(measures) > 1 and len(functions) > 1:
            raise GrammarError(functions, "one_function")
        compared = self._take("compare")
        if compared is not None:
            self._take("range", "pair", "or")
        if compared is not None and not self._compares_two(measures, functions):
            raise GrammarError([compared.text], "unused")
        return self._query(
            "groups" if self.by else "number",
            functions=functions,
            measures=measures,
            difference=compared is not None,
        )

    def _compares_two(self, measures: Sequence[Column], functions: Sequence[str]) -> bool:
        pairs = [f for f in self.filters if f.sign == "in" and len(f.value) == 2]
        if len(pairs) == 1 and not self.by:
            self.by.append(Group(pairs[0].column))
        is_one = len(measures) == len(functions) == len(self.by) == len(pairs) == 1
        which = self._any("which")
        self._use(which)
        return is_one and self.by[0].column == pairs[0].column

    def _correlation(self) -> Query:
        self._take("corr", "pair", "versus", "range", "ask")
        if len(self._all("col")) > 2:
            self._read_flags()
        numbers = self._numbers()
        if len({t.value for t in numbers}) != 2:
            raise GrammarError([t.text for t in self._all("col")] or ["correlation"], "two_numbers")
        self._use(*numbers)
        return self._query("correlation", measures=tuple(dict.fromkeys(t.value for t in numbers)))

    def _outliers(self) -> Query:
        self._take("outlier", "count")
        rule = self._take_one("rule")
        numbers = self._numbers()
        if len(numbers) != 1:
            raise GrammarError([t.text for t in self._all("col")] or ["outliers"], "one_number")
        self._use(*numbers)
        if self.by:
            raise GrammarError([group.label for group in self.by], "unused")
        return self._query(
            "outliers", measures=(numbers[0].value,), rule=rule.value if rule else "iqr"
        )

    def _chart(self) -> Query:
        chart = self._take_one("chart")
        self._take("draw", "into")
        kind = chart.value if chart else "hist" if self._all("spread") else ""
        self._take("spread")
        counted = self._take("count")
        functions = tuple(dict.fromkeys(t.value for t in self._all("fn")))
        self._take("fn")
        if self._take("time"):
            kind = kind or "line"
            dates = self.frame.of_kind("date")
            years = [
                c for c in self.frame.columns if str(c.name).lower() in ("year", "date", "年份")
            ]
            axis = (list(dates) or years)[:1]
            if not axis:
                raise GrammarError([t.text for t in self.tokens if t.kind == "time"], "no_date")
            if not any(group.column == axis[0] for group in self.by):
                self.by.insert(0, Group(axis[0]))
            self._use(*(t for t in self._all("col") if t.value == axis[0]))
        ordered = self._take("versus")
        self._take("telling", "about", "pair", "range")
        numbers, others = self._axes(kind)
        if kind == "scatter" and ordered is None and not self.by:
            numbers.reverse()  # "a and b": a is the x axis
        return self._choose_chart(kind, numbers, others, functions, bool(counted))

    def _axes(self, kind: str) -> tuple[list[Column], list[Group]]:
        """The numbers of a chart, and what they are grouped by."""
        numbers, others = [], list(self.by)
        for token in [
            t for t in self.tokens if t.kind in ("col", "bucket") and t.place not in self.used
        ]:
            if token.place in self.used:
                continue
            if token.kind == "col" and token.value.is_flag and not self._is_axis(token):
                self._read_flags([token])
                continue
            self._use(token)
            if token.kind == "bucket":
                others.append(token.value)
            elif token.value.reads_as == "number":
                numbers.append(token.value)
            else:
                others.append(Group(token.value))
        if kind in ("scatter", "") and len(numbers) + len(others) == 2:
            for group in list(others):
                many = group.column.unique > DRAWN_NUMBERS or kind == "scatter"
                if group.column.reads_as == "number" and many and numbers:
                    others.remove(group)
                    numbers.append(group.column)
        if kind in ("line", "bar") and len(numbers) == 2 and not others:
            others.append(Group(numbers.pop()))  # "units against year": the second is the axis
        return list(dict.fromkeys(numbers)), list(dict.fromkeys(others))

    def _is_axis(self, token: Token) -> bool:
        """Whether a mark is drawn, as in "smoker against tip", and does not pick rows."""
        before = self._beside(token.place, -1)
        return before is None or before.kind in ("by", "versus", "and", "chart", "draw", "spread")

    def _choose_chart(
        self,
        kind: str,
        numbers: list[Column],
        others: list[Group],
        functions: tuple[str, ...],
        counted: bool,
    ) -> Query:
        self.by = []
        previous = self.previous
        if not numbers and not others and previous is not None and not self.filters and not counted:
            groups = [*previous.by, *([previous.subject] if previous.subject else [])]
            if groups:
                groups.sort(key=lambda group: group.column.reads_as != "date")
                return replace(
                    previous,
                    task="chart",
                    by=tuple(groups[:2]),
                    subject=None,
                    limit=1,
                    chart=kind or _shape(groups),
                )
            numbers = [c for c in previous.measures if c.reads_as == "number"]
        if not numbers and not others and not kind and not functions:
            numbers = [c for c in self.frame.of_kind("number") if not c.is_identifier][:1]
        kind = kind or (
            "scatter"
            if len(numbers) == 2 and not others
            else "hist"
            if not others
            else _shape(others)
        )
        if kind == "hist" and not numbers and len(others) == 1:
            kind = "bar"
        if not functions and numbers and kind in ("bar", "line"):
            functions = ("sum" if numbers[0].is_additive else "mean",)
        groups = sorted(others, key=lambda group: group.column.reads_as != "date")
        wanted = {
            "scatter": (2, 2, 0, 1),
            "hist": (1, 1, 0, 0),
            "box": (1, 1, 0, 1),
            "bar": (0, 1, 1, 2),
            "line": (0, DRAWN_LINES if len(groups) == 1 else 1, 1, 2),
        }[kind]
        if not wanted[0] <= len(numbers) <= wanted[1] or not wanted[2] <= len(groups) <= wanted[3]:
            named = [str(c.name) for c in numbers] + [g.label for g in groups]
            raise GrammarError(named or [kind], f"chart_{kind}")
        if len(functions) > 1 or (functions and not numbers) or (counted and numbers):
            raise GrammarError(functions or ["count"], "unused")
        query = self._query("chart", measures=tuple(numbers), functions=functions, chart=kind)
        return replace(query, by=tuple(groups))


def _is_called(column: Column, words: Iterable[str]) -> bool:
    """Whether one of the words is in a column's name."""
    name = str(column.name).lower()
    parts = re.split(r"[\W_]+", name)
    return any(w == name or w in (parts if w.isascii() else name) for w in words)


def _shape(groups: Sequence[Group]) -> str:
    dated = any(g.column.reads_as == "date" and g.bucket != "weekday" for g in groups)
    return "line" if dated else "bar"
