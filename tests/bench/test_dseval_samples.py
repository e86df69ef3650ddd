"""DSEval in real kernels: the reference passes, mistakes get their verdict, sessions go on."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from small_dseval import write_dseval

from cellwright.bench.agents import Agent, open_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import (
    InfrastructureError,
    Job,
    Laboratory,
    Runner,
    RunnerOptions,
    attempt,
)
from cellwright.bench.suites import Suite
from cellwright.bench.suites.dseval import load, load_with_errors
from cellwright.exports.sample import SampleRecord
from cellwright.stopping import Stop

pytestmark = pytest.mark.usefixtures("forked_kernels")

ANSWERS = {
    ("orders", 2): "m = orders.price.mean()\nprint(m)",
    ("orders", 3): "orders['is_dear'] = orders.price > 99",
    ("rounding", 1): "def halved(table):\n    return table / 0.5",
}


@pytest.fixture
def answers(tmp_path: Path) -> Agent:
    """Recorded answers, as DSEval's own results have them."""
    rows = [
        {"benchmark": "Shop", "problemset": name, "index": index, "code": code}
        for (name, index), code in ANSWERS.items()
    ]
    path = tmp_path / "results.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return open_agent(f"answers:{path}")


def run(suite: Suite, index: str, agent: Agent, rooms: Rooms | None = None) -> SampleRecord:
    item = next(item for item in suite.items if item.index == index)
    return attempt(Job(suite, item, agent), Laboratory(rooms or Rooms({})), Stop())


@pytest.mark.kernel
def test_the_reference_is_correct_in_the_namespace_of_those_before_it(tmp_path: Path) -> None:
    found = run(load(write_dseval(tmp_path)), "shop/orders/3", open_agent("oracle"))
    assert [(score.value, score.explanation) for score in found.scores] == [(1.0, "CORRECT")]
    assert (found.task.session, found.task.step) == ("shop/orders", 3)


@pytest.mark.kernel
def test_a_recorded_answer_gets_its_verdict(tmp_path: Path, answers: Agent) -> None:
    (score,) = run(load(write_dseval(tmp_path)), "shop/orders/2", answers).scores
    assert (score.value, score.passed, score.error) == (0.5, False, "")
    assert score.explanation.startswith("PRESENTATION_ERROR MISSING_RETURN")


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("index", "why"),
    [
        ("shop/absent/1", "no file absent.csv"),
        ("shop/broken/1", "The reference does not run here: ZeroDivisionError"),
    ],
)
def test_what_cannot_be_run_is_kept_out_of_the_total(index: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(InfrastructureError, match=why) as caught:
        run(load(write_dseval(tmp_path)), index, open_agent("oracle"))
    assert (caught.value.word, caught.value.retryable) == ("START_FAILED", False)


@pytest.mark.kernel
def test_with_errors_the_session_runs_in_order_and_shows_its_own_cells(
    tmp_path: Path, answers: Agent
) -> None:
    suite = load_with_errors(write_dseval(tmp_path))
    suite = replace(suite, items=tuple(i for i in suite.items if i.session == "shop/orders")[1:])
    laboratory = Laboratory(Rooms({}))
    jobs = [Job(suite, item, answers) for item in suite.items]
    ended: list[SampleRecord] = []

    def one(job: Job, stop: Stop) -> SampleRecord:
        sample = attempt(job, laboratory, stop)
        ended.append(sample)
        return sample

    Runner(tmp_path / "out", one, RunnerOptions(workers=2)).run(jobs)
    assert [sample.task.step for sample in ended] == [2, 3]
    assert ANSWERS["orders", 2] in ended[1].input
    assert "\norders.price.mean()\n" not in ended[1].input
