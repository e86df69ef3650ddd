"""What the conversation adapters for models without function calling have in common.

The history stays as it is everywhere else: calls are calls and results are results. Only what
goes to the model is put into words, and only what comes from it is read; so adapters can change
in the middle of a conversation, and a record can be replayed without them.
"""

from __future__ import annotations

import hashlib
import json
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.llm.adapters.native import UNREADABLE
from cellwright.llm.adapters.signature_adapter import FieldAdapter
from cellwright.record.messages import (
    CUT_REASONS,
    WITHHELD,
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Part,
    Prompt,
    Reply,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.record.values import json_or_none


class UnreadableReplyError(Exception):
    """A reply that is not written as it was asked for; the text is for the model."""


@dataclass(frozen=True)
class Written:
    """What a reply says and the calls in it."""

    text: str
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    """Tool and arguments."""


class TextAdapter(FieldAdapter):
    """Puts tools, calls and results into words, as it does fields; subclasses say which."""

    expects_text_calls = True
    _calls = 0

    @abstractmethod
    def instructions(self, tools: tuple[Manifest, ...]) -> str:
        """How to reply, with the tools there are."""

    @abstractmethod
    def write_reply(self, text: str, calls: Sequence[ToolCall]) -> str:
        """A reply as the model is to write it."""

    @abstractmethod
    def write_result(self, result: ToolMessage, text: str) -> str:
        """What a call came to; ``text`` cannot end it."""

    @abstractmethod
    def read_reply(self, text: str, tools: Mapping[str, Manifest]) -> Written:
        """What a reply says.

        Raises:
            UnreadableReplyError: It is not written as it was asked for.
        """

    @abstractmethod
    def write_person(self, text: str) -> str:
        """What the person typed; nothing in it can be taken for a result or a call."""

    def read_last_words(self, text: str) -> str:
        """The words of a reply to a request that offers no tools."""
        try:
            return self.read_reply(text, {}).text or text
        except UnreadableReplyError:
            return text

    def format_prompt(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history, without any tools in the service's sense."""
        written = _merged(self._written(message) for message in messages)
        if tools:
            written = _with_instructions(written, self.instructions(tools))
        return Prompt(tuple(written), (), parameters)

    def read(self, reply: Reply, tools: tuple[Manifest, ...]) -> Reply:
        """The reply with its calls as calls; unreadable ones keep their text and say why."""
        message = reply.message
        if message.tool_calls or message.refusal or not message.text.strip():
            return reply
        if not tools:
            return replace(reply, message=replace(message, text=self.read_last_words(message.text)))
        try:
            written = self.read_reply(message.text, {tool.name: tool for tool in tools})
        except UnreadableReplyError as error:
            # The record keeps the word, so that a replay does not take the text for an answer; what
            # was cut or withheld is none in any case.
            is_half = reply.finish_reason in (*CUT_REASONS, WITHHELD)
            finish_reason = reply.finish_reason if is_half else UNREADABLE
            return replace(reply, problem=str(error), finish_reason=finish_reason)
        made = tuple(
            ToolCall(self._call_id(message.text), name, json.dumps(given, ensure_ascii=False))
            for name, given in written.calls
        )
        return replace(reply, message=replace(message, text=written.text, tool_calls=made))

    def _call_id(self, text: str) -> str:
        """An id no other call of the conversation has, the same when a run is repeated."""
        self._calls += 1
        digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()
        return f"call_{digest[:16]}_{self._calls}"

    def _written(self, message: Message) -> Message:
        if isinstance(message, ToolMessage):
            words = self.write_result(message, text_of(message))
            pictures = [part for part in message.parts if isinstance(part, ImagePart)]
            return UserMessage((TextPart(words), *pictures))
        if isinstance(message, UserMessage):
            return UserMessage(tuple(self._part(part) for part in message.parts))
        if isinstance(message, AssistantMessage):
            said = message.text or message.refusal
            return AssistantMessage(self.write_reply(said, message.tool_calls))
        return message

    def _part(self, part: Part) -> Part:
        return TextPart(self.write_person(part.text)) if isinstance(part, TextPart) else part


def tool_list(tools: Iterable[Manifest]) -> str:
    """Name, description and schema of each tool, one block each."""
    return "\n".join(
        f"- {tool.name}: {' '.join(tool.description.split())}\n"
        f"  arguments: {json.dumps(tool.parameters, ensure_ascii=False)}"
        for tool in tools
    )


def arguments_of(call: ToolCall) -> Mapping[str, Any]:
    """The arguments of a call that was made; those that are no object under a name that says so."""
    value = json_or_none(call.arguments.strip() or "{}")
    return value if isinstance(value, dict) else {"unreadable_arguments": call.arguments}


def typed(text: str, name: str, manifest: Manifest | None) -> Any:
    """An argument's text as what the tool takes: text stays as it is, the rest is JSON."""
    properties = manifest.parameters.get("properties", {}) if manifest is not None else {}
    schema = properties.get(name, {})
    options = [schema, *schema.get("anyOf", ())]
    if any("string" in _types(option) for option in options):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text  # what is wrong with it is said when it is held against the schema


def _types(schema: Mapping[str, Any]) -> list[str]:
    kinds = schema.get("type", [])
    return [kinds] if isinstance(kinds, str) else list(kinds)


def _with_instructions(messages: list[Message], instructions: str) -> list[Message]:
    if messages and isinstance(messages[0], SystemMessage):
        return [SystemMessage(f"{messages[0].text}\n\n{instructions}"), *messages[1:]]
    return [SystemMessage(instructions), *messages]


def _merged(messages: Iterable[Message]) -> list[Message]:
    """Neighbouring messages of the user as one: results and what the person says next."""
    merged: list[Message] = []
    for message in messages:
        last = merged[-1] if merged else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            merged[-1] = UserMessage((*last.parts, *message.parts))
        else:
            merged.append(message)
    return merged
