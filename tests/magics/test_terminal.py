"""What a terminal prints of each event."""

from __future__ import annotations

from magics.shown_events import ERROR, call, done, finished, replied

from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    Event,
    ModelRetrying,
    ModelSilent,
    Notice,
    RunFinished,
    TextDelta,
    ToolProgress,
)
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.run import Run
from cellwright_magics.terminal import TerminalTranscript


def printed(*events: Event, **options: bool) -> list[str]:
    lines: list[str] = []
    transcript = TerminalTranscript(lines.append, **options)
    for event in events:
        transcript.show(event)
    transcript.finish(Run(RunRecord("r", "completed", "x", Parameters("m"))))
    return lines


def test_replies_are_printed_whole_and_without_escapes() -> None:
    assert printed(TextDelta("He"), replied("\n\x1b]52;c;eA==\x07\x1b[31mHello\n")) == ["Hello"]
    assert printed(replied(" ")) == []


def test_waiting_is_told_once_for_each_reply() -> None:
    silent = ModelSilent(2.5)
    lines = printed(ModelSilent(1.0), silent, silent, replied("Hi"), silent)
    assert lines == ["… waiting for the model", "Hi", "… waiting for the model"]


def test_a_retry_has_a_line() -> None:
    assert printed(ModelRetrying(2, 0.2, "Busy.")) == ["! Busy. Trying again in 1 s (attempt 2)."]


def test_code_is_printed_before_it_runs() -> None:
    added = CellAdded("a", "if x:\n    y", call_id="c1")
    assert printed(call(code="x", title="Look"), added, added) == ["▸ Look", "    if x:\n        y"]
    assert printed(CellEdited("a", "x", "hash")) == ["▸", "    x"]
    assert printed(call(title="Look"), added, show_code=False) == ["▸ Look"]


def test_errors_are_printed_in_brief() -> None:
    assert printed(finished("error", ERROR))[0].startswith("✗ KeyError: 'x'\n")
    assert printed(finished("error", ERROR), short_errors=False) == []
    assert printed(finished("timeout", note="Stopped after 2 s.")) == ["■ Stopped after 2 s."]


def test_calls_that_show_no_cell_have_a_line() -> None:
    assert printed(call("look", "read"), done("look", shown="a\nb")) == [
        "▸ do look",
        "    a\n    b",
    ]
    assert printed(call("look", "read"), done("look", "error", "gone")) == ["✗ do look: gone"]
    assert printed(call("submit"), done("submit", shown="x")) == []
    assert printed(done("other")) == []


def test_000_34_progress_is_a_line_of_its_own() -> None:
    half = ToolProgress("c1", "loading", 0.5)
    assert printed(call("load"), half, done("load")) == ["▸ do load: loading 50%", "▸ do load"]
    assert printed(half) == []


def test_a_question_shows_the_code_and_a_refusal_is_told() -> None:
    asked = (call(code="x = 1"), ApprovalAsked("c1", "It runs code."))
    allowed = (
        *asked,
        ApprovalAnswered("c1", True, "person"),
        CellAdded("a", "x = 1", call_id="c1"),
    )
    assert printed(*allowed, done()) == ["▸ It runs code.", "    x = 1"]
    refused = (*asked, ApprovalAnswered("c1", False, "person"), done(status="refused"))
    assert printed(*refused)[-1] == "✗ not run"


def test_notices_answers_and_endings() -> None:
    assert printed(Notice("info", "Hm.")) == ["ℹ Hm."]
    assert printed(replied("42"), RunFinished("completed", "42")) == ["42"]
    assert printed(RunFinished("completed", "42")) == ["42"]
    assert printed(RunFinished("task limit reached", reason="Too long.")) == ["Too long."]
    notice = Notice("error", "No key.", "", "LMAccessError")
    ended = RunFinished("task error", reason="No key.", cause="LMAccessError")
    assert printed(notice, ended) == ["✗ No key."]
