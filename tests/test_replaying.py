"""Replays of runs with a person's tools, typed results and refusals, in a kernel of their own."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from fake_service import Answer, FakeService, text, tool_call

from cellwright.agent.policy import ApprovalAnswer as Said
from cellwright.agent.typed_answers import TypedAnswers
from cellwright.commands.repeating import compare_replay, difference_lines
from cellwright.kernels import CellRequest, Kernel
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.llm.signatures import Signature
from cellwright.record.events import Event, RunStarted, RunStatus, ToolStarted
from cellwright.record.messages import Parameters
from cellwright.record.run_record import RecordedCall, RunRecord
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import Difference, compare, replay, rerun
from cellwright.session.run import Run
from cellwright.session.services import ModelService
from cellwright.settings import Mode
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]
DOUBLE = "def double(n: int) -> int:\n    'Twice as much.'\n    return 2 * n"
OFFER = "from cellwright.tools.live_registry import LIVE\nLIVE.clear()\nLIVE.add('{0}', {0})"
DOUBLED = [tool_call("double", {"n": 4}), text("It is 8.")]


def run(kernel: Kernel, code: str) -> None:
    list(kernel.execute(CellRequest("c", code), Stop(), lambda output: output))


@pytest.fixture(scope="module")
def kernels(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[FreshKernel]]:
    """One to record in, and one that stands for a fresh one."""
    folder = str(tmp_path_factory.mktemp("replaying"))
    started = [start_kernel(cwd=folder), start_kernel(cwd=folder)]
    yield started
    for kernel in started:
        kernel.close()


@dataclass(frozen=True)
class Desk:
    """Where runs are recorded and done again."""

    place: RunContext
    fresh: FreshKernel

    def ask(
        self, script: Sequence[Answer], executed: tuple[str, ...] = (), **options: Any
    ) -> RunRecord:
        conversation = Conversation(self.place)
        conversation.resume((), executed)
        question = RunRequest("Double 4.", Parameters("m"), **{"mode": "auto", **options})
        with FakeService(script) as service:
            list(conversation.ask(question, OpenAILM(service.settings())))
        return self.place.store.record(conversation.last_run_id)

    def again(self, events: Iterator[Event]) -> RunRecord:
        list(events)
        assert isinstance(self.place.store, RunStore)
        return self.place.store.record(self.place.store.last_started)

    def replay(self, record: RunRecord) -> RunRecord:
        elsewhere = replace(self.place, kernel=self.fresh, lane="replay", approver=None)
        return self.again(replay(record, elsewhere))

    def rerun(self, record: RunRecord, script: Sequence[Answer]) -> RunRecord:
        elsewhere = replace(self.place, kernel=self.fresh)
        with FakeService(script) as service:
            other = ModelService(OpenAILM(service.settings()), "other")
            return self.again(rerun(record, elsewhere, other))


@pytest.fixture
def desk(kernels: list[FreshKernel], tmp_path: Path) -> Iterator[Desk]:
    recording, fresh = kernels
    for kernel in kernels:
        run(kernel, "%reset -f\nfrom cellwright.tools.live_registry import LIVE\nLIVE.clear()")
    database = open_database(tmp_path / "runs.sqlite")
    yield Desk(RunContext(recording, RunStore(database), Redactor({}), "cli"), fresh)
    database.close()


def test_a_tool_that_a_magic_offered_is_offered_again_where_its_cell_was_run(desk: Desk) -> None:
    run(desk.place.kernel, f"{DOUBLE}\n{OFFER.format('double')}")
    record = desk.ask(DOUBLED, (DOUBLE,))
    assert record.executions[0].source == "double(n=4)"
    again = desk.replay(record)
    assert (again.status, again.answer) == ("completed", "It is 8.")
    assert compare(record, again) == ()
    assert again.executions[0].source == "double(n=4)"
    assert "double" in {manifest.name for manifest in again.tools}
    assert again.notices == ()


def test_a_tool_whose_cell_was_not_run_is_replayed_by_its_cells_and_differs(desk: Desk) -> None:
    run(desk.place.kernel, f"{DOUBLE}\n{OFFER.format('double')}")
    record = desk.ask(DOUBLED)
    again = desk.replay(record)
    assert again.status == "completed"
    assert [each.what for each in compare(record, again)] == ["status", "output"]
    assert "NameError" in compare(record, again)[1].replayed


def test_a_tool_that_ran_no_cell_gives_its_recorded_result_and_that_is_said(desk: Desk) -> None:
    run(desk.place.kernel, f"{DOUBLE}\n{OFFER.format('double')}")
    record = replace(desk.ask(DOUBLED), executions=(), cells=())
    again = desk.replay(record)
    assert again.notices == ("Not called again, their recorded results are used: double.",)
    assert again.messages[-2] == record.messages[-2]
    assert (again.executions, compare(record, again)) == ((), ())


def test_a_typed_run_is_replayed_and_assigns_its_results(desk: Desk) -> None:
    make = "import pandas as pd\ndf = pd.DataFrame({'price': [2.0, 1.0]})"
    run(desk.place.kernel, make)
    signature = Signature.parse("df, question -> answer: str, best: DataFrame, n: int | None")
    script = [
        tool_call("run_cell", {"code": "answer = 1"}, id="a"),
        tool_call("run_cell", {"code": "top = df.nsmallest(1, 'price')"}, id="b"),
        tool_call("hand_in", {"values": {"answer": "1", "best": "top"}}, id="d"),
    ]
    record = desk.ask(script, (make,), typed=TypedAnswers(signature, "Which?"))
    assert record.status == "completed"
    again = desk.replay(record)
    assert (again.status, again.answer, again.prompt) == (
        "completed",
        record.answer,
        record.prompt,
    )
    assert compare(record, again) == ()
    assert [call.status for call in again.calls] == ["refused", "ok", "ok"]
    found = desk.fresh.probe("inspect_variable", {"name": "best"})
    assert "DataFrame" in str(found)
    rerun = desk.rerun(record, script[1:])
    assert (rerun.status, rerun.parameters.model) == ("completed", "other")


class Refusing:
    """A person who says no."""

    def ask(self, call: ToolStarted, reason: str) -> Said:
        return Said(False, "person", "Not now.")


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_what_was_refused_is_not_run_by_a_replay(desk: Desk, mode: Mode) -> None:
    place = replace(desk.place, approver=Refusing())
    script = [tool_call("run_cell", {"code": "harm = 1"}), text("I did not.")]
    record = Desk(place, desk.fresh).ask(script, mode=mode)
    again = desk.replay(record)
    assert (again.status, again.executions) == ("completed", ())
    assert [call.status for call in again.calls] == ["refused"]
    assert compare(record, again) == ()
    assert "harm" not in {row["name"] for row in desk.fresh.probe("list_variables", {})}


def test_what_was_allowed_is_run_where_something_else_was_refused(desk: Desk) -> None:
    class Choosing:
        def ask(self, call: ToolStarted, reason: str) -> Said:
            return Said("good" in str(call.arguments))

    script = [
        tool_call("run_cell", {"code": "harm = 1"}, id="a"),
        tool_call("run_cell", {"code": "good = 1"}, id="b"),
        text("Half."),
    ]
    record = Desk(replace(desk.place, approver=Choosing()), desk.fresh).ask(script, mode="ask")
    again = desk.replay(record)
    assert [call.status for call in again.calls] == ["refused", "ok"]
    assert compare(record, again) == ()


def test_a_replay_of_a_stopped_run_ends_where_it_was_stopped(desk: Desk) -> None:
    """Issue 13, 20: the cell that ran when Stop came would run for ever, so it is not run."""
    stop = Stop()
    cells = ["print('before')", "while True: pass"]
    script = [
        tool_call("run_cell", {"code": code}, id=f"c{number}") for number, code in enumerate(cells)
    ]
    conversation = Conversation(desk.place)
    question = RunRequest("Go.", Parameters("m"), mode="auto")
    with FakeService(script) as service:
        for event in conversation.ask(question, OpenAILM(service.settings()), stop):
            if isinstance(event, ToolStarted) and event.call_id == "c1":
                threading.Timer(0.5, stop.set).start()
    record = desk.place.store.record(conversation.last_run_id)
    assert record.status == "cancelled"
    again = desk.replay(record)
    assert again.status == "cancelled"
    assert "recorded run was stopped" in again.reason
    assert "another way" not in again.reason
    assert [cell.source for cell in again.executions] == cells[:1]
    assert compare(record, again) == ()
    assert any("was stopped" in line for line in difference_lines(record, ()))
    assert "was stopped" in repr(compare_replay(record, Run(again)))


@pytest.mark.parametrize(
    ("status", "says"),
    [("running", "that run was cut off"), ("task error", "ended here too: The service failed.")],
)
def test_a_replay_of_a_run_that_was_cut_off_or_failed_says_that(
    desk: Desk, status: RunStatus, says: str
) -> None:
    script = [tool_call("run_cell", {"code": "1"}, id="c1"), text("Done.")]
    record = desk.ask(script)
    broken = replace(
        record,
        status=status,
        reason="The service failed.",
        messages=record.messages[:-1],
        steps=record.steps[:1],
    )
    again = desk.replay(broken)
    assert says in again.reason
    assert compare(broken, again) == ()


def test_another_model_is_offered_the_same_tools_and_the_person_is_told_of_those_gone(
    desk: Desk,
) -> None:
    run(desk.place.kernel, f"{DOUBLE}\n{OFFER.format('double')}")
    record = desk.ask(DOUBLED, (DOUBLE,))
    other = [tool_call("double", {"n": 5}), text("It is 10.")]
    again = desk.rerun(record, other)
    assert again.executions[0].source == "double(n=5)"
    run(desk.fresh, "LIVE.clear()\ndel double")
    again = desk.rerun(replace(record, start_executed=()), [text("I cannot.")])
    assert again.notices == (
        "Tools of that run that are not here, so the model is not offered them: double.",
    )
    assert "double" not in {manifest.name for manifest in again.tools}


def test_the_adapter_is_recorded_shown_and_kept_by_a_replay(desk: Desk) -> None:
    conversation = Conversation(desk.place)
    question = RunRequest("Hi.", Parameters("m"), adapter="chat")
    with FakeService([text("[[ ## say ## ]]\nHello.\n[[ ## completed ## ]]")]) as service:
        (started, *_) = conversation.ask(question, OpenAILM(service.settings()))
    assert isinstance(started, RunStarted)
    assert started.adapter == "chat"
    record = desk.place.store.record(conversation.last_run_id)
    assert record.adapter == "chat"
    assert "adapter chat" in Run(record).summary()
    assert "adapter" not in Run(replace(record, adapter="native")).summary()
    assert desk.replay(record).adapter == "chat"
    assert desk.replay(replace(record, adapter="")).adapter == "native", "an older record"


def test_a_call_that_ends_in_another_way_is_a_difference() -> None:
    record = RunRecord("a", "completed", "", Parameters("m"))
    before, after = (RecordedCall("c", "look", {}, status) for status in ("ok", "error"))
    found = compare(replace(record, calls=(before,)), replace(record, calls=(after,)))
    assert found == (Difference(0, "call of look", "ok", "error"),)
    assert difference_lines(record, found)[1] == "call of look"
    shown = compare_replay(replace(record, calls=(before,)), Run(replace(record, calls=(after,))))
    assert shown.rows == [("–", "call of look", "ok", "error")]
    assert compare(replace(record, calls=(before,)), record) == ()
