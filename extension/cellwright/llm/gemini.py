"""Google's Gemini API: a prompt as its request, and its replies as those of a chat.

It is spoken on the wire, at Google's own address as at Vertex, with the client that the other APIs
have. What was thought is shown; its signatures are sent again with the parts that they came with,
without which Gemini 3 refuses the results of its calls.

Sources, read 2026-11-23: the types of google-genai 3.4.0, which are made of the published
description; ai.google.dev/gemini-api/docs: "thought-signatures", "thinking", "function-calling",
"openai" (which budget an effort stands for).
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from cellwright.errors import LMStreamError
from cellwright.llm.deltas import TranslatingAssembler, call_chunk, delta_chunk, object_in
from cellwright.llm.openai_format import (
    JSON,
    LEFT_OUT,
    PICTURES,
    readable_arguments,
    tool_to_openai,
    usable_temperature,
    with_captions,
)
from cellwright.llm.provider_items import Item, ItemReader, pair_items
from cellwright.providers import BUDGET_MODELS
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Part,
    Prompt,
    SystemMessage,
    ToolCall,
    ToolMessage,
    UserMessage,
)

NAMES = {
    "reasoning_effort": "thinkingConfig",
    "response_format": "responseMimeType",
    "tool_choice": "toolConfig",
    "service_tier": "serviceTier",
    "max_tokens": "maxOutputTokens",
    "max_completion_tokens": "maxOutputTokens",
    "max_output_tokens": "maxOutputTokens",
    "stop": "stopSequences",
    "top_p": "topP",
    "top_k": "topK",
    "presence_penalty": "presencePenalty",
    "frequency_penalty": "frequencyPenalty",
}
"""What parameters of chat completions are called here."""
CONFIG = "generationConfig"
CONFIG_NAMES = frozenset(NAMES.values()) - {"toolConfig", "serviceTier"} | {
    *("temperature", "seed", "responseJsonSchema", "mediaResolution"),
}
"""What of it stands in an object of its own."""
FORMAT = frozenset({"responseMimeType", "responseJsonSchema"})
"""Go together: a schema alone is refused."""
ABSENT = ("parallel_tool_calls", "verbosity", "prompt_cache_key", "user", "stream_options")
"""Parameters of chat completions that there are none of."""
THOUGHTS = "includeThoughts"
BUDGETS = {"none": 0, "minimal": 1024, "low": 1024, "medium": 8192}
LARGEST_BUDGET = 24_576
LEVELS = {"none": "MINIMAL", "max": "XHIGH"}
TIERS = {"default": "standard", "auto": None}
MODES = {"auto": "AUTO", "required": "ANY", "none": "NONE"}
PICTURE_TYPES = ("image/png", "image/jpeg", "image/webp")
UNSIGNED = "skip_thought_signature_validator"
"""What Google documents for calls that another model made."""
CALL = "functionCall"
SIGNATURE = "thoughtSignature"


def gemini_parameters(
    prompt: Prompt, *, vision: bool, reader: ItemReader, without: Collection[str] = ()
) -> JSON:
    """Everything that is sent for a prompt, in an order that never changes.

    Args:
        prompt: What to ask; its model stands in the address.
        vision: Whether the model sees; pictures become their captions where it does not.
        reader: Finds the signatures that this service wants back.
        without: Parameters the model refuses, as ``name_of`` has them.
    """
    sent: JSON = {}
    system = [m.text for m in prompt.messages if isinstance(m, SystemMessage) and m.text.strip()]
    if system:
        sent["systemInstruction"] = {"parts": [{"text": "\n\n".join(system)}]}
    if prompt.tools:
        sent["tools"] = [{"functionDeclarations": [_tool(tool) for tool in prompt.tools]}]
    is_old = bool(BUDGET_MODELS.search(prompt.parameters.model))
    sent["contents"] = _Contents(vision, reader, is_old).of(prompt.messages)
    config: JSON = {"thinkingConfig": {THOUGHTS: True}}
    for name, value in _options(prompt.parameters, is_old).items():
        if name == "thinkingConfig":
            config[name] |= value
        elif name in CONFIG_NAMES:
            config[name] = value
        elif name != "toolConfig" or prompt.tools:
            sent[name] = value
    if isinstance(own := sent.pop(CONFIG, None), Mapping):
        config |= own
    return _given(sent, without) | {CONFIG: _config(config, without)}


def _config(config: JSON, without: Collection[str]) -> JSON:
    """What is asked of the reply, without what the model refuses."""
    thinking = object_in(config, "thinkingConfig")
    if "thinkingConfig" in without:
        thinking = {name: value for name, value in thinking.items() if name == THOUGHTS}
    thinking = _given(thinking, without)
    both = () if FORMAT.isdisjoint(without) else FORMAT
    rest = _given(config, {*without, *both, "thinkingConfig"})
    return {**rest, "thinkingConfig": thinking} if thinking else rest


def _given(values: Mapping[str, Any], without: Collection[str]) -> JSON:
    return {n: value for n, value in values.items() if value is not None and n not in without}


def model_in_path(model: str) -> str:
    """A model's name as the address has it: lists write ``models/…``, Vertex ``google/…``."""
    return quote(model.rpartition("/")[2], safe="")


