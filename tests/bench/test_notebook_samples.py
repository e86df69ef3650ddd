"""Samples that are notebooks, and what is new in samples that are YAML."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.bench.agents import open_agent
from cellwright.bench.checks import Assertion, Figure, Stdout, figure_cell
from cellwright.bench.environments import Rooms
from cellwright.bench.judge_check import Judge, Thumb
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import SetupError
from cellwright.stopping import Stop

pytestmark = pytest.mark.usefixtures("forked_kernels")

Write = Callable[..., Path]
NOTEBOOKS = Path(__file__).parents[2] / "examples" / "bench" / "notebooks"


def cell(kind: str, source: Any, *tags: str) -> dict[str, Any]:
    return {"cell_type": kind, "source": source, "metadata": {"tags": list(tags)} if tags else {}}


def notebook(*cells: dict[str, Any], **settings: Any) -> str:
    metadata = {"cellwright": settings} if settings else {}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


def test_a_notebook_is_a_sample_by_its_cells(write_sample: Write) -> None:
    text = notebook(
        cell("markdown", ["# Means\n", "What is the mean of n?"]),
        cell("code", ["n = [1, 3]\n", "m = None"]),
        cell("code", "k = 1", "setup", "hide"),
        cell("markdown", "Think of n as numbers.", "note"),
        cell("code", "m = sum(n) / len(n)", "reference"),
        cell("markdown", "It is 2.", "answer"),
        cell("code", "assert m == 2", "check"),
        cell("code", "  "),
        cell("raw", "left alone"),
        id="mean",
        checks=["namespace_intact", {"stdout": "2"}][1:],
        tools=["run_cell"],
    )
    (item,) = open_suite(str(write_sample(text, "mean.ipynb"))).items
    assert (item.index, item.prompt) == ("mean", "# Means\nWhat is the mean of n?")
    assert item.setup == ("n = [1, 3]\nm = None", "k = 1")
    assert (item.reference, item.reference_answer) == (("m = sum(n) / len(n)",), "It is 2.")
    assert item.checks == (Stdout("2"), Assertion("assert m == 2"))
    assert item.tools == ("run_cell",)


def test_notebooks_and_yaml_stand_beside_each_other(write_sample: Write) -> None:
    write_sample(notebook(cell("markdown", "Do it."), cell("code", "assert 1", "check")), "b.ipynb")
    folder = write_sample("prompt: Do it.\nchecks: {stdout: x}\n", "a.yaml")
    (folder / "notes.txt").write_text("not a sample")
    assert [item.index for item in open_suite(str(folder)).items] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "cannot be read"),
        ("[]", "it has no cells"),
        (notebook(cell("markdown", "x", "check")), "cell 1 is markdown, and cannot be tagged"),
        (notebook(cell("code", "x", "answer")), "cell 1 is code, and cannot be tagged 'answer'"),
        (notebook(cell("code", "x")), "it has no prompt; it has no checks"),
    ],
)
def test_a_notebook_that_is_no_sample_is_told(text: str, why: str, write_sample: Write) -> None:
    with pytest.raises(SetupError, match=why):
        open_suite(str(write_sample(text, "one.ipynb")))


OPINIONS = """
prompt: Draw it.
tools: [run_cell, "read_*"]
reference: plot()
answer: Drawn.
checks:
  - figure
  - figure: fig
    marks: {kind: line, y: [1, 2]}
    title: Growth
  - judge: Is it readable?
    pass_at: 0.5
  - thumb
  - thumb: Is it nice?
"""


def test_figures_judges_and_thumbs_are_written_in_yaml(write_sample: Write) -> None:
    text = OPINIONS.replace("  - figure\n", "  - figure: true\n    x_label: year\n")
    (item,) = open_suite(str(write_sample(text))).items
    assert item.checks == (
        Figure(x_label="year"),
        Figure("fig", ({"kind": "line", "y": [1, 2]},), "Growth"),
        Judge("Is it readable?", "Draw it.", "plot()\n\nDrawn.", 0.5),
        Thumb(),
        Thumb("Is it nice?"),
    )
    assert item.setup == (figure_cell(),)
    assert item.tools == ("run_cell", "read_*")


@pytest.mark.parametrize(
    ("check", "why"),
    [
        ("figure", "it needs marks, title"),
        ("{figure: fig, marks: [{z: 1}]}", "needs kind, label, x, y"),
        ("{figure: fig, marks: [3]}", "the mark 3 needs"),
        ("judge", "a rubric in words"),
        ("{judge: '  '}", "a rubric in words"),
    ],
)
def test_opinions_that_are_not_whole_are_told(check: str, why: str, write_sample: Write) -> None:
    with pytest.raises(SetupError, match=why):
        open_suite(str(write_sample(f"prompt: x\nchecks: [{check}]\n")))


@pytest.mark.kernel
def test_the_notebook_that_is_shipped_tells_right_from_wrong() -> None:
    suite = open_suite(str(NOTEBOOKS))
    (item,) = suite.items
    found = {}
    for name in ("oracle", "noop"):
        sample = attempt(Job(suite, item, open_agent(name)), Laboratory(Rooms({})), Stop())
        found[name] = [(score.name, score.value) for score in sample.scores]
    assert found["oracle"] == [("figure", 1.0), ("answer @region", 1.0), ("assertion", 1.0)]
    assert found["noop"] == [("figure", 0.0), ("answer @region", 0.0), ("assertion", 1.0)]
