"""Anthropic's Messages API, against a service that refuses what the real one refuses."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import replace
from typing import Any

import pytest
from asking import QUICK, RUN_CELL, Asked, ask, prompt_of, reply_of, serving, with_results
from fake_anthropic import AnthropicMessages, fault, redacted
from fake_providers import calls, says, thinks
from fake_service import FakeService, Pause, json_body, raw_sse, text
from test_agent import Harness

from cellwright.agent.loop import run
from cellwright.errors import (
    LMAccessError,
    LMContextError,
    LMNotFoundError,
    LMQuotaError,
    LMRateLimitError,
    LMRequestError,
    LMServerError,
    LMStreamError,
    RunCancelled,
)
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.anthropic import LARGEST_PICTURE, USUAL_LIMIT, messages_parameters
from cellwright.llm.capabilities import list_models
from cellwright.llm.openai import OpenAILM
from cellwright.llm.provider_items import NO_ITEMS
from cellwright.providers import PROVIDERS, usual_api
from cellwright.record.events import Notice, ReasoningDelta, RunFinished, TextDelta
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Parameters,
    Prompt,
    ProviderItems,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.stopping import Stop

PICTURE = ImagePart("image/png", "aGk=", "a plot")
HARD = [thinks("Let me look."), says("I look."), calls("run_cell", {"code": "1"})]
ENOUGH = [thinks("Enough."), says("It is 1.")]


def asked_through(provider: Any, prompt: Prompt, **settings: Any) -> Asked:
    with serving(provider, **{"api": "messages", **settings}) as (_, lm):
        return ask(lm, prompt)


def kinds_of(body: Any) -> list[list[str]]:
    return [[block["type"] for block in message["content"]] for message in body["messages"]]


@pytest.mark.parametrize("size", [0, 1, 7, 4096])
def test_a_reply_streams_whatever_its_pieces_are(size: int) -> None:
    provider = AnthropicMessages([HARD], chunk_bytes=size)
    asked = asked_through(provider, prompt_of("go", tools=(RUN_CELL,)))
    reply = reply_of(asked)
    assert provider.refusals == []
    assert reply.message.text == "I look."
    assert reply.message.tool_calls == (ToolCall("toolu_12", "run_cell", '{"code": "1"}'),)
    assert reply.message.reasoning == "Let me look."
    assert "".join(event.text for event in asked.all(TextDelta)) == "I look."
    assert "".join(event.text for event in asked.all(ReasoningDelta)) == "Let me look."
    assert reply.finish_reason == "tool_calls"
    assert (reply.usage.reasoning_tokens, reply.usage.completion_tokens) == (64, 74)
    assert not reply.usage.estimated
    assert (reply.model, reply.request_id) == ("fake-model", "req_1")
    assert provider.heads[0]["anthropic-version"] == "2026-10-21"


def test_thinking_goes_back_untouched() -> None:
    first = [thinks("Hm."), redacted(), says("I look."), calls("run_cell", {"code": "1"})]
    second = [thinks("So."), calls("run_cell", {"code": "2"}), calls("run_cell", {"code": "3"})]
    provider = AnthropicMessages([first, second, ENOUGH, ENOUGH], chunk_bytes=1)
    with serving(provider, api="messages") as (_, lm):
        said: list[Message] = [SystemMessage("Be brief."), UserMessage((TextPart("go"),))]
        for _ in range(2):
            said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        last = reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message
        said += [last, UserMessage((TextPart("And now?"),))]
        ask(lm, prompt_of(*said, tools=(RUN_CELL,)))
    assert provider.refusals == []
    assert kinds_of(provider.taken[-1]) == [
        ["text"],
        ["thinking", "redacted_thinking", "text", "tool_use"],
        ["tool_result"],
        ["thinking", "tool_use", "tool_use"],
        ["tool_result", "tool_result"],
        ["thinking", "text"],
        ["text"],
    ]
    assert provider.taken[-1]["system"][0]["text"] == "Be brief."


def test_thinking_that_is_not_shown_goes_back_too() -> None:
    """What a person sets for ``thinking`` counts; the text is empty then, not the signature."""
    provider = AnthropicMessages([HARD, ENOUGH])
    extra = {"thinking": {"type": "adaptive", "display": "omitted"}}
    with serving(provider, api="messages") as (_, lm):
        prompt = prompt_of("go", tools=(RUN_CELL,), extra=extra)
        message = reply_of(ask(lm, prompt)).message
        said = [*prompt.messages, *with_results(message)]
        ask(lm, prompt_of(*said, tools=(RUN_CELL,), extra=extra))
    assert message.reasoning == ""
    assert provider.refusals == []
    assert kinds_of(provider.taken[-1])[1] == ["thinking", "text", "tool_use"]


def test_the_prompt_is_cached_as_far_as_it_will_stay() -> None:
    provider = AnthropicMessages([HARD, HARD, HARD, ENOUGH])
    replies = []
    with serving(provider, api="messages") as (_, lm):
        said: list[Message] = [SystemMessage("Be brief."), UserMessage((TextPart("go"),))]
        for _ in range(4):
            replies.append(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))))
            said += with_results(replies[-1].message)
    assert provider.refusals == []
    body = provider.taken[-1]
    assert "cache_control" in body["tools"][-1]
    assert "cache_control" in body["system"][-1]
    marked = [
        place
        for place, message in enumerate(body["messages"])
        for block in message["content"]
        if "cache_control" in block
    ]
    assert marked == [4, 6], "the newest two of the person"
    assert replies[0].usage.cached_tokens == 0
    for before, reply in zip(replies, replies[1:], strict=False):
        usage, earlier = reply.usage, before.usage
        assert usage.cached_tokens == earlier.cached_tokens + earlier.cache_write_tokens
        assert usage.cached_tokens + usage.cache_write_tokens == usage.prompt_tokens


def test_all_that_can_be_asked_is_said_in_the_form_of_the_api() -> None:
    extra = {
        "reasoning_effort": "low",
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": {"type": "object"}, "strict": True},
        },
        "service_tier": "auto",
        "stop": "END",
        "metadata": {"user_id": "me"},
    }
    prompt = prompt_of(
        SystemMessage("Be brief."),
        UserMessage((TextPart("See"), TextPart("  "), PICTURE)),
        AssistantMessage("I run it.", (ToolCall("functions.run:0", "run_cell", "{broken"),)),
        ToolMessage("functions.run:0", "run_cell", (TextPart("A plot."), PICTURE), is_error=True),
        AssistantMessage("", (ToolCall("c2", "run_cell", '{"timeout": NaN}'),)),
        ToolMessage("c2", "run_cell", (TextPart(""),)),
        tools=(RUN_CELL,),
        max_output_tokens=99,
        extra=extra,
    )
    provider = AnthropicMessages([ENOUGH])
    assert reply_of(asked_through(provider, prompt)).dropped_parameters == ()
    assert provider.refusals == []
    body = provider.taken[0]
    assert body["max_tokens"] == 99
    assert body["thinking"] == {"type": "adaptive", "display": "summarized"}
    assert body["output_config"]["effort"] == "low"
    assert body["output_config"]["format"] == {"type": "json_schema", "schema": {"type": "object"}}
    assert body["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}
    assert body["stop_sequences"] == ["END"]
    assert kinds_of(body)[0] == ["text", "image"]
    result = body["messages"][2]["content"][0]
    assert [part["type"] for part in result["content"]] == ["text", "image"]
    assert result["is_error"]
    assert result["tool_use_id"] == body["messages"][1]["content"][1]["id"]
    assert "unreadable_arguments" in body["messages"][1]["content"][1]["input"]
    assert "content" not in body["messages"][4]["content"][0]


def test_a_picture_that_is_too_large_or_of_another_kind_is_sent_by_its_caption() -> None:
    large = ImagePart("image/png", "a" * (LARGEST_PICTURE + 4), "a large plot")
    drawing = ImagePart("image/svg+xml", "aGk=", "a drawing")
    provider = AnthropicMessages([ENOUGH])
    asked_through(provider, prompt_of(UserMessage((large, drawing, PICTURE))))
    assert provider.refusals == []
    assert kinds_of(provider.taken[0]) == [["text", "text", "image"]]
    assert "a large plot" in provider.taken[0]["messages"][0]["content"][0]["text"]


def test_a_conversation_whose_beginning_is_gone_still_begins_with_the_person() -> None:
    provider = AnthropicMessages([ENOUGH])
    asked_through(provider, prompt_of(AssistantMessage("It was 1."), "And now?"))
    assert provider.refusals == []
    assert [m["role"] for m in provider.taken[0]["messages"]] == ["user", "assistant", "user"]


@pytest.mark.parametrize(
    ("asked_for", "dropped", "left"),
    [
        ({"temperature": 0.5}, ("temperature",), {}),
        ({"extra": {"top_p": 0.5}}, ("top_p",), {}),
        ({"extra": {"seed": 1}}, ("seed",), {}),
        ({"extra": {"service_tier": "flex"}}, ("service_tier",), {}),
        ({"extra": {"reasoning_effort": "huge"}}, ("reasoning_effort",), {}),
        ({"extra": {"tool_choice": "required"}}, ("tool_choice",), {}),
        ({"max_output_tokens": 900_000}, (), {"max_tokens": 8_192}),
        ({"extra": {"response_format": {"type": "json_object"}}}, ("response_format",), {}),
        ({"extra": {"reasoning_effort": "minimal"}}, (), {"output_config": {"effort": "low"}}),
    ],
)
def test_what_is_refused_is_left_out_once_and_said(
    asked_for: dict[str, Any], dropped: tuple[str, ...], left: dict[str, Any]
) -> None:
    provider = AnthropicMessages([ENOUGH, ENOUGH])
    prompt = prompt_of("hi", tools=(RUN_CELL,), **asked_for)
    with serving(provider, api="messages") as (_, lm):
        first, second = ask(lm, prompt), ask(lm, prompt)
    assert len(provider.refusals) <= 1, provider.refusals
    notices = [notice.code for notice in first.all(Notice)]
    assert notices == ["parameter_dropped"] * len(provider.refusals)
    assert reply_of(first).dropped_parameters == dropped
    assert second.all(Notice) == []
    assert {name: provider.taken[-1][name] for name in left} == left


def test_a_model_that_does_not_think_adaptively_is_asked_without() -> None:
    provider = AnthropicMessages([[says("Yes.")]] * 2)
    with serving(provider, api="messages") as (_, lm):
        prompt = prompt_of("hi", extra={"reasoning_effort": "high"})
        prompt = replace(prompt, parameters=replace(prompt.parameters, model="claude-haiku-4-5"))
        first, second = ask(lm, prompt), ask(lm, prompt)
    assert reply_of(first).message.text == "Yes."
    assert len(provider.refusals) == 2, "thinking, then effort"
    assert second.all(Notice) == []
    assert "thinking" not in provider.taken[-1]


def test_a_limit_is_sent_where_nobody_set_one() -> None:
    """The API demands one; a server of one's own has a smaller one already."""
    body = messages_parameters(prompt_of("hi"), vision=True, reader=NO_ITEMS)
    assert body["max_tokens"] == USUAL_LIMIT


