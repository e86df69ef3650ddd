"""Words of short texts, in English and Chinese, and what makes two texts the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cellwright.knowledge.memory.ranking import (
    covered,
    fingerprint,
    likeness,
    same_subject,
    tidy,
    words_of,
)


@pytest.mark.parametrize(
    "other",
    ["use POLARS", "  Use\n polars. ", "Ｕｓｅ　polars", "“Use polars!”", "use\u200b polars"],
)
def test_002_11_texts_that_differ_in_signs_alone_have_one_fingerprint(other: str) -> None:
    assert fingerprint(other) == fingerprint("Use polars")


def test_002_11_other_words_have_another_fingerprint() -> None:
    assert fingerprint("Use polars") != fingerprint("Never use polars")


def test_a_text_is_about_its_words_without_endings_and_filling() -> None:
    assert words_of("The regions' sales, and my companies") == {"region", "sale", "company"}
    assert words_of("我们的财年从四月开始") == {"财年", "四月", "月开", "开始"}
    assert words_of("以后都用 polars") == {"polar"}
    assert words_of("use it") == frozenset()


def test_likeness_goes_from_nothing_in_common_to_the_same_words() -> None:
    april, july = "Our fiscal year starts in April", "The fiscal year starts in July"
    assert likeness(april, "Fiscal year: starts in April!") == 1.0
    assert 0.5 <= likeness(april, july) < 1.0
    assert likeness(april, "Use polars") == 0.0
    assert likeness("it", "the") == 0.0


def test_texts_have_one_subject_when_each_names_what_the_other_begins_with() -> None:
    assert same_subject("Our fiscal year starts in April", "The fiscal year starts in July")
    assert same_subject("我们的财年从四月开始", "财年从七月开始")
    assert not same_subject("Column amt of sales is in euros", "Column tax of sales is in euros")
    assert not same_subject("it", "the")


def test_what_is_covered_is_counted_in_the_words_of_the_part() -> None:
    assert covered("polars", "Always use polars for tables") == 1.0
    assert covered("polars and seaborn", "use polars") == 0.5
    assert covered("it", "use polars") == 0.0


@given(st.text(max_size=60))
def test_a_tidy_text_is_one_line_and_stays_as_it_is(text: str) -> None:
    once = tidy(text)
    assert "\n" not in once
    assert tidy(once) == once
    assert fingerprint(once) == fingerprint(text)
