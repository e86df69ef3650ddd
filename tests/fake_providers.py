"""Providers as they document themselves, refusals included, for ``FakeService``.

    provider = OpenAIResponses([[thinks("Hm."), calls("run_cell", {"code": "x"})], [says("Done.")]])
    with FakeService(provider) as service: …        # one list of output items for each request
    provider.taken                                  # the requests that were not refused

Each rule names its source; all were read on 2026-11-23. A request that breaks one is answered as
the provider answers it, in its own words.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fake_answers import Answer, Request, Wire, chunk, error, in_bytes, json_body, raw_sse

from cellwright.llm.adapters.chain import ADAPTERS
from cellwright.llm.adapters.text_adapter import TextAdapter
from cellwright.record.messages import ToolCall

__all__ = [
    "ROWS",
    "ChatProvider",
    "DeepSeek",
    "PerplexityAgent",
    "Gemini",
    "Mistral",
    "OpenAIResponses",
    "calls",
    "says",
    "thinks",
]

Json = dict[str, Any]


def thinks(summary: str = "") -> Json:
    """A reasoning item; its content is encrypted by the provider."""
    return {"type": "reasoning", "said": summary}


def says(text: str, *, phase: str = "", refusal: bool = False) -> Json:
    """A message of the model."""
    return {"type": "message", "said": text, "phase": phase, "refusal": refusal}


def calls(name: str, arguments: Mapping[str, Any]) -> Json:
    """A call of a function."""
    return {"type": "function_call", "name": name, "arguments": json.dumps(arguments)}


@dataclass
class OpenAIResponses:
    """OpenAI with a reasoning model, asked through either API.

    Sources, beside the API's description, to which ``FakeService`` holds its requests: the guides
    "reasoning" (encrypted items where nothing is stored) and "responses-vs-chat-completions" (no
    tools with thinking in chat completions from gpt-5.4 on); for the words of refusals: github
    openai/openai-openapi issue 541 and BerriAI/litellm pull 34569 (tools),
    openai/openai-agents-python issue 919 (items that are not stored), openai/codex issue 8119
    (encrypted content), continuedev/continue issue 12031 (summaries).
    """

    script: Sequence[Sequence[Json]]
    chunk_bytes: int = 0
    """The stream comes in pieces of so many bytes; 0: an event at a time."""
    may_summarise: bool = True
    """Whether the organisation is verified, without which there are no summaries."""
    may_stream: bool = True
    """Likewise; some models are streamed to nobody else."""
    ending: Json = field(default_factory=dict)
    """Fields of the last reply's response, such as an ``incomplete`` status."""
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    _led_to: dict[str, str] = field(default_factory=dict)

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        is_chat = request.path.endswith("/chat/completions")
        refused = _chat_refusal(request.body) if is_chat else self._refusal(request.body)
        if refused:
            self.refusals.append(refused["message"])
            return error(refused.pop("status", 400), refused.pop("message"), **refused)(request)
        assert not is_chat, "a chat request without tools is not played here"
        self.taken.append(request.body)
        events = self._events(request.body, self.script[len(self.taken) - 1])
        if not request.body.get("stream"):
            return json_body(events[-1]["response"])(request)
        answer = raw_sse([f"event: {e['type']}\ndata: {json.dumps(e)}" for e in events], done=False)
        return (in_bytes(answer, self.chunk_bytes) if self.chunk_bytes else answer)(request)

    def _refusal(self, body: Json) -> Json:
        if body.get("stream") and not self.may_stream:
            return {
                "message": "Your organization must be verified to stream this model. Please go to: "
                "https://platform.openai.com/settings/organization/general.",
                "param": "stream",
                "code": "unsupported_value",
            }
        if "summary" in body.get("reasoning", {}) and not self.may_summarise:
            return {
                "message": "Your organization must be verified to generate reasoning summaries.",
                "param": "reasoning.summary",
                "code": "unsupported_value",
            }
        if "temperature" in body:
            words = "Unsupported parameter: 'temperature' is not supported with this model."
            return {"message": words, "param": "temperature"}
        return self._items_refusal(body)

    def _items_refusal(self, body: Json) -> Json:
        items = [*body["input"], {}]
        called = {i["call_id"] for i in items if i.get("type") == "function_call"}
        answered = {i["call_id"] for i in items if i.get("type") == "function_call_output"}
        for call_id in called - answered:
            return {"message": f"No tool output found for function call {call_id}."}
        for call_id in answered - called:
            words = f"No tool call found for function call output with call_id {call_id}."
            return {"message": words}
        there = {item.get("id") for item in items}
        for item, following in zip(items, items[1:], strict=False):
            if item.get("type") == "reasoning" and (refused := self._reasoning(item, following)):
                return refused
            wanted = self._led_to.get(item.get("id", ""))
            if item.get("type") == "function_call" and wanted and wanted not in there:
                return {
                    "message": f"Item '{item['id']}' of type 'function_call' was provided without "
                    f"its required 'reasoning' item: '{wanted}'."
                }
        return {}

    def _reasoning(self, item: Json, following: Json) -> Json:
        if not item.get("encrypted_content"):
            return {
                "status": 404,
                "message": f"Item with id '{item['id']}' not found. Items are not persisted when "
                "`store` is set to false. Try again with `store` set to true, or remove this item "
                "from your input.",
                "param": "input",
            }
        if item["encrypted_content"] != _encrypted(item["id"]) or item["id"] not in self._led_to:
            return {
                "message": "The encrypted content gAAA...c90= could not be verified.",
                "code": "invalid_encrypted_content",
            }
        if following.get("type") not in ("message", "function_call", "reasoning"):
            return {
                "message": f"Item '{item['id']}' of type 'reasoning' was provided without its "
                "required following item."
            }
        return {}

    def _events(self, body: Json, output: Sequence[Json]) -> list[Json]:
        number = len(self.taken)
        made = [_item(spec, f"{number}{place}") for place, spec in enumerate(output)]
        last = ""
        for item in made:
            if item["type"] == "reasoning":
                last = item["id"]
                self._led_to.setdefault(last, "")
                if "reasoning.encrypted_content" not in body.get("include", ()):
                    item["encrypted_content"] = None
            elif item["type"] == "function_call":
                self._led_to[item["id"]] = last
        head = _response(body, f"resp_{number}")
        events: list[Json] = [
            {"type": "response.created", "response": {**head, "status": "in_progress"}},
            {"type": "response.in_progress", "response": {**head, "status": "in_progress"}},
        ]
        for place, item in enumerate(made):
            events += _item_events(place, item)
        ending = self.ending if number == len(self.script) else {}
        whole = {**head, "output": made, "usage": _usage(body, made), **ending}
        events.append({"type": f"response.{whole['status']}", "response": whole})
        return [{**event, "sequence_number": n} for n, event in enumerate(events)]


