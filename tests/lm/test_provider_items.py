"""What a provider wants back goes back as it was, to the provider alone."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from asking import RUN_CELL, Asked, ask, prompt_of, serving
from event_strategies import json_values, values_of
from fake_providers import DeepSeek, Gemini, OpenAIResponses, calls, says, thinks
from fake_service import FakeService, Request, chunk, error, raw_sse, text
from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.normalise import normalise
from cellwright.context.window import Window, compact, when_refused
from cellwright.errors import LMRequestError
from cellwright.llm import LM
from cellwright.llm.openai import OpenAILM
from cellwright.llm.provider_items import OPAQUE_NAMES, ItemReader
from cellwright.record.events import ModelReplied, Notice
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Parameters,
    Prompt,
    ProviderItems,
    TextPart,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from cellwright.record.values import from_dict, to_dict
from cellwright.settings import ModelSettings
from cellwright.text.redaction import Redactor

STEP = [thinks("Let me look."), calls("run_cell", {"code": "1"})]
TWO_CALLS = [calls("run_cell", {"code": "1"}), calls("run_cell", {"code": "2"})]
END = [thinks("Now I know."), says("It is 1.")]
NO_THOUGHT = [calls("run_cell", {"code": "1"})]
GO: Message = UserMessage((TextPart("go"),))
READER = ItemReader("box:443", "chat", "m")


def message_of(asked: Asked) -> AssistantMessage:
    assert asked.reply is not None
    return asked.reply.message


def talk(lm: LM, steps: int, said: list[Message], model: str = "fake-model") -> list[Message]:
    """The conversation after so many requests, each call of which has its result."""
    for _ in range(steps):
        prompt = Prompt(normalise(said), (RUN_CELL,), Parameters(model))
        message = message_of(ask(lm, prompt))
        results = (TextPart("word " * 3_000),)
        said = [*said, message]
        said += [ToolMessage(call.id, call.name, results) for call in message.tool_calls]
    return said


@pytest.mark.parametrize("provider", [DeepSeek, Gemini, OpenAIResponses])
@pytest.mark.parametrize("steps", [[STEP, STEP, END], [TWO_CALLS, NO_THOUGHT, END]])
def test_a_turn_of_many_steps_is_refused_nowhere(provider: Any, steps: Any) -> None:
    model = provider(steps)
    api = "responses" if provider is OpenAIResponses else "auto"
    with serving(model, api=api) as (_, lm):
        said = talk(lm, 3, [GO])
    assert model.refusals == []
    assert len(model.taken) == 3
    assert isinstance(said[-1], AssistantMessage)
    assert said[-1].text == "It is 1."


@pytest.mark.parametrize("provider", [DeepSeek, Gemini, OpenAIResponses])
def test_what_is_compacted_within_a_turn_keeps_it(provider: Any) -> None:
    model = provider([STEP, STEP, STEP, END])
    api = "responses" if provider is OpenAIResponses else "auto"
    with serving(model, api=api) as (_, lm):
        said = talk(lm, 3, [GO])
        shorter = Window(6_000).in_a_run(said)
        assert shorter is not None
        again = when_refused(compact(said) or said)
        talk(lm, 1, list(again or shorter))
    assert model.refusals == []
    assert len(json.dumps(model.taken[-1])) < 40_000


@pytest.mark.parametrize("provider", [DeepSeek, Gemini, OpenAIResponses])
def test_what_the_record_gives_back_is_still_accepted(provider: Any) -> None:
    model = provider([STEP, STEP, END])
    api = "responses" if provider is OpenAIResponses else "auto"
    with serving(model, api=api) as (_, lm):
        said = talk(lm, 2, [GO])
        redactor = Redactor({"OPENAI_API_KEY": "sk-" + "secret" * 6})
        stored = json.loads(json.dumps([to_dict(redactor.event(m)) for m in said]))
        talk(lm, 1, [from_dict(Message, data) for data in stored])
    assert model.refusals == []


@pytest.mark.parametrize(
    ("first", "second"), [(OpenAIResponses, DeepSeek), (DeepSeek, Gemini), (Gemini, DeepSeek)]
)
def test_another_provider_is_not_sent_it_and_goes_on(first: Any, second: Any) -> None:
    api = "responses" if first is OpenAIResponses else "auto"
    with serving(first([STEP]), api=api) as (_, lm):
        said = talk(lm, 1, [GO])
    kept = [m.provider_items for m in said if isinstance(m, AssistantMessage)]
    assert kept[0] is not None
    other = second([STEP, END])
    with serving(other) as (service, lm):
        talk(lm, 2, said)
        sent = b"".join(request.raw for request in service.requests)
    assert b"encrypted_content" not in sent
    assert b"signed call" not in sent
    # A call without its signature or thinking is refused once at most, then made up for.
    assert len(other.refusals) <= 1


def test_a_demand_is_learned_from_the_refusal_and_said_once() -> None:
    """Google documents the signature that stands for none; DeepSeek takes an empty thought."""
    foreign: list[Message] = [
        GO,
        AssistantMessage("", (ToolCall("call_x", "run_cell", "{}"),)),
        ToolMessage("call_x", "run_cell", (TextPart("1"),)),
    ]
    model = Gemini([END, END])
    with serving(model) as (_, lm):
        prompt = prompt_of(*foreign, tools=(RUN_CELL,))
        notices = [ask(lm, prompt).all(Notice) for _ in range(2)]
    assert [len(found) for found in notices] == [1, 0]
    assert notices[0][0].code == "field_required"
    assert len(model.refusals) == 1


def test_a_service_that_refuses_its_own_field_is_sent_it_no_more() -> None:
    def picky(request: Request) -> Any:
        if b'"reasoning_content"' in request.raw:
            words = "property 'reasoning_content' is unsupported"
            return error(400, f"'messages.1' : for 'role:assistant' {words}")
        delta = {"role": "assistant", "content": "Yes.", "reasoning_content": "Hm."}
        return raw_sse([chunk(delta), chunk({}, "stop")])

    called = AssistantMessage(
        "",
        (ToolCall("call_1", "run_cell", "{}"),),
        "Hm.",
        provider_items=ProviderItems("", "chat", "fake-model", ({"field": "reasoning_content"},)),
    )
    with serving(picky) as (service, lm):
        service.openai = False
        place = service.base_url.removeprefix("http://").removesuffix("/v1")
        assert called.provider_items is not None
        own = replace(called, provider_items=replace(called.provider_items, service=place))
        result = ToolMessage("call_1", "run_cell", (TextPart("1"),))
        first = ask(lm, prompt_of(GO, own, result, tools=(RUN_CELL,)))
        second = ask(lm, prompt_of(GO, own, result, tools=(RUN_CELL,)))
        assert len(service.requests) == 3
    assert [notice.code for notice in first.all(Notice)] == ["parameter_dropped"]
    assert second.all(Notice) == []


def test_a_service_that_refuses_whatever_is_sent_gets_an_end() -> None:
    called = AssistantMessage("", (ToolCall("call_1", "run_cell", "{}"),), "Hm.")
    words = "unsupported reasoning_content, which must be passed back; image input not supported"
    table = {"*": ModelSettings(vision=True, reasoning_effort="low")}
    with FakeService(error(400, words)) as service:
        service.openai = False
        lm = OpenAILM(service.settings(), models=table)
        place = service.base_url.removeprefix("http://").removesuffix("/v1")
        items = ProviderItems(place, "chat", "fake-model", ({"field": "reasoning_content"},))
        own = replace(called, provider_items=items)
        result = ToolMessage("call_1", "run_cell", (TextPart("1"), PICTURE))
        with pytest.raises(LMRequestError):
            ask(lm, prompt_of(GO, own, result, tools=(RUN_CELL,)))
        lm.close()
        assert len(service.requests) < 6


def test_details_that_come_in_pieces_go_back_whole() -> None:
    """Source: OpenRouter's guide "reasoning-tokens", read 2026-11-23."""
    detail = {"type": "reasoning.text", "index": 0, "format": "anthropic-claude-v1"}
    pieces: list[dict[str, Any]] = [
        {"reasoning": "Let ", "reasoning_details": [{**detail, "text": "Let "}]},
        {"reasoning": "me.", "reasoning_details": [{**detail, "text": "me."}]},
        {"reasoning_details": [{**detail, "signature": "c2lnbmVk"}]},
        {"reasoning_details": [{"type": "reasoning.encrypted", "data": "ZGF0YQ==", "index": 1}]},
        {"content": "Yes."},
    ]
    answer = raw_sse([*(chunk(piece) for piece in pieces), chunk({}, "stop")])
    with serving([answer, text("So.")]) as (service, lm):
        service.openai = False
        message = message_of(ask(lm))
        ask(lm, prompt_of(GO, message, "more"))
        sent = service.requests[1].messages[1]
    assert message.reasoning == "Let me."
    assert sent["reasoning_details"] == [
        {**detail, "text": "Let me.", "signature": "c2lnbmVk"},
        {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "index": 1},
    ]
    assert "reasoning" not in sent


