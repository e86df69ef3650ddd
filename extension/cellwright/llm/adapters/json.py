"""Conversations in JSON: each reply is one object, with a schema where the model takes one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from cellwright.llm.adapters import ShownText
from cellwright.llm.adapters.json_stream import StringField
from cellwright.llm.adapters.objects import find_object
from cellwright.llm.adapters.text_adapter import (
    TextAdapter,
    UnreadableReplyError,
    Written,
    arguments_of,
    tool_list,
)
from cellwright.record.messages import Message, ToolCall, ToolMessage
from cellwright.record.prompts import Manifest, Parameters, Prompt

INSTRUCTIONS = """\
How to reply
Your reply is one JSON object and nothing else. Say what you do or found, and call tools if you \
need to:

{{"say": "One sentence.", "calls": [{{"tool": "NAME_OF_TOOL", "arguments": {{"NAME": "value"}}}}]}}

- With an empty list of calls, what you say is your final answer.
- Then stop: the results come in the next message.

Tools
{tools}"""
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "say": {"type": "string"},
        "calls": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"tool": {"type": "string"}, "arguments": {"type": "object"}},
                "required": ["tool", "arguments"],
            },
        },
    },
    "required": ["say", "calls"],
}
FORMAT: Mapping[str, Any] = {
    "type": "json_schema",
    "json_schema": {"name": "reply", "schema": SCHEMA},
}
HOW = 'Reply with one JSON object with "say" and "calls".'


class JsonAdapter(TextAdapter):
    """One object a reply."""

    def instructions(self, tools: tuple[Manifest, ...]) -> str:
        """How to reply, with the tools there are."""
        return INSTRUCTIONS.format(tools=tool_list(tools))

    def format(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history; the service is asked for the schema, and may refuse it."""
        prompt = super().format(messages, tools, parameters)
        if not tools:
            return prompt
        extra = {"response_format": FORMAT, **parameters.extra}
        return replace(prompt, parameters=replace(parameters, extra=extra))

    def write_reply(self, text: str, calls: Sequence[ToolCall]) -> str:
        """A reply as the model is to write it."""
        made = [{"tool": call.name, "arguments": arguments_of(call)} for call in calls]
        return json.dumps({"say": text, "calls": made}, ensure_ascii=False)

    def write_result(self, result: ToolMessage, text: str) -> str:
        """What a call came to."""
        return json.dumps({"result_of": result.name, "output": text}, ensure_ascii=False)

    def write_person(self, text: str) -> str:
        """What the person typed; as a value where it could be taken for an object of ours."""
        if '"result_of"' in text or text.lstrip().startswith("{"):
            return json.dumps({"person": text}, ensure_ascii=False)
        return text

    def read_reply(self, text: str, tools: Mapping[str, Manifest]) -> Written:
        """What a reply says.

        Raises:
            UnreadableReplyError: It is not written as it was asked for.
        """
        try:
            found = find_object(text, frozenset({"say", "calls"}))
        except ValueError as error:
            raise UnreadableReplyError(
                f"Your reply is no JSON object: {error}. Nothing was run. {HOW}"
            ) from error
        calls = found.get("calls") or []
        if not isinstance(calls, list):
            raise UnreadableReplyError(f'"calls" is no list; nothing was run. {HOW}')
        said = found.get("say") or ""
        return Written(said if isinstance(said, str) else str(said), tuple(map(_call, calls)))

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """The words of the reply."""
        return StringField("say") if tools else None


def _call(made: Any) -> tuple[str, Mapping[str, Any]]:
    fields = made if isinstance(made, dict) else {}
    name, arguments = fields.get("tool"), fields.get("arguments", {})
    if not isinstance(name, str) or not isinstance(arguments, dict):
        raise UnreadableReplyError(
            'Each of "calls" is an object with "tool", a name, and "arguments", an object; nothing '
            f"was run. {HOW}"
        )
    return name, arguments
