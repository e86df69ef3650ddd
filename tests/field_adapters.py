"""Signatures, adapters and a model for the tests of signature adapters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cellwright.adapters.chat_fields import ChatFields
from cellwright.adapters.field_adapter import FieldAdapter
from cellwright.adapters.json_fields import JsonFields
from cellwright.adapters.xml_fields import XmlFields
from cellwright.signatures import Signature

__all__ = ["ADAPTERS", "CODE", "QA", "ScriptedModel"]

ADAPTERS: tuple[type[FieldAdapter], ...] = (ChatFields, JsonFields, XmlFields)
QA = Signature.parse("question, context: list[str] -> answer, score: float", "Answer it.")
CODE = Signature.parse("question -> code: Code, answer", "Write a program.")


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
