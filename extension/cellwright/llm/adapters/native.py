"""Tools as native function calls: the service does the wording, we read what comes of it."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cellwright.llm.adapters import Adapter, ParsedCall, ParsedReply
from cellwright.record.messages import (
    WITHHELD,
    Manifest,
    Message,
    Parameters,
    Prompt,
    Reply,
    ToolCall,
)
from cellwright.text.cleaning import without_lone_surrogates

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError


# The plain part of JSON Schema, which is all that most tools use.
#
# ``jsonschema`` takes a second to import where its format extra is installed, as it is beside
# JupyterLab. So good arguments of plain tools are seen to be good without it, and it is asked only
# about the others.


NOTES = frozenset({"title", "description", "default", "examples", "$schema", "deprecated"})
"""Keywords that only explain."""
TYPES: dict[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "null": lambda value: value is None,
    "array": lambda value: isinstance(value, list),
    "object": lambda value: isinstance(value, dict),
}


def plainly_fits(value: Any, schema: Any) -> bool:
    """Whether ``value`` fits for sure; False may also mean that the schema is not plain."""
    if not isinstance(schema, Mapping):
        return False
    return all(_keyword_fits(name, schema, value) for name in schema if name not in NOTES)


def _keyword_fits(name: str, schema: Mapping[str, Any], value: Any) -> bool:
    rule = schema[name]
    if name == "type":
        names = rule if isinstance(rule, list) else [rule]
        return any(each in TYPES and TYPES[each](value) for each in names)
    if name == "enum":
        return isinstance(value, str) and value in rule
    if name == "anyOf":
        return any(plainly_fits(value, option) for option in rule)
    if name == "items":
        return isinstance(value, list) and all(plainly_fits(item, rule) for item in value)
    if not isinstance(value, dict):
        return False
    if name == "required":
        return all(each in value for each in rule)
    if name == "properties":
        return all(plainly_fits(value[each], rule[each]) for each in rule if each in value)
    if name == "additionalProperties":
        return rule is True or all(each in schema.get("properties", {}) for each in value)
    return False


# The arguments of a call: read or refused, with the reason and the place.
#
# They are run as code, so they are never repaired: half a program that was made to parse does harm.


LOG = logging.getLogger(__name__)
SHOWN_CHARACTERS = 40
SCALARS = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


class BadArgumentsError(Exception):
    """Arguments that cannot be used; its text is for the model."""


class UnreadableArgumentsError(BadArgumentsError):
    """They are no JSON object."""


def read_arguments(call: ToolCall, schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arguments of ``call``, those that ``schema`` does not know left out.

    Args:
        call: What the model wrote.
        schema: Of the tool's parameters; None for a tool that is not known.

    Raises:
        BadArgumentsError: They cannot be used; the text is for the model.
    """
    arguments = _read(call)
    return arguments if schema is None else _checked(call, arguments, schema)


