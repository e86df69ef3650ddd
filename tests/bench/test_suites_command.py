"""Suites with sessions and judges, as people start them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Shell
from fake_service import MODEL, FakeService, text
from small_dseval import write_dseval

from cellwright.bench.results import ResultFiles
from cellwright.commands.bench_running import BenchPlan, write_plan
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask

MINE = 'orders = pd.read_csv("inputs/orders.csv")  # mine'
JUDGED = "prompt: Say hello.\nchecks:\n  - judge: Is it friendly?\n    pass_at: 0.5\n"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"})


@pytest.mark.kernel
def test_a_session_that_is_gone_on_with_remembers_what_the_agent_did(shell: Shell) -> None:
    write_dseval(shell.folder / "data")
    line = {"benchmark": "Shop", "problemset": "orders", "index": 2, "code": "orders.price.mean()"}
    (shell.folder / "mine.jsonl").write_text(json.dumps(line))
    agents, only = ("answers:mine.jsonl",), ("shop/orders/1", "shop/orders/2")
    plan = BenchPlan("dseval-errors", "data", agents, only=only, kernels="fresh")
    write_plan(shell.folder / "out", plan)
    refused = shell.run("bench", "resume", "out", "--executor", "dask")
    assert (refused.code, "run in one process" in refused.err) == (2, True), refused.err
    files = ResultFiles(shell.folder / "out", "answers:mine.jsonl", "dseval-errors")
    task = SampleTask("dseval-errors", "shop/orders/1", "shop/orders", 1)
    files.add(
        SampleRecord(
            "dseval-errors:'shop/orders/1':1",
            agent="answers:mine.jsonl",
            task=task,
            cells=(SampleCell("c", "agent", MINE),),
            status="completed",
        )
    )
    done = shell.run("bench", "resume", "out", "--json")
    assert (done.document["passed"], done.document["total"]) == (1, 2), done.err
    assert MINE in list(files.samples())[1].input


def test_a_judge_is_named_and_asked_again_when_a_benchmark_is_scored_again(shell: Shell) -> None:
    (shell.folder / "tasks").mkdir()
    (shell.folder / "tasks" / "hello.yaml").write_text(JUDGED)
    script = [text('{"score": 0.9, "reason": "Warm."}'), text('{"score": 0.1, "reason": "Cold."}')]
    with FakeService(script) as service:
        asking = shell.asking(service)
        options = ("--agent", "noop", "--judge", MODEL, "--kernels", "fresh", "-o", "out", "--json")
        done = asking.run("bench", "run", "tasks", *options)
        assert done.document["passed"] == 1, done.err
        again = asking.run("bench", "rescore", "out", "--json")
        assert again.document["passed"] == 0, again.err
    (sample,) = ResultFiles(shell.folder / "out", "noop", "tasks").samples()
    assert sample.scores[0].explanation.startswith("0.1: Cold. (judged by")
