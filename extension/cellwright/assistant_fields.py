"""The keys of an assistant's file: what each takes, and what is wrong with a value."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cellwright.scenes import scene_complaints
from cellwright.settings import ADAPTERS

__all__ = [
    "KINDS",
    "TEMPERATURES",
    "TEXT_LIMITS",
    "clamped_temperature",
    "complaints",
]

NAME = re.compile(r"[\w][\w .-]{0,254}")
TEMPERATURES = (0.1, 1.0)
"""What every model with a temperature takes; requirements X-12 and 002-71."""
TEXT_LIMITS = {"description": 255, "instructions": 8_000, "model": 200}
"""In characters. Instructions go out with every request."""
KINDS: Mapping[str, str] = {
    "name": "a text",
    "description": "a text",
    "instructions": "a text",
    "model": "a text",
    "temperature": "a number",
    "tools": "a list of names",
    "adapter": f"one of {', '.join(ADAPTERS)}",
    "library": "a list of names",
    "public": "true or false",
    "default": "true or false",
    "disable_memory": "true or false",
    "disable_default_prompt": "true or false",
    "disable_web_browsing": "true or false",
    "scenes": "a list of scenes",
}
"""The keys of a file and what each takes."""


def complaints(data: Mapping[str, Any], name: Any) -> Iterator[str]:
    """What is wrong with the contents of a file, each with its key.

    Args:
        data: The contents.
        name: What it is called, by its contents or its file.
    """
    for key, value in data.items():
        if key not in KINDS:
            near = difflib.get_close_matches(key, KINDS, n=1)
            yield f"{key}: is not known{f', did you mean {near[0]!r}' if near else ''}"
        elif key == "scenes":
            yield from (f"scenes: {words}" for words in scene_complaints(value))
        elif not _fits(key, value):
            yield f"{key}: {value!r} is not {KINDS[key]}"
        elif key in TEXT_LIMITS and len(value) > TEXT_LIMITS[key]:
            limit = TEXT_LIMITS[key]
            yield f"{key}: has {len(value):,} characters, at most {limit:,} are allowed"
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield f"name: {name!r} has to be letters, digits, '-', '.', '_' or blanks, at most 255"


def clamped_temperature(temperature: float | None) -> float | None:
    """The nearest temperature that every model with one takes; None stays none."""
    if temperature is None:
        return None
    least, most = TEMPERATURES
    return min(most, max(least, temperature))


def _fits(key: str, value: Any) -> bool:
    kind = KINDS[key]
    if kind == "a number":
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return is_number and not math.isnan(value)
    if kind == "true or false":
        return isinstance(value, bool)
    if kind == "a list of names":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if key == "adapter":
        return value in ADAPTERS
    return isinstance(value, str)
