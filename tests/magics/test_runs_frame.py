"""Runs as a table that is narrowed down and put in order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cellwright.record.messages import Usage
from cellwright.store.runs import RunSummary
from cellwright_magics.runs_widget import ORDERS, narrowed, runs_frame, table_html

FIRST = RunSummary(
    "20261121-093015-ab12cd", "completed", "Plot <b>sales</b>", "small", "magic", 1_795_253_415.0,
    2.0, Usage(100, 10), 0.5,
)  # fmt: skip
SECOND = replace(
    FIRST, run_id="20261121-093016-ab12ce", status="cancelled", prompt="Sum (all)",
    model="large", started_at=FIRST.started_at + 60, duration_seconds=9.0, usage=Usage(5000, 1),
    cost_dollars=None,
)  # fmt: skip
FRAME = runs_frame([SECOND, FIRST])


def runs(words: str = "", status: str = "", order: str = "newest") -> list[str]:
    return list(narrowed(FRAME, words, status, order)["prompt"])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("", ["Sum (all)", "Plot <b>sales</b>"]),
        ("PLOT small", ["Plot <b>sales</b>"]),
        ("(all", ["Sum (all)"]),
        ("ab12cd", ["Plot <b>sales</b>"]),
        ("plot large", []),
    ],
)
def test_all_words_have_to_be_there_as_they_stand(words: str, found: list[str]) -> None:
    assert runs(words) == found


def test_a_status_narrows_too() -> None:
    assert runs(status="cancelled") == ["Sum (all)"]


@pytest.mark.parametrize("order", list(ORDERS))
def test_each_order_puts_the_runs_so(order: str) -> None:
    first = "Plot" if order in ("oldest", "most expensive") else "Sum"
    assert runs(order=order)[0].startswith({"status": "Sum"}.get(order, first))


def test_the_table_is_escaped_and_leaves_unknown_costs_empty() -> None:
    page = table_html(FRAME)
    assert "Plot &lt;b&gt;sales&lt;/b&gt;" in page
    assert "<td>0.5000</td>" in page
    assert "<td></td>" in page
    assert "5,001" in page
    assert "2026-" in page


def test_no_run_is_a_sentence() -> None:
    assert table_html(runs_frame([])) == "<p>No run fits.</p>"
    assert narrowed(runs_frame([]), "word", "completed", "newest").empty
