"""Requirements 002-47 and X-24: what people paste is made plain, and code is never touched."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.normalise import (
    STANDARD_FILTERS,
    checked_filters,
    filtered,
    known_filters,
    normalise,
)
from cellwright.errors import SetupError
from cellwright.record.messages import Message, TextPart, UserMessage

CODE = "```python\ndef f():\r\n    return 1\n\n\n\ndef g():\n\x1b[31m    pass\n```\n"


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("one\n\n\n\ntwo", "one\n\ntwo"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("one\r\n\r\n\r\ntwo\rthree", "one\n\ntwo\nthree"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("a\x1b]0;title\nb", "a\nb"),
        ("a\x1b\x1b[0m[0m", "a[0m"),
    ],
)
def test_x_24_words_are_made_plain(text: str, plain: str) -> None:
    assert filtered(text) == plain


def test_x_24_code_in_fences_keeps_every_byte() -> None:
    text = f"Look:\r\n\r\n\r\n{CODE}\n\n\nand\r\n"
    assert filtered(text) == f"Look:\n\n{CODE}\nand\n"


def test_002_47_an_open_fence_goes_on_to_the_end() -> None:
    text = "~~~\na\n\n\n\n```\n\n\n\nb\r\n"
    assert filtered(text) == text


def test_002_47_code_in_a_line_opens_no_fence() -> None:
    assert filtered("```a``` b\n\n\n\nc") == "```a``` b\n\nc"


PASTED = "one\r\n\r\n\r\n\x1b[31mtwo\x1b[0m\r\n"
CHOICES = [
    order
    for size in range(len(STANDARD_FILTERS) + 1)
    for order in itertools.permutations(STANDARD_FILTERS, size)
]
PIECES = (
    *("```", "~~~", "````", "`", "a", " "),
    *("\n", "\r\n", "\r", "\n\n\n"),
    *("\x1b[31m", "\x1b[0m", "\x1b]0;", "\x1b", "m", "\x07"),
)


@pytest.mark.parametrize(
    ("names", "sent"),
    [
        ((), PASTED),
        (("line_ends",), "one\n\n\n\x1b[31mtwo\x1b[0m\n"),
        (("terminal_colours",), "one\r\n\r\n\r\ntwo\r\n"),
        (("blank_lines",), "one\r\n\r\n\x1b[31mtwo\x1b[0m\r\n"),
        (("blank_lines", "line_ends"), "one\n\n\x1b[31mtwo\x1b[0m\n"),
        (None, "one\n\ntwo\n"),
    ],
)
def test_002_47_the_filters_are_chosen_by_name(names: tuple[str, ...] | None, sent: str) -> None:
    assert filtered(PASTED, known_filters(names)) == sent
    asked: tuple[Message, ...] = (UserMessage((TextPart(PASTED),)),)
    assert normalise(asked, text_filters=names) == (UserMessage((TextPart(sent),)),)


def test_002_47_all_are_on_in_the_standard_order_at_first() -> None:
    assert STANDARD_FILTERS == ("line_ends", "terminal_colours", "blank_lines")
    assert known_filters(None) == known_filters(STANDARD_FILTERS)
    assert all(item.does.endswith(".") for item in known_filters(None))


def test_002_47_a_name_that_there_is_not_is_told_or_left_out() -> None:
    assert checked_filters(["blank_lines", "line_ends", "blank_lines"]) == (
        "blank_lines",
        "line_ends",
    )
    with pytest.raises(SetupError, match=r"no text filter 'a', 'b'\. There are: line_ends, term"):
        checked_filters(["a", "line_ends", "b"])
    with pytest.raises(SetupError) as raised:
        checked_filters([f"{'x' * 500}{number}" for number in range(90)])
    assert len(str(raised.value)) < 300
    names = [item.name for item in known_filters(["b", "blank_lines", "a", "line_ends", "b"])]
    assert names == ["blank_lines", "line_ends"]


@pytest.mark.parametrize("names", CHOICES, ids=lambda names: "-".join(names) or "none")
def test_002_47_colours_between_blank_lines_are_none_of_them_whatever_the_order(
    names: tuple[str, ...],
) -> None:
    chosen = known_filters(names)
    once = filtered("a\r\n\x1b[m\r\n\x1b[m\r\n\x1b[m\r\nb", chosen)
    assert filtered(once, chosen) == once
    if {"terminal_colours", "blank_lines"} <= set(names):
        assert once.replace("\r", "") == "a\n\nb"


@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join), st.sampled_from(CHOICES))
def test_002_47_a_second_time_changes_nothing_more(text: str, names: tuple[str, ...]) -> None:
    chosen = known_filters(names)
    once = filtered(text, chosen)
    assert filtered(once, chosen) == once
    assert names or once == text


@given(
    st.lists(st.sampled_from(PIECES), max_size=8).map("".join),
    st.text("ab`~ \n\r\x1b[m", max_size=20).filter(lambda code: "~~~" not in code),
    st.sampled_from(CHOICES),
)
def test_002_47_code_keeps_every_byte_whichever_are_on(
    around: str, code: str, names: tuple[str, ...]
) -> None:
    before, after = around.replace("`", "").replace("~", ""), around
    fenced = f"\n~~~~~ python\n{code}\n~~~~~"
    sent = filtered(f"{before}{fenced}\n{after}", known_filters(names))
    assert f"~~~~~ python\n{code}\n~~~~~" in sent
