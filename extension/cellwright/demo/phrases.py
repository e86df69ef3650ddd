"""Words put together: numbers, dates, filters, measures, groups and extremes.

Each rule is a pattern over the kinds of neighbouring words, and what becomes of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.lexicon import phrase_of
from cellwright.demo.query import Filter, Group, Query, UnclearError
from cellwright.demo.reading import BRACKETS, Word

MONEY = re.compile(
    r"price|cost|fare|bill|tip|salary|amount|revenue|sales|profit|gross|budget|income|charge|fee|wage"
    r"|gdp|pay|spend|total|value|discount|价|额|薪|元|费|收入|成本|利润|奖金",
    re.I,
)
POINTS = re.compile(r"rating|score|grade|stars|分|评|满意", re.I)
PEOPLE = frozenset(["person", "people", "人", "员工", "employee", "passenger", "乘客", "student"])
SEX = re.compile(r"sex|gender|性别", re.I)
AGE = re.compile(r"(?:^|[^a-z])age(?:$|[^a-z])|年龄", re.I)
EACH = re.compile(r"unit|each|单价", re.I)
WHOLE = re.compile(r"total|amount|金额|总价", re.I)
"""Names of columns that say what one of a thing costs, and what all of a row do."""
LASTS = re.compile(r"time|distance|duration|length|delay|时|距离", re.I)
COUNTED = re.compile(r"pop|size|people|人", re.I)
YEARS = ("year", "年份", "年")
NEW_WORDS = {
    "age": r"age|年龄",
    "degrees": r"temp|温",
    "hours": r"hour|hrs?\b|小时",
    "minutes": r"min|分钟",
    "days": r"day|天",
    "years": r"year|yrs?\b|\bage|年",
    "mpg": r"mpg|miles.per.gallon",
    "kwh": r"kwh",
}
ONE_VALUE = frozenset(
    ["==", "in", "year", "month", "day", "month_of_year", "quarter", "day_of_week"]
)
"""Conditions of which a row can meet only one for the same column."""
SOFT = frozenset(
    ["fill", "be", "of", "in", "with", "what", "verb", "and", "comma", "among", "total", "ask"]
    + ["cover", "join", "reach", "spent"]
)
"""Words that have done their part, or have none where they stand."""


Rule = Callable[["Reading", list[Word]], "list[Word] | None"]


class Reading:
    """One meaning for each span, and what comes of it."""

    def __init__(self, words: list[Word], frame: TableColumns, previous: Query | None) -> None:
        self.words = [word for word in words if word.kind != "fill"]
        self.frame = frame
        self.previous = previous
        self.filters: list[Filter] = []
        self.by: list[Group] = []
        self.order = ""
        self.marks: list[tuple[str, int]] = []
        self.names: list[Word] = []

    def left(self) -> list[Word]:
        """The words that are left when all that can be reduced is."""
        for rules in (NUMBERS, DATES, MEASURES, FILTERS):
            self._reduce(rules)
        self._take_filters()
        for rules in (ORDERS, GROUPS, MEASURES, EXTREMES):
            self._reduce(rules)
        self._take_groups()
        self.names = [word for word in self.words if word.kind not in SOFT]
        return self.names

    def has(self, kind: str) -> bool:
        """Whether the question has a word of this kind."""
        return any(word.kind == kind for word in self.words)

    def make(self, task: str, **parts: Any) -> Query:
        """The query with the filters and groups that were found."""
        parts.setdefault("by", tuple(self.by))
        parts.setdefault("filters", tuple(self.filters))
        once = [f.column for f in parts["filters"] if f.sign in ONE_VALUE]
        never = {f.column for f in parts["filters"] if f.sign in ("!=", "not in")}
        if len(set(once)) < len(once) or never & set(once):
            raise UnclearError([str(f.value) for f in parts["filters"]], "one_value")
        return Query(task, order=self.order, **parts)

    def unused(self, reason: str = "unused") -> UnclearError:
        """The refusal that names the words that are left."""
        words = [w.text for w in self.names] or [w.text for w in self.words]
        return UnclearError(words or ["?"], reason)

    def _reduce(self, rules: Sequence[tuple[re.Pattern[str], Rule]]) -> None:
        """Apply each rule wherever it fits, from the left, until none does."""
        for pattern, rule in rules:
            start = 0
            while True:
                text = "".join(f"{word.kind} " for word in self.words)
                match = pattern.search(text, start)
                if match is None:
                    break
                first = text[: match.start()].count(" ")
                last = text[: match.end()].count(" ")
                made = rule(self, self.words[first:last])
                if made is None or made == self.words[first:last]:
                    start = text.index(" ", match.start()) + 1
                    continue
                self.words[first:last] = made
                start = 0

    def _take_filters(self) -> None:
        for word in self.words:
            if word.kind == "filter":
                self.filters += word.value
            elif word.kind in ("be", "verb", "with", "among", "than"):
                self.marks.append((word.kind, word.start))
        self.words = [word for word in self.words if word.kind != "filter"]

    def _take_groups(self) -> None:
        for word in self.words:
            if word.kind == "group":
                self.by += word.value
            elif word.kind == "sorted":
                self.order = str(word.value)
        self.words = [w for w in self.words if w.kind not in ("group", "sorted")]
        self.by = list(dict.fromkeys(self.by))

    # Columns that are meant without their name.

    def date_column(self, words: Sequence[Word]) -> Column:
        """The one column of dates."""
        dates = self.frame.of_kind("date")
        if len(dates) != 1:
            raise UnclearError([w.text for w in words], "no_date", dates)
        return dates[0]

    def year_column(self) -> Column | None:
        """The column of numbers that are years; beside dates only one that is called so."""
        found = [c for c in self.frame.columns if c.is_year]
        named = [c for c in found if str(c.name).lower() in YEARS]
        if not named and self.frame.of_kind("date"):
            return None
        found = named or found
        return found[0] if len(found) == 1 else None

    def bucket(self, word: Word, beside: Sequence[Word] = ()) -> Group:
        """A unit of time as what rows are put together by."""
        dates = [w.column for w in beside if w.column and w.column.reads_as == "date"]
        if dates:
            return _cut(dates[0], str(word.value))
        year = self.year_column()
        if word.value == "year" and year is not None:
            return Group(year)
        if word.value in ("time", "day") and not self.frame.of_kind("date") and year is not None:
            return Group(year)
        return _cut(self.date_column([word]), str(word.value))

    def concept(self, word: Word) -> tuple[Column, str]:
        """The column that "oldest" is about, and the rest of what the word says."""
        hints, _, rest = str(word.value).rpartition(" ")
        for hint in hints.split("|"):
            phrase = phrase_of(hint)
            found = [
                c
                for c in self.frame.of_kind("number")
                if _contains(phrase_of(BRACKETS.sub(" ", str(c.name))), phrase)
            ]
            if len(found) == 1 and EACH.search(str(found[0].name)):
                # What one costs; the dearest order is that of the highest total.
                numbers = self.frame.of_kind("number")
                found += [c for c in numbers if WHOLE.search(str(c.name))]
            if len(found) == 1:
                return found[0], rest
            if found:
                raise UnclearError([word.text], "several", found)
        raise UnclearError([word.text], "no_column")

    def name_column(self) -> Column | None:
        """The column by which people know a row."""
        texts = [c for c in self.frame.of_kind("text") if not c.is_identifier]
        keys = [c for c in texts if re.search(r"name|title|姓名|名称|标题", str(c.name), re.I)]
        return next(iter([*keys, *(c for c in texts if c.is_key)]), None)


def _cut(column: Column, unit: str) -> Group:
    """Dates cut to a unit of time; days without a time of day are days already."""
    is_whole = unit == "time" or (unit == "day" and not column.has_time)
    return Group(column, "" if is_whole else unit)


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether words hold others side by side, in their order."""
    size = len(part)
    return any(tuple(words[i : i + size]) == tuple(part) for i in range(len(words) - size + 1))


