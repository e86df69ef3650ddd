"""A question as terms that can be looked up: words, and parts of Chinese sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass

TERM_LIMIT = 16
CHINESE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
RUN = re.compile(f"[{CHINESE}]+")
WORD = re.compile(rf"[^\W{CHINESE}]+(?:[._-][^\W{CHINESE}]+)*")
PARTICLES = re.compile(
    "为什么|是什么|有什么|什么|怎么样|怎样|怎么|如何|哪些|哪个|多少|请问|可以|我们|你们|他们"
    "|[的了是吗呢和在请把被与或及有我你他这那]"
)
STOP_WORDS_TEXT = (
    "a about above after again all also am an and any are as at be because been before being below "
    "between both but by can could did do does doing done down during each find for from further "
    "get give had has have having he her here hers him his how i if in into is it its just let "
    "like make many may me more most much must my need no nor not now of off on once only or other "
    "our ours out over own please say says she should show so some such take tell than that the "
    "their them then there these they this those through to too under until up us use used using "
    "very want was we were what when where which while who whom why will with would you your "
    "yours"
)
STOP_WORDS = frozenset(STOP_WORDS_TEXT.split())
ASKS = re.compile(
    r"\b(?:librar(?:y|ies)|knowledge ?base|(?:my|our|the|these|those|project) (?:documents?|docs)"
    r"|documentation)\b|资料库|知识库|文档库|文档里|资料里",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class QueryTerms:
    """What is looked for."""

    words: tuple[str, ...] = ()
    """Whole words, in lower case."""
    parts: tuple[str, ...] = ()
    """Three signs in a row of a sentence that has no blanks."""
    short: tuple[str, ...] = ()
    """Chinese words of one or two signs, too short for an index."""

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.words) + len(self.parts) + len(self.short)


def read_query(text: str) -> QueryTerms:
    """The terms of a question, without what every text says."""
    words = [word for word in words_in(text) if word not in STOP_WORDS and len(word) > 1]
    pieces = [piece for run in RUN.findall(text) for piece in PARTICLES.split(run) if piece]
    parts = [run[at : at + 3] for run in pieces for at in range(len(run) - 2)]
    short = [run for run in pieces if len(run) < 3]
    return QueryTerms(
        tuple(dict.fromkeys(words))[:TERM_LIMIT],
        tuple(dict.fromkeys(parts))[:TERM_LIMIT],
        tuple(dict.fromkeys(short))[:TERM_LIMIT],
    )


def words_in(text: str) -> list[str]:
    """All words that are written with letters, in lower case."""
    return [found.lower() for found in WORD.findall(text)]


def asks_for_library(text: str) -> bool:
    """Whether the words are about the documents themselves."""
    return ASKS.search(text) is not None
