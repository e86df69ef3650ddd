"""``cellwright usage``, and who answers ``cellwright run``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from assistant_files import write_assistant
from command_line import Shell, keep
from fake_service import FakeService, text
from recorded_runs import analysis_run

from cellwright.cli import main


@pytest.fixture
def recorded(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name, value in shell.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("COLUMNS", "200")
    return shell


def said(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["usage", *arguments]) == 0
    return capsys.readouterr().out


def test_002_81_usage_is_a_table_and_a_document(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys) == "No model was asked yet.\n"
    keep(recorded, analysis_run())
    table = said(capsys, "--by", "model")
    assert table.startswith("MODEL")
    assert "demo-analyst" in table
    document: Any = json.loads(said(capsys, "--by", "run", "--json"))
    (row,) = document["rows"]
    assert row["calls"] >= 1
    assert row["cost_dollars"] > 0
    assert document["budgets"] == []


def test_002_81_budgets_are_set_and_taken_away(
    recorded: Shell, capsys: pytest.CaptureFixture[str]
) -> None:
    told = said(capsys, "--budget", "5", "--budget-tokens", "1000")
    assert "$0.0000 of $5.00 used (0%)" in told
    assert "0 of 1,000 tokens used (0%)" in told
    assert said(capsys, "--budget", "off", "--budget-tokens", "none") == "No model was asked yet.\n"
    with pytest.raises(SystemExit):
        main(["usage", "--budget", "-1"])


@pytest.mark.kernel
def test_002_32_an_assistant_answers_the_command_line(shell: Shell) -> None:
    instructions = 'instructions = "Mind the {{what}}."\nmodel = "auto"'
    write_assistant(Path(shell.folder), "reviewer", instructions)
    script = [text("One."), text("Two.")]
    with FakeService(script) as service:
        there = shell.asking(service)
        first = there.run("run", "@reviewer check it", "--var", "what=units", "--mode", "auto")
        second = there.run("run", "check", "-a", "reviewer", "--mode", "auto", "--json", "-q")
    assert (first.code, first.out) == (0, "One.\n")
    assert "· @reviewer ·" in first.err
    heads = [request.messages[0]["content"] for request in service.requests]
    assert heads[0].endswith("Mind the units.")
    assert heads[1].endswith("Mind the {{what}}.")
    assert service.requests[0].messages[-1]["content"].startswith("check it")
    shown = shell.run("show", second.document["id"])
    assert "assistant reviewer" in shown.out
    assert shell.run("run", "x", "--var", "2=3").code == 2


@pytest.mark.kernel
def test_an_assistant_with_a_misspelt_key_answers_nothing_on_the_command_line(shell: Shell) -> None:
    write_assistant(Path(shell.folder), "reviewer", "tols = ['read_*']")
    with FakeService([text("never")]) as service:
        there = shell.asking(service)
        runs = [
            there.run("run", "@reviewer check it", "--mode", "auto"),
            there.run("run", "check", "-a", "reviewer", "--mode", "auto"),
        ]
        assert service.requests == []
    for run in runs:
        assert run.code == 2
        assert "reviewer.toml: tols: is not known, did you mean 'tools'" in run.err
