"""The keys of an assistant's file: what each takes, and what is wrong with a value."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from cellwright.assistants import PARAMETERS
from cellwright.assistants.scenes import scene_complaints
from cellwright.errors import SetupError
from cellwright.settings import ADAPTERS, check_parameters

NAME = re.compile(r"[\w][\w .-]{0,254}")
TEMPERATURES = (0.1, 1.0)
"""What every model with a temperature takes; requirements X-12 and 002-71."""
WHOLE_LIMIT = 2**53
TEXT_LIMITS = {"description": 255, "instructions": 8_000, "model": 200, "effort": 40}
"""In characters. Instructions go out with every request."""
KINDS: Mapping[str, str] = {
    "name": "a text",
    "description": "a text",
    "instructions": "a text",
    "model": "a text",
    "temperature": "a number",
    "effort": "a text",
    "parameters": f"a table with {', '.join(PARAMETERS)}",
    "tools": "a list of names",
    "adapter": f"one of {', '.join(ADAPTERS)}",
    "library": "a list of names",
    "public": "true or false",
    "default": "true or false",
    "disable_memory": "true or false",
    "memory_for_guests": "true or false",
    "disable_default_prompt": "true or false",
    "disable_web_browsing": "true or false",
    "scenes": "a list of scenes",
}
"""The keys of a file and what each takes."""
SET_KEYS = tuple(key for key in KINDS if key not in ("name", "parameters", "scenes"))
"""Those that a line of text can be a value of."""
WORDS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}
ATTRIBUTES: Mapping[str, str] = {"public": "is_public", "default": "is_default"}
"""What the keys are called in an assistant, where that is another name."""


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
        elif key == "parameters":
            yield from _parameter_complaints(value)
        elif not _fits(key, value):
            yield f"{key}: {value!r} is not {KINDS[key]}"
        elif key in TEXT_LIMITS and len(value) > TEXT_LIMITS[key]:
            limit = TEXT_LIMITS[key]
            yield f"{key}: has {len(value):,} characters, at most {limit:,} are allowed"
    if isinstance(name, str) and not NAME.fullmatch(name):
        yield f"name: {name!r} has to be letters, digits, '-', '.', '_' or blanks, at most 255"


def read_field(key: str, text: str) -> Any:
    """The value that a text says; None: the key's default.

    Args:
        key: Of a file.
        text: Empty: the default. Names of a list stand between commas; ``[]`` is a list without
            any.

    Raises:
        SetupError: A text cannot be a value of this key.
    """
    if key not in SET_KEYS:
        raise SetupError(f"{key!r} cannot be set.", hint=f"Set one of {', '.join(SET_KEYS)}.")
    if not text:
        return None
    kind = KINDS[key]
    if kind == "a list of names":
        names = () if text == "[]" else text.split(",")
        return [name.strip() for name in names if name.strip()]
    value: Any = text
    if kind in ("a number", "true or false"):
        value = _number(text) if kind == "a number" else WORDS.get(text.lower())
    if value is None:
        raise SetupError(f"{key}: {text!r} is not {kind}.", hint='"" takes it out.')
    return value


def is_default(key: str, value: Any) -> bool:
    """Whether a value says what a file without the key says."""
    return (
        value is None
        or value is False
        or value == ""
        or (key in ("scenes", "parameters") and not value)
    )


def clamped_temperature(temperature: float | None) -> float | None:
    """The nearest temperature that every model with one takes; None stays none."""
    if temperature is None:
        return None
    least, most = TEMPERATURES
    return min(most, max(least, temperature))


def _parameter_complaints(value: Any) -> Iterator[str]:
    try:
        check_parameters(value, PARAMETERS)
    except SetupError as error:
        yield f"parameters: {error.message}"


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _fits(key: str, value: Any) -> bool:
    kind = KINDS[key]
    if kind == "a number":
        if isinstance(value, float):
            return not math.isnan(value)
        # a whole number may have more digits than any float
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        return is_whole and abs(value) <= WHOLE_LIMIT
    if kind == "true or false":
        return isinstance(value, bool)
    if kind == "a list of names":
        return isinstance(value, list) and all(isinstance(item, str) for item in value)
    if key == "adapter":
        return value in ADAPTERS
    return isinstance(value, str)
