"""A question's words, English or Chinese, as tokens: each with a meaning, or with none."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from pathlib import Path
from typing import Any

from cellwright.demo.columns import Column, TableColumns

Phrase = tuple[str, ...]
Meaning = tuple[str, Any]

WORDS = Path(__file__).parent / "data" / "words.txt"
BUCKETS = ("weekday", "month", "quarter", "week", "year", "day", "hour", "hour_of_day")
DIGITS = "one 一|two 两 二|three 三|four 四|five 五|six 六|seven 七|eight 八|nine 九|ten 十"
NUMBERS = {
    word: number for number, words in enumerate(DIGITS.split("|"), 1) for word in words.split()
}
UNITS = frozenset(
    ["mm", "cm", "m", "km", "g", "kg", "lb", "lbs", "in", "inch", "inches", "usd", "eur", "pct"]
    + ["percent", "deg", "c", "f", "mi", "s", "ms"]
)
ATOM = re.compile(
    r"\d{4}-\d{1,2}(?:-\d{1,2})?(?!\d)|\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!\d)|\d+(?:\.\d+)?"
    r"|[^\W\d_\u3400-\u9fff]+|[\u3400-\u9fff]|[<>!=]=|°[a-zA-Z]|[^\w\s]"
)
QUOTED = re.compile(r"[\"“'‘`]([^\"”“'’`\n]+)[\"”'’`]")
HAN = re.compile(r"[\u3400-\u9fff]")
JOINERS = frozenset("'’`-_\"“”*:()（）[]：")
WEAK = frozenset(
    ["yes", "no", "true", "false", "none", "a", "i", "other", "all", "first", "second", "third"]
    + ["last", "high", "low", "total", "may"]
)
"""Values that are words of other uses: they count only beside the name of their column."""
PLAIN_KINDS = frozenset(["", "noun", "row", "load", "about", "day_of_week", "month_of_year"])
"""Words of these kinds that are values too are taken for values."""
IDENTIFIER_WORDS = frozenset(["id", "no", "nr", "number", "code", "key", "编", "号"])
ROW_SHARE = 0.95
"""As many different values make a column the number of a row; a few rows may be repeated."""
NAMING_WORDS = IDENTIFIER_WORDS | {"name", "title", "名", "称", "姓"}
ASKING = (("is",), ("has",), ("was",), ("是", "否"))
FOREIGN = frozenset(
    [
        "wie",
        "viele",
        "vielen",
        "welche",
        "welcher",
        "der",
        "die",
        "das",
        "eine",
        "und",
    ]
    + [
        "sind",
        "für",
        "von",
        "quel",
        "quelle",
        "quels",
        "est",
        "sont",
        "le",
        "la",
        "les",
        "des",
        "du",
    ]
    + ["une", "combien", "pour", "et", "el", "los", "las", "cuál", "cuántos", "es", "en", "quanti"]
)
"""Little words of other languages; two of them make a question one of theirs."""
OTHER_SCRIPTS = re.compile(r"[\u3040-\u30ff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff]")
PERSONAL = frozenset(["sex", "gender", "salary", "性别", "姓名", "薪资", "工资"])
"""Rows with one of these, and an age, are people."""
ENDS = frozenset(["max", "min", "avg", "mean", "total", "maximum", "minimum", "average"])
GROUPS = ("noun", "person", "alias", "same")
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
DATE_WORDS = frozenset(["date", "time", "timestamp", "datetime", "day", "at", "on"])
LITTLE_WORDS = frozenset(
    ["a", "i", "an", "who", "what", "which", "in", "is", "of", "on", "at", "to", "by", "and"]
    + ["for", "are"]
)
"""Names of columns that are words of other uses."""


@dataclass(frozen=True)
class Token:
    """Some words and what they mean."""

    kind: str
    """``word`` where they mean nothing."""
    text: str
    value: Any = None
    place: int = -1
    """Which of the question's tokens it is."""
    unit: str = ""
    """What a number is said to be of, such as dollars."""


@dataclass(frozen=True)
class _Atom:
    text: str
    start: int
    end: int


def is_chinese(text: str) -> bool:
    """Whether a question is to be answered in Chinese."""
    return bool(HAN.search(text))


def is_foreign(text: str) -> bool:
    """Whether a question is in neither English nor Chinese, by its little words."""
    words = re.findall(r"[^\W\d_]+", text.lower())
    return sum(word in FOREIGN for word in words) > 1 or bool(OTHER_SCRIPTS.search(text))


