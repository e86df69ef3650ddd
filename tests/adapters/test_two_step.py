"""Adapters beyond the three forms: words first and fields second, and one of a person's own."""

from __future__ import annotations

from typing import Any

import pytest
from field_adapters import CODE, QA, ScriptedModel
from pydantic import BaseModel

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.signature_adapter import AdapterParseError
from cellwright.llm.adapters.two_step import TwoStepAdapter
from cellwright.llm.signatures import Code, Field, Signature
from cellwright.record.messages import ImagePart

PROSE = "I would loop twice.\n\n[[ ## answer ## ]]\n```python\n  x = 1\n```\nThat is all."
VALUES = {"code": Code("  x = 1"), "answer": "loop"}
EXTRACTED = ChatAdapter().format_assistant_message_content(CODE, VALUES)


def test_004_26_words_come_first_and_the_code_is_taken_out_of_them() -> None:
    main, small = ScriptedModel([PROSE]), ScriptedModel([EXTRACTED])
    (found,) = TwoStepAdapter(small)(main, {"temperature": 1}, CODE, [], {"question": "How?"})
    assert found == VALUES
    asked = str(main.calls[0]["messages"])
    assert "[[ ##" not in asked
    assert "How?" in asked
    assert "1. `code` (Code)" in asked
    assert main.calls[0]["temperature"] == 1
    assert "temperature" not in small.calls[0]
    assert "I would loop twice." in str(small.calls[0]["messages"][-1]["content"])
    assert "Write a program." in str(small.calls[0]["messages"][0]["content"])


def test_004_26_each_reply_is_read_by_itself_and_options_go_to_the_first_model() -> None:
    main, small = ScriptedModel(["one", "two"]), ScriptedModel([EXTRACTED], [EXTRACTED])
    assert TwoStepAdapter(small)(main, {"n": 2}, CODE, [], {"question": "?"}) == [VALUES, VALUES]
    assert len(small.calls) == 2


def test_004_26_the_second_model_may_be_talked_with_in_another_form() -> None:
    small = ScriptedModel(['{"answer": "yes", "score": 1}'])
    adapter = TwoStepAdapter(small, JSONAdapter())
    assert adapter.parse(QA, "Yes, surely.") == {"answer": "yes", "score": 1.0}


def test_004_26_what_cannot_be_taken_out_is_an_error_once_json_was_asked_for() -> None:
    main, small = ScriptedModel(["I do not know."]), ScriptedModel(["No."], ["No."])
    with pytest.raises(AdapterParseError, match="Failed to parse response: .*no JSON object"):
        TwoStepAdapter(small)(main, {}, CODE, [], {"question": "?"})
    assert (len(main.calls), len(small.calls)) == (1, 2)


def test_004_26_demos_history_and_pictures_are_words_and_parts() -> None:
    signature = Signature.parse("question, picture: Picture -> answer", "Look.")
    picture = ImagePart("image/png", "AAAA")
    demos = [{"question": "q", "answer": "a"}, {"question": "q", "picture": "p", "answer": "a"}]
    adapter = TwoStepAdapter(ScriptedModel())
    messages = adapter.format(signature, demos, {"question": "now", "picture": picture})
    assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 2, "user"]
    assert messages[2]["content"] == "answer: a"
    assert [part["type"] for part in messages[-1]["content"]] == ["text", "image_url"]
    told = adapter.format_user_message_content(signature, {"question": "q"}, suffix="End.")
    assert told == "question: q\n\nEnd."
    assert adapter.format_assistant_message_content(signature, {}, "not said") == (
        "answer: not said"
    )


class Compact(JSONAdapter):
    """BAML's idea: a schema that is short to read; what is recursive has none."""

    def format_field_structure(self, signature: Any) -> str:
        """The outputs as an interface of TypeScript."""
        outputs = signature.output_fields.items()
        lines = [f"  {name}: {self._shape(info.annotation, ())};" for name, info in outputs]
        return "\n".join(["Reply with JSON of this shape:", "{", *lines, "}"])

    def _shape(self, kind: Any, outer: tuple[Any, ...]) -> str:
        if kind in outer:
            raise ValueError(f"{kind.__name__} is recursive")
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            inner = (
                f"{name}: {self._shape(info.annotation, (*outer, kind))}"
                for name, info in kind.model_fields.items()
            )
            return f"{{ {'; '.join(inner)} }}"
        return {str: "string", int: "number", float: "number"}.get(kind, "any")


class Place(BaseModel):
    """Where."""

    city: str
    zip: int


class Tree(BaseModel):
    """It grows."""

    left: Tree


def test_004_27_an_adapter_like_bamls_is_a_subclass_of_a_persons_own() -> None:
    signature = Signature((Field("q", "input"), Field("where", "output", Place)), "Find it.")
    lm = ScriptedModel(['{"where": {"city": "Ulm", "zip": 89073}}'])
    (found,) = Compact()(lm, {}, signature, [], {"q": "?"})
    assert found == {"where": Place(city="Ulm", zip=89073)}
    system = lm.calls[0]["messages"][0]["content"]
    assert "  where: { city: string; zip: number };" in system
    with pytest.raises(ValueError, match="Tree is recursive"):
        Compact().format(Signature((Field("t", "output", Tree),), "Grow."), [], {})
