"""A checked request answered: what the analyst says, in the shape of a reply."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from cellwright.demo.analyst import Answer, next_answer
from cellwright.demo.forms import in_words
from cellwright.demo.steps import Call
from cellwright.demo.wire import (
    CHARACTERS_PER_TOKEN,
    ChatRequest,
    WireReply,
    call_id,
    token_estimate,
)

SUBMIT = "submit"
EMPTY_VALUES: Mapping[str, Any] = {
    "integer": 0,
    "number": 0,
    "boolean": False,
    "array": [],
    "object": {},
}


def reply_to(request: ChatRequest, cached_characters: int) -> WireReply:
    """The reply to a request.

    Args:
        request: What was asked.
        cached_characters: How much of the prompt the server has seen before.
    """
    words = in_words(request)
    if words is not None:
        return words.reply(reply_to(words.request, cached_characters))
    answer = next_answer(request.messages, request.tools, request.forced_tool)
    if request.must_call and answer.call is None and request.tools:
        answer = _as_call(answer, request.tools)
    call = answer.call
    reply = WireReply(
        text=answer.text,
        prompt_tokens=token_estimate(request.cache_key),
        cached_tokens=cached_characters // CHARACTERS_PER_TOKEN,
    )
    if call is not None:
        reply = replace(
            reply,
            tool=call.tool,
            arguments=fill_arguments(call, request.tools[call.tool]),
            finish_reason="tool_calls",
            call_id=call_id(request),
        )
    return _within_limit(reply, request.token_limit)


def fill_arguments(call: Call, schema: Mapping[str, Any]) -> str:
    """The call's arguments as JSON that fits the tool's schema.

    An argument the schema does not know goes to the first text the schema requires; what else is
    required gets a plain value.
    """
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if name in properties]
    texts = [name for name in required if properties[name].get("type", "string") == "string"]
    values: dict[str, Any] = {}
    for name, value in call.arguments.items():
        place = name if name in properties or not texts else texts[0]
        values[place] = value
    for name in required:
        values.setdefault(name, _plain_value(properties[name], call.text))
    return json.dumps(values, ensure_ascii=False)


def _plain_value(schema: Mapping[str, Any], text: str) -> Any:
    for key in ("default", "const"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    return EMPTY_VALUES.get(str(schema.get("type", "string")), text or "demo")


def _as_call(answer: Answer, tools: Mapping[str, Any]) -> Answer:
    """The answer handed in through a tool, for a request that must have a call."""
    tool = SUBMIT if SUBMIT in tools else next(iter(tools))
    return Answer("", Call(answer.text, tool, {"answer": answer.text} if tool == SUBMIT else {}))


def _within_limit(reply: WireReply, token_limit: int) -> WireReply:
    room = token_limit * CHARACTERS_PER_TOKEN
    if not room or len(reply.text) + len(reply.arguments) <= room:
        return reply
    # A call that is cut is no call; real services send it broken, which helps nobody.
    return replace(reply, text=reply.text[:room], tool="", arguments="", finish_reason="length")
