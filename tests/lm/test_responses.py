"""OpenAI's Responses API, against a service that refuses what the real one refuses."""

from __future__ import annotations

import json
import threading
import time
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest
from asking import RUN_CELL, Asked, ask, prompt_of, reply_of, serving, with_results
from fake_providers import OpenAIResponses, calls, says, thinks
from fake_service import FakeService, Pause, Request, after, error, json_body, raw_sse, text
from openai.types.responses import ResponseStreamEvent
from openai_description import problems
from provider_proofs import simulated
from pydantic import TypeAdapter

from cellwright.errors import (
    LMContextError,
    LMRateLimitError,
    LMRequestError,
    LMServerError,
    LMStreamError,
    RunCancelled,
)
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.openai import OpenAILM
from cellwright.providers import OPENAI, PROVIDERS, usual_api
from cellwright.record.events import Notice, ReasoningDelta, TextDelta
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Parameters,
    Prompt,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import ModelSettings
from cellwright.stopping import Stop

PICTURE = ImagePart("image/png", "aGk=", "a plot")
HARD = [
    thinks("Let me look."),
    says("I look.", phase="commentary"),
    calls("run_cell", {"code": "1"}),
]
ENOUGH = [thinks(), says("It is 1.", phase="final_answer")]


def asked_through(provider: Any, prompt: Prompt, **settings: Any) -> Asked:
    with serving(provider, **{"api": "responses", **settings}) as (_, lm):
        return ask(lm, prompt)


@pytest.mark.parametrize("size", [0, 1, 7, 4096])
def test_a_reply_streams_whatever_its_pieces_are(size: int) -> None:
    provider = OpenAIResponses([HARD], chunk_bytes=size)
    asked = asked_through(provider, prompt_of("go", tools=(RUN_CELL,)))
    reply = reply_of(asked)
    assert reply.message.text == "I look."
    assert reply.message.tool_calls == (ToolCall("call_12", "run_cell", '{"code": "1"}'),)
    assert reply.message.reasoning == "Let me look."
    assert "".join(event.text for event in asked.all(TextDelta)) == "I look."
    assert "".join(event.text for event in asked.all(ReasoningDelta)) == "Let me look."
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage.reasoning_tokens, reply.usage.completion_tokens) == (64, 74)
    assert reply.usage.cached_tokens == reply.usage.prompt_tokens // 2
    assert not reply.usage.estimated
    assert reply.model == "fake-model-2026-07-01"
    assert reply.request_id == "resp_1"


def test_thinking_goes_back_untouched_and_nothing_is_stored() -> None:
    provider = OpenAIResponses([HARD, HARD, ENOUGH])
    with serving(provider, api="responses") as (_, lm):
        said: list[Message] = [SystemMessage("Be brief."), UserMessage((TextPart("go"),))]
        for _ in range(2):
            said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        last = reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message
        said += [last, UserMessage((TextPart("And now?"),))]
    assert provider.refusals == []
    assert last.text == "It is 1."
    body = provider.taken[-1]
    assert body["store"] is False
    assert body["include"] == ["reasoning.encrypted_content"]
    kinds = [item.get("role") or item["type"] for item in body["input"]]
    step = ["reasoning", "assistant", "function_call", "function_call_output"]
    assert kinds == ["system", "user", *step, *step]
    assert [i["phase"] for i in body["input"] if i.get("role") == "assistant"] == ["commentary"] * 2


def test_a_provider_is_not_sent_words_that_it_does_not_know() -> None:
    (provider,) = (each for each in PROVIDERS if each.name == "Perplexity")
    with simulated(provider, [HARD, ENOUGH]) as played:
        with closing(OpenAILM(played.settings)) as lm:
            said: list[Message] = [SystemMessage("Be brief."), UserMessage((TextPart("go"),))]
            knobs = Parameters(played.settings.model, temperature=0.3)
            prompt = replace(prompt_of(*said, tools=(RUN_CELL,)), parameters=knobs)
            said += with_results(reply_of(ask(lm, prompt)).message)
            last = reply_of(ask(lm, replace(prompt, messages=tuple(said))))
        assert played.script.refusals == []
        assert last.message.text == "It is 1."
        first, second = played.script.taken
        assert set(first) == {"model", "input", "stream", "tools", "reasoning"}
        # What came unencrypted would not be known again, so it stays here.
        assert "reasoning" not in [item["type"] for item in second["input"]]