def has_unit(column: Column, unit: str) -> bool:
    """Whether numbers of a column can be of a unit: its name says no other one."""
    words = set(_split(str(column.name))) | set(re.findall("[$€£¥%]", str(column.name)))
    kind, value = _lexicon().phrases.get(_atoms_of(unit), ("", ""))
    said = {w for w in words if _lexicon().phrases.get((w,), ("",))[0] == "unit"}
    if value == "age":
        return "age" in words or "年" in str(column.name)
    return not said or unit.lower() in said


def time_unit(text: str) -> str:
    """The unit of time that a word means where it is no value."""
    kind = _lexicon().phrases.get(_atoms_of(text), ("", None))[0]
    return kind if kind in BUCKETS else ""


def is_only_part(text: str, column: Column) -> bool:
    """Whether words are of a column's name without what it is a name for: "room" of room_type."""
    words, key = _split(str(column.name)), _atoms_of(text)
    while len(words) > 1 and words[-1] in NAMING_WORDS:
        words.pop()
    ends = [key_ for start in range(len(words)) for key_ in _inflected(tuple(words[start:]))]
    return key in _parts(words) and key not in ends


def read_tokens(
    text: str, frame: TableColumns, found: Iterable[tuple[Column, str]] = ()
) -> list[Token]:
    """The words of a question with what they mean for a table.

    Args:
        text: One sentence.
        frame: The table.
        found: Values of its columns beside those that the look at it showed.
    """
    phrases = _phrases(frame, found)
    tokens: list[Token] = []
    quotes = {match.start(): match for match in QUOTED.finditer(text)}
    atoms = [
        _Atom(match[0].lower(), match.start(), match.end())
        for match in ATOM.finditer(text)
        if match[0] not in JOINERS
    ]
    place = 0
    while place < len(atoms):
        length, meaning = _longest(atoms, place, phrases)
        start, end = atoms[place].start, atoms[place + length - 1].end
        quoted = start - 1 in quotes and quotes[start - 1].end() - 1 == end
        words = text[start:end]
        kind, value = meaning or _plain(atoms[place].text)
        if kind == "weak" and quoted:
            kind = "value"
        tokens.append(Token(kind, words, value, len(tokens)))
        place += length
    return _joined(tokens)


def correct_spelling(
    text: str, frame: TableColumns, found: Iterable[tuple[Column, str]]
) -> tuple[str, list[tuple[str, str]]]:
    """A sentence with its slips of the keyboard put right, and which they were.

    A slip is two letters in the wrong order, a letter doubled or not, or in a long word one
    letter too many or too few, where that leaves one known word.
    """
    known = {word for key in _phrases(frame, found) for word in key if len(word) > 3}
    slips = []
    for token in read_tokens(text, frame, found):
        word = token.text.lower()
        if token.kind == "word" and word not in known and re.fullmatch("[a-z]{5,}", word):
            near = {other for other in known if _is_slip(word, other)}
            if len(near) == 1 or len({other.rstrip("s") for other in near}) == 1:
                slips.append((token.text, min(near)))
                text = re.sub(rf"\b{token.text}\b", min(near), text)
    return text, slips


def _is_slip(word: str, other: str) -> bool:
    """Whether one hand could have meant the other word."""
    if word[0] != other[0]:
        return False
    if len(word) == len(other):
        wrong = [place for place in range(len(word)) if word[place] != other[place]]
        return wrong[1:] == [wrong[0] + 1] and sorted(word) == sorted(other)
    longer, shorter = sorted((word, other), key=len, reverse=True)
    if len(longer) - len(shorter) != 1 or longer == f"{shorter}s":
        return False
    lost = [p for p in range(1, len(longer) - 1) if longer[:p] + longer[p + 1 :] == shorter]
    return any(len(word) > 6 or longer[p] == longer[p - 1] for p in lost)


def _longest(
    atoms: list[_Atom], place: int, phrases: Mapping[Phrase, Meaning]
) -> tuple[int, Meaning | None]:
    for length in range(min(12, len(atoms) - place), 0, -1):
        meaning = phrases.get(tuple(atom.text for atom in atoms[place : place + length]))
        if meaning is not None:
            if length == 1 and meaning[0] == "col" and not _is_named(atoms, place):
                meaning = _lexicon().phrases[(atoms[place].text,)]
            return length, meaning
    return 1, None


