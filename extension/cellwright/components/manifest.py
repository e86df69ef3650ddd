"""A function's signature and docstring as the manifest a model is given.

Types become JSON Schema through pydantic, which the openai SDK brings into the process anyway.
Descriptions are read by forty lines of our own: griffe takes 100 ms to import, which the first
run would wait for, and knows no section heading but the English ones.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.errors import SetupError
from cellwright.prompts import Manifest

__all__ = ["Docstring", "function_manifest", "read_docstring", "tool_name"]

NAME_LIMIT = 64
NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
SKIPPED = ("self", "cls", "context", "ctx")
RESERVED_PREFIX = "_sys_"
ARGUMENT_HEADINGS = ("args", "arguments", "parameters", "参数")
OTHER_HEADINGS = (
    *("returns", "yields", "raises", "example", "examples", "note", "notes"),
    *("返回", "返回值", "异常", "示例"),
)
ARGUMENT = re.compile(r"^\*{0,2}(?P<name>\w+)\s*(?:\((?P<type>[^)]*)\))?\s*[:：]\s*(?P<text>.*)$")
DOCUMENTED_TYPES = {
    "int": int, "integer": int, "float": float, "number": float, "str": str, "string": str,
    "bool": bool, "boolean": bool, "list": list, "dict": dict, "object": dict,
}  # fmt: skip
NO_NEWS_DEFAULTS: tuple[Any, ...] = (None, "")


@dataclass(frozen=True)
class Docstring:
    """The parts of a Google docstring a model is told."""

    description: str = ""
    arguments: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    """Types the docstring names, for parameters without an annotation."""


@functools.cache
def function_manifest(
    function: Callable[..., Any], name: str = "", documentation: str = ""
) -> Manifest:
    """The manifest of a function or method; the same for the same function, always.

    Args:
        function: What is called; ``self``, ``context`` and ``*args`` are not shown to the model.
        name: The tool's name; empty: the function's own.
        documentation: A docstring to read instead of the function's own.

    Raises:
        SetupError: A parameter has a reserved name, an unusable type or no description; all
            complaints at once.
    """
    shown = name or function.__name__
    docstring = read_docstring(documentation or inspect.getdoc(function) or "")
    parameters = [p for p in inspect.signature(function).parameters.values() if _is_shown(p)]
    complaints = list(_complaints(parameters, docstring))
    schemas = _schemas(function, parameters, docstring, complaints)
    if complaints:
        raise SetupError(
            f"The tool {shown!r} cannot be offered to a model: {'; '.join(complaints)}.",
            hint="Describe every parameter under Args: in its docstring.",
        )
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    schema: dict[str, Any] = {"type": "object", "properties": schemas}
    if required:
        schema["required"] = required
    return Manifest(tool_name(shown), docstring.description, schema)


def tool_name(name: str) -> str:
    """A name that providers take; a long or odd one is shortened and ends in a hash of itself."""
    if NAME.match(name):
        return name
    digest = hashlib.sha256(name.encode()).hexdigest()[:8]
    plain = re.sub(r"[^A-Za-z0-9_-]+", "_", name).strip("_")
    return f"{plain[: NAME_LIMIT - 9]}_{digest}"


def read_docstring(text: str) -> Docstring:
    """The description (all before the first section) and the arguments of a docstring."""
    description: list[str] = []
    arguments: dict[str, str] = {}
    types: dict[str, str] = {}
    section, current, indent = "", "", None
    for line in inspect.cleandoc(text).split("\n"):
        heading = line.strip().rstrip(":：").lower()
        if line[:1].strip() and heading in ARGUMENT_HEADINGS + OTHER_HEADINGS:
            section, indent = ("arguments" if heading in ARGUMENT_HEADINGS else "other"), None
        elif not section:
            description.append(line.strip())
        elif section == "arguments" and line.strip():
            depth = len(line) - len(line.lstrip())
            indent = depth if indent is None else indent
            match = ARGUMENT.match(line.strip()) if depth == indent else None
            if match:
                current = match["name"]
                arguments[current] = match["text"]
                types[current] = (match["type"] or "").split(",")[0].strip()
            elif current:
                arguments[current] = f"{arguments[current]} {line.strip()}".strip()
    words = re.sub(r"\s*\n\s*", " ", "\n".join(description).strip())
    return Docstring(_unmarked(words), {k: _unmarked(v) for k, v in arguments.items()}, types)


def _unmarked(text: str) -> str:
    return text.replace("``", "`")


def _is_shown(parameter: inspect.Parameter) -> bool:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return parameter.name not in SKIPPED and parameter.kind not in variadic


def _complaints(parameters: list[inspect.Parameter], docstring: Docstring) -> Iterator[str]:
    if not docstring.description:
        yield "it has no description"
    names = [parameter.name for parameter in parameters]
    for name in names:
        if name.startswith(RESERVED_PREFIX):
            yield f"the parameter name {name!r} is reserved"
        elif not docstring.arguments.get(name):
            yield f"the parameter {name!r} has no description"
    for name in docstring.arguments:
        if name not in names and name not in SKIPPED:
            yield f"the docstring describes {name!r}, which is no parameter"


def _schemas(
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    docstring: Docstring,
    complaints: list[str],
) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as error:
        complaints.append(f"its annotations cannot be read ({error})")
        return {}
    schemas: dict[str, Any] = {}
    for parameter in parameters:
        documented = DOCUMENTED_TYPES.get(docstring.types.get(parameter.name, ""), Any)
        annotation = hints.get(parameter.name, documented)
        try:
            schema = _type_schema(annotation)
        except ValueError as error:
            complaints.append(f"{parameter.name!r} has a type no schema can say ({error})")
            continue
        schema["description"] = docstring.arguments.get(parameter.name, "")
        if parameter.default is not inspect.Parameter.empty:
            schema = _with_default(schema, parameter.default)
        schemas[parameter.name] = schema
    return schemas


def _type_schema(annotation: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        schema = TypeAdapter(annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ValueError(str(error).split("\n", 1)[0]) from error
    definitions = schema.pop("$defs", {})
    plain: dict[str, Any] = _inlined(schema, definitions, ())
    return plain


def _inlined(schema: Any, definitions: Mapping[str, Any], open_names: tuple[str, ...]) -> Any:
    """The schema without references and titles; a type within itself becomes any object."""
    if isinstance(schema, list):
        return [_inlined(item, definitions, open_names) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    if "$ref" in schema:
        name = str(schema["$ref"]).rpartition("/")[2]
        if name in open_names:
            return {"type": "object"}
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        target = _inlined(definitions[name], definitions, (*open_names, name))
        return target | _inlined(rest, definitions, open_names)
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {n: _inlined(v, definitions, open_names) for n, v in value.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            plain[key] = value
        elif key != "title":
            plain[key] = _inlined(value, definitions, open_names)
    return plain


def _with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """The schema with its default, unless that says nothing; "or null" goes when null is it."""
    if default is None and "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}
    if default in NO_NEWS_DEFAULTS:
        return schema
    default = getattr(default, "value", default)
    return {**schema, "default": default}
