"""A task written for AgentBench, run to its end: its samples, its files, its own sum."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cellwright.bench.agents import Agent, Answerer, NoAnswerError
from cellwright.bench.results import ResultFiles, summed_by
from cellwright.bench.runner import Job, Runner, RunnerOptions, pending
from cellwright.bench.suites import Item, Suite
from cellwright.bench.task import (
    Ask,
    ChatHistoryItem,
    SampleStatus,
    Task,
    TaskOutput,
    checked_indices,
    run_sample,
)
from cellwright.exports.sample import SampleRecord, SampleTask, SampleTime
from cellwright.record.values import safe_json
from cellwright.stopping import Stop

ROLES = {"user": "user", "agent": "assistant"}


def run_task(
    task: Task, ask: Ask, root: Path, *, agent: str = "agent", stop: Stop | None = None
) -> dict[str, Any]:
    """Run what has not been run of a task; what its ``calculate_overall`` says of all of it.

    Args:
        task: The task; at most its ``concurrency`` samples run at a time, and ``release`` is
            called once, whatever happens.
        ask: The agent.
        root: Folder of the results, as AgentBench lays them out.
        agent: Its name there.
        stop: Ends it early; what had ended by then is kept.

    Raises:
        SetupError: An index is there twice.
        RunCancelled: ``stop`` was set.
    """
    try:
        jobs = _jobs(task, agent)
        files = ResultFiles(root, agent, task.name)
        _warn_of_strangers(files, jobs)
        runner = Runner(
            root, lambda job, ends: _sample(task, job, ask), RunnerOptions(workers=task.concurrency)
        )
        runner.run(pending(root, jobs), stop)
        custom = summed_by(task, [_output(sample) for sample in files.samples()])
        files.sum_up(custom)
        return custom
    finally:
        task.release()


def _jobs(task: Task, agent: str) -> list[Job]:
    items = tuple(Item(index, "") for index in checked_indices(task))
    suite = Suite(task.name, items, task.concurrency)
    return [Job(suite, item, Agent(agent, _nobody)) for item in items]


def _nobody(item: Item, epoch: int) -> Answerer:
    raise NoAnswerError("A task asks its agent itself.")


def _warn_of_strangers(files: ResultFiles, jobs: Sequence[Job]) -> None:
    strangers = files.finished() - {job.id for job in jobs}
    if strangers:
        warnings.warn(
            f"{len(strangers)} recorded samples are no longer in the task, such as "
            f"{sorted(strangers)[0]}.",
            stacklevel=3,
        )


def _sample(task: Task, job: Job, ask: Ask) -> SampleRecord:
    started = time.time()
    output = run_sample(task, job.item.index, ask)
    return SampleRecord(
        id=job.id,
        suite=task.name,
        task=SampleTask(task.name, job.item.index),
        agent=job.agent.name,
        messages=tuple(
            {"role": ROLES[item.role], "content": item.content} for item in output.history or ()
        ),
        status=output.status.value,
        result=safe_json(output.result),
        time=SampleTime(started, time.time() - started),
    )


def _output(sample: SampleRecord) -> TaskOutput:
    history = [
        ChatHistoryItem("user" if item["role"] == "user" else "agent", item["content"])
        for item in sample.messages
    ]
    status = SampleStatus(sample.status)
    return TaskOutput(sample.task.index, status, sample.result, history)
