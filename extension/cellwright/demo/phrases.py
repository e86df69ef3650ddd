"""Words put together: numbers, dates, filters, measures, groups and extremes.

Each rule is a pattern over the kinds of neighbouring words, and what becomes of them.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.lexicon import HAN, lexicon, phrase_of, word_family
from cellwright.demo.query import (
    DATE_SIGNS,
    Aggregate,
    Filter,
    Group,
    PartOfText,
    Query,
    UnclearError,
)
from cellwright.demo.reading import BRACKETS, CAMEL, Word

MONEY = re.compile(
    r"price|cost|fare|bill|tip|salary|amount|revenue|sales|profit|gross|budget|income|charge|fee|wage"
    r"|gdp|rent|pay|spend|total|value|discount|价|额|薪|元|费|租|票房|收入|成本|利润|奖金",
    re.I,
)
POINTS = re.compile(r"rating|score|grade|stars|分|评|满意", re.I)
PEOPLE = frozenset(["person", "people", "人", "员工", "employee", "passenger", "乘客", "student"])
SEX = re.compile(r"sex|gender|性别", re.I)
AGE = re.compile(r"(?:^|[^a-z])age(?:$|[^a-z])|年龄", re.I)
EACH = re.compile(r"unit|each|单价", re.I)
WHOLE = re.compile(r"total|amount|revenue|sales|金额|总价|销售额", re.I)
"""Names of columns that say what one of a thing costs, and what all of a row do."""
LASTS = re.compile(r"time|distance|duration|length|delay|时|距离", re.I)
NAME = re.compile(
    r"^(?:full|first|last|cust\w*|employee|student|player|person|patient|member)?[_ ]*name$"
    r"|姓名|名字",
    re.I,
)
PERSON = re.compile(
    r"customer|client|borrower|speaker|driver|player|rider|runner|employee|student|patient|member"
    r"|artist|barista|cashier|客户|顾客|借阅人|读者|司机|骑手|投保人|员工|学生|患者|选手",
    re.I,
)
"""Names of columns that hold persons."""
ALTITUDE = re.compile(r"^alt(?:itude)?$|^elev(?:ation)?(?:$|_)|^height(?:$|_)|海拔|高度", re.I)
KIND = re.compile(r"type|kind|species|categor|genre|class|类|种", re.I)
SIZE = re.compile(r"(?:^|_| )size$|people|persons|人数", re.I)
QUANTITY = re.compile(r"quantity|\bqty|(?:^|_| )units?(?:$|_sold| sold)|数量|销量|件数", re.I)
SALES = re.compile(r"order|sale|transaction|purchase|row|record|单|交易|行|记录", re.I)
ENDS = re.compile(
    r"(?:^|_| )(?:end|ended|stop|stopped|dropoff|finish|finished|due|return|returned|clos|closed"
    r"|resol|deliver|expir|until|last)|(?<=[a-z])End|结束|完成|关闭|结案|归还|到期|应还|交货|交付|到货|送达",
    re.I,
)
"""Names of dates at which something is over."""
COUNTED = re.compile(r"pop|size|people|人", re.I)
YEARS = ("year", "年份", "年")
MONTHS = ("month", "月份", "月")
HOURS = ("hour", "hr", "小时")
NUMBERED = ((MONTHS, 12), (HOURS, 24), (("day",), 31))
"""Names of columns that number months, hours and days, and how many there are."""
FROM = re.compile(
    r"^(?:from|start|origin|dep|source|sender)|从|来自|寄件|寄出|发件|发货|出发|始发|起点", re.I
)
TO = re.compile(
    r"^(?:to(?![a-z])|end|dest|arr|target)|往|[寄发送]到|收件|收货|目的|到达|终点", re.I
)
"""Words, and starts of names of columns, for where something starts and where it goes."""
UNITS = {
    "": "",
    "people": COUNTED.pattern,
    "currency": MONEY.pattern,
    "percent": r"%|(?:^| )(?:percent|percentage|pct)(?: |$)",
    "age": AGE.pattern,
    "degrees": r"temp|\btm(?:ax|in)\b|温",
    "hours": r"hour|hrs?\b|小时",
    "minutes": r"min|分钟",
    "days": r"day|天",
    "years": r"year|yrs?\b|\bage|年|life|expectancy|寿命",
    "mpg": r"mpg|miles.per.gallon|^(?:hwy|cty|highway|city)\b",
    "kwh": r"kwh",
    "m2": r"area|sq|面积|㎡|平",
    "inches": r"inch|screen|diagonal|英寸",
    "tonnes": r"\bt\b|tonne|\btons\b|吨",
    "hectares": r"\bha\b|hectare|公顷",
    "mu": "亩",
    "feet": r"\bft\b|feet|foot|\balt",
    "seconds": r"sec|\bs\b|秒",
    "km": r"\bkm\b|公里|千米",
    "kg": r"\bkg\b|公斤|千克",
    "cm": r"\bcm\b|厘米",
    "litres": r"\bl\b|engine|displ|litre|liter|升",
}
"""What names of columns in a unit hold; the names of others hold the unit itself."""
SCALES = (
    {"mm": 1, "cm": 10, "m": 1000, "km": 1_000_000},
    {"g": 1, "kg": 1000},
    {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400},
)
"""How many of its smallest unit each unit is."""
ONE_VALUE = frozenset(["==", "in", *DATE_SIGNS])
"""Conditions of which a row can meet only one for the same column."""
SOFT = frozenset(
    ["fill", "be", "of", "in", "with", "what", "verb", "and", "comma", "among", "total", "ask"]
    + ["cover", "join", "reach", "spent"]
)
"""Words that have done their part, or have none where they stand."""


Rule = Callable[["Reading", list[Word]], "list[Word] | None"]
COLUMN_SCALES = (
    (1e3, re.compile(r"thousand|[(\[]k[)\]]|千元", re.I)),
    (1e4, re.compile(r"万")),
    (1e6, re.compile(r"million|\bmn\b|[(\[]m[)\]]|百万", re.I)),
    (1e8, re.compile(r"亿")),
    (1e9, re.compile(r"billion|\bbn\b", re.I)),
)
"""What names of columns say that their numbers are multiplied by."""


ALL = re.compile(r"\ball(?: (?:of )?the)?$|(?:所有|全部)的?$")


class Scaled(float):
    """A number that was said with its magnitude, as "20 thousand"."""


class Reading:
    """One meaning for each span, and what comes of it."""

    def __init__(self, words: list[Word], frame: TableColumns, previous: Query | None) -> None:
        self.words = _without_fills(words, frame)
        self.frame = frame
        self.previous = previous
        self.filters: list[Filter] = []
        self.by: list[Group] = []
        self.order = ""
        self.marks: list[tuple[str, int]] = []
        self.names: list[Word] = []
        self.events = {word.column for word in words if word.kind == "verb" and word.column}
        """The dates of what is said of the rows: "returned"."""

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
        said = {(f.column, f.sign, f.value): f for f in reversed(self.filters)}
        parts.setdefault("filters", tuple(f for f in self.filters if f in said.values()))
        once = [f.column for f in parts["filters"] if f.sign in ONE_VALUE]
        never = {f.column for f in parts["filters"] if f.sign in ("!=", "not in")}
        if len(set(once)) < len(once) or never & set(once):
            raise UnclearError([str(f.value) for f in parts["filters"]], "one_value")
        _check_ranges(parts["filters"])
        means = [f for f in parts["filters"] if isinstance(f.value, Aggregate)]
        if means and len(parts["filters"]) > 1:
            raise UnclearError([means[0].value.function], "of_which")
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
        units = {(group.column, group.bucket) for group in self.by}
        self.by = [
            replace(g, bucket="month_of_year")
            if g.bucket == "month" and (g.column, "year") in units
            else g
            for g in self.by
        ]
        cut = {group.column for group in self.by if group.bucket}  # per month over time
        if any(group.column.is_year for group in self.by):  # each year over time
            cut |= {group.column for group in self.by if group.column.reads_as == "date"}
        self.by = list(dict.fromkeys(g for g in self.by if g.bucket or g.column not in cut))

    @property
    def has_quantity(self) -> bool:
        """Whether a row may be of several things."""
        return any(QUANTITY.search(str(c.name)) for c in self.frame.of_kind("number"))

    # Columns that are meant without their name.

    def date_column(self, words: Sequence[Word]) -> Column:
        """The one column of dates."""
        dates = self.frame.of_kind("date")
        if len(self.events) == 1:
            return next(iter(self.events))
        begun = [column for column in dates if not ENDS.search(str(column.name))]
        if len(begun) == 1 and not self.events:
            dates = tuple(begun)  # what lasts is dated by its start
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

    def numbered(self, names: Sequence[str]) -> Column | None:
        """The column that numbers months, days or hours, in a table without dates."""
        found = [c for c in self.frame.of_kind("number") if str(c.name).lower() in names]
        limit = next((most for known, most in NUMBERED if names and names[0] in known), 0)
        # A loan's "month" may be its sixtieth.
        found = [c for c in found if all(float(value) <= limit for value in c.counts)]
        return found[0] if len(found) == 1 and not self.frame.of_kind("date") else None

    def bucket(self, word: Word, beside: Sequence[Word] = ()) -> Group:
        """A unit of time as what rows are put together by."""
        dates = [w.column for w in beside if w.column and w.column.reads_as == "date"]
        if dates:
            return _cut(dates[0], str(word.value))
        year = None if self.events else self.year_column()
        if word.value == "year" and year is not None:
            return Group(year)
        names = {"month_of_year": MONTHS, "hour_of_day": HOURS}.get(word.value, ())
        if word.kind == "adverb" and word.value == "month" and self.year_column() is None:
            names = MONTHS
        named = [c for c in self.frame.of_kind("text") if str(c.name).lower() == word.value]
        if word.kind == "adverb" and len(named) == 1 and not self.frame.of_kind("date"):
            return Group(named[0])
        numbered = self.numbered(names)
        if numbered is not None:
            return Group(numbered)
        if word.value in ("time", "day") and not self.frame.of_kind("date") and year is not None:
            return Group(year)
        return _cut(self.date_column([word]), str(word.value))

    def concept(self, word: Word) -> tuple[Column, str]:
        """The column that "oldest" is about, and the rest of what the word says."""
        hints, _, rest = str(word.value).rpartition(" ")
        for hint in hints.split("|"):
            phrase = _long(phrase_of(hint))
            names = {c: _long_name(c) for c in self.frame.of_kind("number")}
            found = [c for c, name in names.items() if _contains(name, phrase)]
            found = [c for c in found if names[c] == phrase] or found
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
        """The column by which people know a row; without names, the one that holds persons."""
        texts = [c for c in self.frame.of_kind("text") if not c.is_identifier]
        named = next((c for c in texts if NAME.search(str(c.name))), None)
        if named is not None:
            return named
        persons = [c for c in texts if PERSON.fullmatch(str(c.name))]
        said = {word_family(word.text) for word in self.words if word.kind == "verb"}
        persons = [c for c in persons if word_family(str(c.name).lower()) in said] or persons
        return persons[0] if len(persons) == 1 else None


def _check_ranges(filters: Sequence[Filter]) -> None:
    """Refuse ranges of one column that no value is in: 1970年代和1980年代 are two, not one."""
    for low, high in itertools.product(filters, repeat=2):
        (unit, _, sign), (other, _, end) = (f.sign.rpartition(" ") for f in (low, high))
        if low.column != high.column or unit != other or sign[:1] != ">" or end[:1] != "<":
            continue
        comparable = type(low.value) is type(high.value) and isinstance(
            low.value, (int, float, str)
        )
        if comparable and low.value > high.value:
            raise UnclearError([str(low.value), str(high.value)], "one_value")


def _is_monthly(column: Column) -> bool:
    """Whether all dates are the first of a month."""
    return len(column.first) > 1 and all(
        re.search(r"-0?1(?: 0.*)?$", each) for each in column.first
    )


def _has_row_each(column: Column, frame: TableColumns) -> bool:
    """Whether each value has one row, or one a year: the mean of all is that of their rows."""
    return column.is_key or any(str(c.name).lower() in YEARS for c in frame.of_kind("number"))


def _without_fills(words: Sequence[Word], frame: TableColumns) -> list[Word]:
    """The words that mean something; the mean of "all countries" is that of their rows."""
    has_function = any(word.kind == "fn" for word in words)
    kept = []
    for before, word in itertools.pairwise([Word("", ""), *words]):
        is_all = before.kind in ("fill", "among") and ALL.search(before.text) is not None
        column = word.column if word.kind == "col" else None
        names_rows = column is not None and column.reads_as == "text" and not column.flags
        if is_all and has_function and names_rows and column and _has_row_each(column, frame):
            kept.append(Word("row", word.text, start=word.start))
        elif word.kind != "fill":
            kept.append(word)
    return kept


def _cut(column: Column, unit: str) -> Group:
    """Dates cut to a unit of time; days without a time of day are days already."""
    is_whole = unit == "time" or (unit == "day" and not column.has_time)
    return Group(column, "" if is_whole else unit)


def _long_name(column: Column) -> tuple[str, ...]:
    """The words of a column's name, none of them cut short."""
    return _long(phrase_of(CAMEL.sub(" ", BRACKETS.sub(" ", str(column.name)))))


