"""What a turn tells of the kernel and its notebook: all at first, then what changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from fakes import FakeKernel, FakeNotebook
from scripted_model import ScriptedLM, calls, says

from cellwright.record.events import CellAdded, CellEdited
from cellwright.record.messages import Parameters, text_of
from cellwright.record.outputs import Cell
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

VARIABLES = [{"name": "df", "type": "DataFrame", "text": "3 rows x 2 columns"}]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[RunContext]:
    database = open_database(tmp_path / "runs.sqlite")
    kernel = FakeKernel(probes={"list_variables": lambda **_: VARIABLES})
    notebook = FakeNotebook(Cell("a1", "code", "df = load()", execution_count=1))
    yield RunContext(kernel, RunStore(database), Redactor({}), "panel", notebook=notebook)
    database.close()


def told(conversation: Conversation, *script: object) -> str:
    model = ScriptedLM([*script, says("Done.")])  # type: ignore[list-item]
    question = RunRequest("Go on.", Parameters("scripted"), mode="auto")
    for _ in conversation.ask(question, model):
        pass
    return text_of(next(m for m in reversed(model.prompts[0].messages) if m.role == "user"))


def test_the_first_turn_tells_the_outline_and_the_next_what_the_person_changed(
    place: RunContext,
) -> None:
    conversation = Conversation(place)
    first = told(conversation)
    assert "df: DataFrame" in first
    assert "  a1 [1] df = load()" in first
    assert "<notebook-state>" not in told(conversation)
    assert isinstance(place.notebook, FakeNotebook)
    place.notebook.apply(CellEdited("a1", "df = load(2)", ""))
    place.notebook.apply(CellAdded("b2", "df.plot()"))
    third = told(conversation)
    assert "the person edited cell a1:\n  df = load(2)" in third
    assert "the person added cell b2:\n  df.plot()" in third
    assert "df: DataFrame" not in third


def test_what_the_agent_did_itself_is_not_told_as_the_persons(place: RunContext) -> None:
    conversation = Conversation(place)
    told(conversation, calls(("run_cell", {"code": "x = 1"})))
    assert "the person" not in told(conversation)


def test_a_file_that_lags_behind_the_page_tells_no_changes(place: RunContext) -> None:
    conversation = Conversation(replace(place, lane="magic"))
    assert "a1 [1] df = load()" in told(conversation)
    assert isinstance(place.notebook, FakeNotebook)
    place.notebook.apply(CellEdited("a1", "df = load(2)", ""))
    assert "<notebook-state>" not in told(conversation)


def test_a_new_kernel_is_announced(place: RunContext) -> None:
    conversation = Conversation(place)
    told(conversation)
    assert isinstance(place.kernel, FakeKernel)
    place.kernel.session = "second"
    again = told(conversation)
    assert "new kernel: names from earlier turns no longer exist" in again
    assert "df: DataFrame" in again


def test_after_the_history_was_made_shorter_everything_is_told_again(place: RunContext) -> None:
    conversation = Conversation(place)
    for _ in range(3):
        told(conversation)
    conversation.resume(conversation.messages)
    assert "  a1 [1] df = load()" in told(conversation)
