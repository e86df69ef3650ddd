"""The keys of an assistant's file as lines of text."""

from __future__ import annotations

import pytest

from cellwright.assistants.fields import KINDS, SET_KEYS, is_default, read_field
from cellwright.errors import SetupError
from cellwright_magics.commands import Offers


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("model", " auto ", " auto "),
        ("model", "", None),
        ("temperature", "0.5", 0.5),
        ("tools", "read_*, run_cell,", ["read_*", "run_cell"]),
        ("library", "[]", []),
        ("library", "", None),
        ("public", "Yes", True),
        ("disable_memory", "off", False),
    ],
)
def test_a_line_of_text_is_a_value_of_a_key(key: str, text: str, value: object) -> None:
    assert read_field(key, text) == value


@pytest.mark.parametrize(
    ("key", "text", "words"),
    [
        ("temperature", "hot", "'hot' is not a number"),
        ("public", "maybe", "'maybe' is not true or false"),
        ("name", "x", "'name' cannot be set. Set one of description, "),
        ("mood", "x", "'mood' cannot be set"),
    ],
)
def test_a_text_that_is_no_value_of_a_key_is_an_error(key: str, text: str, words: str) -> None:
    with pytest.raises(SetupError, match=words):
        read_field(key, text)


def test_every_key_that_a_line_can_say_can_be_set() -> None:
    assert {*SET_KEYS, "name", "parameters", "scenes"} == set(KINDS)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [("tools", [], False), ("tools", None, True), ("scenes", [], True), ("temperature", 0, False)],
)
def test_an_empty_list_of_tools_is_no_default(key: str, value: object, expected: bool) -> None:
    assert is_default(key, value) is expected


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["assistant"], {"delete", "rename", "set"}),
        (["assistant", "set"], {"critic", "writer"}),
        (["assistant", "delete"], {"critic", "writer"}),
        (["assistant", "set", "critic"], set(SET_KEYS)),
        (["assistant", "set", "critic", "model"], set()),
        (["assistant", "new"], set()),
        (["scene"], {"remove"}),
        (["-a"], {"critic", "writer"}),
    ],
)
def test_assistants_and_their_keys_are_offered(words: list[str], offered: set[str]) -> None:
    offers = Offers(tuple, tuple, lambda: ("critic", "writer"))
    found = set(offers.after(words, line=True))
    assert found >= offered
    assert offered or not found & {"critic", *SET_KEYS}