def _long(words: Sequence[str]) -> tuple[str, ...]:
    return tuple(lexicon().short.get(word, word) for word in words)


def _contains(words: Sequence[str], part: Sequence[str]) -> bool:
    """Whether words hold others side by side, in their order."""
    size = len(part)
    return any(tuple(words[i : i + size]) == tuple(part) for i in range(len(words) - size + 1))


Rules = list[tuple[re.Pattern[str], Rule]]
NUMBERS: Rules = []
DATES: Rules = []
MEASURES: Rules = []
FILTERS: Rules = []
ORDERS: Rules = []
GROUPS: Rules = []
EXTREMES: Rules = []


def _rule(rules: Rules, *patterns: str) -> Callable[[Rule], Rule]:
    """Make a rule for words of these kinds, tried after those above it."""

    def add(rule: Rule) -> Rule:
        rules.extend((re.compile(rf"(?<!\S)(?:{pattern})"), rule) for pattern in patterns)
        return rule

    return add


def _keep(rules: Rules, pattern: str, *kinds: str) -> None:
    """Of words of these kinds some are kept; the others add nothing to them."""
    _rule(rules, pattern)(lambda _, words: of_kind(words, *kinds))


def _text(words: Sequence[Word]) -> str:
    return " ".join(word.text for word in words)


def _made(kind: str, words: Sequence[Word], value: Any, column: Column | None = None) -> list[Word]:
    return [Word(kind, _text(words), value, column, 0.0, words[0].start)]


def of_kind(words: Sequence[Word], *kinds: str) -> list[Word]:
    """The words of some kinds."""
    return [word for word in words if word.kind in kinds]


# Numbers and comparisons.

N = r"(?:num|amount) "
LINK = r"(?:be |verb |in |with |of )?"


def _amount(word: Word) -> tuple[float, str]:
    return word.value if word.kind == "amount" else (word.value, "")


def _better(sign: str) -> str:
    return "high" if sign.startswith(">") else "low"


@_rule(NUMBERS, r"(?:num|amount) share ")
def _no_share(_: Reading, words: list[Word]) -> list[Word]:
    """Percent after a number is a number, not a share that is asked for."""
    raise UnclearError([_text(words)], "unit")


@_rule(NUMBERS, r"(?:(?<!num )(?<!amount )|(?<=cmp num ))post (?:than )?(?=num )")
def _and_over(_: Reading, words: list[Word]) -> list[Word] | None:
    """In "over 30 homers and over 100 runs" the number that is compared comes behind."""
    first, _space, rest = words[0].text.partition(" ")
    sign = {"over": ">", "above": ">", "more": ">", "below": "<", "under": "<"}.get(rest)
    if first not in ("and", "or") or sign is None:
        return None
    return [replace(words[0], kind=first), replace(words[0], kind="cmp", text=rest, value=sign)]


@_rule(NUMBERS, r"who col (?:ext|most) col ")
def _who_earns(_: Reading, words: list[Word]) -> list[Word] | None:
    """Who earns the highest salary: the column is said twice."""
    return [words[0], *words[2:]] if words[1].column == words[3].column else None


@_rule(NUMBERS, r"col thiscol |thiscol (?:of )?col ")
def _this_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """The deck column; a "type" that is a column itself is another one."""
    return None if "col" in of_kind(words, "thiscol")[0].also else of_kind(words, "col")


@_rule(NUMBERS, r"col groupword ")
def _named_group(_: Reading, words: list[Word]) -> list[Word] | None:
    """Treatment groups are the treatments; age groups are not the ages."""
    column = words[0].column
    if column is None or not (column.reads_as == "text" or column.is_whole):
        return None
    return words[:1]


_keep(NUMBERS, r"num th |nth th ", "num", "nth")
_keep(NUMBERS, r"th num (?=quantile )", "num")  # 第95百分位数
_rule(NUMBERS, r"th num col ")(lambda _, words: [words[2], words[1]])  # 第1组
_keep(NUMBERS, r"col names ", "col")  # district names


@_rule(NUMBERS, r"col column ")
def _called_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """The manufacturer column."""
    return words[:1] if words[1].text == "column" else None


_rule(NUMBERS, r"(?:period (?:be )*)?(?:in )?when until when ")(  # 时间范围是从什么时候到什么时候
    lambda _, words: _made("period", words, None)
)
_keep(NUMBERS, r"row count (?=most )", "count")  # 借阅次数最多
_keep(NUMBERS, r"(?:row|val) who ", "row", "val")  # people who smoke
_keep(NUMBERS, r"(?:and|or|than|versus) who (?=(?:not )?val )", "and", "or", "than", "versus")
_keep(NUMBERS, r"verb (?:by|using) val ", "val")  # built by Boeing
_keep(NUMBERS, r"money (?:with |in |using |be )*val ", "val")  # paid with a card
_keep(NUMBERS, r"val row (?=(?:and |or |comma |than |versus )+(?:in |with )*(?:not )?val )", "val")
_keep(NUMBERS, r"fits (?:verb )*(?:val|missing) ", "verb", "val", "missing")  # did it rain
_rule(NUMBERS, r"row row ")(lambda _, words: words[-1:])  # 房源记录
_keep(NUMBERS, r"row (?:be |of |with |verb |in )+row ", "row")  # how many loans were of books
_keep(NUMBERS, r"(?:row|col|spent) by val ", "row", "col", "val")  # the titles by an author


@_rule(NUMBERS, r"val (?:and |comma )many (?:be |row |with |verb |in )*val ")
def _how_many_of_each(_: Reading, words: list[Word]) -> list[Word] | None:
    """How many were black, and how many white."""
    is_pair = words[0].column == words[-1].column
    return of_kind(words, "val", "and", "comma") if is_pair else None


@_rule(NUMBERS, r"with (?:be |fits )*$")
def _whose(_: Reading, words: list[Word]) -> list[Word] | None:
    """Of whom something is has no answer without more words."""
    if words[0].text == "whose":
        raise UnclearError(["whose"], "unused")
    return None


@_rule(NUMBERS, r"ask (?:verb )*val ")
def _how_much_rain(_: Reading, words: list[Word]) -> list[Word] | None:
    """How much rain fell is an amount, and not how many days were rainy."""
    if re.fullmatch("rain|snow|雨|雪", words[-1].text) and words[0].text in ("how much", "多少"):
        raise UnclearError([_text(words)], "unused")
    return None


@_rule(NUMBERS, r"val thiscol ")
def _value_as_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """What is called a column is no value."""
    if re.fullmatch(r"这一?列|该列|此列|这个字段|字段|this (?:column|field)|column", words[1].text):
        raise UnclearError([_text(words)], "unused")
    return None


