"""Checks in a real kernel: what passes, what fails, and what is an error of the check itself."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cellwright.bench.checks import (
    AnswerCheck,
    Assertion,
    Check,
    File,
    FinishedRun,
    NamespaceIntact,
    RestartAndRunAll,
    Scorer,
    Solution,
    Stdout,
    Variable,
    load_check,
    score,
    score_all,
    scored_by,
)
from cellwright.bench.environments import Room, Rooms, RoomScene, SetupFailedError
from cellwright.bench.suites import Item
from cellwright.errors import RunCancelled, SetupError
from cellwright.exports.sample import SampleCell, SampleRecord
from cellwright.stopping import Stop

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
SETUP = (
    "import pandas as pd\ndf = pd.DataFrame({'a': [3, 1, 2], 'b': list('xyz')})\nnames = {'p', 'q'}"
)
REFERENCE = "best = df.sort_values('a')\nmean = 2.0\nopen('made.txt', 'w')"
ITEM = Item("one", "Sort it.", setup=(SETUP,), reference=(REFERENCE,))
CELLS = (
    SampleCell("c1", "agent", "best = df.sort_values('a')\nprint('sorted', len(best))"),
    SampleCell("c2", "agent", "mean = 2.0\nmax = 7\nopen('out.txt', 'w').write('done')"),
    SampleCell(
        "c3",
        "agent",
        "import string\ngreeting = string.Template('$who')\ndef fill(table): table['c'] = 1",
    ),
)
ANSWER = (
    "The mean is 2. @mean[2.00] @best[x] @order[4,500,012,345] @large[9007199254740993] "
    "@loss[\N{MINUS SIGN}1,234] @rows[1_000] @place[cafe\u0301]"
)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with Rooms({}).open(ITEM, Stop()) as room:
        yield room


@pytest.fixture(scope="module")
def scene(room: Room) -> RoomScene:
    """A sample whose two cells have run."""
    ran = [replace(room.run(c.source, 60, c.id), origin="agent") for c in CELLS]
    return RoomScene(room, Rooms({}), ITEM, ANSWER, tuple(ran))


def frame(code: str, **options: Any) -> Variable:
    return Variable("best", expression=f"pd.DataFrame({code})", options=options)


SORTED = "{'a': [1, 2, 3], 'b': ['y', 'z', 'x']}"
PASSING: tuple[Check, ...] = (
    Variable("mean", 2),
    Variable("mean", 2.001, options={"tolerance": 0.01}),
    frame(SORTED, ignore_index=True),
    frame("{'a': [1.0, 2, 3], 'b': ['y', 'z', 'x']}, index=[1, 2, 0]"),
    frame(
        "{'b': ['x', 'y', 'z'], 'a': [3, 1, 2]}", ignore_row_order=True, ignore_column_order=True
    ),
    AnswerCheck(regex=r"mean is \d"),
    AnswerCheck(name="mean", value=2),
    AnswerCheck(name="best", value="x"),
    AnswerCheck(name="best", value="X"),
    AnswerCheck(name="order", value=4500012345),
    AnswerCheck(name="large", value=2**53 + 1),
    AnswerCheck(name="loss", value=-1234),
    AnswerCheck(name="loss", value=-1233.9, tolerance=0.5),
    AnswerCheck(name="place", value="Caf\u00e9"),
    File("out.txt"),
    File("out.txt", regex="^done$"),
    File("out.txt", exact="done\n"),
    File("other.txt", is_there=False),
    Stdout("sorted 3"),
    Assertion("assert best.shape == (3, 2)"),
    Assertion("assert max == 7 and min(best.a) == 1"),
    Assertion("assert greeting.substitute(who='you') == 'you'"),
    Assertion("fill(best)\nassert list(best) == ['a', 'b', 'c']"),
    Assertion("fill(table=best)\nassert list(best) == ['a', 'b', 'c']"),
    Solution("assert best.shape == (3, 2)", shares_variables=True),
    NamespaceIntact(),
)
FAILING: tuple[tuple[Check, str], ...] = (
    (Variable("mean", 3), "mean: it is 2.0, not 3"),
    (Variable("gone", 3), "gone: it is not there"),
    (frame(SORTED), "best: "),
    (frame("{'a': [1.0, 2, 3], 'b': ['y', 'z', 'x']}, index=[1, 2, 0]", check_dtype=True), "dtype"),
    (AnswerCheck(exact="3"), "not '3'"),
    (AnswerCheck(name="median", value=1), "no @median"),
    (AnswerCheck(name="mean", value=3), "it is 2.0"),
    (AnswerCheck(name="best", value="X", ignore_case=False), "not 'X'"),
    (AnswerCheck(name="order", value=4500012346), "it is 4500012345, not 4500012346"),
    (AnswerCheck(name="large", value=2**53), "not 9007199254740992"),
    (AnswerCheck(name="loss", value=1234), "it is -1234, not 1234"),
    (AnswerCheck(name="rows", value=1000), "it is '1_000'"),
    (AnswerCheck(regex="median"), "the answer does not match"),
    (File("other.txt"), "not there"),
    (File("out.txt", is_there=False), "out.txt is there"),
    (File("out.txt", exact="else"), "something else"),
    (File("out.txt", regex="else"), "does not match"),
    (Stdout("sorted 4"), "what was printed"),
    (Assertion("assert best.shape == (4, 2), 'too short'"), "too short"),
    (Assertion("assert best.shape == (5, 2)"), "it does not hold: assert best.shape == (5, 2)"),
    (Solution("assert best", shares_variables=False), "NameError"),
    (Assertion("assert open('made.txt').read()"), "No such file or directory: 'made.txt'"),
)
BROKEN: tuple[tuple[Check, str], ...] = (
    (Assertion("assert bset.shape == (3, 2)"), "NameError"),
    (Assertion("assert open('mdae.txt').read()"), "FileNotFoundError"),
    (Assertion("assert open('/made.txt').read()"), "FileNotFoundError"),
    (Assertion("import time; time.sleep(60)", timeout_seconds=0.5), "timeout"),
    (Variable("mean", expression="1 / 0"), "ZeroDivisionError"),
    (AnswerCheck(), "needs exact"),
    (AnswerCheck(regex="("), "PatternError|error"),
    (File("../outside"), "outside"),
)


@pytest.mark.parametrize("check", PASSING, ids=repr)
def test_a_check_that_holds_passes(check: Check, scene: RoomScene) -> None:
    found = score(check, scene)
    assert (found.passed, found.value, found.explanation, found.error) == (True, 1.0, "", "")


@pytest.mark.parametrize(("check", "why"), FAILING, ids=repr)
def test_a_check_that_does_not_hold_says_why(check: Check, why: str, scene: RoomScene) -> None:
    found = score(check, scene)
    assert (found.passed, found.value, found.error) == (False, 0.0, "")
    assert why in found.explanation


@pytest.mark.parametrize(("check", "why"), BROKEN, ids=repr)
def test_a_check_that_crashes_is_an_error_and_no_failure(
    check: Check, why: str, scene: RoomScene
) -> None:
    found = score(check, scene)
    assert (found.passed, found.value) == (False, None)
    assert any(word in found.error for word in why.split("|"))


def test_a_function_that_would_end_the_program_is_an_error_and_the_next_check_is_made(
    scene: RoomScene,
) -> None:
    exits, fails = Scorer(lambda run: sys.exit(3)), Scorer(lambda run: pytest.fail("not right"))
    found = score_all((exits, fails, Variable("mean", 2)), scene)
    assert [score.value for score in found] == [None, None, 1.0]
    assert [score.error for score in found] == ["SystemExit: 3", "Failed: not right", ""]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, RunCancelled])
def test_a_check_does_not_keep_a_benchmark_from_being_stopped(
    stop: type[BaseException], scene: RoomScene
) -> None:
    def check(run: FinishedRun) -> None:
        raise stop

    with pytest.raises(stop):
        score(Scorer(check), scene)


@pytest.mark.parametrize("code", ["import sys; sys.exit(0)", "import pytest; pytest.fail('no')"])
def test_a_check_of_a_file_that_ends_the_program_is_an_error(code: str, tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(f"def check(sample):\n    {code}\n")
    sample = SampleRecord("one")
    (found,) = scored_by(load_check(path), sample).scores
    assert (found.value, found.passed) == (None, False)
    assert found.error
    path.write_text(f"{code}\n")
    with pytest.raises(SetupError, match="cannot be run"):
        load_check(path)


def test_in_the_agents_kernel_too_what_it_did_not_make_is_a_failure(scene: RoomScene) -> None:
    item = replace(ITEM, reference=("median = 2",))
    lacking = RoomScene(scene._room, Rooms({}), item, "", ())
    found = score(Assertion("assert median == 2", in_kernel=True), lacking)
    assert (found.value, found.error) == (0.0, "")
    assert found.explanation.startswith("NameError: name 'median' is not defined")
    assert score(Assertion("assert mdeian == 2", in_kernel=True), lacking).value is None


def test_a_solution_that_never_ends_has_failed(scene: RoomScene) -> None:
    found = score(Solution("while True: pass", timeout_seconds=0.5), scene)
    assert (found.value, found.explanation) == (0.0, "it ended with 'timeout'")


def test_a_solution_gets_the_code_of_the_answer(scene: RoomScene) -> None:
    cut = RoomScene(scene._room, Rooms({}), ITEM, "So:\n```python\n    x = 1\n```\nDone.", ())
    assert score(Solution("assert cellwright_answer == '    x = 1'"), cut).passed


def test_run_anew_the_notebook_passes_the_other_checks(scene: RoomScene) -> None:
    checks = (Variable("mean", 2), Stdout("sorted 3"), RestartAndRunAll())
    assert [found.passed for found in score_all(checks, scene)] == [True] * 3


def test_hidden_state_is_found_when_the_notebook_is_run_anew(scene: RoomScene) -> None:
    hidden = replace(CELLS[1], source="mean = other")
    lucky = RoomScene(scene._room, Rooms({}), ITEM, "", (CELLS[0], hidden))
    found = score_all((Variable("mean", 2), RestartAndRunAll()), lucky)
    assert (found[0].passed, found[1].value) == (True, 0.0)
    assert "NameError" in found[1].explanation
    repaired = RoomScene(scene._room, Rooms({}), ITEM, "", (hidden, CELLS[1]))
    assert score_all((Variable("mean", 2), RestartAndRunAll()), repaired)[1].passed


def test_run_anew_a_check_may_fail_or_crash(scene: RoomScene) -> None:
    other = RoomScene(scene._room, Rooms({}), ITEM, "", (replace(CELLS[1], source="mean = 7"),))
    assert (
        "variable mean fails"
        in score_all((Variable("mean", 2), RestartAndRunAll()), other)[1].explanation
    )
    crashing = (Assertion("assert nothing"), RestartAndRunAll())
    assert "run anew, assertion" in score_all(crashing, other)[1].error


def test_a_damaged_namespace_is_found_and_what_may_change_is_not(rooms: Rooms) -> None:
    with rooms.open(ITEM, Stop()) as room:
        room.run("df.loc[0, 'a'] = 99\ndel names\nextra = 1", 60)
        scene = RoomScene(room, rooms, ITEM, "", ())
        found = score(NamespaceIntact(), scene)
        assert (found.value, found.explanation) == (0.0, "gone: names; changed: df")
        assert score(NamespaceIntact(("d*", "names")), scene).passed


def test_a_kernel_that_dies_in_a_check_is_an_error_but_a_failure_of_a_solution(
    rooms: Rooms,
) -> None:
    for check, value in (
        (Assertion("import os; os._exit(1)"), None),
        (Solution("import os; os._exit(1)"), 0.0),
    ):
        with rooms.open(Item("one", "x"), Stop()) as room:
            found = score(check, RoomScene(room, rooms, ITEM, "", ()))
            assert (found.passed, found.value) == (False, value)


def test_a_file_that_is_larger_than_memory_is_not_read_whole(room: Room, scene: RoomScene) -> None:
    with (room.folder / "huge.txt").open("wb") as file:
        file.truncate(1 << 40)  # a hole takes no room on the disk
    found = score(File("huge.txt", regex="done"), scene)
    assert (found.passed, found.error) == (False, "")
    assert "huge.txt is too large" in found.explanation
    (room.folder / "huge.txt").unlink()


def test_a_setup_that_fails_says_which_cell(rooms: Rooms) -> None:
    item = Item("one", "x", setup=("y = 1", "1 / 0"))
    with (
        pytest.raises(SetupFailedError, match="Setup cell 2 failed: ZeroDivisionError"),
        rooms.open(item, Stop()),
    ):
        pass


def test_a_room_has_the_files_and_none_of_the_keys(
    rooms: Rooms, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    (tmp_path / "sales.csv").write_text("a\n1\n")
    item = Item("one", "x", files={"data/sales.csv": tmp_path / "sales.csv"})
    with rooms.open(item, Stop()) as room:
        code = "import os\nprint(open('data/sales.csv').read(), 'OPENAI_API_KEY' in os.environ)"
        assert room.run(code, 60).outputs[0]["text"] == "a\n1\n False\n"
        folder = room.folder
    assert not folder.exists()
