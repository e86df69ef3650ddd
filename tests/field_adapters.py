"""Signatures, adapters and a model for the tests of signature adapters."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st
from pydantic import BaseModel

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.signature_adapter import FieldAdapter
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.llm.signatures import MISSING, Field, Signature

__all__ = [
    "ADAPTERS",
    "CODE",
    "CODE_TEXT",
    "NASTY",
    "QA",
    "Colour",
    "Point",
    "ScriptedModel",
    "one",
    "read",
]

ADAPTERS: tuple[type[FieldAdapter], ...] = (ChatAdapter, JSONAdapter, XMLAdapter)
QA = Signature.parse("question, context: list[str] -> answer, score: float", "Answer it.")
CODE = Signature.parse("question -> code: Code, answer", "Write a program.")
NASTY = [
    "",
    "\n",
    "    indented = 1\n    b = 2",
    "x = 1\r\n\ty = 2\x0b\u2028z",
    "print('[[ ## answer ## ]]')\n[[ ## completed ## ]]\n",
    "```python\nx\n```",
    "text\n````\nnever closed",
    "~~~\n[[ ## code ## ]]",
    "```verbatim\ninside\n```",
    "a<b and c & d",
    "</code><answer>&lt;",
    "<![CDATA[ x ]]> ]]>",
    '{"code": "x"}',
    "\\n \\u0041 'q' \"d\"",
]

PIECES = st.sampled_from(
    [*NASTY, "[[ ## code ## ]]", "```", "~~~", "</answer>", "]]>", "&amp;", " ", "\n", "\t"]
)

CHARACTERS = st.characters(exclude_categories=["Cs"])

CODE_TEXT = st.lists(PIECES | st.text(CHARACTERS, max_size=12), max_size=6).map("".join)


class ScriptedModel:
    """Answers with lists of replies and keeps what it was called with."""

    def __init__(self, *answers: Any, **capabilities: bool) -> None:
        self.answers = list(answers)
        self.calls: list[dict[str, Any]] = []
        self.supports_function_calling = capabilities.get("tools", False)
        self.supports_response_schema = capabilities.get("schema", False)

    def __call__(self, messages: Sequence[Mapping[str, Any]], **options: Any) -> Any:
        self.calls.append({"messages": messages, **options})
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


class Colour(enum.Enum):
    """A choice."""

    RED = "r"
    BLUE = "b"


class Point(BaseModel):
    """A value with fields."""

    x: int
    y: int = 0


def one(kind: Any, default: Any = MISSING) -> Signature:
    """A signature with one output."""
    return Signature((Field("value", "output", kind, default=default),), "Do.")


def read(adapter: FieldAdapter, kind: Any, text: str) -> Any:
    """The value that a written text is read as."""
    return adapter.parse(one(kind), adapter.write_outputs({"value": text}, one(kind)))["value"]
