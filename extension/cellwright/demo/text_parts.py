"""Rows whose text holds or begins with a word: "have 'Intl' in their name", 姓王的."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cellwright.demo.columns import Column
from cellwright.demo.lexicon import HAN, phrase_of
from cellwright.demo.phrases import NAME
from cellwright.demo.query import PartOfText
from cellwright.demo.reading import Vocabulary, vocabulary

QUOTED = r"[\"'“‘「](?P<quoted>[^\"'“”‘’「」]+)[\"'”’」]"
THE_WORD = r"\s+(?:the (?:word|letters?) )?"
IN_THE_COLUMN = re.compile(
    rf"\b(?:have|has|having|with|contain(?:s|ing)?|includes?|including){THE_WORD}"
    rf"(?:{QUOTED}|(?P<word>[A-Z][\w&.-]*))\s+in\s+(?:the|their|its|his|her)\s+"
    r"(?P<column>\w+(?: \w+)?)"
)
"""A word without quotation marks begins with a capital: "more in their account" is no text."""
BEHIND_THE_COLUMN = (
    re.compile(
        r"\s+(?:contain(?:s|ing)?|includes?|including|(?P<start>(?:start|begin)(?:s|n?ing)? with))"
        rf"{THE_WORD}(?:{QUOTED}|(?P<word>[\w&.-]+))"
    ),
    re.compile(
        rf"(?:[里中]?(?:包含|含有)|[里中][有带])(?:{QUOTED}|(?P<word>\w+?))(?:字|一词)?(?:的|(?=$|[，,？?]))"
    ),
    re.compile(rf"(?P<start>以)(?:{QUOTED}|(?P<word>\w+?))开头的?"),
)
SURNAME = re.compile(f"姓(?!名|氏)(?P<word>[{HAN}])的?")


def with_text_parts(words: Vocabulary, sentences: Sequence[str]) -> Vocabulary:
    """The vocabulary with what the sentences say of parts of texts."""
    found = tuple(part for sentence in sentences for part in _parts(sentence, words))
    return vocabulary(words.frame, (*words.found, *found)) if found else words


def _parts(text: str, words: Vocabulary) -> Iterator[tuple[Column, PartOfText]]:
    for match in IN_THE_COLUMN.finditer(text):
        said, name = match[0], match["column"]
        column = _column(name, words)
        if column is None and " " in name:
            column, said = _column(name.split()[0], words), said.rpartition(" ")[0]
        if column is not None:
            yield column, _part(said, match)
    for pattern in BEHIND_THE_COLUMN:
        for match in pattern.finditer(text):
            name, column = _before(text[: match.start()], words)
            if column is not None:
                yield column, _part(name + match[0], match)
    names = [c for c in words.frame.of_kind("text") if NAME.search(str(c.name))]
    for match in SURNAME.finditer(text):
        if len(names) == 1:
            yield names[0], PartOfText(match[0], match["word"], at_start=True)


def _part(said: str, match: re.Match[str]) -> PartOfText:
    found = match.groupdict()
    return PartOfText(said, found["quoted"] or found["word"], at_start=bool(found.get("start")))


def _before(text: str, words: Vocabulary) -> tuple[str, Column | None]:
    """The column that a text ends with, as it is called there."""
    for name in re.findall(rf"(?=((?:\b[\w.]+(?: [\w.]+){{0,2}}|[{HAN}]{{1,6}})$))", text):
        column = _column(name, words)
        if column is not None:
            return name, column
    return "", None


def _column(name: str, words: Vocabulary) -> Column | None:
    """The one column of text that is called so; a part of its name may be the rows'."""
    found = [w for w in words.index.get(phrase_of(name), ()) if w.kind == "col" and w.penalty < 1]
    likeliest = [w.column for w in found if w.penalty == min(each.penalty for each in found)]
    one = likeliest[0] if len(likeliest) == 1 else None
    return one if one is not None and one.reads_as == "text" else None
