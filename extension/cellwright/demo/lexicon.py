"""Words with a meaning of their own, and how words are compared: by their stems, whatever the case.

``data/words.txt`` lists them, ``data/sentences.toml`` what is said. Nothing here knows a table.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache
from pathlib import Path

WORDS_FILE = Path(__file__).parent / "data" / "words.txt"
SENTENCES_FILE = WORDS_FILE.with_name("sentences.toml")
HAN = r"\u3400-\u9fff"
LATIN = r"a-zà-öø-ÿā-ž"
UNIT = re.compile(
    rf"\d+0['’]?s\b|\d{{4}}[-/]\d{{1,2}}(?:[-/]\d{{1,2}})?(?![\d/-])|\d[\d,]*\.\d+|\d{{1,3}}(?:,\d{{3}})+|\d+"
    rf"|[{LATIN}]+\d*(?:'[{LATIN}]+)?|[{HAN}]|>=|<=|!=|==|[<>=%$€£¥℃°&,;、~]|[-–](?=\s?\d)"
)
NOT = re.compile(r"(\w)n['’]t\b", re.I)
IRREGULAR = {
    "men": "man",
    "women": "woman",
    "children": "child",
    "people": "person",
    "feet": "foot",
    "data": "data",
}
Phrase = tuple[str, ...]
HOW_MUCH_IT_IS = [
    f"{verb} {who}"
    for verb in ("is", "was", "are", "were")
    for who in ("it", "they", "that", "that person")
]
"""What may stand behind "how tall" when it is asked of what the question has found."""
SETS = ("suffix", "idword", "noname", "nonoun", "person")


@dataclass(frozen=True)
class Unit:
    """A word, a Chinese character, a number or a sign of a question."""

    stem: str
    text: str
    start: int


@dataclass(frozen=True)
class Sense:
    """One meaning of a phrase."""

    kind: str
    value: str = ""
    penalty: float = 1.0
    """How far-fetched it is; the likeliest reading of a question has the smallest sum."""


@dataclass
class Lexicon:
    """What ``words.txt`` says."""

    senses: dict[Phrase, list[Sense]] = field(default_factory=dict)
    aliases: list[list[Phrase]] = field(default_factory=list)
    """Names of columns that mean the same."""
    same: list[list[Phrase]] = field(default_factory=list)
    """Values that mean the same."""
    opposites: list[list[Phrase]] = field(default_factory=list)
    """What a flag is called, and what its no is."""
    nouns: list[tuple[list[Phrase], list[Phrase]]] = field(default_factory=list)
    """What rows are called: columns that point to it, and the words."""
    events: dict[str, list[Phrase]] = field(default_factory=dict)
    """What is said of rows that a date is called by."""
    short: dict[str, str] = field(default_factory=dict)
    sets: dict[str, set[str]] = field(default_factory=dict)
    """Single words by what they are good for, such as ``suffix``."""

    @cached_property
    def groups_of(self) -> dict[Phrase, list[int]]:
        """In which groups of ``aliases`` a name stands."""
        found: dict[Phrase, list[int]] = {}
        for place, group in enumerate(self.aliases):
            for name in dict.fromkeys(group):
                found.setdefault(name, []).append(place)
        return found


@cache
def lexicon() -> Lexicon:
    """The words, read once."""
    found = Lexicon()
    for place, line in enumerate(WORDS_FILE.read_text("utf-8").splitlines()):
        head, mark, tail = line.partition(": ")
        if not mark or line.startswith("#"):
            continue
        kind, _, value = head.partition(" ")
        words = [phrase_of(text) for text in tail.split("|") if text]
        if kind == "short":
            pairs = tail.replace("|", " ").split()
            found.short |= dict(zip(pairs[::2], map(stem, pairs[1::2]), strict=True))
        elif kind in SETS:
            found.sets.setdefault(kind, set()).update("".join(phrase) for phrase in words)
        elif kind in ("alias", "same", "opposite"):
            groups = {"alias": found.aliases, "same": found.same, "opposite": found.opposites}
            groups[kind].append(words)
        elif kind == "event":
            found.events[stem(value)] = words
        elif kind == "noun":
            found.nouns.append(([phrase_of(hint) for hint in value.split("|")], words))
        else:
            if kind == "howmuch":  # "and how tall are they"
                words += [(*phrase, *phrase_of(end)) for phrase in words for end in HOW_MUCH_IT_IS]
            for phrase in words:
                sense = Sense(kind, value, 1 + place / 10_000)
                found.senses.setdefault(phrase, []).append(sense)
    return found


@cache
def _sentences() -> dict[str, list[str]]:
    return tomllib.loads(SENTENCES_FILE.read_text("utf-8"))


_in_chinese: ContextVar[bool] = ContextVar("in_chinese", default=False)


@contextmanager
def answering(question: str) -> Iterator[None]:
    """Let all that is said meanwhile be in the question's language."""
    before = _in_chinese.set(is_chinese(question))
    try:
        yield
    finally:
        _in_chinese.reset(before)


