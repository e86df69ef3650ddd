"""A prompt as OpenAI's chat format, and messages of that format as ours.

The same prompt always gives the same bytes, and a prompt that grew at its end gives bytes that
grew at their end: that is what a provider's prompt cache needs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, get_args

from cellwright.llm import MessageShape
from cellwright.llm.provider_items import (
    NO_ITEMS,
    NO_RULES,
    FieldRules,
    ItemReader,
    put_into_chat,
)
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    Origin,
    Parameters,
    Part,
    Prompt,
    SystemMessage,
    SystemRole,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
    UserRole,
    text_of,
)
from cellwright.record.values import json_or_none
from cellwright.text.cleaning import without_lone_surrogates

# How freely a model chooses words, as services take it (requirements 000-05, X-12).


TEMPERATURES = (0.0, 2.0)
"""The least and the most that any service takes. Many stop at 1, some models take 1 alone: they
say so, and the value is left out from then on."""


def usable_temperature(temperature: float | None) -> float | None:
    """The nearest temperature that can be sent; None: none is, so the provider's default counts."""
    if temperature is None or math.isnan(temperature):
        return None
    least, most = TEMPERATURES
    return min(most, max(least, temperature))


def usable_parameters(parameters: Parameters) -> Parameters:
    """The parameters with a temperature that can be sent; the same object when it can."""
    usable = usable_temperature(parameters.temperature)
    if usable == parameters.temperature:
        return parameters
    return replace(parameters, temperature=usable)


# A tool's JSON Schema as providers take it.
#
# They refuse references, and a choice at the top (``anyOf`` and its kin). What a call has to fulfil
# is still the tool's own schema, to which it is held when it comes (requirement X-08).


BRANCHES = ("anyOf", "oneOf", "allOf")
REFUSED = frozenset({"$schema", "$id", "$comment", "$anchor", "not", "enum", "const"})
"""Keywords that some provider refuses at the top."""
DEFINITIONS = ("$defs", "definitions")
BY_NAME = ("properties", "patternProperties")
"""Keywords whose keys are names and no keywords."""
VALUES = ("enum", "const", "default", "examples", "required")
"""Keywords that hold plain values and no schema."""


