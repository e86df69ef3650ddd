"""Anthropic's Messages API: a prompt as its request, and its events as those of a chat reply.

It is spoken on the wire, with the client that the other APIs have: its own SDK would add nothing
but types. Thinking comes back signed and is sent again as it was; the marks of the prompt cache
stand behind the tools, the system message and the newest two messages of the person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cellwright.llm.deltas import TranslatingAssembler, call_chunk, delta_chunk, object_in
from cellwright.llm.openai_format import (
    JSON,
    LEFT_OUT,
    put_options,
    readable_arguments,
    tool_to_openai,
    usable_temperature,
)
from cellwright.llm.provider_items import Item, ItemReader, pair_items
from cellwright.record.messages import (
    PAUSED,
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

USUAL_LIMIT = 32_000
"""Tokens of a reply, thinking included, where nobody set a limit: the API demands one."""
SMALL_LIMIT = 8_192
"""For a model that refuses the limit it was given."""
NAMES = {
    "reasoning_effort": "output_config.effort",
    "response_format": "output_config.format",
    "stop": "stop_sequences",
    "max_completion_tokens": "max_tokens",
    "max_output_tokens": "max_tokens",
    "parallel_tool_calls": "tool_choice",
}
"""What parameters of chat completions are called here; a dot leads into an object."""
GROUP = "output_config"
SUMMARISED = {"type": "adaptive", "display": "summarized"}
"""The newer models think anyway, and keep what they thought to themselves unless they are asked."""
PICTURE_TYPES = ("image/jpeg", "image/png", "image/gif", "image/webp")
LARGEST_PICTURE = 5 * 1024 * 1024
"""Characters of base64; larger ones are refused with the whole request."""
CACHE_MARK = {"cache_control": {"type": "ephemeral"}}
MARKED_MESSAGES = 2
"""A mark finds what was cached at most twenty blocks before it, so the last one has a second."""


def messages_parameters(
    prompt: Prompt, *, vision: bool, reader: ItemReader, without: Collection[str] = ()
) -> JSON:
    """Everything that is sent for a prompt, in an order that never changes.

    Args:
        prompt: What to ask.
        vision: Whether the model sees; pictures become their captions where it does not.
        reader: Finds the blocks that this service wants back.
        without: Parameters the model refuses, as ``name_of`` has them.
    """
    sent: JSON = {"model": prompt.parameters.model}
    if prompt.tools:
        sent["tools"] = [_tool(tool) for tool in prompt.tools]
        sent["tools"][-1] |= CACHE_MARK
    system = [m.text for m in prompt.messages if isinstance(m, SystemMessage) and m.text.strip()]
    if system:
        sent["system"] = [{"type": "text", "text": "\n\n".join(system), **CACHE_MARK}]
    sent["messages"] = _messages(prompt.messages, vision, reader)
    put_options(sent, _options(prompt.parameters, with_tools=bool(prompt.tools)), without)
    return {"max_tokens": SMALL_LIMIT, **sent, "stream": True}


def name_of(parameter: str) -> str:
    """What a parameter of chat completions is called here."""
    return NAMES.get(parameter, parameter)


def parameter_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a body holds, with a dot for what stands in an object."""
    plain = [name for name in body if name not in (GROUP, "system")]
    return (*plain, *(f"{GROUP}.{name}" for name in body.get(GROUP, ())))


def refused_name(detail: str, names: Collection[str]) -> str:
    """The parameter that a refusal is about; empty where it does not say.

    It begins with the path to what is wrong (``thinking.adaptive.display: …``) or with its name.
    """
    found = re.match(r"\W*([a-z_]+(?:\.[a-z_]+)*)", detail)
    path = found[1] if found else ""
    for name in names:
        if path == name or path.startswith(f"{name}."):
            return name
    effort = name_of("reasoning_effort")
    return effort if effort in names and "support the effort" in detail else ""


def _options(parameters: Parameters, *, with_tools: bool) -> JSON:
    given: JSON = {
        "max_tokens": parameters.max_output_tokens or USUAL_LIMIT,
        "temperature": usable_temperature(parameters.temperature),
        "thinking": SUMMARISED,
    }
    for name, value in parameters.extra.items():
        if name == GROUP and isinstance(value, Mapping):
            given |= {f"{GROUP}.{inner}": item for inner, item in value.items()}
        elif name == "reasoning_effort":
            given |= _effort(str(value))
        elif name != "parallel_tool_calls":
            given[name_of(name)] = _option(name, value)
    choice = given.pop("tool_choice", None)
    parallel = parameters.extra.get("parallel_tool_calls")
    if parallel is not None:
        choice = {**(choice or {"type": "auto"}), "disable_parallel_tool_use": not parallel}
    if choice and with_tools:
        given["tool_choice"] = choice
        if choice["type"] in ("any", "tool"):
            given["thinking"] = None  # whoever thinks cannot be forced to call
    return given


