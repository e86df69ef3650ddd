"""The manifest a model is given of a tool: made of a function, or declared by a component.

Types become JSON Schema through pydantic, which the openai SDK brings into the process anyway.
Descriptions are read by forty lines of our own: griffe takes 100 ms to import, which the first
run would wait for, and knows no section heading but the English ones.
"""

from __future__ import annotations

import copy
import functools
import hashlib
import inspect
import json
import re
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.errors import SetupError
from cellwright.llm.openai_format import BRANCHES, missing_definitions, without_references
from cellwright.record.messages import Manifest

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


# The manifests of a component: written by hand, taken from its ``meta``, or made of its code.


LENIENT = ManifestStyle(is_lenient=True)
ANY_NUMBER = ("number",)
"""A float may be told as an integer."""
RUN_SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string", "description": "What the tool works on."}},
    "required": ["message"],
}


class GeneratedManifests:
    """``manifests`` of a component that writes none: those made of its code, as plain data."""

    def __get__(self, component: Any, owner: type | None = None) -> Any:
        if component is None:
            return ()
        return [copy.deepcopy(vars(made)) for made in component.tool_manifests()]


def written_manifests(component: Any) -> Sequence[Any]:
    """The manifests that a component's author wrote by hand."""
    found = inspect.getattr_static(component, "manifests")
    return () if isinstance(found, GeneratedManifests) else component.manifests


def component_manifests(component: Any) -> tuple[Manifest, ...]:
    """One manifest for each tool that a component is.

    Raises:
        SetupError: One cannot be made; all complaints at once.
    """
    if written_manifests(component):
        return _by_hand(component)
    if component.meta is not None:
        return (_from_meta(component),)
    function = getattr(type(component), "tool_eval", None)
    if function is not None:
        return (function_manifest(function, component.name),)
    if type(component).run.__module__ == component_module(component):
        raise SetupError(
            f"The tool {component.name!r} does nothing.", hint="Write tool_eval, or run."
        )
    words = read_docstring(inspect.getdoc(type(component).run) or "").description
    return (Manifest(tool_name(component.name), words, RUN_SCHEMA),)


def manifest_of(given: Any) -> Manifest:
    """A manifest written as a dict, in OpenAI's wrapping or without it.

    Raises:
        SetupError: It has no name.
    """
    if isinstance(given, Manifest):
        return given
    inner = given.get("function", given) if isinstance(given, Mapping) else {}
    if not isinstance(inner, Mapping) or not inner.get("name"):
        raise SetupError(f"The manifest {given!r} has no name.", hint="Give it one.")
    schema = dict(inner.get("parameters") or {})
    schema.setdefault("type", "object")
    schema.setdefault("properties", {})
    if not schema.get("required"):
        schema.pop("required", None)
    if not missing_definitions(schema) and set(schema) & {"$defs", "definitions"}:
        schema = without_references(schema)
    return Manifest(tool_name(str(inner["name"])), str(inner.get("description") or ""), schema)


def manifest_complaints(manifest: Manifest) -> Iterator[str]:
    """What is wrong with a manifest by itself."""
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if not manifest.description:
        yield "it has no description"
    try:
        Draft202012Validator.check_schema(dict(manifest.parameters))
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path))
        yield f"its parameters are no JSON Schema ({f'{where}: ' if where else ''}{error.message})"
        return
    if manifest.parameters.get("type") != "object":
        yield "its parameters are no object"
    for reference in missing_definitions(manifest.parameters):
        yield f"its parameters refer to {reference!r}, which is not there"
    for name, schema in manifest.parameters.get("properties", {}).items():
        if name.startswith(RESERVED_PREFIX):
            yield f"the parameter name {name!r} is reserved"
        if not isinstance(schema, Mapping) or not schema.get("description"):
            yield f"the parameter {name!r} has no description"
        elif not set(schema) & {"type", "enum", "const", "$ref", *BRANCHES}:
            yield f"the parameter {name!r} has no type"


def _by_hand(component: Any) -> tuple[Manifest, ...]:
    made = tuple(manifest_of(given) for given in written_manifests(component))
    names = [manifest.name for manifest in made]
    complaints = [
        f"the name {n!r} is there twice" for n in sorted(set(names)) if names.count(n) > 1
    ]
    for manifest in made:
        found = [*manifest_complaints(manifest), *_mismatches(component, manifest)]
        complaints += [f"{manifest.name!r}: {complaint}" for complaint in found]
    if complaints:
        raise SetupError(
            f"The tool {component.name!r} cannot be offered to a model: {'; '.join(complaints)}.",
            hint="Mend its manifests.",
        )
    return made


