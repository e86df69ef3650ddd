"""What a question asks of a table: every word plays a part, or the question is refused.

A reading (one meaning for each span) is reduced by ``phrases``; what is left must be one of the few
shapes at the end of this file. Of the readings that have a shape the likeliest counts; where two
are equally likely, the question is refused.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.lexicon import phrase_of
from cellwright.demo.phrases import (
    COUNTED,
    MONEY,
    QUANTITY,
    SALES,
    SIZE,
    YEARS,
    Extreme,
    Reading,
    fits_unit,
    is_entity,
    of_kind,
)
from cellwright.demo.query import Filter, Group, Query, UnclearError
from cellwright.demo.reading import (
    Vocabulary,
    Word,
    has_person_key,
    is_name,
    read_spans,
    readings,
    repeated_person,
    unknown_words,
)

PER = ("mean", "median", "max", "min")
MANY = r"more|fewer|less|many|much|common|often|多|少"
"""What compares amounts: "more units" are a higher sum, not a higher mean."""
TIE = 1e-6
"""Readings nearer to each other than this are equally likely."""
PLACE = re.compile(r"\bwhere (?:is|are|was|were|did|do|does)\b", re.I)
"""Asks for a place; "where" alone begins a condition."""
BEGINS = re.compile(r"hire|join|start_?date|入职", re.I)
"""Names of dates on which somebody came, who stays."""
BEGUN = re.compile(
    r"hire|hiring|join|start|came|begin|began|begun|recruit|appoint|new\b|since|before|after"
    r"|入职|招|新|以后|以前|之后|之前|以来",
    re.I,
)
WEIGHT = re.compile(r"freq|frequency|frequencies|counts?|n|频数|频次", re.I)
"""Names of columns that say how many a row stands for."""
ROWS = re.compile(r"\b(?:rows?|records?|entries|lines)\b|行|条|记录", re.I)
"""Asks for rows and not for what they stand for."""
SEPARATELY = re.compile(r"各[是为有自]|分别|\brespectively\b", re.I)
JUDGED = re.compile(r"\b(?:best|worst)\b", re.I)
EACH_TIME = re.compile(
    "平均每个?(?:年|季度|月|周|天|日)|(?:每个?(?:年|季度|月|周|天|日)|年|月|日)均"
    r"|\b(?:average|mean) (?:annual|yearly|monthly|weekly|daily)\b",
    re.I,
)
RATES = re.compile(r"salary|wage|income|pay|earn|rate|薪|工资", re.I)
"""Of these "per year" may be the unit that they are in."""
MORE_IS_BETTER = re.compile(
    r"score|rating|rated|grade|stars|points?\b|sales|revenue|turnover|profit|income|earn|gain|wins|goals"
    r"|attendance|satisf|quality|mpg|hwy|cty|mileage|efficien|accura|yield|perform|votes|views|downloads"
    r"|streams|subscri|followers|life.?exp|评分|得分|成绩|分数|销售|销量|收入|营收|利润|满意|绩效|票房|产量",
    re.I,
)
"""Only of these the highest is the best; of others whoever asks has to say which end is meant."""


def read_query(text: str, words: Vocabulary, previous: Query | None = None) -> Query:
    """What one sentence asks.

    Args:
        text: The sentence.
        words: What words mean for the table.
        previous: What the sentence before asked, for "plot it".

    Raises:
        UnclearError: Some of its words have no part in what is asked, or could have several.
    """
    spans = read_spans(text, words)
    if place := PLACE.search(text):
        raise UnclearError([place[0]])
    if unknown := unknown_words(spans):
        raise UnclearError(unknown)
    found: dict[Query, float] = {}
    refused: UnclearError | None = None
    for penalty, chosen in readings(spans):
        if found and penalty > min(found.values()) + TIE:
            break
        try:
            query = _query(Reading(chosen, words.frame, previous))
        except UnclearError as error:
            refused = refused or error
            continue
        found.setdefault(query, penalty)
    if len(found) > 1:
        raise _ambiguous(list(found), text)
    if not found:
        raise refused or UnclearError([text], "unused")
    query = next(iter(found))
    _check_groups(query, text)
    _check_units(query, text)
    _check_counts(query, text, words.frame)
    _check_persons(query, text, words.frame)
    _check_asked(query, text)
    _check_each(query, text)
    _check_none(query, text)
    _check_years(query, words.frame)
    return query


def _check_groups(query: Query, text: str) -> None:
    """Refuse groups that a query would not make, or of hardly more than a row: "per page"."""
    fine = [
        group
        for group in query.by
        if not (group.column.is_whole or group.column.is_year or group.bucket)
        and (group.column.reads_as == "number" or query.subject is not None)
    ]
    is_lost = query.task in ("number", "lookup", "rows", "outliers")
    is_lost |= query.subject is not None and any(g.column.is_key for g in query.by)
    is_lost |= bool(query.functions) and any(g.column in query.measures for g in query.by)
    if query.by and (
        is_lost or (fine and re.search(r"\bper\b|每(?![个一种名位款条天日月周年季])", text, re.I))
    ):
        raise UnclearError([str(group.column.name) for group in query.by], "unused")


def _check_counts(query: Query, text: str, frame: TableColumns) -> None:
    """Refuse to count rows that stand for many, and those who came as those who were there."""
    weights = [c for c in frame.of_kind("number") if WEIGHT.fullmatch(str(c.name))]
    is_count = query.measure is None and query.task in ("count", "best", "share", "per", "chart")
    if weights and is_count and not ROWS.search(text):
        raise UnclearError([str(weights[0].name)], "weighted", weights)
    begun = [f for f in query.filters if f.column.reads_as == "date"]
    begun = [f for f in begun if BEGINS.search(str(f.column.name))]
    if is_count and begun and not BEGUN.search(text):
        raise UnclearError([str(begun[0].value)], "begins", [begun[0].column])


PERSONS = re.compile(
    r"\b(?:people|persons?|guests?|customers?|diners|clients|heads?)\b|客人|顾客|每人|人均|多少人",
    re.I,
)
PER_PERSON = re.compile(
    r"\b(?:per|each|every) (?:person|head|guest|customer|diner)\b|每人|人均", re.I
)
"""Words for persons, and for an amount of each of them."""
CHILDREN = re.compile(r"\b(?:boys?|girls?)\b|男孩|女孩", re.I)


def _check_persons(query: Query, text: str, frame: TableColumns) -> None:
    """Refuse to take a party of several for a person, and men for boys."""
    sizes = [
        c
        for c in frame.of_kind("number")
        if SIZE.search(str(c.name)) and c.is_whole and all(float(v) <= 20 for v in c.counts)
    ]
    named = [c for c in sizes if c in query.columns]
    counts = query.measure is None and query.task in ("count", "best")
    asked = PERSONS if counts else PER_PERSON
    if sizes and not named and (found := asked.search(text)):
        raise UnclearError([found[0]], "different", sizes)
    children = [c for c in frame.columns if any(re.match("child", str(v), re.I) for v in c.counts)]
    if children and children[0] not in query.columns and (found := CHILDREN.search(text)):
        raise UnclearError([found[0]], "unused")


ASKED = (
    (re.compile("多少钱|how much (?:did|does|do|was|is) (?:it|they) cost", re.I), MONEY),
    (re.compile("多重|how heavy", re.I), re.compile("weight|mass|carat|重|克拉", re.I)),
)
"""What is asked of the row that is found, and the names of columns that say it."""
MODELS = re.compile("[几少]款")
"""Asks for models, of which a row may not be one."""


def _check_asked(query: Query, text: str) -> None:
    """Refuse what would be answered by another column, or by rows for models."""
    for asked, name in ASKED:
        found = asked.search(text) if query.task == "extreme" else None
        if found and not any(name.search(str(c.name)) for c in (*query.measures, *query.details)):
            raise UnclearError([found[0]], "unused")
    if query.task == "count" and (found := MODELS.search(text)):
        raise UnclearError([found[0]], "different")
    counted = query.measure
    is_number = query.task == "distinct" or re.search("多少|几|how many", text, re.I)
    if query.task in ("distinct", "values") and is_number and counted and counted.flags:
        raise UnclearError([str(counted.name)], "different", [counted])


def _check_each(query: Query, text: str) -> None:
    """Refuse conditions of two columns of which each is meant by itself."""
    columns = {each.column for each in query.filters}
    again = re.search(r"\band how many\b|[,，]\s*有?多少.*", text, re.I)
    if again and query.task in ("count", "rows") and len(columns) > 1 and not query.by:
        raise UnclearError([again[0]])  # how many are women, and how many are remote?
    if any(each.sign == "in" for each in query.filters):
        return  # each of those
    is_one = len(query.measures) * len(query.functions) < 2
    if (each := SEPARATELY.search(text)) and is_one and len(columns) > 1 and not query.by:
        raise UnclearError([each[0]])


NONE = re.compile(r"没有|没|不含|不卖|不在|\bno\b|\bnot\b|\bwithout\b|n't\b", re.I)
"""Says that groups have none, which rows cannot tell."""
EXCEPT = re.compile(r"exclud|except|outside|other than|apart from|除|以外|之外|不包括|不算", re.I)
"""Says which rows are left out."""


def _check_none(query: Query, text: str) -> None:
    """Refuse groups that have none of something: rows that are otherwise tell nothing of them."""
    without = [f for f in query.filters if f.sign in ("!=", "not in")]
    groups = query.measures if query.task in ("values", "distinct") else ()
    others = without and groups and without[0].column not in groups
    if others and (found := NONE.search(text)) and not EXCEPT.search(text):
        raise UnclearError([found[0]])
    asked = re.search(r"\bhow many ([\w ]+?) (?:are|is|were|was|do|did)\b", text, re.I)
    named = set(phrase_of(asked[1])) if asked else set()
    if query.task == "count" and any(named & set(phrase_of(str(f.column.name))) for f in without):
        raise UnclearError([str(asked and asked[1])], "different", [without[0].column])


def _check_years(query: Query, frame: TableColumns) -> None:
    """Refuse years as amounts: "sales between 2007 and 2009", where the table has years."""
    has_years = bool(frame.of_kind("date")) or any(c.is_year for c in frame.columns)
    for each in query.filters:
        is_range = each.sign == "between" and isinstance(each.value, tuple)
        if not is_range or not has_years or each.column.is_year or each.column.reads_as == "date":
            continue
        if all(isinstance(v, float) and 1900 <= v <= 2100 and v == int(v) for v in each.value):
            raise UnclearError(["–".join(f"{v:g}" for v in each.value)], "unit", [each.column])


def _check_units(query: Query, text: str) -> None:
    """Refuse the best of what is better low, and "per year" of what may be a rate already."""
    judged = JUDGED.search(text)
    if judged and not all(MORE_IS_BETTER.search(str(column.name)) for column in query.measures):
        raise UnclearError([judged[0]], "judged", query.measures)
    if query.task == "groups" and query.functions == ("mean",) and (each := EACH_TIME.search(text)):
        raise UnclearError([each[0]])  # the mean of each year, or of the years?
    is_of_one = any(group.column.is_identifier for group in query.by) or (
        bool(query.by) and any(column.is_additive for column in query.measures)
    )
    if query.functions == ("mean",) and is_of_one and (each := re.search("平均每.", text)):
        raise UnclearError([each[0]])  # of each order, or of the orders?
    per = re.search(r"\b(?:per|an?) (?:year|month|week|day|hour)\b", text, re.I)
    if per and query.functions and any(RATES.search(str(c.name)) for c in query.measures):
        raise UnclearError([per[0]])


def _ambiguous(found: Sequence[Query], text: str) -> UnclearError:
    """Which columns or values the question leaves open."""
    named = [c for q in found for c in q.columns if any(c not in o.columns for o in found)]
    return UnclearError([text], "several" if named else "readings", named)


def _query(reading: Reading) -> Query:
    left = reading.left()
    query = _shaped(reading, left)
    gaps = of_kind(left, "missingcol")
    if query is None and gaps:
        # "The mean of the rows without an age": the gap is a condition.
        reading.filters += [Filter(c, "missing", None, w.start) for w in gaps for c in w.value]
        query = _shaped(reading, [word for word in left if word.kind != "missingcol"])
    if query is None:
        query = _shaped(reading, _without_units(left))
    if query is None:
        query = _shaped(reading, [_as_extreme(word) for word in left])
    if query is None:
        query = _shaped(reading, _with_function(left))
    if query is None:
        query = _shaped(reading, _with_function(_without_units(left)))
    if query is None:
        raise reading.unused()
    if any(date.missing and date not in query.columns for date in reading.events):
        raise UnclearError([w.text for w in reading.names], "unused")  # returned, or not yet?
    if reading.has("spent") and not (query.measure and query.measure.is_additive):
        return _sold(reading, query)
    return query


def _sold(reading: Reading, query: Query) -> Query:
    """Things that were sold are counted by their quantity, not by rows."""
    words = [w.text for w in reading.words if w.kind == "spent"]
    amounts = [c for c in reading.frame.of_kind("number") if QUANTITY.search(str(c.name))]
    rows = " ".join(w.text for w in reading.words if w.kind == "row")
    is_sold = re.search("sold|售|卖", words[0]) and not SALES.search(rows)
    if query.task != "count" or len(amounts) != 1 or not (is_sold and reading.has("many")):
        raise UnclearError(words)
    task = "groups" if query.by else "number"
    return replace(query, task=task, measures=tuple(amounts), functions=("sum",))


def _without_units(left: list[Word]) -> list[Word]:
    """Without the unit that the answer is asked for in, where the measured column is in it."""
    columns = [c for w in left if w.kind == "measure" for c in w.value[1]]
    columns += [w.column for w in of_kind(left, "extreme", "col") if w.column is not None]
    columns = [c for c in columns if c.reads_as == "number"]

    def is_theirs(word: Word) -> bool:
        if word.kind == "mag":
            return all(word.text in str(column.name) for column in columns)
        unit = f"{word.value}s" if word.kind == "unit" else str(word.value)
        return all(fits_unit(column, unit) for column in columns)

    kinds = ("unitword", "unit", "mag")
    return [w for w in left if not (columns and w.kind in kinds and is_theirs(w))]


def _as_extreme(word: Word) -> Word:
    """The maximum of a column as the highest of its rows."""
    if word.kind != "measure" or word.value[0] not in (("max",), ("min",)):
        return word
    functions, columns = word.value
    return replace(word, kind="extreme", value=Extreme(functions == ("min",), (), columns))


def _with_function(left: list[Word]) -> list[Word]:
    """The one function applied to the one column or extreme, however far apart they stand."""
    functions, extremes = of_kind(left, "fn"), of_kind(left, "extreme")
    targets = extremes or of_kind(left, "col")
    column = targets[0].column if len(functions) == len(targets) == 1 else None
    if column is None:
        return left
    target, named = targets[0], (str(functions[0].value),)
    if extremes and target.value.functions == ():
        made = replace(target, value=replace(target.value, functions=named, is_row=False))
    elif not extremes and (
        named == ("nunique",) or (column.reads_as == "number" and not is_entity(target))
    ):
        made = replace(target, kind="measure", value=(named, (column,)))
    else:
        return left
    is_count = column.dtype.startswith("int") and not (column.flags or "row" in target.also)
    if is_count and left[: left.index(target)][-1:] == of_kind(left, "many"):
        left = [word for word in left if word.kind != "many"]  # how many rooms on average
    return [made if word is target else word for word in left if word is not functions[0]]


def _shaped(reading: Reading, left: list[Word]) -> Query | None:
    codes = "".join(CODES.get(word.kind, "~") for word in left)
    for pattern, build in SHAPES:
        if re.fullmatch(pattern, codes):
            query = build(reading, left)
            if query is not None:
                return query
    return None


# The shapes of questions: what is left, one letter a word.

CODES = {
    "many": "n", "count": "n", "row": "r", "col": "c", "measure": "m", "extreme": "x",
    "which": "w", "who": "p", "top": "t", "num": "1", "share": "s", "holds": "h", "rate": "a",
    "chart": "g", "draw": "d", "corr": "k", "missing": "q", "missingcol": "z", "dup": "u",
    "outlier": "o", "rule": "v", "describe": "D", "clean": "C", "list": "l", "distinct": "i",
    "most": "M", "mode": "f", "when": "W", "head": "H", "tail": "T", "sortby": "S", "column": "L",
    "names": "N", "dtype": "Y", "period": "P", "unit": "U", "compare": "A", "difference": "B",
    "comparison": "E", "bymuch": "F", "yesno": "y", "bymeasure": "b", "versus": "V", "spread": "G",
    "telling": "e", "between": "K", "thiscol": "j", "fits": "I", "than": "3",
    "fn": "0", "by": "4", "having": "5", "rowcol": "6", "change": "X", "using": "2", "ext": "7",
    "bypercent": "F", "complete": "O",
}  # fmt: skip


def _columns(words: Sequence[Word]) -> list[Column]:
    return [word.column for word in words if word.kind == "col" and word.column is not None]


def _numbers(columns: Iterable[Column]) -> list[Column]:
    return [column for column in columns if column.reads_as == "number"]


def _count(reading: Reading, words: list[Word]) -> Query | None:
    """Rows are counted."""
    asks = [w for w in reading.words if w.kind == "ask" and not w.text.startswith("how")]
    is_asked = of_kind(words, "many", "count", "yesno") or asks or reading.has("total")
    is_person = has_person_key(reading.frame)
    said = [w for w in of_kind(words, "many") if re.search("[行条]", w.text)]  # 多少行
    rows = of_kind(words, "row")
    rows = [word for word in rows if word.penalty or "col" not in word.also or is_person]
    if not is_asked and not (reading.by and rows):
        return None
    if not (
        of_kind(words, "row")
        or said
        or reading.filters
        or (reading.by and of_kind(words, "count", "many"))
    ):
        return None
    if of_kind(words, "yesno") and not (reading.filters or of_kind(words, "many", "count")):
        return None
    if any(w.kind == "ask" and w.text in ("how much", "多少钱") for w in reading.words):
        return None
    person = repeated_person(reading.frame)
    if person is not None and any(re.search("人|名|位", w.text) for w in of_kind(words, "many")):
        if is_name(person):
            raise UnclearError([w.text for w in of_kind(words, "many")], "different", [person])
        return _each(reading, reading.make("distinct", measures=(person,)))
    return _each(reading, reading.make("count"))


def _each(reading: Reading, query: Query) -> Query:
    """Of two values joined by "and", each by itself, in each group where there are some."""
    lists = [f.column for f in query.filters if f.sign == "in" and f.joined_by != "or"]
    if len(lists) == 1 and len(query.by) < 2 and lists[0] not in [g.column for g in query.by]:
        return replace(query, by=(*query.by, Group(lists[0])))
    return query


def _is_asked_where(reading: Reading, words: list[Word]) -> bool:
    """Whether no row is counted: in how many districts did people vote."""
    rows, (column, *_) = of_kind(words, "row"), of_kind(words, "col")
    verbs = [place for kind, place in reading.marks if kind == "verb" and place > column.start]
    return not rows or (words[0].kind == "many" and bool(verbs) and verbs[0] < rows[0].start)


def _count_of(reading: Reading, words: list[Word]) -> Query | None:
    """Of "how many countries": different values, or rows where a value hardly occurs twice."""
    if len(_columns(words)) != 1:
        return None
    column = _columns(words)[0]
    if column.flags or not (_is_asked_where(reading, words) or of_kind(words, "distinct")):
        return None
    if of_kind(words, "list"):
        return reading.make("values", measures=(column,))
    if of_kind(words, "distinct"):
        return _each(reading, reading.make("distinct", measures=(column,)))
    if column.reads_as == "number" and not column.is_identifier:
        return _amount_of(reading, column)
    word = of_kind(words, "col")[0]
    is_vague = column.reads_as == "date" or word.penalty >= 2
    if is_name(column) and word.penalty >= 1 and repeated_person(reading.frame) == column:
        raise UnclearError([word.text], "different", [column])
    is_person = is_name(column) and has_person_key(reading.frame)
    if (column.is_key or is_person) and not is_vague:
        return reading.make("count")
    if is_vague or (word.penalty >= 1 and any(g.bucket for g in reading.by)):
        # Books lent a month: titles, or loans?
        raise UnclearError([word.text], "different", [column])
    return _each(reading, reading.make("distinct", measures=(column,), rule="named"))


def _amount_of(reading: Reading, column: Column) -> Query | None:
    """How many calories one food has, or how many units were sold."""
    if any(f.sign == "==" and f.column.is_key for f in reading.filters):
        return reading.make("lookup", measures=(column,))
    if not column.is_additive:
        return None
    task = "groups" if reading.by else "number"
    return reading.make(task, measures=(column,), functions=("sum",))


def _measure(reading: Reading, words: list[Word]) -> Query | None:
    """Numbers, or a table of them."""
    found = of_kind(words, "measure")
    functions, columns = found[0].value
    for more in found[1:]:
        other, same = more.value
        if other == functions:
            columns = (*columns, *same)
        elif same == columns:
            functions = (*functions, *other)
        else:
            return None
    year = reading.year_column()
    used = [*(f.column for f in reading.filters), *(g.column for g in reading.by)]
    is_panel = year is not None and str(year.name).lower() in YEARS and year not in used
    is_panel = is_panel and not reading.frame.of_kind("date")  # with dates, rows are events
    if is_panel and "sum" in functions and not all(c.is_additive for c in columns):
        raise UnclearError([str(c.name) for c in columns], "panel", columns)
    if functions == ("nunique",) and len(columns) > 1:
        return None
    if functions == ("nunique",):
        return _each(reading, reading.make("distinct", measures=columns))
    keys = [g.column for g in reading.by if g.column.is_key and not g.bucket]
    is_key = any(column.reads_as != "number" for column in keys)
    if "nunique" in functions or (is_key and "mean" in functions):
        return None  # the mean of each row is none
    if len(functions) > 1 and len(columns) > 1 and reading.by:
        return None
    if "range" in functions:
        functions = tuple(
            f for name in functions for f in (("min", "max") if name == "range" else (name,))
        )
    query = reading.make("number", measures=columns, functions=functions)
    query = _each(reading, query)
    return replace(query, task="groups") if query.by else query


SIDES = {
    "==": "", "year": "year", "month": "month", "month_of_year": "month_of_year",
    "day_of_week": "weekday",
}  # fmt: skip
"""Conditions that name one of two parts to compare, and the unit that dates are cut to then."""


def _sides(reading: Reading) -> list[Filter]:
    """The condition that names what is compared; two of one column are put together."""
    for one, other in itertools.combinations(reading.filters, 2):
        values = (one.value, other.value)
        if one.column.flags and {one.sign, other.sign} == {"==", "!="} and len({*values}) == 1:
            values = one.column.flags
        elif one.sign != other.sign or one.sign not in SIDES:
            continue
        if one.column != other.column or "weekend" in values:
            continue
        both = replace(one, sign="in" if one.sign in ("==", "!=") else one.sign, value=values)
        reading.filters = [f for f in reading.filters if f not in (one, other)] + [both]
    return [f for f in reading.filters if isinstance(f.value, tuple) and f.sign != "between"]


def _compared(reading: Reading, words: list[Word]) -> tuple[Any, Any] | None:
    """What is compared: functions and columns, none where rows are counted."""
    columns = _columns(words)
    said = " ".join(w.text for w in of_kind(words, "bymuch", "comparison"))
    is_many = re.search(MANY, said) is not None
    if measures := of_kind(words, "measure"):
        return measures[0].value if len(measures) == 1 and not columns else None
    if not columns:
        return ((), ()) if is_many or of_kind(words, "many", "count", "row") else None
    column = columns[0]
    if len(columns) > 1 or column.reads_as != "number" or column.flags or column.is_identifier:
        return None
    if column.is_additive or re.search("often|common|popular|frequent", said):
        return (("sum",), tuple(columns)) if is_many and column.is_additive else None
    return ("mean",), tuple(columns)


def _compared_groups(reading: Reading, words: list[Word]) -> Query | None:
    """Two groups and the difference between them."""
    compared = _compared(reading, words)
    if compared is None:
        return None
    functions, columns = compared
    if of_kind(words, "bypercent"):
        return None
    parts: dict[str, Any] = {"measures": columns, "functions": functions}
    is_gap = of_kind(words, "difference") or any("diff" in w.text for w in words)
    if functions == ("max", "min") and is_gap and not reading.by:
        return reading.make("number", measures=columns, functions=("min", "max"), difference=True)
    if len(functions) > 1 or len(columns) > 1 or "nunique" in functions:
        return None
    task = "groups" if functions else "count"
    sides = _sides(reading)
    said = [f for f in reading.filters if f not in sides]
    if len(sides) == 1 and not functions and said and _is_often(words, said[0].place):
        # "Did more often survive": of each side the share that did.
        part, base = tuple(said), tuple(sides)
        if len(part) > 1 or reading.by or not part[0].column.flags:
            return None
        return reading.make("share", filters=part, base=base, by=(Group(sides[0].column),))
    if len(sides) == 1 and not reading.by:
        is_pair = len(sides[0].value) == 2
        if not is_pair and of_kind(words, "difference", "comparison", "bymuch"):
            return None
        by = (Group(sides[0].column, SIDES.get(sides[0].sign, "")),)
        return reading.make(task, **parts, by=by, difference=is_pair)
    if of_kind(words, "compare") and reading.by:
        return reading.make(task, **parts)
    return None


def _is_often(words: list[Word], place: int) -> bool:
    """Whether a share is compared: "survive more (often)", and not "more women survive"."""
    return any(
        re.search("often|likely|frequent", word.text) or word.start > place
        for word in of_kind(words, "comparison")
    )


def _per(reading: Reading, words: list[Word]) -> Query | None:
    """How many rows a group has on average; numbers may be days of a month, keys have 1 row."""
    function = str(of_kind(words, "fn")[0].value)
    kinds = [g.column.reads_as for g in reading.by if g.bucket or not g.column.is_key]
    if len(of_kind(words, "fn")) > 1 or function not in PER or kinds not in (["text"], ["date"]):
        return None
    if kinds == ["date"]:
        return None  # periods without a row are periods, too
    return reading.make("per", functions=(function,))


def _having(reading: Reading, words: list[Word]) -> Query | None:
    """The groups that have so many rows, or such a mean."""
    functions, columns, having = of_kind(words, "having")[0].value
    subject = of_kind(words, "col", "unit")[0]
    group = Group(subject.column) if subject.column else reading.bucket(subject)
    if reading.by or (group.column.reads_as == "number" and not group.column.is_year):
        return None
    parts: dict[str, Any] = {"measures": columns, "functions": functions, "having": having}
    return reading.make("groups" if functions else "count", **parts, by=(group,))


def _change(reading: Reading, words: list[Word]) -> Query | None:
    """From one year to another, of what has one row a year, or by a function."""
    year, columns = reading.year_column(), _columns(words)
    ends = [f for f in reading.filters if f.column == year and f.sign in (">=", "<=")]
    functions: tuple[str, ...] = ()
    if measures := of_kind(words, "measure"):
        functions, whole = measures[0].value
        columns += whole
    if len(ends) != 2 or len(columns) != 1 or len(functions) > 1 or reading.by:
        return None
    others = tuple(each for each in reading.filters if each not in ends)
    parts: dict[str, Any] = {"filters": others, "base": tuple(ends)}
    if of_kind(words, "bypercent"):
        parts["rule"] = "share"
    return reading.make("change", measures=tuple(columns), functions=functions, **parts)


def _extreme_shape(reading: Reading, words: list[Word]) -> Query | None:
    """The highest of all, its row, or the group that has it."""
    word = of_kind(words, "extreme")[0]
    found: Extreme = word.value
    numbers = of_kind(words, "num")
    subjects = [w for w in words if w.kind in ("col", "unit")]
    if len(numbers) > 1 or not _is_one_extreme(reading, words, subjects, numbers):
        return None
    limit = int(numbers[0].value) if numbers else found.nth or 1
    if of_kind(words, "top") and not numbers:
        limit = 10
    parts: dict[str, Any] = {"lowest": found.lowest, "limit": limit, "nth": bool(found.nth)}
    parts |= {"measures": found.columns, "functions": found.functions}
    parts["rule"] = "most" if found.is_most else "iqr"
    people = of_kind(words, "row", "which", "who", "when", "list", "rowcol") or found.is_row
    # "Which island has the lightest penguin" is about islands.
    is_named = any(c.reads_as == "text" for c in _columns(subjects))
    rows = [w for w in of_kind(words, "row") if not is_named or w.start < subjects[0].start]
    is_row = of_kind(words, "which") and rows
    is_more = subjects and any(
        w.kind in ("and", "comma") and word.start < w.start < subjects[0].start
        for w in reading.words
    )
    then = [w.start for w in reading.words if w.kind in ("and", "comma") and w.start > word.start]
    asked_last = bool(then) and any(w.start > then[0] for w in of_kind(words, "who"))
    if subjects and of_kind(words, "who") and (subjects[0].penalty >= 1 or asked_last):
        return None
    rest = of_kind(words, "rowcol") or _when_of(reading, words, subjects)
    if subjects and rest and (found.functions or found.columns[0].is_additive):
        return None  # of which row, where the highest is that of a group?
    is_asked = found.is_row and of_kind(words, "row") and _numbers(_columns(subjects))
    if (
        subjects
        and (is_row or is_more or rest or (is_asked and not numbers))
        and not found.functions
    ):
        # Which case is the highest, and who is insured there?
        made = reading.make("extreme", **parts) if not reading.by else None
        more = [w.column for w in (*subjects, *rest) if w.column is not None]
        return made and replace(made, details=tuple(more))
    if subjects:
        return _best_of(reading, subjects[0], parts)
    if found.functions and (people or not reading.by):
        return None
    if found.functions:
        order = "low" if found.lowest else "high"
        return replace(reading.make("groups", **parts), order=order)
    if people or numbers or found.nth:
        return _extreme_rows(reading, words, parts)
    function = ("min",) if found.lowest else ("max",)
    return reading.make("groups" if reading.by else "number", **parts | {"functions": function})


def _when_of(reading: Reading, words: list[Word], subjects: Sequence[Word]) -> list[Word]:
    """Which stock was highest, and when: the date of its row."""
    when = of_kind(words, "when")
    if not when or not any(c.reads_as == "text" for c in _columns(subjects)):
        return []
    return [replace(when[0], kind="rowcol", column=reading.date_column(when))]


def _is_one_extreme(
    reading: Reading, words: list[Word], subjects: list[Word], numbers: list[Word]
) -> bool:
    """Whether one thing is looked for, by one measure, and the words say so."""
    if len(subjects) > 1 or len(of_kind(words, "extreme")) > 1:
        return False
    if subjects and of_kind(words, "row") and reading.has("and"):
        return False
    is_unit = bool(subjects) and subjects[0].kind == "unit"
    if is_unit and not (of_kind(words, "which", "list") or numbers):
        return False
    return bool(subjects) or not of_kind(words, "who") or reading.name_column() is not None


def _extreme_rows(reading: Reading, words: list[Word], parts: dict[str, Any]) -> Query | None:
    if reading.by and (parts["limit"] > 1 or any(group.bucket for group in reading.by)):
        return None
    subject = reading.name_column() if of_kind(words, "who") else None
    is_row = of_kind(words, "which") and of_kind(words, "row")
    is_repeated = subject is not None and min(subject.counts.values(), default=1) > 1
    if subject is not None and is_repeated and not (parts["nth"] or is_row):
        # Each has several rows: one of them may be meant, or all.
        parts = parts | {"functions": ("sum",) if reading.has("total") else ()}
        return _best_of(reading, Word("col", str(subject.name), None, subject), parts)
    if any(word.value == "day" for word in of_kind(words, "row")):
        dated = (reading.numbered(("month",)), reading.numbered(("day",)))
        parts = parts | {"details": tuple(column for column in dated if column is not None)}
    if rest := of_kind(words, "rowcol"):
        if subject is not None and rest[0].column is not None:
            parts = parts | {"details": (*parts.get("details", ()), rest[0].column)}
        subject = subject or rest[0].column
    if of_kind(words, "when"):
        subject = reading.date_column(of_kind(words, "when"))
    return reading.make("extreme", **parts, subject=Group(subject) if subject else None)


def _best_of(reading: Reading, word: Word, parts: dict[str, Any]) -> Query | None:
    """The group with the most, or the row where its values name rows."""
    subject = reading.bucket(word) if word.kind == "unit" else Group(_columns([word])[0])
    measure: Column | None = next(iter(parts["measures"]), None)
    column = subject.column
    explicit = bool(parts["functions"]) and word.penalty < 2
    if column == measure or (
        measure is not None
        and not explicit
        and column.reads_as == "number"
        and not (column.is_year or column.is_whole)
    ):
        return None
    if measure is None or parts["functions"]:
        return reading.make("best", **parts, subject=subject)
    is_row = subject.column.is_key and not subject.bucket
    if (is_row or measure.reads_as == "date") and not reading.by:
        return reading.make("extreme", **parts, subject=subject)
    if measure.is_additive or (parts.get("rule") == "most" and reading.has("total")):
        return reading.make("best", **parts | {"functions": ("sum",)}, subject=subject)
    if reading.by or parts["nth"]:
        raise UnclearError([str(measure.name)], "name_function", [measure])
    # One row each, or a group each: the table tells. "The most guests" may be their sum, too.
    return reading.make("agree", **parts, subject=subject)


def _by_measure(reading: Reading, words: list[Word]) -> Query | None:
    """The top of a group or of the rows, by a measure."""
    key: Word = of_kind(words, "bymeasure")[0].value
    numbers = of_kind(words, "num")
    top, said = of_kind(words, "top")[0], of_kind(words, "bymeasure")[0].text
    # "The top 5 by profit" are rows.
    noun = next(iter(of_kind(words, "row", "col", "unit")), Word("row", ""))
    is_many = bool(re.search(r"s$", noun.text))
    parts: dict[str, Any] = {
        "lowest": top.value == "low",
        "limit": int(numbers[0].value) if numbers else 10 if is_many else 1,
        "measures": (), "functions": (), "nth": False,
    }  # fmt: skip
    if key.kind == "measure":
        functions, columns = key.value
        if len(functions) > 1 or len(columns) > 1:
            return None
        parts |= {"measures": columns, "functions": functions}
    elif key.kind == "col":
        if key.column is None or key.column.reads_as != "number":
            return None
        parts["measures"] = (key.column,)
    elif reading.has_quantity and not re.search(SALES.pattern + "|^[^ ]+$|of$", said, re.I):
        raise UnclearError([key.text], "different")  # items bought: rows, or their quantity?
    if noun.kind != "row":
        return _best_of(reading, noun, parts)
    if not parts["measures"] or parts["functions"]:
        return None
    return reading.make("extreme", **parts)


def _first_groups(reading: Reading, words: list[Word]) -> Query | None:
    """The first of the groups: "sales by country, top 3"."""
    if len(reading.by) != 1 or of_kind(words, "top")[0].value == "low":
        return None
    (subject,), reading.by = reading.by, []
    limit = int(of_kind(words, "num")[0].value)
    parts: dict[str, Any] = {"limit": limit, "measures": (), "functions": (), "nth": False}
    if measures := of_kind(words, "measure"):
        functions, columns = measures[0].value
        if len(functions) > 1 or len(columns) > 1:
            return None
        parts |= {"measures": columns, "functions": functions}
    elif columns := tuple(_columns(words)):
        if not all(c.is_additive for c in columns):
            return None
        parts |= {"measures": columns, "functions": ("sum",)}
    return reading.make("best", **parts, subject=subject)


def _most_rows(reading: Reading, words: list[Word]) -> Query | None:
    """The group with the most rows, or the most common value."""
    days = [replace(w, kind="unit", value="day") for w in of_kind(words, "when")]
    subjects = [*of_kind(words, "col", "unit"), *days]
    name = reading.name_column()
    if not subjects and name is not None:  # who occurs most often
        subjects = [Word("col", str(name.name), None, name)]
    if len(subjects) != 1 or any(c.is_key for c in _columns(subjects)):
        return None
    word = (of_kind(words, "mode") or of_kind(words, "most"))[0]
    numbers = of_kind(words, "num")
    limit = int(numbers[0].value) if numbers else 1
    parts = {"lowest": word.value == "low", "limit": limit, "nth": False}
    if word.value == "low" and subjects[0].kind == "unit":
        return None  # periods without a row have the fewest
    return _best_of(reading, subjects[0], parts | {"measures": (), "functions": ()})


def _sorted_rows(reading: Reading, words: list[Word]) -> Query | None:
    """The table sorted, or groups in an order."""
    order = of_kind(words, "sortby")[0]
    low = "low" if order.value == "low" else "high"
    measures = of_kind(words, "measure")
    if measures and len(measures) == 1 and reading.by:
        functions, columns = measures[0].value
        if len(functions) > 1 or len(columns) > 1:
            return None
        return replace(reading.make("groups", measures=columns, functions=functions), order=low)
    if of_kind(words, "count") and reading.by:
        return replace(reading.make("count"), order=low)
    columns = _columns(words)
    if reading.by or len(columns) != 1 or of_kind(words, "measure", "count", "many"):
        return None
    return replace(reading.make("sorted", measures=tuple(columns)), order=reading.order or low)


def _share(reading: Reading, words: list[Word]) -> Query | None:
    """A share of the rows or of a sum."""
    measures, columns = of_kind(words, "measure"), _columns(words)
    if len(measures) > 1 or len(columns) > 1 or (measures and columns):
        return None
    is_amount = bool(measures or columns)
    if (is_amount and any("col" in word.also for word in of_kind(words, "row"))) or (
        of_kind(words, "count") and reading.has("and")
    ):
        return None  # "tips as a percentage of the bills": another amount? 人数及占比: both?
    parts: dict[str, Any] = {}
    if measures:
        functions, whole = measures[0].value
        if functions != ("sum",) or len(whole) != 1:
            return None
        parts = {"measures": whole, "functions": ("sum",)}
    elif columns and (columns[0].flags or columns[0].reads_as == "number"):
        if columns[0].flags or not columns[0].is_additive:
            return None
        parts = {"measures": tuple(columns), "functions": ("sum",)}
    elif columns and reading.filters:
        return None
    elif columns:
        return (
            reading.make("share", by=(Group(columns[0]), *reading.by)) if not reading.by else None
        )
    part, base = _parts_of(reading)
    _check_parts(part, base)
    if not part:
        return reading.make("share", **parts) if reading.by and not base else None
    each = [Group(f.column) for f in base if f.sign == "in" and f.joined_by != "or"]
    by = tuple(reading.by) or tuple(each)
    return reading.make("share", **parts, filters=part, base=base, by=by)


def _best_share(reading: Reading, words: list[Word]) -> Query | None:
    """The group with the highest share of what the conditions name."""
    if reading.by or len(reading.filters) != 1:
        return None
    group = Group(_columns(words)[0])
    return replace(reading.make("share", by=(group,)), order=str(of_kind(words, "ext")[0].value))


def _said_values(filters: Iterable[Filter]) -> list[str]:
    """The values of conditions, each by itself."""
    values = [f.value if isinstance(f.value, tuple) else (f.value,) for f in filters]
    return [str(value) for value in itertools.chain.from_iterable(values)]


def _check_parts(part: Sequence[Filter], base: Sequence[Filter]) -> None:
    """Refuse a part that the whole excludes, or is, or of which each may be meant."""
    both = [f for f in part if f.sign == "in" and f.joined_by != "or"]
    if both or {f.column for f in part} & {f.column for f in base}:
        raise UnclearError(_said_values((*base, *part)), "no_share")


def _parts_of(reading: Reading) -> tuple[tuple[Filter, ...], tuple[Filter, ...]]:
    """The conditions of the part, and those of the whole that it is a share of."""
    filters = sorted(reading.filters, key=lambda each: each.place)
    if len(filters) < 2:
        return tuple(filters), ()
    first, last = filters[0].place, filters[-1].place
    among = [place for kind, place in reading.marks if kind == "among" and first < place]
    asked = next((w.start for w in reading.words if w.kind in ("share", "holds")), 0)
    if among and asked < first and among[-1] < last:  # "the share of women among smokers"
        part = tuple(f for f in filters if f.place < among[-1])
        return part, tuple(f for f in filters if f not in part)
    split = [
        p
        for kind, p in reading.marks
        if kind in ("be", "verb", "with", "among") and first < p < last
    ]
    if split:
        base = tuple(f for f in filters if f.place < split[-1])
        return tuple(f for f in filters if f not in base), base
    if filters[-1].column.flags and len(filters) == 2:
        return (filters[-1],), (filters[0],)
    raise UnclearError(_said_values(filters), "no_share")


def _rate(reading: Reading, words: list[Word]) -> Query | None:
    """A rate is the share of yes."""
    column = _columns(words)[0]
    if not column.flags:
        return None
    yes = Filter(column, "==", column.flags[0], words[0].start)
    base = tuple(f for f in reading.filters if f.column != column)
    lists = [f.column for f in base if f.sign == "in" and f.joined_by != "or"]
    if of_kind(words, "difference", "compare") and not lists:
        return None
    each = [Group(lists[0])] if len(lists) == 1 and not reading.by else []
    return reading.make("share", filters=(yes,), base=base, by=(*reading.by, *each))


def _rate_of_value(reading: Reading, words: list[Word]) -> Query | None:
    """离职率 is the share of those who have left."""
    filters = sorted(reading.filters, key=lambda each: each.place)
    if not filters or filters[-1].sign != "==" or filters[-1].column.reads_as != "text":
        return None
    *base, part = filters
    if words[0].text != "率" or words[0].start - part.place != len(str(part.value)):
        return None
    return reading.make("share", filters=(part,), base=tuple(base))


def _missing(reading: Reading, words: list[Word]) -> Query | None:
    """Gaps, of a column or of each."""
    gaps = of_kind(words, "missingcol")
    columns = tuple(c for word in gaps for c in word.value)
    kinds = [word.kind for word in reading.words]
    if ("many", "column") in itertools.pairwise(kinds) or (len(columns) > 1 and reading.has("or")):
        return None  # columns that have gaps; rows with one of two
    if reading.by or any(word.value == "low" for word in of_kind(words, "most")):
        return None
    is_whose = reading.words[0].kind == "with" and reading.words[0].start == 0
    is_listed = of_kind(words, "which", "list") and of_kind(words, "row")
    if columns and (is_whose or is_listed):
        gap_filters = [Filter(column, "missing", None, gaps[0].start) for column in columns]
        return reading.make("rows", filters=(*reading.filters, *gap_filters))
    rule = (
        "share"
        if of_kind(words, "share")
        else "rows"
        if of_kind(words, "row") and not columns
        else "count"
    )
    return reading.make("missing", measures=columns, rule=rule, by_column=not columns)


def _complete(reading: Reading, words: list[Word]) -> Query | None:
    """How many rows have no gap."""
    is_asked = of_kind(words, "many") or reading.has("ask")
    if reading.by or not (of_kind(words, "row") and is_asked):
        return None
    return reading.make("missing", rule="complete")


def _correlation(reading: Reading, words: list[Word]) -> Query | None:
    columns = _columns(words)
    if len(columns) != 2 or reading.by:
        return None
    if len(_numbers(columns)) < 2:
        raise UnclearError([str(c.name) for c in columns], "two_numbers", columns)
    rule = next((str(w.value) for w in of_kind(words, "corr") if w.value), "pearson")
    return reading.make("correlation", measures=tuple(columns), rule=rule)


def _outliers(reading: Reading, words: list[Word]) -> Query | None:
    columns, rules = _columns(words), of_kind(words, "rule")
    is_number = all(c.reads_as == "number" and not c.is_identifier for c in columns)
    if len(columns) != 1 or reading.by or not is_number:
        raise UnclearError([str(c.name) for c in columns] or ["?"], "one_number", columns)
    rule = str(rules[0].value) if rules else "iqr"
    return reading.make("outliers", measures=tuple(columns), rule=rule)


def _describe(reading: Reading, words: list[Word]) -> Query | None:
    if reading.filters or reading.by:
        return None
    return reading.make("describe", measures=tuple(_columns(words)))


def _values(reading: Reading, words: list[Word]) -> Query | None:
    """The values of columns: all that there are, or those of the rows that are meant."""
    columns = _columns(words)
    if reading.by:
        return _bare_groups(reading, columns)
    if of_kind(words, "which")[:1] == words[:1] and words[1].kind == "row":
        return None  # "which rows are on steroids" asks for rows, not for a column's values
    if len(columns) == 1 and columns[0].reads_as == "text":
        return reading.make("values", measures=tuple(columns))
    if of_kind(words, "distinct", "which") and len(columns) == 1:
        if columns[0].reads_as == "date" and of_kind(words, "col")[0].penalty >= 1:
            return None  # "types of death" are no dates of death
        return reading.make("values", measures=tuple(columns))
    if reading.has("total") and len(columns) == 1 and _numbers(columns):
        return reading.make("number", measures=tuple(columns), functions=("sum",))
    if not reading.filters:
        raise UnclearError([str(c.name) for c in columns], "name_function", columns)
    is_pinned = any(f.sign == "==" and f.column.is_key for f in reading.filters)
    if len(columns) == 1 and columns[0].is_additive and not is_pinned:
        query = reading.make("number", measures=tuple(columns), functions=("sum",))
        query = _each(reading, query)
        return replace(query, task="groups") if query.by else query
    return reading.make("lookup", measures=tuple(columns))


def _bare_groups(reading: Reading, columns: list[Column]) -> Query | None:
    """Groups without a function: the sum, where sums are what is meant."""
    if not _numbers(columns) or len(columns) > 1:
        return None
    if not columns[0].is_additive:
        raise UnclearError([str(columns[0].name)], "name_function", columns)
    return reading.make("groups", measures=tuple(columns), functions=("sum",))


def _rows(reading: Reading, words: list[Word]) -> Query | None:
    if not reading.filters or reading.by or reading.has("ask") or reading.has("total"):
        return None
    if of_kind(words, "who") and (name := reading.name_column()):
        return reading.make("rows", subject=Group(name))
    return reading.make("rows")


def _ends(reading: Reading, words: list[Word]) -> Query | None:
    numbers = of_kind(words, "num")
    limit = int(numbers[0].value) if numbers else 5
    if reading.by or reading.filters:
        return None
    return reading.make("head", lowest=bool(of_kind(words, "tail")), limit=limit)


def _period(reading: Reading, words: list[Word]) -> Query | None:
    before = reading.previous
    if before is not None and before.filters and not reading.filters:  # of all rows, or of those?
        raise UnclearError([w.text for w in words], "refers")
    dates = reading.frame.of_kind("date")
    column = dates[0] if len(dates) == 1 else reading.year_column() if not dates else None
    if column is None or reading.by:
        raise UnclearError([" ".join(w.text for w in words)], "no_date", dates)
    return reading.make("number", measures=(column,), functions=("min", "max"))


def _repeated(reading: Reading, words: list[Word]) -> Query | None:
    """The values of a column that several rows have."""
    (column,), is_said = _columns(words), of_kind(words, "dup")[0].value == "repeated"
    if reading.by or (of_kind(words, "many", "share") and not is_said):
        return None  # how many duplicate names: names, or rows beside the first?
    having = Filter(Column("count", "float64"), ">", 1.0)
    return reading.make("count", by=(Group(column),), having=having)


def _same(task: str) -> Callable[[Reading, list[Word]], Query | None]:
    def build(reading: Reading, words: list[Word]) -> Query | None:
        if any(word.value == "repeated" for word in of_kind(words, "dup")):
            return None  # which flowers occur more than once: by which column?
        if task == "duplicates" and any("col" in w.also for w in of_kind(words, "row", "list")):
            return None  # duplicate names: of the column?
        if reading.by or (reading.filters and task != "duplicates"):
            return None
        return reading.make(task)

    return build


# Charts.


def _asks_no_chart(reading: Reading, words: list[Word]) -> bool:
    """What was spent at the bar, and how many makers make vans, are no charts."""
    is_asked = any(map(reading.has, ("ask", "who", "which", "many")))
    charts, drawn = of_kind(words, "chart"), of_kind(words, "draw")
    bare = any(re.fullmatch("bars?|lines?|box", word.text) for word in charts)
    made = bool(drawn) and not charts and {w.text for w in drawn} <= {"make", "generate"}
    return is_asked and ((bare and not drawn) or made)


def _chart(reading: Reading, words: list[Word]) -> Query | None:
    if _asks_no_chart(reading, words):
        return None
    kinds = [str(word.value) for word in of_kind(words, "chart")]
    if len(set(kinds)) > 1:
        return None
    kind = kinds[0] if kinds else "hist" if of_kind(words, "spread") else ""
    columns, measures = _columns(words), of_kind(words, "measure")
    if of_kind(words, "fits") or not (
        columns or measures or reading.by or of_kind(words, "row", "count")
    ):
        return _chart_of_previous(reading, kind)
    both = len(_numbers(columns)) > 1 and not any(c.is_year for c in columns)
    if kind in ("line", "bar") and of_kind(words, "versus") and both:
        return None
    if len(measures) > 1 or (measures and _numbers(columns)):
        return None
    if not kind:
        kind = _usual_chart(reading, columns, bool(measures))
    maker = {"scatter": _scatter, "hist": _histogram, "box": _box}.get(kind, _groups_drawn)
    if maker is not _groups_drawn and (measures or of_kind(words, "row", "count")):
        return None
    query = maker(reading, columns, kind)
    if query is None or maker is not _groups_drawn or not measures:
        return query
    functions, whole = measures[0].value
    if len(functions) > 1 or "nunique" in functions or (kind == "pie" and functions != ("sum",)):
        return None
    return replace(query, measures=whole, functions=functions)


def _most_telling(reading: Reading, words: list[Word]) -> Query | None:
    """The two columns of numbers that go together most; which, the table tells."""
    if not any(re.search("telling|说明问题", w.text) for w in of_kind(words, "telling")):
        return None
    numbers = [
        c
        for c in reading.frame.of_kind("number")
        if isinstance(c.name, str) and not (c.is_identifier or c.is_counter or c.flags)
    ]
    if len(numbers) < 2 or reading.filters or reading.by:
        return None
    return reading.make("telling", measures=tuple(numbers))


def _chart_of_best(reading: Reading, words: list[Word]) -> Query | None:
    """Bars of the n groups, or rows with names of their own, that come first."""
    if {str(word.value) for word in of_kind(words, "chart")} - {"bar"}:
        return None
    query = _shaped(reading, [word for word in words if word.kind not in ("chart", "draw")])
    if query is None or query.limit < 2 or query.nth or query.by or query.details:
        return None
    name = reading.name_column()
    subject = query.subject or (Group(name) if name is not None else None)
    is_row = query.task == "extreme" and subject is not None and subject.column.is_key
    if subject is None or not (is_row or query.task == "best"):
        return None
    return replace(query, task="chart", chart="bar", by=(subject,), subject=None)


def _pie_of_shares(reading: Reading, words: list[Word]) -> Query | None:
    """A pie shows shares, whether that is said or not."""
    if {str(word.value) for word in of_kind(words, "chart")} != {"pie"}:
        return None
    return _chart(reading, [word for word in words if word.kind != "share"])


def _usual_chart(reading: Reading, columns: list[Column], measured: bool) -> str:
    numbers = _numbers(columns)
    times = [g for g in reading.by if g.bucket or g.column.reads_as == "date" or g.column.is_year]
    if times or any(c.reads_as == "date" for c in columns):
        return "line"
    grouped = [g.column for g in reading.by if g.column.reads_as == "number" and not g.column.flags]
    if not measured and len(numbers) + len(grouped) == 2 and len(numbers) > 0:
        return "scatter"
    is_one = len(numbers) == 1 and not reading.by and len(columns) == 1
    has_years = reading.year_column() is not None or bool(reading.frame.of_kind("date"))
    return "hist" if is_one and not (reading.filters and has_years) else "bar"


def _scatter(reading: Reading, columns: list[Column], kind: str) -> Query | None:
    groups = list(reading.by)
    if len(columns) == 1 and groups and groups[0].column.reads_as == "number":
        columns, groups = [*columns, groups[0].column], groups[1:]
    numbers = _numbers(columns)
    if len(columns) == 3 and len(numbers) == 2 and not groups:
        groups = [Group(c) for c in columns if c not in numbers]
    if len(numbers) != 2 or len(groups) > 1 or len(columns) - len(groups) > 2:
        raise UnclearError([str(c.name) for c in columns] or ["?"], "chart_scatter", columns)
    return reading.make("chart", chart="scatter", measures=tuple(numbers), by=tuple(groups))


def _histogram(reading: Reading, columns: list[Column], kind: str) -> Query | None:
    if len(columns) == 1 and columns[0].reads_as == "text" and not reading.by:
        return reading.make("chart", chart="bar", by=(Group(columns[0]),))
    if len(columns) != 1 or len(reading.by) > 1 or columns[0].reads_as != "number":
        raise UnclearError([str(c.name) for c in columns] or ["?"], "chart_hist", columns)
    sides = tuple(reading.by) or tuple(_sides_drawn(reading))
    return reading.make("chart", chart="hist", measures=tuple(columns), by=sides)


def _box(reading: Reading, columns: list[Column], kind: str) -> Query | None:
    groups = [*reading.by, *(Group(c) for c in columns if c.reads_as == "text")]
    groups = groups or _sides_drawn(reading)
    numbers = _numbers(columns)
    if len(numbers) != 1 or len(groups) > 1:
        raise UnclearError([str(c.name) for c in columns] or ["?"], "chart_box", columns)
    return reading.make("chart", chart="box", measures=tuple(numbers), by=tuple(groups))


def _says_what_to_draw(reading: Reading, numbers: Sequence[Column], kind: str) -> bool:
    """Whether more is drawn than that each date has a row, and no sum is taken for a mean."""
    if any(map(reading.has, ("measure", "count", "many"))):
        return True
    groups = [group.column for group in reading.by]
    amounts = [c for c in groups if c.reads_as == "number" and not (c.is_whole or c.is_year)]
    dated = [g for g in reading.by if g.column.reads_as == "date" and not g.bucket]
    times = dated or [g for g in reading.by if g.bucket or g.column.is_year]
    if not numbers:
        return not amounts and not (kind == "line" and dated)
    return bool(times) or not groups or not any(COUNTED.search(str(c.name)) for c in numbers)


def _groups_drawn(reading: Reading, columns: list[Column], kind: str) -> Query | None:
    """Lines or bars of groups, where it is said what is drawn of them."""
    says = _says_what_to_draw(reading, _numbers(columns), kind)
    return _lines_or_bars(reading, columns, kind) if says else None


def _sides_drawn(reading: Reading) -> list[Group]:
    """Two values of a column that are named are drawn each by itself."""
    named = [f.column for f in reading.filters if f.sign == "in" and f.joined_by != "or"]
    return [Group(c) for c in named if c not in [g.column for g in reading.by]]


def _lines_or_bars(reading: Reading, columns: list[Column], kind: str) -> Query | None:
    numbers = _numbers(columns)
    is_count = reading.has("count") or reading.has("many")
    if any(column.is_identifier for column in columns):
        return None
    if is_count and (numbers or (reading.by and columns)):
        return None  # medals per country: how many, or how many of each kind?
    groups = list(reading.by)
    others = [c for c in columns if c not in numbers and c not in [g.column for g in groups]]
    if others and groups and any(w.penalty >= 1 for w in reading.words if w.column in others):
        return None  # appointments per year: a column "at Appointment" is not meant
    groups += map(Group, others)
    if kind == "line":  # time runs along the axis
        groups.sort(key=lambda g: not (g.bucket or g.column.reads_as == "date" or g.column.is_year))
        groups.sort(key=lambda g: g.bucket != "month_of_year")
    if not groups and len(numbers) == 2 and any(c.is_year for c in numbers):
        groups = [Group(c) for c in numbers if c.is_year]
        numbers = [c for c in numbers if not c.is_year]
    if not groups and kind == "line":
        dates = reading.frame.of_kind("date")
        groups = [Group(dates[0])] if len(dates) == 1 else []
    groups += [group for group in _sides_drawn(reading) if len(groups) < 2]
    if not groups or len(groups) > 2 or len(numbers) > (3 if kind == "line" else 1):
        reason = f"chart_{kind}"
        raise UnclearError([str(c.name) for c in columns] or ["?"], reason, columns)
    if len(numbers) > 1 and len(groups) > 1:
        return None
    if kind == "pie" and (len(groups) > 1 or not all(c.is_additive for c in numbers)):
        raise UnclearError([str(c.name) for c in columns] or ["?"], "chart_pie", columns)
    additive = all(c.is_additive for c in numbers)
    functions = () if not numbers else ("sum",) if additive else ("mean",)
    return reading.make(
        "chart", chart=kind, measures=tuple(numbers), functions=functions, by=tuple(groups)
    )


def _chart_of_previous(reading: Reading, kind: str) -> Query | None:
    """What the sentence before asked, drawn."""
    before = reading.previous
    if before is None or reading.filters or reading.by:
        return None
    if before.task == "correlation" and kind in ("", "scatter"):
        return replace(before, task="chart", chart="scatter")
    groups = [*before.by, *([before.subject] if before.subject else [])]
    if before.task not in ("groups", "count", "best") or not groups or len(groups) > 2:
        return None
    if kind in ("scatter", "hist", "box", "pie") or len(before.functions) > 1:
        return None
    times = [g for g in groups if g.bucket or g.column.reads_as == "date" or g.column.is_year]
    groups.sort(key=lambda group: group not in times)
    return replace(
        before, task="chart", chart=kind or ("line" if times else "bar"), by=tuple(groups),
        subject=None,
    )  # fmt: skip


SHAPES: list[tuple[str, Callable[[Reading, list[Word]], Query | None]]] = [
    (r"[ynlwsrLN4M]*(?:q[nLMrys4lqw]*e?|z+[nysLr]*)", _missing),
    (r"[ynlwr]*O[ynlwr]*", _complete),
    (r"[ynlwri]*u[rnyl]*", _same("duplicates")),
    (r"[ynlw]*(?:uc|c[yn]*u)[ynl]*", _repeated),
    (r"(?=.*[LNY])[lwNnrLYy]*", _same("columns")),
    (r"(?=.*o)[ynlwocjr24v]*|nr?cv|ncr?v", _outliers),
    (r"(?=.*k)[ynkKcV]*r?|Kcc", _correlation),
    (r"D[re]*|e+|D+[erL]*|D+[erL]+q[erL]*", _describe),
    (r"D[cj]+|c+D", _describe),
    (r"C[qrz]*", _same("clean")),
    (r"(?=.*d)d*e+d*", _most_telling),
    (r"(?=.*[dg])(?=.*[1t]).+", _chart_of_best),
    (r"(?=.*[dgG])[dgGcmnrVKklIwA]*", _chart),
    (r"(?=.*g)(?=.*s)[dgscmnr]*", _pie_of_shares),
    (r"[yw]?n*y?r?n*y?", _count),
    (r"(?=.*0)(?=.*n)[0nry]*", _per),
    (r"[wlyni]*[cU]5", _having),
    (r"(?=.*X)[FXKU]*[cm][FXKU]*", _change),
    (r"(?=.*n)[nicryl]*", _count_of),
    (r"(?=.*[ABEFK3])[ABEF3Kpwyr]*(?:m|c|nr?|rn?|)[ABEF3Kpwyr]*", _compared_groups),
    (r"r?m+r?y?", _measure),
    (r"[pwl]?1?t1?[rcU]b|l?t1b", _by_measure),
    (r"n?[rcm]n?l?t1", _first_groups),
    (r"(?=.*x)[wlpWcUrt1xy6I]*", _extreme_shape),
    (
        r"pcMr|WMr|[wpl]?t?1?[cU](?:Mr?n?|rM|nM|f)|w?f[cU]|pf|t?1?f[cU]|[cU]rnM|w?[cU]Mn?r|w[cU]rM",
        _most_rows,
    ),
    (r"(?=.*S)[lrSncm]*", _sorted_rows),
    (r"(?=.*[sh])[hsnrmcw]*", _share),
    (r"r?cas?[AB]?", _rate),
    (r"r?a", _rate_of_value),
    (r"[wl]?c7s", _best_share),
    (r"[lwy]*r?i?c+[yli]*|wcr", _values),
    (r"[lw]*r|p?r?|lp?r?", _rows),
    (r"[HT]1?r?|[HT]r?1|1r?", _ends),
    (r"P", _period),
]
