"""The words of a question in terms of a table: each span, and everything that it can mean there.

A span is a column, a value of one, a word of the lexicon, a number or a date. What is none of these
is unknown, and a question with an unknown word is never answered.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from typing import Any

from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.lexicon import (
    HAN,
    Phrase,
    Unit,
    joined,
    lexicon,
    phrase_of,
    stem,
    units_of,
    verb_stems,
    word_family,
)

LONGEST_PHRASE = 9
READINGS = 300
"""How many combinations of meanings are tried."""
BRACKETS = re.compile(r"[（(\[].*?[)）\]]")
OF_A_LIST = re.compile("(记录|数据|明细|清单|列表|信息|统计|名单|表)$")
CAMEL = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=^start)(?=date|time|year)|(?<=^end)(?=date|time|year)"
    r"|(?<=^birth)(?=date|year|day)|(?<=^order)(?=date)|(?<=^release)(?=date)"
)
"""Where a new word begins in a name."""
WHOLES = {"total", "overall", "whole", "总"}
"""Beside "sleep rem", "sleep" means "sleep total"."""
ENTITY = re.compile(rf"([{HAN}]{{2,3}}?)(?:编号|号|ID|id|名称)")
PERSON_IDS = re.compile(
    r"(?:employee|student|patient|user|customer|cust|member|runner|player|learner)[_ ]?(?:id|no)"
    r"|bib|工号|学号|(?:学员|会员|客户|用户|患者|病人|员工)(?:编号|号|ID)",
    re.I,
)
PERSON_NAMES = re.compile(
    r"(?:employee|student|patient|user|customer|member|runner|player|learner)[_ ]?(?:name)?|姓名",
    re.I,
)
SEX_OR_AGE = re.compile(r"\bsex\b|gender|(?:^|[^a-z])age(?:$|[^a-z])|性别|年龄", re.I)
PARTICLES = {"in", "is", "has", "was", "had", "been", "with"}
VOWELS = re.compile("[aeiou]")
EVENT = re.compile(rf"([{HAN}]{{2,3}})(?:日期|时间)")
TIMES_IN = {(unit,) for unit in ("min", "minute", "hr", "hour", "day", "sec", "second")}
LASTING = ("小时", "时长", "时间", "时数")
"""Ends of names of how long something lasts."""
INCLUDED = re.compile(r"[（(]\s*(?:含|包含|包括|both included|inclusive)[^()（）]*[)）]", re.I)
RANGE = re.compile(r"\d\D{0,3}[到至]\s*\d|之间|between|以上|以下", re.I)
OF_EVENTS = re.compile(r"(?:ment|ation|ition)$")
"""Ends of nouns for what somebody did or what happened to them."""
MEASURED = re.compile("[量额价率值]$")
"""Ends of what is measured, which names no rows."""
GLOSS = re.compile(r"[（(]([^()（）]+)(?:[)）]|$)")
CONDITION = re.compile(
    r"[（(]\s*([\w.]+)\s*((?:[=<>]|==|<=|>=|为|是|等于|小于|大于)\s*[\w.-]+)\s*(?:[)）]|$)"
)
"""A condition in brackets, as in "arrested (arrest = 1)"."""
DEMONYMS = ("ese", "ian", "ean", "an", "n", "ish", "i", "y")


@dataclass(frozen=True)
class Word:
    """A span of a question with one meaning."""

    kind: str
    text: str
    value: Any = None
    column: Column | None = None
    penalty: float = 0.0
    start: int = 0
    also: frozenset[str] = frozenset()
    """Kinds of all meanings of its span."""


@dataclass(frozen=True)
class PhraseSpan:
    """A span with all its meanings, the likeliest first; without any it is unknown."""

    text: str
    meanings: tuple[Word, ...]


Index = dict[Phrase, list[Word]]


@dataclass
class Vocabulary:
    """What words can mean for one table."""

    frame: TableColumns
    index: Index = field(default_factory=dict)
    parts: list[tuple[tuple[str, ...], Column]] = field(default_factory=list)
    """The words of each column's name."""
    names: list[dict[Phrase, float]] = field(default_factory=list)
    """What each column may be called, and how far-fetched that is."""
    values: list[tuple[Phrase, Column, Any]] = field(default_factory=list)
    found: tuple[tuple[Column, Any], ...] = ()
    """Values of its columns beside those that the look at it showed."""

    @cached_property
    def long_words(self) -> dict[str, str]:
        """The English words that a slip may have been meant for, and their stems."""
        return _long_words(_written(self)) | _own_words()

    @cached_property
    def parts_of_values(self) -> list[tuple[Phrase, Column, Any]]:
        """The values of several words, with these; ``AsstProf`` has two."""
        split = [(phrase_of(CAMEL.sub(" ", str(v))), c, v) for _, c, v in self.values]
        return [each for each in split if len(each[0]) > 1]

    def add(self, phrase: Phrase, word: Word) -> None:
        """Let a phrase mean something, unless it does already."""
        if not phrase:
            return
        known = self.index.setdefault(phrase, [])
        same = [
            w for w in known if (w.kind, w.column, w.value) == (word.kind, word.column, word.value)
        ]
        if same and same[0].penalty <= word.penalty:
            return
        known[:] = [w for w in known if w not in same] + [word]