def _rule(pattern: str) -> Callable[[Rule], tuple[re.Pattern[str], Rule]]:
    """Make a rule for words of these kinds."""
    return lambda rule: (re.compile(rf"(?<!\S){pattern}"), rule)


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _made(kind: str, words: Sequence[Word], value: Any, column: Column | None = None) -> list[Word]:
    return [Word(kind, _text(words), value, column, 0.0, words[0].start)]


def of_kind(words: Sequence[Word], *kinds: str) -> list[Word]:
    """The words of some kinds."""
    return [word for word in words if word.kind in kinds]


# Numbers and comparisons.

N = r"(?:num|amount) "


def _amount(word: Word) -> tuple[float, str]:
    return word.value if word.kind == "amount" else (word.value, "")


@_rule(r"num mag ")
def _magnitude(_: Reading, words: list[Word]) -> list[Word]:
    return _made("num", words, float(words[0].value) * float(words[1].value))


@_rule(r"(?:cmp|concept|be|in|datecmp|between) until num ")
def _negative(_: Reading, words: list[Word]) -> list[Word] | None:
    if words[1].text not in ("-", "–"):
        return None
    return [words[0], *_made("num", words[1:], -float(words[2].value))]


@_rule(r"(?:unitword num|num (?:unitword|percent)) ")
def _with_unit(_: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = (words[1], words[0]) if words[1].kind == "num" else (words[0], words[1])
    if words[1].kind == "num" and unit.value != "currency":
        return None
    name = "percent" if unit.kind == "percent" else str(unit.value)
    return _made("amount", words, (float(number.value), name))


@_rule(rf"(?:(?:between|in) )?{N}(?:until |and ){N}(?:between2 )?")
def _range(_: Reading, words: list[Word]) -> list[Word] | None:
    if of_kind(words, "and") and words[0].kind != "between" and words[-1].kind != "between2":
        return None
    (low, unit), (high, other) = (_amount(word) for word in of_kind(words, "num", "amount"))
    if unit and other and unit != other:
        return None
    return _made("test", words, [("between", (low, high), unit or other)])


@_rule(rf"cmp (?:of )?{N}")
def _compared(_: Reading, words: list[Word]) -> list[Word]:
    number, unit = _amount(words[-1])
    return _made("test", words, [(words[0].value, number, unit)])


@_rule(rf"{N}post ")
def _after_number(_: Reading, words: list[Word]) -> list[Word]:
    number, unit = _amount(words[0])
    return _made("test", words, [(words[1].value, number, unit)])


@_rule(r"test (?:and |or )test ")
def _both_tests(_: Reading, words: list[Word]) -> list[Word] | None:
    return None if of_kind(words, "or") else _made("test", words, words[0].value + words[-1].value)


@_rule(r"(?:num|many|ask|by|adverb|which|group) clf ")
def _classifier(_: Reading, words: list[Word]) -> list[Word]:
    if words[0].kind == "ask":
        return _made("many", words, None)
    return words[:1]


@_rule(r"num th |nth th ")
def _ordinal(_: Reading, words: list[Word]) -> list[Word]:
    return words[:1]


@_rule(r"(?:row|val) who ")
def _relative(_: Reading, words: list[Word]) -> list[Word]:
    """The "who" of "people who smoke" is nobody by himself."""
    return words[:1]


@_rule(r"fits (?:verb )*(?:val|missing) ")
def _weather(_: Reading, words: list[Word]) -> list[Word]:
    """The "it" of "did it rain" is nothing."""
    return words[1:]


@_rule(r"(?:num|amount) share ")
def _no_share(_: Reading, words: list[Word]) -> list[Word]:
    """Percent after a number is a number, not a share that is asked for."""
    raise UnclearError([_text(words)], "unit")


NUMBERS = [
    _no_share,
    _ordinal,
    _relative,
    _classifier,
    _weather,
    _magnitude,
    _negative,
    _with_unit,
    _range,
    _compared,
    _after_number,
    _both_tests,
]


# Dates.


def _is_year(word: Word) -> bool:
    return word.kind == "num" and 1500 <= word.value <= 2200 and word.value == int(word.value)


def _when(words: Sequence[Word], sign: str, value: Any) -> list[Word]:
    return _made("date", words, (sign, value))


@_rule(r"date ")
def _iso_date(_: Reading, words: list[Word]) -> list[Word] | None:
    text = words[0].value
    if not isinstance(text, str):
        return None
    return _when(words, "day" if len(text) > 7 else "month", text)


@_rule(r"(?:month num (?:comma )?num|num (?:of )?month (?:comma )?num) ")
def _day_date(_: Reading, words: list[Word]) -> list[Word] | None:
    month = of_kind(words, "month")[0]
    day, year = (int(word.value) for word in of_kind(words, "num"))
    if not 0 < day < 32 or not _is_year(of_kind(words, "num")[1]):
        return None
    return _when(words, "day", f"{year:04}-{int(month.value):02}-{day:02}")


@_rule(r"num unit num unit (?:num unit )?")
def _han_date(_: Reading, words: list[Word]) -> list[Word] | None:
    if [w.value for w in of_kind(words, "unit")] != ["year", "month", "day"][: len(words) // 2]:
        return None
    year, *rest = (int(word.value) for word in of_kind(words, "num"))
    text = "-".join([f"{year:04}", *(f"{part:02}" for part in rest)])
    return _when(words, "day" if len(rest) > 1 else "month", text)


@_rule(r"(?:num unit (?:month|quarter)|(?:month|quarter) (?:of |in |comma )?num) ")
def _month_date(_: Reading, words: list[Word]) -> list[Word] | None:
    year, part = of_kind(words, "num")[0], of_kind(words, "month", "quarter")[0]
    if not _is_year(year) or any(w.value != "year" for w in of_kind(words, "unit")):
        return None
    if part.kind == "month":
        return _when(words, "month", f"{int(year.value):04}-{int(part.value):02}")
    return _when(words, "quarter", f"{int(year.value)}Q{part.value}")


@_rule(r"num unit(?:word)? ")
def _han_year(_: Reading, words: list[Word]) -> list[Word] | None:
    han = words[1].text
    if han == "年" and _is_year(words[0]):
        return _when(words, "year", int(words[0].value))
    if han == "月" and 0 < words[0].value < 13:
        return _when(words, "month_of_year", int(words[0].value))
    return None


@_rule(r"month ")
def _month(_: Reading, words: list[Word]) -> list[Word]:
    return _when(words, "month_of_year", int(words[0].value))


@_rule(r"quarter ")
def _quarter(_: Reading, words: list[Word]) -> list[Word]:
    return _when(words, "quarter_of_year", int(words[0].value))


@_rule(r"dow ")
def _weekday(_: Reading, words: list[Word]) -> list[Word]:
    value = words[0].value
    return _when(words, "day_of_week", "weekend" if value == "weekend" else int(value))


@_rule(r"(?:in |datecmp |unit )num (?!unit |top |row |col |clf |extc |test |percent |mag )")
def _english_year(_: Reading, words: list[Word]) -> list[Word] | None:
    if not _is_year(words[1]) or (words[0].kind == "unit" and words[0].value != "year"):
        return None
    year = _when(words[1:], "year", int(words[1].value))
    return year if words[0].kind == "unit" else [words[0], *year]


@_rule(r"num datecmp ")
def _year_after(_: Reading, words: list[Word]) -> list[Word] | None:
    return (
        [*_when(words[:1], "year", int(words[0].value)), words[1]] if _is_year(words[0]) else None
    )


@_rule(r"(?:between |in )?(?:date|num) (?:and |until )(?:date|num) (?:between2 )?")
def _date_range(_: Reading, words: list[Word]) -> list[Word] | None:
    ends = [
        _when([w], "year", int(w.value))[0] if _is_year(w) else w
        for w in of_kind(words, "date", "num")
    ]
    if any(word.kind != "date" for word in ends):
        return None
    if of_kind(words, "and") and words[0].kind != "between" and words[-1].kind != "between2":
        return None
    (sign, low), (other, high) = (word.value for word in ends)
    if sign != other or sign in ("day_of_week", "quarter"):
        return None
    return _made("datetest", words, [(f"{sign} >=", low), (f"{sign} <=", high)])


@_rule(r"(?:datecmp date|date datecmp) ")
def _date_compared(_: Reading, words: list[Word]) -> list[Word] | None:
    sign, value = of_kind(words, "date")[0].value
    if sign in ("day_of_week", "quarter_of_year"):
        return None
    return _made("datetest", words, [(f"{sign} {of_kind(words, 'datecmp')[0].value}", value)])


@_rule(r"(?:in )?date ")
def _in_date(_: Reading, words: list[Word]) -> list[Word]:
    sign, value = words[-1].value
    return _made("datetest", words, [(sign, value)])


DATES = [_iso_date, _day_date, _han_date, _month_date, _han_year, _month, _quarter, _weekday]
DATES += [_english_year, _year_after, _date_range, _date_compared, _in_date]


# Filters.


def _fits(column: Column, unit: str) -> bool:
    """Whether numbers of a column are in a unit, as far as its name tells."""
    name = str(column.name)
    parts = {part.lower() for part in re.findall(r"[A-Za-z]+|[$€£¥%]", name)}
    if unit in ("", "people"):
        return not unit or bool(COUNTED.search(name))
    if unit == "currency":
        return bool(MONEY.search(name))
    if unit == "percent":
        return bool(parts & {"%", "percent", "percentage", "pct"})
    if unit == "points":
        return bool(POINTS.search(name))
    if unit in NEW_WORDS:
        return bool(re.search(NEW_WORDS[unit], name.replace("_", " "), re.I))
    return unit in parts


def _tested(column: Column, tests: Sequence[Any], words: Sequence[Word]) -> list[Word] | None:
    """Comparisons of a column as filters."""
    if column.reads_as != "number" or any(w.column == column and _is_entity(w) for w in words):
        return None
    for _, _, unit in tests:
        if not _fits(column, unit):
            raise UnclearError([_text(words)], "unit", [column])
    place = words[0].start
    made = [Filter(column, sign, value, place) for sign, value, _ in tests]
    return _made("filter", words, made)


def _is_entity(word: Word) -> bool:
    """Whether a word is a part of an identifier's name: "runner" of ``runner_id``."""
    return (
        word.kind == "col" and word.penalty >= 1 and bool(word.column and word.column.is_identifier)
    )


LINK = r"(?:be |verb |in |with |of )?"


@_rule(rf"col {LINK}test (?!col )")
def _column_test(_: Reading, words: list[Word]) -> list[Word] | None:
    assert words[0].column is not None
    return _tested(words[0].column, words[-1].value, words)


@_rule(r"(?<!col )(?<!col be )(?<!col verb )(?<!col in )test (?:of |in )?col ")
def _test_column(_: Reading, words: list[Word]) -> list[Word] | None:
    assert words[-1].column is not None
    return _tested(words[-1].column, words[0].value, words)


@_rule(rf"concept {N}")
def _concept_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    column, sign = reading.concept(words[0])
    number, unit = _amount(words[1])
    return _tested(column, [(sign, number, unit)], words)


@_rule(rf"col (?:be |of |cmp ){N}|col num (?!row |top |clf )")
def _column_number(_: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = _amount(words[-1])
    assert words[0].column is not None
    if words[0].column.reads_as == "date":
        return None
    return _tested(words[0].column, [("==", number, unit)], words)


@_rule(r"(?:(?:with|and|of|be|verb|or|many|in) num col|num col row) ")
def _number_column(_: Reading, words: list[Word]) -> list[Word] | None:
    number, column = of_kind(words, "num")[0], of_kind(words, "col")[0]
    assert column.column is not None
    if number.value != int(number.value) or _is_year(number):
        return None
    made = _tested(column.column, [("==", number.value, "")], [number, column])
    kept = [w for w in words if w.kind in ("many", "row", "or", "and", "with", "be")]
    if made is None or of_kind(words, "or"):
        return None
    first = [w for w in kept if w.start < number.start]
    return [*first, *made, *(w for w in kept if w not in first)]


@_rule(r"(?:filter|row|be) test ")
def _person_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Of people "over 40" is an age."""
    of_people = words[0].kind == "row" and words[0].value in PEOPLE
    if words[0].kind == "filter":
        of_people = bool(SEX.search(str(words[0].value[0].column.name)))
    ages = [c for c in reading.frame.of_kind("number") if AGE.search(str(c.name))]
    if not of_people or len(ages) != 1 or words[1].value[0][2]:
        return None
    made = _tested(ages[0], words[1].value, words[1:])
    return None if made is None else [words[0], *made]


@_rule(r"(?:be )?amount (?!col |test )")
def _loose_amount(reading: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = words[-1].value
    found = [c for c in reading.frame.of_kind("number") if _fits(c, unit)]
    return (
        _tested(found[0], [("==", number, unit)], words)
        if unit == "age" and len(found) == 1
        else None
    )


@_rule(r"test ")
def _loose_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    """A comparison whose unit tells the column."""
    unit = words[0].value[0][2]
    years = words[0].value
    if not unit and years[0][0] == "between" and all(1500 <= v <= 2200 for v in years[0][1]):
        low, high = map(int, years[0][1])
        return _made("datetest", words, [("year >=", low), ("year <=", high)])
    found = [c for c in reading.frame.of_kind("number") if unit and _fits(c, unit)]
    if len(found) != 1:
        reason = "two_columns" if found else "unit" if unit else "no_column"
        raise UnclearError([words[0].text], reason, found)
    return _tested(found[0], words[0].value, words)


@_rule(r"(?:col (?:be |verb |in )?)?datetest ")
def _date_filter(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[0].column if words[0].kind == "col" else None
    kept = []
    if column is not None and column.reads_as != "date" and not column.is_year:
        kept, words, column = words[:1], words[-1:], None
    tests = words[-1].value
    years = all(sign.startswith("year") for sign, _ in tests)
    if column is None:
        column = (reading.year_column() if years else None) or reading.date_column(words[-1:])
    if column.is_year:
        if not years:
            raise UnclearError([_text(words)], "no_date")
        numbers = [v for v in column.counts if isinstance(v, (int, float))]
        if numbers and max(numbers) < 1000:
            raise UnclearError([_text(words)], "unit", [column])
        made = [
            Filter(column, sign.partition(" ")[2] or "==", value, words[0].start)
            for sign, value in tests
        ]
    else:
        made = [Filter(column, sign, value, words[0].start) for sign, value in tests]
    return [*kept, *_made("filter", words, made)]


@_rule(r"val (?:(?:and|or|comma|than|versus)(?: in| be| with)* )+(?:col )?val ")
def _value_list(_: Reading, words: list[Word]) -> list[Word] | None:
    first, second = words[0], words[-1]
    if first.column != second.column or any(
        w.column != first.column for w in of_kind(words, "col")
    ):
        return None
    values = tuple(dict.fromkeys([*_values_of(first), *_values_of(second)]))
    join = [w.kind for w in words if w.kind in ("or", "than", "versus")] or ["and"]
    return [replace(first, value=values, text=_text(words), kind="vals"), *_joins(join)]


def _joins(kinds: Sequence[str]) -> list[Word]:
    return [Word("join", "", kinds[0])]


def _values_of(word: Word) -> tuple[Any, ...]:
    return word.value if word.kind == "vals" else (word.value,)


@_rule(r"vals join (?:(?:and|or|comma|than)(?: in| be)* )+val ")
def _longer_list(reading: Reading, words: list[Word]) -> list[Word] | None:
    if words[0].column != words[-1].column:
        return None
    values = tuple(dict.fromkeys([*_values_of(words[0]), *_values_of(words[-1])]))
    join = [w.kind for w in words if w.kind in ("or", "than")] or [words[1].value]
    return [replace(words[0], value=values, text=_text(words)), *_joins(join)]


@_rule(r"col (?:be |verb |in )*(?:not )?(?:val|vals join) ")
def _column_value(_: Reading, words: list[Word]) -> list[Word] | None:
    value = of_kind(words, "val", "vals")[0]
    if words[0].column != value.column:
        return None
    return [w for w in words[1:] if w.kind in ("not", "val", "vals", "join")]


@_rule(r"weakval col |col (?:be |in |verb )*weakval ")
def _weak_value(_: Reading, words: list[Word]) -> list[Word] | None:
    value, column = of_kind(words, "weakval")[0], of_kind(words, "col")[0]
    return (
        [replace(value, kind="val", text=_text(words))] if value.column == column.column else None
    )


@_rule(r"(?:val|vals join) col ")
def _value_column(_: Reading, words: list[Word]) -> list[Word] | None:
    return words[:-1] if words[-1].column == words[0].column else None


@_rule(r"not (?:in |with |verb |be )*(?:val|vals join) (?:notend )?")
def _not_value(_: Reading, words: list[Word]) -> list[Word]:
    value = of_kind(words, "val", "vals")[0]
    assert value.column is not None
    values = _values_of(value)
    made = Filter(value.column, "not in", values, value.start)
    if len(values) == 1:
        made = Filter(value.column, "!=", values[0], value.start)
    return _made("filter", words, [made])


@_rule(r"(?:val|vals join) ")
def _value(_: Reading, words: list[Word]) -> list[Word]:
    value = words[0]
    assert value.column is not None
    if value.kind == "val":
        made = Filter(value.column, "==", value.value, value.start)
    else:
        made = Filter(value.column, "in", value.value, value.start, str(words[1].value))
    return _made("filter", words, [made])


@_rule(r"(?:with )?(?:no|not) (?:with )?col (?:given |verb )?")
def _without(_: Reading, words: list[Word]) -> list[Word] | None:
    """Without a value: missing, or zero where nothing is missing."""
    column = of_kind(words, "col")[0].column
    assert column is not None
    if column.flags:
        return None
    if column.missing or column.reads_as != "number":
        return _made("missingcol", words, [column], column)
    return _made("filter", words, [Filter(column, "==", 0, words[0].start)])


@_rule(r"col (?:row )?(?:be |verb |with )*(?:not )?missing |missing (?:in |of |for |with )*col ")
def _missing_column(_: Reading, words: list[Word]) -> list[Word]:
    column = of_kind(words, "col")[0].column
    assert column is not None
    if of_kind(words, "not"):
        return _made("filter", words, [Filter(column, "present", None, words[0].start)])
    return _made("missingcol", words, [column], column)


@_rule(r"missingcol (?:(?:and|or|comma) )+(?:col|missingcol) ")
def _missing_columns(_: Reading, words: list[Word]) -> list[Word]:
    assert words[-1].column is not None
    return _made("missingcol", words, [*words[0].value, words[-1].column], words[0].column)


@_rule(r"(?:val|vals join) clf ")
def _kind_of_value(_: Reading, words: list[Word]) -> list[Word] | None:
    return words[:-1] if words[-1].text in ("类", "种", "款") else None


@_rule(r"val (?:and |or |versus |than )(?:in |with )*not val ")
def _yes_and_no(_: Reading, words: list[Word]) -> list[Word] | None:
    """Smokers and non-smokers: both values of a flag."""
    column = words[0].column
    if column is None or column != words[-1].column or words[0].value != words[-1].value:
        return None
    if not column.flags:
        return None
    return [replace(words[0], kind="vals", value=column.flags, text=_text(words)), *_joins(["and"])]


@_rule(r"filter (?:verb )*col ")
def _same_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """The column of a condition may be said after it, too."""
    return words[:1] if words[0].value[0].column == words[-1].column else None


FILTERS = [
    _weak_value,
    _column_test,
    _test_column,
    _concept_test,
    _kind_of_value,
    _value_column,
    _yes_and_no,
]
FILTERS += [
    _value_list,
    _longer_list,
    _column_value,
    _value_column,
    _not_value,
    _value,
    _date_filter,
    _column_number,
    _number_column,
]
FILTERS += [_person_test, _loose_amount, _loose_test, _date_filter, _same_column]
FILTERS += [_missing_column, _without, _missing_columns]


# Measures, groups and extremes.

COLS = r"col (?:(?:and |comma |versus )+col )*"


def _measured(words: Sequence[Word], functions: Sequence[str]) -> list[Word] | None:
    columns = [word.column for word in of_kind(words, "col") if word.column is not None]
    numbers = all(c.reads_as == "number" for c in columns) and not any(map(_is_entity, words))
    if not numbers and set(functions) - {"nunique"}:
        return None
    return _made("measure", words, (tuple(functions), tuple(columns)), columns[0])


@_rule(rf"fn (?:(?:and |comma )+fn )*(?:of |in |for )*{COLS}")
def _function_of(_: Reading, words: list[Word]) -> list[Word] | None:
    return _measured(words, [str(word.value) for word in of_kind(words, "fn")])


@_rule(rf"{COLS}(?:of )?fn (?:(?:and |comma )+fn )*(?!count |row )")
def _of_function(_: Reading, words: list[Word]) -> list[Word] | None:
    functions = [str(word.value) for word in of_kind(words, "fn")]
    return None if "nunique" in functions else _measured(words, functions)


@_rule(r"(?:num (?:(?:and |comma )+num )*quantile|quartile) (?:of |in |for )*" + COLS)
def _quantile_of(_: Reading, words: list[Word]) -> list[Word] | None:
    return _quantile(words)


@_rule(rf"{COLS}(?:num quantile|quartile) ")
def _of_quantile(_: Reading, words: list[Word]) -> list[Word] | None:
    return _quantile(words)


def _quantile(words: Sequence[Word]) -> list[Word] | None:
    quartile = [float(word.value) for word in of_kind(words, "quartile")]
    shares = quartile or [word.value / 100 for word in of_kind(words, "num")]
    if not all(0 < share < 1 for share in shares):
        return None
    return _measured(words, [f"quantile({share:g})" for share in shares])


MEASURES = [_quantile_of, _of_quantile, _function_of, _of_function]


@_rule(r"nth (?:ext|most|super) ")
def _nth(_: Reading, words: list[Word]) -> list[Word]:
    return _made(words[1].kind, words, f"{words[1].value} nth {words[0].value}")


@_rule(r"(?:sorted|sort) (?:row )?(?:by |in )*(?:col|measure|count) (?:sorted )?")
def _sorted_by(_: Reading, words: list[Word]) -> list[Word]:
    order = of_kind(words, "sorted") or of_kind(words, "sort")
    key = of_kind(words, "col", "measure", "count")[0]
    return [*of_kind(words, "row"), *_made("sortby", words, str(order[-1].value), key.column), key]


@_rule(r"by (?:col|measure|count row|count) (?:byend )?(?:sort |sorted )")
def _by_sorted(_: Reading, words: list[Word]) -> list[Word] | None:
    key = of_kind(words, "col", "measure", "count")[0]
    if key.kind == "col" and key.column is not None and key.column.reads_as == "text":
        return None
    return [*_made("sortby", words, str(words[-1].value), key.column), key]


@_rule(r"what (?:unit|col) ")
def _what(_: Reading, words: list[Word]) -> list[Word]:
    return [*_made("which", words[:1], None), words[1]]


ORDERS = [_sorted_by, _by_sorted, _what]

KEY = r"(?:unit (?:(?:of|in) )*col|col|unit) "


@_rule(
    r"top (?:.* )?(?:row|col|unit) (?:in )*by (?:ext )?(?:measure|col|count row|count|most row) "
)
def _top_by(_: Reading, words: list[Word]) -> list[Word]:
    place = max(index for index, word in enumerate(words) if word.kind == "by")
    kept = [w for w in words[place + 1 :] if w.kind != "ext"]
    return [*words[:place], *_made("bymeasure", kept, kept[0])]


@_rule(r"by " + KEY + r"(?:(?:and |comma |by |then )+" + KEY + r")*(?:byend )?")
def _grouped(reading: Reading, words: list[Word]) -> list[Word] | None:
    return _groups(reading, of_kind(words, "col", "unit"), words)


def _groups(reading: Reading, keys: Sequence[Word], words: Sequence[Word]) -> list[Word]:
    made: list[Group] = []
    for key in keys:
        if key.kind in ("unit", "adverb"):
            made.append(reading.bucket(key, keys))
        elif not made or made[-1].column != key.column:
            assert key.column is not None
            made.append(Group(key.column))
    return _made("group", words, made)


@_rule(r"(?:adverb|time) (?:(?:of |in )*col )?")
def _adverb(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column
    if words[0].kind == "adverb" and column is not None and column.reads_as == "date":
        return _groups(reading, [words[0], words[-1]], words)
    value = "time" if words[0].kind == "time" else words[0].value
    group = reading.bucket(replace(words[0], value=value))
    return [*_made("group", words[:1], [group]), *words[1:]]


@_rule(r"cmp (?:col|unit) ")
def _over(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[1].column
    if words[0].text != "over" or (
        column is not None and not (column.reads_as == "date" or column.is_year)
    ):
        return None
    return _groups(reading, words[1:], words)


@_rule(r"(?:(?:col|unit) )+byend ")
def _by_end(reading: Reading, words: list[Word]) -> list[Word] | None:
    return _groups(reading, words[:-1], words)


@_rule(r"group (?:(?:and|comma) )*by (?:clf )?" + KEY)
def _more_groups(reading: Reading, words: list[Word]) -> list[Word] | None:
    (more,) = _groups(reading, words[-1:], words)
    return _made("group", words, [*words[0].value, *more.value])


GROUPS = [_top_by, _grouped, _adverb, _over, _by_end, _more_groups]


@dataclass(frozen=True)
class Extreme:
    """The highest or the lowest of something."""

    lowest: bool
    functions: tuple[str, ...]
    columns: tuple[Column, ...]
    nth: int = 0
    is_row: bool = False
    """The word is about a row, as "oldest" is."""


def _extreme(words: Sequence[Word], key: Word, word: Word) -> list[Word] | None:
    way, _, nth = str(word.value).partition(" nth ")
    assert key.column is not None
    functions: tuple[str, ...] = ()
    columns: tuple[Column, ...] = (key.column,)
    if key.kind == "measure":
        functions, columns = key.value
    if len(columns) != 1 or len(functions) > 1 or functions in (("max",), ("min",)):
        return None
    kind = columns[0].reads_as
    if kind == "text" or (kind == "date") != (word.kind == "later"):
        return None
    made = Extreme(way == "low", tuple(functions), tuple(columns), int(nth or 0))
    return _made("extreme", words, made, columns[0])


@_rule(r"(?:ext|most|later) (?:in |of )*(?:measure|col) ")
def _extreme_of(_: Reading, words: list[Word]) -> list[Word] | None:
    return _extreme(words, words[-1], words[0])


@_rule(r"(?:measure|col) (?:be |reach )*(?:ext|most|later) ")
def _of_extreme(_: Reading, words: list[Word]) -> list[Word] | None:
    return _extreme(words, words[0], words[-1])


@_rule(r"super ")
def _super(reading: Reading, words: list[Word]) -> list[Word]:
    value, _, nth = str(words[0].value).partition(" nth ")
    column, way = reading.concept(replace(words[0], value=value))
    made = Extreme(way == "low", (), (column,), int(nth or 0), True)
    return _made("extreme", words, made, column)


@_rule(r"super (?:measure|col) |(?:measure|col) (?:be )*super ")
def _super_of(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Of "the longest flipper" the word itself tells which column is meant."""
    word, key = of_kind(words, "super")[0], of_kind(words, "measure", "col")[0]
    hints, way = str(word.value).partition(" nth ")[0].rsplit(" ", 1)
    assert key.column is not None
    name = phrase_of(str(key.column.name))
    lasts = hints.startswith("length") and LASTS.search(str(key.column.name))
    if not lasts and not any(
        _contains(name, phrase_of(hint)) or hint in str(key.column.name)
        for hint in hints.split("|")
    ):
        return None
    nth = str(word.value).partition(" nth ")[2]
    return _extreme(words, key, replace(word, value=f"{way} nth {nth}" if nth else way))


@_rule(r"extreme col ")
def _super_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """In "the longest flipper length" the column is said twice."""
    same = words[1].column == words[0].column and words[0].value.is_row
    return [replace(words[0], value=replace(words[0].value, is_row=False))] if same else None


@_rule(r"most (?:of )?distinct col ")
def _most_different(_: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column
    assert column is not None
    made = Extreme(words[0].value == "low", ("nunique",), (column,))
    return _made("extreme", words, made, column)


@_rule(r"later and later (?:unit|col) ")
def _first_and_last(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column or reading.date_column(words)
    if column.reads_as != "date":
        return None
    return _made("measure", words, (("min", "max"), (column,)), column)


@_rule(r"later (?:unit|row) ")
def _latest(reading: Reading, words: list[Word]) -> list[Word]:
    column = reading.date_column(words)
    is_row = words[1].kind == "row"
    made = Extreme(words[0].value == "low", (), (column,), 0, is_row)
    return [*_made("extreme", words, made, column), *(words[1:] if is_row else [])]


EXTREMES = [
    _nth,
    _most_different,
    _first_and_last,
    _super_of,
    _super,
    _super_column,
    _extreme_of,
    _of_extreme,
    _latest,
]