class PerplexityAgent(OpenAIResponses):
    """Perplexity's Agent API, as OpenAI's Responses: it keeps to fewer words.

    Sources: docs.perplexity.ai, "Custom Functions" and "OpenAI SDK Compatibility" of the Agent API;
    for the words of its refusal anomalyco/opencode issue 32108, 2026-06-12; for the end of chat
    completions danielmiessler/Fabric pull 2276.
    """

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        if request.path.endswith("/chat/completions"):
            self.refusals.append("Sonar is now the Agent API")
            return error(400, "Sonar is now the Agent API")(request)
        return super().__call__(request)

    def _refusal(self, body: Json) -> Json:
        for name in ("store", "temperature", "include", "tool_choice"):
            if name in body:
                return {"message": f'invalid request body: json: unknown field "{name}"'}
        return self._items_refusal(body)


def _chat_refusal(body: Json) -> Json:
    """From gpt-5.4 on chat completions take tools only with effort none, from gpt-6 not at all."""
    model, effort = str(body["model"]), body.get("reasoning_effort")
    if not body.get("tools") or (effort == "none" and not model.startswith("gpt-6")):
        return {}
    return {
        "message": f"Function tools with reasoning_effort are not supported for {model} in "
        "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort "
        "to 'none'.",
        "param": "reasoning_effort",
    }


