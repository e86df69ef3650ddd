"""Terminal text as a model reads it."""

from __future__ import annotations

from functools import partial

import pytest
from cpu_time import quick
from hypothesis import given
from hypothesis import strategies as st

from cellwright.text.cleaning import (
    OVERTYPED,
    clean,
    collapse_repeats,
    overwrite,
    without_lone_surrogates,
)

ESC = "\x1b"


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        (f"{ESC}[31mred{ESC}[0m", "red"),
        (f"{ESC}]8;;http://x{ESC}\\link{ESC}]8;;{ESC}\\", "link"),
        (f"{ESC}]52;c;c2VjcmV0\x07after", "after"),
        (f"{ESC}P1$r{ESC}\\after", "after"),
        (f"{ESC}(Bplain{ESC}", "plain"),
        ("10%\r50%\r100%", "100%"),
        ("long line\rshort", "shortline"),
        (f"long line\r{ESC}[2Kshort", "short"),
        ("done\r\n", "done\n"),
        ("12\x08\x0834", "34"),
        ("ab\x08\x08\x08c", "cb"),
        ("a\x00b\x07c", "abc"),
        ("    indented\n\ttab", "    indented\n\ttab"),
        ("a\n\n\n\n\n\nb", "a\n\n\nb"),
    ],
)
def test_text_reads_as_the_terminal_showed_it(shown: str, read: str) -> None:
    assert clean(shown) == read


def test_a_progress_bar_leaves_its_last_state() -> None:
    bar = "".join(f"\r{n:3d}%|{'#' * (n // 10):<10}| {n}/100" for n in range(101))
    assert clean(bar) == "100%|##########| 100/100"


def test_x_20_the_model_is_spared_pip_noise_and_told_what_pip_did() -> None:
    said = "Requirement already satisfied: numpy in /x (2.0)\nSuccessfully installed six-1.17.0\n"
    assert clean(said) == "Successfully installed six-1.17.0\n"


def test_equal_lines_are_said_once_with_their_number() -> None:
    assert clean("tick\n" * 50 + "done") == "tick (repeated 50×)\ndone"
    assert collapse_repeats(["a", "a", "", "", "", "b"]) == ["a", "a", "", "", "", "b"]


def test_half_surrogates_become_replacement_signs_and_split_pairs_are_joined() -> None:
    assert without_lone_surrogates("a\ud83db") == "a\ufffdb"
    assert without_lone_surrogates("\ud83d\ude00") == "\U0001f600"


@given(st.text(st.characters(codec=None)))
def test_cleaned_text_can_always_be_encoded_and_holds_no_escape(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode("utf-8")
    assert "\x1b" not in cleaned
    assert "\r" not in cleaned


def test_ten_megabytes_of_hostile_text_are_cleaned_in_seconds() -> None:
    for text in (f"{ESC}]" * 1_000_000, f"{ESC}[" * 1_000_000, "x\r" * 1_000_000):
        quick(partial(clean, text), 5)


@given(st.text("ab\r\b", max_size=40))
def test_what_is_left_of_a_line_is_what_a_terminal_of_one_line_shows(line: str) -> None:
    shown: list[str] = []
    column = 0
    for sign in line:
        if sign == "\r":
            column = 0
        elif sign == "\b":
            column = max(0, column - 1)
        else:
            shown[column : column + 1] = [sign]
            column += 1
    assert overwrite(line) == "".join(shown)


def test_13_13_what_is_written_over_is_gone_before_it_is_looked_at_piece_by_piece() -> None:
    assert OVERTYPED.sub("", "x\b" * 1_000 + "y") == "y"
    assert overwrite("x\b" * 1_000_000 + "y") == "y"