@pytest.mark.parametrize(
    ("extra", "name", "wanted"),
    [
        ({"stop": ["END"]}, "stop_sequences", ["END"]),
        ({"response_format": {"type": "json_object"}}, "output_config", None),
        ({"tool_choice": {"type": "none"}}, "tool_choice", {"type": "none"}),
        ({"tool_choice": "auto"}, "tool_choice", {"type": "auto"}),
        ({"reasoning_effort": "minimal"}, "output_config", {"effort": "low"}),
        ({"output_config": {"effort": "high"}}, "output_config", {"effort": "high"}),
    ],
)
def test_parameters_may_be_written_as_either_api_has_them(
    extra: dict[str, Any], name: str, wanted: Any
) -> None:
    prompt = prompt_of("hi", tools=(RUN_CELL,))
    prompt = replace(prompt, parameters=replace(prompt.parameters, extra=extra))
    assert messages_parameters(prompt, vision=True, reader=NO_ITEMS).get(name) == wanted


@pytest.mark.parametrize("effort", ["none", "low"])
def test_who_asks_for_no_thinking_is_told_where_the_model_cannot_help_it(effort: str) -> None:
    provider = AnthropicMessages([ENOUGH])
    asked = asked_through(provider, prompt_of("hi", extra={"reasoning_effort": effort}))
    assert len(asked.all(Notice)) == (effort == "none")
    assert ("thinking" in provider.taken[0]) == (effort == "low")