def _encrypted(item_id: str) -> str:
    return (
        "gAAAAAB" + base64.urlsafe_b64encode(f"thinking of {item_id} {'x' * 90}".encode()).decode()
    )


def _item(spec: Json, number: str) -> Json:
    if spec["type"] == "reasoning":
        item_id = f"rs_0f26baa4a8bfec6b0169326d7c20a8819499e6d836076c{number:0>4}"
        summary = [{"type": "summary_text", "text": spec["said"]}] if spec["said"] else []
        return {
            "type": "reasoning",
            "id": item_id,
            "summary": summary,
            "encrypted_content": _encrypted(item_id),
        }
    if spec["type"] == "function_call":
        return {
            "type": "function_call",
            "id": f"fc_{number}",
            "call_id": f"call_{number}",
            "name": spec["name"],
            "arguments": spec["arguments"],
            "status": "completed",
        }
    part = {"type": "output_text", "text": spec["said"], "annotations": []}
    if spec["refusal"]:
        part = {"type": "refusal", "refusal": spec["said"]}
    message = {
        "type": "message",
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }
    return message | ({"phase": spec["phase"]} if spec["phase"] else {})


def _item_events(place: int, item: Json) -> list[Json]:
    """The events of one output item, in the order of the guide "streaming-responses"."""
    at = {"output_index": place, "item_id": item["id"]}
    empties: Mapping[str, Json] = {
        "reasoning": {"summary": []},
        "function_call": {"arguments": "", "status": "in_progress"},
        "message": {"content": [], "status": "in_progress"},
    }
    empty = empties[item["type"]]
    begun = {"type": "response.output_item.added", "output_index": place, "item": item | empty}
    done = {"type": "response.output_item.done", "output_index": place, "item": item}
    between: list[Json] = []
    if item["type"] == "function_call":
        for piece in _pieces(item["arguments"]):
            between.append({"type": "response.function_call_arguments.delta", **at, "delta": piece})
        finished = {"arguments": item["arguments"], "name": item["name"]}
        between.append({"type": "response.function_call_arguments.done", **at, **finished})
    for n, part in enumerate(item.get("summary", ())):
        shown = {**at, "summary_index": n}
        blank = {"type": "summary_text", "text": ""}
        between.append({"type": "response.reasoning_summary_part.added", **shown, "part": blank})
        for piece in _pieces(part["text"]):
            kind = "response.reasoning_summary_text.delta"
            between.append({"type": kind, **shown, "delta": piece})
    for n, part in enumerate(item.get("content", ())):
        said = {**at, "content_index": n}
        text = part.get("text") or part.get("refusal") or ""
        kind = "refusal" if part["type"] == "refusal" else "output_text"
        blank_part = {**part, ("refusal" if kind == "refusal" else "text"): ""}
        between.append({"type": "response.content_part.added", **said, "part": blank_part})
        for piece in _pieces(text):
            more: Json = {} if kind == "refusal" else {"logprobs": []}
            between.append({"type": f"response.{kind}.delta", **said, "delta": piece, **more})
    return [begun, *between, done]


def _pieces(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]


def _response(body: Json, response_id: str) -> Json:
    return {
        "id": response_id,
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": f"{body['model']}-2026-07-01",
        "output": [],
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "usage": None,
    }


def _usage(body: Json, output: Sequence[Json]) -> Json:
    prompt = len(json.dumps(body)) // 4
    thought = 64 * sum(item["type"] == "reasoning" for item in output)
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": prompt // 2, "cache_write_tokens": 0},
        "output_tokens": thought + 10,
        "output_tokens_details": {"reasoning_tokens": thought},
        "total_tokens": prompt + thought + 10,
    }


