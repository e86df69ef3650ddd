"""How a model of dspy 3.4 and later is asked, as 3.5 wants it.

The classes below have the shape of dspy's; `make test-foreign` does the same with dspy itself.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import pydantic
import pytest

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.signature_adapter import CUT, AdapterParseError
from cellwright.llm.signatures import Field, Signature

SIGNATURE = Signature.parse("question -> answer, score: float")
INPUTS = {"question": "Where?"}
SAID = "[[ ## answer ## ]]\nParis\n\n[[ ## score ## ]]\n1.5"


@dataclass
class Part:
    type: str
    text: str = ""
    value: Any = None


@dataclass
class Call:
    id: str
    name: str
    input: Mapping[str, Any]


@dataclass
class Message:
    parts: tuple[Part, ...]


@dataclass
class Response:
    message: Message
    tool_calls: tuple[Call, ...] = ()
    finish_reason: str = "stop"
    logprobs: Any = None


@dataclass
class NewModel:
    """A model of dspy 3.5: messages are no argument of it."""

    response: Response
    model: str = "m"
    kwargs: Mapping[str, Any] = field(
        default_factory=lambda: {"temperature": 0.5, "api_key": "secret", "seed": None}
    )
    asked: list[Any] = field(default_factory=list)

    def __call__(self, request: Any, *, cache: bool = True, rollout_id: Any = None) -> Response:
        self.asked.append((request, cache))
        return self.response

    async def acall(self, request: Any, **options: Any) -> Response:
        return self(request, **options)


NewModel.__module__ = "dspy.clients"


@pytest.fixture(autouse=True)
def lm15(monkeypatch: pytest.MonkeyPatch) -> None:
    module: Any = ModuleType("dspy.lm15")
    module.request_from_openai_chat = lambda body: ("request", body)
    monkeypatch.setitem(sys.modules, "dspy.lm15", module)


def answering(*parts: Part, **fields: Any) -> NewModel:
    return NewModel(Response(Message(parts), **fields))


def test_it_is_given_a_request_and_its_response_is_read() -> None:
    model = answering(Part("thinking", "I think."), Part("text", SAID))
    options = {"cache": False, "top_p": 0.1}
    (found,) = ChatAdapter()(model, options, SIGNATURE, [], INPUTS)
    assert found == {"answer": "Paris", "score": 1.5}
    ((kind, body), cache) = model.asked[0]
    assert (kind, cache) == ("request", False)
    roles = [message["role"] for message in body.pop("messages")]
    assert roles == ["system", "user"]
    assert body == {"model": "m", "temperature": 0.5, "top_p": 0.1}


def test_it_is_awaited_in_the_same_way() -> None:
    model = answering(Part("data", value={"answer": "Paris", "score": 1.5}))
    asked = JSONAdapter().acall(model, {"rollout_id": 3}, SIGNATURE, [], INPUTS)
    assert asyncio.run(asked) == [{"answer": "Paris", "score": 1.5}]
    assert "rollout_id" not in model.asked[0][0][1]


def test_a_schema_that_is_a_class_is_written_in_openais_shape() -> None:
    class Outputs(pydantic.BaseModel):
        answer: str

    model = answering(Part("text", SAID))
    ChatAdapter()(model, {"response_format": Outputs}, SIGNATURE, [], INPUTS)
    told = model.asked[0][0][1]["response_format"]["json_schema"]
    assert (told["name"], told["schema"]["required"]) == ("Outputs", ["answer"])


def test_calls_and_a_reply_that_was_cut_are_read() -> None:
    class ToolCalls:
        """Named as the type of dspy is."""

    signature = Signature.parse("question, tools: list[dict] -> answer")
    cut = answering(Part("text", "[[ ## answer ## ]]\nPar"), finish_reason="length")
    with pytest.raises(AdapterParseError, match=CUT[:20]) as caught:
        ChatAdapter()(cut, {}, signature, [], {"question": "?", "tools": []})
    assert caught.value.parsed_result == {"answer": "Par"}
    calls = signature.append(Field("calls", "output", ToolCalls))
    model = answering(tool_calls=(Call("c1", "look", {"x": 1}),))
    (found,) = ChatAdapter()(model, {}, calls, [], {"question": "?", "tools": []})
    assert [(call.id, call.name, call.arguments) for call in found["calls"]] == [
        ("c1", "look", '{"x": 1}')
    ]


def test_several_answers_at_once_and_other_models_are_asked_with_messages() -> None:
    model = answering(Part("text", SAID))
    with pytest.raises(TypeError, match="messages"):
        ChatAdapter()(model, {"n": 2}, SIGNATURE, [], INPUTS)
    asked = []

    def plain(**arguments: Any) -> str:
        asked.append(arguments)
        return SAID

    (found,) = ChatAdapter()(plain, {"n": 1}, SIGNATURE, [], INPUTS)
    assert found["answer"] == "Paris"
    assert asked[0].keys() == {"messages", "n"}
