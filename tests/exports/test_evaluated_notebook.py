"""nbconvert's exporter: the evaluated notebook as a page."""

from __future__ import annotations

import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import nbformat
import pytest
from recorded_runs import analysis_run, record_of, recorded

from cellwright.exports.evaluated_notebook import evaluated_page, run_ids
from cellwright.exports.notebook import sample_notebook
from cellwright.exports.sample import Score
from cellwright.exports.sampling import sample_of
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore

RECORD = record_of(analysis_run())
SAMPLE = replace(sample_of(RECORD, "s", whole=True), scores=(Score("best", 0.0, False, "it is 3"),))
TIMES = {
    "iopub.execute_input": "2026-11-21T10:00:00.000000Z",
    "shell.execute_reply": "2026-11-21T10:00:01.500000Z",
}


def live_notebook(run: str = RECORD.run_id) -> dict[str, Any]:
    """Somebody's notebook in which the agent has put a cell."""
    notebook = nbformat.v4.new_notebook(metadata={})
    error = nbformat.v4.new_output("error", ename="KeyError", evalue="'x'", traceback=[])
    notebook.cells = [
        nbformat.v4.new_markdown_cell("# Sales <script>alert(1)</script>"),
        nbformat.v4.new_code_cell("x = 1", execution_count=1, metadata={"execution": TIMES}),
        nbformat.v4.new_code_cell(
            "df", execution_count=2, metadata={"cellwright": {"run": run, "call": "c1"}}
        ),
        nbformat.v4.new_code_cell("df['x']", outputs=[error]),
        nbformat.v4.new_code_cell("never"),
        nbformat.v4.new_raw_cell("<b>raw</b>"),
    ]
    return json.loads(nbformat.writes(notebook))


class Loads(HTMLParser):
    """What a page would load or run."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ("script", "link", "iframe", "object", "embed"):
            self.found.append(tag)
        for name, value in attrs:
            outside = name in ("src", "href") and not (value or "").startswith(("data:", "#"))
            if outside or name.startswith("on"):
                self.found.append(f"{name}={value}")


def test_a_samples_notebook_shows_scores_statuses_tokens_and_times() -> None:
    page = evaluated_page(sample_notebook(SAMPLE))
    assert "Which region sold most?" in page
    assert "it is 3" in page
    assert "0.25 s · 100 + 10 tokens" in page
    assert "0.25 s · 200 + 10 tokens" in page
    assert "failed" in page
    assert "<dd>1,040</dd>" in page
    assert "12.5 s" in page
    assert Loads(page).found == []


def test_a_live_notebook_is_told_by_the_records_of_its_runs() -> None:
    document = live_notebook()
    assert run_ids(document) == (RECORD.run_id,)
    page = evaluated_page(document, (RECORD,), "My notebook")
    assert "[2] run · by the agent</span><span>0.25 s · 100 + 10 tokens" in page
    assert "[1] run</span><span>1.50 s" in page
    assert "My notebook" in page
    assert "demo-analyst" in page
    assert "not run" in page
    assert "<small>1 failed</small>" in page
    assert "&lt;b&gt;raw&lt;/b&gt;" in page
    assert Loads(page).found == []


def test_any_notebook_at_all_becomes_a_page() -> None:
    assert "Notebook" in evaluated_page({})
    strange: dict[str, Any] = {
        "metadata": {"cellwright": {"scores": [{"value": "high"}, 3], "run": 7}},
        "cells": [
            {
                "cell_type": "code",
                "source": ["a\n", "b"],
                "metadata": {"execution": {"iopub.execute_input": "never"}, "cellwright": 3},
                "outputs": [{"output_type": "odd"}],
            },
            {"cell_type": "code", "metadata": {"cellwright": {"role": "setup", "usage": {}}}},
        ],
    }
    page = evaluated_page(strange)
    assert "could not be made" in page
    assert "set-up" in page


def test_nbconvert_finds_the_records_and_hides_secrets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nbconvert")
    from cellwright.exports.nbconvert_exporter import CellwrightExporter

    secret = "correct-horse" + "-battery"
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path))
    monkeypatch.setenv("WAREHOUSE_PASSWORD", secret)
    (tmp_path / "none.ipynb").write_text(json.dumps(live_notebook()))
    assert "by the agent" in CellwrightExporter().from_filename(str(tmp_path / "none.ipynb"))[0]
    database = open_database(tmp_path / "runs.sqlite")
    journal = RunStore(database).start()
    journal.record(*(item.event for item in recorded(analysis_run())))
    database.close()

    document = live_notebook(journal.run_id)
    document["cells"][1]["source"] = f"password = '{secret}'"
    path = tmp_path / "sales.ipynb"
    path.write_text(json.dumps(document))
    exporter = CellwrightExporter()
    page, resources = exporter.from_filename(str(path))
    assert resources["output_extension"] == ".html"
    assert exporter.output_mimetype == "text/html"
    assert exporter.export_from_notebook
    assert secret not in page
    assert "100 + 10 tokens" in page
    assert "sales" in page
    foreign = live_notebook("20200101-000000-000000")
    path.write_text(json.dumps(foreign))
    assert "by the agent" in exporter.from_filename(str(path))[0]
