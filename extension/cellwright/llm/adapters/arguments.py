"""The arguments of a call: read or refused, with the reason and the place.

They are run as code, so they are never repaired: half a program that was made to parse does harm.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from cellwright.llm.adapters.plain_schema import plainly_fits
from cellwright.record.messages import ToolCall
from cellwright.text.cleaning import without_lone_surrogates

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError

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
