"""Tools as native function calls: the service does the wording, we read what comes of it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.llm.adapters import Adapter, ParsedCall, ParsedReply
from cellwright.llm.adapters.arguments import (
    BadArgumentsError,
    UnreadableArgumentsError,
    read_arguments,
)
from cellwright.record.messages import Message, ToolCall
from cellwright.record.prompts import Manifest, Parameters, Prompt, Reply

UNREADABLE = "unreadable"
"""The finish reason of a reply that an adapter could not read."""

CUT_OFF = (
    "The arguments were cut off at the reply's length limit, so nothing was run. Send the call "
    "again in smaller pieces."
)
CALL_AS_TEXT = "You wrote a tool call as plain text; nothing was run. Call the tool as a function."
THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
TAGGED_CALL = re.compile(
    r"<(tool_call|function_call|tools?)>\s*(\{.*?\})\s*(?:</\1>|\Z)", re.DOTALL
)
FENCED_JSON = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n\s*(\{.*?\})\s*```", re.DOTALL)
FUNCTION_TAG = re.compile(r"<function[= ]\"?([\w.-]+)")


class NativeAdapter(Adapter):
    """Sends tools as functions and reads calls of functions."""

    expects_text_calls = False
    """Whether a call in words is what was asked for, and not a slip."""

    def format(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history: the service's own format has a place for everything."""
        return Prompt(messages, tools, parameters)

    def parse(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for; calls whose arguments are no good carry an error."""
        message = reply.message
        manifests = {tool.name: tool for tool in tools}
        cut_off = reply.finish_reason == "length" or reply.truncated
        calls = tuple(_parsed(call, manifests, cut_off) for call in message.tool_calls)
        text = THOUGHTS.sub("", message.text)
        if calls:
            return ParsedReply(text, calls)
        if message.refusal or reply.finish_reason == "content_filter":
            return ParsedReply(text or message.refusal, (), "refused")
        if reply.problem or reply.finish_reason == UNREADABLE:
            return ParsedReply(text, (), "unreadable", reply.problem)
        if not text.strip():
            return ParsedReply("", (), "empty")
        if not self.expects_text_calls and _is_call_as_text(text, manifests):
            return ParsedReply(text, (), "tool call as text", CALL_AS_TEXT)
        return ParsedReply(text, ())


def _parsed(call: ToolCall, manifests: Mapping[str, Manifest], cut_off: bool) -> ParsedCall:
    if cut_off:
        return ParsedCall(call, {}, CUT_OFF)
    manifest = manifests.get(call.name)
    try:
        return ParsedCall(call, read_arguments(call, manifest.parameters if manifest else None))
    except BadArgumentsError as error:
        unreadable = isinstance(error, UnreadableArgumentsError)
        return ParsedCall(call, {}, str(error), unreadable)


def _is_call_as_text(text: str, manifests: Mapping[str, Manifest]) -> bool:
    """Whether a call was written where only words belong (fault M18)."""
    if not manifests:
        return False
    function = FUNCTION_TAG.search(text)
    if function and function[1] in manifests:
        return True
    found = [*TAGGED_CALL.findall(text), *(("", body) for body in FENCED_JSON.findall(text))]
    bare = text.strip()
    if bare.startswith("{") and bare.endswith("}"):
        found.append(("", bare))
    return any(_is_call(body, manifests) for _, body in found)


def _is_call(body: str, manifests: Mapping[str, Manifest]) -> bool:
    try:
        value = json.loads(body)
    except ValueError:
        return False
    function = value.get("function", value)
    fields = function if isinstance(function, dict) else value
    name = fields.get("name") or value.get("function") or value.get("tool")
    return isinstance(name, str) and name in manifests and _has_arguments(fields)


def _has_arguments(fields: Mapping[str, Any]) -> bool:
    return any(name in fields for name in ("arguments", "parameters", "args", "input"))
