"""What a notebook's cell shows of each event."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from magics.shown_events import ERROR, PaperScreen, call, done, finished, replied

from cellwright.record.content import Content, content
from cellwright.record.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CellAdded,
    CellEdited,
    CellStarted,
    Event,
    ModelRetrying,
    ModelSilent,
    Notice,
    ReasoningDelta,
    RunFinished,
    TextDelta,
    ToolFinished,
    ToolProgress,
)
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RunRecord
from cellwright.session.run import Run
from cellwright_magics.display import NotebookTranscript, QuietTranscript

RUN = Run(RunRecord("20261121-093015-ab12cd", "completed", "x", Parameters("m")))


def drawn(*events: Event, **options: bool) -> PaperScreen:
    screen = PaperScreen()
    transcript = NotebookTranscript(screen, folder=None, **options)
    for event in events:
        transcript.show(event)
    return screen


def test_text_grows_in_one_place_and_each_reply_has_its_own() -> None:
    screen = drawn(TextDelta("One"), TextDelta(" two"), replied("One two"), replied("Three"))
    assert screen.plain == ["One two", "Three"]


def test_sources_beside_a_question_open_their_documents() -> None:
    fields = {"id": "1", "title": "[1] a.md › Units", "type": "library", "source": "/docs/a.md"}
    told = "From the library: [1] a.md › Units."
    notice = Notice("info", told, code="looked_up", contents=(content("references", fields),))
    screen = PaperScreen()
    NotebookTranscript(screen, folder=Path("/docs/work")).show(notice)
    assert screen.markdown == ["> ℹ From the library: [&#91;1&#93; a.md › Units](../a.md)"]
    assert screen.plain == [f"ℹ {told}"]
    assert drawn(Notice("info", told)).plain == [f"ℹ {told}"]


def test_silence_is_told_after_two_seconds_and_gives_way() -> None:
    screen = drawn(ModelSilent(1.0))
    assert screen.plain == []
    screen = drawn(ModelSilent(1.0), ModelSilent(2.2), ModelSilent(3.3))
    assert screen.plain == ["waiting for the model… 3 s"]
    screen = drawn(ModelSilent(2.2), TextDelta("Hi"), replied("Hi"))
    assert screen.plain == ["Hi"]


def test_code_takes_the_place_of_a_note_that_is_no_longer_true() -> None:
    screen = drawn(ModelSilent(5.0), replied(""), call(code="x"), CellAdded("a", "x", call_id="c1"))
    assert screen.plain == ["x"]


def test_thinking_is_counted_and_not_shown() -> None:
    screen = drawn(ReasoningDelta("secret"), ReasoningDelta("a" * 10), ReasoningDelta("b" * 300))
    assert screen.plain == ["thinking… 316 characters"]
    screen = drawn(TextDelta("Hi"), ReasoningDelta("secret"))
    assert screen.plain == ["Hi"]


def test_a_retry_counts_down_and_voids_what_was_said() -> None:
    retry = ModelRetrying(2, 5.0, "The service is busy.")
    screen = drawn(TextDelta("Hal"), retry)
    assert screen.plain == ["The service is busy. Trying again in 5 s (attempt 2)."]
    screen = drawn(retry, ModelSilent(2.0))
    assert screen.plain == ["The service is busy. Trying again in 3 s (attempt 2)."]
    screen = drawn(retry, TextDelta("Hello"), ModelSilent(3.0), replied("Hello"))
    assert screen.plain == ["Hello"]


def test_code_is_shown_before_it_runs_with_what_it_does() -> None:
    screen = drawn(call(code="x = 1", title="Set\n*x*"), CellAdded("a", "x = 1", call_id="c1"))
    assert screen.markdown == ["**Set &#42;x&#42;**\n\n```python\nx = 1\n```"]
    assert screen.plain == ["Set *x*\nx = 1"]


def test_code_cannot_leave_its_block() -> None:
    screen = drawn(CellAdded("a", "'''\n```\n<img src=x>\n'''"))
    assert screen.markdown[0].startswith("````python\n")


def test_an_edited_cell_is_shown_and_code_that_was_shown_is_not_again() -> None:
    added = CellAdded("a", "x = 1", call_id="c1")
    screen = drawn(added, added, CellEdited("a", "x = 2", "hash", "c2"))
    assert screen.plain == ["x = 1", "x = 2"]


def test_a_markdown_cell_is_drawn() -> None:
    screen = drawn(CellAdded("a", "# T <b>", "markdown"))
    assert screen.markdown == ["# T &lt;b>"]


def test_code_can_be_kept_from_the_screen() -> None:
    assert drawn(CellAdded("a", "x = 1"), show_code=False).plain == []


def test_what_comes_after_a_cells_outputs_has_a_new_place() -> None:
    screen = drawn(ModelSilent(3.0), CellStarted("a"), ModelSilent(4.0))
    assert screen.plain == ["waiting for the model… 3 s", "waiting for the model… 4 s"]


def test_an_error_is_shown_in_brief() -> None:
    screen = drawn(finished("error", ERROR))
    assert screen.plain[0].startswith("✗ KeyError: 'x'\n")
    assert screen.markdown[0].startswith("```text\n✗ KeyError")
    assert drawn(finished("error", ERROR), short_errors=False).plain == []


@pytest.mark.parametrize(
    ("status", "note", "expected"),
    [
        ("ok", "", []),
        (
            "ok",
            "exit() was kept from ending the kernel.",
            ["ℹ exit() was kept from ending the kernel."],
        ),
        ("timeout", "Stopped after 2 s.", ["■ Stopped after 2 s."]),
        ("interrupted", "It sent too much.", ["■ It sent too much."]),
        ("interrupted", "stopped by the user", []),
        ("died", "The kernel died.", ["✗ The kernel died."]),
    ],
)
def test_how_a_cell_ended_is_told_where_its_outputs_do_not(
    status: str, note: str, expected: list[str]
) -> None:
    assert drawn(finished(status, note=note)).plain == expected


def test_a_call_that_shows_no_cell_has_a_line() -> None:
    screen = drawn(call("list_variables", "read"), done("list_variables"))
    assert screen.plain == ["▸ do list_variables"]
    screen = drawn(call("nope", ""), done("nope", "error", "There is no\ntool 'nope'."))
    assert screen.plain == ["✗ do nope: There is no tool 'nope'."]


def test_a_line_that_is_followed_by_something_else_is_not_drawn_again() -> None:
    looked = call("list_variables", "read")
    screen = drawn(looked, Notice("info", "Hm."), done("list_variables"))
    assert screen.plain == ["▸ do list_variables", "ℹ Hm."]


def test_a_refusal_of_the_mode_is_told_and_one_of_the_person_only_once() -> None:
    screen = drawn(
        call(code="x"), ApprovalAnswered("c1", False, "mode", "no"), done(status="refused")
    )
    assert screen.plain == ["✗ do run_cell: fine"]
    screen = drawn(
        call(code="x"),
        ApprovalAsked("c1", "It runs code."),
        ApprovalAnswered("c1", False, "person", "use y"),
        done(status="refused"),
    )
    assert screen.plain == ["x\n✗ not run: use y"]


def test_a_question_shows_the_whole_code_and_what_was_decided() -> None:
    asked: list[Event] = [call(code="x = 1", title="Set x"), ApprovalAsked("c1", "It runs code.")]
    screen = drawn(*asked)
    assert screen.plain == ["Set x\nx = 1\nIt runs code."]
    allowed = ApprovalAnswered("c1", True, "person")
    screen = drawn(*asked, allowed, CellAdded("a", "x = 1", call_id="c1"), done())
    assert screen.plain == ["Set x\nx = 1\n✓ allowed"]


def test_a_question_about_other_arguments_shows_them_all() -> None:
    screen = drawn(
        call("install_package", "install", name="numpy"), ApprovalAsked("c1", "It installs.")
    )
    assert '"name": "numpy"' in screen.plain[1]


def test_a_result_for_the_person_is_shown() -> None:
    screen = drawn(call("look", "read"), done("look", shown="\x1b[31ma table"))
    assert screen.plain == ["▸ do look", "a table"]
    assert screen.markdown[1] == "```text\na table\n```"


def told(*contents: Content, status: str = "ok") -> ToolFinished:
    return replace(done("look", status), contents=contents)


def test_000_26_what_a_tool_draws_for_the_person_is_drawn_and_the_rest_is_not() -> None:
    picture = content("image", {"base64": "AAAA", "filename": "plot"}, scope="user")
    hidden = content("text", "hidden", scope="llm")
    screen = drawn(call("look", "read"), told(picture, hidden, content("text", "**seen**")))
    assert screen.plain == ["▸ do look", "plot", "**seen**"]
    assert list(screen.shown.values())[1].data()["image/png"] == "AAAA"


def test_what_a_tool_had_drawn_before_it_failed_is_drawn() -> None:
    failed = Content("text", {"info": "No more."}, is_error=True)
    screen = drawn(call("look", "read"), told(content("text", "half"), failed, status="error"))
    assert screen.plain == ["✗ do look: fine", "half"]


def test_what_a_cell_showed_to_all_is_not_drawn_twice() -> None:
    both = (content("text", "in the cell"), content("text", "only here", scope="user"))
    screen = drawn(call(code="x"), CellAdded("a", "x", call_id="c1"), told(*both))
    assert screen.plain == ["x", "only here"]


def test_000_34_progress_changes_the_line_of_its_call_and_is_no_answer() -> None:
    looked = call("load", "execute")
    half, most = ToolProgress("c1", "loading\n3 GB…", 0.5), ToolProgress("c1", "indexing")
    screen = drawn(looked, half)
    assert screen.plain == ["▸ do load: loading 3 GB… 50%"]
    screen = drawn(looked, half, half, most, done("load"))
    assert screen.plain == ["▸ do load"]
    assert [bundle.plain for bundle in screen.sent] == [
        "▸ do load: loading 3 GB… 50%",
        "▸ do load: indexing",
        "▸ do load",
    ]
    assert drawn(half).plain == []


def test_an_unknown_result_is_left_out() -> None:
    assert drawn(done()).plain == []


def test_a_notice_says_what_to_do() -> None:
    screen = drawn(Notice("warning", "It was <cut>.", "Ask again."))
    assert screen.plain == ["⚠ It was <cut>. Ask again."]
    assert screen.markdown == ["> ⚠ It was &#60;cut&#62;. Ask again."]


def test_a_notice_in_the_middle_of_a_reply_does_not_replace_it() -> None:
    screen = drawn(TextDelta("Hel"), Notice("info", "Hm."), replied("Hello"))
    assert "ℹ Hm." in screen.plain
    assert "Hello" in screen.plain


def test_an_answer_is_shown_once() -> None:
    assert drawn(replied("42"), RunFinished("completed", "42")).plain == ["42"]
    submitted = (call("submit", "read", answer="**42**"), done("submit", shown="**42**"))
    assert drawn(*submitted, RunFinished("completed", "**42**")).markdown == ["**42**"]


def test_a_run_that_did_not_complete_says_why_once() -> None:
    screen = drawn(RunFinished("task limit reached", reason="It reached 3 steps."))
    assert screen.plain == ["It reached 3 steps."]
    notice = Notice("error", "The key is wrong.", "Set another.", "LMAccessError")
    ended = RunFinished("task error", reason="The key is wrong. …", cause="LMAccessError")
    assert drawn(notice, ended).plain == ["✗ The key is wrong. Set another."]
    screen = drawn(
        RunFinished("task error", reason="cellwright failed:\nTraceback", cause="internal")
    )
    assert screen.markdown == ["```text\ncellwright failed:\nTraceback\n```"]


def test_stopping_is_told_in_a_word() -> None:
    by_person = RunFinished("cancelled", reason="Run stopped by the user.", cause="stopped")
    assert drawn(by_person).plain == ["■ Stopped."]
    other = RunFinished("cancelled", reason="Run stopped: the server ends.", cause="stopped")
    assert drawn(other).plain == ["■ Stopped. Run stopped: the server ends."]


def test_the_last_line_sums_the_run_up() -> None:
    screen = PaperScreen()
    NotebookTranscript(screen).finish(RUN)
    assert screen.plain == [f"✓ completed · 0 steps · 0 cells · 0 tokens · 0.0 s · run {RUN.id}"]


def test_quiet_shows_questions_and_nothing_else() -> None:
    screen = PaperScreen()
    quiet = QuietTranscript(NotebookTranscript(screen))
    for event in (
        replied("Hello"),
        call(code="x = 1"),
        ApprovalAsked("c1", "It runs code."),
        ApprovalAnswered("c1", True, "person"),
        CellAdded("a", "x = 1", call_id="c1"),
        RunFinished("completed", "Done"),
    ):
        quiet.show(event)
    quiet.finish(RUN)
    assert screen.plain == ["x = 1\n✓ allowed"]
