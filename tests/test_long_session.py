"""A long conversation in small: facts of turn 3 are known in the last one, at a bounded cost."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from fakes import FakeKernel, Played

from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.outputs import StreamOutput
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext
from cellwright.store.blocks import BlockStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

BENCHMARK = Path(__file__).parent.parent / "benchmarks" / "long_session.py"
TURNS = 40
CONTEXT_TOKENS = 16_000


@dataclass(frozen=True)
class Session:
    """The conversation when it is over."""

    conversation: Conversation
    measured: Any
    wanted: list[str]


@pytest.fixture(scope="module")
def benchmark() -> ModuleType:
    spec = importlib.util.spec_from_file_location("long_session", BENCHMARK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def session(benchmark: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    database = open_database(tmp_path_factory.mktemp("long") / "runs.sqlite")
    cells = {
        benchmark.code_of(turn): Played((StreamOutput("stdout", benchmark.report(turn)),))
        for turn in range(1, TURNS + 1)
        if turn != benchmark.FACT_TURN
    }
    place = RunContext(
        FakeKernel(cells),
        RunStore(database),
        Redactor({}),
        "bench",
        notebook=MemoryNotebook(),
        blocks=BlockStore(database),
    )
    conversation, model = Conversation(place), benchmark.ReadingLM(CONTEXT_TOKENS)
    cell_id = benchmark.talk(conversation, model, TURNS)
    yield Session(conversation, model.measured, benchmark.wanted(cell_id))
    database.close()


def test_facts_of_turn_3_are_answered_in_the_last_turns(session: Session) -> None:
    assert session.measured.answers == session.wanted


def test_no_request_is_longer_than_the_budget(session: Session) -> None:
    assert max(session.measured.tokens) <= CONTEXT_TOKENS * 0.75
    assert sum(session.measured.tokens[-20:]) / 20 <= CONTEXT_TOKENS * 0.75


def test_the_prefix_a_provider_has_cached_is_most_of_a_request(session: Session) -> None:
    assert session.measured.reuse >= 0.75  # 0.96 at full length: fewer steps for the same text


def test_what_is_left_out_was_summed_up_in_rare_steps(session: Session) -> None:
    store = session.conversation.place.store
    assert isinstance(store, RunStore)
    runs = [store.record(run.run_id) for run in store.list(TURNS)]
    told = [record for record in runs if any("summed up" in notice for notice in record.notices)]
    assert 1 <= len(told) <= TURNS / 4
    for record in told:
        # the record of such a run is as whole as any other: what was left, then its own turn
        assert record.messages[record.earlier_messages].role == "user"
        assert record.prompt in repr(record.messages[record.earlier_messages])
        assert record.tools
