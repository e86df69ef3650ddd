"""OpenAI's Responses API: a prompt as its request, and its events as those of a chat reply.

Requests are stateless (``store`` is false, where the service knows the word): the service keeps
nothing, so the encrypted reasoning items of a turn come back to us and are sent again with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from cellwright.llm.deltas import TranslatingAssembler, call_chunk, delta_chunk
from cellwright.llm.openai_format import (
    JSON,
    put_options,
    readable_arguments,
    short_id,
    tool_to_openai,
    usable_temperature,
    with_captions,
)
from cellwright.llm.provider_items import Item, ItemReader
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Parameters,
    Part,
    Prompt,
    SystemMessage,
    TextPart,
    ToolMessage,
)

if TYPE_CHECKING:
    from openai.types.responses import (
        FunctionToolParam,
        ResponseInputItemParam,
    )
    from openai.types.responses.response_create_params import ResponseCreateParamsStreaming

PATH = "/responses"
ENCRYPTED = "reasoning.encrypted_content"
NAMES = {
    "reasoning_effort": "reasoning.effort",
    "verbosity": "text.verbosity",
    "response_format": "text.format",
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
}
"""What parameters of chat completions are called here; a dot leads into an object."""
GROUPS = ("reasoning", "text")
ABSENT = frozenset({"seed"})
"""What chat completions have and this API has not."""
LONGEST_ID = 64
SMALLEST_LIMIT = 16
"""A smaller limit of the answer is refused."""


def responses_parameters(
    prompt: Prompt, *, vision: bool, reader: ItemReader, without: Collection[str] = ()
) -> JSON:
    """Everything that is sent for a prompt, in an order that never changes.

    Args:
        prompt: What to ask.
        vision: Whether the model sees; pictures become their captions where it does not.
        reader: Finds the items that this service wants back.
        without: Parameters the model refuses, as ``name_of`` has them.
    """
    body: ResponseCreateParamsStreaming = {
        "model": prompt.parameters.model,
        "input": [item for message in prompt.messages for item in _input(message, vision, reader)],
        "stream": True,
    }
    if prompt.tools:
        body["tools"] = [_tool(tool) for tool in prompt.tools]
    return put_options(cast(JSON, body), _options(prompt.parameters), without)


def name_of(parameter: str) -> str:
    """What a parameter of chat completions is called here."""
    return NAMES.get(parameter, parameter)


def parameter_names(body: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of what a body holds, with a dot for what stands in an object."""
    plain = [name for name in body if name not in GROUPS]
    inner = [f"{group}.{name}" for group in GROUPS for name in body.get(group, ())]
    return (*plain, *inner)


def _options(parameters: Parameters) -> JSON:
    limit = parameters.max_output_tokens
    given: JSON = {
        "store": False,
        "temperature": usable_temperature(parameters.temperature),
        "max_output_tokens": limit and max(limit, SMALLEST_LIMIT),
        "reasoning.summary": "auto",
        "include": [ENCRYPTED],
    }
    for name, value in parameters.extra.items():
        if name in GROUPS and isinstance(value, Mapping):
            given |= {f"{name}.{inner}": item for inner, item in value.items()}
        else:
            given[name_of(name)] = _option(name, value)
    return given


def _option(name: str, value: Any) -> Any:
    """A value of chat completions as it is written here: without the name around its object."""
    if name not in ("response_format", "tool_choice") or not isinstance(value, Mapping):
        return value
    kind = str(value.get("type", ""))
    inner = value.get(kind)
    return {"type": kind, **inner} if isinstance(inner, Mapping) else dict(value)


def _tool(tool: Manifest) -> FunctionToolParam:
    function = tool_to_openai(tool)["function"]
    # Without the word it would be strict, which few schemas of tools are.
    return {
        "type": "function",
        "name": function["name"],
        "description": function["description"],
        "parameters": function["parameters"],
        "strict": False,
    }


def _input(message: Message, vision: bool, reader: ItemReader) -> Iterator[ResponseInputItemParam]:
    """A message as items of the input."""
    if isinstance(message, SystemMessage):
        yield {"type": "message", "role": "system", "content": message.text}
    elif isinstance(message, ToolMessage):
        yield {
            "type": "function_call_output",
            "call_id": _call_id(message.call_id),
            "output": _content(message.parts, vision),
        }
    elif isinstance(message, AssistantMessage):
        yield from _said(message, reader)
    else:
        yield {"type": "message", "role": "user", "content": _content(message.parts, vision)}


