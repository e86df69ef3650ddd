"""Typed results, as far as an answer in words holds them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.demo.answers import number
from cellwright.demo.lexicon import lexicon, units_of
from cellwright.llm.signatures import Field

LEFT_IN = re.compile(r"(?:\b(?:is|are) in|结果在) `(\w+)`")
BOLD = re.compile(r"\*\*(.+?)\*\*")
NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")
EXACT = re.compile(r"-?\d+(?:\.\d+)?(?:e[-+]?\d+)?")
NAMED = re.compile(r"\*\*(?!-?[\d.,]+ ?%?\*\*)([^*\n]+)\*\* (?:is|has) ")
"""An answer that begins with a name that was looked for."""
ANY_NUMBER = frozenset(["n", "x", "y", "number", "value", "result", "answer", "count", "total"])
"""Stems of names that say nothing of what the number is."""
TABLES = ("DataFrame",)
PLOTTED = ("The plot shows ", "图中用")


@dataclass(frozen=True)
class TypedResults:
    """What an answer gives of the results that are wanted."""

    values: Mapping[str, Any]
    missing: tuple[Field, ...] = ()


def results_in(
    answer: str, wanted: tuple[Field, ...], told: Sequence[str] = (), asked: str = ""
) -> TypedResults:
    """The wanted results that the answer holds.

    A text is the answer's first sentence, or the value that the answer names where the result has
    the name of what was asked for; a number is the first one that the answer stresses, or its last
    line; a table is the variable that the answer names. A number whose name says something that
    the question does not ask for is not there.

    Args:
        answer: In words.
        wanted: The results.
        told: What the kernel said, in which numbers are not rounded.
        asked: The question.
    """
    question = {unit.stem for unit in units_of(asked)}
    values: dict[str, Any] = {}
    missing = []
    for field in wanted:
        value = _value(answer, field, told, question)
        if value is None:
            missing.append(field)
        else:
            values[field.name] = value
    return TypedResults(values, tuple(missing))


def _value(answer: str, field: Field, told: Sequence[str], question: set[str]) -> Any:
    if field.type_name == "Figure" and any(said in answer for said in PLOTTED):
        return "figure"  # as every plot of ours is called
    if field.is_live:
        named = LEFT_IN.findall(answer) if field.type_name in TABLES else []
        return named[-1] if named else None
    own_words = {unit.stem for unit in units_of(field.name)} - ANY_NUMBER
    if field.annotation is str:
        found = NAMED.match(answer)
        if found is not None and own_words and _are_asked(own_words, question):
            return found[1]
        first = next((line for line in answer.splitlines() if line.strip()), "")
        return first.replace("**", "").replace("`", "").strip() or None
    if field.annotation in (int, float) and _are_asked(own_words, question):
        return _number(answer, field.annotation, told)
    return None


def _are_asked(words: set[str], question: set[str]) -> bool:
    """Whether each word is one of the question's, or means the same as one."""
    said = {sense for stem in question for sense in _meanings(stem)}
    return all(word in question or _meanings(word) & said for word in words)


def _meanings(stem: str) -> set[tuple[str, str]]:
    return {(each.kind, each.value) for each in lexicon().senses.get((stem,), ())}


def _number(answer: str, kind: type, told: Sequence[str]) -> Any:
    stressed = [text for bold in BOLD.findall(answer) for text in NUMBER.findall(bold)]
    plain = NUMBER.findall(answer.strip().rpartition("\n")[2]) if not stressed else []
    found = next(iter([*stressed, *plain]), "")
    exact = [text for text in EXACT.findall("\n".join(told)) if number(text) == found]
    try:
        return kind((exact[-1] if exact else found).replace(",", ""))
    except ValueError:
        return None
