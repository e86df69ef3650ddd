"""Typed questions in a real kernel: variables in, checked variables out."""

from __future__ import annotations

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel

pytestmark = pytest.mark.kernel
SETUP = "import pandas as pd\ndf = pd.DataFrame({'item': ['a', 'b'], 'price': [2.0, 1.0]})"
CELL = "%%agent --mode auto df, question -> answer: str, best: DataFrame\nWhich is cheapest?"


def test_004_40_results_become_variables_of_the_kernel(fresh: LiveKernel) -> None:
    fresh.run(SETUP, answers=[])
    script = [
        tool_call("run_cell", {"code": "top = df.nsmallest(1, 'price')"}, id="a"),
        tool_call("hand_in", {"values": {"answer": "b is.", "best": "top"}}, id="b"),
    ]
    fresh.run(CELL, script, answers=[])
    asked = fresh.service.requests[0].messages[1]["content"]
    assert asked.startswith("Which is cheapest?")
    assert fresh.last_run.status == "completed"
    assert fresh.value("answer") == "'b is.'"
    assert fresh.value("best.item.tolist()") == "['b']"


def test_004_40_a_wrong_type_twice_leaves_no_variable(fresh: LiveKernel) -> None:
    fresh.run(f"answer = best = None\ndel answer, best\n{SETUP}", answers=[])
    wrong = {"values": {"answer": "b", "best": "df.head()"}}
    script = [tool_call("hand_in", wrong, id=name) for name in "ab"]
    fresh.run(CELL, script, answers=[])
    assert fresh.last_run.status == "agent validation failed"
    assert fresh.value("'best' in globals() or 'answer' in globals()") == "False"


def test_a_misspelt_variable_is_an_error_before_any_request(fresh: LiveKernel) -> None:
    fresh.run(SETUP, answers=[])
    for cell in ("df_typo -> n: int", "df_typo, question -> n: int"):
        shown = fresh.run(f"%%agent {cell}\nHow many rows?", [text("never")], answers=[])
        assert "There is no variable 'df_typo'. Did you mean 'df'?" in shown.stderr
        assert fresh.service.requests == []


def test_004_40_an_undefined_input_is_one_line_and_no_request(fresh: LiveKernel) -> None:
    fresh.run(SETUP, answers=[])
    shown = fresh.run("%agent dff -> x: int", [text("never")], answers=[])
    assert "There is no variable 'dff'. Did you mean 'df'?" in shown.stderr
    assert fresh.service.requests == []
