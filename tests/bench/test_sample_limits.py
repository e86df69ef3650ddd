"""Limits of cells and of their output end a run; what it did counts."""

from __future__ import annotations

import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.bench.agents import model_agent
from cellwright.bench.checks import AnswerCheck
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Item, Suite
from cellwright.settings import Limits
from cellwright.stopping import Stop

pytestmark = pytest.mark.usefixtures("forked_kernels")


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("limits", "cause", "reason"),
    [
        (Limits(cell_limit=2), "cell_limit", "The run ran 2 of 2 cells."),
        (
            Limits(output_limit_bytes=1_000),
            "output_limit",
            "The cells put out 1,001 of 1,000 bytes.",
        ),
    ],
)
def test_cells_and_their_output_have_an_end(limits: Limits, cause: str, reason: str) -> None:
    one = calls(("run_cell", {"code": "x = 1"}))
    other = calls(("run_cell", {"code": "print('.' * 1_000)"}), start=1)
    item = Item("one", "x", limits=limits, checks=(AnswerCheck(exact="never"),))
    agent = model_agent(ScriptedLM([one, other, says("never")]), "scripted")
    found = attempt(Job(Suite("s", (item,)), item, agent), Laboratory(Rooms({})), Stop())
    assert (found.status, found.limit, found.error) == ("task limit reached", cause, reason)
    assert len(found.cells) == 2
