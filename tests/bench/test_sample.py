"""A run as a sample: what is kept of it, and that nothing is lost on the way to a file."""

from __future__ import annotations

import json

import pytest
from event_strategies import values_of
from hypothesis import given, settings
from recorded_runs import RUN_ID, analysis_run, record_of, started

from cellwright.bench.sample import SampleRecord, Score, sample_of
from cellwright.events import CellStarted, RunFinished


@settings(deadline=None, max_examples=60)
@given(values_of(SampleRecord))
def test_a_sample_comes_back_from_json_as_it_was(record: SampleRecord) -> None:
    text = json.dumps({**record.to_dict(), "schema": "cellwright.sample/1"})
    again = SampleRecord.from_dict(json.loads(text))
    assert again.to_dict() == json.loads(text)
    assert SampleRecord.from_dict(again.to_dict()) == again


def test_a_run_becomes_a_sample_with_its_messages_cells_and_costs() -> None:
    sample = sample_of(record_of(analysis_run()), "s-1")
    assert (sample.run_id, sample.status, sample.result) == (
        RUN_ID,
        "completed",
        "North sold **most**.",
    )
    assert [message["role"] for message in sample.messages[:3]] == ["system", "user", "assistant"]
    assert [cell.status for cell in sample.cells] == ["ok", "error", "ok"]
    assert sample.cells[1].error == "KeyError: 'regoin'"
    assert sample.cells[2].outputs[0]["output_type"] == "execute_result"
    assert sample.setup == ("x = 1",)
    assert sample.usage["prompt_tokens"] == 1000
    assert sample.files == {"sales.csv": "ab" * 32}
    assert "packages" not in sample.env
    assert sample_of(record_of(analysis_run()), "s", packages=True).env["packages"] == {
        "pandas": "3.1.1"
    }


def test_a_limit_is_named_and_a_reason_is_kept() -> None:
    ended = RunFinished("task limit reached", reason="12 steps.", cause="step_limit")
    sample = sample_of(record_of([started(), ended]), "s")
    assert (sample.limit, sample.error) == ("step_limit", "12 steps.")


def test_a_cell_that_had_not_ended_has_no_status() -> None:
    events = analysis_run()
    started_at = next(n for n, e in enumerate(events) if isinstance(e, CellStarted))
    events = events[: started_at + 1]
    sample = sample_of(record_of(events), "s")
    assert sample.status == "running"
    assert [cell.status for cell in sample.cells] == [""]


def test_a_sample_passes_when_all_its_checks_do_and_there_are_some() -> None:
    right, wrong = Score("a", 1.0, passed=True), Score("b", None, passed=False, error="crashed")
    assert SampleRecord("s", scores=(right,)).passed
    assert not SampleRecord("s", scores=(right, wrong)).passed
    assert not SampleRecord("s").passed


def test_another_schema_is_refused() -> None:
    with pytest.raises(ValueError, match="cellwright.sample/1"):
        SampleRecord.from_dict({"id": "s", "schema": "other/1"})
