"""Suites: a folder of one's own samples, and the public ones from data like theirs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cellwright.bench.checks import (
    AnswerCheck,
    Assertion,
    File,
    NamespaceIntact,
    RestartAndRunAll,
    Solution,
    Stdout,
    Variable,
)
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.opening import open_suite
from cellwright.errors import SetupError

Write = Callable[..., Path]
EVERYTHING = """
id: 7
prompt: Sum it.
group: sums
family: first
files: [sales.csv]
setup: ["x = 1", "y = 2"]
limits: {step_limit: 3, token_limit: 500}
reference: "total = 3"
answer: It is 3.
checks:
  - variable: total
    equals: 3
    tolerance: 0.1
  - variable: table
    expression: "pd.DataFrame({'a': [1]})"
    ignore_row_order: true
  - answer: It is 3.
  - answer: {regex: "3"}
  - answer: {name: total, value: 3}
  - file: out.csv
    regex: a
  - stdout: "3"
  - assert: "assert total == 3"
  - namespace_intact
  - namespace_intact: true
    but: [x]
  - restart_and_run_all
"""


def test_a_sample_is_read_with_all_it_can_have(write_sample: Write) -> None:
    folder = write_sample(EVERYTHING, sales="a\n1\n")
    suite = open_suite(str(folder))
    (item,) = suite.items
    assert (suite.name, item.index, item.prompt, item.group) == ("suite", 7, "Sum it.", "sums")
    assert (item.setup, item.reference, item.family) == (
        ("x = 1", "y = 2"),
        ("total = 3",),
        "first",
    )
    assert item.files == {"sales.csv": folder / "sales.csv"}
    assert (item.limits.step_limit, item.limits.token_limit) == (3, 500)
    assert item.checks == (
        Variable("total", 3, options={"tolerance": 0.1}),
        Variable(
            "table", expression="pd.DataFrame({'a': [1]})", options={"ignore_row_order": True}
        ),
        AnswerCheck(exact="It is 3."),
        AnswerCheck(regex="3"),
        AnswerCheck(name="total", value=3),
        File("out.csv", regex="a"),
        Stdout("3"),
        Assertion("assert total == 3"),
        NamespaceIntact(),
        NamespaceIntact(("x",)),
        RestartAndRunAll(),
    )


WRONG = """
prompt: ""
promt: typing
tools: [run_cel, "red_*", "read_*"]
files: [none.csv, ../outside.csv]
limits: {steps: 3, step_limit: -1}
checks:
  - variable: total
  - vairable: total
  - answer: {}
  - file: a
    holds: b
  - variable: y
    equals: 1
    tolerances: 2
  - variable: z
    equals: 1
    tolerance: 2
    relative_tolerance: 3
  - assert: x
    expect: y
  - 7