def test_each_request_begins_with_the_bytes_of_the_one_before() -> None:
    """What a provider's prompt cache needs."""
    provider = OpenAIResponses([HARD, ENOUGH])
    with serving(provider, api="responses") as (_, lm):
        said: list[Message] = [UserMessage((TextPart("go"),))]
        said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        ask(lm, prompt_of(*said, tools=(RUN_CELL,)))
    first, second = (json.dumps(body["input"]) for body in provider.taken)
    assert second.startswith(first[:-1])


def test_requests_fit_the_published_description_with_all_that_can_be_asked() -> None:
    chat_names = {
        "reasoning_effort": "low",
        "verbosity": "low",
        "parallel_tool_calls": False,
        "tool_choice": {"type": "function", "function": {"name": "run_cell"}},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
        "service_tier": "flex",
        "prompt_cache_key": "chat-1",
    }
    prompt = prompt_of(
        SystemMessage("Be brief."),
        UserMessage((TextPart("See"), PICTURE)),
        AssistantMessage("I run it.", (ToolCall("call_1", "run_cell", "{broken"),)),
        ToolMessage("call_1", "run_cell", (TextPart("A plot."), PICTURE)),
        tools=(RUN_CELL,),
        max_output_tokens=99,
        extra=chat_names,
    )
    provider = OpenAIResponses([ENOUGH])
    assert reply_of(asked_through(provider, prompt)).dropped_parameters == ()
    assert provider.refusals == []
    body = provider.taken[0]
    assert body["reasoning"] == {"summary": "auto", "effort": "low"}
    assert body["text"]["verbosity"] == "low"
    assert body["text"]["format"]["name"] == "answer"
    assert body["tool_choice"] == {"type": "function", "name": "run_cell"}
    assert body["max_output_tokens"] == 99
    assert body["tools"][0]["strict"] is False
    output = body["input"][-1]["output"]
    assert [part["type"] for part in output] == ["input_text", "input_image"]
    assert output[1]["image_url"] == "data:image/png;base64,aGk="
    assert "unreadable_arguments" in body["input"][-2]["arguments"]


def test_what_the_api_has_not_is_left_out_and_said_before_it_is_refused() -> None:
    provider = OpenAIResponses([ENOUGH, ENOUGH])
    prompt = prompt_of("hi", extra={"seed": 7}, max_output_tokens=3)
    with serving(provider, api="responses") as (service, lm):
        first, second = ask(lm, prompt), ask(lm, prompt)
    assert len(service.requests) == 2
    assert [notice.code for notice in first.all(Notice)] == ["parameter_dropped"]
    assert second.all(Notice) == []
    assert reply_of(second).dropped_parameters == ("seed",)
    assert provider.taken[1]["max_output_tokens"] == 16, "the smallest that is taken"


WRONG: dict[str, list[dict[str, Any]]] = {
    "/responses": [
        {"messages": []},
        {"seed": 1},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"input": [{"type": "function_call", "name": "f", "arguments": "{}"}]},
        {"reasoning": {"effort": "enormous"}},
        {"max_output_tokens": 9},
    ],
    "/chat/completions": [
        {"messages": []},
        {"input": "hi"},
        {"tools": [{"type": "function", "name": "f"}]},
        {"messages": [{"role": "tool", "content": "1"}]},
        {"messages": [{"role": "assistant", "content": None, "reasoning_content": "Hm."}]},
        {"temperature": 3},
    ],
    "/embeddings": [{"input": []}, {"encoding_format": "text"}],
}


@pytest.mark.parametrize("path", WRONG)
def test_the_check_against_the_description_finds_what_is_wrong(path: str) -> None:
    told = {"messages": [{"role": "user", "content": "hi"}]} if "chat" in path else {"input": "hi"}
    good: dict[str, Any] = {"model": "m", **told}
    assert problems(path, good) == []
    for bad in WRONG[path]:
        assert problems(path, good | bad) != [], bad


