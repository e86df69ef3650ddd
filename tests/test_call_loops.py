"""Requirement 002-57: a model that goes round in circles is warned and then stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fakes import FakeKernel
from scripted_model import ScriptedLM, calls, says

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
    assert any("time you made this same call" in result for result in told)
    assert (record.status, record.cause) == ("task limit reached", "repeated_calls")
    assert len(model.prompts) < 12
