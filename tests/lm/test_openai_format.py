"""Prompts as OpenAI's chat format, and back."""

from __future__ import annotations

import json
from typing import Any

import pytest
from asking import RUN_CELL, prompt_of
from hypothesis import given
from hypothesis import strategies as st

from cellwright.llm.openai_format import (
    ChatForm,
    body_bytes,
    message_from_openai,
    message_to_openai,
    messages_from_openai,
    messages_to_openai,
    parameters_of,
)
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

PICTURE = ImagePart("image/png", "aGk=", "a plot")
PICTURE_URL = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}

words = st.text(st.characters(exclude_categories=["Cs"]))
arguments = st.dictionaries(words, st.integers() | words).map(json.dumps)
calls = st.lists(st.builds(ToolCall, words, words, arguments), max_size=2).map(tuple)
messages = st.one_of(
    st.builds(SystemMessage, words),
    st.builds(lambda text: UserMessage((TextPart(text),)), words),
    st.just(UserMessage((TextPart("See"), ImagePart("image/png", "aGk=")))),
    st.builds(AssistantMessage, words, calls),
)


@given(messages)
def test_a_message_comes_back_as_it_was(message: Message) -> None:
    assert message_from_openai(message_to_openai(message)) == message


@given(st.lists(messages, max_size=6), st.integers(0, 6))
def test_a_prompt_that_grows_keeps_its_first_bytes(said: list[Message], cut: int) -> None:
    def sent(part: list[Message]) -> bytes:
        return body_bytes({"messages": messages_to_openai(part, ChatForm())})

    assert sent(said).startswith(sent(said[:cut])[: -len("]}")])


def test_the_tools_come_before_the_messages_and_the_options_last() -> None:
    prompt = prompt_of("hi", tools=(RUN_CELL,), temperature=0.5, extra={"seed": 1})
    body = parameters_of(prompt, ChatForm(vision=False))
    assert list(body) == [
        "model", "tools", "messages", "temperature", "seed", "stream", "stream_options",
    ]  # fmt: skip
    assert body["tools"][0]["function"]["name"] == "run_cell"
    assert body["stream"] is True


def test_parameters_can_be_left_out() -> None:
    prompt = prompt_of("hi", temperature=0.5, max_output_tokens=9)
    body = parameters_of(
        prompt,
        ChatForm(vision=False),
        length_parameter="max_completion_tokens",
        without={"temperature"},
    )
    assert body["max_completion_tokens"] == 9
    assert "temperature" not in body
    assert "tools" not in body


def test_half_a_surrogate_pair_is_sent_as_a_replacement_and_two_halves_as_one() -> None:
    assert body_bytes({"a": "\ud83d"}) == '{"a":"\N{REPLACEMENT CHARACTER}"}'.encode()
    assert body_bytes({"a": "\ud83d\ude00"}) == '{"a":"😀"}'.encode()


def test_pictures_are_sent_to_a_model_that_sees() -> None:
    sent = message_to_openai(UserMessage((TextPart("See"), PICTURE)))
    assert sent["content"] == [{"type": "text", "text": "See"}, PICTURE_URL]


def test_pictures_are_captions_for_a_model_that_does_not_see() -> None:
    said: list[Message] = [
        UserMessage((TextPart("See"), PICTURE)),
        ToolMessage("c", "plot", (PICTURE,)),
    ]
    user, tool = messages_to_openai(said, ChatForm(vision=False))
    assert user["content"] == "See\n[image: a plot]"
    assert tool == {"role": "tool", "tool_call_id": "c", "content": "[image: a plot]"}


def test_pictures_of_results_follow_the_last_result_of_the_block() -> None:
    said: list[Message] = [
        AssistantMessage("", (ToolCall("c", "plot", "{}"), ToolCall("d", "plot", "{}"))),
        ToolMessage("c", "plot", (TextPart("drawn"), PICTURE)),
        ToolMessage("d", "plot", (TextPart("drawn"),)),
        AssistantMessage("Nice."),
    ]
    sent = messages_to_openai(said, ChatForm())
    assert [message["role"] for message in sent] == [
        "assistant", "tool", "tool", "user", "assistant",
    ]  # fmt: skip
    assert sent[3]["content"][1] == PICTURE_URL


@pytest.mark.parametrize("broken", ['{"code": ', "[1]", '"text"', "null", ""])
def test_arguments_that_are_no_object_are_quoted_in_one(broken: str) -> None:
    message = AssistantMessage("", (ToolCall("c", "run_cell", broken),))
    sent = message_to_openai(message)["tool_calls"][0]["function"]["arguments"]
    assert json.loads(sent) == {"unreadable_arguments": broken}


def test_a_refusal_is_what_the_model_said() -> None:
    message = AssistantMessage(refusal="I will not.")
    assert message_to_openai(message) == {"role": "assistant", "content": "I will not."}


def test_a_message_with_only_calls_has_no_content() -> None:
    message = AssistantMessage("", (ToolCall("c", "a", "{}"),))
    assert message_to_openai(message)["content"] is None


def test_results_get_the_name_of_their_tool_back() -> None:
    said: tuple[Message, ...] = (
        UserMessage((TextPart("go"),)),
        AssistantMessage("", (ToolCall("c", "run_cell", "{}"),)),
        ToolMessage("c", "run_cell", (TextPart("done"),)),
    )
    assert messages_from_openai(messages_to_openai(said, ChatForm())) == said


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"role": "developer", "content": "Be brief."}, SystemMessage("Be brief.")),
        ({"role": "assistant", "content": None}, AssistantMessage()),
        ({"role": "assistant", "reasoning": "Hm."}, AssistantMessage(reasoning="Hm.")),
        (
            {"role": "assistant", "tool_calls": [{"function": {"name": "a", "arguments": {}}}]},
            AssistantMessage("", (ToolCall("", "a", "{}"),)),
        ),
        (
            {"role": "assistant", "tool_calls": [{}]},
            AssistantMessage("", (ToolCall("", "", "{}"),)),
        ),
        ({"role": "tool", "content": "x", "name": "a"}, ToolMessage("", "a", (TextPart("x"),))),
        (
            {"role": "user", "content": [{"type": "text"}, "junk"]},
            UserMessage((TextPart(""),)),
        ),
        (
            {"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}]},
            UserMessage((TextPart("[image: https://example.org/a.png]"),)),
        ),
    ],
)  # fmt: skip
def test_messages_of_others_are_read(data: dict[str, Any], message: Message) -> None:
    assert message_from_openai(data) == message


def test_an_unknown_role_is_named() -> None:
    with pytest.raises(ValueError, match="the role 'robot'"):
        message_from_openai({"role": "robot"})