@pytest.mark.parametrize("changed", ["the head", "the tools", "an earlier question"])
def test_thinking_of_a_conversation_that_was_changed_is_left_out_and_said(changed: str) -> None:
    """What stands before a block of thinking may not change, and a window is moved in the end."""
    provider = AnthropicMessages([HARD, ENOUGH, ENOUGH])
    with serving(provider, api="messages") as (_, lm):
        question = UserMessage((TextPart("go"),))
        message = reply_of(ask(lm, prompt_of(question, tools=(RUN_CELL,)))).message
        head = [SystemMessage("Be brief.")] if changed == "the head" else []
        tool = replace(RUN_CELL, description="Run it.") if changed == "the tools" else RUN_CELL
        if changed == "an earlier question":
            question = UserMessage((TextPart("go on"),))
        said: list[Message] = [*head, question, *with_results(message)]
        second = ask(lm, prompt_of(*said, tools=(tool,)))
        said += [reply_of(second).message, UserMessage((TextPart("more"),))]
        third = ask(lm, prompt_of(*said, tools=(tool,)))
    assert [notice.code for notice in second.all(Notice)] == ["items_refused"]
    assert "bound to a different conversation" in provider.refusals[0]
    assert third.all(Notice) == []
    assert len(provider.refusals) == 1
    kinds = [kind for kinds in kinds_of(provider.taken[-1]) for kind in kinds]
    assert kinds.count("thinking") == 1, "the new thinking goes back"


