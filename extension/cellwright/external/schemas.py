"""Schemas that strangers wrote, made fit for a model and for checking what it sends.

References are put in their places from the document itself; nothing is fetched for one. What is
too large, or no schema, is refused: one bad tool would otherwise spoil every request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from cellwright.errors import SetupError
from cellwright.text.cleaning import clean, is_quick

NODE_LIMIT = 3_000
DEPTH_LIMIT = 24
SIZE_LIMIT_CHARACTERS = 32_000
DESCRIPTION_LIMIT = 1_024
"""What some providers take."""
PATTERN_LIMIT = 200
DROPPED = frozenset(
    {
        *("$defs", "definitions", "$id", "$schema", "$anchor", "$dynamicRef", "$dynamicAnchor"),
        *("$comment", "$vocabulary", "patternProperties", "xml", "discriminator", "externalDocs"),
        *("example", "examples", "deprecated", "readOnly", "writeOnly"),
    }
)
BY_NAME = ("properties", "dependentSchemas")
VALUES = ("enum", "const", "default", "required")
UNSEEN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\U000e0000-\U000e007f]")
"""Characters that people do not see and models read."""


def told(text: object, limit: int = DESCRIPTION_LIMIT) -> str:
    """A stranger's words as a model is given them: visible, and not too many."""
    words = UNSEEN.sub("", clean(str(text or ""))).strip()
    return words if len(words) <= limit else words[: limit - 2].rstrip() + " …"


def object_schema(schema: Mapping[str, Any], document: Mapping[str, Any] | None = None) -> Any:
    """The schema of a tool's parameters, without references.

    Args:
        schema: As it was written.
        document: What its references point into; None: itself.

    Raises:
        SetupError: It is too large, or no schema of an object.
    """
    walk = _SchemaWalk(document if document is not None else schema)
    made = walk.schema(schema, (), 0)
    made.setdefault("type", "object")
    made.setdefault("properties", {})
    if not made.get("required"):
        made.pop("required", None)
    _check(made)
    return made


def pointed_at(document: Any, reference: str) -> Any:
    """What a reference within a document points at; None: nothing, or outside of it."""
    if not reference.startswith("#"):
        return None
    found = document
    for step in reference[1:].split("/")[1:]:
        name = step.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping):
            found = found.get(name)
        elif isinstance(found, list) and name.isdecimal() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found


def _check(schema: Mapping[str, Any]) -> None:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError

    if schema["type"] != "object":
        raise SetupError(f"its parameters are of type {schema['type']!r}, not 'object'")
    if len(json.dumps(schema, ensure_ascii=False)) > SIZE_LIMIT_CHARACTERS:
        raise SetupError("its parameters are too large")
    try:
        Draft202012Validator.check_schema(dict(schema))
    except SchemaError as error:
        where = ".".join(map(str, error.absolute_path))
        place = f"{where}: " if where else ""
        message = error.message if len(error.message) <= 200 else error.message[:200] + " …"
        raise SetupError(f"its parameters are no JSON Schema ({place}{message})") from error


class _SchemaWalk:
    """One pass over a schema that counts what it makes."""

    def __init__(self, document: Any) -> None:
        self._document = document
        self._count = 0

    def schema(self, schema: Any, around: tuple[str, ...], depth: int) -> Any:
        self._count += 1
        if self._count > NODE_LIMIT or depth > DEPTH_LIMIT:
            raise SetupError("its parameters are too large")
        if isinstance(schema, list):
            return [self.schema(item, around, depth + 1) for item in schema]
        if not isinstance(schema, Mapping):
            return schema
        made = {
            key: self._part(key, value, around, depth)
            for key, value in schema.items()
            if key != "$ref" and _is_kept(key, value)
        }
        if isinstance(schema.get("$ref"), str):
            made = {**self._referred(schema["$ref"], around, depth), **made}
        return _modern(made)

    def _part(self, key: str, value: Any, around: tuple[str, ...], depth: int) -> Any:
        if key == "description":
            return told(value)
        if key in VALUES:
            return value
        if key in BY_NAME and isinstance(value, Mapping):
            return {name: self.schema(item, around, depth + 1) for name, item in value.items()}
        return self.schema(value, around, depth + 1)

    def _referred(self, reference: str, around: tuple[str, ...], depth: int) -> dict[str, Any]:
        if reference in around:
            return {"type": "object"}
        found = pointed_at(self._document, reference)
        if not isinstance(found, Mapping):
            return {}
        made: dict[str, Any] = self.schema(found, (*around, reference), depth + 1)
        return made


def _is_kept(key: str, value: Any) -> bool:
    if key == "pattern":
        text = str(value)
        return len(text) <= PATTERN_LIMIT and is_quick(text)
    if key in ("exclusiveMinimum", "exclusiveMaximum"):
        return not isinstance(value, bool)  # as OpenAPI 3.0 wrote it
    if key == "title":
        return not isinstance(value, str)
    return key not in DROPPED and not key.startswith("x-")


def _modern(schema: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI 3.0's ``nullable`` as JSON Schema has it."""
    is_nullable = schema.pop("nullable", False)
    if is_nullable and isinstance(schema.get("type"), str):
        schema["type"] = [schema["type"], "null"]
    return schema