def test_a_request_that_openai_would_refuse_fails_its_test() -> None:
    with (
        pytest.raises(AssertionError, match="top_k"),
        serving([text("Yes.")]) as (_, lm),
    ):
        ask(lm, prompt_of("hi", extra={"top_k": 3}))


def test_the_events_of_the_fake_are_those_of_the_description() -> None:
    class Heard(OpenAIResponses):
        def _events(self, body: Any, output: Any) -> Any:
            made = super()._events(body, output)
            heard.extend(made)
            return made

    heard: list[Any] = []
    refusal = says("I cannot.", refusal=True)
    asked_through(Heard([[*HARD, refusal]]), prompt_of("go", tools=(RUN_CELL,)))
    adapter: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    for event in heard:
        adapter.validate_python(event)
    assert len(heard) > 15


def test_what_is_refused_is_left_out_once_and_said() -> None:
    provider = OpenAIResponses([ENOUGH, ENOUGH], may_summarise=False)
    with serving(provider, api="responses") as (_, lm):
        first = ask(lm, prompt_of("hi", temperature=0.5))
        second = ask(lm, prompt_of("hi", temperature=0.5))
    assert [notice.code for notice in first.all(Notice)] == ["parameter_dropped"] * 2
    assert reply_of(first).dropped_parameters == ("temperature",)
    assert second.all(Notice) == []
    assert len(provider.refusals) == 2


MUST_BE_VERIFIED = "Your organization must be verified to stream this model."


@pytest.mark.parametrize("api", ["responses", "chat"])
def test_who_may_not_stream_is_answered_in_one_piece(api: str) -> None:
    """OpenAI streams some models to nobody but verified organisations."""
    provider = OpenAIResponses([HARD, ENOUGH], may_stream=False)
    refusal = error(400, MUST_BE_VERIFIED, param="stream")
    script = provider if api == "responses" else [refusal, text("It is 1."), text("It is 1.")]
    with serving(script, api=api) as (service, lm):
        first = ask(lm, prompt_of("go", tools=(RUN_CELL,)))
        second = ask(lm, prompt_of("go"))
    assert [bool(request.body.get("stream")) for request in service.requests] == [1, 0, 0]
    assert "stream_options" not in service.requests[1].body
    assert [notice.code for notice in first.all(Notice)] == ["stream_refused"]
    assert second.all(Notice) == []
    assert reply_of(second).message.text == "It is 1."
    if api == "responses":
        assert [call.name for call in reply_of(first).message.tool_calls] == ["run_cell"]
        assert reply_of(first).message.provider_items is not None


def test_one_piece_may_take_as_long_as_a_reply() -> None:
    refusal = error(400, MUST_BE_VERIFIED, param="stream")
    with serving([refusal, after(text("Yes."), 0.5)], idle_timeout_seconds=0.2) as (_, lm):
        assert reply_of(ask(lm)).message.text == "Yes."


def test_a_refusal_of_chat_completions_leads_to_responses_once_and_is_said() -> None:
    provider = OpenAIResponses([HARD, ENOUGH])
    with FakeService(provider) as service:
        first_lm, second_lm = (OpenAILM(service.settings()) for _ in range(2))
        first = ask(first_lm, prompt_of("go", tools=(RUN_CELL,)))
        # Another question opens a client of its own and knows it already.
        second = ask(second_lm, prompt_of("go", tools=(RUN_CELL,)))
        paths = [request.path.rpartition("/v1")[2] for request in service.requests]
        first_lm.close()
        second_lm.close()
    assert paths == ["/chat/completions", "/responses", "/responses"]
    (notice,) = first.all(Notice)
    assert notice.code == "api_switched"
    assert "Responses" in notice.text
    assert second.all(Notice) == []


def test_who_wants_chat_completions_gets_the_refusal() -> None:
    provider = OpenAIResponses([HARD])
    with pytest.raises(LMRequestError, match="use /v1/responses"):
        asked_through(provider, prompt_of("go", tools=(RUN_CELL,)), api="chat")


