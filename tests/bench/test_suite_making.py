"""A folder of notebooks becomes a suite that the oracle solves, and that doing nothing does not."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cellwright.bench.comparing import difference
from cellwright.bench.suite_making import read_questions, write_expression
from cellwright.bench.suites.folder import read_item
from cellwright.bench.value_data import ValueWriter, value_of
from cellwright.cli import main

CSV = "region,revenue\nnorth,10\nsouth,4\nnorth,7\n"


def markdown(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def code(text: str, **metadata: Any) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "metadata": metadata,
        "source": text.splitlines(keepends=True),
        "outputs": [],
        "execution_count": None,
    }


SALES = [
    markdown("# Sales"),
    code("import pandas as pd\nsales = pd.read_csv('sales.csv')\nseed = object()"),
    markdown("Sum the revenue of each region into `by_region`, the highest first."),
    code("sums = sales.groupby('region')['revenue'].sum()"),
    code("by_region = sums.sort_values(ascending=False)\nby_region"),
    markdown("What share has the north?"),
    code("by_region['north'] / by_region.sum()"),
    markdown("Add a column `rank`."),
    code("sales['rank'] = sales.revenue.rank()"),
    markdown("How do you feel?"),
    code("print('well')"),
    markdown("Draw a number."),
    code("import random\nrandom.random()"),
    markdown("How large is it still?"),
    code("size = len(sales)"),
]
GRADED = [
    markdown("Write `double`."),
    code("def double(n):\n    return 2 * n", nbgrader={"solution": True, "grade": False}),
    code("assert double(4) == 8", nbgrader={"solution": False, "grade": True, "points": 2}),
]


def write(path: Path, *cells: dict[str, Any], **metadata: Any) -> None:
    notebook = {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


@pytest.mark.kernel
def test_a_folder_of_notebooks_becomes_a_suite_that_can_tell_right_from_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CELLWRIGHT_HOME", str(tmp_path / "home"))
    Path("course").mkdir()
    Path("course/sales.csv").write_text(CSV)
    write(Path("course/sales.ipynb"), *SALES)
    write(Path("course/double.ipynb"), *GRADED)
    heading = markdown("# Heights"), code("heights = [3, 4]"), markdown("Sum them.")
    write(Path("course/heights.ipynb"), *heading, code("total = sum(heights)"))
    write(Path("course/broken.ipynb"), markdown("What is it?"), code("1 / 0"))
    own = code("x = 1", tags=["reference"]), code("assert x == 1", tags=["check"])
    write(Path("course/own.ipynb"), markdown("Set `x`."), *own)
    assert main(["bench", "new", "course", "-o", "suite", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    names = ["double-1.yaml", "heights-2.yaml", "own.ipynb"]
    names += [f"sales-{number}.yaml" for number in (2, 3, 4, 7)]
    assert sorted(made["samples"]) == names
    assert sorted(path.name for path in Path("suite").iterdir()) == sorted([*names, "sales.csv"])
    why = {one["name"]: one["why"] for one in made["left_out"]}
    assert set(why) == {"broken", "heights-1", "sales-1", "sales-5", "sales-6"}
    assert "asks nothing" in why["heights-1"]
    assert read_item(Path("suite/heights-2.yaml")).setup == ("heights = [3, 4]",)
    assert "ZeroDivisionError" in why["broken"]
    assert "nothing that it finds" in why["sales-5"]
    assert "does not hold" in why["sales-6"]
    item = read_item(Path("suite/sales-3.yaml"))
    assert item.prompt == "What share has the north?\n\nPut the result into `answer`."
    assert item.reference == ("answer = by_region['north'] / by_region.sum()\nanswer",)
    arguments = ["bench", "run", "suite", "--agent", "oracle", "--agent", "noop", "--json", "-q"]
    assert main([*arguments, "-o", "results"]) == 0
    agents = json.loads(capsys.readouterr().out)["agents"]
    assert {agent["agent"]: agent["passed"] for agent in agents} == {"oracle": 7, "noop": 0}
    assert main(["bench", "new", "course", "-o", "suite"]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert main(["bench", "new", "results", "-o", "more"]) == 2
    assert "no notebook" in capsys.readouterr().err


@pytest.mark.kernel
def test_of_a_notebook_that_is_left_out_no_sample_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    late = markdown("Sum 1 and 2."), code("total = sum([1, 2])"), markdown("And?"), code("1 / 0")
    write(tmp_path / "late.ipynb", *late)
    suite = tmp_path / "suite"
    assert main(["bench", "new", str(tmp_path / "late.ipynb"), "-o", str(suite), "--json"]) == 1
    (left_out,) = json.loads(capsys.readouterr().out)["left_out"]
    assert (left_out["name"], list(suite.iterdir())) == ("late", [])


def test_questions_have_what_came_before_them_as_setup() -> None:
    questions = list(read_questions({"cells": SALES}, "sales"))
    assert [question.name for question in questions[:3]] == ["sales-1", "sales-2", "sales-3"]
    assert questions[1].setup == tuple(questions[0].code)
    assert questions[2].setup == (*questions[0].code, *questions[1].code)
    (graded,) = read_questions({"cells": GRADED}, "double")
    assert len(graded.code) == 1
    assert graded.tests == [{"assert": "assert double(4) == 8", "points": 2}]


@pytest.mark.parametrize(
    ("text", "source", "asks_nothing"),
    [
        ("# Stats", "import numpy as np\nxs: list = [1, -2]\nt = pd.read_csv('t.csv')", True),
        ("## Data\nOf last year.", "from os import path\ndata = load(path)", True),
        ("Load the data.", "data = load()", False),
        ("# How many are there?", "n = 3", False),
        ("# Set `n`", "n = 3", False),
        ("# Mean", "mean = xs.mean()", False),
        ("# Mean", "mean = (1 + 2) / 2", False),
        ("# Mean", "print(3)", False),
        ("# Mean", "n: int", False),
        ("# Magic", "%load x.py", False),
    ],
)
def test_a_heading_above_code_that_only_prepares_asks_nothing(
    text: str, source: str, asks_nothing: bool
) -> None:
    (question,) = read_questions({"cells": [markdown(text), code(source)]}, "q")
    assert question.asks_nothing == asks_nothing
    tested = code("assert n", tags=["check"])
    (question,) = read_questions({"cells": [markdown(text), code(source), tested]}, "q")
    assert not question.asks_nothing


DAYS = pd.date_range("2026-01-01", periods=2)


@pytest.mark.parametrize(
    "value",
    [
        1.5,
        float("nan"),
        float("inf"),
        (1, [2, {"a": {3}}]),
        np.float64(2.5),
        np.array([[1, 2], [3, 4]]),
        pd.Timestamp("2026-01-01", tz="UTC"),
        pd.Timedelta("3h"),
        datetime.date(2026, 1, 2),
        pd.Series([1.0, None], index=["a", "b"], name="n"),
        pd.Series([1, 2], index=DAYS),
        pd.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pd.Index([7, 8], name="id")),
        pd.DataFrame({"a": DAYS, "c": pd.Categorical(["x", "y"])}),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "x"), ("a", "y")])),
    ],
    ids=repr,
)
def test_an_expression_makes_the_value_again(value: Any) -> None:
    found, wanted = (
        ValueWriter().write(each) for each in (value_of(write_expression(value)), value)
    )
    assert difference(found, wanted, {}) == ""


def test_what_is_too_much_or_no_data_has_no_expression() -> None:
    for value in (object(), pd.DataFrame({"a": range(3_000)}), {"a": len}):
        with pytest.raises(ValueError, match="more than|object|builtin"):
            write_expression(value)
