"""Gemini as Google documents it, refusals included, for ``FakeService``.

    provider = GeminiApi([[thinks("Hm."), calls("run_cell", {})], [says("Yes.")]])
    with FakeService(provider, models=listed()) as service: …   # one list of parts a request
    provider.taken                                  # the requests that were not refused

What is taken, and what is said but for ``ending``, fits Google's published description of both
(``google_description.py``), or the test fails.

Sources, all read on 2026-11-23; ``docs`` is ai.google.dev/gemini-api/docs:
  fields of requests and replies: the types of google-genai 3.4.0
  signatures: docs "thought-signatures" (the first call of each step of the current turn needs the
    one it came with, parallel calls have one; calls of other models may carry
    ``skip_thought_signature_validator``; a reply in words may have one, in a part of its own at
    the end of a stream); the words: askimo-ai/askimo issue 543, docs.apiyi.com
    "faq/gemini-thought-signature-missing"
  levels and budgets: the guide to Gemini 3.8 Flash of docs.cloud.google.com (LOW, MEDIUM, HIGH),
    docs.oxen.ai "gemini-3-8-flash" (MINIMAL is an error), juspay/neurolink pull 1707 (a level
    before Gemini 3 is an error), vercel/ai issue 8027 (the words about a budget of 0)
  results: docs "function-calling" (one for each call, in the content behind them, with its id)
  no words of the model at the end, no ``candidateCount``: dev.to
    "how-to-migrate-to-gemini-36-flash"
  errors: RooCodeInc/Roo-Code issue 3883 and diegosouzapw/OmniRoute issue 9504 (quota, RetryInfo),
    docs "troubleshooting" (status and reason of each)
  the stream: docs.apiyi.com "gemini/response-handling" (no ``[DONE]``, counts in each piece)
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from fake_answers import Answer, Request, Wire, in_bytes, json_body, raw_sse
from google_description import problems, reply_problems

__all__ = ["GeminiApi", "fault", "listed", "too_many"]

Json = dict[str, Any]
FIELDS = {
    *("contents", "tools", "toolConfig", "safetySettings", "systemInstruction", "cachedContent"),
    *("generationConfig", "serviceTier", "labels", "store", "model"),
}
CONFIG_FIELDS = {
    *("temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "seed"),
    *("responseMimeType", "responseJsonSchema", "responseSchema", "thinkingConfig"),
    *("presencePenalty", "frequencyPenalty", "mediaResolution", "responseModalities"),
}
SKIPPED = "skip_thought_signature_validator"
METHODS = {"streamGenerateContent": True, "generateContent": False}
OWN_NAMES = ("args", "response", "parametersJsonSchema", "responseJsonSchema", "labels")
"""Fields whose inner names are the caller's."""
RPC = "type.googleapis.com/google.rpc"


def fault(code: int, status: str, message: str, *details: Json) -> Answer:
    """An error as Google sends it."""
    error: Json = {"code": code, "message": message, "status": status}
    return json_body({"error": {**error, **({"details": details} if details else {})}}, status=code)


def too_many(limit: str, delay: str = "") -> Answer:
    """A quota is used up; ``limit`` is its id, ``delay`` when to ask again."""
    violation = {"quotaId": limit, "quotaMetric": "generate_content_requests", "quotaValue": "20"}
    details: list[Json] = [{"@type": f"{RPC}.QuotaFailure", "violations": [violation]}]
    if delay:
        details.append({"@type": f"{RPC}.RetryInfo", "retryDelay": delay})
    words = (
        "You exceeded your current quota, please check your plan and billing details. For more "
        "information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits."
    )
    return fault(429, "RESOURCE_EXHAUSTED", words, *details)