def _is_named(atoms: list[_Atom], place: int) -> bool:
    """Whether a column called "a" or "who" is meant, and not the little word."""
    if atoms[place].text not in LITTLE_WORDS:
        return True
    before = atoms[place - 1].text if place else ""
    after = atoms[place + 1].text if place + 1 < len(atoms) else "?"
    return before in ("of", "by", "column", "and") and after in LITTLE_WORDS | {"?", ".", ","}


def _plain(atom: str) -> tuple[str, Any]:
    bare = atom.replace(",", "")
    if re.fullmatch(r"\d+(\.\d+)?", bare):
        return "number", float(bare) if "." in bare else int(bare)
    if re.fullmatch(r"\d{4}-\d{1,2}(-\d{1,2})?", atom):
        return "date", atom
    if atom in NUMBERS:
        return "number", NUMBERS[atom]
    return ("end", None) if re.fullmatch(r"[.?!;。？！；，,]", atom) else ("word", None)


def _joined(tokens: list[Token]) -> list[Token]:
    """Neighbouring Chinese characters without a meaning are one word."""
    joined: list[Token] = []
    for token in tokens:
        last = joined[-1] if joined else Token("", "")
        text = last.text + token.text
        if last.kind == token.kind == "word" and HAN.match(token.text) and HAN.match(last.text):
            joined[-1] = replace(last, text=text)
        elif last.kind == "number" and token.kind == "magnitude":
            number = last.value * int(token.value)
            joined[-1] = replace(last, text=text, value=round(number, 6), kind="number")
        elif last.kind == "number" and token.kind == "unit":
            joined[-1] = replace(last, unit=token.text)
        elif last.kind == "unit" and last.value == "currency" and token.kind == "number":
            joined[-1] = replace(token, unit=last.text, place=last.place)
        else:
            joined.append(replace(token, place=len(joined)))
    alone = ("unit", "magnitude")
    return [replace(token, kind="word") if token.kind in alone else token for token in joined]


def _atoms_of(phrase: str) -> tuple[str, ...]:
    return tuple(a.lower() for a in ATOM.findall(phrase) if a not in JOINERS)


@dataclass(frozen=True)
class _Lexicon:
    """The file of words, read."""

    phrases: Mapping[Phrase, Meaning]
    groups: Mapping[str, tuple[tuple[str, ...], ...]]
    """Words of which each may stand for the others, by what they name."""
    short: Mapping[str, tuple[str, ...]]
    """Parts of names that are cut short, and the words."""

    def pairs(self, kind: str) -> list[tuple[str, str]]:
        """Each word of a kind with each other word of its group."""
        return [pair for group in self.groups[kind] for pair in permutations(group, 2)]


@cache
def _lexicon() -> _Lexicon:
    phrases: dict[Phrase, Meaning] = {}
    groups: dict[str, list[tuple[str, ...]]] = {kind: [] for kind in GROUPS}
    short: dict[str, tuple[str, ...]] = {}
    for line in WORDS.read_text("utf-8").splitlines():
        head, mark, words = line.partition(": ")
        kind, _, value = head.partition(" ")
        listed = words.split("|")
        if kind in groups:
            groups[kind].append(tuple(listed))
        elif kind == "short":
            short |= {each.split()[0]: tuple(each.split()[1:]) for each in listed}
        elif mark and kind != "#":
            phrases |= {_atoms_of(word): (kind, value) for word in listed}
    return _Lexicon(phrases, {kind: tuple(found) for kind, found in groups.items()}, short)


def same_values(text: str) -> str:
    """Other names of what a text names, such as "japan" for a text in Chinese."""
    # Chinese has no spaces between words; a Latin word must stand alone ("man" is not in "many").
    alone = set(re.findall(r"[^\W\d_]+", text.lower()))
    return " ".join(
        other
        for word, other in _lexicon().pairs("same")
        if (word in text if HAN.search(word) else word in alone)
    )