def test_thinking_of_a_turn_without_tools_stays_here() -> None:
    with serving(DeepSeek([END, END])) as (service, lm):
        message = message_of(ask(lm))
        ask(lm, prompt_of(GO, message, "more"))
        assert "reasoning_content" not in service.requests[1].messages[1]
    assert message.reasoning == "Now I know."


items = st.dictionaries(
    st.sampled_from(["type", "id", "summary", "value", *OPAQUE_NAMES]), json_values, max_size=4
)


@given(st.lists(items, min_size=1, max_size=3).map(tuple))
def test_any_items_come_back_as_they_were(given_items: tuple[dict[str, Any], ...]) -> None:
    kept = READER.keep(given_items)
    stored = from_dict(ProviderItems, json.loads(json.dumps(to_dict(kept))))
    assert READER.items_of(AssistantMessage("", provider_items=stored)) == given_items


@given(values_of(AssistantMessage))
def test_any_message_comes_back_from_the_record(message: AssistantMessage) -> None:
    event = ModelReplied(message, "stop", Usage(), "m")
    stored = from_dict(ModelReplied, json.loads(json.dumps(to_dict(event))))
    assert to_dict(stored) == to_dict(event)


def test_records_from_before_open() -> None:
    old = {"role": "assistant", "text": "Yes.", "tool_calls": [], "reasoning": "Hm."}
    assert from_dict(AssistantMessage, old) == AssistantMessage("Yes.", reasoning="Hm.")