def _effort(effort: str) -> JSON:
    if effort == "none":
        return {"thinking": {"type": "disabled"}}
    return {name_of("reasoning_effort"): "low" if effort == "minimal" else effort}


def _option(name: str, value: Any) -> Any:
    """A value of chat completions as it is written here; None where there is no such thing."""
    if name == "stop":
        return [value] if isinstance(value, str) else value
    if name == "response_format":
        schema = value.get("json_schema", {}).get("schema") if isinstance(value, Mapping) else None
        return {"type": "json_schema", "schema": schema} if schema else None
    if name != "tool_choice":
        return value
    if isinstance(value, Mapping):
        function = value.get("function")
        if isinstance(function, Mapping):
            return {"type": "tool", "name": function["name"]}
        return dict(value)
    return {"type": "any" if value == "required" else value}


def _tool(tool: Manifest) -> JSON:
    function = tool_to_openai(tool)["function"]
    return {
        "name": function["name"],
        "description": function["description"],
        "input_schema": function["parameters"],
    }


def _messages(messages: tuple[Message, ...], vision: bool, reader: ItemReader) -> list[JSON]:
    """The conversation in turns: what follows of one side is one message."""
    made: list[JSON] = []
    for message in messages:
        if isinstance(message, SystemMessage):
            continue
        if isinstance(message, AssistantMessage):
            role, blocks = "assistant", _said(message, reader)
        else:
            role, blocks = "user", _told(message, vision)
        if blocks and made and made[-1]["role"] == role:
            made[-1]["content"] += blocks
        elif blocks:
            made.append({"role": role, "content": blocks})
    if not made or made[0]["role"] != "user":
        made.insert(0, {"role": "user", "content": [{"type": "text", "text": LEFT_OUT}]})
    for turn in [turn for turn in made if turn["role"] == "user"][-MARKED_MESSAGES:]:
        turn["content"][-1] |= CACHE_MARK
    return made


def _told(message: UserMessage | ToolMessage, vision: bool) -> list[JSON]:
    """What the person or a tool said."""
    blocks = [block for part in message.parts if (block := _block(part, vision))]
    if not isinstance(message, ToolMessage):
        return blocks
    result: JSON = {"type": "tool_result", "tool_use_id": _identifier(message.call_id)}
    if blocks:
        result["content"] = blocks
    if message.is_error:
        result["is_error"] = True
    return [result]


