"""A prompt as OpenAI's chat format, and messages of that format as ours.

The same prompt always gives the same bytes, and a prompt that grew at its end gives bytes that
grew at their end: that is what a provider's prompt cache needs.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, get_args

from cellwright.llm.sampling import usable_temperature
from cellwright.llm.tool_schemas import accepted_schema, choice_in_words
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    Origin,
    Part,
    SystemMessage,
    SystemRole,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserRole,
    text_of,
)
from cellwright.record.prompts import Manifest, Prompt
from cellwright.text.cleaning import without_lone_surrogates

JSON = dict[str, Any]
UNREADABLE_ARGUMENTS = "unreadable_arguments"
"""The name under which arguments that are not a JSON object go back to the model."""
PICTURES = "Pictures of the results above:"


def parameters_of(
    prompt: Prompt,
    *,
    vision: bool,
    length_parameter: str = "max_tokens",
    without: Collection[str] = (),
) -> JSON:
    """Everything that is sent for a prompt, in an order that never changes.

    Args:
        prompt: What to ask.
        vision: Whether the model sees; pictures become their captions where it does not.
        length_parameter: ``max_tokens`` or ``max_completion_tokens``.
        without: Parameters the model refuses.
    """
    body: JSON = {"model": prompt.parameters.model}
    if prompt.tools:
        body["tools"] = [tool_to_openai(tool) for tool in prompt.tools]
    body["messages"] = messages_to_openai(prompt.messages, vision=vision)
    parameters = prompt.parameters
    options: JSON = {
        "temperature": usable_temperature(parameters.temperature),
        length_parameter: parameters.max_output_tokens,
        **parameters.extra,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    given = {name: value for name, value in options.items() if value is not None}
    return body | {name: value for name, value in given.items() if name not in without}


def body_bytes(parameters: Mapping[str, Any]) -> bytes:
    """The body of the request; half surrogate pairs in it are replaced."""
    text = json.dumps(parameters, ensure_ascii=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:
        return without_lone_surrogates(text).encode()


def tool_to_openai(tool: Manifest) -> JSON:
    """A tool as a function the model may call, its schema as every provider takes it."""
    words = (tool.description, choice_in_words(tool.parameters))
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": " ".join(filter(None, words)),
            "parameters": accepted_schema(tool.parameters),
        },
    }


def messages_to_openai(messages: Iterable[Message], *, vision: bool) -> list[JSON]:
    """Messages as they are sent.

    A tool message takes only text, so the pictures of a block of results follow it in a message
    of the user.
    """
    sent: list[JSON] = []
    pictures: list[ImagePart] = []
    for message in messages:
        if not isinstance(message, ToolMessage):
            sent += _picture_message(pictures)
            pictures = []
        elif vision:
            pictures += [part for part in message.parts if isinstance(part, ImagePart)]
        sent.append(message_to_openai(message, vision=vision))
    return sent + _picture_message(pictures)


def message_to_openai(message: Message, *, vision: bool = True) -> JSON:
    """One message; of a tool message the text and the captions alone."""
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _user_content(message.parts, vision)}
    if isinstance(message, ToolMessage):
        content = _with_captions(message.parts)
        return {"role": "tool", "tool_call_id": message.call_id, "content": content}
    said = message.text or message.refusal
    if not message.tool_calls:
        return {"role": "assistant", "content": said}
    calls = [_call_to_openai(call) for call in message.tool_calls]
    return {"role": "assistant", "content": said or None, "tool_calls": calls}


def messages_from_openai(messages: Sequence[Mapping[str, Any]]) -> tuple[Message, ...]:
    """Messages of a conversation; tool messages get the name of the tool they answer.

    Raises:
        ValueError: A message has a role that is not known.
    """
    names: dict[str, str] = {}
    made: list[Message] = []
    for data in messages:
        message = message_from_openai(data, names)
        if isinstance(message, AssistantMessage):
            names.update({call.id: call.name for call in message.tool_calls})
        made.append(message)
    return tuple(made)


def message_from_openai(
    data: Mapping[str, Any], tool_names: Mapping[str, str] | None = None
) -> Message:
    """One message.

    Args:
        data: As OpenAI's chat format has it; what ``bench.sample_messages`` puts beside it counts.
        tool_names: The tool that each call id is for.

    Raises:
        ValueError: The role is not known.
    """
    role = data.get("role")
    parts = _parts(data.get("content"))
    if role in ("system", "developer"):
        text = text_of(UserMessage(parts))
        return SystemMessage(text, _marked(data, "sent_as", SystemRole), _origin(data))
    if role == "user":
        return UserMessage(parts, _marked(data, "sent_as", UserRole))
    if role == "tool":
        call_id = str(data.get("tool_call_id", ""))
        name = str(data.get("name") or (tool_names or {}).get(call_id, ""))
        is_error = bool(data.get("is_error", False))
        return ToolMessage(call_id, name, parts, is_error, _origin(data))
    if role != "assistant":
        raise ValueError(f"A message has the role {role!r}.")
    return AssistantMessage(
        text_of(UserMessage(parts)),
        tuple(_call_from_openai(call) for call in data.get("tool_calls") or ()),
        str(data.get("reasoning_content") or data.get("reasoning") or ""),
        str(data.get("refusal") or ""),
        str(data.get("author") or ""),
        _origin(data),
    )


def _origin(data: Mapping[str, Any]) -> Origin:
    origin: Origin = _marked(data, "origin", Origin)
    return origin


def _marked(data: Mapping[str, Any], name: str, values: Any) -> Any:
    """What stands there, if it is one of the values, else the first of them."""
    known = get_args(values)
    return data[name] if data.get(name) in known else known[0]


def _picture_message(pictures: list[ImagePart]) -> list[JSON]:
    if not pictures:
        return []
    content = [{"type": "text", "text": PICTURES}, *(_image_url(part) for part in pictures)]
    return [{"role": "user", "content": content}]


def _user_content(parts: tuple[Part, ...], vision: bool) -> str | list[JSON]:
    if not vision or not any(isinstance(part, ImagePart) for part in parts):
        return _with_captions(parts)
    return [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else _image_url(part)
        for part in parts
    ]


def _with_captions(parts: tuple[Part, ...]) -> str:
    return "\n".join(
        part.text if isinstance(part, TextPart) else f"[image: {part.caption or part.mime}]"
        for part in parts
    )


def _image_url(part: ImagePart) -> JSON:
    url = f"data:{part.mime};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call_to_openai(call: ToolCall) -> JSON:
    function = {"name": call.name, "arguments": _sendable(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


@functools.lru_cache(maxsize=512)
def _sendable(arguments: str) -> str:
    """The arguments, or an object that quotes them.

    vLLM, llama.cpp and Ollama read the arguments of past calls and refuse the whole request
    when one of them is not a JSON object.
    """
    try:
        value = json.loads(arguments)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return arguments
    return json.dumps({UNREADABLE_ARGUMENTS: arguments}, ensure_ascii=False)


def _call_from_openai(call: Mapping[str, Any]) -> ToolCall:
    function = call.get("function") or {}
    arguments = function.get("arguments")
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(str(call.get("id") or ""), str(function.get("name") or ""), text)


def _parts(content: Any) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (TextPart(content),)
    return tuple(_part(item) for item in content or () if isinstance(item, Mapping))


def _part(item: Mapping[str, Any]) -> Part:
    if item.get("type") != "image_url":
        return TextPart(str(item.get("text") or ""))
    url = str((item.get("image_url") or {}).get("url", ""))
    head, marker, data = url.partition(";base64,")
    if marker and head.startswith("data:"):
        return ImagePart(head.removeprefix("data:"), data, str(item.get("caption") or ""))
    return TextPart(f"[image: {url}]")