@_rule(NUMBERS, r"(?<!many )(?<!count )(?<!which )(?<!clf )row col (?!row )")
def _of_rows(_: Reading, words: list[Word]) -> list[Word]:
    """Passenger ages are a column, but 订单数量 is how many orders there are."""
    if "count" in words[1].also:
        raise UnclearError([_text(words)], "unused")
    return words[1:]


@_rule(NUMBERS, r"(?:unit|unitword) of col ")
def _years_of(_: Reading, words: list[Word]) -> list[Word] | None:
    """Years of education are the column "education"."""
    column = words[-1].column
    is_unit = re.search(r"(?:year|month|week|day|hour|minute)s$", words[0].text)
    if column is None or not is_unit or column.reads_as != "number" or column.is_year:
        return None
    return words[-1:]


@_rule(NUMBERS, r"by (?:row|col) ")
def _by_kind_of(reading: Reading, words: list[Word]) -> list[Word] | None:
    """For each type of car: the column of types."""
    found = [c for c in reading.frame.of_kind("text") if KIND.search(str(c.name))]
    if not re.search(r"(?:type|kind) of$", words[0].text) or words[1].column in found:
        return None
    if len(found) != 1 or (words[1].kind == "col" and "row" not in words[1].also):
        return None
    return [words[0], Word("col", words[1].text, None, found[0])]


@_rule(NUMBERS, r"row (?:with |be |verb )*many row ")
def _how_many_people(_: Reading, words: list[Word]) -> list[Word] | None:
    """有几个人 behind what they are called."""
    return words[:-1] if words[-1].text in ("人", "位") else None


@_rule(NUMBERS, r"(?:val|col) col ")
def _rate_of_flag(_: Reading, words: list[Word]) -> list[Word] | None:
    """The cancellation rate is no "Rate per Night" of what was cancelled."""
    flag, rate = (word.column for word in words)
    is_rate = re.fullmatch("rates?", words[1].text, re.I) and flag != rate
    if is_rate and flag is not None and flag.flags:
        raise UnclearError([_text(words)], "unused")
    return None


