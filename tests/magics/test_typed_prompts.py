"""The first line of ``%%agent``: which ones are signatures, and which are prompts."""

from __future__ import annotations

import pytest

from cellwright.agent.typed_answers import typed_answers_of
from cellwright.errors import SetupError


@pytest.mark.parametrize(
    ("prompt", "names", "body"),
    [
        ("df, question -> answer: str, best: DataFrame", "df question answer best", ""),
        ("df -> n: int\nHow many?\nAll of them.", "df n", "How many?\nAll of them."),
        ("df, question -> answer\nWhich?", "df question answer", "Which?"),
        ("-> chart: Figure", "chart", ""),
        ("a: list[int], b: dict[str, int] -> c: Literal['x', 'y'], d: int | None", "a b c d", ""),
        ("  df  ->  n : int ", "df n", ""),
    ],
)
def test_004_40_a_line_that_is_a_signature_is_one(prompt: str, names: str, body: str) -> None:
    found = typed_answers_of(prompt)
    assert found is not None
    assert " ".join(part.name for part in found.signature.parts) == names
    assert found.body == body


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "Plot revenue by month",
        "convert a -> b",
        "convert celsius -> fahrenheit in df\nplease",
        "celsius -> fahrenheit",
        "a -> b -> c\nbody",
        "Rename: old -> new",
        "what does `x -> y: int` mean?",
        "a, b ->",
        "use df: it has prices -> totals by month\nplease",
        "画图 -> 按月\n",
    ],
)
def test_004_40_a_line_with_an_arrow_may_be_a_prompt(prompt: str) -> None:
    assert typed_answers_of(prompt) is None


def test_004_40_a_type_that_is_not_known_is_an_error_and_no_prompt() -> None:
    with pytest.raises(SetupError, match="The type 'money' is not known"):
        typed_answers_of("df -> price: money")