# Providers of chat completions: what each refuses is a row of the table below.


@dataclass(frozen=True)
class Rule:
    """Something that a provider refuses."""

    check: Callable[[ChatProvider, Json], str]
    """What it says of a request; empty: it takes it."""
    source: str
    """Where that is written or was seen, and when."""
    status: int = 400
    body: Callable[[str], Any] = lambda words: {
        "error": {"message": words, "type": "invalid_request_error", "param": None, "code": None}
    }
    """Its words as they are sent."""


@dataclass(frozen=True)
class Row:
    """What is particular about a provider's chat completions."""

    rules: tuple[Rule, ...] = ()
    """Empty: nothing was found; the rules of all are kept to."""
    thinking: str = ""
    """The field in which its model's thinking comes; ``content``: as a part of the content;
    ``signature``: signed with the calls; empty: it is not sent."""
    call_id: str = "call_{name}_{number}"


@dataclass
class ChatProvider:
    """A provider of chat completions that refuses what its row says.

    Where the prompt asks for marked sections in place of tools, it answers in them.
    """

    script: Sequence[Sequence[Json]]
    name: str
    """Whose row of the table it keeps to."""
    chunk_bytes: int = 0
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    thoughts: dict[str, str] = field(default_factory=dict)
    """The thinking that led to each call."""
    signatures: dict[str, str] = field(default_factory=dict)

    @property
    def row(self) -> Row:
        """What is particular about it."""
        return ROWS[self.name]

    @property
    def openai(self) -> bool:
        """Whether what it is sent has to be OpenAI's alone."""
        return not self.row.thinking

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        for rule in (*OF_ALL, *self.row.rules):
            if refused := rule.check(self, request.body):
                self.refusals.append(refused)
                return json_body(rule.body(refused), status=rule.status)(request)
        self.taken.append(request.body)
        output = self.script[len(self.taken) - 1]
        if b"[[ ## " in request.raw:
            output = [says(_in_sections(output))]
        answer = self._stream(request, output)
        return (in_bytes(answer, self.chunk_bytes) if self.chunk_bytes else answer)(request)

    def _stream(self, request: Request, output: Sequence[Json]) -> Answer:
        thought = "".join(spec["said"] for spec in output if spec["type"] == "reasoning")
        made = self._calls(output)
        for call in made:
            self.thoughts[call["id"]] = thought
        if self.row.thinking == "signature" and made:  # of parallel calls the first one is signed
            signature = base64.b64encode(f"signed {made[0]['id']} {'y' * 60}".encode()).decode()
            self.signatures[made[0]["id"]] = signature
            made[0]["extra_content"] = {"google": {"thought_signature": signature}}
        text = "".join(spec["said"] for spec in output if spec["type"] == "message")
        sent: list[Json] = [{"role": "assistant"}, *self._thinking(thought)]
        sent += [{"content": piece} for piece in _pieces(text)]
        sent += [{"tool_calls": [call]} for call in made]
        usage = {
            "prompt_tokens": len(request.raw) // 4,
            "completion_tokens": 40,
            "completion_tokens_details": {"reasoning_tokens": 30},
        }
        ends = [chunk({}, "tool_calls" if made else "stop"), chunk(None, usage=usage)]
        return raw_sse([*(chunk(delta) for delta in sent), *ends])

    def _thinking(self, thought: str) -> Iterator[Json]:
        name = self.row.thinking
        if name.startswith("reasoning"):
            yield {name: [] if name.endswith("details") else ""}
        for piece in _pieces(thought):
            if name == "content":
                inner = [{"type": "text", "text": piece}]
                yield {"content": [{"type": "thinking", "thinking": inner}]}
            elif name.endswith("details"):
                yield {name: [{"type": "reasoning.text", "index": 0, "text": piece}]}
            elif name.startswith("reasoning"):
                yield {name: piece}

    def _calls(self, output: Sequence[Json]) -> list[Json]:
        wanted = [spec for spec in output if spec["type"] == "function_call"]
        return [
            {
                "index": n,
                "id": self.row.call_id.format(name=self.name, number=f"{len(self.taken)}{n}"),
                "type": "function",
                "function": {"name": spec["name"], "arguments": spec["arguments"]},
            }
            for n, spec in enumerate(wanted)
        ]


