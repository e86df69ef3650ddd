"""OpenAI's shapes: requests, replies and errors, and calls that are written into the text."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.demo.transcript import message_text
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.sections import fences, read_sections
from cellwright.llm.adapters.tags import elements, read_body
from cellwright.llm.adapters.text_adapter import TextAdapter, UnreadableReplyError
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.record.messages import Manifest, ToolCall
from cellwright.text.truncation import estimate_tokens

MODEL = "cellwright-demo"
CREATED = 1_767_225_600
CHUNK_CHARACTERS = 12
ROLES = frozenset({"system", "developer", "user", "assistant", "tool"})


class ApiError(Exception):
    """A request that is not accepted, with its HTTP status."""

    def __init__(self, status: int, message: str, *, code: str = "", parameter: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.parameter = parameter


PICTURE = re.compile(r'(data:image/[^"]{3200})[^"]*')
"""A picture and as much of its text as is counted: 800 tokens, whatever its size in bytes."""


@dataclass(frozen=True)
class ChatRequest:
    """A checked request for a reply."""

    messages: Sequence[Mapping[str, Any]]
    tools: Mapping[str, Mapping[str, Any]]
    """Parameter schemas by name; empty when no call is allowed."""
    forced_tool: str
    must_call: bool
    stream: bool
    include_usage: bool
    token_limit: int
    """0: none."""
    cache_key: str
    """The request's tools and messages as text, in the order a provider caches them."""


@dataclass(frozen=True)
class WireReply:
    """What goes out."""

    text: str
    tool: str = ""
    arguments: str = ""
    """JSON text."""
    finish_reason: str = "stop"
    prompt_tokens: int = 0
    cached_tokens: int = 0
    call_id: str = ""

    @property
    def usage(self) -> dict[str, Any]:
        """Token counts, estimated from characters."""
        completion_tokens = estimate_tokens(self.text) + estimate_tokens(self.arguments)
        return {
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": self.prompt_tokens + completion_tokens,
            "prompt_tokens_details": {"cached_tokens": self.cached_tokens},
            "completion_tokens_details": {"reasoning_tokens": 0},
        }


def read_request(body: Any) -> ChatRequest:
    """Check a request's JSON.

    Raises:
        ApiError: Something in it is missing, wrong or beyond this model.
    """
    if not isinstance(body, dict):
        raise ApiError(400, "The body is not a JSON object.")
    if not isinstance(body.get("model"), str):
        raise ApiError(400, "You must provide a model parameter.", parameter="model")
    if body["model"] != MODEL:
        message = f"The model {body['model']!r} does not exist here; {MODEL!r} does."
        raise ApiError(404, message, code="model_not_found", parameter="model")
    _check_options(body)
    messages = _checked_messages(body.get("messages"))
    tools = _tools(body)
    choice = body.get("tool_choice", "auto")
    return ChatRequest(
        messages=messages,
        tools={} if choice == "none" else tools,
        forced_tool=_forced_tool(choice, tools),
        must_call=choice == "required",
        stream=bool(body.get("stream")),
        include_usage=bool((body.get("stream_options") or {}).get("include_usage")),
        token_limit=int(body.get("max_completion_tokens") or body.get("max_tokens") or 0),
        cache_key=PICTURE.sub(r"\1", json.dumps([body.get("tools"), messages], ensure_ascii=False)),
    )


