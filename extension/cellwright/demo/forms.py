"""Requests in words: tools, calls and results that a client wrote into the text.

The demo model reads the forms of cellwright's own adapters for models without function calling.
What is read becomes a request with real calls, and the answer is put back into the form.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.wire import ChatRequest, WireReply
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.fences import fences
from cellwright.llm.adapters.json import JsonAdapter
from cellwright.llm.adapters.sections import read_sections
from cellwright.llm.adapters.tags import elements, read_body
from cellwright.llm.adapters.text_adapter import TextAdapter, UnreadableReplyError
from cellwright.llm.adapters.xml import XmlAdapter
from cellwright.record.messages import ToolCall
from cellwright.record.prompts import Manifest

HOW = "\n\nHow to reply\n"
TOOL = re.compile(
    r"^- (?P<name>[\w.-]+): (?P<description>.*)\n  arguments: (?P<schema>\{.*\})$", re.M
)
SIGNS: Mapping[str, tuple[str, str]] = {
    "chat": ("[[ ## completed ## ]]", "[[ ## result of "),
    "json": ('{"say": ', '{"result_of": '),
    "xml": ("<call tool=", "<result tool="),
}
"""What the instructions and the results of each form hold."""
ADAPTERS: Mapping[str, type[TextAdapter]] = {
    "chat": ChatAdapter,
    "json": JsonAdapter,
    "xml": XmlAdapter,
}


@dataclass(frozen=True)
class InWords:
    """A request whose calls are words, and the same with calls."""

    form: str
    request: ChatRequest

    def reply(self, reply: WireReply) -> WireReply:
        """The reply in the form of the request; plain words where it offers no tools."""
        if not self.request.tools or reply.finish_reason == "length":
            return reply
        calls = [ToolCall("", reply.tool, reply.arguments)] if reply.tool else []
        text = ADAPTERS[self.form]().write_reply(reply.text, calls)
        return replace(reply, text=text, tool="", arguments="", call_id="", finish_reason="stop")


def in_words(request: ChatRequest) -> InWords | None:
    """The request with its words read as calls; None for one that has real tools, or none."""
    form = _form(request)
    if request.tools or not form:
        return None
    system = _text(request.messages[0])
    tools = {found["name"]: json.loads(found["schema"]) for found in TOOL.finditer(system)}
    messages = tuple(_messages(request.messages, form, tools))
    return InWords(form, replace(request, messages=messages, tools=tools))


def _form(request: ChatRequest) -> str:
    first, *others = request.messages
    _, _, instructions = _text(first).partition(HOW)
    for form, (asked, answered) in SIGNS.items():
        if asked in instructions:
            return form
        if any(m["role"] == "user" and _text(m).startswith(answered) for m in others):
            return form
    return ""


def _messages(
    messages: Sequence[Mapping[str, Any]], form: str, schemas: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    tools = {name: Manifest(name, "", schema) for name, schema in schemas.items()}
    waiting: list[str] = []
    for place, message in enumerate(messages):
        text = _text(message)
        if message["role"] == "assistant":
            said = _said(text, ADAPTERS[form](), tools, place)
            waiting = [call["id"] for call in said.get("tool_calls", ())]
            yield said
        elif message["role"] == "user" and waiting:
            results, rest = READERS[form](text)
            for call_id, result in zip(waiting, results, strict=False):
                yield {"role": "tool", "tool_call_id": call_id, "content": result}
            waiting = []
            if rest:
                yield {"role": "user", "content": rest}
        else:
            yield {**message, "content": text.partition(HOW)[0] if place == 0 else text}


def _said(
    text: str, adapter: TextAdapter, tools: Mapping[str, Manifest], place: int
) -> dict[str, Any]:
    try:
        written = adapter.read_reply(text, tools)
    except UnreadableReplyError:
        return {"role": "assistant", "content": text}
    calls = [
        {
            "id": f"call_{place}_{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(given)},
        }
        for number, (name, given) in enumerate(written.calls)
    ]
    said: dict[str, Any] = {"role": "assistant", "content": written.text}
    return {**said, "tool_calls": calls} if calls else said


def _chat_results(text: str) -> tuple[list[str], str]:
    results, rest = [], ""
    for section in read_sections(text, lambda name: name.startswith("result of ")):
        block = next(fences(section.text), None)
        results.append(block.content if block is not None else section.text)
        rest = section.text[block.end :].strip() if block is not None else ""
    return results, rest


def _json_results(text: str) -> tuple[list[str], str]:
    results = []
    decoder = json.JSONDecoder()
    while text.startswith(SIGNS["json"][1]):
        found, end = decoder.raw_decode(text)
        results.append(str(found["output"]))
        text = text[end:].lstrip()
    return results, text


def _xml_results(text: str) -> tuple[list[str], str]:
    found = elements(text, ("result",))
    return [read_body(each.body) for each in found], text[found[-1].end :].strip() if found else ""


READERS = {"chat": _chat_results, "json": _json_results, "xml": _xml_results}


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
