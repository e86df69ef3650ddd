"""Limits of cells and of their output end a run; what it did counts."""

from __future__ import annotations

import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.bench.agents import model_agent
from cellwright.bench.checks import AnswerCheck, Variable
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


@pytest.mark.kernel
def test_a_cell_ends_with_the_time_of_its_run_and_has_no_more_when_it_is_scored() -> None:
    slow = calls(("run_cell", {"code": "import time\ntime.sleep(20)\nv = 1"}))
    item = Item("one", "x", limits=Limits(wall_seconds=3), checks=(Variable("v", 1),))
    agent = model_agent(ScriptedLM([slow, says("Done.")]), "scripted")
    found = attempt(Job(Suite("s", (item,)), item, agent), Laboratory(Rooms({})), Stop())
    assert (found.status, found.limit) == ("task limit reached", "time_limit")
    assert [cell.status for cell in found.cells] == ["timeout"]
    assert not found.passed
