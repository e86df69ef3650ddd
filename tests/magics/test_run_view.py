"""A run as a piece of HTML or text in a notebook."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hostile_runs import hostile_run, payloads
from magics.acting_html import Inspector
from recorded_runs import analysis_run, called, cell_run, record_of, replied, started

from cellwright.record.events import CellAdded, ModelAsked, RunFinished, ToolFinished, ToolStarted
from cellwright.record.messages import AssistantMessage
from cellwright.record.outputs import StreamOutput
from cellwright.record.run_record import RunRecord
from cellwright_magics.run_view import (
    answer_html,
    cells_html,
    conversation_text,
    messages_html,
    run_html,
)
from cellwright_magics.runs_widget import RunComparison, compare_runs, comparison_html

PAYLOADS = list(payloads("http://127.0.0.1:9/sink"))


@pytest.mark.parametrize("payload", PAYLOADS, ids=[f"payload-{n}" for n in range(len(PAYLOADS))])
def test_nothing_that_is_shown_acts_whatever_the_run_holds(payload: str) -> None:
    record = hostile_run(payload)
    compared = comparison_html(compare_runs(record, record_of(analysis_run())))
    for page in (
        *(draw(record) for draw in (run_html, answer_html, cells_html, messages_html)),
        compared,
    ):
        assert Inspector(page).wrong == []
        assert "\x1b" not in page
        assert "\u202e" not in page
    assert "\x1b" not in conversation_text((record,))


def test_a_run_is_told_in_order_with_its_end() -> None:
    page = run_html(record_of(analysis_run()))
    told = ["Which region sold most?", "I load the file.", "320 rows", "North sold", "completed"]
    places = [page.index(words) for words in told]
    assert places == sorted(places)


def test_text_has_code_indented_and_outputs_as_they_were() -> None:
    written = [
        started("say"),
        replied(called("c1", "read_notebook")),
        ToolStarted("c1", "read_notebook", {}, "look", "read"),
        ToolFinished("c1", "read_notebook", None, "ok"),  # type: ignore[arg-type]
        *cell_run("c2", "cell", "print(1)\nx", StreamOutput("stdout", "1\n")),
        CellAdded("note", "# Title", "markdown"),
        RunFinished("completed", "Done."),
    ]
    text = conversation_text((record_of(written), record_of(analysis_run())))
    lines = text.split("\n")
    assert lines[0] == "> say"
    assert "    print(1)\n    x\n1\n" in text
    assert "    # Title" in lines
    assert "[read_notebook: ok]" in lines
    assert "KeyError: 'regoin'" in lines
    assert "> Which region sold most?" in lines


def test_empty_parts_say_so() -> None:
    record = record_of([started(), RunFinished("task error", reason="It <failed>.")])
    assert answer_html(record) == "<p>It &lt;failed&gt;.</p>"
    assert cells_html(record) == "<p>No cell ran.</p>"
    assert messages_html(record) == "<p>Nothing was said.</p>"
    assert answer_html(record_of([started()])) == "<p>There is no answer.</p>"


def run_of(*events: object) -> RunRecord:
    return record_of([started(), *events])  # type: ignore[list-item]


def said(text: str) -> RunRecord:
    reply = replied(AssistantMessage(text))
    return run_of(ModelAsked(1, ()), reply, RunFinished("completed", text))


def first_difference(one: RunRecord, other: RunRecord) -> tuple[int, str, str, str]:
    compared = compare_runs(one, other)
    assert compared.difference is not None
    row = compared.difference
    return (compared.step, row.name, row.first, row.second)


def test_the_first_step_that_differs_is_found() -> None:
    assert first_difference(said("One."), said("Two.")) == (1, "said", "One.", "Two.")
    run = run_of(*cell_run("c1", "a", "x = 1"))
    failed = run_of(*cell_run("c1", "a", "x = 1", status="error"))
    assert first_difference(run, failed) == (1, "ran", "x = 1\n· ok", "x = 1\n· error")
    assert first_difference(run, said("One."))[1:] == ("ran / said", "x = 1\n· ok", "One.")
    assert first_difference(said("One."), run_of())[1:] == ("said", "One.", "(it had ended)")
    wrote = run_of(CellAdded("n", "# A", "markdown"))
    assert first_difference(wrote, run_of(CellAdded("n", "# B", "markdown")))[2:] == ("# A", "# B")
    called_twice = [
        run_of(
            replied(called("c1", "inspect")),
            ToolStarted("c1", "inspect", {"name": name}, "look", "read"),
            ToolFinished("c1", "inspect", None, "ok"),  # type: ignore[arg-type]
        )
        for name in "ab"
    ]
    assert first_difference(*called_twice)[2] == 'inspect {"name": "a"} · ok'
    running = run_of(*cell_run("c1", "a", "x = 1")[:-2])
    assert first_difference(running, run)[2] == "x = 1\n· running"


def test_runs_that_are_the_same_say_so_whatever_their_times() -> None:
    record = record_of(analysis_run())
    other = replace(record, run_id="20261122-093015-ab12cd", duration_seconds=99.0)
    compared = compare_runs(record, other)
    assert compared == RunComparison(compared.rows, 0)
    assert "Every step is the same." in comparison_html(compared)
    figures = {row.name: (row.first, row.second) for row in compared.rows}
    assert figures["run"] == (record.run_id, other.run_id)
    assert figures["seconds"][1] == "99.0"
    assert figures["cost"][0].startswith("$")
    assert (
        dict((r.name, r.first) for r in compare_runs(run_of(), record).rows)["cost"] == "not known"
    )
