"""A function's signature and docstring as the manifest a model is given.

Types become JSON Schema through pydantic, which the openai SDK brings into the process anyway.
Descriptions are read by forty lines of our own: griffe takes 100 ms to import, which the first
run would wait for, and knows no section heading but the English ones.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cellwright.errors import SetupError
from cellwright.llm.tool_schemas import without_references
from cellwright.record.prompts import Manifest

NAME_LIMIT = 64
NAME = re.compile(r"^[A-Za-z0-9_-]{1,64}$")
SKIPPED = ("self", "cls")
CONTEXTS = ("context", "ctx")
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


@dataclass(frozen=True)
class ManifestStyle:
    """How strict a manifest is made."""

    is_lenient: bool = False
    """A person's own function: a missing description is for the linter, and no error."""


STRICT = ManifestStyle()


@functools.lru_cache(maxsize=1_024)
def function_manifest(
    function: Callable[..., Any],
    name: str = "",
    documentation: str = "",
    style: ManifestStyle = STRICT,
) -> Manifest:
    """The manifest of a function or method; the same for the same function, always.

    Args:
        function: What is called; ``self``, ``context`` and ``*args`` are not shown to the model.
        name: The tool's name; empty: the function's own.
        documentation: A docstring to read instead of the function's own.
        style: How strict it is.

    Raises:
        SetupError: A parameter has a reserved name, an unusable type or no description; all
            complaints at once.
    """
    shown = name or function.__name__
    docstring = read_docstring(documentation or inspect.getdoc(function) or "")
    parameters = shown_parameters(function)
    problems: list[str] = []
    schemas = _schemas(function, parameters, docstring, problems)
    complaints = [*_complaints(parameters, docstring, schemas, style), *problems]
    if complaints:
        raise SetupError(
            f"The tool {shown!r} cannot be offered to a model: {'; '.join(complaints)}.",
            hint="Describe every parameter under Args: in its docstring.",
        )
    required = [p.name for p in parameters if p.default is inspect.Parameter.empty]
    schema: dict[str, Any] = {"type": "object", "properties": schemas}
    if required:
        schema["required"] = required
    return Manifest(tool_name(shown), docstring.description or shown.replace("_", " "), schema)


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


def shown_parameters(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters that a model fills in."""
    return [p for p in inspect.signature(function).parameters.values() if _is_shown(p)]


def is_context(parameter: inspect.Parameter) -> bool:
    """Whether a parameter is where a tool gets its context."""
    annotation = parameter.annotation
    untyped = annotation in (inspect.Parameter.empty, object, Any, "object", "Any")
    is_typed = re.search(r"\bToolContext\b", str(annotation)) is not None
    return is_typed or (parameter.name in CONTEXTS and untyped)


def _is_shown(parameter: inspect.Parameter) -> bool:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    skipped = parameter.name in SKIPPED or is_context(parameter)
    return not skipped and parameter.kind not in variadic


def _complaints(
    parameters: list[inspect.Parameter],
    docstring: Docstring,
    schemas: Mapping[str, Any],
    style: ManifestStyle,
) -> Iterator[str]:
    if not docstring.description and not style.is_lenient:
        yield "it has no description"
    names = [parameter.name for parameter in parameters]
    for name in names:
        if name.startswith(RESERVED_PREFIX):
            yield f"the parameter name {name!r} is reserved"
        elif style.is_lenient or schemas.get(name, {}).get("description"):
            continue
        elif not docstring.arguments.get(name):
            yield f"the parameter {name!r} has no description"
    for name in docstring.arguments:
        if name not in (*names, *SKIPPED, *CONTEXTS) and not style.is_lenient:
            yield f"the docstring describes {name!r}, which is no parameter"


def _schemas(
    function: Callable[..., Any],
    parameters: list[inspect.Parameter],
    docstring: Docstring,
    complaints: list[str],
) -> dict[str, Any]:
    try:
        hints = annotations_of(function)
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
        words = docstring.arguments.get(parameter.name) or _annotated(annotation)
        if words or "description" not in schema:
            schema["description"] = words
        if parameter.default is not inspect.Parameter.empty:
            schema = _with_default(schema, parameter.default)
        schemas[parameter.name] = schema
    return schemas


def annotations_of(function: Callable[..., Any]) -> dict[str, Any]:
    """The types of a function's parameters, those written as text too.

    Raises:
        NameError: One names what is not there.
    """
    return typing.get_type_hints(function, localns=_outer(function), include_extras=True)


def _outer(function: Callable[..., Any]) -> dict[str, Any]:
    """Names of the function that a function was defined in, for its annotations."""
    try:
        return dict(inspect.getclosurevars(inspect.unwrap(function)).nonlocals)
    except (TypeError, ValueError):
        return {}


def _annotated(annotation: Any) -> str:
    """A plain text in ``Annotated``: the parameter's description."""
    if typing.get_origin(annotation) is not typing.Annotated:
        return ""
    return next((m for m in annotation.__metadata__ if isinstance(m, str)), "")


def _type_schema(annotation: Any) -> dict[str, Any]:
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

    try:
        schema = TypeAdapter(annotation).json_schema()
    except (PydanticSchemaGenerationError, PydanticUserError) as error:
        raise ValueError(str(error).split("\n", 1)[0]) from error
    plain: dict[str, Any] = _untitled(without_references(schema))
    return plain


def _untitled(schema: Any) -> Any:
    """The schema without the titles that pydantic gives to everything."""
    if isinstance(schema, list):
        return [_untitled(item) for item in schema]
    if not isinstance(schema, Mapping):
        return schema
    plain: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties":
            plain[key] = {n: _untitled(v) for n, v in value.items()}
        elif key in ("enum", "const", "default", "examples", "required"):
            plain[key] = value
        elif key != "title":
            plain[key] = _untitled(value)
    return plain


def _with_default(schema: dict[str, Any], default: Any) -> dict[str, Any]:
    """The schema with its default, unless that says nothing; "or null" goes when null is it."""
    if default is None and "anyOf" in schema:
        kinds = [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        schema = {**kinds[0], **rest} if len(kinds) == 1 else {"anyOf": kinds, **rest}
    default = getattr(default, "value", default)
    try:
        is_news = json.loads(json.dumps(default)) not in NO_NEWS_DEFAULTS
    except (TypeError, ValueError):
        return schema  # no JSON: only the function itself knows it
    return {**schema, "default": default} if is_news else schema
