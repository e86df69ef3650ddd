"""The person's failed cell, mended in a real kernel."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from demo_session import Session, tool

pytestmark = pytest.mark.kernel
Runner = Callable[[str], str]

FRAME = (
    "import pandas as pd\n"
    "df = pd.DataFrame({'City': ['Rome', 'Oslo'], 'score': [1, 3],"
    " 'price': ['$1.50', '$2,000.00'], 'day': ['2026-01-02', '3 Feb 2026']})"
)


@pytest.mark.parametrize(
    ("cell", "mended", "printed"),
    [
        ("print(df['scoer'].mean())", "print(df['score'].mean())", "2.0"),
        ("print(df[['City', 'Score']].shape)", "print(df[['City', 'score']].shape)", "(2, 2)"),
        ("print(math.sqrt(4))", "import math\n\nprint(math.sqrt(4))", "2.0"),
        ("total = 3\nprint(toatl + 1)", "total = 3\nprint(total + 1)", "4"),
        (
            "print(df.groupby('City').mean().shape)",
            "print(df.groupby('City').mean(numeric_only=True).shape)",
            "(2, 1)",
        ),
        (
            "for i in range(2)\n    print('loop', i)",
            "for i in range(2):\n    print('loop', i)",
            "loop 1",
        ),
        ("print(df['price'].astype(float).sum())", None, "2001.5"),
        (
            "print(pd.to_datetime(df['day'], format='%Y-%m-%d').max())",
            'print(pd.to_datetime(df[\'day\'], format="mixed", errors="coerce").max())',
            "2026-02-03",
        ),
        ("print(len(pd.read_csv('slaes.csv')))", "print(len(pd.read_csv('sales.csv')))", "360"),
        ("print(df.shapee)", "print(df.shape)", "(2, 4)"),
        ("age = 7\nprint('age: ' + age)", "age = 7\nprint('age: ' + str(age))", "age: 7"),
        (
            "count = 0\nshare = 1 / count",
            'count = 0\nshare = 1 / count if count else float("nan")',
            "",
        ),
    ],
)
def test_the_last_cell_is_mended_and_run(
    session: Session, run: Runner, cell: str, mended: str | None, printed: str
) -> None:
    run(FRAME)
    assert "Error: " in run(cell)
    turn = session.ask("fix the error in my last cell")
    assert turn.answer.startswith("Fixed: your cell failed with"), turn.answer
    assert mended in (None, turn.codes[-1])
    assert printed in turn.results[-1]


def test_two_errors_in_one_cell_are_mended_one_after_the_other(
    session: Session, run: Runner
) -> None:
    run(FRAME)
    run("print(math.floor(df['scoer'].mean()))")
    turn = session.ask("please fix the bug in my last cell")
    assert len(turn.codes) == 3
    assert turn.results[-1].strip() == "2"
    assert turn.answer.count("\n- ") == 2


def test_looking_at_the_error_leaves_no_variable(session: Session, run: Runner) -> None:
    run("error = 'mine'\nplaces = [1]")
    run("1 + undefined_name_here")
    session.ask("fix my error")
    assert run("print(error, places)").strip() == "mine [1]"
    assert "NameError" in run("difflib")


def test_an_error_no_rule_knows_is_left_alone(session: Session, run: Runner) -> None:
    run("raise LookupError('nothing like it')")
    turn = session.ask("fix the error")
    assert "I have no rule that mends this one" in turn.answer
    assert "LookupError: nothing like it" in turn.answer
    assert len(turn.codes) == 1


def test_a_repair_that_does_not_help_is_admitted(session: Session, run: Runner) -> None:
    run("values = [1]\nvalue(7)")
    turn = session.ask("fix the error in my cell")
    assert "It still fails, now with `TypeError: 'list' object is not callable`" in turn.answer


def test_without_an_error_there_is_nothing_to_fix(session: Session, run: Runner) -> None:
    run("import sys\nsys.last_value = None")
    assert "nothing to fix" in session.ask("fix the error in my last cell").answer


def test_a_missing_package_is_asked_for(open_session: Callable[..., Session], run: Runner) -> None:
    def call(name: str, arguments: dict[str, str]) -> str:
        if name == "install_package":
            run("import sys, types\nsys.modules['not_there'] = types.ModuleType('not_there')")
            return f"{arguments['name']} 1.0 is installed."
        return run(arguments["code"])

    run("import not_there\nprint('imported')")
    tools = [tool("run_cell", "code"), tool("install_package", "name")]
    turn = open_session(call, *tools).ask("fix the error in my last cell")
    assert turn.tools == ["run_cell", "install_package", "run_cell"]
    assert "imported" in turn.results[-1]
    run("import sys; del sys.modules['not_there']")


def test_a_missing_package_that_cannot_be_installed_is_said(session: Session, run: Runner) -> None:
    run("import not_there_at_all.inner")
    answer = session.ask("fix the error in my last cell").answer
    assert "`not_there_at_all` is not installed, and I have no tool" in answer


def test_code_in_the_prompt_is_run(session: Session, run: Runner) -> None:
    turn = session.ask("run this:\n```python\nanswer = 6 * 7\nprint(answer)\n```")
    assert turn.codes == ["answer = 6 * 7\nprint(answer)"]
    assert turn.answer == "The code ran without an error."


def test_code_in_the_prompt_that_fails_is_mended(session: Session, run: Runner) -> None:
    run(FRAME)
    turn = session.ask("run this:\n```python\nprint(df['scor'].sum())\n```")
    assert turn.codes[-1] == "print(df['score'].sum())"
    assert turn.answer.startswith("Fixed:")
