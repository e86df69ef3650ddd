"""The files of a benchmark: AgentBench's layout, safe against whoever is killed while writing."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recorded_runs import analysis_run, record_of

from cellwright.bench.agentbench.assigning import sum_up_by
from cellwright.bench.results import (
    Failure,
    ResultFiles,
    SharedValues,
    folder_name,
    list_damaged_lines,
    overall_of,
    read_lines,
    samples_in,
)
from cellwright.bench.task import SampleStatus, TaskOutput, VirtualTask
from cellwright.errors import SetupError
from cellwright.exports.agentbench import line_of
from cellwright.exports.sample import SampleRecord, SampleTask
from cellwright.exports.sampling import sample_of


def sample(index: int | str = 0, **changes: Any) -> SampleRecord:
    """A finished sample of a real run."""
    made = replace(
        sample_of(record_of(analysis_run()), f"t/{index}/1"), task=SampleTask("t", index)
    )
    return replace(made, **changes)


def read_as_agentbench(line: Mapping[str, Any]) -> None:
    """What AgentBench's reader asks of a line."""
    assert set(line) >= {"index", "error", "info", "output", "time"}
    assert isinstance(line["time"]["timestamp"], int)
    output = line["output"]
    words = {status.value for status in SampleStatus} - {"cancelled"}
    assert output["status"] in words
    assert all(set(item) == {"role", "content"} for item in output["history"])
    assert {item["role"] for item in output["history"]} <= {"user", "agent"}


def test_a_line_reads_as_agentbench_writes_it(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "oracle", "t")
    files.add(sample())
    (line,) = read_lines(tmp_path / "oracle" / "t" / "runs.jsonl")
    read_as_agentbench(line)
    assert line["output"]["history"][0]["role"] == "user"
    assert next(files.samples()) == SampleRecord.from_dict(sample().to_dict())


def test_what_samples_share_is_said_once(tmp_path: Path) -> None:
    files, words = ResultFiles(tmp_path, "a", "t"), "You work in a notebook. " * 20
    long = [{"role": "system", "content": words}, {"role": "user", "content": "go"}]
    both = [sample(n, messages=tuple(long), run={"limits": {"a": "x" * 200}}) for n in (1, 2)]
    for one in both:
        files.add(one)
    assert list(files.samples()) == both
    assert list(samples_in(files.runs)) == both
    text = files.runs.read_text()
    assert words not in text
    assert text.count('"shared"') == 4
    shared = files.folder / "shared.jsonl"
    assert len(shared.read_text().splitlines()) == 2
    with shared.open("a") as file:
        file.write('{"id": "torn')
    files.rewrite(iter(both))
    assert list(ResultFiles(tmp_path, "a", "t").samples()) == both
    shared.unlink()
    with pytest.raises(SetupError, match="Keep the files of a results folder together"):
        list(ResultFiles(tmp_path, "a", "t").samples())


def test_what_another_process_has_shared_is_found(tmp_path: Path) -> None:
    ours, theirs = SharedValues(tmp_path), SharedValues(tmp_path)
    first = ours.keep(["a"])
    second = theirs.keep({"b": 1})
    assert (ours.take(first), ours.take(second)) == (["a"], {"b": 1})
    assert theirs.keep(["a"]) == first
    assert len((tmp_path / "shared.jsonl").read_text().splitlines()) == 2


def test_cancelled_is_told_as_unknown_with_its_reason() -> None:
    line = line_of(sample(status="cancelled"))
    read_as_agentbench(line)
    assert line["output"]["result"]["reason"] == "cancelled"
    assert line["output"]["cellwright"]["status"] == "cancelled"