@pytest.mark.parametrize(
    ("model", "api"),
    [
        ("gpt-5.6", "responses"),
        ("gpt-5.4-mini", "responses"),
        ("gpt-6-sol", "responses"),
        ("gpt-10", "responses"),
        ("ft:gpt-5.6:us:x", "responses"),
        ("o3-pro", "responses"),
        ("gpt-5-pro", "responses"),
        ("gpt-5.1-codex-max", "responses"),
        ("gpt-5.3", "chat"),
        ("gpt-5", "chat"),
        ("gpt-4o", "chat"),
        ("gpt-4.1-nano", "chat"),
        ("gpt-4-0613", "chat"),
        ("o3", "chat"),
        ("gpt-oss-120b", "chat"),
    ],
)
def test_the_official_service_is_asked_by_the_model(model: str, api: str) -> None:
    assert usual_api(OPENAI.base_url, model) == api
    assert usual_api("https://eu.api.openai.com/v1", model) == api
    assert usual_api("https://openrouter.ai/api/v1", model) == "chat"
    assert usual_api("http://127.0.0.1:8000/v1", model) == "chat"


@pytest.mark.parametrize(
    ("ending", "finish", "truncated"),
    [
        ({"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}},
         "length", 1),
        ({"status": "incomplete", "incomplete_details": {"reason": "content_filter"}},
         "content_filter", 0),
        ({}, "stop", 0),
    ],
)  # fmt: skip
def test_why_a_reply_ends_is_told_as_by_chat_completions(
    ending: dict[str, Any], finish: str, truncated: bool
) -> None:
    reply = reply_of(asked_through(OpenAIResponses([ENOUGH], ending=ending), prompt_of("hi")))
    assert (reply.finish_reason, reply.truncated) == (finish, bool(truncated))


def test_a_call_that_was_cut_is_not_run() -> None:
    ending = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    reply = reply_of(
        asked_through(OpenAIResponses([HARD], ending=ending), prompt_of("go", tools=(RUN_CELL,)))
    )
    (call,) = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
    assert call.error


def test_a_refusal_of_the_model_is_told_as_one() -> None:
    provider = OpenAIResponses([[thinks(), says("I cannot.", refusal=True)]])
    reply = reply_of(asked_through(provider, prompt_of("hi")))
    assert (reply.message.text, reply.message.refusal) == ("", "I cannot.")


def test_thinking_that_led_to_nothing_is_not_sent_back() -> None:
    provider = OpenAIResponses([[thinks("Hm.")], ENOUGH])
    with serving(provider, api="responses") as (_, lm):
        empty = reply_of(ask(lm, prompt_of("go"))).message
        ask(lm, prompt_of("go", empty, "Go on."))
    assert provider.refusals == []


def stream_of(*events: dict[str, Any]) -> Any:
    return raw_sse([{"sequence_number": n, **event} for n, event in enumerate(events)], done=False)


STARTED = {"type": "response.created", "response": {"id": "resp_1", "object": "response"}}


def failed(code: str, message: str) -> Any:
    response = {"id": "resp_1", "status": "failed", "error": {"code": code, "message": message}}
    return stream_of(STARTED, {"type": "response.failed", "response": response})


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (failed("server_error", "Something broke."), LMServerError, 4),
        (failed("rate_limit_exceeded", "Rate limit reached."), LMServerError, 4),
        (failed("invalid_prompt", "Not allowed here."), LMServerError, 1),
        (failed("context_length_exceeded", "Your input exceeds the context window."),
         LMContextError, 1),
        (stream_of(STARTED, {"type": "error", "code": "server_error", "message": "It broke."}),
         LMServerError, 4),
        (error(429, "Slow down."), LMRateLimitError, 4),
        (stream_of(STARTED), LMStreamError, 2),
    ],
)  # fmt: skip
def test_failures_are_those_of_our_tree_and_tried_again_as_elsewhere(
    answer: Any, kind: type[Exception], tries: int
) -> None:
    with serving([answer] * 4, api="responses") as (service, lm):
        with pytest.raises(kind) as caught:
            ask(lm)
        assert type(caught.value) is kind
        assert len(service.requests) == tries


