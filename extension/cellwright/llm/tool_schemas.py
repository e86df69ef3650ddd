"""A tool's JSON Schema as providers take it.

They refuse references, and a choice at the top (``anyOf`` and its kin). What a call has to fulfil
is still the tool's own schema, to which it is held when it comes (requirement X-08).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

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
    for _, value in _parts(schema):
        yield from _references(value)
    if isinstance(schema, Mapping) and isinstance(schema.get("$ref"), str):
        yield schema["$ref"]


def _parts(schema: Any) -> Iterator[tuple[str, Any]]:
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
