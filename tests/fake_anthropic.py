"""Anthropic as it documents itself, refusals included, for ``FakeService``.

    provider = AnthropicMessages([[thinks("Hm."), calls("run_cell", {})], [says("Yes.")]])
    with FakeService(provider) as service: …        # one list of blocks for each request
    provider.taken                                  # the requests that were not refused

What is taken fits the types of Anthropic's SDK, where it is installed, or the test fails.

Sources, all read on 2026-11-23; ``docs`` is platform.claude.com/docs/en:
  the fields and events: the types of anthropic 2.12.0, generated from the API's description
  the head: docs "api/versioning" (version 2026-10-21; sampling parameters are gone, even at their
    default); anthropic 2.12.0 sends the key in ``Authorization``
  errors, their types and status: docs "api/errors"
  thinking: docs "build-with-claude/thinking" (kept back unless ``display`` asks for it), docs
    "build-with-claude/preserved-thinking/prefix-checks" (what stands before a block may not change)
    and "…/fix-bound-to-a-different-conversation" (the words), bastani-inc/atomic issue 1720 (a
    changed block), docs "models/sonnet-5-5/migration-guide" (no forced tools, no prefill)
  what a model that cannot think adaptively says: the reports that github users made of Haiku 4.5
  cache marks: docs "build-with-claude/prompt-caching" (the order tools, system, messages; twenty
    blocks looked back), tghamm/Anthropic.SDK issue 50 (five marks)
  results: anthropics/claude-code issue 8210; empty text: portkey's error library 10487
  why a message ends: docs "build-with-claude/handling-stop-reasons"
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_answers import Request, Wire, in_bytes, json_body, raw_sse, status
from sdk_types import problems

__all__ = ["AnthropicMessages", "fault", "redacted"]

Json = dict[str, Any]
FIELDS = {
    *("model", "messages", "max_tokens", "system", "tools", "tool_choice", "thinking", "stream"),
    *("output_config", "service_tier", "stop_sequences", "metadata", "cache_control", "container"),
    *("inference_geo", "speed", "diagnostics", "user_profile_id"),
}
EFFORTS = ("low", "medium", "high", "xhigh", "max")
IDENTIFIER = "^[a-zA-Z0-9_-]+$"
LARGEST_PICTURE = 5 * 1024 * 1024
LOOKED_BACK = 20
BOUND = (
    "The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)


def _misfits(body: Json) -> list[str]:
    """What of a request does not fit the types of the SDK; nothing where that is not installed."""
    try:
        from anthropic.types import message_create_params as published
    except ImportError:
        return []
    return problems(body, published.MessageCreateParamsStreaming)


def redacted() -> Json:
    """Thinking that nobody but the provider may read."""
    return {"type": "redacted"}


def fault(code: int, kind: str, message: str, **headers: str) -> Any:
    """An error as Anthropic sends it."""
    body = {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_9"}
    return status(code, body, {"request-id": "req_9", **headers})


@dataclass
class AnthropicMessages:
    """Anthropic with Sonnet 5.5, or with Haiku 4.5, which does not think adaptively."""

    script: Sequence[Sequence[Json]]
    chunk_bytes: int = 0
    """The stream comes in pieces of so many bytes; 0: an event at a time."""
    ending: Json = field(default_factory=dict)
    """Fields of the last reply, such as its ``stop_reason``."""
    paused: int = 0
    """So many replies end with ``pause_turn``, and are gone on with when they come back whole."""
    limit_tokens: int = 128_000
    """The largest ``max_tokens`` that the model takes."""
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    heads: list[Any] = field(default_factory=list)
    signed: dict[str, str] = field(default_factory=dict)
    """What stood before each block of thinking, and what it said."""
    cached: set[str] = field(default_factory=set)
    unfinished: Sequence[Json] = ()
    """The blocks of the turn that was paused last."""

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        self.heads.append(request.headers)
        if not request.headers.get("authorization", "").startswith("Bearer "):
            return fault(401, "authentication_error", "x-api-key header is required")(request)
        refused = self._refusal(request)
        if refused:
            self.refusals.append(refused)
            return fault(400, "invalid_request_error", refused)(request)
        if wrong := request.body.get("stream") and _misfits(request.body):
            raise AssertionError(f"Anthropic would refuse {wrong}")
        body = _in_blocks(request.body)
        self.taken.append(body)
        message = self._message(body, self.script[len(self.taken) - 1])
        if not body.get("stream"):
            return json_body(message)(request)
        lines = [f"event: {e['type']}\ndata: {json.dumps(e)}" for e in self.events(message)]
        answer = raw_sse(lines, done=False, headers={"request-id": f"req_{len(self.taken)}"})
        return (in_bytes(answer, self.chunk_bytes) if self.chunk_bytes else answer)(request)

    def _refusal(self, request: Request) -> str:
        body = _in_blocks(request.body)
        if request.headers.get("anthropic-version") != "2026-10-21":
            return "anthropic-version: header is required"
        checks = (_of_fields(body), self._of_model(body), _of_marks(body), self._of_messages(body))
        return next((words for found in checks for words in found), "")

    def _of_model(self, body: Json) -> Iterator[str]:
        if body["max_tokens"] > self.limit_tokens:
            yield (
                f"max_tokens: {body['max_tokens']} > {self.limit_tokens}, which is the maximum "
                f"allowed number of output tokens for {body['model']}"
            )
        thinking = body.get("thinking", {})
        effort = body.get("output_config", {}).get("effort")
        if "haiku-4-5" in body["model"]:
            if thinking.get("type") == "adaptive":
                yield "adaptive thinking is not supported on this model"
            if effort:
                yield "This model does not support the effort parameter."
        elif thinking.get("type") in ("disabled", "enabled"):
            yield f"thinking.type: {thinking['type']!r} is not supported on this model."
        if effort and effort not in EFFORTS:
            yield f"output_config.effort: Input should be {', '.join(map(repr, EFFORTS))}"
        if body.get("tool_choice", {}).get("type") in ("any", "tool"):
            yield 'tool_choice: type "tool" and "any" are not supported for this model'

    def _of_messages(self, body: Json) -> Iterator[str]:
        messages = body["messages"]
        if not messages or messages[0]["role"] != "user":
            yield 'messages: first message must use the "user" role'
        is_last = messages and messages[-1]["role"] == "assistant"
        goes_on = is_last and self.unfinished == _unmarked(messages[-1]["content"])
        if is_last and not goes_on:
            yield (
                "This model does not support assistant message prefill. The conversation must end "
                "with a user message."
            )
        for number, message in enumerate(messages):
            if message["role"] == "system":
                yield "messages: role 'system' is not supported on this model"
            following = messages[number + 1]["content"] if number + 1 < len(messages) else []
            before = messages[number - 1]["content"] if number else []
            yield from _of_calls(number, message["content"], before, following)
            for place, block in enumerate(message["content"]):
                where = f"messages.{number}.content.{place}"
                yield from _of_block(where, block)
                if block["type"] in ("thinking", "redacted_thinking"):
                    yield from self._of_thinking(where, body, number, block)
            if message["content"][-1]["type"] in ("thinking", "redacted_thinking"):
                last = "The final block in an assistant message cannot be `thinking`."
                yield f"messages.{number}: {last}"

    def _of_thinking(self, where: str, body: Json, number: int, block: Json) -> Iterator[str]:
        signature = block.get("signature") or block.get("data") or ""
        wrong = f"{where}: Invalid `signature` in `{block['type']}` block"
        if signature not in self.signed:
            yield wrong
        elif not self.signed[signature].startswith(_told_before(body, number)):
            yield f"{wrong}. {BOUND}"
        elif not self.signed[signature].endswith(f"|{block.get('thinking', '')}"):
            yield (
                f"{where}: `thinking` or `redacted_thinking` blocks in the latest assistant "
                "message cannot be modified. These blocks must remain as they were in the original "
                "response."
            )

    def _message(self, body: Json, output: Sequence[Json]) -> Json:
        number = len(self.taken)
        is_shown = body.get("thinking", {}).get("display") == "summarized"
        before = _told_before(body, len(body["messages"]))
        content, thought = [], 0
        for place, spec in enumerate(output):
            block = _made(spec, f"{number}{place}", is_shown)
            if signature := block.get("signature") or block.get("data"):
                thought += 64
                self.signed[signature] = f"{before}|{block.get('thinking', '')}"
            content.append(block)
        last = self.ending if number == len(self.script) else {}
        is_call = any(block["type"] == "tool_use" for block in content)
        if number <= self.paused:
            last = {"stop_reason": "pause_turn"}
            goes_on = body["messages"][-1]["role"] == "assistant"
            self.unfinished = [
                *(self.unfinished if goes_on else ()),
                *({k: v for k, v in block.items() if v is not None} for block in content),
            ]
        return {
            "id": f"msg_{number}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": content,
            "container": None,
            "diagnostics": None,
            "stop_reason": "tool_use" if is_call else "end_turn",
            "stop_sequence": None,
            "stop_details": None,
            "usage": {
                **self._prompt_counts(body),
                "output_tokens": thought + 10,
                "output_tokens_details": {"thinking_tokens": thought},
            },
            **last,
        }

    def _prompt_counts(self, body: Json) -> Json:
        """What the cache has of a prompt, and what it keeps of it now: whole prefixes."""
        told: list[str] = []
        ends: dict[int, str] = {}
        read = written = 0
        for at, (block, is_marked) in enumerate(_blocks(body)):
            told.append(block)
            ends[at] = _digest("".join(told))
            if is_marked:
                written = len("".join(told)) // 4
                back = range(at, max(-1, at - LOOKED_BACK), -1)
                found = next((n for n in back if ends[n] in self.cached), None)
                if found is not None:
                    read = len("".join(told[: found + 1])) // 4
        self.cached |= {ends[at] for at, (_, is_marked) in enumerate(_blocks(body)) if is_marked}
        whole = len("".join(told)) // 4
        return {
            "input_tokens": whole - max(read, written),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": max(0, written - read),
        }

    def events(self, message: Json) -> list[Json]:
        """The events of a message, in the order of docs "build-with-claude/streaming"."""
        usage = message["usage"]
        head = {**message, "content": [], "stop_reason": None, "stop_details": None}
        head["usage"] = {**usage, "output_tokens": 1, "output_tokens_details": None}
        made: list[Json] = [{"type": "message_start", "message": head}, {"type": "ping"}]
        for place, block in enumerate(message["content"]):
            made += _block_events(place, block)
        delta = {n: message[n] for n in ("stop_reason", "stop_sequence", "stop_details")}
        made.append({"type": "message_delta", "delta": delta, "usage": usage})
        return [*made, {"type": "message_stop"}]


def _in_blocks(value: Any) -> Any:
    """The same with each ``content`` as a list; text is short for one block of it."""
    if isinstance(value, list):
        return [_in_blocks(item) for item in value]
    if not isinstance(value, dict):
        return value
    made = {name: _in_blocks(item) for name, item in value.items()}
    if isinstance(made.get("content"), str):
        made["content"] = [{"type": "text", "text": made["content"]}]
    return made


def _of_fields(body: Json) -> Iterator[str]:
    for name in ("model", "messages", "max_tokens"):
        if body.get(name) is None:
            yield f"{name}: Field required"
    for name in set(body) - FIELDS:
        yield f"{name}: Extra inputs are not permitted"
    if body.get("service_tier", "auto") not in ("auto", "standard_only"):
        yield "service_tier: Input should be 'auto' or 'standard_only'"
    if "tool_choice" in body and not body.get("tools"):
        yield "tool_choice: may only be specified while providing tools"


def _of_marks(body: Json) -> Iterator[str]:
    marks = json.dumps(body).count('"cache_control"')
    if marks > 4:
        yield f"A maximum of 4 blocks with cache_control may be provided. Found {marks}."


def _of_calls(number: int, blocks: list[Json], before: Any, following: Any) -> Iterator[str]:
    answered = [b["tool_use_id"] for b in following if b["type"] == "tool_result"]
    made = {b["id"] for b in before if b["type"] == "tool_use"}
    for place, block in enumerate(blocks):
        if block["type"] == "tool_use" and block["id"] not in answered:
            yield (
                f"messages.{number}: `tool_use` ids were found without `tool_result` blocks "
                f"immediately after: {block['id']}. Each `tool_use` block must have a "
                "corresponding `tool_result` block in the next message."
            )
        if block["type"] == "tool_result" and block["tool_use_id"] not in made:
            yield (
                f"messages.{number}.content.{place}: unexpected `tool_use_id` found in "
                f"`tool_result` blocks: {block['tool_use_id']}. Each `tool_result` block must have "
                "a corresponding `tool_use` block in the previous message."
            )


def _of_block(where: str, block: Json) -> Iterator[str]:
    for inner in block.get("content", ()):
        yield from _of_block(f"{where}.content", inner)
    if block["type"] == "text" and not block["text"].strip():
        yield "messages: text content blocks must be non-empty"
    identifier = block.get("id", block.get("tool_use_id"))
    if identifier is not None and not re.fullmatch(IDENTIFIER, identifier):
        yield f"{where}.{block['type']}.id: String should match pattern '{IDENTIFIER}'"
    if block["type"] == "tool_use" and not isinstance(block["input"], dict):
        yield f"{where}.tool_use.input: Input should be a valid dictionary"
    if block["type"] == "image" and (size := len(block["source"]["data"])) > LARGEST_PICTURE:
        yield (
            f"{where}.image.source.base64: image exceeds 5 MB maximum: {size} bytes > "
            f"{LARGEST_PICTURE} bytes"
        )


def _unmarked(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _unmarked(item) for name, item in value.items() if name != "cache_control"}
    return [_unmarked(item) for item in value] if isinstance(value, list) else value


def _told_before(body: Json, number: int) -> str:
    """What stands before a message; a cache mark changes nothing of it."""
    before = [body.get("tools"), body.get("system"), body["messages"][:number]]
    return _digest(json.dumps(_unmarked(before), sort_keys=True))


def _digest(told: str) -> str:
    return hashlib.sha256(told.encode()).hexdigest()


def _blocks(body: Json) -> Iterator[tuple[str, bool]]:
    """All that a prompt holds, in the order of the cache, and what of it is marked."""
    blocks = [*body.get("tools", ()), *body.get("system", ())]
    for message in body["messages"]:
        blocks += message["content"]
    for block in blocks:
        yield json.dumps(_unmarked(block), sort_keys=True), "cache_control" in block


def _made(spec: Json, number: str, is_shown: bool) -> Json:
    opaque = base64.b64encode(f"signed {number} {'z' * 60}".encode()).decode()
    if spec["type"] == "reasoning":
        thought = spec["said"] if is_shown else ""
        return {"type": "thinking", "thinking": thought, "signature": opaque}
    if spec["type"] == "redacted":
        return {"type": "redacted_thinking", "data": opaque}
    if spec["type"] == "server_tool":
        return {"type": "server_tool_use", "id": f"srvtoolu_{number}", **spec["used"]}
    if spec["type"] == "function_call":
        arguments = json.loads(spec["arguments"])
        caller = {"type": "direct"}
        made = {"type": "tool_use", "id": f"toolu_{number}", "name": spec["name"]}
        return {**made, "input": arguments, "caller": caller}
    return {"type": "text", "text": spec["said"], "citations": None}


def _block_events(place: int, block: Json) -> list[Json]:
    empties: dict[str, Json] = {
        "thinking": {"thinking": "", "signature": ""},
        "redacted_thinking": {},
        "text": {"text": ""},
        "tool_use": {"input": {}},
        "server_tool_use": {"input": {}},
    }
    empty = empties[block["type"]]
    deltas: list[Json] = []
    if block["type"] == "text":
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
    elif block["type"] == "thinking":
        pieces = _pieces(block["thinking"])
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block["type"] in ("tool_use", "server_tool_use"):
        # Without arguments nothing but an empty piece comes.
        given = _pieces(json.dumps(block["input"])) if block["input"] else []
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *given]]
    begun = {"type": "content_block_start", "index": place, "content_block": {**block, **empty}}
    between = [{"type": "content_block_delta", "index": place, "delta": d} for d in deltas]
    return [begun, *between, {"type": "content_block_stop", "index": place}]


def _pieces(text: str) -> list[str]:
    return [text[at : at + 5] for at in range(0, len(text), 5)]
