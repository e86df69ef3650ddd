"""Outside proof for the Messages API: the types and the client of Anthropic's own SDK.

The product does not need it; where it is not installed, nothing is proven here.
"""

from __future__ import annotations

from typing import Any

import pytest
from asking import RUN_CELL, ask, prompt_of, serving
from fake_anthropic import AnthropicMessages, fault, redacted
from fake_providers import calls, says, thinks
from fake_service import FakeService
from pydantic import TypeAdapter
from sdk_types import problems

from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

sdk = pytest.importorskip("anthropic", minversion="2.0")

SCRIPT = [
    [thinks("Hm."), redacted(), says("I look."), calls("run_cell", {"code": "1"})],
    [thinks("So."), calls("run_cell", {}), calls("run_cell", {"code": "3"})],
    [thinks(), says("It is 1.")],
]
ASKED: list[dict[str, Any]] = [
    {},
    {"max_output_tokens": 99, "extra": {"reasoning_effort": "low", "parallel_tool_calls": False}},
    {"extra": {"stop": ["END"], "service_tier": "auto", "tool_choice": "none"}},
    {"extra": {"response_format": {"type": "json_schema", "json_schema": {"schema": {"a": 1}}}}},
]


@pytest.mark.parametrize("asked", ASKED)
def test_requests_fit_the_types_of_the_sdk(asked: dict[str, Any]) -> None:
    picture = ImagePart("image/png", "aGk=", "a plot")
    said: list[Message] = [
        SystemMessage("Be brief."),
        UserMessage((TextPart("See"), picture)),
        AssistantMessage("I run.", (ToolCall("functions.run:0", "run_cell", "{broken"),)),
        ToolMessage("functions.run:0", "run_cell", (TextPart("A plot."), picture), is_error=True),
    ]
    provider = AnthropicMessages(SCRIPT, chunk_bytes=1)
    with serving(provider, api="messages") as (_, lm):
        for _ in SCRIPT:
            reply = ask(lm, prompt_of(*said, tools=(RUN_CELL,), **asked)).reply
            assert reply is not None
            said.append(reply.message)
            for call in reply.message.tool_calls:
                said.append(ToolMessage(call.id, call.name, (TextPart("1"),)))
    assert provider.refusals == []
    assert len(provider.taken) == len(SCRIPT)
    wanted = sdk.types.message_create_params.MessageCreateParamsStreaming
    assert [wrong for body in provider.taken for wrong in problems(body, wanted)] == []


def test_the_types_find_what_is_wrong() -> None:
    wanted = sdk.types.message_create_params.MessageCreateParamsStreaming
    said = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    good: dict[str, Any] = {"model": "m", "max_tokens": 5, "messages": [said], "stream": True}
    assert problems(good, wanted) == []
    wrong: list[dict[str, Any]] = [
        {"temperature": 0.5},
        {"stream": False},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"messages": [{"role": "tool", "content": []}]},
        {"thinking": {"type": "sometimes"}},
        {"output_config": {"effort": "enormous"}},
    ]
    for bad in wrong:
        assert problems(good | bad, wanted) != [], bad


def test_the_events_of_the_simulator_are_those_of_the_sdk() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(sdk.types.RawMessageStreamEvent)
    provider = AnthropicMessages(SCRIPT)
    with serving(provider, api="messages") as (_, lm):
        ask(lm, prompt_of("go", tools=(RUN_CELL,)))
    events = provider.events(provider._message(provider.taken[0], SCRIPT[0]))
    for event in events:
        if event["type"] != "ping":
            adapter.validate_python(event)
    assert len(events) > 15


@pytest.mark.parametrize("size", [0, 1, 7])
def test_the_client_of_the_sdk_talks_with_the_simulator(size: int) -> None:
    """Whoever wrote the client and the rules of the API agrees with what is refused here."""
    provider = AnthropicMessages(SCRIPT, chunk_bytes=size)
    tool = {"name": "run_cell", "input_schema": {"type": "object", "properties": {}}}
    said: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "go"}]}]
    with (
        FakeService(provider) as service,
        sdk.Anthropic(
            base_url=service.base_url.removesuffix("/v1"), api_key="key", max_retries=0
        ) as client,
    ):
        for _ in SCRIPT:
            with client.messages.stream(
                model="claude-sonnet-5-5",
                max_tokens=900,
                messages=said,
                tools=[tool],
                thinking={"type": "adaptive", "display": "summarized"},
            ) as stream:
                message = stream.get_final_message()
            made = [block.model_dump(exclude_none=True) for block in message.content]
            said.append({"role": "assistant", "content": made})
            results = [
                {"type": "tool_result", "tool_use_id": block["id"], "content": "1"}
                for block in made
                if block["type"] == "tool_use"
            ]
            said.append({"role": "user", "content": results})
    assert provider.refusals == []
    assert [block["type"] for block in said[1]["content"]] == [
        *("thinking", "redacted_thinking", "text", "tool_use"),
    ]
    assert (message.stop_reason, message.content[-1].text) == ("end_turn", "It is 1.")
    assert message.usage.output_tokens_details.thinking_tokens == 64


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"messages": [{"role": "assistant", "content": [{"type": "text", "text": "hi"}]}]},
         "first message"),
        ({"messages": []}, "first message"),
        ({"extra_body": {"temperature": 1}}, "temperature: Extra inputs"),
        ({"extra_body": {"seed": 1}}, "seed: Extra inputs"),
        ({"extra_body": {"max_tokens": None}}, "max_tokens"),
        ({"thinking": {"type": "disabled"}}, "thinking"),
        ({"system": [{"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}] * 5},
         "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    ],
)  # fmt: skip
def test_the_client_of_the_sdk_is_refused_as_we_are(changes: dict[str, Any], words: str) -> None:
    said = [{"role": "user", "content": [{"type": "text", "text": "hi"}]}]
    asked: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": 9, "messages": said}
    with (
        FakeService(AnthropicMessages(SCRIPT)) as service,
        sdk.Anthropic(
            base_url=service.base_url.removesuffix("/v1"), api_key="key", max_retries=0
        ) as client,
        pytest.raises(sdk.BadRequestError, match=words),
    ):
        client.messages.create(**{**asked, **changes})


def test_the_client_of_the_sdk_knows_the_errors() -> None:
    answers = [fault(529, "overloaded_error", "Overloaded"), fault(404, "not_found_error", "m")]
    said = [{"role": "user", "content": "hi"}]
    with (
        FakeService(answers) as service,
        sdk.Anthropic(
            base_url=service.base_url.removesuffix("/v1"), api_key="key", max_retries=0
        ) as client,
    ):
        for status in (529, 404):
            with pytest.raises(sdk.APIStatusError) as caught:
                client.messages.create(model="m", max_tokens=9, messages=said)
            assert (caught.value.status_code, caught.value.request_id) == (status, "req_9")