def _in_sections(output: Sequence[Json]) -> str:
    adapter = ADAPTERS["chat"]()
    assert isinstance(adapter, TextAdapter)
    text = "".join(spec["said"] for spec in output if spec["type"] == "message")
    wanted = [spec for spec in output if spec["type"] == "function_call"]
    calls_ = [ToolCall("", spec["name"], spec["arguments"]) for spec in wanted]
    return adapter.write_reply(text, calls_)


def _results_stand_behind_their_calls(provider: ChatProvider, body: Json) -> str:
    waiting: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                return (
                    "messages with role 'tool' must be a response to a preceding message with "
                    "'tool_calls'."
                )
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            break
        waiting = [call["id"] for call in message.get("tool_calls", ())]
    if not waiting:
        return ""
    return (
        "An assistant message with 'tool_calls' must be followed by tool messages responding to "
        f"each 'tool_call_id'. The following did not have response messages: {', '.join(waiting)}"
    )


def _pictures_are_the_users(provider: ChatProvider, body: Json) -> str:
    for number, message in enumerate(body["messages"]):
        if message["role"] != "user" and '"image_url"' in json.dumps(message.get("content")):
            return (
                f"Invalid 'messages[{number}]'. Image URLs are only allowed for messages with role "
                f"'user', but this message with role '{message['role']}' contains an image URL."
            )
    return ""


OF_ALL = (
    Rule(
        _results_stand_behind_their_calls,
        "agentscope-ai/agentscope issue 2675, 2026-09-18; QwenLM/qwen-code issue 2360, 2026-03-13",
    ),
    Rule(_pictures_are_the_users, "OpenHands/OpenHands issue 7700, 2025-04-22"),
)
"""What every provider of chat completions refuses."""


def _in_error(words: str) -> Json:
    return {"error": words}


def _in_detail(words: str) -> Json:
    problem = {"type": "extra_forbidden", "loc": json.loads(words)}
    detail = [{**problem, "msg": "Extra inputs are not permitted"}]
    return {"object": "error", "message": {"detail": detail}, "code": None}


def _refused(words: str, *names: str) -> Callable[[ChatProvider, Json], str]:
    """Refuse a request that has one of these fields."""

    def check(provider: ChatProvider, body: Json) -> str:
        name = next((name for name in names if name in body), "")
        return name and words.format(name=name, model=body["model"])

    return check


def _refused_in_messages(words: str, *names: str) -> Callable[[ChatProvider, Json], str]:
    """Refuse a message that has a field beside these."""

    def check(provider: ChatProvider, body: Json) -> str:
        for number, message in enumerate(body["messages"]):
            for name in set(message) - {"role", "content", "tool_calls", "tool_call_id", *names}:
                return words.format(name=name, number=number, role=message["role"])
        return ""

    return check


def _no_role(role: str, words: str) -> Callable[[ChatProvider, Json], str]:
    return lambda provider, body: words * any(m["role"] == role for m in body["messages"])


def _no_pictures(words: str) -> Callable[[ChatProvider, Json], str]:
    return lambda provider, body: words * ('"image_url"' in json.dumps(body["messages"]))


def _no_empty_content(words: str) -> Callable[[ChatProvider, Json], str]:
    return lambda provider, body: words * any(m.get("content") is None for m in body["messages"])


def _words_in_turn(words: str) -> Callable[[ChatProvider, Json], str]:
    """Refuse two messages of one side in a row; what a tool says is the user's side."""

    def check(provider: ChatProvider, body: Json) -> str:
        sides = [m["role"] == "assistant" for m in body["messages"] if m["role"] != "system"]
        results = [m["role"] == "tool" for m in body["messages"] if m["role"] != "system"]
        pairs = zip(sides, sides[1:], zip(results, results[1:], strict=False), strict=False)
        return words * any(one == other and both != (True, True) for one, other, both in pairs)

    return check