"""


def test_all_complaints_about_a_file_come_at_once(write_sample: Write) -> None:
    with pytest.raises(SetupError) as caught:
        open_suite(str(write_sample(WRONG)))
    for complaint in (
        "no prompt",
        "'promt' is no key",
        "tools: 'run_cel' is no tool; did you mean 'run_cell'?",
        "tools: 'red_*' is no tool",
        "no file 'none.csv'",
        "'../outside.csv' is outside",
        "'steps' is no limit",
        "'step_limit' is -1",
        "needs either equals or expression",
        "{'vairable': 'total'} is no check; did you mean 'variable'?",
        "'tolerances' is no key; did you mean 'tolerance'?",
        "tolerance and relative_tolerance",
        "'expect' is no key",
        "the check 'answer' is wrong",
        "the check 'file' is wrong",
        "7 is no check",
    ):
        assert complaint in str(caught.value)


@pytest.mark.parametrize(
    ("written", "index"),
    [
        ("7", 7),
        ("007", "007"),
        ("1.50", "1.50"),
        ("2024-01-05", "2024-01-05"),
        ("no", "no"),
        ("null", "one"),
        ("'7'", "7"),
    ],
)
def test_an_id_is_what_its_file_says(written: str, index: int | str, write_sample: Write) -> None:
    suite = open_suite(str(write_sample(f"id: {written}\nprompt: q\nchecks: [{{answer: 3}}]\n")))
    assert suite.items[0].index == index


def test_an_id_that_is_no_word_or_there_as_number_and_word_is_refused(
    write_sample: Write,
) -> None:
    folder = write_sample("id: [1, 2]\nprompt: q\nchecks: [{answer: 3}]\n")
    with pytest.raises(SetupError, match="not a word, a number or a day"):
        open_suite(str(folder))
    for name, written in (("one", "7"), ("two", "'7'")):
        (folder / f"{name}.yaml").write_text(f"id: {written}\nprompt: q\nchecks: [{{answer: 3}}]\n")
    with pytest.raises(SetupError, match="the sample '7' twice"):
        open_suite(str(folder))


@pytest.mark.parametrize(
    ("check", "complaint"),
    [
        ("{answer: {name: total}}", "its value is None"),
        ("{answer: {name: total, value: [1, 2]}}", "its value is [1, 2]"),
        ("{stdout: '('}", "'(' is no regular expression: missing )"),
        ("{answer: {regex: '['}}", "'[' is no regular expression"),
        ("{file: a.csv, regex: '*'}", "'*' is no regular expression"),
        ("{any_of: [restart_and_run_all, {answer: 3}]}", "so it stands beside them"),
    ],
)
def test_a_check_that_can_only_come_out_one_way_is_refused(
    check: str, complaint: str, write_sample: Callable[..., Path]
) -> None:
    with pytest.raises(SetupError) as caught:
        open_suite(str(write_sample(f"prompt: q\nchecks: [{check}]\n")))
    assert complaint in str(caught.value)


def test_what_yaml_reads_as_more_than_a_text_can_be_said_in_an_answer(
    write_sample: Callable[..., Path],
) -> None:
    checks = "[{answer: {name: ok, value: true}}, {answer: {name: day, value: 2024-01-05}}]"
    (item,) = open_suite(str(write_sample(f"prompt: q\nchecks: {checks}\n"))).items
    assert item.checks == (
        AnswerCheck(name="ok", value="True"),
        AnswerCheck(name="day", value="2024-01-05"),
    )


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: [", "cannot be read"),
        ("- a", "holds ['a']"),
        ("prompt: x", "no checks"),
        ("prompt: x\nlimits: 3\nchecks: [namespace_intact]", "limits is 3"),
    ],
)
def test_a_file_that_is_no_sample_is_refused(
    text: str, complaint: str, write_sample: Write
) -> None:
    with pytest.raises(SetupError) as caught:
        open_suite(str(write_sample(text)))
    assert complaint in str(caught.value)


def test_a_suite_is_not_empty_and_has_each_index_once(write_sample: Write, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SetupError, match=r"no samples.* save-sample last"):
        open_suite(str(tmp_path / "empty"))
    write_sample(EVERYTHING, sales="a")
    folder = write_sample(EVERYTHING, "two.yml")
    with pytest.raises(SetupError, match="sample 7 twice"):
        open_suite(str(folder))
    with pytest.raises(SetupError, match="sample '1' twice"):  # --only 1 would mean both
        checked_suite(Suite("s", (Item(1, "a"), Item("1", "b"))))


def test_a_suite_that_is_not_there_is_told_with_those_that_are() -> None:
    with pytest.raises(SetupError, match="ds1000, dseval, dseval-errors, humaneval"):
        open_suite("nothing")
    with pytest.raises(SetupError, match="--data PATH"):
        open_suite("humaneval")


def write_lines(path: Path, *rows: Any) -> Path:
    text = "".join(json.dumps(row) + "\n" for row in rows)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def test_humaneval_asks_for_a_function_and_tests_it(tmp_path: Path) -> None:
    row = {
        "task_id": "HumanEval/0",
        "prompt": "def one():\n",
        "entry_point": "one",
        "canonical_solution": "    return 1\n",
        "test": "def check(candidate):\n    assert candidate() == 1\n",
    }
    (item,) = open_suite("humaneval", write_lines(tmp_path / "h.jsonl.gz", row)).items
    assert (item.index, item.reference) == ("HumanEval/0", ("def one():\n    return 1\n",))
    (check,) = item.checks
    assert isinstance(check, Solution)
    exec(check.program, {"cellwright_answer": "def one():\n    return 1"})
    with pytest.raises(AssertionError):
        exec(check.program, {"cellwright_answer": "def one():\n    return 2"})


def problem(library: str, number: int, tests: str) -> dict[str, Any]:
    return {
        "prompt": "Put 1 into result.",
        "reference_code": "result = 1",
        "metadata": {"problem_id": number, "library": library, "perturbation_origin_id": 0},
        "code_context": tests,
    }


EXECUTION = (
    "def exec_test(result, ans):\n    return result == ans\n"
    "def test_execution(solution):\n    env = {}\n    exec(solution, env)\n"
    "    assert exec_test(env['result'], 1)\n"
)
TEXT = "def test_string(solution):\n    assert 'for' not in solution\n"


def test_ds1000_runs_both_of_its_tests_and_leaves_out_what_needs_torch(tmp_path: Path) -> None:
    rows = (
        problem("Pandas", 0, EXECUTION),
        problem("Pandas", 1, EXECUTION + TEXT),
        problem("Pytorch", 2, EXECUTION),
    )
    first, second = open_suite("ds1000", write_lines(tmp_path / "d.jsonl", *rows)).items
    assert (first.index, second.index, first.group, first.family) == (0, 1, "Pandas", "Pandas 0")
    looping = {"cellwright_answer": "for result in [1]: pass"}
    programs = [check.program for item in (first, second) for check in item.checks]  # type: ignore[union-attr]
    exec(programs[0], dict(looping))
    with pytest.raises(AssertionError):
        exec(programs[1], dict(looping))


def test_ds1000_draws_the_same_numbers_each_time(tmp_path: Path) -> None:
    drawn = "import random\nimport numpy\nexec_test = None\n"
    drawn += "def test_execution(solution):\n    seen.add((random.random(), numpy.random.rand()))\n"
    (item,) = open_suite(
        "ds1000", write_lines(tmp_path / "d.jsonl", problem("Numpy", 1, drawn))
    ).items
    (check,) = item.checks
    assert isinstance(check, Solution)
    seen: set[tuple[float, float]] = set()
    for _ in range(2):
        exec(check.program, {"cellwright_answer": "", "seen": seen})
    assert len(seen) == 1


def test_data_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match="cannot be read"):
        open_suite("humaneval", tmp_path / "none.jsonl")
    with pytest.raises(SetupError, match="no 'task_id'"):
        open_suite("humaneval", write_lines(tmp_path / "x.jsonl", {"prompt": "a"}))
    (tmp_path / "torn.gz").write_bytes(gzip.compress(b"{}")[:-9])
    with pytest.raises(SetupError, match="cannot be read"):
        open_suite("ds1000", tmp_path / "torn.gz")