def name_of(parameter: str) -> str:
    """What a parameter of chat completions is called here."""
    return NAMES.get(parameter, parameter)


def parameter_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a body holds; how much is thought and whether it is shown are two."""
    config = object_in(body, CONFIG)
    thinking = object_in(config, "thinkingConfig")
    names = [name for name in body if name not in (CONFIG, "systemInstruction")]
    names += [name for name in config if name != "thinkingConfig"]
    names += [THOUGHTS] if THOUGHTS in thinking else []
    return (*names, *(["thinkingConfig"] if set(thinking) - {THOUGHTS} else []), CONFIG)


REFUSED_WORDS = re.compile(
    r"unknown name|not support|unsupported|not enabled|invalid|only works|deprecated|not allowed"
    r"|cannot"
)

WORD_OF_NAME = re.compile(r"[A-Z]?[a-z\d]+|[A-Z]")


def refused_name(detail: str, names: Collection[str]) -> str:
    """The parameter that a refusal is about; empty where it does not say.

    It is called as in JSON, as in the description (``service_tier``) or in words ("Thinking level
    MINIMAL is not supported for this model").
    """
    words = detail.lower()
    if not REFUSED_WORDS.search(words):
        return ""
    for name in names:
        pieces = WORD_OF_NAME.findall(name)
        if name != CONFIG and re.search(rf"\b{'[ _]?'.join(pieces)}\b", words, re.IGNORECASE):
            return name
    is_about_thinking = "think" in words or "budget" in words
    asked = [name for name in ("thinkingConfig", THOUGHTS) if name in names]
    return asked[0] if is_about_thinking and asked else ""


def _options(parameters: Parameters, is_old: bool) -> JSON:
    given: JSON = {
        "temperature": usable_temperature(parameters.temperature),
        "maxOutputTokens": parameters.max_output_tokens,
    }
    for name, value in parameters.extra.items():
        if name == "reasoning_effort":
            given[NAMES[name]] = _thinking(str(value), is_old)
        elif name == "response_format" and isinstance(value, Mapping):
            given |= _format(value)
        elif name not in ABSENT:
            given[name_of(name)] = _option(name, value)
    return given


def _format(wanted: Mapping[str, Any]) -> JSON:
    if wanted.get("type") not in ("json_schema", "json_object"):
        return {}
    schema = object_in(wanted, "json_schema").get("schema")
    return {"responseMimeType": "application/json", "responseJsonSchema": schema}


def _thinking(effort: str, is_old: bool) -> JSON:
    if is_old:
        return {"thinkingBudget": BUDGETS.get(effort, LARGEST_BUDGET)}
    return {"thinkingLevel": LEVELS.get(effort, effort.upper())}


def _option(name: str, value: Any) -> Any:
    """A value of chat completions as it is written here; None: its default is meant."""
    if name == "stop":
        return [value] if isinstance(value, str) else value
    if name == "service_tier":
        return TIERS.get(value, value)
    if name != "tool_choice":
        return value
    function = value.get("function") if isinstance(value, Mapping) else None
    if isinstance(function, Mapping):
        calling: JSON = {"mode": "ANY", "allowedFunctionNames": [function["name"]]}
    else:
        calling = {"mode": MODES.get(str(value), "AUTO")}
    return {"functionCallingConfig": calling}


def _tool(tool: Manifest) -> JSON:
    function = tool_to_openai(tool)["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "parametersJsonSchema": function["parameters"],
    }


class _Contents:
    """A conversation as contents: the results of a reply's calls are one, words are their own."""

    def __init__(self, vision: bool, reader: ItemReader, is_old: bool) -> None:
        self._vision = vision
        self._reader = reader
        self._is_old = is_old
        self._ids: dict[str, str] = {}
        """Under which id each call is known to the service; empty: it gave none."""
        self._made: list[JSON] = []
        self._kinds: list[type[Message]] = []

    def of(self, messages: Sequence[Message]) -> list[JSON]:
        pictures: list[JSON] = []
        for message in messages:
            if isinstance(message, ToolMessage):
                self._add(message, [self._result(message, pictures)])
                continue
            self._put_behind_results(pictures)
            if isinstance(message, AssistantMessage):
                self._add(message, self._said(message))
            elif isinstance(message, UserMessage):
                self._add(message, self._words(message.parts))
        self._put_behind_results(pictures)
        if not self._kinds or self._kinds[0] is not UserMessage:
            self._made.insert(0, {"role": "user", "parts": [{"text": LEFT_OUT}]})
        return self._made

    def _put_behind_results(self, pictures: list[JSON]) -> None:
        if pictures:
            self._made[-1]["parts"] += [{"text": PICTURES}, *pictures]
            pictures.clear()

    def _add(self, message: Message, parts: list[JSON]) -> None:
        if not parts:
            return
        if self._kinds and self._kinds[-1] is type(message):
            self._made[-1]["parts"] += parts
            return
        role = "model" if isinstance(message, AssistantMessage) else "user"
        self._made.append({"role": role, "parts": parts})
        self._kinds.append(type(message))

    def _sees(self, part: Part) -> bool:
        return self._vision and isinstance(part, ImagePart) and part.mime in PICTURE_TYPES

    def _words(self, parts: Sequence[Part]) -> list[JSON]:
        made: list[JSON] = []
        for part in parts:
            if isinstance(part, ImagePart) and self._sees(part):
                made.append(_picture(part))
            elif text := with_captions((part,)):
                made.append({"text": text})
        return made

    def _result(self, message: ToolMessage, pictures: list[JSON]) -> JSON:
        """The result of a call; of older models the pictures follow in ``pictures``."""
        seen = [_picture(p) for p in message.parts if isinstance(p, ImagePart) and self._sees(p)]
        text = with_captions(tuple(part for part in message.parts if not self._sees(part)))
        response: JSON = {"name": message.name}
        if identifier := self._ids.get(message.call_id, message.call_id):
            response["id"] = identifier
        response["response"] = {"error" if message.is_error else "output": text}
        if seen and not self._is_old:
            response["parts"] = seen
        else:
            pictures += seen
        return {"functionResponse": response}

    def _said(self, message: AssistantMessage) -> list[JSON]:
        """What the model said, in the parts in which it came."""
        items = self._reader.items_of(message)
        made: list[JSON] = []
        for item, own in pair_items(message, items, CALL):
            signature = {SIGNATURE: item[SIGNATURE]} if item.get(SIGNATURE) else {}
            if isinstance(own, ToolCall):
                made.append({CALL: self._call(own, item, bool(items)), **signature})
            elif own is None:
                made.append({"text": item.get("text", ""), "thought": True, **signature})
            elif own.strip() or signature:
                made.append({"text": own, **signature})
        first = next((part for part in made if CALL in part), None)
        if first is not None and not self._is_old:
            first.setdefault(SIGNATURE, UNSIGNED)
        return made

    def _call(self, call: ToolCall, item: Item, is_own: bool) -> JSON:
        given = str(item.get("id") or "") if is_own else call.id
        self._ids[call.id] = given
        arguments = json.loads(readable_arguments(call.arguments), parse_constant=str)
        return {"name": call.name, "args": arguments, **({"id": given} if given else {})}


def _picture(part: ImagePart) -> JSON:
    return {"inlineData": {"mimeType": part.mime, "data": part.data}}


# Pieces of a reply, as the chunks of chat completions that say the same.


FINISHED = {"STOP": "stop", "MAX_TOKENS": "length", "CONTINUATION": "length"}
"""Why a reply ends where it is not withheld."""
BROKEN = {
    "MALFORMED_FUNCTION_CALL": "The model wrote a call that cannot be read",
    "MALFORMED_RESPONSE": "The model wrote a reply that cannot be read",
    "UNEXPECTED_TOOL_CALL": "The model called a tool that it was not given",
    "TOO_MANY_TOOL_CALLS": "The model made too many calls",
    "MISSING_THOUGHT_SIGNATURE": "A thought signature is missing",
    "OTHER": "The service ended the reply without a reason",
}
"""Ends that are none; asking once more may help."""
NOT_YET = ("", "FINISH_REASON_UNSPECIFIED")


class GeminiAssembler(TranslatingAssembler):
    """Takes the pieces of a reply; each is a whole response with more parts."""

    def __init__(self) -> None:
        super().__init__()
        self._parts: list[JSON] = []
        self._counts: JSON = {}
        self._call_count = 0

    def provider_items(self) -> tuple[Item, ...]:
        """The parts in their order, without what the message itself says."""
        if not any(part.get(SIGNATURE) for part in self._parts):
            return ()
        # What was thought is told to us alone; a signature goes with it where it has one.
        kept = (part for part in self._parts if part["type"] != "thought" or part.get(SIGNATURE))
        return tuple(kept)

    def _translate(self, event: Mapping[str, Any]) -> Iterator[JSON]:
        yield {"id": event.get("responseId"), "model": event.get("modelVersion")}
        if usage := object_in(event, "usageMetadata"):
            yield self._count(usage)
        if blocked := object_in(event, "promptFeedback").get("blockReason"):
            yield delta_chunk({"refusal": f"The prompt was blocked: {blocked}."}, "content_filter")
        candidates = event.get("candidates")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else {}
        for part in object_in(candidate, "content").get("parts") or ():
            if isinstance(part, Mapping):
                yield from self._part(part)
        yield from self._ending(candidate)

    def _part(self, part: Mapping[str, Any]) -> Iterator[JSON]:
        signature = {SIGNATURE: part[SIGNATURE]} if part.get(SIGNATURE) else {}
        if call := object_in(part, CALL):
            given = str(call.get("id") or "")
            self._parts.append({"type": CALL, **({"id": given} if given else {}), **signature})
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            function = {"name": call.get("name"), "arguments": arguments}
            yield call_chunk(self._call_count, function, given)
            self._call_count += 1
        elif "text" in part or signature:
            kind, text = "thought" if part.get("thought") else "text", str(part.get("text") or "")
            self._add_text({"type": kind, "text": text, **signature})
            yield delta_chunk({"content" if kind == "text" else "reasoning_content": text})

    def _add_text(self, part: JSON) -> None:
        """Put more of a text to what it goes on with; what is signed stays a part of its own."""
        last = self._parts[-1] if self._parts else {}
        if last.get("type") != part["type"] or SIGNATURE in {*last, *part}:
            self._parts.append(part)
        else:
            last["text"] += part["text"]

    def _count(self, usage: Mapping[str, Any]) -> JSON:
        """The counts so far; each piece has those that are known by then."""
        self._counts |= {name: value for name, value in usage.items() if value is not None}
        prompt, results, said, thought, cached = (
            self._counts.get(f"{name}TokenCount", 0)
            for name in ("prompt", "toolUsePrompt", "candidates", "thoughts", "cachedContent")
        )
        return {
            "usage": {
                "prompt_tokens": prompt + results,
                "completion_tokens": said + thought,
                "prompt_tokens_details": {"cached_tokens": cached},
                "completion_tokens_details": {"reasoning_tokens": thought},
            }
        }

    def _ending(self, candidate: Mapping[str, Any]) -> Iterator[JSON]:
        """Why it ends.

        Raises:
            LMStreamError: It broke off and is worth asking for once more.
        """
        reason = str(candidate.get("finishReason") or "")
        if reason in NOT_YET:
            return
        told = str(candidate.get("finishMessage") or "")
        if reason in BROKEN:
            raise LMStreamError(
                f"{BROKEN[reason]} ({reason}).",
                hint="Ask again, in other words or with less at a time.",
                detail=told,
            )
        if reason in FINISHED:
            calls = reason == "STOP" and self._call_count
            yield delta_chunk({}, "tool_calls" if calls else FINISHED[reason])
        else:
            told = told or f"The service withheld the reply: {reason}."
            yield delta_chunk({"refusal": told}, "content_filter")
