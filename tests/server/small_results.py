"""Results of benchmarks in small, for tests of what reads them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.bench.results import ResultFiles
from cellwright.exports.sample import SampleRecord, SampleTask, SampleTime, Score
from cellwright.server.result_files import ResultPlaces
from cellwright.server.result_routes import ResultCache

PASSED = (Score("value", 1.0, True, "equal"),)
FAILED = (Score("value", 0.0, False, "it is 1, not 2"),)
BROKEN = (Score("value", None, False, error="NameError: x"),)


def sample(index: int | str, scores: tuple[Score, ...] = PASSED, **changes: Any) -> SampleRecord:
    """A small sample that was scored."""
    epoch, group = changes.pop("epoch", 1), changes.pop("group", "")
    made = SampleRecord(
        id=f"demo/{index}/{epoch}",
        task=SampleTask("demo", index, epoch=epoch, group=group),
        agent="m:one",
        model={"model": "one"},
        input=f"Question {index}",
        status="completed",
        scores=scores,
        usage={"prompt_tokens": 10, "completion_tokens": 5},
        cost_dollars=0.01,
        time=SampleTime(1_000.0, 2.0),
    )
    return replace(made, **changes)


def write(
    root: Path, *samples: SampleRecord, run: str = "runs/one", agent: str = "m"
) -> ResultFiles:
    """Results as a benchmark writes them."""
    files = ResultFiles(root / run, agent, "demo")
    for record in samples:
        files.add(record)
    return files


def shelf(root: Path) -> ResultCache:
    return ResultCache(ResultPlaces(root))
