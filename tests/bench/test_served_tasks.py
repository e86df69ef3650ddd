"""A task of AgentBench's kind, served over HTTP and run to its end."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from served_tasks import run_task

from cellwright.bench.results import read_lines
from cellwright.bench.task import (
    AgentOutput,
    ChatHistoryItem,
    SampleIndex,
    SampleStatus,
    Session,
    TaskOutput,
    TaskSampleExecutionResult,
    VirtualTask,
)
from cellwright.errors import RunCancelled, SetupError
from cellwright.stopping import Stop


class Watched(VirtualTask):
    """Knows how many of its samples ran at a time, and how often it was let go."""

    def __init__(self, concurrency: int = 2) -> None:
        super().__init__("watched", concurrency)
        self.now = self.most = self.released = 0
        self.summed: list[TaskOutput] = []

    async def start_sample(self, index: SampleIndex, session: Session) -> Any:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        result = await super().start_sample(index, session)
        self.now -= 1
        return result

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        self.summed = results
        return super().calculate_overall(results)

    def release(self) -> None:
        self.released += 1


def polite(history: list[ChatHistoryItem]) -> AgentOutput:
    return AgentOutput(content="Yes.")


def test_a_task_leaves_agentbenchs_files_and_is_let_go_once(tmp_path: Path) -> None:
    task = Watched()
    assert run_task(task, polite, tmp_path, agent="polite") == {"score": 0.4}
    folder = tmp_path / "polite" / "watched"
    lines = list(read_lines(folder / "runs.jsonl"))
    assert sorted(line["index"] for line in lines) == list(range(10))
    assert lines[0]["output"]["history"][:2] == [
        {"role": "user", "content": "Turn 0"},
        {"role": "agent", "content": "Yes."},
    ]
    overall = json.loads((folder / "overall.json").read_text())
    assert (overall["total"], overall["custom"]) == (10, {"score": 0.4})
    assert overall["validation"]["completed"] == 1.0
    assert overall["validation"]["average_history_length"] == 6
    assert (task.most, task.released) == (2, 1)
    assert task.summed[0].history == [
        ChatHistoryItem(role=role, content=text)  # type: ignore[arg-type]
        for turn in range(3)
        for role, text in (("user", f"Turn {turn}"), ("agent", "Yes."))
    ]


def test_what_was_run_is_not_run_again(tmp_path: Path) -> None:
    asked: list[int] = []

    def counting(history: list[ChatHistoryItem]) -> AgentOutput:
        asked.append(1)
        return AgentOutput(content="Yes.")

    run_task(Watched(), counting, tmp_path)
    run_task(Watched(), counting, tmp_path)
    assert len(asked) == 30


def test_a_recorded_sample_that_the_task_no_longer_has_is_not_summed_up(tmp_path: Path) -> None:
    class Fewer(Watched):
        def get_indices(self) -> list[SampleIndex]:
            return [1]

    run_task(Watched(), polite, tmp_path)
    fewer = Fewer()
    run_task(fewer, polite, tmp_path)
    assert [output.index for output in fewer.summed] == [1]


def test_a_result_that_is_no_json_is_made_so(tmp_path: Path) -> None:
    class Odd(Watched):
        async def start_sample(self, index: SampleIndex, session: Session) -> Any:
            odd: Any = {"count": np.int64(3), "nan": float("nan"), "set": {1}}
            return TaskSampleExecutionResult(status=SampleStatus.COMPLETED, result=odd)

    task = Odd()
    run_task(task, polite, tmp_path)
    assert task.summed[0].result == {"count": 3, "nan": None, "set": [1]}


def test_a_task_that_cannot_be_run_is_let_go_too(tmp_path: Path) -> None:
    class Twice(Watched):
        def get_indices(self) -> list[SampleIndex]:
            return [1, 1]

    task = Twice()
    with pytest.raises(SetupError, match="index 1 twice"):
        run_task(task, polite, tmp_path)
    assert task.released == 1
    stop, stopped = Stop(), Watched()
    stop.set()
    with pytest.raises(RunCancelled):
        run_task(stopped, polite, tmp_path, stop=stop)
    assert stopped.released == 1
