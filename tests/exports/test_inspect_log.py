"""Samples as Inspect's log, read with Inspect itself."""

from __future__ import annotations

import math
import warnings
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import (
    SYSTEM,
    analysis_run,
    called,
    cell_run,
    record_of,
    replied,
    started,
    user,
)

from cellwright.bench.best_of import merge_attempts
from cellwright.bench.choosing import choose_attempt
from cellwright.errors import SetupError
from cellwright.exports import inspect_log
from cellwright.exports.inspect_log import eval_sample, usage_of
from cellwright.exports.sample import SampleRecord, SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.record.events import ModelAsked, RunFinished, ToolFinished
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Manifest,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)

SCORES = (
    Score("best", 1.0, passed=True),
    Score("best", 0.0, passed=False, explanation="it is 3"),
    Score("mean", None, passed=False, error="CheckError: crashed"),
)
SAMPLE = replace(
    sample_of(record_of(analysis_run()), "t:1:1", whole=True),
    suite="t",
    agent="gpt",
    task=SampleTask("t", 1, epoch=2, group="sales"),
    target="North",
    scores=SCORES,
    usage={"prompt_tokens": 1000, "completion_tokens": 40, "estimated": True},
)


@pytest.fixture(scope="module")
def log_api() -> Iterator[Any]:
    """Inspect's functions that read and write logs."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield pytest.importorskip("inspect_ai.log")


def hard_samples() -> list[SampleRecord]:
    """Runs with what logs rarely hold: pictures, thoughts, broken arguments, limits, errors."""
    picture = ImagePart("image/png", "AAAA", "map")
    told: tuple[Message, ...] = (SYSTEM, UserMessage((TextPart("see"), picture)))
    thought = AssistantMessage("so", (ToolCall("c1", "run_cell", "[1]"),), "I think", "no")
    failed = ToolMessage("c1", "run_cell", (TextPart("bad"), picture), is_error=True)
    schema = {"properties": {"code": {"type": "string", "description": "It."}, "n": True}}
    tools = (Manifest("run_cell", "Runs.", schema), Manifest("look", "", {}))
    events = [
        started(),
        ModelAsked(1, told, tools),
        replied(thought),
        *cell_run("c1", "a", "1")[:-1],
        ToolFinished("c1", "run_cell", failed, "error", 0.1),
        replied(AssistantMessage("end")),
        RunFinished("task limit reached", reason="12 steps.", cause="step_limit"),
    ]
    context = RunFinished("agent context limit", reason="long")
    broken = RunFinished("task error", reason="died", cause="kernel_died")
    return [
        sample_of(record_of(events), "hard"),
        sample_of(record_of([started(), context]), "long"),
        sample_of(record_of([started(), broken]), "broken"),
        sample_of(record_of([started(), replied(called("c9"))]), "cut"),
        replace(sample_of(record_of([started(), user_turn()]), "one"), task=SampleTask("t", 1)),
        replace(sample_of(record_of([started()]), "text"), task=SampleTask("t", "1")),
    ]


def user_turn() -> ModelAsked:
    return ModelAsked(1, (user("go"),))


def test_inspect_reads_what_we_write(log_api: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    inspect_log.write([SAMPLE, *hard_samples()], path)
    log = log_api.read_eval_log(str(path))
    assert (log.status, log.eval.task, log.eval.model) == ("success", "t", "demo-analyst")
    assert log.results.total_samples == 7
    by_name = {score.name: score for score in log.results.scores}
    assert by_name["passed"].metrics["mean"].value == 0.0
    assert by_name["mean"].unscored_samples == 1
    first = next(sample for sample in log.samples if sample.epoch == 2)
    assert (first.id, first.input, first.target) == (1, "Which region sold most?", "North")
    assert [event.event for event in first.events] == [
        "sample_init",
        *["model", "tool"] * 3,
        "model",
        "info",
        *["score"] * 4,
    ]
    asked = [event for event in first.events if event.event == "model"]
    assert [len(event.input) for event in asked] == [2, 4, 6, 8]
    assert asked[0].output.choices[0].stop_reason == "tool_calls"
    assert asked[0].output.usage.input_tokens_cache_read == 50
    assert asked[-1].output.completion == "North sold **most**."
    assert {"passed", "best", "best 2", "mean"} == set(first.scores)
    assert math.isnan(first.scores["mean"].value)
    assert first.scores["best 2"].explanation == "it is 3"


def test_inspect_reads_a_sample_that_was_chosen_of_several_attempts(
    log_api: Any, tmp_path: Path
) -> None:
    path = tmp_path / "log.eval"
    attempts = [replace(SAMPLE, scores=(Score("best", float(n), passed=n == 1),)) for n in (0, 1)]
    chosen = merge_attempts(attempts, choose_attempt("check", attempts), "t:1:2")
    inspect_log.write([chosen], path)
    (found,) = log_api.read_eval_log(str(path)).samples
    assert found.scores["passed"].value == 1.0
    assert "Attempt 2 of 2, chosen by check" in found.scores["chosen"].explanation
    (usage,) = found.model_usage.values()
    assert usage.total_tokens == 2 * (
        SAMPLE.usage["prompt_tokens"] + SAMPLE.usage["completion_tokens"]
    )
    assert list(inspect_log.read(path)) == [chosen]


def test_a_log_that_inspect_wrote_again_still_has_our_records(log_api: Any, tmp_path: Path) -> None:
    path, again = tmp_path / "log.eval", tmp_path / "again.eval"
    wanted = [SAMPLE, *hard_samples()]
    inspect_log.write(wanted, path)
    log_api.write_eval_log(log_api.read_eval_log(str(path)), str(again))
    found = {sample.id: sample for sample in inspect_log.read(again)}
    assert found == {sample.id: sample for sample in wanted}


def test_the_list_of_samples_is_short(log_api: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    inspect_log.write([SAMPLE, *hard_samples()], path)
    found = log_api.read_eval_log_sample_summaries(str(path))
    assert [summary.id for summary in found][:3] == [1, "hard", "long"] or len(found) == 7
    limits = {str(summary.id): summary.limit for summary in found if summary.limit}
    assert sorted(limits.values()) == ["context", "turn"]
    assert [summary.error for summary in found if summary.error] == ["died"]


def test_an_empty_log_is_a_log(log_api: Any, tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    inspect_log.write([], path)
    assert log_api.read_eval_log(str(path)).results.total_samples == 0
    assert list(inspect_log.read(path)) == []


def test_a_long_run_is_said_once() -> None:
    made = eval_sample(SAMPLE)
    assert len(made["events_data"]["messages"]) == len(SAMPLE.messages)
    refs = [event["input_refs"] for event in made["events"] if event["event"] == "model"]
    assert refs == [[[0, 2]], [[0, 4]], [[0, 6]], [[0, 8]]]
    assert all(event["input"] == [] for event in made["events"] if event["event"] == "model")


def test_a_sample_of_another_writer_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/1_epoch_1.json", '{"id": 1}')
    with pytest.raises(SetupError, match="not recorded by cellwright"):
        list(inspect_log.read(path))


def test_cached_tokens_are_not_counted_twice() -> None:
    usage = usage_of({"prompt_tokens": 100, "cached_tokens": 60, "completion_tokens": 5})
    assert (usage["input_tokens"], usage["total_tokens"]) == (40, 105)
