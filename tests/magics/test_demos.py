"""``%agent demos``: what it takes, and what a typed question is asked with."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_service import text, tool_call
from magics.live_kernel import LiveKernel
from magics.typed_lines import command

from cellwright.bench.results import ResultFiles
from cellwright.errors import SetupError
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask, Score
from cellwright_magics.commands import Offers, commands_help
from cellwright_magics.demos import Demos


def write_results(folder: Path) -> Path:
    for name, value in (("x", 1.0), ("y", 0.0), ("z", 1.0)):
        sample = SampleRecord(
            f"mine:{name!r}:1",
            suite="held-out" if name == "z" else "mine",
            agent="m",
            task=SampleTask("mine", name),
            input=f"Find {name}.",
            cells=(SampleCell("a", "agent", f"{name} = 1", "ok"),),
            status="completed",
            result=f"It is {name}.",
            scores=(Score("c", value, passed=value == 1.0),),
        )
        ResultFiles(folder / "2026", "m", sample.suite).add(sample)
    return folder


def run(demos: Demos, line: str) -> str:
    return demos.run(command(line)).text


def test_good_runs_are_taken_listed_and_cleared(tmp_path: Path) -> None:
    folder, demos = write_results(tmp_path / "my runs"), Demos()
    assert run(demos, "demos").startswith("No examples.")
    shown = run(demos, f"demos from '{folder}'")
    assert "1 example for typed questions, about" in shown
    assert "- mine:'x':1 (m), score 1, " in shown
    assert "Held out for measuring, so never an example: 1." in shown
    assert run(demos, "demos") in shown
    assert "2 examples" in run(demos, f'demos from "{folder}" --score ">=0" --tokens 900')
    assert "of 900 tokens" in run(demos, "demos")
    assert "2 examples" not in run(demos, f'demos from "{folder}" --score 0 --limit 1')
    assert "without examples" in run(demos, "demos clear")
    assert demos.chosen().demos == ()


def test_runs_can_be_examples_for_one_assistant(tmp_path: Path) -> None:
    folder, demos = write_results(tmp_path), Demos()
    assert "1 example for @reviewer, about" in run(demos, f"demos from {folder} --for reviewer")
    assert [demo.question for demo in demos.of("reviewer").demos] == ["Find x."]
    assert demos.of("").demos == demos.of("other").demos == demos.chosen().demos == ()
    assert "for @reviewer" in run(demos, "demos")
    run(demos, "demos clear")
    assert demos.of("reviewer").demos == ()


def test_nothing_good_is_said(tmp_path: Path) -> None:
    folder = write_results(tmp_path)
    assert "None of 3 scored samples was taken." in run(Demos(), f"demos from {folder} --score >1")
    with pytest.raises(SetupError, match="no results in"):
        run(Demos(), f"demos from {tmp_path / 'gone'}")


def test_the_setting_names_where_they_are_from_until_a_line_says_otherwise(tmp_path: Path) -> None:
    demos = Demos()
    demos.configured = str(write_results(tmp_path))
    assert [demo.question for demo in demos.chosen().demos] == ["Find x."]
    assert demos.chosen() is demos.chosen()
    run(demos, "demos clear")
    assert demos.chosen().demos == ()


def test_its_words_are_offered_while_they_are_typed() -> None:
    offers = Offers(lambda: (), lambda: ())
    for typed, offered in (("demos ", ("clear", "from")), ("demos from runs --l", ("--limit",))):
        found = offers.complete(f"%agent {typed}")
        assert found is not None
        assert found.offers[:2] == offered
    assert {"add", "check", "list", "remove"} <= set(offers.after(["tool"], line=True))


def test_help_names_it() -> None:
    assert "/demos from [PLACE] [--score RULE]" in commands_help()


@pytest.mark.kernel
def test_a_typed_question_begins_with_the_examples_and_says_them_once(fresh: LiveKernel) -> None:
    write_results(fresh.home.parent / "runs")
    shown = fresh.run('%agent demos from runs --score ">=1" --limit 4')
    assert "1 example" in shown.results[0]
    hand_in = tool_call("hand_in", {"values": {"answer": "b"}}, id="a")
    cell = "%%agent --mode auto question -> answer: str\nWhich?"
    fresh.run(cell, [hand_in], answers=[])
    asked = str(fresh.service.requests[0].messages[1]["content"])
    assert asked.startswith("<examples>\n")
    assert 'Asked: Find x.\nRan:\n    x = 1\nResults: {"answer": "It is x."}' in asked
    assert asked.index("</examples>") < asked.index("Which?")
    assert fresh.last_run.prompt.startswith("Which?")
    fresh.run(cell, [hand_in], answers=[])
    sent = [str(m["content"]) for m in fresh.service.requests[0].messages if m["role"] == "user"]
    assert [content.startswith("<examples>") for content in sent] == [True, False]
    fresh.run("%agent demos clear\n%agent reset")
    reviewer = fresh.home.parent / ".cellwright" / "assistants" / "reviewer.toml"
    reviewer.parent.mkdir(parents=True, exist_ok=True)
    reviewer.write_text('description = "Reads"')
    fresh.run("%agent demos from runs --for reviewer")
    fresh.run("%%agent @reviewer\nWhich?", [text("b")], answers=[])
    asked = str(fresh.service.requests[0].messages[1]["content"])
    assert "Asked: Find x.\nRan:\n    x = 1\nAnswered: It is x.\n</examples>" in asked
    fresh.run("%agent demos clear\n%agent reset")
    fresh.run(cell, [text("none"), text("none")], answers=[])
    assert "<examples>" not in str(fresh.service.requests[0].body)
