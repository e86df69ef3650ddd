"""Requirements 002-47 and X-24: what people paste is made plain, and code is never touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.context.text_filters import filtered

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
    assert filtered(text) == f"Look:\n\n{CODE}\n\nand\n"


def test_002_47_an_open_fence_goes_on_to_the_end() -> None:
    text = "~~~\na\n\n\n\n```\n\n\n\nb\r\n"
    assert filtered(text) == text


def test_002_47_code_in_a_line_opens_no_fence() -> None:
    assert filtered("```a``` b\n\n\n\nc") == "```a``` b\n\nc"


def test_002_47_the_filters_can_be_chosen() -> None:
    assert filtered("a\r\n\n\n\nb", (str.upper,)) == "A\r\n\n\n\nB"


@given(st.text("a`~ \n\r\x1b[]0m;\x07", max_size=40))
def test_002_47_a_second_time_changes_nothing_more(text: str) -> None:
    once = filtered(text)
    assert filtered(once) == once