def _named_choice(words: str, *refused: str) -> Callable[[ChatProvider, Json], str]:
    def check(provider: ChatProvider, body: Json) -> str:
        choice = body.get("tool_choice", "auto")
        return words * (isinstance(choice, Mapping) or choice in refused)

    return check


def _thinking_comes_back(words: str) -> Callable[[ChatProvider, Json], str]:
    def check(provider: ChatProvider, body: Json) -> str:
        for number, message in enumerate(body["messages"]):
            sent = message.get("reasoning_content")
            known = [
                provider.thoughts.get(call["id"], "") for call in message.get("tool_calls", ())
            ]
            if any(sent is None or sent != thought for thought in known):
                return words.format(number=number)
        return ""

    return check


def _calls_are_signed(provider: ChatProvider, body: Json) -> str:
    messages = body["messages"]
    users = [n for n, message in enumerate(messages) if message["role"] == "user"]
    for place, message in enumerate(messages):
        if place < users[-1] or not message.get("tool_calls"):
            continue
        call = message["tool_calls"][0]
        found = call.get("extra_content", {}).get("google", {}).get("thought_signature")
        if found is None:
            return (
                "Function call is missing a thought_signature in functionCall parts. This is "
                "required for tools to work correctly. Additional data, function call "
                f"`default_api:{call['function']['name']}` , position 2."
            )
        if found not in (provider.signatures.get(call["id"]), "skip_thought_signature_validator"):
            return "Corrupted thought signature."
    return ""


def _nine_letters(provider: ChatProvider, body: Json) -> str:
    for message in body["messages"]:
        ids = [call["id"] for call in message.get("tool_calls", ())]
        for found in (*ids, *filter(None, [message.get("tool_call_id")])):
            if not re.fullmatch("[a-zA-Z0-9]{9}", found):
                return f"Tool call id was {found} but must be a-z, A-Z, 0-9, with a length of 9."
    return ""


def _no_user_after_tool(provider: ChatProvider, body: Json) -> str:
    roles = [message["role"] for message in body["messages"]]
    follows = ("tool", "user") in zip(roles, roles[1:], strict=False)
    return "Unexpected role 'user' after role 'tool'" * follows


def _of_mistral(provider: ChatProvider, body: Json) -> str:
    for name in body:
        if name not in MISTRAL_FIELDS:
            return json.dumps(["body", name])
    for number, message in enumerate(body["messages"]):
        for name in set(message) - {"role", "content", "tool_calls", "tool_call_id", "name"}:
            return json.dumps(["body", "messages", number, "assistant", name])
    return ""


