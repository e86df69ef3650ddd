"""Suites in Python: samples that a function yields, files by pattern, scorers of its own."""

from __future__ import annotations

import pickle
import textwrap
from pathlib import Path
from typing import Any

import cloudpickle
import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.bench.agents import Agent, model_agent, open_agent
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import Job, Laboratory, attempt
from cellwright.bench.suites import Suite
from cellwright.bench.suites.folder import make_item
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleRecord, sum_points
from cellwright.stopping import Stop

EXAMPLE = Path(__file__).parents[2] / "examples" / "bench" / "regions.py"


def run_first(suite: Suite, agent: Agent) -> SampleRecord:
    return attempt(Job(suite, suite.items[0], agent), Laboratory(Rooms({})), Stop())


@pytest.mark.kernel
def test_the_example_gives_points_in_part(forked_kernels: None) -> None:
    suite = open_suite(str(EXAMPLE))
    assert [item.index for item in suite.items] == ["east", "north", "south"]
    assert (suite.name, suite.hidden) == ("regions", (EXAMPLE,))
    solved = run_first(suite, open_agent("oracle"))
    assert solved.passed, solved.scores
    assert str(sum_points(solved.scores)) == "4 of 4 points (100%)"
    assert solved.task.metadata == {"source": "sales.csv"}
    assert "sales.csv" in suite.items[0].files
    assert sum_points(run_first(suite, open_agent("noop")).scores).earned == 0
    code = "total = 135; share = 21.6; print(total)"
    model = ScriptedLM([calls(("run_cell", {"code": code})), says("It is there.")])
    partly = run_first(suite, model_agent(model, "m"))
    assert [(score.name, score.value) for score in partly.scores] == [
        ("variable total", 1.0),
        ("any_of", 1.0),
        ("is_near", 0.5),
    ]
    assert (partly.passed, str(sum_points(partly.scores))) == (False, "3.5 of 4 points (88%)")


def test_a_function_travels_to_other_machines() -> None:
    item = open_suite(str(EXAMPLE)).items[0]
    again = pickle.loads(cloudpickle.dumps(item))
    assert again.checks[-1].score_name == "is_near"


def write(folder: Path, code: str) -> Path:
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(code))
    return path


@pytest.mark.parametrize(
    ("code", "match"),
    [
        ("x = 1", "no function 'samples'"),
        ("def samples(): yield 1", "is 1, not a dict"),
        ("1 / 0", "ZeroDivisionError"),
        ("import sys; sys.exit(0)", "SystemExit"),
        ("def samples(): return []", "has no samples"),
        ("def samples(): yield {'prompt': 'x', 'checks': [{'any_of': []}]}", "needs checks"),
        (
            "def samples(): yield {'prompt': 'x', 'checks': [{'stdout': 'x', 'points': 0}]}",
            "points is 0",
        ),
        ("def samples(): yield {'prompt': 'x', 'checks': 'thumb', 'metadata': 3}", "metadata is 3"),
        ("def samples(): yield {'prompt': 'x', 'checks': [{'scorer': 'x'}]}", "needs a function"),
    ],
)
def test_what_is_wrong_in_a_file_is_told(code: str, match: str, tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=match):
        open_suite(str(write(tmp_path, code)))


def test_files_are_found_by_name_pattern_folder_and_new_name(tmp_path: Path) -> None:
    for name in ("a.csv", "b.csv", "data/one.txt", "data/deep/two.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)

    def files(given: Any) -> dict[str, str]:
        data = {"prompt": "x", "checks": "thumb", "files": given}
        found = make_item(data, tmp_path, "one", "here").files
        return {name: path.read_text() for name, path in found.items()}

    assert files("*.csv") == {"a.csv": "a.csv", "b.csv": "b.csv"}
    assert set(files(["data", "a.csv"])) == {"data/one.txt", "data/deep/two.txt", "a.csv"}
    assert files({"in.csv": "data/one.txt"}) == {"in.csv": "data/one.txt"}
    for wrong in ("*.parquet", {"a": "none"}, "../x", {"a": "../x"}, "empty"):
        with pytest.raises(SetupError, match="no file|outside"):
            files(wrong)


@pytest.mark.kernel
def test_a_scorer_is_told_what_keeps_it_from_scoring(tmp_path: Path, forked_kernels: None) -> None:
    suite = open_suite(
        str(
            write(
                tmp_path,
                """
                from cellwright.bench.checks import Score

                def of_a_number(run):
                    return run.value("x") / 2

                def of_no_data(run):
                    return run.value("f") is None

                def of_nothing(run):
                    return run.value("y")

                def too_much(run):
                    return len(run.cells) + 1

                def with_words(run):
                    assert run.folder.is_dir() and run.printed == "hello\\n"
                    return Score("named", 0.25, passed=True, explanation=run.answer)

                def samples():
                    yield {
                        "prompt": "x",
                        "checks": [of_a_number, of_no_data, of_nothing, too_much, with_words],
                        "reference": "x = 1\\nprint('hello')\\ndef f(): pass",
                    }
                """,
            )
        )
    )
    found = {score.name: score for score in run_first(suite, open_agent("oracle")).scores}
    assert (found["of_a_number"].value, found["of_a_number"].passed) == (0.5, False)
    assert "no data" in found["of_no_data"].explanation
    assert found["of_nothing"].explanation == "y: it is not there"
    assert (found["too_much"].value, "no number from 0 to 1" in found["too_much"].error) == (
        None,
        True,
    )
    assert (found["with_words"].passed, found["with_words"].explanation) == (True, "Done.")
