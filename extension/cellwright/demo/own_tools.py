"""Calls of tools that the prompt names, and answers from the person's documents."""

from __future__ import annotations

import ast
import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from cellwright.demo.steps import DemoCall, Steps

NAMED = re.compile(
    r"\b(?:(?:call|use|invoke|run)\s+(?:the\s+)?(?:tool\s+|function\s+)?"
    r"|with\s+(?:the\s+)?(?:tool|function)\s+)(?P<quote>[`'\"]?)(?P<name>\w+)(?P=quote)(?P<call>\([^()]*\))?",
    re.IGNORECASE,
)
VALUE = r"(?:\"[^\"]*\"|'[^']*'|`[^`]*`|-?\d+(?:\.\d+)?|[^\W\d][\w-]*)"
QUOTED = re.compile(r"[\"'`](?P<text>[^\"'`]+)[\"'`]")
NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?![\w.]*\w)")
TRUTHS = {"true": True, "yes": True, "false": False, "no": False}


@dataclass(frozen=True)
class AskedCall:
    """A tool and what the words say of its arguments."""

    name: str
    arguments: Mapping[str, Any]
    missing: tuple[str, ...] = ()
    """Arguments it needs and the words do not give."""


def asked_call(words: str, tools: Collection[str]) -> AskedCall | None:
    """The call that the words ask for; None where they name no tool.

    Args:
        words: The prompt.
        tools: Names of the tools there are, or their schemas by name.
    """
    for found in NAMED.finditer(words):
        name = found["name"]
        if name not in tools:
            continue
        schema = tools[name] if isinstance(tools, Mapping) else {}
        properties: Mapping[str, Any] = schema.get("properties") or {}
        values = dict(_written(found["call"] or "", list(properties)))
        rest = words.replace(found[0], " ")
        values = {**_guessed(rest, properties, values), **values}
        required = schema.get("required") or ()
        return AskedCall(name, values, tuple(each for each in required if each not in values))
    return None


def _written(call: str, names: list[str]) -> Iterator[tuple[str, Any]]:
    """The arguments of a call that is written out, such as ``("north", year=2025)``."""
    with contextlib.suppress(SyntaxError, ValueError):
        made = ast.parse(f"f{call}", mode="eval").body
        if isinstance(made, ast.Call):
            for name, node in zip(names, made.args, strict=False):
                yield name, ast.literal_eval(node)
            for keyword in made.keywords:
                if keyword.arg in names:
                    yield keyword.arg, ast.literal_eval(keyword.value)


def _guessed(words: str, properties: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, Any]:
    """Values that stand after an argument's name, or can be meant for no other argument."""
    values: dict[str, Any] = {}
    for name, schema in properties.items():
        said = _after(name, words) or _choice(schema, words)
        if name not in known:
            with contextlib.suppress(ValueError):
                values[name] = _value(said, schema)
                words = words.replace(said, " ", 1)
    left = {name: s for name, s in properties.items() if name not in {*known, *values}}
    for kinds, pattern in ((("string",), QUOTED), (("integer", "number"), NUMBER)):
        wanted = [name for name, schema in left.items() if schema.get("type") in kinds]
        found = [match[0] for match in pattern.finditer(words)]
        if len(wanted) == len(found) == 1:
            with contextlib.suppress(ValueError):
                values[wanted[0]] = _value(found[0], left[wanted[0]])
    return values


def _after(name: str, words: str) -> str:
    label = re.escape(name).replace("_", r"[_ ]")
    found = re.search(rf"\b{label}\b[`'\"]?\s*(?:=|:|is\b)?\s*({VALUE})", words, re.IGNORECASE)
    return found[1] if found else ""


def _choice(schema: Mapping[str, Any], words: str) -> str:
    """The one of the allowed values that the words hold."""
    given = [str(value) for value in schema.get("enum") or ()]
    return next((v for v in given if re.search(rf"\b{re.escape(v)}\b", words, re.I)), "")


def _value(text: str, schema: Mapping[str, Any]) -> Any:
    """The text as the schema's type.

    Raises:
        ValueError: It is none.
    """
    bare = text.strip("\"'`")
    kind = schema.get("type", "string")
    if schema.get("enum"):
        choices = {str(value).lower(): value for value in schema["enum"]}
    elif kind == "boolean":
        choices = TRUTHS
    elif kind in ("integer", "number"):
        return int(bare) if kind == "integer" else float(bare)
    else:
        choices = {bare.lower(): bare} if bare and kind == "string" else {}
    if bare.lower() not in choices:
        raise ValueError(text)
    return choices[bare.lower()]


# Questions that the person's documents answer: the demo model looks them up and quotes.


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
    found = yield DemoCall("I look that up in the library.", TOOL, {"query": query})
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
