"""Which data a prompt is taken to be about."""

from __future__ import annotations

from typing import Any

import pytest
from demo_session import RUN_CELL, after, code_of, exchange, user

from cellwright.demo.analyst import next_answer

FILES = "\n\n<files>\ndata/a.csv (1.2 kB)\n  x,y\nb.csv (3 bytes)\n</files>"


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("profile this" + FILES, "data/a.csv"),
        ("profile a.csv" + FILES, "data/a.csv"),
        ("profile b.csv" + FILES, "b.csv"),
        ("profile c.csv" + FILES, "c.csv"),
        ("Describe these files." + FILES, "data/a.csv"),
        ("sales.csv", "sales.csv"),
    ],
)
def test_the_file_is_the_one_that_is_meant(prompt: str, path: str) -> None:
    assert f'pd.read_csv("{path}")' in code_of(after(prompt))


def state(*lines: str) -> str:
    return "\n\n<notebook-state>\n" + "\n".join(lines) + "\n</notebook-state>"


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([user("describe it" + state("n: int 3", "one: DataFrame 3 rows"))], "one"),
        ([user("describe it" + state("one: DataFrame", "two: DataFrame"))], "two"),
        ([user("describe one" + state("one: DataFrame", "two: DataFrame"))], "one"),
        ([user("describe @one" + state("one: DataFrame", "two: DataFrame"))], "one"),
        ([user("@one describe" + state("one: DataFrame", "two: DataFrame"))], "one"),
        ([user("describe @three please")], "three"),
        (
            [
                user("x" + state("one: DataFrame", "two: DataFrame")),
                user("describe" + state("gone: two")),
            ],
            "one",
        ),
        (
            [
                user("x" + state("one: DataFrame")),
                user("describe" + state("new kernel: names gone", "two: DataFrame")),
            ],
            "two",
        ),
        (
            [user("describe @x\n\n<variables>\n@x: DataFrame 3 rows\n</variables>")],
            "x",
        ),
        (
            [
                user("x" + state("one: DataFrame", "two: DataFrame")),
                *exchange(0, "one.info()", "(cut)"),
                user("describe"),
            ],
            "one",
        ),
    ],
)
def test_the_variable_is_the_one_that_is_meant(messages: list[Any], name: str) -> None:
    assert f"{name}.info()" in code_of(next_answer(messages, RUN_CELL))


def test_a_file_read_before_is_used_as_long_as_its_variable_is_there() -> None:
    read = exchange(0, 'import pandas as pd\n\na = pd.read_csv("a.csv")', "9 rows")
    messages = [user("x"), *read, user("profile a.csv" + state("a: DataFrame 9 rows"))]
    assert "read_csv" not in code_of(next_answer(messages, RUN_CELL))
    messages = [user("x"), *read, user("profile a.csv")]
    assert "read_csv" not in code_of(next_answer(messages, RUN_CELL))
    messages += exchange(1, "", "NameError: name 'a' is not defined")
    assert "read_csv" in code_of(next_answer(messages, RUN_CELL))


@pytest.mark.parametrize(
    ("result", "state_"), [("9", "new kernel"), ("9", "gone: b, a"), ("ValueError: x", "")]
)
def test_a_file_is_read_again_where_its_variable_is_not_there(result: str, state_: str) -> None:
    read = exchange(0, 'a = pd.read_csv("a.csv")', result)
    messages = [user("x" + state("folder: /")), *read, user("profile a.csv" + state(state_))]
    assert "read_csv" in code_of(next_answer(messages, RUN_CELL))


def test_no_frame_in_the_kernel_ends_with_what_to_name() -> None:
    none = "data files: []"
    assert "I found no data" in after("what is the mean of n", "", none).text
    tools = frozenset({"run_cell", "list_variables"})
    assert "I found no data" in after("mean of n", "x: int 3\n: DataFrame", none, tools=tools).text
    looking = frozenset({"list_variables"})
    assert "I found no data" in after("mean of n", "x: int 3", tools=looking).text