def completion(reply: WireReply, reply_id: str) -> dict[str, Any]:
    """The whole reply as one object."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.tool:
        function = {"name": reply.tool, "arguments": reply.arguments}
        message["tool_calls"] = [{"id": reply.call_id, "type": "function", "function": function}]
    choice = {
        "index": 0,
        "message": message,
        "logprobs": None,
        "finish_reason": reply.finish_reason,
    }
    return _envelope("chat.completion", reply_id) | {"choices": [choice], "usage": reply.usage}


def chunks(reply: WireReply, reply_id: str, include_usage: bool) -> Iterator[dict[str, Any]]:
    """The reply piece by piece."""
    envelope = _envelope("chat.completion.chunk", reply_id)
    if include_usage:
        envelope["usage"] = None
    for delta in _deltas(reply):
        yield envelope | {"choices": [_choice(delta, None)]}
    yield envelope | {"choices": [_choice({}, reply.finish_reason)]}
    if include_usage:
        yield envelope | {"choices": [], "usage": reply.usage}


def call_id(request: ChatRequest) -> str:
    """An id that the same conversation gets again and no other call in it has."""
    return f"call_{hashlib.sha256(request.cache_key.encode()).hexdigest()[:24]}"


def model_card() -> dict[str, Any]:
    """The model as ``/v1/models`` lists it."""
    return {"id": MODEL, "object": "model", "created": CREATED, "owned_by": "cellwright"}


def error_body(error: ApiError) -> dict[str, Any]:
    """An error as OpenAI words it."""
    kind = "server_error" if error.status >= 500 else "invalid_request_error"
    return {
        "error": {
            "message": error.message,
            "type": kind,
            "param": error.parameter or None,
            "code": error.code or None,
        }
    }


def _check_options(body: Mapping[str, Any]) -> None:
    if body.get("n") not in (None, 1):
        raise ApiError(400, f"'n' is {body['n']!r}; only 1 reply is made.", parameter="n")
    form = (body.get("response_format") or {}).get("type", "text")
    if form != "text":
        message = f"Unsupported parameter: 'response_format' of type {form!r} is not supported."
        raise ApiError(400, message, code="unsupported_parameter", parameter="response_format")


def _checked_messages(messages: Any) -> Sequence[Mapping[str, Any]]:
    if not isinstance(messages, list) or not messages:
        raise ApiError(400, "'messages' must be a list that is not empty.", parameter="messages")
    open_calls: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages[{place}]"
        if not isinstance(message, dict) or message.get("role") not in ROLES:
            raise ApiError(400, f"{where} has no known role.", parameter=where)
        if message["role"] == "tool":
            if message.get("tool_call_id") not in open_calls:
                said = f"{where}: a message of role 'tool' must answer a tool call before it."
                raise ApiError(400, said, parameter=where)
            open_calls.remove(message["tool_call_id"])
            continue
        _check_answered(open_calls, where)
        open_calls = [str(call["id"]) for call in message.get("tool_calls") or ()]
    _check_answered(open_calls, "messages")
    return messages


def _check_answered(open_calls: list[str], where: str) -> None:
    if open_calls:
        message = f"These tool calls have no answer: {', '.join(open_calls)}."
        raise ApiError(400, message, parameter=where)


def _tools(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    functions = [tool.get("function") or {} for tool in body.get("tools") or ()]
    if not all(isinstance(function.get("name"), str) for function in functions):
        raise ApiError(400, "Every tool needs a function with a name.", parameter="tools")
    return {function["name"]: function.get("parameters") or {} for function in functions}


def _forced_tool(choice: Any, tools: Mapping[str, Any]) -> str:
    if not isinstance(choice, dict):
        return ""
    name = str((choice.get("function") or {}).get("name", ""))
    if name not in tools:
        message = f"The tool {name!r} is not among the tools."
        raise ApiError(400, message, parameter="tool_choice")
    return name


def _envelope(kind: str, reply_id: str) -> dict[str, Any]:
    return {
        "id": reply_id,
        "object": kind,
        "created": CREATED,
        "model": MODEL,
        "service_tier": None,
        "system_fingerprint": "cellwright-demo",
    }


def _choice(delta: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _deltas(reply: WireReply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": "" if reply.text else None, "refusal": None}
    for piece in _pieces(reply.text):
        yield {"content": piece}
    if reply.tool:
        function = {"name": reply.tool, "arguments": ""}
        first = {"index": 0, "id": reply.call_id, "type": "function", "function": function}
        yield {"tool_calls": [first]}
        for piece in _pieces(reply.arguments):
            yield {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}


def _pieces(text: str) -> Iterator[str]:
    for start in range(0, len(text), CHUNK_CHARACTERS):
        yield text[start : start + CHUNK_CHARACTERS]


# Requests in words: tools, calls and results that a client wrote into the text.
#
# The demo model reads the forms of cellwright's own adapters for models without function calling.
# What is read becomes a request with real calls, and the answer is put back into the form.


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
    "json": JSONAdapter,
    "xml": XMLAdapter,
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
    system = message_text(request.messages[0])
    tools = {found["name"]: json.loads(found["schema"]) for found in TOOL.finditer(system)}
    messages = tuple(_messages(request.messages, form, tools))
    return InWords(form, replace(request, messages=messages, tools=tools))


def _form(request: ChatRequest) -> str:
    first, *others = request.messages
    _, _, instructions = message_text(first).partition(HOW)
    for form, (asked, answered) in SIGNS.items():
        if asked in instructions:
            return form
        if any(m["role"] == "user" and message_text(m).startswith(answered) for m in others):
            return form
    return ""


def _messages(
    messages: Sequence[Mapping[str, Any]], form: str, schemas: Mapping[str, Any]
) -> Iterator[dict[str, Any]]:
    tools = {name: Manifest(name, "", schema) for name, schema in schemas.items()}
    waiting: list[str] = []
    for place, message in enumerate(messages):
        text = message_text(message)
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
