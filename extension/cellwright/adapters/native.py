"""Tools as native function calls: the service does the wording, we read the arguments.

Arguments are run as code, so they are read or refused, never repaired: half a program that was
made to parse does harm.
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cellwright.adapters import ParsedCall, ParsedReply
from cellwright.messages import Message, ToolCall
from cellwright.prompts import Manifest, Parameters, Prompt, Reply
from cellwright.text_cleaning import without_lone_surrogates

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["NativeAdapter"]

LOG = logging.getLogger(__name__)
CUT_OFF = (
    "The arguments were cut off at the reply's length limit, so nothing was run. Send the call "
    "again in smaller pieces."
)
SHOWN_CHARACTERS = 40
THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)
TAGGED_CALL = re.compile(
    r"<(tool_call|function_call|tools?)>\s*(\{.*?\})\s*(?:</\1>|\Z)", re.DOTALL
)
FENCED_JSON = re.compile(r"```(?:json|tool_call|tool_code)?[ \t]*\n\s*(\{.*?\})\s*```", re.DOTALL)
FUNCTION_TAG = re.compile(r"<function[= ]\"?([\w.-]+)")


class _BadArgumentsError(Exception):
    """Arguments that cannot be used; its text is for the model."""


class NativeAdapter:
    """Sends tools as functions and reads calls of functions."""

    def format(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history: the service's own format has a place for everything."""
        return Prompt(messages, tools, parameters)

    def warm_up(self) -> None:
        """Import what reads arguments, so that the first call need not wait for it."""
        _validator({})

    def parse(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for; calls whose arguments are no good carry an error."""
        message = reply.message
        manifests = {tool.name: tool for tool in tools}
        cut_off = reply.finish_reason == "length" or reply.truncated
        calls = tuple(_parsed(call, manifests, cut_off) for call in message.tool_calls)
        text = THOUGHTS.sub("", message.text)
        if calls:
            return ParsedReply(text, calls)
        if message.refusal or reply.finish_reason == "content_filter":
            return ParsedReply(text or message.refusal, (), "refused")
        if not text.strip():
            return ParsedReply("", (), "empty")
        if _is_call_as_text(text, manifests):
            return ParsedReply(text, (), "tool call as text")
        return ParsedReply(text, ())


def _parsed(call: ToolCall, manifests: Mapping[str, Manifest], cut_off: bool) -> ParsedCall:
    if cut_off:
        return ParsedCall(call, {}, CUT_OFF)
    try:
        arguments = _read(call)
        if call.name in manifests:
            arguments = _checked(call, arguments, manifests[call.name].parameters)
    except _BadArgumentsError as error:
        return ParsedCall(call, {}, str(error))
    return ParsedCall(call, arguments)


def _read(call: ToolCall) -> dict[str, Any]:
    """The arguments as an object; text that holds JSON once more is read once more (fault M3)."""
    value = _json(call.name, call.arguments.strip() or "{}")
    if isinstance(value, str) and value.lstrip().startswith("{"):
        value = _json(call.name, value)
    if isinstance(value, dict):
        return value
    raise _BadArgumentsError(
        f"The arguments of {call.name!r} must be one JSON object, not {_kind(value)}."
    )


def _json(name: str, text: str) -> Any:
    try:
        return _without_halves(json.loads(text, parse_constant=_no_constant))
    except json.JSONDecodeError as error:
        near = text[max(0, error.pos - SHOWN_CHARACTERS) : error.pos + SHOWN_CHARACTERS]
        raise _BadArgumentsError(
            f"The arguments of {name!r} are not valid JSON: {error.msg} at line {error.lineno}, "
            f"column {error.colno} (character {error.pos}), near {near!r}. Nothing was run; send "
            "the call again."
        ) from error
    except RecursionError as error:
        raise _BadArgumentsError(f"The arguments of {name!r} are nested too deeply.") from error


def _no_constant(name: str) -> Any:
    raise _BadArgumentsError(f"The arguments hold {name}, which is not JSON.")


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
    problems = [_complaint(problem) for problem in _problems(arguments, schema)]
    if problems:
        raise _BadArgumentsError(
            f"The arguments of {call.name!r} do not fit: {'; '.join(problems)}."
        )
    return arguments


def _takes_others(schema: Mapping[str, Any]) -> bool:
    return bool(schema.get("additionalProperties")) or "properties" not in schema


def _problems(arguments: dict[str, Any], schema: Mapping[str, Any]) -> Iterator[ValidationError]:
    return _validator(schema).iter_errors(arguments)


def _validator(schema: Mapping[str, Any]) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(dict(schema))


def _complaint(problem: ValidationError) -> str:
    where = ".".join(str(step) for step in problem.absolute_path)
    text = problem.message if len(problem.message) <= 200 else problem.message[:200] + " …"
    return f"{where!r}: {text}" if where else text


def _kind(value: Any) -> str:
    names = {list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


def _is_call_as_text(text: str, manifests: Mapping[str, Manifest]) -> bool:
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
