"""A run as a notebook: valid, in order, and able to run again."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from recorded_runs import (
    LOAD,
    RIGHT,
    WRONG,
    analysis_run,
    cell_run,
    record_of,
    replied,
    result,
    started,
)

from cellwright.exports.notebook import export, notebook
from cellwright.record.events import (
    CellAdded,
    CellFinished,
    CellStarted,
    ModelAsked,
    RunFinished,
    StateCaptured,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import AssistantMessage, ToolCall
from cellwright.record.outputs import Cell, DisplayData, Execution
from cellwright.text.redaction import Redactor

CSV = "region,revenue\nnorth,7\nsouth,1\nnorth,3\n"


def roles(made: dict[str, Any]) -> list[str]:
    return [cell["metadata"]["cellwright"]["role"] for cell in made["cells"]]


def tags(cell: dict[str, Any]) -> list[str]:
    found: list[str] = cell["metadata"].get("tags", [])
    return found


def test_a_run_reads_from_prompt_to_answer_and_is_a_valid_notebook() -> None:
    made = notebook(record_of(analysis_run()))
    nbformat.validate(made)
    assert roles(made) == ["prompt", "setup", "text", "step", "step", "step", "text"]
    assert "Which region sold most?" in made["cells"][0]["source"]
    assert [c["source"] for c in made["cells"][1:]] == [
        "x = 1",
        "I load the file.",
        LOAD,
        WRONG,
        RIGHT,
        "North sold **most**.",
    ]
    assert made["metadata"]["cellwright"]["run"]["status"] == "completed"
    assert made["metadata"]["language_info"] == {"name": "python", "version": "3.11"}


def test_the_text_of_the_file_is_what_nbformat_reads() -> None:
    read = nbformat.reads(export(record_of(analysis_run())), as_version=4)
    assert read["cells"][3]["outputs"][0]["text"] == "320 rows\n"


def test_a_failed_attempt_stays_and_is_marked() -> None:
    failed, repaired = notebook(record_of(analysis_run()))["cells"][4:6]
    assert tags(failed) == ["raises-exception", "cellwright-failed", "cellwright-superseded"]
    assert failed["metadata"]["jupyter"] == {"outputs_hidden": True}
    assert failed["id"] != repaired["id"]
    assert tags(repaired) == []


def test_what_never_ended_or_never_ran_is_not_run_again() -> None:
    run = record_of(
        [
            started(),
            *cell_run("c1", "hung", "while True: pass", status="timeout"),
            CellAdded("idle", "danger()"),
            CellAdded("open", "1"),
            CellStarted("open"),
        ]
    )
    cells = {cell["id"]: cell for cell in notebook(run)["cells"]}
    for name in ("hung", "idle", "open"):
        assert "skip-execution" in tags(cells[name]), name
    assert cells["open"]["metadata"]["cellwright"]["status"] == "running"


def test_widgets_are_replaced_by_words() -> None:
    view = "application/vnd.jupyter.widget-view+json"
    shown = DisplayData({view: {"model_id": "1"}}, {view: {"a": 1}})
    named = DisplayData({view: {"model_id": "1"}, "text/plain": "IntSlider(value=3)"})
    made = notebook(record_of([started(), *cell_run("c1", "w", "slider", shown, named)]))
    nbformat.validate(made)
    first, second = (output for output in made["cells"][1]["outputs"])
    assert first["data"] == {"text/plain": "(a widget, shown only in the live notebook)"}
    assert first["metadata"] == {}
    assert second["data"] == {"text/plain": "IntSlider(value=3)"}


def test_markdown_cells_and_a_handed_in_answer_are_kept() -> None:
    submit = AssistantMessage("", (ToolCall("s1", "submit", "{}"),))
    made = notebook(
        record_of(
            [
                started(),
                ToolStarted("c1", "add_cell", {}),
                CellAdded("note", "## Found", "markdown", call_id="c1"),
                ModelAsked(1, ()),
                replied(submit),
                RunFinished("completed", "It is 42."),
            ]
        )
    )
    nbformat.validate(made)
    assert [c["source"] for c in made["cells"][1:]] == ["## Found", "It is 42."]


def test_odd_ids_and_unprintable_text_make_a_valid_file() -> None:
    run = record_of([started("half \ud83d"), *cell_run("c1", "a b/ü" * 30, "'\udc00'")])
    text = export(run)
    text.encode("utf-8")
    nbformat.validate(json.loads(text))


def test_a_reason_and_another_language_are_told() -> None:
    run = record_of(
        [
            started(),
            StateCaptured(kernel={"language": "R"}),
            RunFinished("task limit reached", reason="12 steps were made.", cause="step_limit"),
        ]
    )
    made = notebook(run)
    nbformat.validate(made)
    assert "12 steps were made." in made["cells"][0]["source"]
    assert made["metadata"]["kernelspec"]["name"] == "R"


def test_a_reason_of_blanks_is_none() -> None:
    made = notebook(record_of([started(), RunFinished("task error", reason=" \u001c\n")]))
    nbformat.validate(made)
    assert "task error" in made["cells"][0]["source"]


def test_model_text_cannot_load_anything() -> None:
    text = "![x](https://evil.example/p.png) <img src='https://evil.example/q.png'>"
    made = notebook(record_of([started(text), ModelAsked(1, ()), replied(AssistantMessage(text))]))
    for cell in made["cells"]:
        assert "![" not in cell["source"]
        assert "<img" not in cell["source"]


def test_what_is_known_as_secret_by_now_is_taken_out() -> None:
    secret = "hunter2" * 3
    run = record_of([started(f"log in with {secret}"), *cell_run("c1", "a", f"key = '{secret}'")])
    text = export(run, Redactor({"DB_PASSWORD": secret}))
    assert secret not in text
    assert "«redacted:db_password:" in text


@pytest.mark.kernel
def test_the_notebook_runs_again_with_nbclient(tmp_path: Path) -> None:
    from nbclient import NotebookClient

    (tmp_path / "sales.csv").write_text(CSV)
    hung = cell_run("c9", "hung", "while True: pass", status="interrupted")
    events = analysis_run()
    run = record_of([*events[:-1], *hung, events[-1]])
    run = replace(run, start_executed=("x = 1", "1/0"))
    read = nbformat.reads(export(run), as_version=4)
    client = NotebookClient(
        read, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    client.execute()
    nbformat.validate(read)
    by_source = {cell["source"]: cell for cell in read["cells"]}
    (failed,) = by_source[WRONG]["outputs"]
    assert failed["ename"] == "KeyError"
    assert "10" in by_source[RIGHT]["outputs"][0]["data"]["text/plain"]
    assert by_source["while True: pass"]["execution_count"] is None


def test_a_cell_of_the_person_keeps_its_origin() -> None:
    run = record_of(
        [
            started(),
            StateCaptured(cells=(Cell("own", "code", "x = 1"),)),
            ToolStarted("c1", "run_cell", {}),
            CellStarted("own"),
            CellFinished("own", Execution("ok", 0.1, execution_count=7)),
            ToolFinished("c1", "run_cell", result("c1", "ok")),
        ]
    )
    cell = notebook(run)["cells"][1]
    assert cell["metadata"]["cellwright"]["origin"] == "user"
    assert cell["execution_count"] == 7


def test_whose_answer_it_is_is_told() -> None:
    made = notebook(replace(record_of(analysis_run()), assistant="reviewer"))
    assert "<small>@reviewer · " in made["cells"][0]["source"]
    assert made["metadata"]["cellwright"]["run"]["assistant"] == "reviewer"
    assert "@" not in notebook(record_of(analysis_run()))["cells"][0]["source"]