@lru_cache(maxsize=8)
def vocabulary(frame: TableColumns, found: tuple[tuple[Column, Any], ...] = ()) -> Vocabulary:
    """The words of a table; remembered, as each step of an answer reads its question again.

    Args:
        frame: The table.
        found: Values of its columns beside those that the look at it showed.
    """
    words = Vocabulary(frame, found=found)
    for column in frame.columns:
        split = _split(column, frame)
        names = {
            phrase: penalty
            for phrase, penalty in _names(column, split).items()
            if penalty < 2 or not _is_rate_of_flag(phrase, frame)
        }
        for phrase, penalty in names.items():
            for named in [column, *_also_called(phrase, penalty, frame)]:
                words.add(phrase, Word("col", "", None, named, penalty))
            if column.flags and penalty < 1:
                words.add(phrase, Word("val", "", column.flags[0], column, penalty + 0.4))
        for name, *others in lexicon().opposites:
            if column.flags and split == name:
                for phrase in others:
                    words.add(phrase, Word("val", "", column.flags[1], column, 0.4))
        words.parts.append((split, column))
        words.names.append(names)
        _add_values(words, column)
    for column, value in found:
        _add_value(words, column, value)
    _add_nouns(words)
    _leave_open(words)
    return words


def _is_rate_of_flag(phrase: Phrase, frame: TableColumns) -> bool:
    """Whether a part of a name may be a share of yes: 投保率, beside 前期投保率 and 是否投保."""
    bare = "".join(phrase[:-1])
    flags = ("".join(_split(c, frame)).removeprefix("是否") for c in frame.columns if c.flags)
    return phrase[-1:] in (("率",), ("rate",)) and bare in flags


def _also_called(phrase: Phrase, penalty: float, frame: TableColumns) -> list[Column]:
    """The columns that one character of a name could stand for, too: 区 of 小区 or of 区域."""
    if penalty < 1 or len(phrase) > 1 or not re.fullmatch(f"[{HAN}]", phrase[0]):
        return []
    return [column for column in frame.of_kind("text") if phrase[0] in str(column.name)]


def _leave_open(words: Vocabulary) -> None:
    """A value of two columns, such as a state and a county, is the one as much as the other."""
    for known in words.index.values():
        values = [word for word in known if word.kind == "val"]
        if len({word.column for word in values}) > 1:
            least = min(word.penalty for word in values)
            near = [word for word in values if word.penalty <= 0.5]
            known[:] = [replace(w, penalty=least) if w in near else w for w in known]
    for phrase, known in words.index.items():
        if phrase[0] == "all" and any(w.kind == "row" for w in words.index.get(phrase[1:], ())):
            # "All airports" are all rows, even where one is called so.
            known[:] = [replace(w, kind="weakval") if w.kind == "val" else w for w in known]


def _add_values(words: Vocabulary, column: Column) -> None:
    if column.flags:
        texts = [value for value in column.counts if not _is_number(value)]
        for value in texts:
            if phrase_of(str(value)) not in lexicon().senses:
                _add_value(words, column, value)
    elif column.reads_as == "text":
        for value in column.counts:
            _add_value(words, column, value)
        if column.is_whole:
            _add_value_parts(words, column)


def _is_number(value: Any) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", str(value)) is not None


def _split(column: Column, frame: TableColumns) -> tuple[str, ...]:
    """The words of a column's name, without what stands in brackets and without its unit."""
    words, *others = (
        phrase_of(CAMEL.sub(" ", BRACKETS.sub(" ", str(c.name)))) or phrase_of(str(c.name))
        for c in (column, *frame.columns)
    )
    bare = words[:-1]
    # Beside "temp max", the end of "temp min" is no unit.
    is_unit = bool(bare) and words[-1] in lexicon().sets["suffix"]
    return bare if is_unit and sum(o[: len(bare)] == bare for o in others) < 2 else words


def _names(column: Column, words: Phrase) -> dict[Phrase, float]:
    """What a column may be called, and how far-fetched each name is."""
    found: dict[Phrase, float] = {}

    def add(phrase: Phrase, penalty: float) -> None:
        if phrase and penalty < found.get(phrase, 9.0):
            found[phrase] = penalty

    whole = phrase_of(str(column.name))
    add(whole, 0.0)
    add(words, 0.0)
    add(("".join(words),), 0.1)
    add(phrase_of(CAMEL.sub(" ", str(column.name))), 0.0)
    for start in (("is",), ("has",), ("是", "否"), ("有", "无")):
        if words[: len(start)] == start != words:
            words = words[len(start) :]
            add(words, 0.1)
    long = tuple(lexicon().short.get(word, word) for word in words)
    add(long, 0.2)
    for name, penalty in [*_turned(words, long), *_lasting(column, words)]:
        add(name, penalty)
    if len(words) > 2:
        add(("".join(word[0] for word in words),), 0.6)
    parts = dict(_parts(words)) | dict(_parts(long))
    for part, penalty in parts.items():
        is_head = part == words[1:] and len("".join(part)) == 1  # 店 of 门店, but not 量 of 数量
        is_bare = {*words} - {*part} <= PARTICLES  # default of in_default
        if not ((column.flags and not is_bare) or (is_head and column.reads_as != "text")):
            add(part, penalty)
    for name, penalty in _aliases({words, whole, long}, set(parts)):
        add(name, penalty)
    return found


