"""``%agent attach``: files and outputs wait for the next question (row 002-27)."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest
from fake_service import text
from magics.live_kernel import LiveKernel

from cellwright.errors import SetupError
from cellwright_magics.context_commands import Attached

DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_002_27_what_waits_is_told_and_what_cannot_be_read_waits_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.txt").write_bytes(b"")
    attached = Attached()
    assert attached.told.startswith("Nothing is attached.")
    attached.add_files(["empty.txt"])
    with pytest.raises(SetupError, match=r"Cannot read 'gone.csv' \(No such file"):
        attached.add_files(["gone.csv"])
    attached.add_output(3, "数据", [(".png", DOT)])
    assert attached.told == (
        "The next question takes along: empty.txt (0 bytes); output of [3]: 2 characters and "
        "1 picture."
    )
    picture = Path(attached.files[1])
    assert (picture.name, picture.read_bytes()) == ("output-3-1.png", DOT)
    attached.clear()
    assert (attached.files, attached.quotes) == ([], [])
    assert picture.is_file(), "it may still be asked about"
    attached.close()
    assert not picture.exists()


@pytest.mark.kernel
def test_002_27_files_and_outputs_go_with_the_next_question_and_no_further(
    fresh: LiveKernel,
) -> None:
    folder = Path(fresh.value("__import__('os').getcwd()").strip("'"))
    (folder / "my data.csv").write_text("region,sales\nnorth,3\n")
    number = fresh.run("print('seen 42')").reply["content"]["execution_count"]
    failed = fresh.run("1 / 0").reply["content"]["execution_count"]
    told = fresh.run('%agent attach "my data.csv"', answers=[]).results[0]
    assert "my data.csv (21 bytes)" in told
    assert "gone.csv" in fresh.run("%agent attach gone.csv", answers=[]).stderr
    fresh.run(f"%agent attach output {number}", answers=[])
    fresh.run(f"%agent attach output {failed}", answers=[])
    assert "showed nothing" in fresh.run("%agent attach output 999", answers=[]).stderr
    fresh.run("%agent what is this?", [text("Data.")], answers=[])
    asked = fresh.service.requests[-1].messages[-1]["content"]
    for words in ("my data.csv", "region,sales", "seen 42", f"output of cell [{failed}]"):
        assert words in asked
    assert "ZeroDivisionError" in asked
    assert fresh.run("%agent attach", answers=[]).results[0].startswith("Nothing is attached.")
    fresh.run("%agent and now?", [text("Still.")], answers=[])
    assert "seen 42" not in fresh.service.requests[-1].messages[-1]["content"]


@pytest.mark.kernel
def test_002_27_a_picture_is_taken_from_the_saved_notebook(fresh: LiveKernel) -> None:
    data = {"image/png": base64.b64encode(DOT).decode()}
    shown = {"output_type": "display_data", "metadata": {}, "data": data}
    cell = {"cell_type": "code", "execution_count": 7777, "outputs": [shown], "source": "plot()"}
    folder = Path(fresh.value("__import__('os').getcwd()").strip("'"))
    notebook = folder / "work.ipynb"
    notebook.write_text(json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5}))
    fresh.run(f"__vsc_ipynb_file__ = {str(notebook)!r}")
    told = fresh.run("%agent attach output 7777", answers=[]).results[0]
    assert told.endswith("output of [7777]: 0 characters and 1 picture.")
    notebook.write_text("{")
    assert "save it first" in fresh.run("%agent attach output 7777", answers=[]).stderr
    fresh.run("%agent describe it", [text("A dot.")], answers=[])
    assert "output-7777-1.png" in str(fresh.service.requests[-1].messages[-1]["content"])