def _read(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; text that holds JSON once more is read once more (fault M3)."""
    value = _json(call.name, call.arguments.strip() or "{}")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _json(call.name, value)
    if isinstance(value, dict):
        return value
    raise UnreadableArgumentsError(
        f"The arguments of {call.name!r} must be one JSON object, not {_kind(value)}."
    )


def _json(name: str, text: str) -> Any:
    try:
        return _without_halves(json.loads(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - SHOWN_CHARACTERS) : error.pos + SHOWN_CHARACTERS]
        raise UnreadableArgumentsError(
            f"The arguments of {name!r} are not valid JSON: {error.msg} at line {error.lineno}, "
            f"column {error.colno} (character {error.pos}), near {near!r}. Nothing was run; send "
            "the call again."
        ) from error
    except RecursionError as error:
        raise UnreadableArgumentsError(
            f"The arguments of {name!r} are nested too deeply."
        ) from error


def _no_constant(name: str) -> Any:
    raise BadArgumentsError(f"The arguments hold {name}, which is not JSON.")


def _without_halves(value: Any) -> Any:
    """The value with half surrogate pairs replaced: no kernel takes them (fault M23)."""
    if isinstance(value, str):
        return without_lone_surrogates(value)
    if isinstance(value, list):
        return [_without_halves(item) for item in value]
    if isinstance(value, dict):
        return {without_lone_surrogates(key): _without_halves(v) for key, v in value.items()}
    return value


def _checked(
    call: ToolCall, arguments: dict[str, Any], schema: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments the tool knows, or all complaints at once (fault M5)."""
    known = schema.get("properties", {})
    if not _takes_others(schema):
        extra = [name for name in arguments if name not in known]
        if extra:
            LOG.info("arguments of %r dropped that it does not have: %s", call.name, extra)
        arguments = {name: value for name, value in arguments.items() if name in known}
    arguments = {name: _scalar(value, known.get(name)) for name, value in arguments.items()}
    if plainly_fits(arguments, schema):
        return arguments
    problems = [_complaint(problem) for problem in _problems(arguments, schema)]
    if problems:
        raise BadArgumentsError(
            f"The arguments of {call.name!r} do not fit: {'; '.join(problems)}."
        )
    return arguments


def _scalar(value: Any, schema: Any) -> Any:
    """A number or a truth that was put between quotes, where nothing else will do (004-32).

    Nothing is guessed: the text is exactly the JSON of what is wanted. Text that may stay text,
    such as code, is not touched.
    """
    kinds = SCALARS.get(str(schema.get("type"))) if isinstance(schema, Mapping) else None
    if kinds is None or not isinstance(value, str) or len(value) > SHOWN_CHARACTERS:
        return value
    try:
        read = json.loads(value, parse_constant=_no_constant)
    except (ValueError, BadArgumentsError):
        return value
    return read if type(read) in kinds else value


def _takes_others(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("additionalProperties")) or "properties" not in schema


def _problems(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(dict(schema)).iter_errors(arguments)


def _complaint(problem: ValidationError) -> str:
    where = ".".join(str(step) for step in problem.absolute_path)
    text = problem.message if len(problem.message) <= 200 else problem.message[:200] + " …"
    return f"{where!r}: {text}" if where else text


def _kind(value: Any) -> str:
    names = {list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


UNREADABLE = "unreadable"
"""The finish reason of a reply that an adapter could not read."""

CUT_OFF = (
    "The arguments were cut off at the reply's length limit, so nothing was run. Send the call "
    "again in smaller pieces."
)
FILTERED = "The service's filter ended the reply, so nothing was run."
CALL_AS_TEXT = "You wrote a tool call as plain text; nothing was run. Call the tool as a function."
THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
TAGGED_CALL = re.compile(
    r"<(tool_call|function_call|tools?)>\s*(\{.*?\})\s*(?:</\1>|\Z)", re.DOTALL
)
FENCED_JSON = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n\s*(\{.*?\})\s*```", re.DOTALL)
FUNCTION_TAG = re.compile(r"<function[= ]\"?([\w.-]+)")


class NativeAdapter(Adapter):
    """Sends tools as functions and reads calls of functions."""

    expects_text_calls = False
    """Whether a call in words is what was asked for, and not a slip."""

    def format_prompt(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history: the service's own format has a place for everything."""
        return Prompt(messages, tools, parameters)

    def parse_reply(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for; calls whose arguments are no good carry an error."""
        message = reply.message
        manifests = {tool.name: tool for tool in tools}
        why_not = FILTERED if reply.finish_reason == WITHHELD else CUT_OFF if reply.is_cut else ""
        calls = tuple(_parsed(call, manifests, why_not) for call in message.tool_calls)
        text = THOUGHTS.sub("", message.text)
        if calls:
            return ParsedReply(text, calls)
        if message.refusal or reply.finish_reason == WITHHELD:
            return ParsedReply(text or message.refusal, (), "refused")
        if reply.problem or reply.finish_reason == UNREADABLE:
            return ParsedReply(text, (), "unreadable", reply.problem)
        if not text.strip():
            return ParsedReply("", (), "empty")
        if not self.expects_text_calls and is_call_as_text(text, manifests):
            return ParsedReply(text, (), "tool call as text", CALL_AS_TEXT)
        return ParsedReply(text, ())


def _parsed(call: ToolCall, manifests: Mapping[str, Manifest], why_not: str) -> ParsedCall:
    if why_not:
        return ParsedCall(call, {}, why_not)
    manifest = manifests.get(call.name)
    try:
        return ParsedCall(call, read_arguments(call, manifest.parameters if manifest else None))
    except BadArgumentsError as error:
        unreadable = isinstance(error, UnreadableArgumentsError)
        return ParsedCall(call, {}, str(error), unreadable)


def is_call_as_text(text: str, manifests: Mapping[str, Manifest]) -> bool:
    """Whether a call was written where only words belong (fault M18)."""
    if not manifests:
        return False
    function = FUNCTION_TAG.search(text)
    if function and function[1] in manifests:
        return True
    found = [*TAGGED_CALL.findall(text), *(("", body) for body in FENCED_JSON.findall(text))]
    bare = text.strip()
    if bare.startswith("{") and bare.endswith("}"):
        found.append(("", bare))
    return any(_is_call(body, manifests) for _, body in found)


def _is_call(body: str, manifests: Mapping[str, Manifest]) -> bool:
    try:
        value = json.loads(body)
    except ValueError:
        return False
    function = value.get("function", value)
    fields = function if isinstance(function, dict) else value
    name = fields.get("name") or value.get("function") or value.get("tool")
    return isinstance(name, str) and name in manifests and _has_arguments(fields)


def _has_arguments(fields: Mapping[str, Any]) -> bool:
    return any(name in fields for name in ("arguments", "parameters", "args", "input"))


FORM = re.compile(r"\[\[|\]\]|^ {0,3}(?:`{3}|~{3}|\{)|\{\s*\Z|</?\w+[_:=]\w+", re.MULTILINE)
"""What belongs to one form of calls or another, and to no plain answer."""
INTENT = re.compile(
    r"\bI(?:['’]ll| will|['’]m going to| am going to| run| need to| should)\b|\blet(?: me|['’]s)\b"
    "|我来|让我|我将|我会|接下来",
    re.IGNORECASE,
)
"""What announces a call that is missing."""


def looks_like_call(text: str, tools: Mapping[str, Manifest]) -> bool:
    """Whether a text without sections may have been meant to run something, or as part of a form.

    Code between fences counts: a model that writes it mostly wants it run. So do a tool's name
    where it cannot be a word of a sentence, and words that announce what is done next.
    """
    words = THOUGHTS.sub("", text)
    names = "|".join(map(re.escape, tools))
    named = rf"\bcall\W+(?:{names})\b|\b(?:{names})\b`?\s*[({{:]"
    is_named = bool(tools) and re.search(named, words) is not None
    coined = any(name in words for name in tools if "_" in name)
    signs = FORM.search(words) or INTENT.search(words) or is_call_as_text(words, tools)
    return bool(is_named or coined or signs)