def listed(*names: str) -> Answer:
    """What ``GET /models`` says: models that generate, and one that makes vectors."""
    rows = [
        {
            "name": f"models/{name}",
            "displayName": name,
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        for name in names
    ]
    vectors = {"name": "models/embedding-2", "supportedGenerationMethods": ["embedContent"]}
    return json_body({"models": [*rows, vectors]})


@dataclass
class GeminiApi:
    """The Gemini API with a model of Gemini 3, or an older one by its name in the address."""

    script: Sequence[Sequence[Json] | Answer]
    """The parts of each reply; an answer is sent as it is."""
    chunk_bytes: int = 0
    """The stream comes in pieces of so many bytes; 0: an event at a time."""
    line_end: str = "\n"
    ending: Json = field(default_factory=dict)
    """Fields of the last reply's candidate, such as its ``finishReason``."""
    gives_ids: bool = True
    """Whether calls have an id, as those of Gemini 3 do."""
    taken: list[Json] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    heads: list[Any] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    signatures: dict[str, Json] = field(default_factory=dict)
    """The part that each signature was sent with."""

    def __call__(self, request: Request) -> Wire:
        """The answer to a request."""
        path, _, query = request.path.partition("?")
        model, _, method = path.rpartition("/")[2].partition(":")
        self.heads.append(request.headers)
        self.paths.append(request.path)
        if "authorization" in request.headers:
            words = "Request had invalid authentication credentials. Expected OAuth 2 access token"
            return fault(401, "UNAUTHENTICATED", words)(request)
        if not request.headers.get("x-goog-api-key"):
            return fault(403, "PERMISSION_DENIED", "Method doesn't allow unregistered callers")(
                request
            )
        body = _camel(request.body)
        is_old = model.startswith("gemini-2")
        refused = next(self._refusals(body, model, is_old), "")
        if refused:
            self.refusals.append(refused)
            return fault(400, "INVALID_ARGUMENT", refused)(request)
        wrong = problems(path, body)
        assert not wrong, f"Google would refuse {wrong}"
        self.taken.append(body)
        output = self.script[len(self.taken) - 1]
        if callable(output):
            return output(request)
        pieces = list(self._pieces(body, model, output, is_old))
        wrong = [problem for piece in pieces for problem in reply_problems(piece)]
        assert self.ending or not wrong, f"Google would not say {wrong}"
        if not METHODS[method]:
            return json_body(_joined(pieces))(request)
        assert query == "alt=sse", request.path
        events = [f"data: {json.dumps(piece)}{2 * self.line_end}".encode() for piece in pieces]
        answer = raw_sse(events, done=False)
        return (in_bytes(answer, self.chunk_bytes) if self.chunk_bytes else answer)(request)

    def reply_to(self, body: Json) -> Json:
        """The next reply as one object."""
        self.taken.append(body)
        output = self.script[len(self.taken) - 1]
        assert not callable(output)
        return _joined(list(self._pieces(body, "fake-model", output, is_old=False)))

    def _refusals(self, body: Json, model: str, is_old: bool) -> Iterator[str]:
        for name in sorted(set(body) - FIELDS):
            yield f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.'
        config = body.get("generationConfig", {})
        for name in sorted(set(config) - CONFIG_FIELDS):
            yield (
                f'Invalid JSON payload received. Unknown name "{name}" at '
                "'generation_config': Cannot find field."
            )
        if config.get("candidateCount", 1) != 1:
            yield "Multiple candidates is not enabled for this model"
        if (limit := config.get("maxOutputTokens", 1)) > 65_536:
            yield (
                f"Unable to submit request because it has a maxOutputTokens value of {limit} but "
                "the supported range is from 1 (inclusive) to 65537 (exclusive)."
            )
        yield from _of_thinking(config.get("thinkingConfig", {}), model, is_old)
        yield from _of_tools(body)
        yield from self._of_contents(body["contents"], is_old)

    def _of_contents(self, contents: list[Json], is_old: bool) -> Iterator[str]:
        if not contents:
            yield "GenerateContentRequest.contents: contents is not specified"
        for place, content in enumerate(contents):
            parts = content.get("parts") or []
            if content.get("role") not in ("user", "model"):
                yield "Please use a valid role: user, model."
            if not parts:
                yield (
                    f"GenerateContentRequest.contents[{place}].parts: contents.parts must not be "
                    "empty."
                )
            yield from _of_turn(contents, place)
            for part in parts:
                yield from self._of_signature(part)
                pictures = part.get("functionResponse", {}).get("parts")
                if pictures and is_old:
                    yield "Multimodal function response is not supported for this model."
        if contents and contents[-1]["role"] == "model":
            yield "Please ensure that the last content is of role user: no prefill."
        if not is_old:
            yield from _of_steps(contents)

    def _of_signature(self, part: Json) -> Iterator[str]:
        given = part.get("thoughtSignature")
        if given is None or given == SKIPPED:
            return
        known = self.signatures.get(given)
        if known is None or _unsigned(known) != _unsigned(part):
            yield "Corrupted thought signature."

    def _pieces(
        self, body: Json, model: str, output: Sequence[Json], is_old: bool
    ) -> Iterator[Json]:
        number = len(self.taken)
        shows = body.get("generationConfig", {}).get("thinkingConfig", {}).get("includeThoughts")
        parts = list(self._parts(output, number, bool(shows), is_old))
        prompt = len(json.dumps(body)) // 4
        thought = 64 * sum(spec["type"] == "reasoning" for spec in output)
        head: Json = {"modelVersion": model, "responseId": f"reply_{number}"}
        counts: Json = {"promptTokenCount": prompt, "totalTokenCount": prompt}
        if number > 1:
            counts["cachedContentTokenCount"] = prompt // 2
        for part in parts:
            content = {"role": "model", "parts": [part]}
            yield {
                "candidates": [{"content": content, "index": 0}],
                "usageMetadata": counts,
                **head,
            }
        last: Json = {"finishReason": "STOP", "index": 0}
        last |= self.ending if number == len(self.script) else {}
        whole = {**counts, "thoughtsTokenCount": thought, "candidatesTokenCount": 10}
        whole["totalTokenCount"] = prompt + thought + 10
        yield {"candidates": [last], "usageMetadata": whole, **head}

    def _parts(
        self, output: Sequence[Json], number: int, shows: bool, is_old: bool
    ) -> Iterator[Json]:
        is_signed = False
        for place, spec in enumerate(output):
            if spec["type"] == "reasoning":
                for piece in _cut(spec["said"]) if shows else ():
                    yield {"text": piece, "thought": True}
            elif spec["type"] == "function_call":
                call: Json = {"name": spec["name"], "args": json.loads(spec["arguments"])}
                call |= {"id": f"fc{number}{place}"} if self.gives_ids else {}
                part: Json = {"functionCall": call}
                # Of parallel calls the first one alone is signed; older models sign now and then.
                yield part if is_signed or is_old else self._signed(part, f"{number}{place}")
                is_signed = True
            else:
                for piece in _cut(spec["said"]):
                    yield {"text": piece}
        if not is_signed and not is_old and output:
            yield self._signed({"text": ""}, f"{number}end")

    def _signed(self, part: Json, number: str) -> Json:
        signature = base64.b64encode(f"signed {number} {'y' * 60}".encode()).decode()
        part = {**part, "thoughtSignature": signature}
        self.signatures[signature] = part
        return part


def _camel(value: Any) -> Any:
    """The same with each field as JSON has it; the service takes its ``snake_case``, too.

    Source: protobuf.dev "programming-guides/json"; the SDK writes ``thinking_level``.
    """
    if isinstance(value, list):
        return [_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        re.sub(r"_([a-z])", lambda found: found[1].upper(), name): (
            item if name in OWN_NAMES else _camel(item)
        )
        for name, item in value.items()
    }


def _of_thinking(thinking: Json, model: str, is_old: bool) -> Iterator[str]:
    level, budget = thinking.get("thinkingLevel"), thinking.get("thinkingBudget")
    if level is not None and is_old:
        yield "Thinking level is not supported for this model."
    elif level not in (None, "LOW", "MEDIUM", "HIGH"):
        yield f"Thinking level {level} is not supported for this model. Please retry with other."
    if level is not None and budget is not None:
        yield "You can only set only one of thinking budget and thinking level."
    if budget == 0 and "pro" in model:
        yield "Budget 0 is invalid. This model only works in thinking mode."


def _of_tools(body: Json) -> Iterator[str]:
    names = [f["name"] for tool in body.get("tools", ()) for f in tool["functionDeclarations"]]
    calling = body.get("toolConfig", {}).get("functionCallingConfig", {})
    if calling and not names:
        yield "Function calling config is set without function_declarations."
    allowed = calling.get("allowedFunctionNames", [])
    if allowed and calling["mode"] not in ("ANY", "VALIDATED"):
        yield "Allowed function names is only supported in ANY mode."
    if set(allowed) - set(names):
        yield "Allowed function names must be a subset of function_declarations."


def _of_turn(contents: list[Json], place: int) -> Iterator[str]:
    """Calls follow words or results, and each has its result in the content behind them."""
    calls = _in(contents[place], "functionCall")
    results = _in(contents[place], "functionResponse")
    if calls and (place == 0 or contents[place - 1]["role"] != "user"):
        yield (
            "Please ensure that function call turn comes immediately after a user turn or after a "
            "function response turn."
        )
    if calls:
        following = contents[place + 1] if place + 1 < len(contents) else {"parts": []}
        answered = _in(following, "functionResponse")
        if len(answered) != len(calls):
            yield (
                "Please ensure that the number of function response parts is equal to the number "
                "of function call parts of the function call turn."
            )
        for call, answer in zip(calls, answered, strict=False):
            if (call["name"], call.get("id")) != (answer["name"], answer.get("id")):
                yield f"Function response for {answer['name']!r} has no matching function call."
    if results and (place == 0 or not _in(contents[place - 1], "functionCall")):
        yield (
            "Please ensure that function response turn comes immediately after a function call "
            "turn."
        )


def _of_steps(contents: list[Json]) -> Iterator[str]:
    """Each step since the person's last words has to be signed."""
    words = [n for n, c in enumerate(contents) if c["role"] == "user" and _has_words(c)]
    start = words[-1] if words else 0
    for place, content in enumerate(contents):
        first = next((p for p in content["parts"] if "functionCall" in p), None)
        if place < start or first is None or first.get("thoughtSignature"):
            continue
        yield (
            "Function call is missing a thought_signature in functionCall parts. This is required "
            "for tools to work correctly, and missing thought_signature may lead to degraded model "
            "performance. Additional data, function call "
            f"`default_api:{first['functionCall']['name']}` , position {place}."
        )


def _has_words(content: Json) -> bool:
    return any("text" in part for part in content["parts"]) and not _in(content, "functionResponse")


def _in(content: Json, name: str) -> list[Json]:
    return [part[name] for part in content["parts"] if name in part]


def _unsigned(part: Json) -> Json:
    return {name: value for name, value in part.items() if name != "thoughtSignature"}


def _joined(pieces: list[Json]) -> Json:
    """A reply that is not streamed: all parts in one."""
    candidates = [piece["candidates"][0] for piece in pieces]
    parts = [part for c in candidates for part in c.get("content", {}).get("parts", ())]
    content = {"role": "model", "parts": parts}
    return {**pieces[-1], "candidates": [{**candidates[-1], "content": content}]}


def _cut(text: str) -> list[str]:
    return [text[at : at + 9] for at in range(0, len(text), 9)]