def in_chinese() -> bool:
    """Whether the question that is answered is Chinese."""
    return _in_chinese.get()


def say(name: str, /, **parts: object) -> str:
    """What ``sentences.toml`` has under a name, with its parts, in the question's language."""
    return _sentences()[name][in_chinese()].format(**parts)


def units_of(text: str) -> list[Unit]:
    """The words and signs of a text, in small letters."""
    plain = unicodedata.normalize("NFKC", text)
    lowered = NOT.sub(r"\1n t", plain).lower().replace("’", "'").replace("_", " ")
    found = []
    for match in UNIT.finditer(lowered):
        word = match[0].removesuffix("'s").removesuffix("'")
        for part in word.split("'"):
            found.append(Unit(stem(part), part, match.start()))
    return found


@lru_cache(maxsize=50_000)
def phrase_of(text: str) -> Phrase:
    """A text as stems; remembered, as a question compares each word with each value of a table."""
    return tuple(unit.stem for unit in units_of(text))


def stem(word: str) -> str:
    """A word without the ending of its plural; singular and plural have one stem."""
    word = IRREGULAR.get(word, word)
    if not word.isascii() or not word.isalpha() or len(word) < 3:
        return word
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    if len(word) > 3 and re.search(r"(?:[sxzi]|ch|sh)e$", word):
        word = word[:-1]
    return f"{word[:-1]}i" if len(word) > 2 and word.endswith("y") else word


def verb_stems(word: str) -> Iterator[str]:
    """What a word may be the past or the doer of: "shipped" of "ship", "smoker" of "smoke"."""
    for ending in ("ed", "ing", "er", "d", "ely"):
        root = word.removesuffix(ending)
        if root != word and len(root) > 2:
            yield stem(root)
            if root[-1] == root[-2]:
                yield stem(root[:-1])
            yield stem(f"{root}e")


ENDINGS = re.compile(r"(?:ations?|ions?|ments?|ances?|ences?|als?|ees?|ers?|ors?|ed|ing|es|s|e)$")


def word_family(word: str) -> str:
    """What words of one family have in common: "renew" of "renewed" and of "renewals"."""
    return ENDINGS.sub("", word)


def is_chinese(text: str) -> bool:
    """Whether a text is answered in Chinese."""
    han = len(re.findall(f"[{HAN}]", text))
    words = len(re.findall(r"[A-Za-z]+", text))
    return han > words


def is_foreign(text: str) -> bool:
    """Whether a text is in neither language."""
    letters = [letter for letter in text if letter.isalpha()]
    strange = [c for c in letters if not re.match(f"[A-Za-zÀ-ÿ{HAN}]", c)]
    return len(strange) * 2 > len(letters) > 0


def joined(units: list[Unit]) -> str:
    """Units as they were written, roughly."""
    text = ""
    for unit in units:
        gap = "" if not text or re.match(f"[{HAN}]", unit.text) else " "
        text += gap + unit.text
    return text