def _turned(words: Phrase, long: Phrase) -> Iterator[tuple[Phrase, float]]:
    """The two words of a name the other way round, a unit and what it measures, 号 for 编号."""
    if len(words) == 2:
        yield words[::-1], 0.3
        yield long[::-1], 0.4
        if long[0] in lexicon().sets["suffix"]:
            yield (long[0], "of", long[1]), 0.2  # years of service
    if words[-2:] == ("编", "号"):
        yield (*words[:-2], "号"), 0.3


def _lasting(column: Column, words: Phrase) -> Iterator[tuple[Phrase, float]]:
    """Other words for how long something lasts."""
    if column.reads_as == "number" and "".join(words[-2:]) in LASTING:
        for end in LASTING:
            yield (*words[:-2], *phrase_of(end)), 0.5
    whole = phrase_of(BRACKETS.sub(" ", str(column.name)))
    if column.reads_as == "number" and len(words) < 3 and whole[-1:] in TIMES_IN:
        bare = whole[:-1]
        for name in (bare, tuple(f"{word}ing" for word in bare)):
            yield (*name, "time"), 0.4


def _aliases(own: set[Phrase], parts: set[Phrase]) -> Iterator[tuple[Phrase, float]]:
    """Other words for a name, or far-fetched ones for a part of it."""
    noname = lexicon().sets["noname"]
    telling = {part for part in parts if not set(part) <= noname}
    groups = {place for name in own | telling for place in lexicon().groups_of.get(name, ())}
    for group in (lexicon().aliases[place] for place in sorted(groups)):
        places = [group.index(name) for name in own if name in group]
        for name in group:
            if name != ("total",):  # which asks for a sum in English
                yield name, 0.4 + 0.05 * min(places) if places else 2.2


def _parts(words: Sequence[str]) -> Iterator[tuple[Phrase, float]]:
    """Parts of a name that may stand for it."""
    sets = lexicon().sets
    count = len(words)
    for start in range(count):
        for end in range(start + 1, count + 1):
            part, rest = tuple(words[start:end]), {*words[:start], *words[end:]}
            is_han = all(re.match(f"[{HAN}]", word) for word in part)
            is_head = start == 1 and count == 2  # the kind of thing: 店 of 门店
            if (
                not rest
                or set(part) <= sets["noname"]
                or (is_han and len(part) < 2 and not (is_head or rest <= sets["idword"]))
            ):
                continue
            if len(part) == 1 and not is_han and (len(part[0]) < 3 or part[0] in sets["suffix"]):
                continue
            is_whole = rest <= sets["idword"] or rest <= WHOLES
            yield part, 1.3 if is_whole else 2.0


def _add_value(words: Vocabulary, column: Column, value: Any) -> None:
    text = str(value)
    phrase = phrase_of(text)
    if not phrase:
        return  # "*" has no word to name it by
    known = lexicon().senses.get(phrase)
    short = len(phrase) == 1 and len(phrase[0]) == 1 and phrase[0].isascii()
    # A value that is a common word, such as "day" or "no", needs its column beside it.
    kind, penalty = ("weakval", 2.6) if known or short else ("val", 0.0)
    words.add(phrase, Word(kind, "", value, column, penalty))
    if text[0] == "已" and len(phrase) > 2:
        words.add(phrase[1:], Word("val", "", value, column, 0.3))  # 关闭 of 已关闭
    last, comma, given = text.partition(", ")
    if comma and "," not in given:  # Stephen Harper, who is listed as "Harper, Stephen"
        words.add(phrase_of(f"{given} {last}"), Word("val", "", value, column, 0.2))
    bare = phrase_of(BRACKETS.sub(" ", text))
    if bare != phrase and not lexicon().senses.get(bare):
        words.add(bare, Word("val", "", value, column, 0.2))
    for group in lexicon().same:
        if phrase in group or (len(bare) > 1 and bare in group):
            for other in group:
                shortest = "".join(other)
                strange = shortest.isascii() and (
                    len(shortest) == 1
                    or shortest == "us"
                    or (len(shortest) == 2 and other in lexicon().senses)
                )
                if not strange:
                    words.add(other, Word("val", "", value, column, 0.5))
    words.values.append((phrase, column, value))


def _add_value_parts(words: Vocabulary, column: Column) -> None:
    """A word that only one value of a column has stands for it: "Gentoo" of "Gentoo penguin"."""
    owners: dict[Phrase, set[str]] = {}
    for value in column.counts:
        phrase = phrase_of(str(value))
        for end in range(1, len(phrase)):
            starts = [0] if re.match(f"[{HAN}]", phrase[0]) else range(len(phrase) - end + 1)
            for start in starts:
                owners.setdefault(phrase[start : start + end], set()).add(str(value))
    by_text = {str(value): value for value in column.counts}
    names = " ".join(str(each.name).lower() for each in words.frame.columns)
    for part, found in owners.items():
        text = "".join(part)
        is_han = re.match(f"[{HAN}]", part[0])
        # 处理 begins one value, 处理中, but stands in 待处理 as well.
        holding = {value for value in by_text if is_han and text in value}
        if len(found | holding) > 1 or len(text) < (2 if is_han else 4) or text in names:
            continue
        if lexicon().senses.get(part) or all(_is_common(word) for word in part):
            continue
        words.add(part, Word("val", "", by_text[found.pop()], column, 1.4))


