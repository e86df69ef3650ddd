"""Recorded runs: replayed, asked again, exported; and a benchmark."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_service import MODEL, FakeService, Script, text, tool_call

import cellwright

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
Serve = Callable[[Script], FakeService]
COUNT = "rows = len(open('iris.csv').readlines()) - 1\nrows"


@pytest.fixture
def answer(serve: Serve, folder: Path) -> cellwright.Answer:
    """A run that counts the rows of the table."""
    serve([tool_call("run_cell", {"code": COUNT}), text("6 rows.")])
    with cellwright.Session() as session:
        return session.ask("How many rows?", files=["iris.csv"])


def test_a_replay_asks_no_model_and_finds_what_differs(
    answer: cellwright.Answer, serve: Serve, folder: Path
) -> None:
    service = serve([])
    same = cellwright.replay(answer)
    assert (same.is_same, same.run.record.source_run) == (True, answer.run.id)
    table = folder / "iris.csv"
    table.write_text(table.read_text() + "1,1,1,1,setosa\n")
    other = cellwright.replay(answer.run.id)
    assert not other.is_same
    assert (other.differences[0].recorded, other.differences[0].replayed) == ("6", "7")
    assert service.requests == []
    assert other.run.record.lane == "replay"


def test_a_rerun_asks_the_same_question_of_another_model(
    answer: cellwright.Answer, serve: Serve
) -> None:
    service = serve([tool_call("run_cell", {"code": "'six'"}), text("Six.")])
    again = cellwright.rerun(answer.run, "other-model")
    assert again.text == "Six."
    assert again.run.record.source_run == answer.run.id
    assert service.requests[0].body["model"] == "other-model"
    assert "How many rows?" in service.requests[0].last_text


def test_auto_chooses_the_set_model_for_a_rerun(answer: cellwright.Answer, serve: Serve) -> None:
    service = serve([text("Six.")])
    cellwright.rerun(answer.run, "auto")
    assert service.requests[0].body["model"] == MODEL


def test_a_rerun_keeps_the_mode_of_the_run_unless_another_is_given(
    answer: cellwright.Answer, serve: Serve
) -> None:
    serve([tool_call("run_cell", {"code": "1"}), text("I would count.")])
    again = cellwright.rerun(answer, mode="plan")
    assert [call.status for call in again.run.record.calls] == ["refused"]
    with pytest.raises(cellwright.SetupError, match="nobody can be asked"):
        cellwright.rerun(answer, mode="ask")


def test_a_folder_that_is_gone_is_told(answer: cellwright.Answer, folder: Path) -> None:
    folder.rename(folder.with_name("moved"))
    with pytest.raises(cellwright.SetupError, match="folder="):
        cellwright.replay(answer)
    assert cellwright.replay(answer, folder=folder.with_name("moved")).is_same


def test_an_export_goes_by_the_name_of_a_file_or_of_a_format(
    answer: cellwright.Answer, folder: Path
) -> None:
    report = cellwright.export(answer, folder / "report.html")
    assert "6 rows." in report.read_text(encoding="utf-8")
    notebook = cellwright.export("last", "ipynb")
    assert notebook.name == f"{answer.run.id}.ipynb"
    assert json.loads(notebook.read_text(encoding="utf-8"))["nbformat"] == 4
    assert cellwright.export(answer.run, "spans.otlp.jsonl").exists()
    assert "6 rows." in cellwright.export(answer.run.id, "tuning.jsonl").read_text()
    with pytest.raises(cellwright.SetupError, match="html"):
        cellwright.export(answer, "report.docx")


def test_a_run_is_loaded_by_a_part_of_its_id(answer: cellwright.Answer) -> None:
    run = cellwright.load_run(answer.run.id[-6:])
    assert isinstance(run, cellwright.Run)
    assert run.answer == "6 rows."
    with pytest.raises(cellwright.SetupError, match="nothing-like-it"):
        cellwright.load_run("nothing-like-it")
    with pytest.raises(cellwright.SetupError, match="None is no run"):
        cellwright.load_run(None)  # type: ignore[arg-type]


def test_a_suite_is_run_and_its_result_is_a_document(serve: Serve, folder: Path) -> None:
    suite = folder / "suite"
    suite.mkdir()
    task = {"prompt": "Set x to 42.", "checks": [{"variable": "x", "equals": 42}]}
    (suite / "set_x.yaml").write_text(json.dumps(task), encoding="utf-8")
    serve([tool_call("run_cell", {"code": "x = 42"}), text("Set.")])
    result = cellwright.bench(suite, "fake-model", output=folder / "results", jobs=1)
    assert (result["passed"], result["total"], result["failures"]) == (1, 1, 0)
    assert (Path(result["folder"]) / "config.yaml").exists()
