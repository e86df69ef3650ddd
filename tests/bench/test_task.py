"""AgentBench's names: what a task written for its version 0.2 stands on."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from served_tasks import later, run_one

from cellwright.bench.task import (
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    SampleIndex,
    SampleStatus,
    Session,
    Task,
    TaskOutput,
    VirtualTask,
    checked_indices,
    shorten_history,
)
from cellwright.errors import SetupError

WORD = {"role": "user", "content": "go"}


def echo(history: list[ChatHistoryItem]) -> AgentOutput:
    return AgentOutput(content=f"heard {history[-1].content}")


def test_a_task_of_agentbench_runs_as_it_is_written() -> None:
    output = run_one(VirtualTask(), 3, echo)
    assert output.index == 3
    assert output.status is SampleStatus.COMPLETED
    assert output.result == {"result": "ok"}
    assert [item.content for item in output.history or ()][-2:] == ["Turn 2", "heard Turn 2"]
    assert [item.role for item in output.history or ()] == ["user", "agent"] * 3


@pytest.mark.parametrize("status", [AgentOutputStatus.CANCELLED, "agent context limit"])
def test_a_task_sees_how_the_agents_turn_ended(status: Any) -> None:
    wanted = AgentOutputStatus(status)
    output = run_one(VirtualTask(), 0, lambda history: AgentOutput(status=wanted))
    expected = {
        AgentOutputStatus.CANCELLED: SampleStatus.CANCELLED,
        AgentOutputStatus.AGENT_CONTEXT_LIMIT: SampleStatus.AGENT_CONTEXT_LIMIT,
    }
    assert output.status is expected[wanted]
    assert len(output.history or ()) == 1


def test_the_statuses_have_agentbenchs_words_and_one_more() -> None:
    assert {status.value for status in SampleStatus} == {
        "running",
        "completed",
        "agent context limit",
        "agent validation failed",
        "agent invalid action",
        "task limit reached",
        "task error",
        "unknown",
        "cancelled",
    }


@pytest.mark.parametrize("error", [KeyError("no such column"), SystemExit("no such column")])
def test_an_exception_in_a_sample_is_a_task_error_with_its_traceback(error: BaseException) -> None:
    class Broken(VirtualTask):
        async def start_sample(self, index: SampleIndex, session: Session) -> Any:
            raise error

    output = run_one(Broken(), 1, echo)
    assert output.status is SampleStatus.TASK_ERROR
    assert f"{type(error).__name__}: {error}" in str(output.result)


def test_a_sample_that_returns_something_else_is_told_so() -> None:
    class Older(VirtualTask):
        async def start_sample(self, index: SampleIndex, session: Session) -> Any:
            return {"succeed": True}

    output = run_one(Older(), 1, echo)
    assert output.status is SampleStatus.TASK_ERROR
    assert "not a TaskSampleExecutionResult" in str(output.result)


def test_an_agent_that_fails_is_a_task_error_too() -> None:
    def fail(history: list[ChatHistoryItem]) -> AgentOutput:
        raise OSError("no service")

    assert run_one(VirtualTask(), 1, fail).status is SampleStatus.TASK_ERROR


@pytest.mark.parametrize("concurrency", [0, -1])
def test_a_concurrency_below_one_is_refused(concurrency: int) -> None:
    with pytest.raises(SetupError, match=f"concurrency is {concurrency}"):
        Task("t", concurrency)


@pytest.mark.parametrize("name", ["a/b", "", "..", "a\\b"])
def test_a_name_that_cannot_be_a_folder_is_refused(name: str) -> None:
    with pytest.raises(SetupError, match="name"):
        Task(name)


class Indexed(VirtualTask):
    def __init__(self, *indices: SampleIndex) -> None:
        super().__init__()
        self.indices = indices

    def get_indices(self) -> list[SampleIndex]:
        return list(self.indices)


def test_an_index_that_is_there_twice_is_refused() -> None:
    with pytest.raises(SetupError, match="index 2 twice"):
        checked_indices(Indexed(1, 2, 2))


def test_a_number_and_its_text_are_two_indices_and_none_is_fine() -> None:
    assert checked_indices(Indexed(1, "1")) == [1, "1"]
    assert checked_indices(Indexed()) == []


def test_the_smallest_task_has_ten_samples_and_its_score() -> None:
    assert checked_indices(VirtualTask()) == list(range(10))
    assert VirtualTask().calculate_overall([]) == {"score": 0.4}


def test_a_plain_task_leaves_its_methods_to_whoever_writes_one() -> None:
    task = Task("t")
    session = Session(later(echo))
    for call in (
        task.get_indices,
        lambda: asyncio.run(task.start_sample(1, session)),
        lambda: task.calculate_overall([]),
    ):
        with pytest.raises(NotImplementedError):
            call()
    task.release()


def test_inject_takes_items_dicts_and_nested_lists_and_nothing_else() -> None:
    session = Session(later(echo))
    session.inject(None)
    session.inject([])
    session.inject(
        [ChatHistoryItem(role="user", content="a"), [{"role": "agent", "content": "b"}], None]
    )
    assert session.history == [
        ChatHistoryItem(role="user", content="a"),
        ChatHistoryItem(role="agent", content="b"),
    ]
    with pytest.raises(TypeError, match="must be a ChatHistoryItem"):
        session.inject(7)
    with pytest.raises(ValueError, match="role"):
        session.inject({"role": "system", "content": "c"})


def test_a_task_may_shorten_what_it_said_before() -> None:
    session = Session(later(echo))
    session.inject({"role": "user", "content": "long"})
    session.history[-1].content = "short"
    assert session.history == [ChatHistoryItem(role="user", content="short")]


def test_the_agent_is_shown_the_first_words_and_the_newest_that_fit() -> None:
    def item(role: Any, content: str) -> ChatHistoryItem:
        return ChatHistoryItem(role=role, content=content)

    rules, long = item("user", "Rules."), "wordily " * 2_000
    turns = [item("agent", long), item("user", long), item("agent", "b"), item("user", "c")]
    assert shorten_history([rules, *turns[2:]]) == [rules, *turns[2:]]
    shown = shorten_history([rules, *turns])
    assert [i.content for i in shown[1:]] == ["b", "c"]
    assert shown[0].content == "Rules.\n\n[NOTICE] 2 messages are omitted."
    assert rules.content == "Rules."
    assert shorten_history([rules, item("agent", long), *turns[1:2]])[0].content.endswith(
        "omitted."
    )


def test_records_have_the_methods_that_tasks_call() -> None:
    output = TaskOutput.parse_obj({"index": "a", "status": "completed", "history": [WORD]})
    assert output.dict()["history"] == [WORD]
    assert TaskOutput.model_validate_json(output.json()) == output
    output.index = 7
    session = Session(later(echo))
    session.inject(WORD)
    session.clear()
    assert (output.index, session.history) == (7, [])


def test_a_task_output_is_a_result_too_and_its_history_is_the_sessions() -> None:
    class Whole(VirtualTask):
        async def start_sample(self, index: SampleIndex, session: Session) -> TaskOutput:
            await session.action(WORD)
            return TaskOutput(status=SampleStatus.UNKNOWN, result={"answer": 1}, history=[])

    output = run_one(Whole(), 4, echo)
    assert (output.index, output.status, output.result) == (4, "unknown", {"answer": 1})
    assert len(output.history or ()) == 2


def test_a_normal_turn_has_content_and_an_empty_one_stays_empty() -> None:
    with pytest.raises(ValueError, match="content is None"):
        AgentOutput()
    assert AgentOutput(status=AgentOutputStatus.CANCELLED).content is None
    session = Session(later(lambda history: AgentOutput(content="")))
    asyncio.run(session.action({"role": "user", "content": "go"}))
    assert session.history[-1] == ChatHistoryItem(role="agent", content="")


def test_a_second_turn_while_one_is_awaited_is_refused() -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slow(history: list[ChatHistoryItem]) -> AgentOutput:
        asked.set()
        go_on.wait(10)
        return AgentOutput(content="late")

    async def both() -> AgentOutput:
        session = Session(later(slow))
        first = asyncio.create_task(session.action({"role": "user", "content": "go"}))
        await asyncio.to_thread(asked.wait, 10)
        session.inject({"role": "user", "content": "meanwhile"})
        with pytest.raises(RuntimeError, match="asked already"):
            await session.action()
        go_on.set()
        return await first

    assert asyncio.run(both()).content == "late"
