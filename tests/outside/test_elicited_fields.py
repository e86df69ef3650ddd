"""What a person types for a field of a server's form, as the value that the form wants."""

from __future__ import annotations

from typing import Any

import pytest

from cellwright.external.elicitation import _kind_words, _parse

COLOURS = {"type": "string", "enum": ["r", "g"], "enumNames": ["Red", "Green"]}
SIZES = {"type": "array", "items": {"anyOf": [{"const": 1, "title": "S"}, {"const": 2}]}}


@pytest.mark.parametrize(
    ("said", "field", "value"),
    [
        ("yes", {"type": "boolean"}, True),
        ("no", {"type": "boolean"}, False),
        ("3", {"type": "integer"}, 3),
        ("2.5", {"type": "number"}, 2.5),
        ("word", {"type": "string"}, "word"),
        ("green", COLOURS, "g"),
        ("r", COLOURS, "r"),
        ("s, 2", SIZES, [1, 2]),
    ],
)
def test_what_was_typed_is_read(said: str, field: dict[str, Any], value: object) -> None:
    assert _parse(said, field) == value


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ("perhaps", {"type": "boolean"}),
        ("many", {"type": "integer"}),
        ("much", {"type": "number"}),
        ("0", {"type": "integer", "minimum": 1}),
        ("9", {"type": "integer", "maximum": 1}),
        ("", {"type": "string", "minLength": 1}),
        ("long", {"type": "string", "maxLength": 1}),
        ("blue", COLOURS),
    ],
)
def test_what_does_not_fit_is_refused_with_words(said: str, field: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        _parse(said, field)


@pytest.mark.parametrize("field", [COLOURS, SIZES, {"type": "boolean"}, {"format": "email"}, {}])
def test_every_field_says_what_it_takes(field: dict[str, Any]) -> None:
    assert _kind_words(field)
