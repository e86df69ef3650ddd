"""Cutting the middle out of long text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cellwright.text.truncation import page_lines, shorten, token_count

LINES = "\n".join(f"line {n}" for n in range(1, 5_001))


def test_text_within_the_limit_stays_as_it_is() -> None:
    short = shorten("a\nb", 100, "c1")
    assert (short.text, short.was_cut) == ("a\nb", False)


def test_head_and_tail_stay_in_whole_lines_and_the_marker_says_how_to_read_on() -> None:
    short = shorten(LINES, 100, "c1")
    head, marker, tail = short.text.partition("\n[… ")
    assert short.was_cut
    assert head.splitlines()[0] == "line 1"
    assert short.text.splitlines()[-1] == "line 5000"
    assert all(line.startswith("line ") for line in head.splitlines())
    assert "characters, 4,955 lines left out" in tail
    first_left_out = len(head.splitlines()) + 1
    assert f'read_output("c1", {first_left_out}) shows them …]' in tail
    assert marker


def test_more_of_the_tail_stays_than_of_the_head() -> None:
    head, _, tail = shorten(LINES, 1_000, "c1").text.partition("[…")
    tail = tail.partition("…]")[2]
    assert 0.35 < len(head) / (len(head) + len(tail)) < 0.45


def test_one_endless_line_is_cut_inside_it() -> None:
    short = shorten("x" * 100_000, 100, "c1")
    assert short.text.startswith("x" * 100)
    assert short.text.endswith("x" * 100)
    assert '99,600 characters left out; read_output("c1") shows them' in short.text


def test_a_text_that_is_kept_nowhere_has_no_instruction() -> None:
    assert "read_output" not in shorten(LINES, 100, "").text


@given(st.text(max_size=3_000), st.integers(1, 200))
def test_a_cut_text_is_never_much_longer_than_its_limit(text: str, limit: int) -> None:
    assert token_count(shorten(text, limit, "c1").text) <= limit + 40


@given(st.text(max_size=3_000))
def test_pages_hold_every_character(text: str) -> None:
    assert "".join(page_lines(text)) == text.replace("\n", "")


def test_a_very_long_line_is_several_lines_of_a_page() -> None:
    assert [len(line) for line in page_lines("x" * 2_500 + "\ny")] == [1_000, 1_000, 500, 1]