def test_thinking_that_was_refused_once_is_not_tried_with_the_next_question() -> None:
    """Each question has a client of its own; what was thought since goes back all the same."""
    provider = AnthropicMessages([HARD, HARD, ENOUGH])
    with FakeService(provider) as service:
        said: list[Message] = [UserMessage((TextPart("go"),))]
        for question in ("", "the window has moved", ""):
            lm = OpenAILM(service.settings(api="messages"), pace=QUICK)
            if question:
                said[0] = UserMessage((TextPart(question),))
            message = reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message
            said += with_results(message)
            lm.close()
    assert len(provider.refusals) == 1
    assert kinds_of(provider.taken[-1]) == [
        ["text"],
        ["text", "tool_use"],
        ["tool_result"],
        ["thinking", "text", "tool_use"],
        ["tool_result"],
    ]


def test_another_model_is_not_sent_what_this_one_thought() -> None:
    provider = AnthropicMessages([HARD, ENOUGH])
    with serving(provider, api="messages") as (_, lm):
        prompt = prompt_of("go", tools=(RUN_CELL,))
        message = reply_of(ask(lm, prompt)).message
        said = (*prompt.messages, *with_results(message))
        ask(lm, Prompt(said, prompt.tools, replace(prompt.parameters, model="claude-opus-5-5")))
    assert provider.refusals == []
    assert kinds_of(provider.taken[-1]) == [["text"], ["text", "tool_use"], ["tool_result"]]


def test_thinking_in_the_record_is_kept_apart_from_what_is_searched_for_secrets() -> None:
    message = reply_of(asked_through(AnthropicMessages([HARD]), prompt_of("go"))).message
    items = message.provider_items
    assert isinstance(items, ProviderItems)
    assert items.api == "messages"
    assert set(items.items[0]["signature"]) == {"base64"}
    assert [item["type"] for item in items.items] == ["thinking", "text", "tool_use"]
    assert "input" not in items.items[2], "the message says it itself"


@pytest.mark.parametrize(
    ("ending", "finish", "truncated"),
    [
        ({"stop_reason": "max_tokens"}, "length", True),
        ({"stop_reason": "model_context_window_exceeded"}, "length", True),
        ({"stop_reason": "pause_turn"}, "pause", False),
        ({"stop_reason": "stop_sequence", "stop_sequence": "END"}, "stop", False),
        ({}, "stop", False),
    ],
)
def test_why_a_reply_ends_is_told_as_by_chat_completions(
    ending: dict[str, Any], finish: str, truncated: bool
) -> None:
    reply = reply_of(asked_through(AnthropicMessages([ENOUGH], ending=ending), prompt_of("hi")))
    assert (reply.finish_reason, reply.truncated) == (finish, truncated)