def _phrases(frame: TableColumns, found: Iterable[tuple[Column, str]]) -> dict[Phrase, Meaning]:
    """All phrases; a column goes before a value, and both before the lexicon."""
    phrases = dict(_lexicon().phrases)
    names = _names(frame)
    for noun in {*_nouns(frame), *_events(frame, names)} - _repeated(frame):
        phrases.setdefault(noun, ("noun", None))
    for key, columns in names.partial.items():
        rows = [c for c in columns if c.is_identifier and c.unique == frame.rows]
        if len(columns) == 2 and len(rows) == 1:
            columns = [c for c in columns if c not in rows]
        if phrases.get(key, ("row",))[0] == "row" and key not in names.whole:
            phrases[key] = _column(columns)
    for key, meant in _values(frame, found).items():
        little = len(key) == 1 and len(key[0]) == 1 and not HAN.match(key[0])
        known = phrases.get(key, ("", None))[0]
        is_word = len(key) == 1 and key[0] in WEAK
        is_filler = known == "fill" and sum(map(len, key)) == 1
        if not _is_number(key) and (is_word or not is_filler):
            weak = little or is_word or known not in ("col", "several", *PLAIN_KINDS)
            phrases[key] = ("weak" if weak else "value", tuple(meant))
    for key, columns in names.whole.items():
        exact = any(key in (_atoms_of(str(c.name)), tuple(_split(str(c.name)))) for c in columns)
        # "Per hour" can be a column of hours or the hour of a date.
        dates = () if exact or phrases.get(key, ("",))[0] not in BUCKETS else frame.of_kind("date")
        phrases[key] = _column([*columns, *dates])
    return phrases


def _column(columns: list[Column]) -> Meaning:
    return ("col", columns[0]) if len(columns) == 1 else ("several", columns)


def _values(
    frame: TableColumns, found: Iterable[tuple[Column, str]]
) -> dict[Phrase, list[tuple[Column, str]]]:
    """What names values, and of which columns."""
    values: dict[Phrase, list[tuple[Column, str]]] = {}
    shown = [(column, value) for column in frame.columns for value in column.values]
    for pair in dict.fromkeys([*shown, *found]):
        for key in _inflected(_atoms_of(pair[1])):
            values.setdefault(key, []).append(pair)
    named = dict(values)
    for word, other in _lexicon().pairs("same"):
        same = [
            pair
            for pair in named.get(_atoms_of(other), ())
            if not _is_weekday(word) or sum(map(_is_weekday, pair[0].values)) > 1
        ]
        if same:
            values.setdefault(_atoms_of(word), same)
    return values


def _is_weekday(text: str) -> bool:
    days = [group for group in _lexicon().groups["same"] if group[1:2] and group[1] in WEEKDAYS]
    return any(text.lower() in group for group in days) or text.lower() in WEEKDAYS


def _is_number(key: Phrase) -> bool:
    return len(key) == 1 and key[0].replace(".", "").isdigit()


def _nouns(frame: TableColumns) -> Iterator[Phrase]:
    """What rows of the table may be called, if no column is called so."""
    table = re.sub(r"\d+$", "", frame.name.lower().removesuffix("_typed").removesuffix("_sample"))
    taken = {word for column in frame.columns for word in _split(str(column.name))}
    called = [
        noun
        for nouns in _lexicon().groups["noun"]
        if any(word in table for word in nouns)
        for noun in nouns
    ]
    words = set(taken) | {str(column.name) for column in frame.columns}
    if words & {"age", "年龄"} and words & PERSONAL and not words & {"order", "sale", "visit"}:
        called += [word for group in _lexicon().groups["person"] for word in group]
    for column in frame.columns:
        # Rows are what the column that numbers them is called after, such as order_id.
        if column.is_identifier and column.unique == frame.rows:
            named = tuple(w for w in _split(str(column.name)) if w not in IDENTIFIER_WORDS)
            yield from (key for key in _inflected(named) if named)
    heads = {key for c in frame.columns for key in _inflected(_head(str(c.name)))}
    if _is_panel(frame):
        return  # a row is not a stock, but what one stock was on one day
    for key in _inflected(_atoms_of(table.rpartition("_")[2])):
        if key not in heads:
            yield key
    for word in [table, *table.split("_"), *called]:
        for key in _inflected(_atoms_of(word)):
            if not set(key) & taken:
                yield key


def _is_panel(frame: TableColumns) -> bool:
    """Whether the table has a row for each thing and time, or nearly."""
    if any(c.is_identifier and c.unique > 0.9 * frame.rows for c in frame.columns):
        return False
    times = [
        c for c in frame.columns if c.reads_as == "date" or str(c.name).lower() in ("year", "年份")
    ]
    pairs = [
        time.unique * c.unique for time in times for c in frame.of_kind("text") if c.unique > 1
    ]
    return any(0.8 * frame.rows <= pair <= 1.25 * frame.rows for pair in pairs if frame.rows > 12)