def _is_common(word: str) -> bool:
    """Whether a word has a meaning of its own, as those of "of the" have."""
    return (word,) in lexicon().senses or word in lexicon().sets["noname"]


def _add_nouns(words: Vocabulary) -> None:
    """What the rows are called: words of the file's name, and what the columns tell."""
    frame = words.frame
    stem_ = re.split(r"[/\\]", frame.path)[-1].rpartition(".")[0] or frame.name
    title = set(phrase_of(CAMEL.sub(" ", stem_))) - lexicon().sets["nonoun"]
    han = re.findall(f"[{HAN}]+", stem_)
    han += [bare for text in han if len(bare := OF_A_LIST.sub("", text)) > 1]
    for text in {*han, *(text[-2:] for text in han), *(t[-1] for t in han if len(t) == 2)}:
        if MEASURED.search(text):
            _add_measured(words, text)
        elif not any(text.endswith("".join(split)) for split, _ in words.parts):  # 票房 of 电影票房
            words.add(phrase_of(text), Word("row", "", text, None, 1.0))
    whole = tuple(word for word in phrase_of(CAMEL.sub(" ", stem_)) if word in title)
    if len(whole) == 2 and len(title) == 2:
        words.add(whole, Word("row", "", " ".join(whole), None, 1.0))
    for word in title:
        known = {sense.kind for sense in lexicon().senses.get((word,), ())}
        same = [
            c
            for split, c in words.parts
            if split == (word,) and not c.is_additive and not str(c.name).lower().endswith("s")
        ]
        if len(word) > 2 and known <= {"unitword"} and (same or not _counts(words, (word,))):
            words.add((word,), Word("row", "", word, None, 0.0 if same else 1.0))
    _add_events(words)
    _add_entities(words)
    _add_things(words)
    called = [{name for name, penalty in names.items() if penalty < 2} for names in words.names]
    for hints, nouns in lexicon().nouns:
        is_title = any(
            set(noun) <= title or any(word.endswith(noun) for word in title if len(noun[0]) > 2)
            for noun in nouns
            if "".join(noun) not in lexicon().sets["nonoun"]
        )
        hinted = sum(
            any(hint in names or ("".join(hint),) in names for names in called)
            for hint in set(hints)
        )
        if is_title or hinted > 1:
            for noun in nouns:
                _add_noun(words, noun, 1.1)
    _add_persons(words)


def _add_measured(words: Vocabulary, what: str) -> None:
    """What a file's name says of its numbers may be said with each: 牛肉产量 in 肉类产量."""
    for column in words.frame.of_kind("number"):
        if not (column.is_year or column.is_identifier):
            words.add(phrase_of(f"{column.name}{what}"), Word("col", "", None, column, 0.3))


def _add_noun(words: Vocabulary, noun: Phrase, penalty: float) -> None:
    """A noun for the rows; one for persons means what tells them apart, where each has several."""
    if _counts(words, noun) or any(_is_short_noun(phrase, noun) for phrase, *_ in words.values):
        return
    person = repeated_person(words.frame)
    if person is not None and "".join(noun) in lexicon().sets["person"] | {"person", "人"}:
        words.add(noun, Word("col", "", None, person, penalty))
    else:
        words.add(noun, Word("row", "", "".join(noun), None, penalty))


def _is_short_noun(phrase: Phrase, noun: Phrase) -> bool:
    """Whether a value is a noun cut short: professors are some of the rows where one is "Prof"."""
    return len(phrase[-1]) > 3 and noun[0] != phrase[-1] and noun[0].startswith(phrase[-1])


def repeated_person(frame: TableColumns) -> Column | None:
    """The column that tells persons apart, where each has several rows.

    Names alone do not where two persons may share one; ``is_name`` tells those.
    """
    known = [c for c in frame.columns if PERSON_IDS.search(str(c.name))]
    persons = known or [c for c in frame.columns if PERSON_NAMES.fullmatch(str(c.name))]
    if any(min(c.counts.values(), default=1) < 2 for c in persons):
        return None
    return next(iter(persons), None)


def has_person_key(frame: TableColumns) -> bool:
    """Whether each row is a person, who has a number."""
    return any(c.is_key and PERSON_IDS.search(str(c.name)) for c in frame.columns)


def is_name(column: Column) -> bool:
    """Whether a column holds names of persons, which several may share."""
    return bool(PERSON_NAMES.fullmatch(str(column.name)))


def _add_things(words: Vocabulary) -> None:
    """Rows may be called by a column that hardly repeats: 505 names of items on 515 rows."""
    for split, column in words.parts:
        is_thing = len(split) == 1 and column.reads_as == "text" and not is_name(column)
        often = max(column.counts.values(), default=0)
        if is_thing and column.rows > 50 and 1 < often < 4:
            words.add(split, Word("row", "", split[0], None, 0.5))


def _add_entities(words: Vocabulary) -> None:
    """Rows may be called by what their number is of, or by what several names begin with."""
    names = [str(column.name) for column in words.frame.columns]
    for column in words.frame.columns:
        found = ENTITY.fullmatch(str(column.name))
        if found and column.is_key:
            for noun in {found[1], found[1][-1], found[1][:1]}:
                words.add(phrase_of(noun), Word("row", "", noun, None, 1.2))
    for name in names:
        start = name[:2]
        several = [other for other in names if other.startswith(start) and len(other) > 2]
        if (
            re.fullmatch(f"[{HAN}]{{2}}", start)
            and len(several) > 1
            and start in lexicon().sets["person"]
        ):
            words.index[phrase_of(start)] = [Word("row", "", start, None, 0.2)]


