"""The plain part of JSON Schema, which is all that most tools use.

``jsonschema`` takes a second to import where its format extra is installed, as it is beside
JupyterLab. So good arguments of plain tools are seen to be good without it, and it is asked only
about the others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

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
