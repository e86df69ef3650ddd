"""Requirement 002-57: a model that goes round in circles is warned and then stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fakes import FakeKernel
from scripted_model import ScriptedLM, calls, says

from cellwright.llm.budget import STOP_AT, WARN_AT, RepeatDetector
from cellwright.record.messages import Parameters, text_of
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunContext(FakeKernel(), RunStore(database), Redactor({}), "bench")
    database.close()


@pytest.mark.parametrize("codes", [("a",), ("a", "b")], ids=["the same call", "two calls in turn"])
def test_002_57_a_loop_is_warned_of_and_then_ends_the_run(
    place: RunContext, codes: tuple[str, ...]
) -> None:
    rounds = [
        calls(("run_cell", {"code": codes[number % len(codes)]}), start=number)
        for number in range(12)
    ]
    model = ScriptedLM([*rounds, says("So.")])
    conversation = Conversation(place)
    for _ in conversation.ask(RunRequest("Go.", Parameters("scripted"), mode="auto"), model):
        pass
    record = place.store.record(conversation.last_run_id)
    told = [text_of(m) for m in record.messages if m.role == "tool"]
    assert any("you have made this same call 3 times" in result for result in told)
    assert (record.status, record.cause) == ("task limit reached", "repeated_calls")
    assert len(model.prompts) < 12


def test_a_loop_whose_calls_differ_in_words_alone_is_noticed(place: RunContext) -> None:
    """The model thinks aloud: in its answer, in comments and in what a call says of itself."""
    words = [
        "First",
        "Again",
        "Perhaps",
        "Maybe so",
        "Hm",
        "Once more",
        "Then",
        "Well",
        "So",
        "Now",
    ]
    rounds = [
        calls(
            ("run_cell", {"code": f"# {word}, I look\nx = 1  # {word}", "title": f"{word}: look"}),
            text=f"{word}, let me look.",
            start=number,
        )
        for number, word in enumerate(words)
    ]
    model = ScriptedLM([*rounds, says("So.")])
    conversation = Conversation(place)
    list(conversation.ask(RunRequest("Go.", Parameters("scripted"), mode="auto"), model))
    record = place.store.record(conversation.last_run_id)
    assert (record.status, record.cause) == ("task limit reached", "repeated_calls")
    assert len(model.prompts) == STOP_AT
    detector = RepeatDetector()
    colours = [
        detector.count("run_cell", {"code": f"plot(color='#{n}{n}{n}')"}, "done") for n in range(9)
    ]
    assert max(colours) == 1, "what is no comment tells calls apart"


@pytest.mark.parametrize(
    ("show", "is_loop"),
    [
        (lambda n: f"<Frame at 0x7f{n:06x}>, loaded in {n}.31 ms", True),
        (lambda n: f"2026-11-23 10:{n:02}:00 nothing to do", True),
        (lambda n: f"page {'abcdefghijkl'[n]} of the list", False),
    ],
    ids=["an address", "a time", "other words"],
)
def test_results_that_differ_in_numbers_alone_are_a_loop_a_little_later(
    show: Callable[[int], str], *, is_loop: bool
) -> None:
    detector = RepeatDetector()
    code = {"code": "load()"}
    counts = [
        detector.count("run_cell", {**code, "title": f"try {n}"}, show(n))
        for n in range(STOP_AT + 2)
    ]
    assert (counts[-1] >= STOP_AT) == is_loop
    assert max(counts[: WARN_AT + 1]) < WARN_AT
    pages = [detector.count("read_page", {"number": n}, f"page {n}") for n in range(10)]
    assert max(pages) == 1, "another page is another call"
    waits = [
        detector.count("read_output", {"name": "c", "wait_seconds": 60}, f"epoch {n}")
        for n in range(10)
    ]
    assert max(waits) == 1, "a cell that goes on is waited for"