def _add_persons(words: Vocabulary) -> None:
    """Nouns for persons of whom sex or age are known, and nothing that says who they are."""
    persons = lexicon().sets["person"]
    known = {w.value for found in words.index.values() for w in found if w.kind == "row"}
    known |= {part for split, _ in words.parts for part in split}  # patient_id: no students
    if known & persons or not any(SEX_OR_AGE.search(str(c.name)) for c in words.frame.columns):
        return
    for noun in map(phrase_of, persons):
        if noun not in words.index:
            _add_noun(words, noun, 1.3)


def _add_events(words: Vocabulary) -> None:
    """Rows may be called by their date: arrivals, days."""
    for split, column in words.parts:
        event = [word for word in split if word not in ("date", "time", "at", "day", "on")]
        if column.reads_as == "date" and len(event) == 1 < len(split) and not column.missing:
            # "Deaths" may be all rows, or those of which a column says "death".
            is_value = any(w.kind == "val" for w in words.index.get(tuple(event), ()))
            words.add(tuple(event), Word("row", "", event[0], None, 0.0 if is_value else 1.6))
        name = EVENT.fullmatch(str(column.name))
        said = name[1] if name else "".join(event)
        if column.reads_as == "date" and (name or len(event) == 1):
            for phrase in [*([phrase_of(said)] if name else []), *lexicon().events.get(said, ())]:
                # "Died" may be said of all rows, or of those of which a column says "death".
                values = [w.penalty for w in words.index.get(phrase, ()) if w.kind == "val"]
                words.add(phrase, Word("verb", "", None, column, min([0.9, *values])))
    names = {str(column.name).lower() for column in words.frame.of_kind("number")}
    if {"month", "day"} <= names and "hour" not in names:
        words.add(phrase_of("day"), Word("row", "", "day", None, 1.5))
    dates = words.frame.of_kind("date")
    if len(dates) == 1 and dates[0].is_key and len(str(next(iter(dates[0].counts)))) < 13:
        is_monthly = all(text[7:] in ("", "-01") for text in dates[0].examples)
        for day in ("month", "月", "月份") if is_monthly else ("day", "天", "日子", "天数"):
            words.add(phrase_of(day), Word("row", "", day, None, 1.5))


def _counts(words: Vocabulary, phrase: Phrase) -> bool:
    """Whether a noun is no row: a column of numbers, or what many rows have the same of."""
    found = [w for w in words.index.get(phrase, ()) if w.kind == "col" and w.column is not None]
    return any(
        (w.penalty < 0.3 and w.column.reads_as == "number" and not w.column.is_identifier)
        or (w.penalty < 0.3 and w.column.reads_as == "text" and not w.column.is_key)
        or (w.column.is_identifier and max(w.column.counts.values(), default=0) > 2)
        for w in found
        if w.column is not None
    )


# Spans.


def read_spans(text: str, words: Vocabulary) -> list[PhraseSpan]:
    """The question cut into the longest spans that mean something."""
    units = units_of(text)
    count = len(units)
    best: list[tuple[float, int, tuple[Word, ...]]] = [(0.0, count, ())] * (count + 1)
    for start in range(count - 1, -1, -1):
        best[start] = (5.0 + best[start + 1][0], start + 1, ())
        for end in range(start + 1, min(count, start + LONGEST_PHRASE) + 1):
            meanings = _meanings(units[start:end], words)
            if meanings:
                own = 0.9 if meanings[0].penalty < 0.6 else 1.0
                cost = own + best[end][0]
                if cost < best[start][0] or (cost == best[start][0] and end > best[start][1]):
                    best[start] = (cost, end, meanings)
    spans: list[PhraseSpan] = []
    place = 0
    while place < count:
        _, end, meanings = best[place]
        said = joined(units[place:end])
        start, kinds = units[place].start, frozenset(word.kind for word in meanings)
        found = (replace(word, text=said, start=start, also=kinds) for word in meanings)
        spans.append(PhraseSpan(said, tuple(found)))
        place = end
    before = [None, *spans]
    spans = [_beside_its_column(b, span, text) for b, span in zip(before, spans, strict=False)]
    if not text.isupper():
        spans = [_in_capitals(span, text) for span in spans]
    spans = [_verb_before_a_time(span, spans[place + 1 :]) for place, span in enumerate(spans)]
    stems = {unit.stem for unit in units}
    names = {column: set(split) for split, column in words.parts}
    return [_with_its_whole_name(span, stems, names) for span in spans]


def _with_its_whole_name(
    span: PhraseSpan, said: set[str], names: Mapping[Column, set[str]]
) -> PhraseSpan:
    """A part of a name means the column of which the rest is said, too: "amount of an order"."""

    def near(word: Word) -> Word:
        is_part = word.kind == "col" and word.penalty >= 2 and word.column is not None
        whole = is_part and names[word.column] <= said  # type: ignore[index]
        return replace(word, penalty=word.penalty - 0.3) if whole else word

    return replace(span, meanings=tuple(sorted(map(near, span.meanings), key=lambda w: w.penalty)))