def test_a_reply_that_is_not_streamed_is_read() -> None:
    whole = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "error": None,
        "model": "m",
        "output": [
            {"type": "message", "content": [{"type": "output_text", "text": "Yes."}]},
            {"type": "function_call", "call_id": "c", "name": "run_cell", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 5, "output_tokens": 2},
    }
    reply = reply_of(asked_through([json_body(whole)], prompt_of("hi", tools=(RUN_CELL,))))
    assert reply.message.text == "Yes."
    assert reply.message.tool_calls == (ToolCall("c", "run_cell", "{}"),)
    assert reply.usage.prompt_tokens == 5


def test_stop_in_the_midst_of_thinking_closes_the_stream() -> None:
    thinking = {
        "type": "response.reasoning_summary_text.delta",
        "delta": "Let me",
        "output_index": 0,
    }
    stop, asked = Stop(), Asked()
    with serving([raw_sse([STARTED, thinking, Pause(30)], done=False)], api="responses") as (
        service,
        lm,
    ):
        timer = threading.Timer(0.3, stop.set)
        timer.start()
        started = time.monotonic()
        with pytest.raises(RunCancelled):
            ask(lm, stop=stop, into=asked)
        assert time.monotonic() - started < 2
        assert service.wait_for_break(2)
        timer.join()
    assert asked.all(ReasoningDelta) == [ReasoningDelta("Let me")]


def test_thinking_that_is_no_longer_accepted_is_left_out_and_said() -> None:
    """Another organisation behind the same gateway cannot read it."""
    provider, other = OpenAIResponses([HARD]), OpenAIResponses([ENOUGH, ENOUGH])

    def routed(request: Request) -> Any:
        return (other if provider.taken else provider)(request)

    with serving(routed, api="responses") as (_, lm):
        said: list[Message] = [UserMessage((TextPart("go"),))]
        said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        second = ask(lm, prompt_of(*said, tools=(RUN_CELL,)))
        third = ask(lm, prompt_of(*said, reply_of(second).message, "more", tools=(RUN_CELL,)))
    assert [notice.code for notice in second.all(Notice)] == ["items_refused"]
    assert third.all(Notice) == []
    assert len(other.refusals) == 1
    kinds = [item["type"] for item in other.taken[1]["input"]]
    assert kinds.count("reasoning") == 1, "the new thinking goes back"


def test_another_model_is_not_sent_what_this_one_thought() -> None:
    provider = OpenAIResponses([HARD, ENOUGH])
    with serving(provider, api="responses") as (_, lm):
        said: list[Message] = [UserMessage((TextPart("go"),))]
        said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        prompt = prompt_of(*said, tools=(RUN_CELL,))
        other = Prompt(prompt.messages, prompt.tools, type(prompt.parameters)("gpt-6-sol"))
        ask(lm, other)
    assert provider.refusals == []
    kinds = [item["type"] for item in provider.taken[1]["input"]]
    assert kinds == ["message", "message", "function_call", "function_call_output"]


SET = ModelSettings(reasoning_effort="low", verbosity="low", service_tier="flex")


def test_what_is_set_for_a_model_is_sent_in_the_form_of_the_api() -> None:
    provider = OpenAIResponses([ENOUGH])
    with FakeService(provider) as service:
        lm = OpenAILM(service.settings(api="responses"), models={"fake*": SET})
        ask(lm, prompt_of("hi", extra={"reasoning_effort": "high"}))
        lm.close()
    body = provider.taken[0]
    assert (body["reasoning"]["effort"], body["text"]) == ("high", {"verbosity": "low"})
    assert body["service_tier"] == "flex"


def test_what_is_set_for_a_model_and_refused_is_left_out_once_and_said() -> None:
    words = "Unsupported value: 'verbosity' does not support 'low' with this model."
    answers = [error(400, words, param="verbosity"), text("Yes."), text("Yes.")]
    with FakeService(answers) as service:
        lm = OpenAILM(service.settings(), models={"fake*": SET})
        first, second = ask(lm), ask(lm)
        lm.close()
        bodies = [request.body for request in service.requests]
    assert [notice.code for notice in first.all(Notice)] == ["parameter_dropped"]
    assert reply_of(first).dropped_parameters == ("verbosity",)
    assert second.all(Notice) == []
    assert ["verbosity" in body for body in bodies] == [True, False, False]
    assert bodies[0]["reasoning_effort"] == "low"
