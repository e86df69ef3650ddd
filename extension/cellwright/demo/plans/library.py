"""Questions that the person's documents answer: the demo model looks them up and quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cellwright.demo.steps import Call, Steps

TOOL = "search_library"
ASKS = re.compile(
    r"\b(?:librar(?:y|ies)|handbook|guidelines?|documentation"
    r"|(?:my|our|the|these|project) (?:documents?|docs|notes|rules))\b",
    re.IGNORECASE,
)
ABOUT = re.compile(
    r"\b(?:what|does|do|did|the|our|my|these|project|library|libraries|documents?|docs|notes|rules"
    r"|handbook|guidelines?|documentation|say|says|tell|me|about|according|to|in|from|is|are|look"
    r"|up|search|for|find|please|of|on|a|an|how|many|much|which|when|who|why|we|i|and|use|sources?"
    r"|with)\b",
    re.IGNORECASE,
)
PIECE = re.compile(r"^\[(?P<number>\d+)\] (?P<place>.+)\n(?P<text>(?:(?!^\[\d+\] ).*\n?)*)", re.M)
SENTENCE = re.compile(r"[^.!?\n]+(?:\.(?=\d)[^.!?\n]*)*[.!?]?")
WORD = re.compile(r"\w{3,}")
SENTENCES = 2
STEM_CHARACTERS = 5


@dataclass(frozen=True)
class _Said:
    """A sentence of a document."""

    number: str
    place: str
    text: str
    shared: int
    """How many telling words of the question it has."""


def asks_library(prompt: str) -> bool:
    """Whether the words ask for what documents say."""
    return ASKS.search(prompt) is not None


def answer_from_library(prompt: str) -> Steps[str]:
    """Search the documents and quote the sentences that share most with the question."""
    query = " ".join(ABOUT.sub(" ", prompt).split()).strip(" ?!.,:") or prompt
    found = yield Call("I look that up in the library.", TOOL, {"query": query})
    said = _sentences(found, query)
    if not said:
        return f"The library says nothing about {query!r} that I can quote."
    best = sorted(said, key=lambda each: -each.shared)[:SENTENCES]
    most = best[0].shared
    quoted = [f"{each.text} [{each.number}]" for each in best if each.shared == most]
    sources = dict.fromkeys((each.number, each.place) for each in best if each.shared == most)
    listed = "\n".join(f"- [{number}] {place}" for number, place in sources)
    return "\n\n".join([" ".join(quoted), f"Sources:\n\n{listed}"])


def _sentences(found: str, query: str) -> list[_Said]:
    wanted = set(_stems(query))
    said: list[_Said] = []
    for piece in PIECE.finditer(found):
        for sentence in SENTENCE.findall(piece["text"]):
            text = " ".join(sentence.split()).lstrip("-*#|> ")
            shared = len(wanted & set(_stems(text)))
            if shared and len(text.split()) > 3:
                said.append(_Said(piece["number"], piece["place"], text, shared))
    return said


def _stems(words: str) -> Iterable[str]:
    return (word.lower()[:STEM_CHARACTERS] for word in WORD.findall(words))