def _beside_its_column(before: PhraseSpan | None, span: PhraseSpan, text: str) -> PhraseSpan:
    """A value that is a common word, too, is meant behind its column, if written as it is."""
    columns = [w.column for w in before.meanings if w.kind == "col"] if before else []
    own = [
        replace(word, kind="val", penalty=0.0)
        for word in span.meanings
        if word.kind == "weakval"
        and word.column in columns
        and text[word.start :].startswith(str(word.value))
    ]
    return replace(span, meanings=tuple(own)) if own else span


def _verb_before_a_time(span: PhraseSpan, after: Sequence[PhraseSpan]) -> PhraseSpan:
    """ "Appointed since 1980" asks for a time, not for a column "appointed on the advice of"."""
    found = span.meanings
    is_part = bool(found) and found[0].kind == "col" and found[0].penalty >= 2
    kinds = [{word.kind for word in each.meanings} for each in after[:2]]
    is_time = len(kinds) == 2 and "datecmp" in kinds[0] and bool(kinds[1] & {"num", "date"})
    if not (is_part and is_time and span.text.endswith("ed")):
        return span
    return replace(span, meanings=(replace(found[0], kind="verb", column=None, penalty=0.0),))


def _in_capitals(span: PhraseSpan, text: str) -> PhraseSpan:
    """A value in capitals is meant where it is written so: HI is Hawaii, an A is a grade."""

    def is_written(word: Word) -> bool:
        value = str(word.value)
        is_value = word.kind in ("val", "weakval") and value.isupper() and value.isascii()
        is_pronoun = value == "I" or (value == "A" and not word.start)
        return is_value and not is_pronoun and text[word.start :].startswith(value)

    own = [replace(w, kind="val", penalty=0.0) for w in span.meanings if is_written(w)]
    return replace(span, meanings=tuple(own)) if own else span


def _meanings(units: Sequence[Unit], words: Vocabulary) -> tuple[Word, ...]:
    phrase = tuple(unit.stem for unit in units)
    found = list(words.index.get(phrase, ()))
    is_named = any(word.kind == "col" for word in found)
    if is_named and units[-1].text.isascii() and not units[-1].text.endswith("s"):
        # A tip is an amount, tips are rows.
        found = [word for word in found if word.kind != "row" or word.penalty]
    elif is_named and any(word.kind == "row" and not word.penalty for word in found):
        # Each of the flights has a number, which their table calls "flight".
        found = [w for w in found if not (w.column and w.column.is_number_of_thing)]
    for sense in lexicon().senses.get(phrase, ()):
        if is_named and sense.kind == "verb":
            continue  # "built" is no mere verb beside a column "year built"
        if sense.kind == "with" and units[0].text == "who" and not units[0].start:
            continue  # "who had" asks at the beginning of a question
        value = float(sense.value) if sense.kind == "num" else sense.value
        found.append(Word(sense.kind, "", value, None, sense.penalty))
    first = units[0].text
    is_decade = first.endswith("s")  # "the 1990s" are ten years, not one
    if len(units) == 1 and is_decade and re.fullmatch(r"\d{3}0['’]?s", first):
        found.append(Word("decade", "", float(first[:4])))
    elif len(units) == 1 and first[0].isdigit() and not is_decade:
        kind = "date" if re.search(r"[-/]", first) else "num"
        value = _iso(first) if kind == "date" else float(first.replace(",", ""))
        found.append(Word(kind, "", value))
    found = _written_so(found, units)
    if not found:
        found += [*_longer_names(units, words), *_joined_names(units, words)]
        found += _longer_values(units, words)
    if not found and len(units) == 1 and first.isalpha():
        found += _forms(first, words)
    return tuple(sorted(found, key=lambda word: word.penalty))


def _written_so(found: list[Word], units: Sequence[Unit]) -> list[Word]:
    """Of several columns the one that is called just so: engine, beside a column engines."""
    said = " ".join(unit.text for unit in units)
    exact = [w for w in found if w.column and str(w.column.name).lower().replace("_", " ") == said]
    if len(exact) != 1 or exact[0].kind != "col":
        return found
    others = [w for w in found if w.kind == "col" and w is not exact[0]]
    return [replace(w, penalty=w.penalty + 0.2) if w in others else w for w in found]


def _iso(text: str) -> str:
    parts = [int(part) for part in re.split("[-/]", text)]
    return "-".join([f"{parts[0]:04}", *(f"{part:02}" for part in parts[1:])])


def _longer_names(units: Sequence[Unit], words: Vocabulary) -> Iterator[Word]:
    """Columns whose name is cut short: ``lifeExp`` for "life expectancy"."""
    for parts, column in words.parts:
        if len(parts) != len(units) or not all(len(part) > 2 for part in parts):
            continue
        if all(
            u.stem.startswith(p) and u.text.isascii() for u, p in zip(units, parts, strict=True)
        ):
            yield Word("col", "", None, column, 0.7)


def _joined_names(units: Sequence[Unit], words: Vocabulary) -> Iterator[Word]:
    """Columns whose name runs words together, cut short or whole: ``lotsize``, ``brainwt``."""
    texts = [unit.text for unit in units]
    for parts, column in words.parts:
        name = str(column.name).lower()
        if len(parts) > 1 or len(name) < 5 or not name.isascii():
            continue
        short, one = name.removesuffix("name"), re.sub("ies$", "y", texts[0])
        if short != name and len(texts) == 1 and len(short) > 2 and _is_cut_short(short, one):
            yield Word("col", "", None, column, 1.0)  # the countries of ``ctryname``
        elif _runs_together(name, texts):
            yield Word("col", "", None, column, 0.8)
            if column.flags:
                yield Word("val", "", column.flags[0], column, 1.2)