def _content(parts: tuple[Part, ...], vision: bool) -> Any:
    if not vision or not any(isinstance(part, ImagePart) for part in parts):
        return with_captions(parts)
    return [
        {"type": "input_text", "text": part.text}
        if isinstance(part, TextPart)
        else {
            "type": "input_image",
            "image_url": f"data:{part.mime};base64,{part.data}",
            "detail": "auto",
        }
        for part in parts
    ]


def _said(message: AssistantMessage, reader: ItemReader) -> Iterator[ResponseInputItemParam]:
    """What the model said, in the order in which it came; plain where its items are another's."""
    items = reader.items_of(message)
    if sum(item.get("type") == "function_call" for item in items) != len(message.tool_calls):
        items = ()
    made: list[JSON] = []
    texts = _texts(message, items)
    calls = iter(message.tool_calls)
    for item in items or _plain_items(message):
        if item.get("type") == "function_call":
            call = next(calls)
            arguments = readable_arguments(call.arguments)
            made.append(
                {**item, "call_id": _call_id(call.id), "name": call.name, "arguments": arguments}
            )
        elif item.get("type") == "message":
            made += _message(item, next(texts, ""), message.refusal)
        else:
            made.append(dict(item))
    while made and made[-1].get("type") == "reasoning":
        # A reasoning item without what it led to is refused.
        made.pop()
    yield from cast("list[ResponseInputItemParam]", made)


def _call_id(given: str) -> str:
    """The id of a call, which another provider may have made longer than this one takes."""
    return given if len(given) <= LONGEST_ID else short_id(given)


def _plain_items(message: AssistantMessage) -> list[Item]:
    calls: list[Item] = [{"type": "function_call"} for _ in message.tool_calls]
    return [{"type": "message"}, *calls]


def _texts(message: AssistantMessage, items: tuple[Item, ...]) -> Iterator[str]:
    """The text of each message item; all of it in the first where it was changed since."""
    pieces = [str(item.get("text", "")) for item in items if item.get("type") == "message"]
    return iter(pieces if "".join(pieces) == message.text else [message.text])


def _message(item: Item, text: str, refusal: str) -> list[JSON]:
    if not text and not refusal:
        return []
    if "id" not in item:
        return [{"type": "message", "role": "assistant", "content": text or refusal}]
    content: JSON = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if not text:
        content = {"type": "refusal", "refusal": refusal}
    rest = {name: value for name, value in item.items() if name != "text"}
    return [{**rest, "role": "assistant", "content": [content]}]


# Events of a response, as the chunks of chat completions that say the same.


FINISHED = {"max_output_tokens": "length", "content_filter": "content_filter"}
TERMINAL = ("response.completed", "response.incomplete")
TEXT_DELTAS = {
    "response.output_text.delta": "content",
    "response.refusal.delta": "refusal",
    "response.reasoning_summary_text.delta": "reasoning_content",
    "response.reasoning_text.delta": "reasoning_content",
}
BETWEEN_SUMMARIES = "\n\n"


