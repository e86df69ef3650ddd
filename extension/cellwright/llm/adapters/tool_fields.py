"""Tools as fields of a signature: ``tools: list[Tool] -> calls: ToolCalls``.

A model that calls functions gets them as functions, and both fields leave the prompt.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from typing import Any

from cellwright.errors import SetupError
from cellwright.llm.signatures import SignatureLike
from cellwright.record.messages import ToolCall


@dataclass(frozen=True)
class ToolFields:
    """The names of the two fields."""

    tools: str
    calls: str


def find_tool_fields(signature: SignatureLike) -> ToolFields | None:
    """The fields for tools and for calls; None where no calls are wanted.

    Raises:
        SetupError: Calls are to come out and no tools go in.
    """
    calls = [n for n, info in signature.output_fields.items() if _is(info.annotation, "ToolCalls")]
    tools = [n for n, info in signature.input_fields.items() if _is(info.annotation, "Tool")]
    if not calls:
        return None
    if not tools:
        raise SetupError(
            f"The output {calls[0]!r} is to hold calls, and no input holds tools.",
            hint="Add an input such as tools: list[Tool].",
        )
    return ToolFields(tools[0], calls[0])


def function_of(tool: Any) -> dict[str, Any]:
    """A tool in OpenAI's shape: ours, or dspy's."""
    if hasattr(tool, "format_as_litellm_function_call"):
        return dict(tool.format_as_litellm_function_call())
    if is_dataclass(tool) or hasattr(tool, "parameters"):
        function = {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        }
        return {"type": "function", "function": function}
    return dict(tool)


def calls_from(made: Sequence[Any], annotation: Any) -> Any:
    """The calls a model made, as the field's type wants them.

    Raises:
        ValueError: The arguments of one are not JSON; they are never mended.
    """
    read = [_call(call) for call in made]
    if hasattr(annotation, "from_dict_list"):
        return annotation.from_dict_list([{"name": c.name, "args": _arguments(c)} for c in read])
    for call in read:
        _arguments(call)
    return tuple(read)


def _call(made: Any) -> ToolCall:
    function = _get(made, "function") or made
    arguments = _get(function, "arguments") or "{}"
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(_get(made, "id") or ""), str(_get(function, "name")), text)


def _arguments(call: ToolCall) -> dict[str, Any]:
    try:
        value = json.loads(call.arguments)
    except ValueError as error:
        raise ValueError(f"the arguments of {call.name!r} are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ValueError(f"the arguments of {call.name!r} are not an object")
    return value


def _get(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else getattr(value, name, None)


def _is(annotation: Any, name: str) -> bool:
    inner = typing.get_args(annotation) if typing.get_origin(annotation) is list else ()
    return any(getattr(each, "__name__", "") == name for each in (annotation, *inner))