def test_a_torn_last_line_is_ignored_and_the_next_line_is_whole(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(sample(1))
    with files.runs.open("a") as file:
        file.write('{"index": 2, "outp')
    assert [s.task.index for s in files.samples()] == [1]
    files.add(sample(3))
    assert [s.task.index for s in files.samples()] == [1, 3]


def test_the_next_line_takes_the_place_of_a_torn_one_and_follows_a_whole_one(
    tmp_path: Path,
) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(sample(1))
    with files.runs.open("a") as file:
        file.write('{"index": 2, "outp' + "é" * 100_000)
    files.add(sample(3))
    files.runs.write_text(files.runs.read_text().rstrip("\n"))
    files.add(sample(4))
    lines = [json.loads(line) for line in files.runs.read_text().splitlines()]
    assert [line["index"] for line in lines] == [1, 3, 4]


def test_a_damaged_line_is_found_and_a_torn_last_one_is_none(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    path.write_text('{"index": 1}\n{"index": 2, "ou\n[]\n{"index": 4}\n{"ind')
    assert list_damaged_lines(path) == [2, 3]


def test_of_a_sample_that_is_there_twice_the_last_counts(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    for answer in ("first", "second"):
        files.add(sample(1, result=answer))
    assert [s.result for s in files.samples()] == ["second"]
    files.sum_up({})
    assert json.loads(files.overall.read_text())["total"] == 1


def test_rewriting_is_all_or_nothing_and_keeps_what_was(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(sample(1, result="old"))

    def failing() -> Iterator[SampleRecord]:
        yield sample(1, result="new")
        raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        files.rewrite(failing())
    assert [s.result for s in files.samples()] == ["old"]
    files.rewrite(replace(s, result="new") for s in files.samples())
    assert [s.result for s in files.samples()] == ["new"]
    (kept,) = read_lines(files.folder / "runs.old.jsonl")
    assert kept["output"]["result"] == "old"


def test_what_is_appended_while_samples_are_rewritten_is_kept(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(sample(1, result="old"))

    def rewritten() -> Iterator[SampleRecord]:
        for old in files.samples():
            ResultFiles(tmp_path, "a", "t").add(sample(2, result="meanwhile"))
            yield replace(old, result="new")

    files.rewrite(rewritten())
    assert [s.result for s in files.samples()] == ["new", "meanwhile"]


def test_lines_of_another_writer_can_be_summed_but_not_scored(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.folder.mkdir(parents=True)
    files.runs.write_text('[]\n{"index": 1, "output": {"status": "completed", "history": null}}\n')
    with pytest.raises(SetupError, match="not recorded by cellwright"):
        list(files.samples())
    files.sum_up({})
    assert json.loads(files.overall.read_text())["total"] == 1


def test_a_failure_of_the_infrastructure_is_in_a_file_of_its_own(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add_failure(Failure(4, 1, "NETWORK_ERROR", "no route", 3))
    (line,) = read_lines(files.errors)
    assert (line["index"], line["error"], line["output"]) == (4, "NETWORK_ERROR", None)
    assert not files.runs.exists()
    assert list(files.samples()) == []


def test_the_sum_has_counts_shares_and_the_tasks_own_part(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    for number, status in enumerate(["completed", "completed", "cancelled", "task error"]):
        files.add(sample(number, status=status))
    files.sum_up({"score": 0.5})
    found = json.loads(files.overall.read_text())
    assert (found["total"], found["custom"]) == (4, {"score": 0.5})
    shares = found["validation"]
    assert (shares["completed"], shares["unknown"], shares["task error"]) == (0.5, 0.25, 0.25)
    assert shares["counts"]["completed"] == 2
    assert sum(shares[name] for name in shares["counts"]) == 1
    assert shares["min_history_length"] > 0


def test_no_samples_and_no_history_are_no_division_by_zero() -> None:
    empty = overall_of([], {})["validation"]
    assert (empty["completed"], empty["average_history_length"]) == (0.0, 0.0)
    one = overall_of([{"status": "from the future", "history": None}], {})["validation"]
    assert (one["from the future"], one["max_history_length"]) == (1.0, 0)


def test_a_tasks_own_sum_that_fails_loses_nothing() -> None:
    class Broken(VirtualTask):
        def calculate_overall(self, results: Any) -> Any:
            return 1 / len(results)

    assert "division by zero" in sum_up_by(Broken().calculate_overall, [])["error"]
    assert sum_up_by(Broken().calculate_overall, [TaskOutput(index=1)]) == {"result": 1.0}
    assert sum_up_by(VirtualTask().calculate_overall, [])["score"] == 0.4


def test_names_become_folders() -> None:
    assert folder_name("answers:gpt 4/o.jsonl") == "answers_gpt_4_o.jsonl"
    assert folder_name("..") == "_"


APPENDING = """
import sys
from dataclasses import replace
from pathlib import Path
from cellwright.bench.results import ResultFiles
from cellwright.exports.sample import SampleRecord, SampleTask
files = ResultFiles(Path(sys.argv[1]), "a", "t")
for number in range(int(sys.argv[2]), int(sys.argv[2]) + 25):
    files.add(SampleRecord(str(number), task=SampleTask("t", number), result="x" * 90_000))
"""


def test_two_processes_append_whole_lines(tmp_path: Path) -> None:
    workers = [
        subprocess.Popen([sys.executable, "-c", APPENDING, str(tmp_path), start])
        for start in ("0", "25")
    ]
    assert [worker.wait(60) for worker in workers] == [0, 0]
    assert len(list(ResultFiles(tmp_path, "a", "t").samples())) == 50


def test_what_samples_share_is_said_again_where_its_file_was_deleted(tmp_path: Path) -> None:
    values, long = SharedValues(tmp_path / "results"), {"text": "word " * 100}
    name = values.keep(long)
    shutil.rmtree(tmp_path / "results")
    assert values.keep(long) == name
    assert SharedValues(tmp_path / "results").take(name) == long
