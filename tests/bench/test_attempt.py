"""Samples in real kernels: what passes, what fails, and what is nobody's failure but ours."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.checks import Assertion, Variable
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import InfrastructureError, Job, Laboratory, attempt, rescored
from cellwright.bench.suites import Item, Suite
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import (
    KernelNotReadyError,
    LMAccessError,
    LMConnectionError,
    LMContextError,
    LMServerError,
    RunCancelled,
)
from cellwright.exports.agentbench import line_of
from cellwright.exports.sample import SampleRecord
from cellwright.record.messages import Price
from cellwright.settings import Limits, Settings
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
EXAMPLES = Path(__file__).parents[2] / "examples" / "bench"
LABORATORY = Laboratory(Rooms({}))
ITEM = Item(
    "one", "Set x to 1.", setup=("y = 2",), checks=(Variable("x", 1),), reference=("x = 1",)
)


def run(agent: Agent, item: Item = ITEM, laboratory: Laboratory = LABORATORY) -> SampleRecord:
    return attempt(Job(Suite("s", (item,)), item, agent), laboratory, Stop())


def scripted(*script: object) -> Agent:
    return model_agent(ScriptedLM(script), "scripted")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["best_region", "growth", "cleaned_file"])
def test_the_oracle_passes_and_noop_fails_each_sample_that_is_shipped(name: str) -> None:
    suite = open_suite(str(EXAMPLES))
    item = next(item for item in suite.items if item.index == name)
    right = attempt(Job(suite, item, open_agent("oracle")), LABORATORY, Stop())
    assert right.passed, right.scores
    wrong = attempt(Job(suite, item, open_agent("noop")), LABORATORY, Stop())
    assert (wrong.status, wrong.passed) == ("completed", False)
    assert line_of(right)["output"]["status"] == "completed"


def test_a_sample_keeps_who_what_and_how(tmp_path: Path) -> None:
    found = run(open_agent("oracle"))
    assert (found.agent, found.suite, found.task.index) == ("oracle", "s", "one")
    assert (found.setup, found.target, found.input) == (("y = 2",), "x = 1", "Set x to 1.")
    assert [cell.source for cell in found.cells] == ["x = 1"]
    assert found.id == "s:'one':1"


def test_a_model_is_scored_on_what_it_left_in_the_kernel() -> None:
    found = run(scripted(calls(("run_cell", {"code": "x = 1"})), says("x is 1.")))
    assert (found.passed, found.result) == (True, "x is 1.")
    assert found.usage["prompt_tokens"] == 200


def test_what_cells_do_anew_is_scored_where_the_sample_does_not_say_live(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    code = f"import os\nx = int(not os.path.exists({mark!r}))\nopen({mark!r}, 'w').close()"
    agent = [calls(("run_cell", {"code": code})), says("x is 1.")]
    assert run(scripted(*agent), replace(ITEM, is_live=True)).passed
    os.remove(mark)
    found = run(scripted(*agent), ITEM)
    assert [score.explanation for score in found.scores] == ["x: it is 0, not 1"]


def test_a_cell_that_fails_only_anew_is_said(tmp_path: Path) -> None:
    mark = str(tmp_path / "mark")
    agent = [calls(("run_cell", {"code": f"open({mark!r}, 'x')\nx = 1"})), says("Done.")]
    (score,) = run(scripted(*agent)).scores
    assert (score.value, score.explanation[:60]) == (
        0.0,
        "x: it is not there; run anew, a cell fails: FileExistsError:",
    )


def test_a_right_result_past_a_limit_is_a_limit_and_a_pass() -> None:
    item = replace(ITEM, limits=Limits(step_limit=1))
    found = run(scripted(calls(("run_cell", {"code": "x = 1"})), says("So far.")), item)
    assert (found.status, found.limit, found.passed) == ("task limit reached", "step_limit", True)


@pytest.mark.parametrize("cells", [1, 2])
def test_a_kernel_that_the_agents_code_ends_is_the_agents_failure(cells: int) -> None:
    codes = ("import ctypes; ctypes.string_at(0)", "x = 1")[:cells]
    ran = (calls(("run_cell", {"code": code}), start=n) for n, code in enumerate(codes))
    found = run(scripted(*ran, says("Sorry.")))
    assert found.cells[0].status == "died"
    assert found.status in ("task error", "completed")
    assert (found.scores[0].value, found.passed) == (0.0, False)
    assert "did not survive" in found.scores[0].explanation
    assert rescored(found, ITEM, LABORATORY.rooms, Stop()) == found


def test_a_conversation_that_grew_too_long_is_the_agents_too() -> None:
    assert run(scripted(LMContextError("too long"))).status == "agent context limit"


@pytest.mark.parametrize(
    ("error", "word", "retryable"),
    [
        (LMConnectionError("no route"), "NETWORK_ERROR", True),
        (LMServerError("500"), "AGENT_FAILED", True),
        (LMAccessError("no key"), "AGENT_FAILED", False),
        (ValueError("ours"), "INTERACT_FAILED", True),
    ],
)
def test_a_service_that_fails_is_no_failure_of_the_agent(
    error: Exception, word: str, retryable: bool
) -> None:
    with pytest.raises(InfrastructureError) as caught:
        run(scripted(error))
    assert (caught.value.word, caught.value.retryable) == (word, retryable)


def test_a_service_that_fails_in_the_middle_says_what_was_paid() -> None:
    settings = Settings(prices={"scripted": Price(1e6, 0.0)})
    model = scripted(calls(("run_cell", {"code": "x = 1"})), LMServerError("500"))
    with pytest.raises(InfrastructureError) as caught:
        run(model, laboratory=replace(LABORATORY, settings=settings))
    assert caught.value.cost_dollars == 100.0


def test_what_keeps_a_sample_from_starting_is_told() -> None:
    with pytest.raises(InfrastructureError, match="Setup cell 1 failed") as caught:
        run(open_agent("oracle"), replace(ITEM, setup=("1 / 0",)))
    assert not caught.value.retryable
    with pytest.raises(InfrastructureError, match="no reference"):
        run(open_agent("oracle"), replace(ITEM, reference=()))

    def refuse(*given: object) -> object:
        raise KernelNotReadyError("no kernel today")

    with pytest.raises(InfrastructureError, match="no kernel today") as caught:
        run(open_agent("oracle"), laboratory=Laboratory(Rooms({}, start=refuse)))  # type: ignore[arg-type]
    assert (caught.value.word, caught.value.retryable) == ("START_FAILED", True)


def test_a_stopped_sample_does_not_count() -> None:
    stop = Stop()

    def stop_now(prompt: object) -> object:
        stop.set()
        return calls(("run_cell", {"code": "x = 1"}))

    with pytest.raises(RunCancelled):
        attempt(Job(Suite("s", (ITEM,)), ITEM, scripted(stop_now)), LABORATORY, stop)


INTERRUPTS_ITSELF = """
import signal
try:
    signal.raise_signal(signal.SIGINT)
except KeyboardInterrupt:
    x = {value}
"""


@pytest.mark.parametrize("is_live", [True, False])
@pytest.mark.parametrize("value", [1, 2])
def test_code_that_interrupts_itself_takes_no_sample_out_of_the_total(
    value: int, is_live: bool
) -> None:
    model = ScriptedLM(
        [calls(("run_cell", {"code": INTERRUPTS_ITSELF.format(value=value)})), says("Done.")]
    )
    found = run(model_agent(model, "scripted"), replace(ITEM, is_live=is_live))
    assert "The code interrupted itself." in str(model.prompts[-1])
    assert (found.status, found.passed) == ("completed", value == 1)


def test_scored_again_the_cells_run_anew_and_no_model_is_asked() -> None:
    cells = ("x = 1 / 0", "x = y - 1")
    found = run(
        scripted(
            *(calls(("run_cell", {"code": c}), start=n) for n, c in enumerate(cells)), says("ok")
        )
    )
    assert found.passed
    stricter = replace(ITEM, checks=(Assertion("assert x == 5, x"),))
    again = rescored(found, stricter, LABORATORY.rooms, Stop())
    assert [score.explanation for score in again.scores] == ["AssertionError: 1"]
    assert replace(again, scores=found.scores) == found
