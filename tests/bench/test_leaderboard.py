"""The leaderboard: who leads, what may be chance, and a page that loads nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command_line import Shell

from cellwright.bench.leaderboard import Leaderboard, leaderboard_page, rank, rank_all
from cellwright.bench.results import ResultFiles
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, SampleTime, Score


def sample(
    agent: str, index: int, passed: bool, cost: float | None, epoch: int = 1
) -> SampleRecord:
    return SampleRecord(
        f"{agent}:{index}:{epoch}",
        task=SampleTask("t", index, epoch=epoch),
        agent=agent,
        input="What is <b>the sum</b>?",
        status="completed" if index else "task limit reached",
        cells=(
            SampleCell(id="1", origin="agent", source="print('<script>x</script>')", status="ok"),
        ),
        result={"answer": 42} if index % 2 else "It is 42.",
        scores=(Score("sum", float(passed), passed=passed, explanation="41, not 42"),),
        usage={"prompt_tokens": 90, "completion_tokens": 10},
        cost_dollars=cost,
        time=SampleTime(seconds=2.0),
    )


def many(agent: str, passes: int, cost: float | None) -> list[SampleRecord]:
    return [sample(agent, index, index < passes, cost) for index in range(40)]


@pytest.fixture
def board() -> Leaderboard:
    return rank(
        "t",
        {
            "poor": many("poor", 4, None),
            "good": many("good", 36, 0.5),
            "cheap": many("cheap", 35, 0.001),
        },
    )


def test_the_best_comes_first_and_others_say_how_far_behind_they_are(board: Leaderboard) -> None:
    assert [entry.name for entry in board.entries] == ["good", "cheap", "poor"]
    good, cheap, poor = board.entries
    assert good.behind is None
    assert cheap.behind is not None
    assert cheap.p_adjusted is not None
    assert cheap.behind.difference.value == pytest.approx(-1 / 40)
    assert cheap.p_adjusted > 0.05 > (poor.p_adjusted or 0.0)
    assert (poor.cost_each, poor.tokens_each, poor.seconds_each) == (None, 100, 2.0)
    assert poor.failures == {"wrong: sum": 36}
    assert poor.failures.keys() == good.failures.keys()


def test_equal_shares_are_ordered_by_cost() -> None:
    found = rank("t", {"dear": many("dear", 9, 1.0), "cheap": many("cheap", 9, 0.1)})
    assert [entry.name for entry in found.entries] == ["cheap", "dear"]


def test_the_page_shows_all_and_runs_nothing(board: Leaderboard) -> None:
    page = leaderboard_page([board])
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "<b>the sum" not in page
    assert "default-src 'none'" in page
    assert page.count("<circle") == 2  # where the cost is known
    assert "logarithmic" in page
    assert "may be chance" in page
    assert "not by chance" in page
    assert page.count("<details>") == 40
    # Samples that tell the agents apart come before those that all pass.
    side = page.index("Side by side")
    assert page.index("<summary>35:", side) < page.index("<summary>0:", side)


def test_parts_of_points_and_samples_that_were_not_run_have_columns(board: Leaderboard) -> None:
    plain = leaderboard_page([board])
    assert '<th class="number">Points</th>' not in plain
    assert " not run" not in plain
    half = replace(sample("half", 0, False, None), scores=(Score("sum", 0.5, passed=False),))
    found = rank("t", {"half": [half], "whole": [sample("whole", n, True, None) for n in (0, 1)]})
    assert [(e.name, e.points.value, e.not_run) for e in found.entries] == [
        ("whole", 1.0, 0),
        ("half", 0.5, 1),
    ]
    page = leaderboard_page([found])
    assert '<th class="number">Points</th>' in page
    low, high = (
        f"{bound:.1%}" for bound in (found.entries[1].points.low, found.entries[1].points.high)
    )
    assert f'<td class="number">50.0% <small>{low} – {high}</small></td>' in page
    assert "0 of 1, 1 not run" in page


def test_side_by_side_stands_what_cells_put_out(board: Leaderboard) -> None:
    outputs: tuple[dict[str, Any], ...] = (
        {"output_type": "stream", "name": "stdout", "text": ["north ", "<260>\n"]},
        {"output_type": "display_data", "data": {"image/png": "aGk="}},
        {"output_type": "execute_result", "data": {"text/plain": "42"}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'south'", "traceback": []},
    )
    one = sample("a", 1, False, None)
    shown = replace(one, cells=(replace(one.cells[0], outputs=outputs),))
    page = leaderboard_page([rank("t", {"a": [shown]})])
    assert "<pre>north &lt;260&gt;\n\n42\nKeyError: &#x27;south&#x27;</pre>" in page
    long = replace(one.cells[0], outputs=({"output_type": "stream", "text": "x" * 2_000},))
    page = leaderboard_page([rank("t", {"a": [replace(one, cells=(long,))]})])
    assert "x" * 500 in page
    assert "x" * 601 not in page


def test_epochs_are_marked_and_a_page_can_hold_two_suites() -> None:
    tries = [sample("a", 1, epoch != 2, None, epoch) for epoch in (1, 2, 3)]
    page = leaderboard_page([rank("one", {"a": tries}), rank("two", {"a": tries[:1]})])
    assert "2 of 3" in page
    assert "<h1>one</h1>" in page
    assert "<h1>two</h1>" in page
    assert "<svg" not in page


def test_results_of_one_agent_all_stand_there() -> None:
    found = [("t", "m", "run", many("m", passes, None)) for passes in (30, 20, 10)]
    (board,) = rank_all(found)
    assert [entry.name for entry in board.entries] == ["m", "m (run)", "m (run, 2)"]


def test_a_person_writes_it_from_result_folders(tmp_path: Path) -> None:
    shell = Shell(tmp_path, {"CELLWRIGHT_HOME": str(tmp_path / "home")})
    for folder, agent, passes in (("one", "a", 3), ("one", "b", 1), ("two", "a", 2)):
        files = ResultFiles(tmp_path / folder, agent, "t")
        for made in many(agent, passes, 0.1)[:4]:
            files.add(made)
    done = shell.run("bench", "leaderboard", "one", "two", "--json")
    assert done.code == 0, done.err
    (suite,) = done.document["suites"]
    assert [entry["name"] for entry in suite["entries"]] == ["a", "a (two)", "b"]
    assert "a (two)" in (tmp_path / "leaderboard.html").read_text()
    again = shell.run("bench", "leaderboard", "one/a/t", "-o", "own.html")
    assert "75.0%" in again.out
    assert (tmp_path / "own.html").exists()
    assert "There are no results" in shell.run("bench", "leaderboard", "home").err
