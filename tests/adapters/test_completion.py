"""Our models as what signature adapters call."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

import pytest
from field_adapters import ADAPTERS, CODE, QA
from scripted_model import ScriptedLM, calls, says

from cellwright.llm import LMEvent
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.completion import Completion
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.signature_adapter import (
    AdapterParseError,
    FieldAdapter,
    FieldDelta,
    content_of,
)
from cellwright.llm.signatures import Code, Signature
from cellwright.record.events import ModelSilent, TextDelta
from cellwright.record.messages import Manifest, Parameters, Prompt, Reply, ToolCall
from cellwright.stopping import Stop

INPUTS = {"question": "?", "context": []}
CHAT = "[[ ## answer ## ]]\nyes\n\n[[ ## score ## ]]\n1"
LOOK = Manifest("look", "Look.", {"type": "object", "properties": {"at": {"type": "string"}}})


def test_004_02_a_model_of_ours_answers_n_times_with_the_options_of_the_call() -> None:
    lm = ScriptedLM([says(CHAT), says(CHAT)])
    events: list[LMEvent] = []
    asked = Completion(lm, Parameters("m", 0.1, extra={"seed": 1}), on_event=events.append)
    options = {"n": 2, "temperature": 0.0, "max_tokens": 5, "top_p": 0.5, "stop": None}
    values = ChatAdapter()(asked, options, QA, [], INPUTS)
    assert [value["answer"] for value in values] == ["yes", "yes"]
    assert lm.prompts[0].parameters == Parameters("m", 0.0, 5, {"seed": 1, "top_p": 0.5})
    assert [message.role for message in lm.prompts[0].messages] == ["system", "user"]
    assert events == [TextDelta(CHAT)] * 2
    assert len(asked.replies) == 2


def test_004_24_a_model_of_ours_is_asked_for_the_schema() -> None:
    lm = ScriptedLM([says('{"answer": "yes", "score": 1}')])
    JSONAdapter()(Completion(lm, Parameters("m")), {}, QA, [], INPUTS)
    made = lm.prompts[0].parameters.extra["response_format"]
    assert made["json_schema"]["schema"]["required"] == ["answer", "score"]
    assert lm.prompts[0].parameters.temperature is None


def test_004_24_a_schema_of_the_callers_own_is_left_alone() -> None:
    lm = ScriptedLM([says('{"answer": "yes", "score": 1}')])
    own = {"response_format": {"type": "json_object"}}
    JSONAdapter()(Completion(lm, Parameters("m")), own, QA, [], INPUTS)
    assert lm.prompts[0].parameters.extra == own


NATIVE = ChatAdapter(use_native_function_calling=True)


def test_004_28_a_model_of_ours_takes_tools_as_functions() -> None:
    signature = Signature.parse("question, tools: list[Tool] -> calls: ToolCalls")
    lm = ScriptedLM([calls(("look", {"at": "x"}))])
    asked = Completion(lm, Parameters("m"))
    (value,) = NATIVE(asked, {}, signature, [], {"question": "?", "tools": [LOOK]})
    assert value["calls"] == (ToolCall("call_0", "look", '{"at": "x"}'),)
    assert lm.prompts[0].tools == (LOOK,)
    plain = {"type": "function", "function": {"name": "look", "parameters": {}}}
    lm = ScriptedLM([calls(("look", {}))])
    asked = Completion(lm, Parameters("m"))
    NATIVE(asked, {}, signature, [], {"question": "?", "tools": [plain]})
    assert lm.prompts[0].tools == (Manifest("look", "", {}),)


@pytest.mark.parametrize("kind", ADAPTERS)
def test_a_reply_that_was_cut_is_no_prediction(kind: type[FieldAdapter]) -> None:
    """A text that ends too early looks like any other."""
    adapter = kind()
    whole = adapter.write_outputs({"answer": "yes, but on Mondays", "score": "1"}, QA)
    cut = replace(says(whole), finish_reason="length", truncated=True)
    lm = ScriptedLM([cut, says(whole)])
    asked = Completion(lm, Parameters("m"))
    with pytest.raises(AdapterParseError, match="was cut") as caught:
        adapter(asked, {}, QA, [], INPUTS)
    assert caught.value.parsed_result["answer"].startswith("yes")
    (value,) = adapter(asked, {}, QA, [], INPUTS)
    assert value["answer"] == "yes, but on Mondays"


class PieceLM(ScriptedLM):
    """Sends its reply in pieces of three characters, with news between them."""

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        stream = super().stream(prompt, stop)
        while True:
            try:
                event = next(stream)
            except StopIteration as finished:
                reply: Reply = finished.value
                return reply
            yield ModelSilent(1.0)
            assert isinstance(event, TextDelta)
            for start in range(0, len(event.text), 3):
                yield TextDelta(event.text[start : start + 3])


@pytest.mark.parametrize("adapter", [cls() for cls in ADAPTERS])
def test_004_02_outputs_are_streamed_as_they_come(adapter: FieldAdapter) -> None:
    values = {"code": Code("if a < b:\n    print('x')"), "answer": "It is **so** [1]."}
    written = adapter.format_assistant_message_content(CODE, values)
    asked = Completion(PieceLM([says(written)]), Parameters("m"))
    stream = adapter.stream(asked, {"temperature": 0.0}, CODE, [], {"question": "?"})
    came: dict[str, list[str]] = {"code": [], "answer": []}

    def taken() -> Generator[FieldDelta, None, None]:
        assert (yield from stream) == values

    for delta in taken():
        came[delta.name].append(delta.text)
    assert "".join(came["answer"]) == values["answer"]
    assert values["code"] in "".join(came["code"])
    assert min(len(pieces) for pieces in came.values()) > 1


def test_004_02_what_cannot_be_read_while_it_comes_is_read_at_the_end() -> None:
    class Plain(ChatAdapter):
        def shown_field(self, signature: object, name: str) -> None:
            return None

    stream = Plain().stream(Completion(ScriptedLM([says(CHAT)]), Parameters("m")), {}, QA, [], {})
    with pytest.raises(StopIteration) as finished:
        next(stream)
    assert finished.value.value == {"answer": "yes", "score": 1.0}


def test_content_is_plain_text_unless_there_is_something_else_in_it() -> None:
    assert content_of(["a", "", "b"]) == "ab"
    assert content_of([]) == ""
    part = {"type": "image_url", "image_url": {"url": "x"}}
    assert content_of(["a", "b", [part], "c"]) == [
        {"type": "text", "text": "ab"},
        part,
        {"type": "text", "text": "c"},
    ]