@_rule(NUMBERS, r"col rate ")
def _rate_column(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The saving rate is the column "saving", unless it might be counted against people."""
    column = words[0].column
    if column is None or column.reads_as != "number" or column.flags:
        return None
    is_counted = any(COUNTED.search(str(c.name)) for c in reading.frame.columns)
    return None if is_counted else words[:1]


@_rule(NUMBERS, r"col col ")
def _said_twice(_: Reading, words: list[Word]) -> list[Word] | None:
    """Two words for one column: "rated their marriage" is ``rate_marriage``."""
    is_part = min(word.penalty for word in words) >= 1
    in_two_languages = words[0].text.isascii() != words[1].text.isascii()  # 城市油耗 cty
    is_same = words[0].column == words[1].column
    return words[1:] if (is_part or in_two_languages) and is_same else None


@_rule(NUMBERS, r"val val ")
def _side_by_side_values(_: Reading, words: list[Word]) -> list[Word] | None:
    """男女 are both, of one column."""
    first, second = words
    is_pair = first.column == second.column and first.value != second.value
    are_short = all(re.fullmatch(f"[{HAN}]", word.text) for word in words)
    return [first, Word("and", ""), second] if is_pair and are_short else None


@_rule(NUMBERS, r"(?:in )?many unit ")
def _how_many_years(reading: Reading, words: list[Word]) -> list[Word] | None:
    """How many years had more: rows, where each is of another year or day."""
    many, unit = words[-2:]
    year, day = reading.year_column(), reading.numbered(("day",))
    dates = reading.frame.of_kind("date")
    is_row = {
        "year": year is not None and year.is_key,
        "month": len(dates) == 1 and _is_monthly(dates[0]),
        "day": day is not None and not day.is_key,
    }
    return [many, replace(unit, kind="row")] if is_row.get(str(unit.value)) else None


@_rule(NUMBERS, r"in num col ")
def _all_values(_: Reading, words: list[Word]) -> list[Word] | None:
    """For the two wools: all values of a column of two."""
    column = words[2].column
    if column is None or column.reads_as != "text" or not column.is_whole:
        return None
    return [words[0], words[2]] if len(column.counts) == words[1].value > 1 else None


@_rule(NUMBERS, r"num chart by ")
def _one_line_per(_: Reading, words: list[Word]) -> list[Word] | None:
    """One line per group."""
    return words[1:] if words[0].value == 1 else None


@_rule(NUMBERS, r"(?:many|count) chart ")
def _lines(_: Reading, words: list[Word]) -> list[Word] | None:
    """How many lines there are asks for no chart."""
    return [words[0], replace(words[1], kind="row")] if words[1].text == "lines" else None


@_rule(NUMBERS, r"whichkind (?:row|col) ")
def _which_kind(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Which kind of book: the column of kinds."""
    column = words[1].column
    if column is None:
        found = [c for c in reading.frame.of_kind("text") if KIND.search(str(c.name))]
        column = found[0] if len(found) == 1 else None
    if column is None or column.is_key or column.reads_as == "date" or is_entity(words[1]):
        return None
    return [*_made("which", words[:1], None), Word("col", words[1].text, None, column)]


@_rule(NUMBERS, r"(?:unit )?whichday ")
def _which_day(_: Reading, words: list[Word]) -> list[Word] | None:
    if words[0].kind == "unit" and words[0].value != "day":
        return None
    return [*_made("which", words, None), *_made("unit", words, "day")]


@_rule(NUMBERS, r"money ")
def _spent(reading: Reading, words: list[Word]) -> list[Word] | None:
    """What was spent stands in the one column of money."""
    found = [c for c in reading.frame.of_kind("number") if MONEY.search(str(c.name))]
    wholes = [c for c in found if WHOLE.search(str(c.name))]
    others = [c for c in found if c not in wholes and not EACH.search(str(c.name))]
    if of_kind(reading.words, "total") or not others:
        found = wholes or found  # not what one of them costs
    if len(found) != 1 or (reading.has_quantity and not WHOLE.search(str(found[0].name))):
        raise UnclearError([words[0].text], "several" if found else "no_column", found)
    return [replace(words[0], kind="col", column=found[0])]


@_rule(NUMBERS, r"(?:num|many|ask|by|adverb|which|group) clf ")
def _classifier(reading: Reading, words: list[Word]) -> list[Word]:
    is_number = words[0].kind == "num"
    if words[-1].text == "件" and reading.has_quantity and not is_number:
        raise UnclearError([_text(words)], "different")  # rows, or what each has of it?
    if words[0].kind == "ask":
        return _made("many", words, None)
    return words[:1]


@_rule(NUMBERS, r"num mag ")
def _magnitude(_: Reading, words: list[Word]) -> list[Word]:
    return _made("num", words, Scaled(float(words[0].value) * float(words[1].value)))


@_rule(NUMBERS, r"(?:cmp|concept|be|in|datecmp|between) until num ")
def _negative(_: Reading, words: list[Word]) -> list[Word] | None:
    if words[1].text not in ("-", "–"):
        return None
    return [words[0], *_made("num", words[1:], -float(words[2].value))]


@_rule(NUMBERS, r"(?:unitword num|num (?:unitword|percent)) ")
def _with_unit(_: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = (words[1], words[0]) if words[1].kind == "num" else (words[0], words[1])
    if words[1].kind == "num" and unit.value != "currency":
        return None
    name = "percent" if unit.kind == "percent" else str(unit.value)
    return _made("amount", words, (number.value, name))


@_rule(NUMBERS, rf"(?:(?:between|in) )?{N}(?:until |and ){N}(?:between2 )?")
def _range(_: Reading, words: list[Word]) -> list[Word] | None:
    if of_kind(words, "and") and words[0].kind != "between" and words[-1].kind != "between2":
        return None
    (low, unit), (high, other) = (_amount(word) for word in of_kind(words, "num", "amount"))
    if unit and other and unit != other:
        return None
    return _made("test", words, [("between", (low, high), unit or other)])


@_rule(NUMBERS, rf"cmp (?:of )?{N}")
def _compared(_: Reading, words: list[Word]) -> list[Word]:
    number, unit = _amount(words[-1])
    return _made("test", words, [(words[0].value, number, unit)])


@_rule(NUMBERS, r"sign ")
def _signed(_: Reading, words: list[Word]) -> list[Word]:
    """Negative profits are below zero."""
    return _made("test", words, [(words[0].value, 0.0, "")])


@_rule(NUMBERS, r"cmp (?=(?:not )?val )")
def _equal_to_value(_: Reading, words: list[Word]) -> list[Word] | None:
    """A diet equal to "herbi"."""
    return [] if words[0].value == "==" else None


@_rule(NUMBERS, rf"{N}post ")
def _after_number(_: Reading, words: list[Word]) -> list[Word]:
    if words[1].text == "多":
        raise UnclearError([_text(words)], "unused")  # 一万多 is less than two, too
    number, unit = _amount(words[0])
    return _made("test", words, [(words[1].value, number, unit)])


@_rule(NUMBERS, r"test (?:and |or )test ")
def _both_tests(_: Reading, words: list[Word]) -> list[Word] | None:
    return None if of_kind(words, "or") else _made("test", words, words[0].value + words[-1].value)


@_rule(NUMBERS, rf"(?:col {LINK})?(?:cmp|concept) (?:of )?fn (?:(?:of |in |for )*col )?")
def _beyond_average(reading: Reading, words: list[Word]) -> list[Word] | None:
    """In "above average" the number is the column's own."""
    (function,), (key,) = of_kind(words, "fn"), of_kind(words, "cmp", "concept")
    if function.value not in ("mean", "median") or function.text.startswith("on "):
        return None
    sign, columns = str(key.value), of_kind(words, "col")
    if key.kind == "concept":
        column, sign = reading.concept(key)
        columns.append(replace(key, kind="col", column=column))
    if len({word.column for word in columns}) > 1:
        return None
    test = (sign, Aggregate(str(function.value)), "")
    return [*columns[:1], *_made("test", [key], [test])]


@_rule(NUMBERS, r"cmp (?=(?:in |with |of |for |among )*(?:not )?val )")
def _than_value(_: Reading, words: list[Word]) -> list[Word] | None:
    """Two parts are compared, as in "more than women do"."""
    if words[0].value not in ("<", ">"):
        return None
    return [*_made("comparison", words, _better(words[0].value)), Word("than", "")]


@_rule(NUMBERS, r"concept (?!num |amount |be num |be amount )")
def _comparative(reading: Reading, words: list[Word]) -> list[Word]:
    """Of "heavier" without a number, the column and the comparison."""
    column, sign = reading.concept(words[0])
    made = replace(words[0], kind="col", column=column, value=None)
    return [made, *_made("comparison", words, _better(sign))]


@_rule(NUMBERS, r"howmuch ")
def _how_heavy(reading: Reading, words: list[Word]) -> list[Word]:
    """The column that "how heavy" asks for."""
    column, _ = reading.concept(replace(words[0], value=f"{words[0].value} high"))
    return [replace(words[0], kind="col", column=column, value=None)]


@_rule(NUMBERS, r"row of (?:num|test) (?!col |row )")
def _party_of(reading: Reading, words: list[Word]) -> list[Word] | None:
    """A party of four is one whose size is four."""
    sizes = [c for c in reading.frame.of_kind("number") if SIZE.search(str(c.name))]
    last = words[-1]
    if len(sizes) != 1:
        return None
    made = _tested(sizes[0], [("==", last.value, "")] if last.kind == "num" else last.value, [last])
    return [words[0], *made] if made else None


# Dates.


def _is_year(word: Word) -> bool:
    return word.kind == "num" and 1500 <= word.value <= 2200 and word.value == int(word.value)


def _when(words: Sequence[Word], sign: str, value: Any) -> list[Word]:
    return _made("date", words, (sign, value))


@_rule(DATES, r"date ")
def _iso_date(_: Reading, words: list[Word]) -> list[Word] | None:
    text = words[0].value
    if not isinstance(text, str):
        return None
    return _when(words, "day" if len(text) > 7 else "month", text)


@_rule(DATES, r"(?:month num (?:comma )?num|num (?:of )?month (?:comma )?num) ")
def _day_date(_: Reading, words: list[Word]) -> list[Word] | None:
    month = of_kind(words, "month")[0]
    day, year = (int(word.value) for word in of_kind(words, "num"))
    if not 0 < day < 32 or not _is_year(of_kind(words, "num")[1]):
        return None
    return _when(words, "day", f"{year:04}-{int(month.value):02}-{day:02}")


@_rule(
    DATES,
    r"(?:month num|num (?:of )?month) (?=(?:and |until )(?:date|month num num|num month num) )",
)
def _same_year(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The first day of "from 1 March to 31 May 2024" is of the same year."""
    after = reading.words[reading.words.index(words[-1]) + 2 :][:3]
    if after and after[0].kind == "date":
        value = after[0].value if isinstance(after[0].value, str) else str(after[0].value[1])
        year = int(value[:4])
    else:
        year = int(of_kind(after, "num")[-1].value)
    day, month = of_kind(words, "num")[0].value, of_kind(words, "month")[0].value
    if not 0 < day < 32 or not 1500 <= year <= 2200:
        return None
    return _when(words, "day", f"{year:04}-{int(month):02}-{int(day):02}")


@_rule(DATES, r"num unit num (?:unit|col) (?:num (?:unit|col) )?")
def _han_date(_: Reading, words: list[Word]) -> list[Word] | None:
    if "".join(w.text for w in of_kind(words, "unit", "col")) not in ("年月", "年月日", "年月号"):
        return None
    year, *rest = (int(word.value) for word in of_kind(words, "num"))
    text = "-".join([f"{year:04}", *(f"{part:02}" for part in rest)])
    return _when(words, "day" if len(rest) > 1 else "month", text)


@_rule(DATES, r"(?:num unit (?:month|quarter)|(?:month|quarter) (?:of |in |comma )?num) ")
def _month_date(_: Reading, words: list[Word]) -> list[Word] | None:
    year, part = of_kind(words, "num")[0], of_kind(words, "month", "quarter")[0]
    if not _is_year(year) or any(w.value != "year" for w in of_kind(words, "unit")):
        return None
    if part.kind == "month":
        return _when(words, "month", f"{int(year.value):04}-{int(part.value):02}")
    return _when(words, "quarter", f"{int(year.value)}Q{part.value}")


@_rule(DATES, r"date until num unit ")
def _months_of_year(_: Reading, words: list[Word]) -> list[Word] | None:
    """2024年1月到6月: the second month is of the same year."""
    sign, value = words[0].value if isinstance(words[0].value, tuple) else ("", "")
    last, unit = words[2], words[3].text.removesuffix("份")
    if sign != "month" or unit != "月" or not 0 < last.value < 13:
        return None
    return [*words[:2], *_when(words[2:], "month", f"{value[:4]}-{int(last.value):02}")]


@_rule(DATES, r"num unit(?:word)? ")
def _han_year(_: Reading, words: list[Word]) -> list[Word] | None:
    han = words[1].text.removesuffix("份")
    if han == "年" and _is_year(words[0]):
        return _when(words, "year", int(words[0].value))
    if han == "月" and 0 < words[0].value < 13:
        return _when(words, "month_of_year", int(words[0].value))
    return None


@_rule(DATES, r"(?:in )?(?:num (?:unit )?half|half (?:(?:of |in |comma )?num )?)")
def _half(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Half a year: its months, in one year or in each."""
    (half,), years = of_kind(words, "half"), of_kind(words, "num")
    is_plain = half.text.endswith("half") and not years  # of the rows?
    units = [word.value for word in of_kind(words, "unit")]
    if is_plain or len(of_kind(reading.words, "half")) > 1 or units not in ([], ["year"]):
        return None
    if not all(map(_is_year, years)):
        return None
    months = ("month_of_year <=", 6) if half.value == "1" else ("month_of_year >=", 7)
    return _made("datetest", words, [*(("year", int(y.value)) for y in years), months])


@_rule(DATES, r"(?:in )?(?:num )?decade ")
def _decade(_: Reading, words: list[Word]) -> list[Word] | None:
    """The 1990s are ten years; the 1900s may be a hundred."""
    said = of_kind(words, "num", "decade")[0].value
    if not isinstance(said, float) or said % 10 or not said % 100 or not 1500 < said < 2200:
        return None
    return _made("datetest", words, [("year >=", int(said)), ("year <=", int(said) + 9)])


@_rule(DATES, r"(?:month|quarter|dow) ")
def _part_of_year(_: Reading, words: list[Word]) -> list[Word]:
    sign = {"month": "month_of_year", "quarter": "quarter_of_year", "dow": "day_of_week"}
    value = words[0].value
    return _when(words, sign[words[0].kind], value if value == "weekend" else int(value))


@_rule(DATES, r"unit num until num ")
def _years_from_to(_: Reading, words: list[Word]) -> list[Word] | None:
    """The years 1990 to 1999."""
    is_range = words[0].value == "year" and all(map(_is_year, of_kind(words, "num")))
    return words[1:] if is_range else None


@_rule(DATES, r"(?:in |datecmp |unit )num (?!unit |top |row |col |clf |extc |test |percent |mag )")
def _english_year(_: Reading, words: list[Word]) -> list[Word] | None:
    if not _is_year(words[1]) or (words[0].kind == "unit" and words[0].value != "year"):
        return None
    year = _when(words[1:], "year", int(words[1].value))
    return year if words[0].kind == "unit" else [words[0], *year]


@_rule(DATES, r"num datecmp ")
def _year_after(_: Reading, words: list[Word]) -> list[Word] | None:
    return (
        [*_when(words[:1], "year", int(words[0].value)), words[1]] if _is_year(words[0]) else None
    )


@_rule(DATES, r"(?:between |in )?(?:date|num) (?:and |until )(?:date|num) (?:between2 )?")
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


@_rule(
    DATES,
    r"(?<!cmp )(?<!be )(?<!top )(?<!with )(?<!col )(?<!nth )(?<!ext )(?<!unitword )(?<!measure )"
    r"(?<!num )(?<!head )(?<!tail )(?<!row )num (?!unit |top |clf |extc |test |percent |mag |num "
    r"|and |or |comma |until |row |th )",
)
def _bare_year(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The 2007 of "the 2007 population" or "2002 only", where it is a year of the table."""
    column = reading.year_column()
    is_there = column is None or not column.is_whole or words[0].value in column.counts
    if not _is_year(words[0]) or not is_there or not (column or reading.frame.of_kind("date")):
        return None
    return _when(words, "year", int(words[0].value))


@_rule(DATES, r"(?:datecmp date|date datecmp) ")
def _date_compared(_: Reading, words: list[Word]) -> list[Word] | None:
    sign, value = of_kind(words, "date")[0].value
    if sign in ("day_of_week", "quarter_of_year"):
        return None
    return _made("datetest", words, [(f"{sign} {of_kind(words, 'datecmp')[0].value}", value)])


@_rule(DATES, r"(?:in )?date or (?:in )?date ")
def _either_date(_: Reading, words: list[Word]) -> list[Word] | None:
    """In August or September."""
    (sign, first), (other, second) = (word.value for word in of_kind(words, "date"))
    if sign != other or sign not in ("month_of_year", "day_of_week", "year"):
        return None
    if "weekend" in (first, second):
        return None
    return _made("datetest", words, [(sign, (first, second))])


@_rule(DATES, r"(?:in )?date ")
def _in_date(_: Reading, words: list[Word]) -> list[Word]:
    sign, value = words[-1].value
    return _made("datetest", words, [(sign, value)])


# Filters.


def fits_unit(column: Column, unit: str) -> bool:
    """Whether numbers of a column are in a unit, as far as its name tells."""
    name = str(column.name)
    if unit == "points":
        return not (LASTS.search(name) or MONEY.search(name)) or bool(POINTS.search(name))
    parts = {part.lower() for part in re.findall(r"[A-Za-z]+", name)}
    return unit in parts or bool(re.search(UNITS.get(unit, "$^"), name.replace("_", " "), re.I))


def _in_unit_of(column: Column, value: Any, unit: str) -> Any:
    """A number in the unit of a column; None where the column's is unknown."""
    if isinstance(value, Aggregate):
        return value
    if fits_unit(column, unit):
        return _in_scale_of(column, value)
    scale: dict[str, int] = next((s for s in SCALES if unit in s), {})
    own = [other for other in scale if other != unit and fits_unit(column, other)]
    if len(own) != 1:
        return None
    if isinstance(value, tuple):
        return tuple(_in_unit_of(column, each, unit) for each in value)
    return round(value * scale[unit] / scale[own[0]], 9)


def _in_scale_of(column: Column, value: Any) -> Any:
    """A number that was said with its magnitude, as a column has it."""
    if isinstance(value, tuple):
        return tuple(_in_scale_of(column, each) for each in value)
    if not isinstance(value, Scaled):
        return value
    name = str(column.name).replace("_", " ")
    return float(value) / max((s for s, word in COLUMN_SCALES if word.search(name)), default=1)


def _tested(column: Column, tests: Sequence[Any], words: Sequence[Word]) -> list[Word] | None:
    """Comparisons of a column as filters."""
    if column.reads_as != "number" or any(w.column == column and is_entity(w) for w in words):
        return None
    made = [
        Filter(column, sign, _in_unit_of(column, value, unit), words[0].start)
        for sign, value, unit in tests
    ]
    if any(each.value is None for each in made):
        raise UnclearError([_text(words)], "unit", [column])
    return _made("filter", words, made)


def is_entity(word: Word) -> bool:
    """Whether a word is a part of an identifier's name: "runner" of ``runner_id``."""
    return (
        word.kind == "col" and word.penalty >= 1 and bool(word.column and word.column.is_identifier)
    )


def _values_of(word: Word) -> tuple[Any, ...]:
    return word.value if word.kind == "vals" else (word.value,)


@_rule(FILTERS, r"not (?:in |with |verb |be )*val val ", r"val and val ")
def _two_values(_: Reading, words: list[Word]) -> list[Word] | None:
    """Not adult men; women and children: of two columns, which is not said."""
    first, second = of_kind(words, "val")
    if first.column != second.column:
        raise UnclearError([_text(words)], "unused")
    return None


@_rule(FILTERS, r"in val ")
def _from_or_to(_: Reading, words: list[Word]) -> list[Word] | None:
    """A place that something goes to is not where it starts, if the columns say which is which."""
    assert words[1].column is not None
    wrong = {FROM: TO, TO: FROM}
    for said, other in wrong.items():
        if said.search(words[0].text) and other.search(str(words[1].column.name)):
            raise UnclearError([_text(words)], "unused")
    return None


@_rule(FILTERS, r"weakval col |col (?:be |in |verb )*weakval ")
def _weak_value(_: Reading, words: list[Word]) -> list[Word] | None:
    value, column = of_kind(words, "weakval")[0], of_kind(words, "col")[0]
    return (
        [replace(value, kind="val", text=_text(words))] if value.column == column.column else None
    )


@_rule(FILTERS, r"col (?:(?:be |verb |in |of )?test |with test (?!row ))")
def _column_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    assert words[0].column is not None
    after = reading.words[reading.words.index(words[-1]) + 1 :][:1]
    key = next((word.column for word in after if word.kind == "col"), None)
    if key is not None and key.reads_as != "text":
        return None  # the test may be of what comes behind it
    return _tested(words[0].column, words[-1].value, words)


@_rule(FILTERS, r"(?:col (?:be |verb |in )?)?test (?:of |in )?col ")
def _test_column(_: Reading, words: list[Word]) -> list[Word] | None:
    assert words[-1].column is not None
    if words[0].kind == "col":
        if words[0].column is None or words[0].column.reads_as != "text":
            return None
        made = _test_column(_, [w for w in words[1:] if w.kind in ("test", "col")])
        return made and [words[0], *made]
    if "row" in words[-1].also and not words[0].value[0][2]:
        return None  # "more than 70 bills" are rows, not an amount
    return _tested(words[-1].column, words[0].value, words)


_keep(FILTERS, r"test col between2 ", "test", "col")  # 1到1.5克拉之间


def _side_by_side(columns: Sequence[Column], sign: str, words: Sequence[Word]) -> list[Word] | None:
    """Two columns of the same row compared; texts only where they may be the same."""
    first, second = columns
    kinds = {first.reads_as, second.reads_as}
    same_values = bool(set(first.examples) & set(second.examples))
    if first == second or len(kinds) > 1 or first.flags or second.flags:
        return None
    if first.reads_as == "text" and not (same_values and sign in ("==", "!=")):
        return None
    if first.is_identifier or second.is_identifier:
        return None
    return _made("filter", words, [Filter(first, sign, second, words[0].start)])


BETWEEN = r"(?:be |with |in |of |verb )*"


@_rule(
    FILTERS,
    rf"col {BETWEEN}(?:not )?sameas {BETWEEN}col ",
    rf"col (?:and |versus |in )col {BETWEEN}(?:not )?sameas ",
    r"col and col distinct (?=row |col |many |in |$)",
)
def _same_as(_: Reading, words: list[Word]) -> list[Word] | None:
    columns = [word.column for word in of_kind(words, "col") if word.column is not None]
    is_other = of_kind(words, "distinct") or any(w.value == "not" for w in words)
    return _side_by_side(
        columns, "!=" if bool(is_other) != bool(of_kind(words, "not")) else "==", words
    )


@_rule(FILTERS, rf"col {BETWEEN}(?:cmp|datecmp) {BETWEEN}col |comparison col than {BETWEEN}col ")
def _beyond_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """Films that grossed less than their budget."""
    columns = [word.column for word in of_kind(words, "col") if word.column is not None]
    sign = of_kind(words, "cmp", "datecmp", "comparison")[0]
    found = {"high": ">", "low": "<"}.get(str(sign.value), str(sign.value))
    is_date = columns[0].reads_as == "date"
    if is_date != (sign.kind == "datecmp") or columns[0].reads_as == "text":
        return None
    return _side_by_side(columns, found, words)


@_rule(FILTERS, rf"col (?:be |with )*concept {N}")
def _own_concept(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Of "flippers longer than 220 mm" the length of flippers is meant."""
    column = words[0].column
    assert column is not None
    hints, _, sign = str(of_kind(words, "concept")[0].value).rpartition(" ")
    name = phrase_of(CAMEL.sub(" ", str(column.name)))
    if not any(_contains(name, phrase_of(hint)) for hint in hints.split("|")):
        return None
    number, unit = _amount(words[-1])
    return _tested(column, [(sign, number, unit)], words)


@_rule(FILTERS, rf"concept {N}")
def _concept_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    column, sign = reading.concept(words[0])
    number, unit = _amount(words[1])
    return _tested(column, [(sign, number, unit)], words)


@_rule(FILTERS, rf"measure {LINK}test |test (?:of |in )?measure |test row ")
def _having(reading: Reading, words: list[Word]) -> list[Word] | None:
    """What groups must have: so many rows, or such a mean."""
    (test, *more) = of_kind(words, "test")[0].value
    measures = of_kind(words, "measure")
    functions, columns = measures[0].value if measures else ((), ())
    if not measures and reading.has_quantity and not SALES.search(words[-1].text):
        return None  # more than 3 items, or 3 rows of items?
    if more or not isinstance(test[1], float) or len(functions) > 1 or len(columns) > 1:
        return None
    value = _in_unit_of(columns[0], test[1], test[2]) if columns else test[1]
    if value is None or (test[2] and not columns):
        return None
    name = Column(columns[0].name if columns else "count", "float64")
    return _made("having", words, (functions, columns, Filter(name, test[0], value)))


@_rule(FILTERS, r"(?:val|vals join) clf ")
def _kind_of_value(_: Reading, words: list[Word]) -> list[Word] | None:
    return words[:-1] if words[-1].text in ("类", "种", "款") else None


@_rule(FILTERS, r"(?:val|vals join) col ")
def _value_column(_: Reading, words: list[Word]) -> list[Word] | None:
    return words[:-1] if words[-1].column == words[0].column else None


@_rule(
    FILTERS,
    r"val (?:and |or |versus |than )(?:in |with )*not val ",
    r"val (?:row )?(?:and |or |versus |than )(?:in |with |row )*not (?=be |$)",
)
def _yes_and_no(_: Reading, words: list[Word]) -> list[Word] | None:
    """Smokers and non-smokers, or with a lift and without one: both values of a flag."""
    column, last = words[0].column, of_kind(words, "val")[-1]
    if column is None or column != last.column or words[0].value != last.value:
        return None
    return _both_of(words[0], words, "and") if column.flags else None


def _both_of(flag: Word, words: Sequence[Word], joined_by: str) -> list[Word]:
    assert flag.column is not None
    made = replace(flag, kind="vals", value=flag.column.flags, text=_text(words))
    return [made, Word("join", "", joined_by)]


@_rule(
    FILTERS,
    r"with (?:and |or |versus |than )(?:not|no) (?:verb )*(?:val|col) ",
    r"(?:not|no) (?:and |or |versus |than )with (?:verb )*(?:val|col) ",
)
def _with_and_without(_: Reading, words: list[Word]) -> list[Word]:
    """With and without a lift: both values of a flag."""
    column = words[-1].column
    if column is None or not column.flags:
        raise UnclearError([_text(words)], "unused")  # one of the two would be left out
    return _both_of(words[-1], words, "or" if of_kind(words, "or") else "and")


@_rule(FILTERS, r"most val (?!row |col |measure |count |val )", r"val most $")
def _most_of_value(_: Reading, words: list[Word]) -> list[Word] | None:
    """The most rain is an amount, and not the most rows whose weather is rain."""
    (value,) = of_kind(words, "val")
    is_amount = value.text in ("雨", "雪") or (
        value.text.isascii() and not value.text.endswith("s")
    )
    if is_amount and value.column is not None and not value.column.flags:
        raise UnclearError([_text(words)], "unused")
    return None


@_rule(
    FILTERS,
    r"(?:val|vals join) (?:(?:and|or|comma|than|versus)(?: in| be| with| of)* )+(?:col )?val ",
)
def _value_list(_: Reading, words: list[Word]) -> list[Word] | None:
    first, second = words[0], words[-1]
    if any(w.column != first.column for w in [second, *of_kind(words, "col")]):
        return None
    values = tuple(dict.fromkeys([*_values_of(first), *_values_of(second)]))
    if any(isinstance(value, PartOfText) for value in values):
        return None
    join = [w.kind for w in words if w.kind in ("or", "than", "versus")]
    join += [*(str(w.value) for w in of_kind(words, "join")), "and"]
    made = replace(first, kind="vals", value=values, text=_text(words))
    return [made, Word("join", "", join[0])]


@_rule(FILTERS, r"col (?:be |verb |in )*(?:not )?(?:val|vals join) ")
def _column_value(_: Reading, words: list[Word]) -> list[Word] | None:
    value = of_kind(words, "val", "vals")[0]
    if words[0].column != value.column:
        return None
    return [w for w in words[1:] if w.kind in ("not", "val", "vals", "join")]


_rule(FILTERS, r"(?:val|vals join) col ")(_value_column)


@_rule(FILTERS, r"not (?:in |with |verb |be )*(?:val|vals join) (?:notend )?")
def _not_value(_: Reading, words: list[Word]) -> list[Word]:
    value = of_kind(words, "val", "vals")[0]
    assert value.column is not None
    values = _values_of(value)
    made = Filter(value.column, "not in", values, value.start)
    if len(values) == 1:
        made = Filter(value.column, "!=", values[0], value.start)
    return _made("filter", words, [made])


@_rule(FILTERS, r"(?:val|vals join) ")
def _value(_: Reading, words: list[Word]) -> list[Word]:
    value = words[0]
    assert value.column is not None
    if value.kind == "val":
        made = Filter(value.column, "==", value.value, value.start)
    else:
        made = Filter(value.column, "in", value.value, value.start, str(words[1].value))
    return _made("filter", words, [made])


@_rule(FILTERS, r"(?:col (?:be |verb |in )?)?datetest ")
def _date_filter(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[0].column if words[0].kind == "col" else None
    kept = []
    if column is not None and column.reads_as != "date" and not column.is_year:
        kept, words, column = words[:1], words[-1:], None
    tests = words[-1].value
    years = all(sign.startswith("year") for sign, _ in tests)
    months = reading.numbered(MONTHS)
    if column is None and months is not None and tests[0][0] == "month_of_year":
        sign = "in" if isinstance(tests[0][1], tuple) else "=="
        made = [Filter(months, sign, value, words[0].start) for _, value in tests]
        return [*kept, *_made("filter", words, made)] if len(tests) == 1 else None
    if column is None:
        plain = reading.year_column() if years and not reading.events else None
        column = plain or reading.date_column(words[-1:])
    if column.is_year:
        if not years:
            raise UnclearError([_text(words)], "no_date")
        numbers = [v for v in column.counts if isinstance(v, (int, float))]
        if numbers and max(numbers) < 1000:
            raise UnclearError([_text(words)], "unit", [column])
        made = [
            Filter(
                column,
                sign.partition(" ")[2] or ("in" if isinstance(value, tuple) else "=="),
                value,
                words[0].start,
            )
            for sign, value in tests
        ]
    else:
        made = [Filter(column, sign, value, words[0].start) for sign, value in tests]
    return [*kept, *_made("filter", words, made)]


@_rule(FILTERS, r"(?:datetest|test) (?:using|by) col ")
def _date_by_column(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Between 1950 and 1959 according to start_date."""
    column, tested = words[-1].column, words[0]
    if words[1].text in ("by", "per") or column is None or column.reads_as != "date":
        return None
    if tested.kind == "test":
        (tested,) = _years_between(words[:1]) or [tested]
    return _date_filter(reading, [words[-1], tested]) if tested.kind == "datetest" else None


@_rule(
    FILTERS,
    r"num (?:(?:comma |or |and )+num )+col ",
    r"col (?:be |of |in |verb )*num (?:(?:comma |or )+num )+(?!col |row |clf |unitword )",
)
def _one_of_numbers(_: Reading, words: list[Word]) -> list[Word] | None:
    """Cars with 4 or 6 cylinders."""
    column, numbers = of_kind(words, "col")[0].column, [w.value for w in of_kind(words, "num")]
    joins = {w.kind for w in words} & {"or", "and"}
    if len(joins) != 1 or column is None or column.reads_as != "number" or column.flags:
        return None
    if any(is_entity(word) for word in words) or any(isinstance(n, Scaled) for n in numbers):
        return None
    made = Filter(column, "in", tuple(numbers), words[0].start, joins.pop())
    return _made("filter", words, [made])


@_rule(FILTERS, r"num col (?:(?:comma |or |and )+num col )+")
def _each_of_numbers(_: Reading, words: list[Word]) -> list[Word] | None:
    """4缸、6缸的车: the column is said with each number."""
    columns = {word.column for word in of_kind(words, "col")}
    if len(columns) > 1:
        return None
    numbers = [word for word in words if word.kind != "col"]
    return _one_of_numbers(_, [*numbers, Word("and", ""), words[-1]])


@_rule(FILTERS, rf"col (?:be |of |cmp ){N}|col in amount |col num (?!row |top |clf )")
def _column_number(_: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = _amount(words[-1])
    assert words[0].column is not None
    if words[0].column.reads_as == "date":
        return None
    return _tested(words[0].column, [("==", number, unit)], words)


@_rule(FILTERS, r"(?:(?:with|and|of|be|verb|or|many|in) num col|num col row) ")
def _number_column(_: Reading, words: list[Word]) -> list[Word] | None:
    number, column = of_kind(words, "num")[0], of_kind(words, "col")[0]
    assert column.column is not None
    if number.value != int(number.value) or _is_year(number):
        return None
    if words[0].kind == "in" and number.text.isalpha():
        return None  # the most in one hour: in any, not in the first
    made = _tested(column.column, [("==", number.value, "")], [number, column])
    kept = [w for w in words if w.kind in ("many", "row", "or", "and", "with", "be")]
    if made is None or of_kind(words, "or"):
        return None
    first = [w for w in kept if w.start < number.start]
    return [*first, *made, *(w for w in kept if w not in first)]


@_rule(FILTERS, r"(?:filter (?:be )?|row (?:be )?|be )test ")
def _person_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Of people "over 40" is an age."""
    has_sex = any(SEX.search(str(c.name)) for c in reading.frame.columns)
    persons = PEOPLE | lexicon().sets["person"]
    of_people = words[0].kind == "row" and (
        words[0].value in persons or (has_sex and words[0].value)
    )
    if words[0].kind == "filter":
        of_people = bool(SEX.search(str(words[0].value[0].column.name)))
    ages = [c for c in reading.frame.of_kind("number") if AGE.search(str(c.name))]
    if not of_people or len(ages) != 1 or words[-1].value[0][2]:
        return None
    made = _tested(ages[0], words[-1].value, words[-1:])
    return None if made is None else [words[0], *made]


@_rule(FILTERS, r"(?:be )?amount (?!col |test )")
def _loose_amount(reading: Reading, words: list[Word]) -> list[Word] | None:
    number, unit = words[-1].value
    found = [c for c in reading.frame.of_kind("number") if fits_unit(c, unit)]
    return (
        _tested(found[0], [("==", number, unit)], words)
        if unit == "age" and len(found) == 1
        else None
    )


def _years_between(words: list[Word]) -> list[Word] | None:
    """Between two numbers that may be years."""
    sign, value, unit = words[0].value[0]
    if unit or sign != "between" or not all(1500 <= year <= 2200 for year in value):
        return None
    low, high = map(int, value)
    return _made("datetest", words, [("year >=", low), ("year <=", high)])


@_rule(FILTERS, r"test ")
def _loose_test(reading: Reading, words: list[Word]) -> list[Word] | None:
    """A comparison whose unit tells the column."""
    if years := _years_between(words):
        return years
    unit = words[0].value[0][2]
    found = [c for c in reading.frame.of_kind("number") if unit and fits_unit(c, unit)]
    if len(found) != 1:
        reason = "two_columns" if found else "unit" if unit else "no_column"
        raise UnclearError([words[0].text], reason, found)
    return _tested(found[0], words[0].value, words)


_rule(FILTERS, r"(?:col (?:be |verb |in )?)?datetest ")(_date_filter)


@_rule(FILTERS, r"filter (?:and |comma |versus )+(?:in |with |of )*filter ")
def _both_conditions(_: Reading, words: list[Word]) -> list[Word] | None:
    """Status 0 and status 1: no row has both, so each is meant."""
    both = [word.value for word in of_kind(words, "filter")]
    (one, *more), (other, *others) = both
    is_same = one.column == other.column and one.column.reads_as == "number"
    if more or others or not is_same or {one.sign, other.sign} != {"=="}:
        return None
    if one.value == other.value:
        return words[:1]
    joined_by = "versus" if of_kind(words, "versus") else "and"
    made = Filter(one.column, "in", (one.value, other.value), one.place, joined_by)
    return _made("filter", words, [made])


@_rule(FILTERS, r"filter col ")
def _of_their_kind(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The median of African countries: those that the condition names, whatever they are called."""
    column, text = words[1].column, words[1].text
    asked = ("many", "count", "which", "list", "who", "distinct", "share", "by", "most", "ext")
    is_plural = text[-1:] == "s" or not text.isascii()
    if column is None or column.reads_as != "text" or not is_plural:
        return None
    if any(map(reading.has, asked)) or not (reading.has("fn") or reading.has("measure")):
        return None
    is_other = words[0].value[0].column != column
    return words[:1] if is_other and _has_row_each(column, reading.frame) else None


@_rule(FILTERS, r"filter (?:verb )*col ")
def _same_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """The column of a condition may be said after it, too."""
    return words[:1] if words[0].value[0].column == words[-1].column else None


@_rule(
    FILTERS,
    r"col (?:with )?(?:many )?(?:row )?(?:be |verb |with )*(?:not )?missing "
    r"|missing (?:in |of |for |with |verb |be |yesno )*col (?:with (?!test |val ))?",
)
def _missing_column(reading: Reading, words: list[Word]) -> list[Word] | None:
    after = reading.words[reading.words.index(words[-1]) + 1 :][:1]
    if words[-1].kind == "missing" and of_kind(after, "col") and words[-1].text.isascii():
        return None  # the countries that have a missing code
    column, many = of_kind(words, "col")[0].column, of_kind(words, "many")
    assert column is not None
    said = of_kind(words, "missing")[0].text
    value = next((value for value in column.counts if str(value).lower() == said), None)
    if value is not None:  # an unknown maker is one who is called so
        sign = "!=" if of_kind(words, "not") else "=="
        return [*many, *_made("filter", words, [Filter(column, sign, value, words[0].start)])]
    if of_kind(words, "not"):
        made = Filter(column, "present", None, words[0].start)
        return [*many, *_made("filter", words, [made])]
    return [*many, *_made("missingcol", words, [column], column)]


@_rule(FILTERS, r"(?:with )?(?:no|not) (?:with |be |verb )*(?:given )?col (?:given |verb )?")
def _without(reading: Reading, words: list[Word]) -> list[Word] | None:
    """Without a value: missing, or zero where nothing is missing."""
    column = of_kind(words, "col")[0].column
    assert column is not None
    after = reading.words[reading.words.index(words[-1]) + 1 :]
    if column.flags and after and after[0].kind == "row":
        return None  # "no returned rows" may ask whether there are any
    if column.flags:
        return _made("filter", words, [Filter(column, "==", column.flags[1], words[0].start)])
    if of_kind(words, "verb", "not") and not column.missing and column.reads_as != "number":
        return None  # makers that do not make some
    if column.missing or column.reads_as != "number":
        return _made("missingcol", words, [column], column)
    return _made("filter", words, [Filter(column, "==", 0, words[0].start)])


@_rule(FILTERS, r"col (?:and |comma )+missingcol ")
def _each_missing(_: Reading, words: list[Word]) -> list[Word] | None:
    """气温和风速各缺了 is said of both."""
    column = words[0].column
    if column is None or " 各" not in f" {words[-1].text}":
        return None
    return _made("missingcol", words, [column, *words[-1].value], column)


@_rule(FILTERS, r"missingcol (?:(?:and|or|comma) )+(?:col|missingcol) ")
def _missing_columns(_: Reading, words: list[Word]) -> list[Word]:
    assert words[-1].column is not None
    if of_kind(words, "or"):
        raise UnclearError([_text(words)], "unused")  # rows, of which some have both gaps
    return _made("missingcol", words, [*words[0].value, words[-1].column], words[0].column)


# Measures, groups and extremes.

COLS = r"col (?:(?:and |comma |versus )+col )*"


def _measured(words: Sequence[Word], functions: Sequence[str]) -> list[Word] | None:
    columns = [word.column for word in of_kind(words, "col") if word.column is not None]
    numbers = all(c.reads_as == "number" for c in columns) and not any(map(is_entity, words))
    if not numbers and set(functions) - {"nunique"}:
        return None
    return _made("measure", words, (tuple(functions), tuple(columns)), columns[0])


@_rule(MEASURES, r"count (?:of )?col ")
def _number_of(_: Reading, words: list[Word]) -> list[Word] | None:
    """The number of cylinders is what a column of cylinders holds."""
    column = words[-1].column
    assert column is not None
    if column.reads_as != "number" or column.is_identifier or column.flags:
        return None
    if "row" in words[-1].also:
        return None  # the number of bills is no sum of money
    if words[0].text == "total number of":
        return _measured(words, ["sum"])
    return words[-1:] if words[0].text == "number of" else None


@_rule(
    MEASURES,
    r"(?:num (?:(?:and |comma )+num )*quantile|quartile) (?:of |in |for )*" + COLS,
    rf"{COLS}(?:num quantile|quartile) ",
)
def _quantile(_: Reading, words: list[Word]) -> list[Word] | None:
    quartile = [float(word.value) for word in of_kind(words, "quartile")]
    shares = quartile or [word.value / 100 for word in of_kind(words, "num")]
    if not all(0 < share < 1 for share in shares):
        return None
    return _measured(words, [f"quantile({share:g})" for share in shares])


@_rule(
    MEASURES,
    rf"fn (?:(?:and |comma )+fn )*(?:of |in |for )*{COLS}",
    rf"(?<!by ){COLS}(?:of )?fn (?:(?:and |comma )+fn )*(?!count |row )",
)
def _function_of(_: Reading, words: list[Word]) -> list[Word] | None:
    functions = [str(word.value) for word in of_kind(words, "fn")]
    columns = [word.column for word in of_kind(words, "col")]
    if words[0].kind == "fn" and len(columns) == 2 and columns[0] == columns[1]:
        # The second is that of the next function: 平均年龄和年龄中位数.
        made = _measured(words[:-1], functions)
        return made and [*made, words[-1]]
    is_behind = words[0].kind == "col" and "nunique" in functions
    return None if is_behind else _measured(words, functions)


@_rule(MEASURES, r"measure (?:be |in )*col ")
def _measured_twice(_: Reading, words: list[Word]) -> list[Word] | None:
    """平均高速油耗 hwy: the column is said twice."""
    return words[:1] if words[-1].column in words[0].value[1] else None


@_rule(MEASURES, r"(?:fn|most|ext|versus|corr) (?:of )?unitword ")
def _in_unit(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The total kWh: the one column that is in it."""
    unit = str(words[-1].value)
    found = [c for c in reading.frame.of_kind("number") if fits_unit(c, unit)]
    if len(found) != 1 or unit in ("currency", "points", "age", "people", "years", "percent"):
        return None
    return [*words[:-1], replace(words[-1], kind="col", column=found[0])]


@_rule(MEASURES, r"col fn count ")
def _times_in_all(_: Reading, words: list[Word]) -> list[Word] | None:
    """迟到总次数 is the sum of a column that counts."""
    return _measured(words[:1], ("sum",)) if words[1].value == "sum" else None


@_rule(ORDERS, r"sort col (?:by |in )(?:measure|count row|count) (?:sorted )?")
def _ranked_by(_: Reading, words: list[Word]) -> list[Word] | None:
    """Regions ranked by their mean income are groups in an order."""
    ranked, key = words[1].column, of_kind(words, "measure", "count")[0]
    if ranked is None or ranked.reads_as == "number":
        return None
    order = (of_kind(words, "sorted") or of_kind(words, "sort"))[-1]
    made = _made("sortby", words, str(order.value), key.column)
    return [*made, key, *_made("group", words[1:2], [Group(ranked)])]


@_rule(ORDERS, r"(?:sorted|sort) (?:row )?(?:by |in )*(?:col|measure|count) (?:sorted )?")
def _sorted_by(_: Reading, words: list[Word]) -> list[Word]:
    order = of_kind(words, "sorted") or of_kind(words, "sort")
    key = of_kind(words, "col", "measure", "count")[0]
    return [*of_kind(words, "row"), *_made("sortby", words, str(order[-1].value), key.column), key]


@_rule(ORDERS, r"by (?:col|measure|count row|count) (?:byend )?(?:sort |sorted )")
def _by_sorted(_: Reading, words: list[Word]) -> list[Word] | None:
    key = of_kind(words, "col", "measure", "count")[0]
    if key.kind == "col" and key.column is not None and key.column.reads_as == "text":
        return None
    return [*_made("sortby", words, str(words[-1].value), key.column), key]


@_rule(ORDERS, r"what (?:unit|col) ")
def _what(_: Reading, words: list[Word]) -> list[Word]:
    return [*_made("which", words[:1], None), words[1]]


@_rule(GROUPS, r"(?:breakdown (?:of )?(?:row|col)|col breakdown) (?:in |by )*percent ")
def _broken_down_in_percent(_: Reading, words: list[Word]) -> list[Word] | None:
    """The share of each part."""
    key = of_kind(words, "row", "col")[0]
    if key.column is not None and key.column.reads_as == "number" and not key.column.flags:
        return None
    return [key, *_made("share", [of_kind(words, "breakdown")[0]], None)]


@_rule(GROUPS, r"breakdown (?:of )?(?:row|col) |col breakdown ")
def _broken_down(_: Reading, words: list[Word]) -> list[Word] | None:
    """Rows are counted by what is broken down; an amount is summed."""
    key = of_kind(words, "row", "col")[0]
    if key.column is not None and key.column.reads_as == "number":
        return [key] if words[0].kind == "breakdown" else None
    counted = Word("count", words[0].text)
    return [counted, key if key.column is None else _made("group", words, [Group(key.column)])[0]]


@_rule(
    GROUPS,
    r"crosstab (?:of |between )?col (?:(?:and |by |versus |comma )+)col ",
    r"col (?:and |by |versus |comma )+col crosstab ",
)
def _cross_table(_: Reading, words: list[Word]) -> list[Word] | None:
    """Rows counted by two columns."""
    columns = [word.column for word in of_kind(words, "col") if word.column is not None]
    keys = [c for c in columns if c.reads_as != "number" or c.is_whole]
    if len(set(keys)) < 2:
        return None
    counted = Word("count", of_kind(words, "crosstab")[0].text)
    return [counted, *_made("group", of_kind(words, "col"), [Group(c) for c in keys])]


KEY = r"(?:unit (?:(?:of|in) )*col|col|unit) "


def _groups(reading: Reading, keys: Sequence[Word], words: Sequence[Word]) -> list[Word]:
    made: list[Group] = []
    for key in keys:
        if key.kind in ("unit", "adverb"):
            made.append(reading.bucket(key, keys))
        elif not made or made[-1].column != key.column:
            assert key.column is not None
            made.append(Group(key.column))
    return _made("group", words, made)


@_rule(GROUPS, r"(?:super|ext) (?:row|col|unit) (?:in )*by (?:measure|col) ")
def _best_by(_: Reading, words: list[Word]) -> list[Word] | None:
    """The largest countries by population are the top by it."""
    keys = [w.column is not None and w.column.reads_as == "number" for w in (words[1], words[-1])]
    if keys != [False, True]:
        return None
    way = str(words[0].value).rpartition(" ")[2]
    return [replace(words[0], kind="top", value=way), *words[1:]]


@_rule(
    GROUPS,
    r"top (?:.* )?(?:row|col|unit) (?:in )*by (?:ext )?(?:measure|col|count row|count|most row) ",
    r"top num by (?:ext )?col ",
)
def _top_by(_: Reading, words: list[Word]) -> list[Word]:
    place = max(index for index, word in enumerate(words) if word.kind == "by")
    kept = [w for w in words[place + 1 :] if w.kind != "ext"]
    return [*words[:place], *_made("bymeasure", kept, kept[0])]


@_rule(GROUPS, r"by row (?!num )")
def _each_row(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The mean per row is the mean."""
    means = [w for w in reading.words if w.kind == "measure" and w.value[0] == ("mean",)]
    return [] if means and words[0].text == "per" else None


@_rule(GROUPS, r"by " + KEY + r"(?:(?:and |comma |by |then )+" + KEY + r")*(?:byend )?")
def _grouped(reading: Reading, words: list[Word]) -> list[Word] | None:
    for unit, of, key in zip(words, words[1:], words[2:], strict=False):
        is_part = (unit.kind, of.kind) == ("unit", "of")
        if is_part and key.column is not None and key.column.reads_as != "date":
            return None  # by year of manufacture is not by year and manufacturer
    return _groups(reading, of_kind(words, "col", "unit"), words)


@_rule(GROUPS, r"(?:adverb|time) (?:(?:of |in )*col )?")
def _adverb(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column
    if words[0].kind == "adverb" and column is not None and column.reads_as == "date":
        return _groups(reading, [words[0], words[-1]], words)
    value = "time" if words[0].kind == "time" else words[0].value
    group = reading.bucket(replace(words[0], value=value))
    return [*_made("group", words[:1], [group]), *words[1:]]


@_rule(GROUPS, r"cmp (?:col|unit) ")
def _over(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[1].column
    if words[0].text != "over" or (
        column is not None and not (column.reads_as == "date" or column.is_year)
    ):
        return None
    return _groups(reading, words[1:], words)


@_rule(GROUPS, r"(?:(?:col|unit) )+byend ")
def _by_end(reading: Reading, words: list[Word]) -> list[Word] | None:
    return _groups(reading, words[:-1], words)


@_rule(GROUPS, r"group (?:(?:and|comma) )*by (?:clf )?" + KEY)
def _more_groups(reading: Reading, words: list[Word]) -> list[Word] | None:
    (more,) = _groups(reading, words[-1:], words)
    return _made("group", words, [*words[0].value, *more.value])


@dataclass(frozen=True)
class Extreme:
    """The highest or the lowest of something."""

    lowest: bool
    functions: tuple[str, ...]
    columns: tuple[Column, ...]
    nth: int = 0
    is_row: bool = False
    """The word is about a row, as "oldest" is."""
    is_most: bool = False
    """The most or the fewest of something, whose sum may be meant."""


def _extreme(words: Sequence[Word], key: Word, word: Word) -> list[Word] | None:
    way, _, nth = str(word.value).partition(" nth ")
    assert key.column is not None
    functions: tuple[str, ...] = ()
    columns: tuple[Column, ...] = (key.column,)
    if key.kind == "measure":
        functions, columns = key.value
    if len(columns) != 1 or len(functions) > 1 or functions in (("max",), ("min",)):
        return None
    if is_entity(key):
        return None
    kind = columns[0].reads_as
    is_time = kind == "date" or (word.kind == "later" and columns[0].is_year)
    if kind == "text" or is_time != (word.kind == "later"):
        return None
    if word.kind == "ext" and str(columns[0].name).lower() in YEARS:
        return None  # of what something was lowest in that year is not said
    made = Extreme(way == "low", tuple(functions), tuple(columns), int(nth or 0))
    return _made("extreme", words, replace(made, is_most=word.kind == "most"), columns[0])


@_rule(EXTREMES, r"top num col (?!by |row |unit |top )")
def _top_values(_: Reading, words: list[Word]) -> list[Word] | None:
    """The top 5 salaries are the rows with the highest ones."""
    top, limit, key = words
    column = key.column
    assert column is not None
    if column.reads_as != "number" or column.is_identifier or column.is_year or column.flags:
        return None
    made = _extreme(words, key, replace(top, kind="ext"))
    return made and [limit, *made]


@_rule(EXTREMES, r"nth (?:ext|most|super) ")
def _nth(_: Reading, words: list[Word]) -> list[Word]:
    return _made(words[1].kind, words, f"{words[1].value} nth {words[0].value}")


@_rule(EXTREMES, r"ext (?:col|val) rate |(?:col|val) rate (?:be )*ext ")
def _best_rate(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The highest rate is the highest share of yes."""
    (rated,), (end,) = of_kind(words, "col", "val"), of_kind(words, "ext")
    column = rated.column
    if column is None or not column.flags:
        return None
    reading.filters.append(Filter(column, "==", column.flags[0], rated.start))
    return [end, *_made("share", [rated], None)]


@_rule(EXTREMES, r"ext (?:and |comma )+ext (?:in |of )*col ")
def _both_ends(_: Reading, words: list[Word]) -> list[Word] | None:
    """The highest and the lowest of one column."""
    ends = {str(word.value) for word in of_kind(words, "ext")}
    return _measured(words, ["max", "min"]) if ends == {"high", "low"} else None


@_rule(EXTREMES, r"(?:measure|col) top num (?=be |who |row |col |unit |$)")
def _top_of(_: Reading, words: list[Word]) -> list[Word] | None:
    """数学前三名: the three highest."""
    made = _extreme(words, words[0], words[1])
    return made and [*made, words[2]]


@_rule(EXTREMES, r"most (?:of )?distinct col ")
def _most_different(_: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column
    assert column is not None
    made = Extreme(words[0].value == "low", ("nunique",), (column,))
    return _made("extreme", words, made, column)


@_rule(EXTREMES, r"later and later (?:unit|col) ")
def _first_and_last(reading: Reading, words: list[Word]) -> list[Word] | None:
    column = words[-1].column or reading.date_column(words)
    if column.reads_as != "date":
        return None
    return _made("measure", words, (("min", "max"), (column,)), column)


@_rule(EXTREMES, r"super (?:measure|col) |(?:measure|col) (?:be )*super ")
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


@_rule(EXTREMES, r"super ")
def _super(reading: Reading, words: list[Word]) -> list[Word]:
    value, _, nth = str(words[0].value).partition(" nth ")
    column, way = reading.concept(replace(words[0], value=value))
    made = Extreme(way == "low", (), (column,), int(nth or 0), True)
    return _made("extreme", words, made, column)


@_rule(EXTREMES, r"extreme col ")
def _super_column(_: Reading, words: list[Word]) -> list[Word] | None:
    """In "the longest flipper length" the column is said twice."""
    same = words[1].column == words[0].column and words[0].value.is_row
    return [replace(words[0], value=replace(words[0].value, is_row=False))] if same else None


@_rule(
    EXTREMES,
    r"(?:ext|most|later) (?:in |of )*(?:measure|col) ",
    r"(?:measure|col) (?:be |reach |in |total )*(?:ext|most|later) ",
)
def _extreme_of(_: Reading, words: list[Word]) -> list[Word] | None:
    ends = of_kind(words, "ext", "most", "later")
    made = _extreme(words, of_kind(words, "measure", "col")[0], ends[0])
    return made and [*of_kind(words, "total"), *made]


@_rule(EXTREMES, r"later (?:unit|row) ")
def _latest(reading: Reading, words: list[Word]) -> list[Word]:
    column = reading.date_column(words)
    is_row = words[1].kind == "row"
    if words[1].value in ("week", "month", "quarter") and not _is_monthly(column):
        raise UnclearError([_text(words)], "unused")  # all of it, or its last row?
    if is_row and any(c.is_year for c in reading.frame.columns):
        raise UnclearError([words[0].text], "several", [column])
    made = Extreme(words[0].value == "low", (), (column,), 0, is_row)
    return [*_made("extreme", words, made, column), *(words[1:] if is_row else [])]


@_rule(EXTREMES, r"(?:row|col) (?:be )*ext |ext (?:row|col) ")
def _highest_row(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The highest airport lies highest, where only one column says how high."""
    (end,), (row,) = of_kind(words, "ext"), of_kind(words, "row", "col")
    if row.column is not None and (row.column.reads_as != "text" or not row.column.is_key):
        return None
    high = [c for c in reading.frame.of_kind("number") if ALTITUDE.search(str(c.name))]
    if len(high) != 1 or end.text not in ("highest", "lowest", "最高", "最低", "最高的", "最低的"):
        return None
    made = Extreme(end.value == "low", (), (high[0],), 0, True)
    return [*_made("extreme", [end], made, high[0]), row]


@_rule(EXTREMES, r"ext row ")
def _biggest_row(reading: Reading, words: list[Word]) -> list[Word] | None:
    """The biggest expense, where only one column is an amount."""
    numbers = [
        c for c in reading.frame.of_kind("number") if not (c.is_identifier or c.is_year or c.flags)
    ]
    if len(numbers) != 1 or not MONEY.search(str(numbers[0].name)):
        return None
    made = Extreme(words[0].value == "low", (), (numbers[0],), 0, True)
    return [*_made("extreme", words[:1], made, numbers[0]), words[1]]


@_rule(EXTREMES, r"extreme (?:be |with |verb |reach )*(?:and |comma )+(?:in )*which (?:col|unit) ")
def _and_which(reading: Reading, words: list[Word]) -> list[Word]:
    """The highest, and what else its row says."""
    column = words[-1].column or reading.date_column(words[-1:])
    return [words[0], *_made("rowcol", words[1:], column, column)]