def test_a_paused_turn_goes_back_as_it_is_and_is_gone_on_with() -> None:
    """As where the person's own ``extra_body`` brings a tool that runs at the provider."""
    search = {"type": "server_tool", "used": {"name": "web_search", "input": {"query": "rates"}}}
    first = [thinks("Search."), says("I look it up. "), search]
    provider = AnthropicMessages([first, [search], [says("It is 4 %.")], [says("Yes.")]], paused=2)
    harness = Harness([])
    with serving(provider, api="messages") as (_, lm):
        parts = replace(harness.parts, lm=lm, parameters=Parameters("claude-sonnet-5-5"))
        finished = list(run(parts, harness.history))[-1]
        harness.history.messages.append(UserMessage((TextPart("Sure?"),)))
        again = list(run(parts, harness.history))[-1]
    assert provider.refusals == []
    assert isinstance(finished, RunFinished)
    assert (finished.status, finished.answer) == ("completed", "I look it up. It is 4 %.")
    assert kinds_of(provider.taken[1])[-1] == ["thinking", "text", "server_tool_use"]
    assert kinds_of(provider.taken[2])[-1] == [*kinds_of(provider.taken[1])[-1], "server_tool_use"]
    assert provider.taken[2]["messages"][-1]["content"][-1]["input"] == {"query": "rates"}
    assert isinstance(again, RunFinished)
    assert again.status == "completed"


def test_a_refusal_is_told_with_its_reason() -> None:
    details = {"type": "refusal", "category": "cyber", "explanation": "This looks like malware."}
    ending = {"stop_reason": "refusal", "stop_details": details}
    reply = reply_of(asked_through(AnthropicMessages([[]], ending=ending), prompt_of("hi")))
    assert reply.message.refusal == "This looks like malware."
    assert NativeAdapter().parse_reply(reply, ()).problem == "refused"


def test_a_call_that_was_cut_is_not_run() -> None:
    ending = {"stop_reason": "max_tokens"}
    prompt = prompt_of("go", tools=(RUN_CELL,))
    reply = reply_of(asked_through(AnthropicMessages([HARD], ending=ending), prompt))
    (call,) = NativeAdapter().parse_reply(reply, (RUN_CELL,)).calls
    assert call.error


def test_a_call_without_arguments_has_none() -> None:
    prompt = prompt_of("go", tools=(RUN_CELL,))
    reply = reply_of(asked_through(AnthropicMessages([[calls("run_cell", {})]]), prompt))
    assert reply.message.tool_calls[0].arguments == "{}"


def test_thinking_that_led_to_nothing_is_not_sent_back() -> None:
    provider = AnthropicMessages([[thinks("Hm.")], ENOUGH])
    with serving(provider, api="messages") as (_, lm):
        empty = reply_of(ask(lm, prompt_of("go"))).message
        ask(lm, prompt_of("go", empty, "Go on."))
    assert provider.refusals == []


def test_a_reply_that_is_not_streamed_is_read() -> None:
    provider = AnthropicMessages([HARD])
    provider.taken.append({})
    provider.script = [[], [*HARD, calls("run_cell", {})]]
    body = {
        "model": "m",
        "messages": [{"content": [{"type": "text", "text": "Which is it?"}]}],
        "thinking": {"display": "summarized"},
    }
    whole = provider._message(body, provider.script[1])
    reply = reply_of(asked_through([json_body(whole)], prompt_of("hi", tools=(RUN_CELL,))))
    assert (reply.message.text, reply.message.reasoning) == ("I look.", "Let me look.")
    assert [call.arguments for call in reply.message.tool_calls] == ['{"code": "1"}', "{}"]
    assert reply.usage.completion_tokens == 74
    assert not reply.usage.estimated
    assert reply.message.provider_items is not None


def stream_of(*events: dict[str, Any]) -> Any:
    return raw_sse(list(events), done=False)


STARTED = {"type": "message_start", "message": {"id": "msg_1", "type": "message", "usage": {}}}


def in_stream(kind: str, message: str) -> Any:
    return stream_of(STARTED, {"type": "error", "error": {"type": kind, "message": message}})