def _runs_together(name: str, texts: Sequence[str]) -> bool:
    """Whether a name is made of two letters or more of each word, or of one without vowels."""
    first, *others = texts
    if not others:
        same = name[0] == first[0] and name[-1] == first[-1]
        cut = _is_cut_from(name, first)
        return same and cut and VOWELS.sub("", name) == VOWELS.sub("", first)
    ends = range(2, len(name) - 1)
    return any(
        _is_cut_short(name[:end], first)
        and (
            _is_cut_short(name[end:], others[0])
            if len(others) == 1
            else _runs_together(name[end:], others)
        )
        for end in ends
    )


def _is_cut_short(short: str, word: str) -> bool:
    """Whether a word is cut short: its beginning, or its first letter and consonants."""
    is_bare = not VOWELS.search(short[1:]) and _is_cut_from(short, word)
    return word.startswith(short) or is_bare


def _is_cut_from(short: str, word: str) -> bool:
    """Whether the letters are those of a word, in their order, from its first."""
    letters = iter(word)
    return short[0] == word[0] and all(letter in letters for letter in short)


def _longer_values(units: Sequence[Unit], words: Vocabulary) -> Iterator[Word]:
    """Values of several words that are cut short: ``AsstProf`` for "assistant professor"."""
    for parts, column, value in words.parts_of_values:
        if len(parts) == len(units) and all(map(_is_short_for, parts, units)):
            starts = all(u.stem.startswith(p) for p, u in zip(parts, units, strict=True))
            yield Word("val", "", value, column, 0.7 if starts else 0.9)


def _is_short_for(short: str, unit: Unit) -> bool:
    """Whether a word of three letters or more has its letters in the order of another."""
    is_cut = unit.text.isascii() and len(short) > 2 and _is_cut_from(short, unit.text)
    return unit.stem == short or is_cut


def _forms(text: str, words: Vocabulary) -> Iterator[Word]:
    """A verb made of a column's name, or an adjective made of a value."""
    stems = set(verb_stems(text))
    for parts, column in words.parts:
        family = word_family(text) if stem(text) not in parts else ""
        doers = {part for part in parts if len(family) > 3 and word_family(part) == family}
        doers |= {part for s in stems | {stem(text)} for part in parts if _does(part, s)}
        if doers or stems & {*parts, *(lexicon().short.get(part, part) for part in parts)}:
            yield Word("col", "", None, column, 2.4)
            if column.flags:
                yield Word("val", "", column.flags[0], column, 2.6)
    for phrase, column, value in words.values:
        root = phrase[0].rstrip("aeiouy") if len(phrase) == 1 else ""
        is_demonym = len(root) > 2 and any(
            text in (root + end, phrase[0] + end) for end in DEMONYMS
        )
        if is_demonym or (text.endswith("ed") and _is_event(phrase, text)):
            yield Word("val", "", value, column, 1.0)
        elif root.isascii() and 4 < len(phrase[0]) < len(text) - 3 and text.startswith(phrase[0]):
            yield Word(
                "val", "", value, column, 1.2
            )  # carni for carnivores, not north for northern


def _is_event(phrase: Phrase, verb: str) -> bool:
    """Whether a value is what happened to those who did something: "Retirement" and "retired"."""
    if len(phrase) != 1 or not OF_EVENTS.search(phrase[0]):
        return False
    noun, root = (word_family(word).rstrip("e") for word in (phrase[0], verb))
    return noun == root and len(root) > 3


def _does(doer: str, verb: str) -> bool:
    """Whether an owner is one who owns."""
    return len(verb) > 2 and doer in (f"{verb}er", f"{verb}{verb[-1]}er", f"{verb}or")


def unknown_words(spans: Sequence[PhraseSpan]) -> list[str]:
    """What means nothing; neighbours are named together."""
    runs: list[str] = []
    was_unknown = False
    for span in spans:
        if not span.meanings:
            glue = "" if re.match(f"[{HAN}]", span.text) else " "
            runs[-1:] = [f"{runs[-1]}{glue}{span.text}"] if was_unknown else [*runs[-1:], span.text]
        was_unknown = not span.meanings
    return runs


def readings(spans: Sequence[PhraseSpan]) -> Iterator[tuple[float, list[Word]]]:
    """The question with one meaning for each span, the likeliest first."""
    options = [span.meanings for span in spans]
    first = (0,) * len(options)
    penalty = sum(option[0].penalty for option in options)
    queue, seen = [(penalty, first)], {first}
    for _ in range(READINGS):
        if not queue:
            return
        penalty, choice = heapq.heappop(queue)
        yield penalty, [option[place] for option, place in zip(options, choice, strict=True)]
        for index, option in enumerate(options):
            place = choice[index] + 1
            if place < len(option):
                other = (*choice[:index], place, *choice[index + 1 :])
                if other not in seen:
                    seen.add(other)
                    step = option[place].penalty - option[place - 1].penalty
                    heapq.heappush(queue, (penalty + step, other))


# Slips.