def _repeated(frame: TableColumns) -> set[Phrase]:
    """What has a number that rows share: an order of which each row is a part is no row."""
    shared = [c for c in frame.columns if c.is_identifier and c.unique < frame.rows * ROW_SHARE]
    words = [[w for w in _split(str(c.name)) if w not in IDENTIFIER_WORDS] for c in shared]
    return {key for each in words for key in _inflected(tuple(each))}


def _head(name: str) -> Phrase:
    """The word that a column's name is about: type of room_type, room of room_id."""
    words = _split(name)
    while len(words) > 1 and words[-1] in NAMING_WORDS - IDENTIFIER_WORDS:
        words.pop()
    return (words[-1],) if words else ()


def _events(frame: TableColumns, names: _ColumnNames) -> Iterator[Phrase]:
    """Rows are what has its date in every row, such as arrivals for arrival_date."""
    dates = frame.of_kind("date")
    words = _split(str(dates[0].name)) if len(dates) == 1 and not dates[0].missing else []
    if len(words) > 1 and words[-1] in DATE_WORDS:
        for key in _inflected(tuple(words[:-1])):
            if key != tuple(words[:-1]) and names.partial.get(key) == [*dates]:
                yield key


def _split(name: str) -> list[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    return [atom.lower() for atom in ATOM.findall(spaced.replace("_", " ")) if atom not in JOINERS]


@dataclass(frozen=True)
class _ColumnNames:
    whole: dict[tuple[str, ...], list[Column]]
    partial: dict[tuple[str, ...], list[Column]]


def _names(frame: TableColumns) -> _ColumnNames:
    names = _ColumnNames({}, {})
    for column in frame.columns:
        words = _split(str(column.name))
        bare = [word for word in words if word not in UNITS] or words
        long = _lengthen(bare)
        whole = [_atoms_of(str(column.name)), tuple(words), tuple(long)]
        if column.is_flag:  # "returned" of is_returned, 退货 of 是否退货
            whole += [tuple(words[len(p) :]) for p in ASKING if tuple(words[: len(p)]) == p]
        whole += [
            key[::-1] for key in (tuple(bare), tuple(long)) if len(key) == 2 and key[1] in ENDS
        ]
        for key in dict.fromkeys(key for words in whole for key in _inflected(words)):
            names.whole.setdefault(key, []).append(column)
        for part in {*(() if "capita" in long else _parts(bare)), *_parts(long)}:
            if column not in names.partial.setdefault(part, []):
                names.partial[part].append(column)
    named = {**names.partial, **names.whole}
    for word, other in _lexicon().pairs("alias"):
        same = named.get(_atoms_of(other))
        if same and _atoms_of(word) not in named:
            found = names.whole.setdefault(_atoms_of(word), [])
            found += [column for column in same if column not in found]
    return names


def _lengthen(words: Sequence[str]) -> list[str]:
    """The words of a name in full: body weight for bodywt, years service for yrs.service."""
    short = _lexicon().short
    found: list[str] = []
    for word in words:
        end = next((s for s in short if len(s) < len(word) - 2 and word.endswith(s)), "")
        is_cut = end in ("wt", "percap", "exp")
        found += short.get(word) or ((word.removesuffix(end), *short[end]) if is_cut else (word,))
    return found


def _parts(words: list[str]) -> Iterator[Phrase]:
    """Neighbouring words of a name, three letters or more together."""
    for start in range(len(words)):
        for end in range(start + 1, len(words) + 1):
            part = tuple(words[start:end])
            is_total = "capita" in words[end:]  # gdp is not gdp per capita
            if not is_total and sum(map(len, part)) > (1 if HAN.match(part[0]) else 2):
                yield from _inflected(part)


def _inflected(key: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A phrase with its last word in the singular and the plural."""
    if not key or not key[-1].isalpha() or HAN.match(key[-1]) or len(key[-1]) < 3:
        return [key] if key else []
    word = key[-1]
    forms = [word, f"{word}s"]
    if word.endswith(("s", "x", "ch", "sh")):
        forms.append(f"{word}es")
    if word.endswith("y"):
        forms.append(f"{word[:-1]}ies")
    if word.endswith("e"):
        forms.append(f"{word}d")
    if word.endswith("ed"):
        forms.append(word[:-1])
    elif not word.endswith("s"):
        forms.append(f"{word}ed")
    if word.endswith("ies"):
        forms.append(f"{word[:-3]}y")
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        forms.append(word[:-1])
    return [(*key[:-1], form) for form in forms]
