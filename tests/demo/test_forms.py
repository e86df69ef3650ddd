"""Requests in words: the demo model reads them as it reads calls."""

from __future__ import annotations

import json
from typing import Any

import pytest
from demo_session import user

from cellwright.demo.server import reply_to
from cellwright.demo.wire import MODEL, read_request
from cellwright.llm.adapters.chain import ADAPTERS
from cellwright.llm.adapters.text_adapter import TextAdapter
from cellwright.llm.openai_format import ChatForm, messages_to_openai
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    Message,
    Parameters,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

RUN = Manifest(
    "run_cell",
    "Run code.",
    {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]},
)
CALL = ToolCall("c1", "run_cell", json.dumps({"code": "x = 1"}))
each_form = pytest.mark.parametrize("name", ["chat", "json", "xml"])


def adapter_of(name: str) -> TextAdapter:
    adapter = ADAPTERS[name]()
    assert isinstance(adapter, TextAdapter)
    return adapter


def answered(
    name: str, *messages: Message, tools: tuple[Manifest, ...] = (RUN,), **body: Any
) -> str:
    history = (SystemMessage("Rules."), *messages)
    prompt = adapter_of(name).format_prompt(history, tools, Parameters(MODEL))
    sent = messages_to_openai(prompt.messages, ChatForm(vision=False))
    reply = reply_to(read_request({"model": MODEL, "messages": sent, **body}), 0)
    assert reply.tool == ""
    return reply.text


@each_form
def test_a_call_is_written_in_the_form_that_was_asked_for(name: str) -> None:
    text = answered(name, UserMessage((TextPart("profile a.csv"),)))
    written = adapter_of(name).read_reply(text, {"run_cell": RUN})
    ((tool, arguments),) = written.calls
    assert tool == "run_cell"
    assert "a.csv" in arguments["code"]
    assert "not a language model" in written.text


@each_form
def test_a_result_is_read_and_the_plan_goes_on(name: str) -> None:
    text = answered(
        name,
        UserMessage((TextPart("profile a.csv"),)),
        AssistantMessage("I read it.", (CALL,)),
        ToolMessage("c1", "run_cell", (TextPart("PermissionError: [Errno 13] denied"),)),
    )
    assert "I could not read `a.csv`: PermissionError" in text


@each_form
def test_words_after_results_are_the_persons(name: str) -> None:
    text = answered(
        name,
        UserMessage((TextPart("profile a.csv"),)),
        AssistantMessage("I read it.", (CALL,)),
        ToolMessage("c1", "run_cell", (TextPart("1"),)),
        UserMessage((TextPart("hello"),)),
    )
    assert "Hello" in text or "demo" in text


@each_form
def test_a_reply_that_was_not_in_the_form_is_taken_as_words(name: str) -> None:
    history = [
        {"role": "system", "content": f"Rules.\n\n{adapter_of(name).instructions((RUN,))}"},
        user("hello"),
        {"role": "assistant", "content": "Loose words."},
        {"role": "user", "content": [{"type": "text", "text": "profile a.csv"}]},
    ]
    reply = reply_to(read_request({"model": MODEL, "messages": history}), 0)
    assert adapter_of(name).read_reply(reply.text, {}).calls


@each_form
def test_a_request_without_tools_is_answered_in_plain_words(name: str) -> None:
    text = answered(
        name,
        UserMessage((TextPart("profile a.csv"),)),
        AssistantMessage("I read it.", (CALL,)),
        ToolMessage("c1", "run_cell", (TextPart("9 rows"),)),
        UserMessage((TextPart("The run has reached a limit. What did you do?"),)),
        tools=(),
    )
    assert not text.startswith(("[[", "{", "<"))


def test_a_reply_that_is_cut_stays_cut() -> None:
    text = answered("chat", UserMessage((TextPart("profile a.csv"),)), max_tokens=3)
    assert len(text) == 12


def test_a_result_that_is_not_fenced_is_read_to_its_end() -> None:
    from cellwright.demo.wire import READERS

    assert READERS["chat"]("[[ ## result of run_cell ## ]]\nplain") == (["plain"], "")
    assert READERS["json"]("words") == ([], "words")
    assert READERS["xml"]("words") == ([], "")
