"""Cells of a real kernel that go on while the model is asked again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from scripted_model import ScriptedLM, calls, says

from cellwright.kernels.fresh import FreshKernel
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import CellOutput
from cellwright.record.messages import Parameters, Prompt, Reply, ToolMessage, text_of
from cellwright.record.outputs import StreamOutput
from cellwright.record.run_record import RecordedEvent, RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Limits
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = pytest.mark.kernel
WAITS = """\
import os, time
print("begun", flush=True)
while not os.path.exists("gate"):
    time.sleep(0.01)
print("done", flush=True)
late = 1"""


@dataclass
class Bench:
    place: RunContext
    folder: Path

    def ask(self, *script: Any, soft: float = 0.5) -> RunRecord:
        limits = Limits(soft_wait_seconds=soft, cell_timeout_seconds=30)
        question = RunRequest("Go.", Parameters("m"), mode="auto", limits=limits)
        list(Conversation(self.place).ask(question, ScriptedLM(script)))
        return self.record

    @property
    def record(self) -> RunRecord:
        assert isinstance(self.place.store, RunStore)
        return self.place.store.record(self.place.store.last_started)

    def opening(self, reply: Reply) -> Any:
        """The model answers, and the cell may end."""

        def said(prompt: Prompt) -> Reply:
            (self.folder / "gate").touch()
            return reply

        return said


@pytest.fixture
def database() -> Iterator[Database]:
    made = open_database(None)
    yield made
    made.close()


@pytest.fixture
def bench(client: FreshKernel, database: Database, tmp_path: Path) -> Bench:
    notebook = MemoryNotebook(is_editable=True)
    place = RunContext(client, RunStore(database), Redactor({}), "cli", notebook=notebook)
    return Bench(place, tmp_path)


def told(record: RunRecord) -> list[str]:
    return [text_of(said) for said in record.messages if isinstance(said, ToolMessage)]


def test_a_long_cell_goes_on_others_queue_and_all_is_recorded_and_in_the_notebook(
    bench: Bench,
) -> None:
    look = calls(("list_variables", {}), start=1)
    later = bench.opening(calls(("run_cell", {"code": "late + 1"}), start=2))
    record = bench.ask(calls(("run_cell", {"code": WAITS})), look, later, says("Done."))
    first, variables, second = told(record)
    assert ("begun" in first, "done" in first, "still runs" in first) == (True, False, True)
    assert "still runs" in variables
    assert "has ended: ok" in second
    assert "2" in second
    assert [ran.execution and ran.execution.status for ran in record.executions] == ["ok", "ok"]
    assert record.executions[0].outputs == (StreamOutput("stdout", "begun\ndone\n"),)
    notebook = bench.place.notebook
    assert notebook is not None
    cells = notebook.cells()
    assert cells[0].outputs == (StreamOutput("stdout", "begun\ndone\n"),)
    assert [cell.execution_count is not None for cell in cells] == [True, True]


def test_outputs_are_drawn_while_the_model_thinks(bench: Bench) -> None:
    drawn, seen = threading.Event(), []

    def listen(events: tuple[RecordedEvent, ...]) -> None:
        if any(isinstance(each.event, CellOutput) and "done" in str(each.event) for each in events):
            drawn.set()

    def think(prompt: Prompt) -> Reply:
        (bench.folder / "gate").touch()
        seen.append(drawn.wait(10))
        return says("Done.")

    place = bench.place
    watched = RunContext(
        place.kernel, place.store, place.redactor, "cli", notebook=place.notebook, listener=listen
    )
    Bench(watched, bench.folder).ask(calls(("run_cell", {"code": WAITS})), think)
    assert seen == [True]


def test_the_model_ends_a_cell_and_the_kernel_goes_on(bench: Bench) -> None:
    def end(prompt: Prompt) -> Reply:
        name = bench.record.cells[0].cell.id
        return calls(("read_output", {"name": name, "interrupt": True}), start=1)

    after = calls(("run_cell", {"code": "6 * 7"}), start=2)
    record = bench.ask(calls(("run_cell", {"code": WAITS})), end, after, says("Done."))
    assert [ran.execution and ran.execution.status for ran in record.executions] == [
        "interrupted",
        "ok",
    ]
    assert "42" in told(record)[2]
    assert record.status == "completed"


def test_the_time_limit_of_a_cell_that_goes_on_holds(bench: Bench) -> None:
    cell = calls(("run_cell", {"code": WAITS, "timeout_seconds": 1}))
    record = bench.ask(cell, says("I wait."), soft=0.2)
    (ran,) = record.executions
    assert ran.execution is not None
    assert ran.execution.status == "timeout"
    assert record.status == "completed"