def correct_spelling(text: str, words: Vocabulary) -> tuple[str, list[tuple[str, str]]]:
    """The text with slips of one letter mended, and which they were.

    A letter too many, one too few or two that changed places; another letter may be another word.
    """
    slips = []
    for span in read_spans(text, words):
        word = span.text
        if span.meanings or len(word) < 5 or not word.isascii() or not word.isalpha():
            continue
        near = {
            stem_: right
            for right, stem_ in words.long_words.items()
            if word not in (f"{right}r", f"{right}d")  # a server is no slip of "serve"
            and (
                _is_slip(word, right)
                or (len(word) > 5 and stem_ == right and _is_slip(stem(word), stem_))
            )
        }
        if len(near) == 1:
            slips.append((word, next(iter(near.values()))))
    for slip, right in slips:
        text = re.sub(rf"(?i)(?<![a-z]){re.escape(slip)}(?![a-z])", right, text)
    return text, slips


def without_asides(text: str, words: Vocabulary) -> str:
    """The text in plainer words.

    Unknown words that a value in brackets behind them explains are left out, as in "Newark (EWR)",
    and 加班总时长 is the 总加班时长.
    """
    if RANGE.search(text):
        text = INCLUDED.sub(" ", text)  # as the ends of a range are
    text = _with_conditions(text, words)
    for found in GLOSS.finditer(text):
        inner = read_spans(found[1], words)
        if len(inner) != 1 or not any(w.kind in ("val", "col") for w in inner[0].meanings):
            continue
        before = read_spans(text[: found.start()], words)
        columns = {word.column for word in inner[0].meanings if word.kind == "col" and word.column}
        if before and columns & {word.column for word in before[-1].meanings}:
            return without_asides(f"{text[: found.start()]} {text[found.end() :]}", words)
        plain = _without_gloss(text[: found.start()].rstrip(), words)
        glossed = read_spans(plain, words)[-1:]
        is_name = any(str(c.name).lower() == found[1].strip().lower() for c in columns)
        if is_name and glossed and {w.kind for w in glossed[0].meanings} == {"col"}:
            plain = plain[: -len(glossed[0].text)].rstrip()  # another column is meant
        text = f"{plain} {text[found.start() :]}"
        break
    names = [p for p, known in words.index.items() if any(w.kind == "col" for w in known)]
    for name in map("".join, names):
        if len(name) > 3 and re.fullmatch(f"[{HAN}]+", name):
            text = re.sub(f"{name[:-2]}(的?总|的|的?平均)({name[-2:]})", rf"\1{name}", text)
    return text


def _with_conditions(text: str, words: Vocabulary) -> str:
    """The text with conditions in brackets as conditions: "arrested (arrest = 1)"."""
    for found in reversed(list(CONDITION.finditer(text))):
        column = _column_named(found[1], words)
        if column is not None:
            plain = _without_what_is_meant(text[: found.start()].rstrip(), column, words)
            text = f"{plain} with {found[1]} {found[2]} {text[found.end() :]}"
    return text


def _column_named(name: str, words: Vocabulary) -> Column | None:
    """The column that a text names, if it does that alone."""
    spans = read_spans(name, words)
    found = [word.column for span in spans for word in span.meanings if word.kind == "col"]
    return found[0] if len(spans) == 1 and found else None


def _without_what_is_meant(text: str, column: Column, words: Vocabulary) -> str:
    """The text without the words at its end that say what a condition of the column says."""
    while spans := read_spans(text, words):
        kinds = {word.kind for word in spans[-1].meanings}
        is_said = column in [word.column for word in spans[-1].meanings]
        if "row" in kinds or not (not kinds or is_said or kinds & {"not", "no"}):
            break
        text = text[: -len(spans[-1].text)].rstrip()
    return text


def _without_gloss(text: str, words: Vocabulary) -> str:
    """The text without the unknown words at its end, and a "type" or "level" behind them."""
    while spans := read_spans(text, words):
        known = spans[-1].meanings
        is_noun = any(word.kind == "thiscol" for word in known)
        if known and not (is_noun and len(spans) > 1 and not spans[-2].meanings):
            break
        text = text[: -len(spans[-1].text)].rstrip()
    return text


def _long_words(texts: Iterable[str]) -> dict[str, str]:
    """The English words of five letters or more, and their stems."""
    units = [unit for text in texts for unit in units_of(text)]
    return {u.text: u.stem for u in units if len(u.text) > 4 and u.text.isascii()}


@cache
def _own_words() -> dict[str, str]:
    return _long_words(" ".join(phrase) for phrase in lexicon().senses)


def _written(words: Vocabulary) -> Iterator[str]:
    for phrase in words.index:
        yield " ".join(phrase)
        yield f"{phrase[-1].removesuffix('i')}{'ies' if phrase[-1].endswith('i') else 's'}"
    for column in words.frame.columns:
        yield CAMEL.sub(" ", str(column.name))


def _is_slip(word: str, right: str) -> bool:
    if abs(len(word) - len(right)) > 1 or word == right:
        return False
    if len(word) < 6 and len(word) != len(right):
        return False  # "banks" are no "blanks"
    longer, shorter = (word, right) if len(word) > len(right) else (right, word)
    if len(longer) > len(shorter):
        return any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
    return any(
        word[:i] + word[i + 1] + word[i] + word[i + 2 :] == right for i in range(len(word) - 1)
    )