def test_secrets_in_readable_parts_are_taken_out_and_opaque_ones_stay() -> None:
    secret = "sk-" + "secret" * 6
    opaque = f"gAAAA{secret}"
    item = {"type": "reasoning", "summary": [{"text": secret}], "encrypted_content": opaque}
    message = AssistantMessage("", provider_items=READER.keep((item,)))
    clean = Redactor({"OPENAI_API_KEY": secret}).event(message)
    (back,) = READER.items_of(clean)
    assert back["encrypted_content"] == opaque
    assert secret not in json.dumps(back["summary"])


PICTURE = ImagePart("image/png", "aGk=", "a plot")
SEE = prompt_of(UserMessage((TextPart("See"), PICTURE)))


@pytest.mark.parametrize(
    "refusal",
    [
        error(400, "This model does not support image input."),
        error(400, "Invalid content type. image_url is only supported by certain models."),
        error(400, "messages[1]: unknown variant `image_url`, expected `text`"),
        error(404, "No endpoints found that support image input"),
        error(500, "image input is not supported - hint: you may need to provide the mmproj"),
        error(400, "mistral is not a multimodal model"),
        error(400, "messages.1.content must be a string"),
    ],
)
@pytest.mark.parametrize("name", ["qwen3:8b", "gpt-5.6", "anything"])
def test_every_model_is_sent_pictures_until_it_refuses_one(refusal: Any, name: str) -> None:
    prompt = replace(SEE, parameters=Parameters(name))
    with serving([text("I see."), refusal, text("I read."), text("I read.")]) as (service, lm):
        said = [ask(lm, prompt).all(Notice) for _ in range(3)]
        sent = [b"image_url" in request.raw for request in service.requests]
    assert sent == [True, True, False, False]
    assert [[notice.code for notice in each] for each in said] == [[], ["pictures_refused"], []]


LONG = "call_" + "x" * 380
"""As long as that of a proxy that keeps Gemini's signature in it: dyad-sh/dyad issue 4304."""


@pytest.mark.parametrize(
    "words",
    [
        f"Tool call id was {LONG} but must be a-z, A-Z, 0-9, with a length of 9.",
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum "
        "length 40, but got a string with length 385 instead.",
    ],
)
def test_a_service_that_does_not_take_the_ids_of_another_gets_its_own(words: str) -> None:
    def picky(request: Request) -> Any:
        answer = error(400, words) if LONG in request.raw.decode() else text("So.")
        return answer(request)

    called = AssistantMessage("", (ToolCall(LONG, "run_cell", "{}"),))
    result = ToolMessage(LONG, "run_cell", (TextPart("1"),))
    own: list[Message] = [
        AssistantMessage("", (ToolCall("a1B2c3D4e", "run_cell", "{}"),)),
        ToolMessage("a1B2c3D4e", "run_cell", (TextPart("2"),)),
    ]
    with serving(picky) as (service, lm):
        prompt = prompt_of(GO, called, result, *own, tools=(RUN_CELL,))
        codes = [[notice.code for notice in ask(lm, prompt).all(Notice)] for _ in range(2)]
    assert codes == [["shape_learned"], []]
    sent = service.requests[-1].messages
    ids = [sent[1]["tool_calls"][0]["id"], sent[3]["tool_calls"][0]["id"]]
    assert [sent[2]["tool_call_id"], sent[4]["tool_call_id"]] == ids
    assert len(ids[0]) == 9
    assert ids[1] == "a1B2c3D4e"


def test_responses_is_sent_no_id_that_is_too_long() -> None:
    called = AssistantMessage("", (ToolCall(LONG, "run_cell", "{}"),))
    result = ToolMessage(LONG, "run_cell", (TextPart("1"),))
    model = OpenAIResponses([END])
    with serving(model, api="responses") as (_, lm):
        ask(lm, prompt_of(GO, called, result, tools=(RUN_CELL,)))
    ids = [item["call_id"] for item in model.taken[0]["input"] if "call_id" in item]
    assert len(set(ids)) == 1
    assert len(ids[0]) <= 64
