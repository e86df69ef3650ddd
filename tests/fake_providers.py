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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_answers import Answer, Request, Wire, chunk, error, in_bytes, json_body, raw_sse
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from sdk_types import problems

__all__ = [
    "DeepSeek",
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

    Sources: the API's description as the SDK's types have it (openai 3.54.0, generated from it);
    the guides "reasoning" (encrypted items where nothing is stored) and
    "responses-vs-chat-completions" (no tools with thinking in chat completions from gpt-5.4 on);
    for the words of refusals: github openai/openai-openapi issue 541 and BerriAI/litellm pull 34569
    (tools), openai/openai-agents-python issue 919 (items that are not stored), openai/codex issue
    8119 (encrypted content), continuedev/continue issue 12031 (summaries).
    """

    script: Sequence[Sequence[Json]]
    chunk_bytes: int = 0
    """The stream comes in pieces of so many bytes; 0: an event at a time."""
    may_summarise: bool = True
    """Whether the organisation is verified, without which there are no summaries."""
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
        answer = raw_sse([f"event: {e['type']}\ndata: {json.dumps(e)}" for e in events], done=False)
        return (in_bytes(answer, self.chunk_bytes) if self.chunk_bytes else answer)(request)

    def _refusal(self, body: Json) -> Json:
        wrong = problems(body, ResponseCreateParamsStreaming)
        if wrong:
            return {"message": f"Invalid request: {'; '.join(wrong)}", "param": "body"}
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


@dataclass
class DeepSeek:
    """DeepSeek V4 in thinking mode.

    Sources: DeepSeek's guide "thinking_mode" (messages with tool calls need their
    ``reasoning_content`` in all later requests, else 400; it is ignored in other messages) and for
    the words github anomalyco/opencode issue 24083; that an empty one counts too:
    deepseek-ai/deepseek-harness discussion 739; pictures: 1jehuang/jcode issue 310.
    """

    script: Sequence[Sequence[Json]]
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    thoughts: dict[str, str] = field(default_factory=dict)
    """The thinking that led to each call."""

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        refused = self._refusal(request.body)
        if refused:
            self.refusals.append(refused)
            return error(400, refused, code="invalid_request_error")(request)
        self.taken.append(request.body)
        output = self.script[len(self.taken) - 1]
        thought = "".join(spec["said"] for spec in output if spec["type"] == "reasoning")
        deltas: list[Json] = [{"role": "assistant", "content": None, "reasoning_content": ""}]
        deltas += [{"reasoning_content": piece} for piece in _pieces(thought)]
        made = _chat_calls(output, f"{type(self).__name__}_{len(self.taken)}")
        for call in made:
            self.thoughts[call["id"]] = thought
        return _chat_stream(deltas, output, made)(request)

    def _refusal(self, body: Json) -> str:
        for number, message in enumerate(body["messages"]):
            if isinstance(message["content"], list) and '"image_url"' in json.dumps(message):
                return (
                    "Failed to deserialize the JSON body into the target type: "
                    f"messages[{number}]: unknown variant `image_url`, expected `text`"
                )
            sent = message.get("reasoning_content")
            known = [self.thoughts.get(call["id"], "") for call in message.get("tool_calls", ())]
            if any(sent is None or sent != thought for thought in known):
                return (
                    "The `reasoning_content` in the thinking mode must be passed back to the API."
                )
        return ""


@dataclass
class Gemini:
    """Gemini 3 behind Google's OpenAI-compatible endpoint.

    Sources: Google's page "thought-signatures" (the first call of each step of the current turn
    needs the signature it came with, in ``extra_content.google.thought_signature``; calls of other
    models may carry ``skip_thought_signature_validator``) and for the words
    discuss.ai.google.dev topic 109823; errors come as a list of one.
    """

    script: Sequence[Sequence[Json]]
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    signatures: dict[str, str] = field(default_factory=dict)

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        refused = self._refusal(request.body)
        if refused:
            self.refusals.append(refused)
            fault = {"code": 400, "message": refused, "status": "INVALID_ARGUMENT"}
            return json_body([{"error": fault}], status=400)(request)
        self.taken.append(request.body)
        output = self.script[len(self.taken) - 1]
        made = _chat_calls(output, f"{type(self).__name__}_{len(self.taken)}")
        for call in made[:1]:  # of parallel calls the first one alone is signed
            signature = base64.b64encode(f"signed {call['id']} {'y' * 60}".encode()).decode()
            self.signatures[call["id"]] = signature
            call["extra_content"] = {"google": {"thought_signature": signature}}
        return _chat_stream([{"role": "assistant"}], output, made)(request)

    def _refusal(self, body: Json) -> str:
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
            if found not in (self.signatures.get(call["id"]), "skip_thought_signature_validator"):
                return "Corrupted thought signature."
        return ""


MISTRAL_FIELDS = {
    *("model", "messages", "tools", "tool_choice", "temperature", "top_p", "max_tokens", "stream"),
    *("stop", "random_seed", "response_format", "reasoning_effort", "parallel_tool_calls"),
    *("prompt_mode", "stream_options"),
}


@dataclass
class Mistral:
    """Mistral with a model that thinks.

    Sources: @ai-sdk/mistral 3.0.52 (thinking comes as a part of the content, which is a list then,
    and goes back so); charmbracelet/crush issue 1590 (``reasoning_content`` in a message is refused
    as an extra input); editor-code-assistant/eca issue 231 (so is ``max_completion_tokens``, status
    422, the words in ``message.detail``).
    """

    script: Sequence[Sequence[Json]]
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        unknown = (name for name in request.body if name not in MISTRAL_FIELDS)
        wrong: list[list[str | int]] = [["body", name] for name in unknown]
        for number, message in enumerate(request.body["messages"]):
            extra = set(message) - {"role", "content", "tool_calls", "tool_call_id", "name"}
            wrong += [["body", "messages", number, "assistant", name] for name in extra]
        if wrong:
            self.refusals.append(str(wrong))
            problems_ = [
                {"type": "extra_forbidden", "loc": loc, "msg": "Extra inputs are not permitted"}
                for loc in wrong
            ]
            body = {"object": "error", "message": {"detail": problems_}, "code": None}
            return json_body(body, status=422)(request)
        self.taken.append(request.body)
        output = self.script[len(self.taken) - 1]
        thought = "".join(spec["said"] for spec in output if spec["type"] == "reasoning")
        made = _chat_calls(output, f"{type(self).__name__}_{len(self.taken)}")
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": piece}]}
            for piece in _pieces(thought)
        ]
        return _chat_stream([{"content": [part]} for part in parts], output, made)(request)


def _chat_calls(output: Sequence[Json], number: str) -> list[Json]:
    wanted = [spec for spec in output if spec["type"] == "function_call"]
    return [
        {
            "index": n,
            "id": f"call_{number}{n}",
            "type": "function",
            "function": {"name": spec["name"], "arguments": spec["arguments"]},
        }
        for n, spec in enumerate(wanted)
    ]


def _chat_stream(deltas: list[Json], output: Sequence[Json], made: list[Json]) -> Answer:
    text = "".join(spec["said"] for spec in output if spec["type"] == "message")
    sent = [*deltas, *({"content": piece} for piece in _pieces(text))]
    sent += [{"tool_calls": [call]} for call in made]
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 40,
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    ends = [chunk({}, "tool_calls" if made else "stop"), chunk(None, usage=usage)]
    return raw_sse([*(chunk(delta) for delta in sent), *ends])