def accepted_schema(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema without what providers refuse; the same object when there is nothing of it."""
    if _is_accepted(schema) and next(_references(schema), None) is None:
        return schema
    flat = flattened(without_references(schema))
    kept = {key: value for key, value in flat.items() if key not in REFUSED}
    return {"type": "object", "properties": {}, **kept}


def flattened(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema without branches at its top.

    Properties of all branches are kept and nothing is required that not all of them require.
    """
    flat = {key: value for key, value in schema.items() if key not in BRANCHES}
    for key in BRANCHES:
        branches = _branches(schema, key)
        for branch in branches:
            flat["properties"] = {**branch.get("properties", {}), **flat.get("properties", {})}
        each = [set(branch.get("required") or ()) for branch in branches]
        shared = (set.union if key == "allOf" else set.intersection)(*each) if each else set()
        required = list(flat.get("required") or ())
        required += sorted(shared - set(required))
        if required:
            flat["required"] = required
    return flat


def choice_in_words(schema: Mapping[str, Any]) -> str:
    """What a flattened schema no longer says: which arguments go together; mostly empty."""
    sentences = []
    for key in ("anyOf", "oneOf"):
        each = [list(branch.get("required") or ()) for branch in _branches(schema, key)]
        if len(each) > 1 and all(each):
            word = "exactly one" if key == "oneOf" else "at least one"
            options = "; ".join(" and ".join(map(str, names)) for names in each)
            sentences.append(f"Give {word} of: {options}.")
    return " ".join(sentences)


def without_references(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with every definition in its place.

    One within itself becomes any object there, one that is missing any value.
    """
    resolved: dict[str, Any] = _resolved(schema, _definitions(schema), ())
    return resolved


def missing_definitions(schema: Mapping[str, Any]) -> list[str]:
    """References that lead nowhere within the schema."""
    known = _definitions(schema)
    return sorted({found for found in _references(schema) if _name(found) not in known})


def _is_accepted(schema: Mapping[str, Any]) -> bool:
    is_object = schema.get("type") == "object" and "properties" in schema
    return is_object and not (REFUSED | {*BRANCHES, *DEFINITIONS}) & set(schema)


def _branches(schema: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    return [branch for branch in schema.get(key) or () if isinstance(branch, Mapping)]


def _definitions(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {name: each for key in DEFINITIONS for name, each in schema.get(key, {}).items()}


def _references(schema: Any) -> Iterator[str]:
    for _, value in _subschemas(schema):
        yield from _references(value)
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        yield schema["$ref"]


def _subschemas(schema: Any) -> Iterator[tuple[str, Any]]:
    """The schemas within a schema."""
    if isinstance(schema, (list, tuple)):
        yield from (("", item) for item in schema)
    if not isinstance(schema, Mapping):
        return
    for key, value in schema.items():
        if key in (*BY_NAME, *DEFINITIONS) and isinstance(value, Mapping):
            yield from ((key, item) for item in value.values())
        elif key not in VALUES:
            yield key, value


def _resolved(schema: Any, definitions: Mapping[str, Any], around: tuple[str, ...]) -> Any:
    if isinstance(schema, (list, tuple)):
        return [_resolved(item, definitions, around) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    rest: dict[str, Any] = {}
    for key, value in schema.items():
        if key in BY_NAME and isinstance(value, Mapping):
            rest[key] = {n: _resolved(item, definitions, around) for n, item in value.items()}
        elif key in VALUES:
            rest[key] = value
        elif key != "$ref" and key not in DEFINITIONS:
            rest[key] = _resolved(value, definitions, around)
    if not isinstance(schema.get("$ref"), str):
        return rest
    name = _name(schema["$ref"])
    if name in around:
        return {"type": "object", **rest}
    return {**_resolved(definitions.get(name, {}), definitions, (*around, name)), **rest}


def _name(reference: str) -> str:
    return reference.rpartition("/")[2]


JSON = dict[str, Any]
UNREADABLE_ARGUMENTS = "unreadable_arguments"
"""The name under which arguments that are not a JSON object go back to the model."""
PICTURES = "Pictures of the results above:"
LEFT_OUT = "(The beginning of this conversation is left out.)"
"""For APIs that want the person's words first."""
LOOKS = "I look at the pictures of these results next."


@dataclass(frozen=True)
class ChatForm:
    """How messages are written for one model."""

    vision: bool = True
    """Whether it sees; pictures become their captions where it does not."""
    reader: ItemReader = NO_ITEMS
    """Finds the items that the service wants back."""
    rules: FieldRules = NO_RULES
    """What the model takes of them."""
    alternates: bool = False
    """Its template takes no words of the person right behind a result."""
    shapes: frozenset[MessageShape] = frozenset()
    """What else it wants of messages with calls."""


def parameters_of(
    prompt: Prompt,
    form: ChatForm,
    *,
    length_parameter: str = "max_tokens",
    without: Collection[str] = (),
) -> JSON:
    """Everything that is sent for a prompt, in an order that never changes.

    Args:
        prompt: What to ask.
        form: How its messages are written.
        length_parameter: ``max_tokens`` or ``max_completion_tokens``.
        without: Parameters the model refuses.
    """
    body: JSON = {"model": prompt.parameters.model}
    if prompt.tools:
        body["tools"] = [tool_to_openai(tool) for tool in prompt.tools]
    body["messages"] = messages_to_openai(prompt.messages, form)
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


def put_options(sent: JSON, options: Mapping[str, Any], without: Collection[str]) -> JSON:
    """Put what is set, and not refused, into a request; a dot in a name leads into an object."""
    for name, value in options.items():
        if value is None or name in without:
            continue
        group, _, inner = name.partition(".")
        if inner:
            sent.setdefault(group, {})[inner] = value
        else:
            sent[name] = value
    return sent


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


def messages_to_openai(messages: Iterable[Message], form: ChatForm) -> list[JSON]:
    """Messages as they are sent.

    A tool message takes only text, so the pictures of a block of results follow it in a message
    of the user.
    """
    sent: list[JSON] = []
    pictures: list[ImagePart] = []
    last: Message | None = None
    for message in _in_shape(messages, form.shapes):
        if not isinstance(message, ToolMessage):
            sent += _picture_message(pictures, form)
            pictures = []
        elif form.vision:
            pictures += [part for part in message.parts if isinstance(part, ImagePart)]
        sent.append(message_to_openai(message, vision=form.vision))
        if isinstance(message, AssistantMessage):
            put_into_chat(
                sent[-1],
                message,
                form.reader.items_of(message),
                form.rules,
                follows_result=isinstance(last, ToolMessage),
            )
            if "text_content" in form.shapes:
                sent[-1]["content"] = sent[-1]["content"] or ""
        last = message
    return sent + _picture_message(pictures, form)


SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")


def _in_shape(messages: Iterable[Message], shapes: Collection[MessageShape]) -> Iterable[Message]:
    if "single_calls" in shapes:
        messages = _single_calls(messages)
    return map(_with_short_ids, messages) if "short_ids" in shapes else messages


def _single_calls(messages: Iterable[Message]) -> Iterator[Message]:
    """Each call in a message of its own, with its result right behind it."""
    waiting: dict[str, ToolCall] = {}
    for message in messages:
        if isinstance(message, ToolMessage) and message.call_id in waiting:
            yield AssistantMessage(tool_calls=(waiting.pop(message.call_id),))
        if isinstance(message, AssistantMessage) and len(message.tool_calls) > 1:
            waiting = {call.id: call for call in message.tool_calls[1:]}
            message = replace(message, tool_calls=message.tool_calls[:1])
        yield message


def _with_short_ids(message: Message) -> Message:
    if isinstance(message, ToolMessage):
        return replace(message, call_id=short_id(message.call_id))
    if isinstance(message, AssistantMessage) and message.tool_calls:
        calls = (replace(call, id=short_id(call.id)) for call in message.tool_calls)
        return replace(message, tool_calls=tuple(calls))
    return message


def short_id(call_id: str) -> str:
    """The same for the same id, so that the start of a prompt stays as it is."""
    if SHORT_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode(errors="replace")).hexdigest()[:9]


def message_to_openai(message: Message, *, vision: bool = True) -> JSON:
    """One message; of a tool message the text and the captions alone."""
    if isinstance(message, SystemMessage):
        return {"role": "system", "content": message.text}
    if isinstance(message, UserMessage):
        return {"role": "user", "content": _user_content(message.parts, vision)}
    if isinstance(message, ToolMessage):
        content = with_captions(message.parts)
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
        data: As OpenAI's chat format has it; what ``exports.sample`` puts beside it counts.
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


def _picture_message(pictures: list[ImagePart], form: ChatForm) -> list[JSON]:
    if not pictures:
        return []
    content = [{"type": "text", "text": PICTURES}, *(_image_url(part) for part in pictures)]
    between = [{"role": "assistant", "content": LOOKS}] if form.alternates else []
    return [*between, {"role": "user", "content": content}]


def _user_content(parts: tuple[Part, ...], vision: bool) -> str | list[JSON]:
    if not vision or not any(isinstance(part, ImagePart) for part in parts):
        return with_captions(parts)
    return [
        {"type": "text", "text": part.text} if isinstance(part, TextPart) else _image_url(part)
        for part in parts
    ]


def with_captions(parts: tuple[Part, ...]) -> str:
    """The text of parts, pictures by their captions."""
    return "\n".join(
        part.text if isinstance(part, TextPart) else f"[image: {part.caption or part.mime}]"
        for part in parts
    )


def _image_url(part: ImagePart) -> JSON:
    url = f"data:{part.mime};base64,{part.data}"
    return {"type": "image_url", "image_url": {"url": url}}


def _call_to_openai(call: ToolCall) -> JSON:
    function = {"name": call.name, "arguments": readable_arguments(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}


@functools.lru_cache(maxsize=512)
def readable_arguments(arguments: str) -> str:
    """The arguments, or an object that quotes them.

    vLLM, llama.cpp and Ollama read the arguments of past calls and refuse the whole request
    when one of them is not a JSON object.
    """
    if isinstance(json_or_none(arguments), dict):
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