def _mismatches(component: Any, manifest: Manifest) -> Iterator[str]:
    """Parameters that the manifest has and ``tool_eval`` has not, and the other way round."""
    function = getattr(type(component), "tool_eval", None)
    if function is None:
        return
    parameters = {p.name: p for p in shown_parameters(function)}
    if len(written_manifests(component)) > 1:
        parameters.pop("name", None)
        takes_others = any(
            p.kind is p.VAR_KEYWORD for p in inspect.signature(function).parameters.values()
        )
        if takes_others:
            return
    told = manifest.parameters.get("properties", {})
    for name in told:
        if name not in parameters:
            yield f"tool_eval has no parameter {name!r}"
    for name, parameter in parameters.items():
        is_required = parameter.default is inspect.Parameter.empty
        if name not in told and (is_required or len(written_manifests(component)) == 1):
            yield f"the manifest has no {name!r}"
        elif name in told and is_required and not _requires(manifest, name):
            yield f"{name!r} is not required, but tool_eval has no default for it"
    yield from _other_types(function, told)


def _other_types(function: Callable[..., Any], told: Mapping[str, Any]) -> Iterator[str]:
    """Types and defaults that the code has otherwise; what it does not say is not compared."""
    try:
        made = function_manifest(function, "tool", "", LENIENT).parameters["properties"]
    except SetupError:
        return  # its types are for Python alone
    for name in told:
        said, written = made.get(name, {}), told[name]
        for key in ("type", "default"):
            if key in said and key in written and said[key] not in (written[key], *ANY_NUMBER):
                yield f"the {key} of {name!r} is {written[key]!r}, and {said[key]!r} in tool_eval"


def _requires(manifest: Manifest, name: str) -> bool:
    return name in manifest.parameters.get("required", ())


def _from_meta(component: Any) -> Manifest:
    meta = component.meta
    words = read_docstring(inspect.getdoc(type(component).tool_eval) or "").description
    if isinstance(meta, type) and hasattr(meta, "model_json_schema"):
        schema = _renamed(meta)
    else:
        schema = _signature_schema(meta)
    manifest = Manifest(tool_name(component.name), words or _instructions(meta), schema)
    complaints = list(manifest_complaints(manifest))
    if complaints:
        raise SetupError(
            f"The tool {component.name!r} cannot be offered to a model: {'; '.join(complaints)}.",
            hint="Mend its meta.",
        )
    return manifest


def _instructions(meta: Any) -> str:
    return str(getattr(meta, "instructions", "") or inspect.getdoc(meta) or "")


def _renamed(meta: Any) -> dict[str, Any]:
    """The schema of a pydantic class with ``variable_name`` as the name of a field."""
    schema = without_references(meta.model_json_schema(by_alias=False))
    names = wire_names(meta)
    properties = schema.get("properties", {})
    told: dict[str, Any] = {}
    for name, value in properties.items():
        rest = {key: v for key, v in value.items() if key not in ("title", "variable_name")}
        told[names.get(name, name)] = rest
    required = [names.get(name, name) for name in schema.get("required", ())]
    kept = {key: v for key, v in schema.items() if key not in ("title", "description")}
    return {**kept, "properties": told, **({"required": required} if required else {})}


def wire_names(meta: Any) -> dict[str, str]:
    """What each field of ``meta`` is called by a model.

    Raises:
        SetupError: Two fields have one name.
    """
    names: dict[str, str] = {}
    for name, info in getattr(meta, "model_fields", {}).items():
        extra = info.json_schema_extra if isinstance(info.json_schema_extra, dict) else {}
        told = str(extra.get("variable_name") or name)
        if told in names.values():
            raise SetupError(f"Two fields of {meta.__name__!r} are called {told!r}.")
        names[name] = told
    return names


def python_names(meta: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by the names that the code has for them."""
    back = {told: name for name, told in wire_names(meta).items()}
    return {back.get(name, name): value for name, value in arguments.items()}


def component_module(component: Any) -> str:
    """Where the class that all components are made of is from."""
    return type(component).__mro__[-2].__module__


def _signature_schema(meta: Any) -> dict[str, Any]:
    from pydantic import create_model

    inputs: dict[str, Any] = {n: (f.annotation, f) for n, f in meta.input_fields.items()}
    made: Any = create_model("Inputs", **inputs)
    schema = without_references(made.model_json_schema())
    properties = {}
    for name, value in schema.get("properties", {}).items():
        kept = {key: v for key, v in value.items() if key not in NOT_TOLD}
        properties[name] = {
            **kept,
            "description": str(value.get("desc") or value.get("description") or ""),
        }
    required = schema.get("required", [])
    return {
        "type": "object",
        "properties": properties,
        **({"required": required} if required else {}),
    }


NOT_TOLD = ("title", "description", "desc", "prefix", "__dspy_field_type")
