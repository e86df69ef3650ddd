"""The whole core without a screen: a real kernel, a scripted service over HTTP, a real record."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from fake_answers import Request, Wire
from fake_service import Answer, FakeService, error, text, tool_call, tool_calls
from kernels.lanes import process_of

from cellwright.agent.policy import ApprovalAnswer as Answered
from cellwright.context.assemble import Quoted
from cellwright.errors import SetupError
from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm.openai import OpenAILM
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.events import Event, Notice, RunFinished, RunStarted, ToolStarted
from cellwright.record.messages import Parameters, Price, UserMessage, text_of
from cellwright.record.outputs import ErrorOutput, StreamOutput
from cellwright.record.run_record import RecordedEvent, RunRecord, fold
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.session.replaying import compare, replay, rerun
from cellwright.session.services import ModelService
from cellwright.settings import Limits
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

pytestmark = [pytest.mark.kernel, pytest.mark.usefixtures("forked_kernels")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("conversation")
    (path / "sales.csv").write_text("month,units\n1,3\n2,5\n")
    return path


@pytest.fixture(scope="module")
def shared_kernel(folder: Path) -> Iterator[FreshKernel]:
    kernel = start_kernel(cwd=str(folder))
    yield kernel
    kernel.close()


@pytest.fixture
def kernel(shared_kernel: FreshKernel) -> FreshKernel:
    list(shared_kernel.execute(CellRequest("reset", "%reset -f"), Stop(), lambda output: output))
    return shared_kernel


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RunStore]:
    database = open_database(tmp_path / "runs.sqlite")
    yield RunStore(database)
    database.close()


@pytest.fixture
def place(kernel: FreshKernel, store: RunStore) -> RunContext:
    return RunContext(kernel, store, Redactor({"SERVICE_TOKEN": "swordfish-swordfish"}), "cli")


QUESTION = RunRequest("Do it.", Parameters("scripted"), mode="auto")


def last_record(place: RunContext) -> RunRecord:
    assert isinstance(place.store, RunStore)
    return place.store.record(place.store.list(1)[0].run_id)


def ask(
    place: RunContext,
    script: Sequence[Answer],
    question: RunRequest = QUESTION,
    conversation: Conversation | None = None,
) -> RunRecord:
    talk = conversation or Conversation(place)
    with FakeService(script) as service:
        events = list(talk.ask(question, OpenAILM(service.settings())))
    assert isinstance(events[-1], RunFinished)
    return place.store.record(talk.last_run_id)


def test_the_model_runs_cells_and_the_record_holds_everything(
    place: RunContext, folder: Path
) -> None:
    question = replace(QUESTION, files=("sales.csv",), limits=Limits(step_limit=5))
    record = ask(
        place,
        [
            tool_call("run_cell", {"code": "print(open('sales.csv').read())\n6 * 7"}),
            tool_call("run_cell", {"code": "1 / 0"}, id="call_b"),
            tool_call("submit", {"answer": "**42**"}, id="call_c"),
        ],
        question,
    )
    assert (record.status, record.answer) == ("completed", "**42**")
    first, second = record.cells
    assert first.execution is not None
    assert first.execution.status == "ok"
    assert isinstance(first.cell.outputs[0], StreamOutput)
    assert first.cell.outputs[0].text.startswith("month,units")
    assert second.execution is not None
    assert isinstance(second.cell.outputs[-1], ErrorOutput)
    assert second.execution.status == "error"
    assert list(record.files) == ["sales.csv"]
    assert len(record.files["sales.csv"]) == 64
    assert record.packages["cellwright"]
    assert record.cwd == str(folder.resolve())
    assert [m.role for m in record.messages] == ["system", "user", *["assistant", "tool"] * 3]
    assert [c.status for c in record.calls] == ["ok", "error", "ok"]
    assert record.usage.prompt_tokens > 0
    assert record.kernel["language"].lower() == "python"


def test_variables_stay_and_the_next_question_knows_what_was_said(place: RunContext) -> None:
    conversation = Conversation(place)
    first = ask(
        place,
        [tool_call("run_cell", {"code": "answer = 41"}), text("Done.")],
        conversation=conversation,
    )
    second = ask(
        place,
        [tool_call("run_cell", {"code": "answer + 1"}), text("42")],
        replace(QUESTION, prompt="And one more than @answer?"),
        conversation,
    )
    assert second.continues == first.run_id
    assert second.earlier_messages == 5
    sent = second.messages[5]
    assert "@answer: int" in repr(sent)
    assert second.start_executed[-1] == "answer = 41"


@pytest.mark.parametrize("depth", [400, 900, 3_000])
def test_a_call_nested_too_deeply_is_told_and_the_conversation_goes_on(
    place: RunContext, depth: int
) -> None:
    nested = '{"code": "1", "x": ' + "[1," * depth + "2" + "]" * depth + "}"
    talk = Conversation(place)
    first = ask(place, [tool_call("run_cell", nested), text("Too deep.")], conversation=talk)
    second = ask(place, [text("Hello.")], conversation=talk)
    assert [first.answer, second.answer] == ["Too deep.", "Hello."]


def test_what_the_person_ran_meanwhile_is_told(place: RunContext, kernel: FreshKernel) -> None:
    conversation = Conversation(place)
    ask(place, [text("Hello.")], conversation=conversation)
    code = "theirs = [1, 2, 3]"
    person = kernel.process.client()
    person.start_channels()
    person.execute_interactive(code, timeout=10)
    person.stop_channels()
    record = ask(place, [text("Seen.")], conversation=conversation)
    newest = repr(record.messages[-2])
    assert "theirs: list" in newest
    assert "the person ran" in newest


def test_a_missing_file_is_an_error_and_nothing_is_recorded(place: RunContext) -> None:
    with pytest.raises(SetupError, match=r"'nope\.csv'"):
        ask(place, [], replace(QUESTION, files=("nope.csv",)))
    assert isinstance(place.store, RunStore)
    assert place.store.list() == ()


def test_a_secret_reaches_neither_the_service_nor_the_record(
    place: RunContext, tmp_path: Path
) -> None:
    """Fault A17."""
    secret = "swordfish-swordfish"
    code = f"print('{secret[:9]}-' + '{secret[10:]}')"
    with FakeService([tool_call("run_cell", {"code": code}), text("Done.")]) as service:
        conversation = Conversation(place)
        question = replace(QUESTION, prompt=f"The token is {secret}.")
        events: list[Event] = list(conversation.ask(question, OpenAILM(service.settings())))
        sent = b"".join(request.raw for request in service.requests)
    assert secret.encode() not in sent
    assert secret not in repr(events)
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert secret.encode() not in file.read_bytes()


def test_an_interrupt_before_the_first_request_ends_the_record(place: RunContext) -> None:
    conversation = Conversation(place)
    with FakeService([]) as service:
        events = conversation.ask(QUESTION, OpenAILM(service.settings()))
        assert isinstance(next(events), RunStarted)
        ended = events.throw(KeyboardInterrupt())  # type: ignore[attr-defined]
        assert isinstance(ended, RunFinished)
        assert list(events) == []
    assert place.store.record(conversation.last_run_id).status == "cancelled"


def test_a_failure_before_the_first_request_ends_the_record_and_is_raised(
    place: RunContext,
) -> None:
    conversation = Conversation(place)
    with FakeService([]) as service:
        events = conversation.ask(QUESTION, OpenAILM(service.settings()))
        next(events)
        with pytest.raises(ZeroDivisionError):
            events.throw(ZeroDivisionError("our bug"))  # type: ignore[attr-defined]
    record = place.store.record(conversation.last_run_id)
    assert (record.status, record.cause) == ("task error", "internal")


def test_a_conversation_can_move_to_another_place(place: RunContext, store: RunStore) -> None:
    conversation = Conversation(place)
    ask(place, [text("One.")], conversation=conversation)
    conversation.move(replace(place, lane="panel"))
    record = ask(place, [text("Two.")], conversation=conversation)
    assert (record.lane, record.earlier_messages) == ("panel", 3)


def test_the_lanes_listener_hears_a_run_as_it_is_recorded(place: RunContext) -> None:
    heard: list[RecordedEvent] = []
    record = ask(
        replace(place, listener=lambda recorded: heard.extend(recorded)),
        [tool_call("run_cell", {"code": "print(1)"}), text("Done.")],
    )
    kept = [item for item in heard if item.sequence]
    assert fold(kept) == record
    assert [item.sequence for item in kept] == list(range(1, len(kept) + 1))


def test_what_the_person_put_beside_the_prompt_reaches_the_model(place: RunContext) -> None:
    conversation = Conversation(place)
    ask(
        place,
        [tool_call("run_cell", {"code": "table = [1, 2, 3]"}), text("Done.")],
        conversation=conversation,
    )
    question = replace(
        QUESTION,
        prompt="What is wrong with @table?",
        context=(Quoted("error of cell a", "NameError: swordfish-swordfish"),),
        variables=("table", "missing"),
    )
    record = ask(place, [text("Nothing.")], question, conversation)
    newest = text_of(record.messages[-2])
    assert "<context>\nerror of cell a:\n  NameError: «redacted" in newest
    assert newest.count("@table: list") == 1
    assert "@missing" not in newest


def test_a_plan_looks_and_changes_nothing(place: RunContext) -> None:
    conversation = Conversation(place)
    book = MemoryNotebook()
    conversation.move(replace(place, notebook=book))
    record = ask(
        place,
        [
            tool_calls([("list_variables", {}), ("run_cell", {"code": "x = 1"})]),
            text("I would set x to 1."),
        ],
        replace(QUESTION, mode="plan"),
        conversation,
    )
    assert record.status == "completed"
    assert [call.status for call in record.calls] == ["ok", "refused"]
    assert "mode: plan. You may only look" in text_of(record.messages[1])
    assert record.cells == ()
    assert book.cells() == ()
    again = ask(place, [text("Same.")], replace(QUESTION, mode="plan"), conversation)
    assert "mode:" not in text_of(again.messages[-2]), "said once"
    acted = ask(place, [text("Done.")], QUESTION, conversation)
    assert "mode: no longer plan" in text_of(acted.messages[-2])


def test_the_tools_follow_the_kind_of_notebook(place: RunContext) -> None:
    conversation = Conversation(place)
    without = ask(place, [text("One.")], conversation=conversation)
    conversation.move(replace(place, notebook=MemoryNotebook()))
    editing = ask(place, [text("Two.")], conversation=conversation)
    assert "arrange_cell" not in [tool.name for tool in without.tools]
    assert "arrange_cell" in [tool.name for tool in editing.tools]


def test_a_cell_the_model_deletes_is_gone_from_notebook_and_record(place: RunContext) -> None:
    book = MemoryNotebook()
    allowing = replace(place, notebook=book, approver=Allowing())
    record = ask(
        allowing,
        [
            tool_calls([("add_cell", {"source": "# Title"}), ("run_cell", {"code": "x = 1"})]),
            lambda request: tool_call(
                "arrange_cell",
                {"cell_id": book.cells()[0].id, "action": "delete"},
                id="call_delete",
            )(request),
            text("Done."),
        ],
    )
    assert [cell.source for cell in book.cells()] == ["x = 1"]
    assert [cell.is_removed for cell in record.cells] == [True, False]
    assert [call.status for call in record.calls] == ["ok", "ok", "ok"]


def test_stop_while_the_persons_cell_is_waited_for_ends_the_run(
    place: RunContext, kernel: FreshKernel
) -> None:
    person = kernel.process.client()
    person.start_channels(hb=False, stdin=False)
    person.wait_for_ready(timeout=20)
    person.execute("import time; time.sleep(2.5)")
    time.sleep(0.3)
    stop = Stop()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    conversation = Conversation(place)
    started = time.monotonic()
    with FakeService([]) as service:
        events = list(conversation.ask(QUESTION, OpenAILM(service.settings()), stop))
    assert time.monotonic() - started < 2
    assert [type(event) for event in events] == [RunStarted, RunFinished]
    record = place.store.record(conversation.last_run_id)
    assert (record.status, record.prompt) == ("cancelled", "Do it.")
    timer.join()
    person.stop_channels()


class TestAnotherKernel:
    @pytest.fixture
    def breakable(self, folder: Path) -> Iterator[FreshKernel]:
        with start_kernel(cwd=str(folder)) as kernel:
            yield kernel

    def test_the_model_is_told_after_a_restart(
        self, place: RunContext, breakable: FreshKernel
    ) -> None:
        """K15."""
        here = replace(place, kernel=breakable)
        conversation = Conversation(here)
        ask(
            here,
            [tool_call("run_cell", {"code": "kept = 1"}), text("Done.")],
            conversation=conversation,
        )
        process_of(breakable).restart()
        record = ask(here, [text("Gone.")], conversation=conversation)
        newest = text_of(record.messages[-2])
        assert "new kernel: names from earlier turns no longer exist" in newest
        assert "gone: kept" not in newest
        assert record.start_executed == ()
        again = ask(here, [text("Same.")], conversation=conversation)
        assert "new kernel" not in text_of(again.messages[-2])

    def test_the_model_is_told_after_a_move(
        self, place: RunContext, breakable: FreshKernel
    ) -> None:
        conversation = Conversation(place)
        ask(place, [text("One.")], conversation=conversation)
        conversation.move(replace(place, kernel=breakable))
        record = ask(place, [text("Two.")], conversation=conversation)
        assert "new kernel" in text_of(record.messages[-2])

    def test_a_resumed_conversation_knows_whether_the_kernel_is_the_same(
        self, place: RunContext, kernel: FreshKernel, breakable: FreshKernel
    ) -> None:
        ask(place, [text("Hello.")])
        person = kernel.process.client()
        person.start_channels()
        person.execute_interactive("theirs = 1", timeout=10)
        before = ask(place, [tool_call("run_cell", {"code": "ours = 1"}), text("Done.")])
        person.execute_interactive("later = 2", timeout=10)
        person.stop_channels()
        executed = (*before.start_executed, *(run.source for run in before.executions))
        session = str(before.kernel["session"])
        assert session
        same = Conversation(place)
        same.resume(before.messages, executed, session)
        record = ask(place, [text("Same.")], conversation=same)
        newest = text_of(record.messages[-2])
        assert "new kernel" not in newest
        assert record.start_executed == (*executed, "later = 2"), "what was known is told once"
        other = Conversation(replace(place, kernel=breakable))
        other.resume(before.messages, executed, session)
        record = ask(place, [text("Other.")], conversation=other)
        assert "new kernel" in text_of(record.messages[-2])
        assert record.start_executed == ()

    def test_a_restart_in_the_middle_ends_the_run_and_the_next_one_works(
        self, place: RunContext, breakable: FreshKernel
    ) -> None:
        """K15."""
        here = replace(place, kernel=breakable)
        conversation = Conversation(here)
        ask(here, [text("Hello.")], conversation=conversation)
        timer = threading.Timer(1.0, process_of(breakable).restart)
        timer.start()
        code = "import time; print('begun', flush=True); time.sleep(60)"
        record = ask(
            here, [tool_call("run_cell", {"code": code}), text("never")], conversation=conversation
        )
        timer.join()
        assert (record.status, record.cause) == ("task error", "kernel_restarted")
        assert record.reason == "The kernel was restarted, so its variables are lost."
        (cell,) = record.cells
        assert cell.execution is not None
        assert cell.execution.status == "died"
        after = ask(
            here,
            [tool_call("run_cell", {"code": "6 * 7"}, id="call_after"), text("42")],
            conversation=conversation,
        )
        assert after.status == "completed"
        sent = [text_of(m) for m in after.messages if isinstance(m, UserMessage)]
        assert "new kernel" in sent[-1]

    def test_a_restart_while_the_model_thinks_ends_the_run_before_the_next_cell(
        self, place: RunContext, breakable: FreshKernel
    ) -> None:
        """K15."""
        here = replace(place, kernel=breakable)

        def thinks(request: Request) -> Wire:
            process_of(breakable).restart()
            return tool_call("run_cell", {"code": "print('ran')"})(request)

        record = ask(here, [thinks, text("never")])
        assert record.cause == "kernel_restarted"
        assert record.executions == ()


class Allowing:
    """Says yes to everything."""

    def ask(self, call: ToolStarted, reason: str) -> Answered:
        return Answered(True)


def test_cost_is_known_where_the_price_is(place: RunContext) -> None:
    priced = replace(place, prices={"scripted": Price(1.0, 2.0)})
    assert ask(priced, [text("hi")]).cost_dollars is not None
    assert ask(place, [text("hi")]).cost_dollars is None


def test_with_a_notebook_the_model_can_add_and_edit_cells(place: RunContext) -> None:
    book = MemoryNotebook()
    record = ask(
        replace(place, notebook=book),
        [
            tool_calls([("add_cell", {"source": "# Title"}), ("run_cell", {"code": "x = 1\nx"})]),
            text("Done."),
        ],
    )
    assert record.status == "completed"
    assert [(c.cell_type, c.source) for c in book.cells()] == [
        ("markdown", "# Title"),
        ("code", "x = 1\nx"),
    ]
    assert book.cells()[1].outputs


def test_a_notice_about_the_service_comes_first(place: RunContext) -> None:
    question = replace(QUESTION, notice="The demo model answers.")
    with FakeService([text("hi")]) as service:
        events = list(Conversation(place).ask(question, OpenAILM(service.settings())))
    notices = [e for e in events if isinstance(e, Notice)]
    assert notices[0].text == "The demo model answers."


def test_ask_mode_without_anybody_to_ask_refuses_and_tells_the_model(place: RunContext) -> None:
    record = ask(
        place,
        [tool_call("run_cell", {"code": "x = 1"}), text("I could not.")],
        replace(QUESTION, mode="ask"),
    )
    assert record.calls[0].status == "refused"
    assert record.cells == ()


def test_a_replay_needs_no_model_and_finds_no_difference(place: RunContext, folder: Path) -> None:
    script = [
        tool_call("run_cell", {"code": "import random\nvalue = 6 * 7\nprint(object())\nvalue"}),
        tool_call("run_cell", {"code": "value / 0"}, id="call_b"),
        text("The value is 42."),
    ]
    recorded = ask(place, script)
    fresh = start_kernel(cwd=str(folder))
    try:
        events = list(replay(recorded, replace(place, kernel=fresh, lane="replay")))
    finally:
        fresh.close()
    assert isinstance(events[-1], RunFinished)
    assert events[-1].answer == "The value is 42."
    replayed = last_record(place)
    assert replayed.source_run == recorded.run_id
    assert compare(recorded, replayed) == ()


def test_a_replay_of_changed_data_reports_the_difference(place: RunContext, folder: Path) -> None:
    path = folder / "changing.txt"
    path.write_text("before")
    recorded = ask(
        place, [tool_call("run_cell", {"code": "print(open('changing.txt').read())"}), text("ok")]
    )
    path.write_text("after")
    list(replay(recorded, replace(place, lane="replay")))
    replayed = last_record(place)
    (found,) = compare(recorded, replayed)
    assert (found.recorded, found.replayed) == ("before", "after")


def test_a_replay_starts_from_the_cells_the_run_started_from(
    place: RunContext, folder: Path
) -> None:
    conversation = Conversation(place)
    ask(
        place,
        [tool_call("run_cell", {"code": "start = 20"}), text("ok")],
        conversation=conversation,
    )
    recorded = ask(
        place,
        [tool_call("run_cell", {"code": "start + 1"}), text("21")],
        conversation=conversation,
    )
    fresh = start_kernel(cwd=str(folder))
    try:
        list(replay(recorded, replace(place, kernel=fresh, lane="replay")))
    finally:
        fresh.close()
    replayed = last_record(place)
    assert compare(recorded, replayed) == ()
    assert replayed.messages == recorded.messages


def test_a_run_without_answers_cannot_be_replayed(place: RunContext) -> None:
    recorded = ask(place, [error(401, "bad key")])
    assert recorded.status == "task error"
    with pytest.raises(SetupError, match=recorded.run_id):
        replay(recorded, place)


def test_a_rerun_asks_another_model_the_same_question(place: RunContext) -> None:
    recorded = ask(place, [tool_call("run_cell", {"code": "x = 1"}), text("first")])
    with FakeService([text("second")]) as service:
        other = ModelService(OpenAILM(service.settings()), "other", service.base_url)
        list(rerun(recorded, place, other))
        assert service.requests[0].body["model"] == "other"
    again = last_record(place)
    assert (again.answer, again.parameters.model, again.prompt) == ("second", "other", "Do it.")
    assert again.source_run == recorded.run_id
