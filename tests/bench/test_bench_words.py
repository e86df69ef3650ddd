"""What ``cellwright bench`` says where something is missing, is there twice, or is not enough."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Shell

from cellwright.bench.results import Failure, ResultFiles
from cellwright.commands.bench_running import read_plan
from cellwright.exports.sample import SampleRecord, SampleTask, Score

FRESH = ("--kernels", "fresh")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder with a suite of two samples that need no kernel, and no service."""
    folder = tmp_path / "work" / "my tasks"
    folder.mkdir(parents=True)
    for name in ("one", "two"):
        (folder / f"{name}.yaml").write_text(
            f"prompt: Say {name}.\nchecks: [{{answer: {name}}}]\nanswer: {name}\n"
        )
    environ = {"CELLWRIGHT_HOME": str(tmp_path / "home"), "CELLWRIGHT_OLLAMA": "off"}
    return Shell(folder.parent, environ)


def run(shell: Shell, output: str, *options: str) -> None:
    done = shell.run("bench", "run", "my tasks", "-o", output, *FRESH, *options)
    assert done.code == 0, done.err


def scored(index: str, *, cost: float | None = None) -> SampleRecord:
    return SampleRecord(
        f"my tasks:{index!r}:1",
        task=SampleTask("my tasks", index),
        agent="noop",
        status="completed",
        scores=(Score("answer", 1.0, passed=True),),
        cost_dollars=cost,
    )


def test_a_run_says_which_samples_did_not_pass_and_why(shell: Shell) -> None:
    done = shell.run("bench", "run", "my tasks", "--agent", "noop", "-o", "out", *FRESH)
    assert "noop: 2 not passed, all in out/noop/my_tasks/runs.jsonl" in done.err
    assert "  one: the answer is 'I did nothing.', not 'one'" in done.err
    (shell.folder / "a.jsonl").write_text('{"id": "one", "code": "1"}\n')
    done = shell.run("bench", "run", "my tasks", "--agent", "answers:a.jsonl", "-o", "b", *FRESH)
    assert "1 not run, all in b/answers_a.jsonl/my_tasks/error.jsonl" in done.err
    assert "  two: START_FAILED: " in done.err
    assert "has no answer for the sample 'two'" in done.err


def test_scoring_again_keeps_what_the_suite_has_no_more(shell: Shell) -> None:
    run(shell, "out", "--agent", "oracle")
    ResultFiles(shell.folder / "out", "oracle", "my tasks").add(scored("gone"))
    again = shell.run("bench", "rescore", "out")
    assert again.code == 0, again.err
    assert "1 samples have no checks in the suite and keep their scores" in again.err
    assert "3/3 · 3 passed" in again.err
    files = ResultFiles(shell.folder / "out", "oracle", "my tasks")
    files.runs.unlink()
    again = shell.run("bench", "rescore", "out")
    assert (again.code, "There are no results in 'out' yet" in again.err) == (2, True)


def test_results_of_two_suites_cannot_be_compared(shell: Shell) -> None:
    for root, index in (("a", "1"), ("b", "2"), ("b", "3")):
        ResultFiles(shell.folder / root, "noop", "my tasks").add(scored(index))
    done = shell.run("bench", "compare", "a", "b")
    assert (done.code, "'a' and 'b' have no sample in common" in done.err) == (2, True)
    ResultFiles(shell.folder / "other", "noop", "tasks").add(scored("2"))
    done = shell.run("bench", "compare", "b", "other")
    assert "'b' are results of 'my_tasks', 'other' of 'tasks'." in done.err
    ResultFiles(shell.folder / "a", "noop", "my tasks").add(scored("2"))
    done = shell.run("bench", "compare", "a", "b")
    assert (
        "There are no results in 'c'. Name a folder" in shell.run("bench", "compare", "c", "a").err
    )
    ResultFiles(shell.folder / "a", "oracle", "my tasks").add(scored("2"))
    both = shell.run("bench", "compare", "a", "b").err
    assert "There are 2 results in 'a'. Name one: a/noop/my_tasks, a/oracle/my_tasks" in both
    assert done.out.splitlines()[-2:] == ["1 only in a, left out", "1 only in b, left out"]


