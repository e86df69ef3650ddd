"""Every kind of agent, once from end to end: a service or a file, the loop, a kernel, a score."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_service import MODEL, FakeService, text, tool_call

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.checks import Variable
from cellwright.bench.environments import Rooms
from cellwright.bench.results import ResultFiles
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Item, Suite
from cellwright.exports.sample import SampleRecord
from cellwright.llm.openai import OpenAILM
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
ITEM = Item(
    "mean",
    "Put the mean of n into m.",
    setup=("n = [1, 3]",),
    checks=(Variable("m", 2),),
    reference=("m = sum(n) / len(n)",),
)
SUITE = Suite("means", (ITEM,))


def run(agent: Agent) -> SampleRecord:
    return attempt(Job(SUITE, ITEM, agent), Laboratory(Rooms({})), Stop())


def test_the_real_agent_is_recorded_and_replayed_to_the_same_score(tmp_path: Path) -> None:
    script = [tool_call("run_cell", {"code": "m = sum(n) / 2"}), text("m is 2.")]
    with FakeService(script) as service:
        lm = OpenAILM(service.settings())
        found = run(model_agent(lm, MODEL, service.base_url))
        lm.close()
        assert "Put the mean of n into m." in str(service.requests[0].messages)
    assert (found.passed, found.result, found.agent) == (True, "m is 2.", MODEL)
    files = ResultFiles(tmp_path, MODEL, "means")
    files.add(found)
    again = run(open_agent(f"replay:{files.runs}"))
    assert (again.passed, again.result) == (True, "m is 2.")
    assert [cell.source for cell in again.cells] == [cell.source for cell in found.cells]


def test_oracle_passes_and_noop_does_not() -> None:
    assert run(open_agent("oracle")).passed
    assert [score.value for score in run(open_agent("noop")).scores] == [0.0]


def test_recorded_answers_are_run_as_cells(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text(json.dumps({"index": "mean", "answer": "```python\nm = 2\n```"}) + "\n")
    found = run(open_agent(f"answers:{path}"))
    assert (found.passed, found.agent) == (True, "answers:some.jsonl")