MISTRAL_FIELDS = {
    *("model", "messages", "tools", "tool_choice", "temperature", "top_p", "max_tokens", "stream"),
    *("stop", "random_seed", "response_format", "reasoning_effort", "parallel_tool_calls"),
    *("prompt_mode", "stream_options"),
}
GEMINI = Row(
    (
        Rule(
            _calls_are_signed,
            "Google's page thought-signatures (the first call of each step of the current turn; "
            "calls of other models may carry skip_thought_signature_validator); the words: "
            "discuss.ai.google.dev topic 109823; errors come as a list of one",
            body=lambda words: [
                {"error": {"code": 400, "message": words, "status": "INVALID_ARGUMENT"}}
            ],
        ),
    ),
    thinking="signature",
)
ROWS: Mapping[str, Row] = {
    "Google Gemini": GEMINI,
    "Google Vertex": GEMINI,
    "OpenRouter": Row(
        (
            Rule(
                _no_pictures("No endpoints found that support image input"),
                "github/app issue 2163, 2026-07-20",
                404,
                lambda words: {"error": {"message": words, "code": 404}},
            ),
        ),
        thinking="reasoning_details",
    ),
    "Groq": Row(
        (
            Rule(
                _refused(
                    "property '{name}' is unsupported", "logprobs", "logit_bias", "top_logprobs"
                ),
                "console.groq.com/docs/openai",
            ),
            Rule(
                _refused_in_messages(
                    "'messages.{number}' : for 'role:{role}' the following must be satisfied"
                    "[('messages.{number}' : property '{name}' is unsupported)]",
                    "reasoning",
                ),
                "tashfeenahmed/freellmapi issue 1070, 2026-08-30; console.groq.com/docs/openai "
                "(messages[].name)",
            ),
        ),
        thinking="reasoning",
    ),
    "Mistral": Row(
        (
            Rule(
                _of_mistral,
                "charmbracelet/crush issue 1590 (fields of messages); "
                "editor-code-assistant/eca issue 231 (max_completion_tokens)",
                422,
                _in_detail,
            ),
            Rule(_nine_letters, "nearai/ironclaw issue 1241, 2026-03-16"),
            Rule(_no_user_after_tool, "nicholasgriffintn/ai-platform issue 414, 2025-05-06"),
        ),
        thinking="content",  # @ai-sdk/mistral 3.0.52, which sends it back so
        call_id="c{number:0>8}",
    ),
    "DeepSeek": Row(
        (
            Rule(
                _no_pictures(
                    "Failed to deserialize the JSON body into the target type: messages[1]: "
                    "unknown variant `image_url`, expected `text`"
                ),
                "1jehuang/jcode issue 310",
            ),
            Rule(
                _thinking_comes_back(
                    "The `reasoning_content` in the thinking mode must be passed back to the API."
                ),
                "DeepSeek's guide thinking_mode (messages with calls need it in all later "
                "requests); deepseek-ai/deepseek-harness discussion 739 (an empty one counts); "
                "the words: anomalyco/opencode issue 24083",
            ),
        ),
        thinking="reasoning_content",
    ),
    "xAI": Row(
        (
            Rule(
                _refused(
                    "Argument not supported on this model: {name}",
                    *("stop", "presence_penalty", "frequency_penalty"),
                ),
                "docs.x.ai/developers/model-capabilities/text/reasoning; the words: "
                "BerriAI/litellm issue 14056, 2025-08-29",
                body=lambda words: {
                    "code": "Client specified an invalid argument",
                    "error": words,
                },
            ),
        ),
        thinking="reasoning_content",
    ),
    "Moonshot": Row(
        (
            Rule(
                lambda provider, body: (
                    "invalid temperature: only 1 is allowed for this model"
                    * (body.get("temperature", 1) != 1)
                ),
                "BerriAI/litellm pull 29687, 2026-06-04",
            ),
            Rule(
                _thinking_comes_back(
                    "thinking is enabled but reasoning_content is missing in assistant tool call "
                    "message at index {number}"
                ),
                "mastra-ai/mastra issue 12592",
            ),
        ),
        thinking="reasoning_content",
    ),
    "Zhipu": Row(
        (
            Rule(
                lambda provider, body: (
                    "The messages parameter is illegal. Please check the documentation."
                    * all(message["role"] != "user" for message in body["messages"])
                ),
                "anomalyco/opencode issue 2557, 2025-09-17 (no message of the user)",
                body=lambda words: {"error": {"code": "1214", "message": words}},
            ),
        ),
        thinking="reasoning_content",
    ),
    "DashScope": Row(
        (
            Rule(
                _no_role(
                    "developer",
                    "developer is not one of ['system', 'assistant', 'user', 'tool', 'function'] "
                    "- 'messages.[0].role'",
                ),
                "proma-ai/Proma issue 1496, 2026-08-08",
            ),
            Rule(
                _named_choice(
                    "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not "
                    "support being set to required or object in thinking mode",
                    "required",
                ),
                "can1357/oh-my-pi issue 886, 2026-06-19",
            ),
        ),
        thinking="reasoning_content",
    ),
    "Together AI": Row(),
    "Fireworks AI": Row(
        (
            Rule(
                _refused("Extra inputs are not permitted, field: '{name}'", "stream_options"),
                "FlowiseAI/Flowise issue 2866, 2024-08-05",
            ),
        ),
        thinking="reasoning_content",
    ),
    "Amazon Bedrock": Row(
        (
            Rule(
                _refused(
                    "The 'max_tokens' parameter is not supported, use 'max_completion_tokens' "
                    "instead",
                    "max_tokens",
                ),
                "CherryHQ/cherry-studio issue 9655, 2025-08-29; brainlid/langchain pull 647, "
                "2026-09-09",
            ),
            Rule(
                lambda provider, body: (
                    "Unsupported value: 'temperature' does not support this value with this "
                    "model. Only the default (1) value is supported."
                    * (body.get("temperature", 1) != 1)
                ),
                "BerriAI/litellm issue 36970, 2026-08-14",
            ),
        )
    ),
    "NVIDIA": Row(thinking="reasoning_content"),  # NousResearch/hermes-agent pull 19888, 2026-05-04
    "Hugging Face": Row(),
    "Ollama": Row(
        (
            Rule(
                _no_empty_content("invalid message content type: <nil>"),
                "SAIL-Research-Lab/cheetahclaws pull 72, 2026-04-28",
            ),
        )
    ),
    "vLLM": Row(
        (
            Rule(
                _refused(
                    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser '
                    "to be set",
                    "tools",
                ),
                "agentscope-ai/QwenPaw issue 1449, 2026-03-13 (a server started without them)",
                body=lambda words: {
                    "error": {"message": words, "type": "BadRequestError", "code": 400}
                },
            ),
        )
    ),
    "SGLang": Row(
        (
            Rule(
                _no_empty_content(
                    "4 validation errors for ChatCompletionRequest\n"
                    "messages.1.ChatCompletionMessageGenericParam.content.str\n"
                    "  Input should be a valid string [type=string_type, input_value=None, "
                    "input_type=NoneType]"
                ),
                "sgl-project/sglang issue 4236, 2025-03-09",
                body=lambda words: {"object": "error", "message": words, "code": 400},
            ),
        )
    ),
    "LM Studio": Row(
        (
            Rule(
                _named_choice(
                    "Invalid tool_choice type: 'object'. Supported string values: none, auto, "
                    "required"
                ),
                "can1357/oh-my-pi issue 6925, 2026-07-28",
                body=_in_error,
            ),
            Rule(
                _no_empty_content(
                    "Invalid 'content': 'content' field must be a string or an array of objects."
                ),
                "lmstudio-ai/lmstudio-bug-tracker issue 261, 2024-12-20",
                body=_in_error,
            ),
        )
    ),
    "llama.cpp": Row(
        (
            Rule(
                _no_pictures(
                    "image input is not supported - hint: if this is unexpected, you may need to "
                    "provide the mmproj"
                ),
                "issues of ggml-org/llama.cpp",
                500,
                lambda words: {"error": {"code": 500, "message": words, "type": "server_error"}},
            ),
        )
    ),
    "LiteLLM": Row(
        (
            Rule(
                _refused(
                    "litellm.UnsupportedParamsError: zai does not support parameters: ['{name}'], "
                    "for model={model}.",
                    *("max_completion_tokens", "reasoning_effort"),
                ),
                "mcdonc/klangk pull 2067, 2026-08-03; tscibilia/home-ops pull 3395, 2026-08-17",
                body=lambda words: {
                    "error": {"message": words, "type": "None", "param": None, "code": "400"}
                },
            ),
        )
    ),
}
"""The providers of chat completions. An empty row: plain, since nothing else was found."""


DeepSeek = partial(ChatProvider, name="DeepSeek")
Gemini = partial(ChatProvider, name="Google Gemini")
Mistral = partial(ChatProvider, name="Mistral")
