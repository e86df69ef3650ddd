"""The manifests of a component: written by hand, taken from its ``meta``, or made of its code."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from cellwright.errors import SetupError
from cellwright.llm.tool_schemas import BRANCHES, missing_definitions, without_references
from cellwright.record.prompts import Manifest
from cellwright.tools.manifest import (
    RESERVED_PREFIX,
    ManifestStyle,
    function_manifest,
    read_docstring,
    shown_parameters,
    tool_name,
)

LENIENT = ManifestStyle(is_lenient=True)
ANY_NUMBER = ("number",)
"""A float may be told as an integer."""
RUN_SCHEMA = {
    "type": "object",
    "properties": {"message": {"type": "string", "description": "What the tool works on."}},
    "required": ["message"],
}


def component_manifests(component: Any) -> tuple[Manifest, ...]:
    """One manifest for each tool that a component is.

    Raises:
        SetupError: One cannot be made; all complaints at once.
    """
    if component.manifests:
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
    made = tuple(manifest_of(given) for given in component.manifests)
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
    if len(component.manifests) > 1:
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
        if name not in told and (is_required or len(component.manifests) == 1):
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
    words = read_docstring(inspect.getdoc(component.tool_eval) or "").description
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
    for name, field in getattr(meta, "model_fields", {}).items():
        extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
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