def test_a_damaged_line_is_named_wherever_its_sample_is_left_out(shell: Shell) -> None:
    run(shell, "out", "--agent", "oracle")
    runs = shell.folder / "out" / "oracle" / "my_tasks" / "runs.jsonl"
    first, second = runs.read_text().splitlines(keepends=True)
    runs.write_text(first[:100] + "\n" + second)
    for command in (
        ("leaderboard", "out"),
        ("compare", "out", "out"),
        ("export", "out", "--to", "csv"),
        ("resume", "out"),
        ("rescore", "out"),
    ):
        done = shell.run("bench", *command)
        assert "is damaged: what cannot be read is left out (line 1)" in done.err, command
        assert str(runs.relative_to(shell.folder)) in done.err


def test_a_folder_does_not_hide_a_public_suite(shell: Shell) -> None:
    (shell.folder / "humaneval").mkdir()
    done = shell.run("bench", "run", "humaneval", "--data", "humaneval/x.jsonl")
    assert (done.code, "The data 'humaneval/x.jsonl' cannot be read" in done.err) == (2, True)


def test_a_check_that_needs_a_judge_is_refused_before_the_run_where_there_is_none(
    shell: Shell,
) -> None:
    (shell.folder / "my tasks" / "one.yaml").write_text(
        "prompt: Greet.\nchecks: [{any_of: [{answer: hi}, {judge: It is polite.}]}]\n"
    )
    done = shell.run("bench", "run", "my tasks", "--agent", "noop", "-o", "out", *FRESH)
    assert "A check of the sample 'one' needs a model that judges. Name one: --judge" in done.err
    assert (done.code, (shell.folder / "out").exists()) == (2, False)


def test_two_agents_cannot_have_one_folder(shell: Shell) -> None:
    for name in ("a", "b"):
        (shell.folder / name).mkdir()
        (shell.folder / name / "x.jsonl").write_text('{"id": "one", "code": "1"}\n')
    files = ("--agent", "answers:a/x.jsonl", "--agent", "answers:b/x.jsonl")
    done = shell.run("bench", "run", "my tasks", "-o", "out", *FRESH, *files)
    assert (done.code, "Two agents are named 'answers:x.jsonl'" in done.err) == (2, True)
    assert not (shell.folder / "out").exists()  # so the right command can be given again


def test_the_total_budget_counts_what_was_spent_before(shell: Shell) -> None:
    run(shell, "out", "--agent", "noop", "--only", "one")
    (shell.folder / "out" / "config.yaml").write_text(
        (shell.folder / "out" / "config.yaml").read_text().replace('"one"', "")
    )
    files = ResultFiles(shell.folder / "out", "noop", "my tasks")
    files.add(scored("one", cost=2.0))
    done = shell.run("bench", "resume", "out", "--total-budget", "1.5", "--json")
    assert (done.code, done.document["total"], done.document["not_begun"]) == (1, 1, 1)
    done = shell.run("bench", "resume", "out")
    assert "1 not begun" in done.out
    files.add_failure(Failure("two", 1, "NETWORK_ERROR", "no route", 3, cost_dollars=0.25))
    done = shell.run("bench", "resume", "out", "--total-budget", "1.5")
    assert "The samples cost $2.2500 of $1.5000, so no more were begun" in done.err
    done = shell.run("bench", "resume", "out")
    assert "The samples cost $2.2500 of $1.5000, so no more were begun" in done.err
    done = shell.run("bench", "resume", "out", "--total-budget", "2.5", "--json")
    assert (done.code, done.document["total"], done.document["not_begun"]) == (0, 2, 0)
    assert read_plan(shell.folder / "out").total_budget_dollars == 2.5
