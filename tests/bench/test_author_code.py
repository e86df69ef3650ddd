"""Code of a suite's author that is no Python is told before a sample runs."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest
from command_line import Shell

from cellwright.bench.author_code import check_code
from cellwright.bench.checks import AnyOf, Assertion, Check, Variable
from cellwright.bench.suites import Item, Needs, Suite
from cellwright.errors import SetupError

BROKEN = "total = sum(x\nassert total"
"""Its first line has a parenthesis that is never closed."""


def suite_of(*checks: Check, setup: tuple[str, ...] = (), needs: Needs | None = None) -> Suite:
    item = Item("sums", "Add.", checks=checks, setup=setup, needs=needs or Needs())
    return Suite("s", (item,), source="my_tasks")


def complaint(suite: Suite, python: str | None = "") -> str:
    with pytest.raises(SetupError) as caught:
        check_code(suite, python)
    return str(caught.value)


def test_all_that_is_wrong_is_told_with_sample_check_line_and_pythons_message() -> None:
    told = complaint(
        suite_of(
            Variable("x", expression="pd.Series([1, 2)"),
            Assertion("assert x == 3\nassert x =< 4"),
            AnyOf((Assertion("assert 1"), Assertion("\n  \nif x:\nassert y"))),
            Assertion("x = 3 +\n", in_kernel=True),
            setup=("import pandas as pd", "%matplotlib inline\nimport numpy as"),
        )
    )
    assert told.startswith("'my_tasks' has code that is no Python: 'sums', setup 2, line 2: ")
    for said in (
        "'sums', check 1 (variable x), line 1: closing parenthesis ')' does not match",
        "'sums', check 2 (assert), line 2: invalid syntax: assert x =< 4",
        "'sums', check 3, any_of check 2 (assert), line 4: expected an indented block",
        "'sums', check 4 (assert), line 1: invalid syntax",
    ):
        assert said in told


@pytest.mark.parametrize(
    "code",
    [
        "%%time\nx = 1",
        "%%bash\nfor f in *; do echo; done",
        "!ls -l | head\nfiles = !ls",
        "%load_ext autoreload\n%autoreload 2",
        "import pandas as pd\npd.read_csv?",
        "pip install thing",
        "ls",
        "\n\n>>> x = 1\n... ",
        "    x = 1\n    y = 2",
        "await thing()",
        "x = '\\d'",
        "",
    ],
)
def test_what_ipython_understands_is_code(code: str) -> None:
    check_code(suite_of(setup=(code,)))
    check_code(suite_of(Assertion(code, in_kernel=True)))


def test_a_test_in_a_clean_kernel_is_compiled_as_it_is_run() -> None:
    check_code(suite_of(Assertion("%time x\nassert x"), Variable("x", expression="  1 + 1")))
    assert "'await' outside function" in complaint(suite_of(Assertion("assert await x")))
    assert "null bytes" in complaint(suite_of(Variable("x", expression="1\0")))


def test_a_setup_that_may_change_the_syntax_is_left_to_its_run() -> None:
    check_code(suite_of(Assertion(BROKEN), setup=("%load_ext shorthand", "let x be 3")))


def test_what_a_newer_python_may_read_is_left_to_it(tmp_path: Path) -> None:
    newer = tmp_path / "newer"
    newer.write_text("#!/bin/sh\necho 99 0\n")
    newer.chmod(0o755)
    broken = suite_of(Assertion(BROKEN))
    check_code(broken, str(newer))
    check_code(broken, None)
    check_code(broken, str(tmp_path / "none"))
    check_code(suite_of(Assertion(BROKEN), needs=Needs(image="python:4")))
    check_code(suite_of(Assertion(BROKEN), needs=Needs(python=str(newer))))
    assert "was never closed" in complaint(broken, sys.executable)
    older = tmp_path / "older"
    older.write_text("#!/bin/sh\necho 3 8\n")
    older.chmod(0o755)
    assert "was never closed" in complaint(broken, str(older))


def test_a_reference_that_does_not_run_keeps_no_suite_from_running() -> None:
    suite = suite_of(Assertion("assert x"))
    check_code(replace(suite, items=(replace(suite.items[0], reference=(BROKEN,)),)))


def test_a_suite_is_refused_before_anything_runs(tmp_path: Path) -> None:
    folder = tmp_path / "work" / "tasks"
    folder.mkdir(parents=True)
    text = (
        "prompt: Add.\nchecks:\n  - variable: x\n    expression: 'sum([1, 2)'\n  - assert: x ==\n"
    )
    (folder / "sums.yaml").write_text(text)
    (folder / "right.yaml").write_text("prompt: Say one.\nchecks: [{answer: one}]\n")
    environ = {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"}
    shell = Shell(folder.parent, environ)
    done = shell.run("bench", "run", "tasks", "--agent", "noop", "-o", "out")
    assert (done.code, (folder.parent / "out").exists()) == (2, False)
    assert "'sums', check 1 (variable x), line 1: closing parenthesis" in done.err
    assert "'sums', check 2 (assert), line 1: invalid syntax: x ==" in done.err
    assert "Mend it." in done.err