def _block(part: Part, vision: bool) -> JSON:
    """A part as a block; empty text is refused, so it is none."""
    if not isinstance(part, ImagePart):
        return {"type": "text", "text": part.text} if part.text.strip() else {}
    if vision and part.mime in PICTURE_TYPES and len(part.data) <= LARGEST_PICTURE:
        source = {"type": "base64", "media_type": part.mime, "data": part.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": f"[image: {part.caption or part.mime}]"}


def _said(message: AssistantMessage, reader: ItemReader) -> list[JSON]:
    """What the model said, in the order in which it came; plain where its blocks are another's."""
    made: list[JSON] = []
    for item, own in pair_items(message, reader.items_of(message), "tool_use"):
        if isinstance(own, ToolCall):
            given = json.loads(readable_arguments(own.arguments), parse_constant=str)
            identifier = _identifier(own.id)
            made.append({**item, "id": identifier, "name": own.name, "input": given})
        elif own is None:
            made.append(dict(item))
        elif own.strip():
            made.append({**item, "text": own})
    while made and made[-1]["type"] in ("thinking", "redacted_thinking"):
        made.pop()  # a message may not end with it
    return made


def _identifier(call_id: str) -> str:
    """The id of a call as the API takes it; other providers have dots and colons in theirs."""
    return re.sub(r"[^a-zA-Z0-9_-]", "_", call_id)


# Events of a message, as the chunks of chat completions that say the same.


FINISHED = {
    "model_context_window_exceeded": "length",
    "pause_turn": PAUSED,
}
"""Why a message ends, where ``FINISH_WORDS`` does not say."""
BETWEEN_THOUGHTS = "\n\n"
TEXTS = {"text": "content", "thinking": "reasoning_content"}
DELTAS = {"text_delta": "text", "thinking_delta": "thinking"}


class MessagesAssembler(TranslatingAssembler):
    """Takes the events of a message; one that was not streamed is an event of its own."""

    ends_with_reason = True

    def __init__(self) -> None:
        super().__init__()
        self._blocks: dict[int, JSON] = {}
        self._counts: JSON = {}
        self._with_arguments: set[int] = set()
        self._pieces: dict[int, str] = {}
        """What the provider's own tools are given, where it comes in pieces."""

    def provider_items(self) -> tuple[Item, ...]:
        """The blocks in their order, without what the message itself says."""
        blocks = [self._blocks[place] for place in sorted(self._blocks)]
        # Thinking that was cut off before its signature came is worth nothing.
        whole = [b for b in blocks if b["type"] != "thinking" or b.get("signature")]
        if all(block["type"] in ("text", "tool_use") for block in whole):
            return ()
        return tuple(_kept(block) for block in whole)

    def _translate(self, event: Mapping[str, Any]) -> Iterator[JSON]:
        kind, place = event.get("type"), event.get("index")
        at = place if isinstance(place, int) else 0
        if kind == "message":
            yield from self._whole(event)
        elif kind == "message_start":
            yield from self._head(object_in(event, "message"))
        elif kind == "content_block_start":
            yield from self._begin(at, object_in(event, "content_block"))
        elif kind == "content_block_delta":
            yield from self._more(at, object_in(event, "delta"))
        elif kind == "content_block_stop":
            yield from self._end_of(at)
        elif kind == "message_delta":
            yield self._count(object_in(event, "usage"))
            yield from _ending(object_in(event, "delta"))

    def _whole(self, message: Mapping[str, Any]) -> Iterator[JSON]:
        yield from self._head(message)
        for place, block in enumerate(message.get("content") or ()):
            yield from self._begin(place, block)
            yield from self._end_of(place)
        yield from _ending(message)

    def _head(self, message: Mapping[str, Any]) -> Iterator[JSON]:
        yield {name: message.get(name) for name in ("id", "model")}
        yield self._count(object_in(message, "usage"))

    def _count(self, usage: Mapping[str, Any]) -> JSON:
        """The counts so far; those of the prompt come apart by what the cache had of it."""
        self._counts |= {name: value for name, value in usage.items() if value is not None}
        counts = self._counts
        read, written = (counts.get(f"cache_{n}_input_tokens", 0) for n in ("read", "creation"))
        return {
            "usage": {
                "prompt_tokens": counts.get("input_tokens", 0) + read + written,
                "completion_tokens": counts.get("output_tokens", 0),
                "prompt_tokens_details": {"cached_tokens": read, "cache_write_tokens": written},
                "completion_tokens_details": {
                    "reasoning_tokens": object_in(counts, "output_tokens_details").get(
                        "thinking_tokens", 0
                    )
                },
            }
        }

    def _begin(self, place: int, block: Mapping[str, Any]) -> Iterator[JSON]:
        kind = str(block.get("type"))
        if kind == "thinking" and any(b["type"] == kind for b in self._blocks.values()):
            yield delta_chunk({TEXTS[kind]: BETWEEN_THOUGHTS})
        self._blocks[place] = {**block, "type": kind}
        if kind in TEXTS:
            yield delta_chunk({TEXTS[kind]: str(block.get(kind) or "")})
        elif kind == "tool_use":
            yield call_chunk(place, {"name": block.get("name")}, str(block.get("id") or ""))

    def _more(self, place: int, delta: Mapping[str, Any]) -> Iterator[JSON]:
        block = self._blocks.setdefault(place, {"type": "text"})
        name = DELTAS.get(str(delta.get("type")))
        if name:
            more = str(delta.get(name) or "")
            block[name] = str(block.get(name) or "") + more
            yield delta_chunk({TEXTS[name]: more})
        elif delta.get("type") == "signature_delta":
            block["signature"] = delta.get("signature")
        elif delta.get("partial_json") and block["type"] == "tool_use":
            self._with_arguments.add(place)
            yield call_chunk(place, {"arguments": str(delta["partial_json"])})
        elif delta.get("partial_json"):
            # A tool that runs at the provider: no call of ours, and it goes back as it came.
            self._pieces[place] = self._pieces.get(place, "") + str(delta["partial_json"])

    def _end_of(self, place: int) -> Iterator[JSON]:
        """A call whose arguments did not come in pieces has them whole, or none."""
        block = self._blocks.get(place, {})
        if place in self._pieces:
            block["input"] = json.loads(readable_arguments(self._pieces[place]))
        if block.get("type") == "tool_use" and place not in self._with_arguments:
            arguments = json.dumps(block.get("input") or {}, ensure_ascii=False)
            yield call_chunk(place, {"arguments": arguments})


def _kept(block: JSON) -> Item:
    """A block without what the message says itself."""
    own = ("id", "name", "input") if block["type"] == "tool_use" else ()
    return {name: value for name, value in block.items() if name not in own and value is not None}


def _ending(ended: Mapping[str, Any]) -> Iterator[JSON]:
    reason = str(ended.get("stop_reason") or "")
    if explanation := object_in(ended, "stop_details").get("explanation"):
        yield delta_chunk({"refusal": str(explanation)})
    if reason:
        yield delta_chunk({}, FINISHED.get(reason, reason))
