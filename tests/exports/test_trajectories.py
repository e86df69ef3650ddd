"""Samples as trajectories in ATIF; Harbor's own models read them in ``tests/foreign``."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

from recorded_runs import SYSTEM, analysis_run, called, record_of, replied, started, user

from cellwright.exports.formats import export_samples, write_run
from cellwright.exports.sample import SampleRecord, SampleTask, Score
from cellwright.exports.sampling import sample_of
from cellwright.exports.trajectories import read, trajectory_of
from cellwright.record.events import ModelAsked, RunFinished
from cellwright.record.messages import (
    AssistantMessage,
    ImagePart,
    Message,
    TextPart,
    ToolCall,
    ToolMessage,
)
from cellwright.text.redaction import Redactor

PNG = base64.b64encode(b"\x89PNG picture").decode()
SAMPLE = replace(
    sample_of(record_of(analysis_run()), "t:1:1", whole=True),
    suite="t",
    agent="oracle",
    task=SampleTask("t", 1),
    scores=(Score("best", 1.0, passed=True), Score("mean", None, passed=False, error="crashed")),
    usage={"prompt_tokens": 1000, "completion_tokens": 40},
    cost_dollars=0.25,
)


def made_of(*messages: Message) -> SampleRecord:
    return sample_of(
        record_of(
            [
                started(),
                ModelAsked(1, (SYSTEM, user("Look"))),
                replied(called("c1")),
                ModelAsked(2, messages),
                replied(AssistantMessage("Done.")),
                RunFinished("completed", "Done."),
            ]
        ),
        "t:1:1",
        whole=True,
    )


def test_a_reply_is_a_step_with_its_calls_their_results_and_its_tokens() -> None:
    document = trajectory_of(SAMPLE, "t-1", {})
    steps = document["steps"]
    assert document["schema_version"] == "ATIF-v1.7"
    assert [step["step_id"] for step in steps] == [*range(1, len(steps) + 1)]
    assert [step["source"] for step in steps] == ["system", "user", *["agent"] * 4]
    first = steps[2]
    (call,) = first["tool_calls"]
    (result,) = first["observation"]["results"]
    assert call["function_name"] == "run_cell"
    assert result["source_call_id"] == call["tool_call_id"]
    assert first["metrics"]["prompt_tokens"] == 100
    assert first["llm_call_count"] == 1
    assert "observation" not in steps[-1]
    assert steps[-1]["message"] == SAMPLE.result
    assert document["final_metrics"] == {
        "total_prompt_tokens": 1000,
        "total_completion_tokens": 40,
        "total_cost_usd": 0.25,
        "total_steps": len(steps),
    }
    (tool, *_) = document["agent"]["tool_definitions"]
    assert (tool["type"], tool["function"]["name"]) == ("function", "run_cell")
    assert [score["value"] for score in document["extra"]["scores"]] == [1.0, None]


def test_pictures_are_files_beside_it(tmp_path: Path) -> None:
    parts = (TextPart("a plot"), ImagePart("image/png", PNG), ImagePart("image/png", "n"))
    sample = made_of(ToolMessage("c1", "run_cell", parts))
    (path, picture, *others) = export_samples(
        "atif", {"oracle/t": lambda: iter([replace(sample, task=SampleTask("t", "one"))])}, tmp_path
    )
    assert (path.name, picture.name) == ("one.trajectory.json", "one.picture-1.png")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert [other.name for other in others] == ["index.html"]
    steps = json.loads(path.read_text())["steps"]
    (result,) = next(step["observation"] for step in steps if "observation" in step)["results"]
    assert result["content"] == [
        {"type": "text", "text": "a plot"},
        {"type": "image", "source": {"media_type": "image/png", "path": picture.name}},
        {"type": "text", "text": "[image/png]"},
    ]
    files = write_run(record_of(analysis_run()), "atif", tmp_path / "r.json", Redactor({}))
    assert next(read(files[0])).status == "completed"


def test_what_a_reply_called_wrongly_is_a_call_with_its_text() -> None:
    sample = made_of(ToolMessage("strange", "run_cell", (TextPart("no"),), is_error=True))
    broken = AssistantMessage("", (ToolCall("c1", "run_cell", "[1]"),))
    record = record_of([started(), ModelAsked(1, (user("x"),)), replied(broken)])
    (call,) = trajectory_of(sample_of(record, "b", whole=True), "b", {})["steps"][-1]["tool_calls"]
    assert (call["arguments"], call["extra"]) == ({}, {"not_an_object": "[1]"})
    found = [
        step["observation"]
        for step in trajectory_of(sample, "s", {})["steps"]
        if "observation" in step
    ]
    # A result of a call that nobody made names none: readers refuse one that they cannot find.
    assert found == [{"results": [{"content": "no", "extra": {"is_error": True}}]}]
