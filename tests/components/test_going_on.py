"""Cells that take long: the model is told what they have shown and may do something else."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from fakes import FakeKernel, FakeNotebook
from scripted_model import ScriptedLM, calls, says

from cellwright.errors import KernelDiedError, RunCancelled, ToolError
from cellwright.kernels import CellRequest, OutputSink, PatientKernel
from cellwright.record.events import CellFinished, Event, RunFinished, ToolFinished
from cellwright.record.events import CellOutput as Shown
from cellwright.record.messages import Parameters, Prompt, Reply, ToolMessage, text_of
from cellwright.record.outputs import Execution, StreamOutput
from cellwright.record.run_record import RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay
from cellwright.settings import Limits, from_env
from cellwright.stopping import Stop
from cellwright.store.database import Database, open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

SOFT_SECONDS = 0.02


class SlowKernel(FakeKernel):
    """Runs a cell ``slow`` until it is let go; says what it does."""

    runs_elsewhere = True

    def __init__(self) -> None:
        super().__init__(probes={"list_variables": []})
        self.go_on = threading.Event()
        self.dies = False
        self.was_interrupted_by = ""

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[Shown, None, Execution]:
        if "slow" not in request.code:
            return (yield from super().execute(request, stop, on_output))
        self.requests.append(request)
        yield on_output(Shown(request.cell_id, StreamOutput("stdout", "begun\n")))
        while not self.go_on.wait(0.002):
            if stop.is_set():
                self.was_interrupted_by = stop.reason
                raise RunCancelled(stop.reason)
        if self.dies:
            raise KernelDiedError("The kernel died.")
        yield on_output(Shown(request.cell_id, StreamOutput("stdout", "done\n")))
        return Execution("ok", 0.5, execution_count=7)


@dataclass
class Talk:
    """A conversation whose cells may go on."""

    place: RunContext
    kernel: SlowKernel
    stop: Stop

    def ask(self, *script: Any, soft: float | None = SOFT_SECONDS) -> list[Event]:
        conversation = Conversation(self.place)
        limits = Limits(soft_wait_seconds=soft)
        question = RunRequest("Go.", Parameters("m"), mode="auto", limits=limits)
        return list(conversation.ask(question, ScriptedLM(script), self.stop))

    @property
    def record(self) -> RunRecord:
        assert isinstance(self.place.store, RunStore)
        return self.place.store.record(self.place.store.last_started)

    def let_go(self, answer: Reply) -> Any:
        """The model answers, and just then the cell can end."""

        def said(prompt: Prompt) -> Reply:
            self.kernel.go_on.set()
            return answer

        return said


@pytest.fixture
def database() -> Iterator[Database]:
    made = open_database(None)
    yield made
    made.close()


@pytest.fixture
def talk(database: Database) -> Talk:
    kernel, notebook = SlowKernel(), FakeNotebook()
    place = RunContext(kernel, RunStore(database), Redactor({}), "cli", notebook=notebook)
    return Talk(place, kernel, Stop())


def run(code: str, start: int = 0) -> Reply:
    return calls(("run_cell", {"code": code}), start=start)


def look(talk: Talk, start: int, **more: Any) -> Any:
    """The model looks at the cell again, by the id it was told."""

    def said(prompt: Prompt) -> Reply:
        name = talk.record.cells[0].cell.id
        return calls(("read_output", {"name": name, **more}), start=start)

    return said


def told(record: RunRecord) -> list[str]:
    return [text_of(said) for said in record.messages if isinstance(said, ToolMessage)]


def test_the_model_is_told_what_a_long_cell_has_shown_and_the_cell_goes_on(talk: Talk) -> None:
    events = talk.ask(run("slow"), talk.let_go(says("It still runs.")))
    record = talk.record
    (first,) = told(record)
    assert "begun" in first
    assert "done" not in first
    assert "still runs" in first
    assert f"read_output(name={record.cells[0].cell.id!r}" in first
    (ran,) = record.executions
    assert [getattr(output, "text", "") for output in ran.outputs] == ["begun\ndone\n"]
    assert ran.execution == Execution("ok", 0.5, execution_count=7)
    assert [call.status for call in record.calls] == ["ok"]
    kinds = [event.kind for event in events]
    assert kinds[-1] == "run_finished"
    assert kinds.index("tool_finished") < kinds.index("cell_finished")
    assert (record.status, record.answer) == ("completed", "It still runs.")


def test_the_model_can_wait_for_more_and_gets_one_result_for_each_call(talk: Talk) -> None:
    def wait(prompt: Prompt) -> Reply:
        talk.kernel.go_on.set()
        reply: Reply = look(talk, 2, wait_seconds=30)(prompt)
        return reply

    events = talk.ask(run("slow"), look(talk, 1), wait, says("Done."))
    first, second, third = told(talk.record)
    assert "still runs" in first
    assert "still runs" in second
    assert ("begun" in third, "done" in third, "still runs" in third) == (True, True, False)
    finished = [event.call_id for event in events if isinstance(event, ToolFinished)]
    assert finished == ["call_0", "call_1", "call_2"]
    assert sum(isinstance(event, CellFinished) for event in events) == 1


def test_the_model_can_end_the_cell_and_the_run_goes_on(talk: Talk) -> None:
    talk.ask(run("slow"), look(talk, 1, interrupt=True), run("1 + 1", 2), says("Done."))
    record = talk.record
    assert talk.kernel.was_interrupted_by == "interrupted by the agent"
    assert [ran.execution and ran.execution.status for ran in record.executions] == [
        "interrupted",
        "ok",
    ]
    assert "interrupted by the agent" in told(record)[1]
    assert record.status == "completed"


def test_a_later_cell_waits_its_turn_and_the_model_is_told_of_the_end(talk: Talk) -> None:
    later = talk.let_go(run("1 + 1", 1))
    talk.ask(run("slow"), later, look(talk, 2), look(talk, 3), says("Done."))
    record = talk.record
    assert [request.code for request in talk.kernel.requests] == ["slow", "1 + 1"]
    _, second, third, fourth = told(record)
    assert "which went on, has ended: ok" in second
    assert "begun\ndone" in third
    assert "has ended; you were told" in fourth
    assert [len(ran.outputs) for ran in record.executions] == [1, 0]


def test_what_needs_the_kernel_is_told_that_a_cell_runs(talk: Talk) -> None:
    other = calls(("list_variables", {}), ("read_notebook", {}), start=1)
    talk.ask(run("slow"), other, talk.let_go(says("Done.")))
    _, variables, notebook = told(talk.record)
    assert "still runs" in variables
    assert "slow" in notebook
    assert [call.status for call in talk.record.calls] == ["ok", "error", "ok"]


def test_stop_ends_the_cell_that_goes_on_and_the_run(talk: Talk) -> None:
    def press(prompt: Prompt) -> Reply:
        talk.stop.set()
        return says("Never mind.")

    talk.ask(run("slow"), press)
    record = talk.record
    assert (record.status, record.cause) == ("cancelled", "stopped")
    assert talk.kernel.was_interrupted_by == "stopped by the user"
    (ran,) = record.executions
    assert ran.execution is not None
    assert ran.execution.status == "interrupted"


def test_a_kernel_that_dies_meanwhile_ends_the_run(talk: Talk) -> None:
    talk.kernel.dies = True
    talk.ask(run("slow"), talk.let_go(says("I wait.")))
    record = talk.record
    assert (record.status, record.cause) == ("task error", "kernel_died")
    assert [ran.execution and ran.execution.status for ran in record.executions] == ["died"]


def test_a_model_that_fails_does_not_end_the_cell(talk: Talk) -> None:
    def fail(prompt: Prompt) -> Reply:
        threading.Timer(0.05, talk.kernel.go_on.set).start()
        raise RuntimeError("no")

    talk.ask(run("slow"), fail)
    assert (talk.record.status, talk.record.cause) == ("task error", "internal")
    (ran,) = talk.record.executions
    assert ran.execution is not None
    assert ran.execution.status == "ok"


def test_who_abandons_the_run_ends_the_cell(talk: Talk) -> None:
    conversation = Conversation(talk.place)
    limits = Limits(soft_wait_seconds=SOFT_SECONDS)
    question = RunRequest("Go.", Parameters("m"), mode="auto", limits=limits)
    events = conversation.ask(question, ScriptedLM([run("slow"), says("x")]))
    for event in events:
        if isinstance(event, ToolFinished):
            break
    events.close()  # type: ignore[attr-defined]
    assert talk.kernel.was_interrupted_by == "interrupted by the agent"
    assert (talk.record.status, talk.record.cause) == ("cancelled", "abandoned")


def test_a_short_cell_is_answered_as_ever(talk: Talk) -> None:
    talk.kernel.go_on.set()
    events = talk.ask(run("slow"), says("Done."), soft=30.0)
    (answer,) = told(talk.record)
    assert "begun\ndone" in answer
    assert "still runs" not in answer
    kinds = [event.kind for event in events]
    assert kinds.index("cell_finished") < kinds.index("tool_finished")


def test_without_the_setting_a_cell_is_waited_for(talk: Talk) -> None:
    threading.Timer(0.1, talk.kernel.go_on.set).start()
    talk.ask(run("slow"), look(talk, 1, wait_seconds=1), says("Done."), soft=None)
    first, second = told(talk.record)
    assert "begun\ndone" in first
    assert "has ended; you were told" in second


def test_a_replay_waits_for_the_cell(talk: Talk) -> None:
    later = talk.let_go(run("1 + 1", 2))
    script = (run("slow"), look(talk, 1), later, look(talk, 3), says("It ran."))
    talk.ask(*script)
    record, fresh = talk.record, SlowKernel()
    fresh.go_on.set()
    place = RunContext(fresh, talk.place.store, Redactor({}), "replay", notebook=FakeNotebook())
    list(replay(record, place))
    assert talk.record.answer == "It ran."
    assert [call.status for call in talk.record.calls] == ["ok"] * 4
    assert compare(record, talk.record) == ()


def test_the_person_interrupts_the_cell_and_with_it_the_run(talk: Talk) -> None:
    class Interrupted(SlowKernel):
        def execute(
            self, request: CellRequest, stop: Stop, on_output: OutputSink
        ) -> Generator[Shown, None, Execution]:
            yield on_output(Shown(request.cell_id, StreamOutput("stdout", "begun\n")))
            self.go_on.wait(5)
            raise RunCancelled("interrupted by the person")

    kernel = Interrupted()
    other = Talk(RunContext(kernel, talk.place.store, Redactor({}), "cli"), kernel, Stop())
    events = other.ask(run("slow"), other.let_go(says("I wait.")))
    assert isinstance(events[-1], RunFinished)
    assert (events[-1].status, events[-1].reason) == (
        "cancelled",
        "Run interrupted by the person.",
    )


def test_the_setting_comes_from_the_environment() -> None:
    assert from_env({}).limits.soft_wait_seconds is None
    assert from_env({"CELLWRIGHT_SOFT_WAIT": "45"}).limits.soft_wait_seconds == 45.0


def test_a_run_begun_after_another_that_was_stopped_has_a_free_kernel(talk: Talk) -> None:
    talk.ask(run("slow"), talk.let_go(says("Done.")))
    began = time.monotonic()
    talk.ask(run("1 + 1"), says("Two."))
    assert time.monotonic() - began < 5
    assert talk.record.answer == "Two."


def test_a_long_output_so_far_is_cut_and_can_be_read(talk: Talk) -> None:
    class Chatty(SlowKernel):
        def execute(
            self, request: CellRequest, stop: Stop, on_output: OutputSink
        ) -> Generator[Shown, None, Execution]:
            lines = "".join(f"line {number} of many\n" for number in range(5_000))
            yield on_output(Shown("another", StreamOutput("stdout", "late")))
            yield on_output(Shown(request.cell_id, StreamOutput("stdout", lines)))
            self.go_on.wait(5)
            return Execution("ok", 0.5)

    kernel = Chatty()
    other = Talk(RunContext(kernel, talk.place.store, Redactor({}), "cli"), kernel, Stop())

    def read(prompt: Prompt) -> Reply:
        name = f"{other.record.cells[0].cell.id}.so_far"
        return calls(("read_output", {"name": name, "pattern": "line 2500 "}), start=1)

    other.ask(run("slow"), read, other.let_go(says("Done.")))
    first, second = told(other.record)
    assert "so_far" in first
    assert "line 2500 of many" in second


def test_a_failure_of_our_own_in_the_cells_thread_is_the_calls_result(talk: Talk) -> None:
    class Broken(SlowKernel):
        def execute(
            self, request: CellRequest, stop: Stop, on_output: OutputSink
        ) -> Generator[Shown, None, Execution]:
            raise RuntimeError("broken")
            yield

    kernel = Broken()
    other = Talk(RunContext(kernel, talk.place.store, Redactor({}), "cli"), kernel, Stop())
    other.ask(run("slow"), says("It failed."))
    assert "RuntimeError: broken" in told(other.record)[0]
    assert other.record.status == "completed"


def test_a_patient_kernel_is_its_kernel_where_no_cell_goes_on() -> None:
    kernel, stop = SlowKernel(), Stop()
    patient = PatientKernel(kernel, 0.01)
    assert (patient.session, patient.is_alive()) == (kernel.session, True)
    assert patient.describe() == kernel.describe()
    running = patient.execute(CellRequest("a", "1"), stop, lambda output: output)
    assert list(running) == []
    patient.left = patient.begin(CellRequest("b", "slow"), stop, lambda output: output)
    with pytest.raises(ToolError, match="The cell 'b' still runs"):
        patient.describe()
    patient.interrupt()
    assert kernel.interrupted
    pressed = Stop()
    pressed.set()
    with pytest.raises(RunCancelled):
        patient.wait_until_free(pressed)
    patient.left.interrupt()
    patient.wait_until_free(stop)
    assert patient.left.execution().status == "interrupted"
    assert 0 < patient.left.seconds < 5


def test_the_stop_of_a_run_stops_its_cell_before_it_begins() -> None:
    kernel, stop = FakeKernel(), Stop()
    stop.set("stopped")
    going = PatientKernel(kernel, 1).begin(CellRequest("a", "1"), stop, lambda output: output)
    going.wait(Stop())
    with pytest.raises(RunCancelled, match="stopped"):
        going.execution()