@pytest.mark.parametrize(
    ("answer", "kind", "tries"),
    [
        (fault(401, "authentication_error", "invalid x-api-key"), LMAccessError, 1),
        (fault(403, "permission_error", "Not for this key."), LMAccessError, 1),
        (fault(404, "not_found_error", "model: claude-9"), LMNotFoundError, 1),
        (fault(413, "request_too_large", "Request exceeds the maximum size"), LMContextError, 1),
        (fault(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
         LMContextError, 1),
        (fault(400, "invalid_request_error", "Your credit balance is too low to access the API."),
         LMQuotaError, 1),
        (fault(402, "billing_error", "There is an issue with your billing."), LMQuotaError, 1),
        (fault(429, "rate_limit_error", "Slow down.", **{"retry-after": "0.01"}),
         LMRateLimitError, 4),
        (fault(500, "api_error", "Internal server error"), LMServerError, 4),
        (fault(504, "timeout_error", "Gateway timeout"), LMServerError, 4),
        (fault(529, "overloaded_error", "Overloaded"), LMServerError, 4),
        (in_stream("overloaded_error", "Overloaded"), LMServerError, 4),
        (in_stream("invalid_request_error", "Not this."), LMServerError, 1),
        (stream_of(STARTED), LMStreamError, 2),
    ],
)  # fmt: skip
def test_failures_are_those_of_our_tree_and_tried_again_as_elsewhere(
    answer: Any, kind: type[Exception], tries: int
) -> None:
    with serving([answer] * 4, api="messages") as (service, lm):
        with pytest.raises(kind) as caught:
            ask(lm)
        assert type(caught.value) is kind
        assert len(service.requests) == tries


def test_the_window_is_learned_from_the_refusal_of_a_long_prompt() -> None:
    words = "prompt is too long: 210000 tokens > 200000 maximum"
    with serving([fault(400, "invalid_request_error", words)], api="messages") as (_, lm):
        with pytest.raises(LMContextError):
            ask(lm)
        assert lm.capabilities("fake-model").context_tokens == 200_000


def test_an_error_names_the_request() -> None:
    refused = fault(400, "invalid_request_error", "messages: something")
    with pytest.raises(LMRequestError) as caught:
        asked_through([refused], prompt_of("hi"))
    assert "req_9" in caught.value.hint


def test_an_overloaded_service_answers_later() -> None:
    busy, free = fault(529, "overloaded_error", "Overloaded"), AnthropicMessages([ENOUGH])
    reply = reply_of(asked_through([busy, free], prompt_of("hi")))
    assert (reply.message.text, reply.attempts) == ("It is 1.", 2)


def test_stop_in_the_midst_of_thinking_closes_the_stream() -> None:
    begun = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking"}}
    delta = {"type": "thinking_delta", "thinking": "Let me"}
    more = {"type": "content_block_delta", "index": 0, "delta": delta}
    stop, asked = Stop(), Asked()
    with serving([raw_sse([STARTED, begun, more, Pause(30)], done=False)], api="messages") as (
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


def test_the_service_is_known_by_its_host_and_the_other_api_can_be_wished_for() -> None:
    url = next(p.base_url for p in PROVIDERS if p.api == "messages")
    assert usual_api(url, "claude-sonnet-5-5") == "messages"
    assert usual_api("https://openrouter.ai/api/v1", "anthropic/claude-sonnet-5.5") == "chat"
    with serving([text("Yes.")], api="chat") as (service, lm):
        ask(lm)
    assert "anthropic-version" not in service.requests[0].headers


def test_the_models_are_listed_with_the_head_that_the_service_wants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = {"data": [{"id": "claude-a", "type": "model"}], "has_more": False}
    with FakeService(models=json_body(listed)) as service:
        theirs = next(p for p in PROVIDERS if p.api == "messages")
        for module in ("providers", "llm.capabilities"):
            monkeypatch.setattr(f"cellwright.{module}.find_provider", lambda url: theirs)
        assert list_models(service.settings(headers={"X-Other": "2"})) == ("claude-a",)
    asked = service.other_requests[0]
    assert asked.path == "/v1/models?limit=1000", "twenty are listed otherwise"
    assert asked.headers["anthropic-version"] == "2026-10-21"
    assert asked.headers["x-other"] == "2"


def test_a_version_that_the_person_sets_counts() -> None:
    older = {"Anthropic-Version": "2023-06-01"}
    with serving([fault(403, "permission_error", "No.")], api="messages", headers=older) as served:
        with pytest.raises(LMAccessError):
            ask(served[1])
        service = served[0]
    assert service.requests[0].headers["anthropic-version"] == "2023-06-01"


def test_each_request_goes_on_where_the_one_before_ended() -> None:
    """What a prompt cache needs; the marks are no part of what is cached."""
    provider = AnthropicMessages([HARD, ENOUGH])
    with serving(provider, api="messages") as (_, lm):
        said: list[Message] = [UserMessage((TextPart("go"),))]
        said += with_results(reply_of(ask(lm, prompt_of(*said, tools=(RUN_CELL,)))).message)
        ask(lm, prompt_of(*said, tools=(RUN_CELL,)))
    mark = ', "cache_control": {"type": "ephemeral"}'
    first, second = (json.dumps(body["messages"]).replace(mark, "") for body in provider.taken)
    assert second.startswith(first[:-1])