class ResponsesAssembler(TranslatingAssembler):
    """Takes the events of a response; a response that was not streamed is one of them."""

    ends_with_reason = True

    def __init__(self) -> None:
        super().__init__()
        self._output: dict[int, JSON] = {}
        self._heard: set[tuple[int, str]] = set()
        """Of which items which kind of text came in pieces."""

    def provider_items(self) -> tuple[Item, ...]:
        """The output items in their order, without what the message itself says."""
        items = [self._output[place] for place in sorted(self._output)]
        if any(i.get("type") == "reasoning" and not i.get("encrypted_content") for i in items):
            # It cannot be sent again, and items that it led to are refused without it.
            return ()
        if all(item.get("type") in ("message", "function_call") for item in items):
            # Nothing that is opaque; the phase of a message is all that could be lost.
            items = items if any(item.get("phase") for item in items) else []
        several = sum(item.get("type") == "message" for item in items) > 1
        return tuple(_kept(item, with_text=several) for item in items)

    def _translate(self, event: Mapping[str, Any]) -> Iterator[JSON]:
        kind = event.get("type")
        response = event if event.get("object") == "response" else event.get("response")
        if isinstance(response, Mapping):
            yield from self._response(response, is_last=response is event or kind in TERMINAL)
        elif kind in TEXT_DELTAS:
            yield self._text_delta(event, TEXT_DELTAS[str(kind)])
        elif kind == "response.reasoning_summary_part.added" and event.get("summary_index"):
            yield delta_chunk({"reasoning_content": BETWEEN_SUMMARIES})
        elif kind == "response.function_call_arguments.delta":
            self._heard.add((_place(event), "arguments"))
            yield _call(_place(event), arguments=str(event.get("delta") or ""))
        elif kind == "response.output_item.added":
            yield from self._added(_place(event), event.get("item"))
        elif kind == "response.output_item.done":
            yield from self._done(_place(event), event.get("item"))

    def _response(self, response: Mapping[str, Any], *, is_last: bool) -> Iterator[JSON]:
        head: JSON = {name: response.get(name) for name in ("id", "model", "usage")}
        yield head
        if not is_last:
            return
        for place, item in enumerate(response.get("output") or ()):
            if place not in self._output:
                yield from self._done(place, item)
        calls = any(item.get("type") == "function_call" for item in self._output.values())
        details = response.get("incomplete_details")
        reason = str(details.get("reason") or "") if isinstance(details, Mapping) else ""
        usual = "tool_calls" if calls else "stop"
        if response.get("status") == "incomplete":
            usual = FINISHED.get(reason, "length")
        yield delta_chunk({}, usual)

    def _text_delta(self, event: Mapping[str, Any], name: str) -> JSON:
        self._heard.add((_place(event), name))
        return delta_chunk({name: str(event.get("delta") or "")})

    def _added(self, place: int, item: Any) -> Iterator[JSON]:
        if isinstance(item, Mapping) and item.get("type") == "function_call":
            self._heard.add((place, "call"))
            yield _call(place, item)

    def _done(self, place: int, item: Any) -> Iterator[JSON]:
        """Take a whole item; what of it did not come in pieces comes now."""
        if not isinstance(item, Mapping):
            return
        self._output[place] = dict(item)
        if item.get("type") == "function_call":
            if (place, "call") not in self._heard:
                yield _call(place, item)
            if (place, "arguments") not in self._heard:
                yield _call(place, arguments=str(item.get("arguments") or ""))
            return
        parts = [*(item.get("content") or ()), *(item.get("summary") or ())]
        for part in parts:
            if isinstance(part, Mapping):
                yield from self._part(place, part)

    def _part(self, place: int, part: Mapping[str, Any]) -> Iterator[JSON]:
        kinds = {
            "output_text": ("content", "text"),
            "refusal": ("refusal", "refusal"),
            "summary_text": ("reasoning_content", "text"),
            "reasoning_text": ("reasoning_content", "text"),
        }
        name, source = kinds.get(str(part.get("type")), ("", ""))
        if name and (place, name) not in self._heard:
            yield delta_chunk({name: str(part.get(source) or "")})


def _kept(item: JSON, *, with_text: bool) -> Item:
    """An output item without what the message says itself."""
    if item.get("type") == "function_call":
        own = ("arguments", "name", "call_id")
        return {name: value for name, value in item.items() if name not in own}
    if item.get("type") != "message":
        return item
    rest = {name: value for name, value in item.items() if name not in ("content", "role")}
    if not with_text:
        return rest
    parts = [part for part in item.get("content") or () if isinstance(part, Mapping)]
    return {**rest, "text": "".join(str(part.get("text") or "") for part in parts)}


def _place(event: Mapping[str, Any]) -> int:
    place = event.get("output_index")
    return place if isinstance(place, int) else 0


def _call(place: int, item: Mapping[str, Any] | None = None, *, arguments: str = "") -> JSON:
    function: JSON = {"arguments": arguments}
    if item is None:
        return call_chunk(place, function)
    call_id = str(item.get("call_id") or item.get("id") or "")
    return call_chunk(place, {**function, "name": item.get("name")}, call_id)
