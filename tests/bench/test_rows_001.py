"""The rows of requirements 001, each by its id: what AgentBench's page promises, and its edges."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scripted_model import ScriptedLM, calls, says
from served_tasks import later, run_one, run_task

from cellwright.bench.agents import model_agent, open_agent
from cellwright.bench.checks import AnswerCheck
from cellwright.bench.environments import Rooms
from cellwright.bench.results import Failure, ResultFiles, overall_of, read_lines, validation
from cellwright.bench.runner import (
    InfrastructureError,
    Job,
    Laboratory,
    Runner,
    RunnerOptions,
    attempt,
    pending,
)
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.opening import open_suite
from cellwright.bench.summary import summary_of
from cellwright.bench.task import (
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    SampleIndex,
    SampleStatus,
    Session,
    Task,
    TaskOutput,
    TaskSampleExecutionResult,
    VirtualTask,
    checked_indices,
)
from cellwright.errors import LMConnectionError, LMContextError, RunCancelled, SetupError
from cellwright.exports.agentbench import history
from cellwright.exports.sample import SampleCell, SampleRecord, SampleTask
from cellwright.record.messages import (
    AssistantMessage,
    SystemMessage,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.settings import Limits
from cellwright.stopping import Stop

ITEM = Item("one", "Say 1.", checks=(AnswerCheck(exact="1"),))


def polite(history: list[ChatHistoryItem]) -> AgentOutput:
    return AgentOutput(content="Yes.")


def ended(script: Sequence[Any], item: Item = ITEM) -> SampleRecord:
    """How a sample of the real agent with a scripted model ends; no kernel is started."""
    agent = model_agent(ScriptedLM(script), "scripted")
    return attempt(Job(Suite("s", (item,)), item, agent), Laboratory(Rooms({})), Stop())


class Returning(VirtualTask):
    """Its samples end as they are told."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result

    async def start_sample(self, index: SampleIndex, session: Session) -> Any:
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


def test_001_01_a_task_has_a_name_and_a_concurrency_of_at_least_one() -> None:
    task = VirtualTask("from-config", concurrency=3)
    assert (task.name, task.concurrency, Task("t").concurrency) == ("from-config", 3, 1)
    for wrong in ({"concurrency": 0}, {"concurrency": -1}, {"name": "a/b"}):
        with pytest.raises(SetupError):
            VirtualTask(**wrong)


def test_001_02_indices_are_numbers_or_texts_each_once() -> None:
    class Named(VirtualTask):
        def get_indices(self) -> list[SampleIndex]:
            return [-1, 1, "1", "slug"]

    assert checked_indices(Named()) == [-1, 1, "1", "slug"]
    with pytest.raises(SetupError, match="twice"):
        checked_suite(Suite("s", (Item(1, "a"), Item(1, "b"))))


def test_001_03_one_sample_is_one_coroutine_and_a_dict_instead_of_a_result_is_told() -> None:
    assert run_one(VirtualTask(), 1, polite).status is SampleStatus.COMPLETED
    output = run_one(Returning({"succeed": True}), 1, polite)
    assert output.status is SampleStatus.TASK_ERROR
    assert "{'succeed': True}" in str(output.result)


def test_001_04_the_overall_of_nothing_and_of_no_history_is_no_crash() -> None:
    assert overall_of([], {"score": 0})["validation"]["average_history_length"] == 0
    found = validation([{"status": "completed", "history": None}])
    assert (found["completed"], found["max_history_length"]) == (1.0, 0)


def test_001_05_release_runs_once_after_all_samples_whatever_happens(tmp_path: Path) -> None:
    class Released(VirtualTask):
        count = 0

        def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
            assert self.count == 0
            raise ZeroDivisionError

        def release(self) -> None:
            self.count += 1

    task = Released("r")
    assert "ZeroDivisionError" in run_task(task, polite, tmp_path)["error"]
    assert task.count == 1
    assert len(list(read_lines(tmp_path / "agent" / "r" / "runs.jsonl"))) == 10


def test_001_06_a_result_is_json_when_it_is_recorded(tmp_path: Path) -> None:
    odd: Any = {"n": np.int64(3), "inf": float("inf"), "set": {1}, "far": object()}
    odd["self"] = odd
    task = Returning(TaskSampleExecutionResult(status=SampleStatus.COMPLETED, result=odd))
    run_task(task, polite, tmp_path)
    (line, *_) = read_lines(tmp_path / "agent" / "virtual-task" / "runs.jsonl")
    kept = line["output"]["result"]
    assert (kept["n"], kept["inf"], kept["set"]) == (3, None, [1])
    assert "object" in str(kept["far"])


def test_001_07_a_result_without_a_status_counts_as_completed_as_in_agentbench() -> None:
    assert TaskSampleExecutionResult().status is SampleStatus.COMPLETED
    assert TaskSampleExecutionResult(result=1).result == 1
    named: Any = "task limit reached"
    assert TaskSampleExecutionResult(status=named).status is SampleStatus.TASK_LIMIT_REACHED
    output = run_one(Returning(TaskSampleExecutionResult(status=named)), 1, polite)
    assert output.status is SampleStatus.TASK_LIMIT_REACHED


def test_001_08_a_line_is_read_by_who_knows_agentbench_only(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(SampleRecord("t:1:1", task=SampleTask("t", 1), status="completed", result="1"))
    (line,) = read_lines(files.runs)
    known = {key: line["output"][key] for key in ("index", "status", "result", "history")}
    assert TaskOutput(**known).status == "completed"
    assert TaskOutput() == TaskOutput(
        index=None, status=SampleStatus.RUNNING, result=None, history=None
    )


def test_001_09_the_history_is_flattened_to_turns_that_alternate() -> None:
    call = ToolCall("c", "run_cell", '{"code": "1"}')
    turns = history(
        (
            SystemMessage("Rules."),
            UserMessage((TextPart("Go."),)),
            AssistantMessage("", (call, replace(call, id="d"))),
            ToolMessage("c", "run_cell", (TextPart("1"),)),
            ToolMessage("d", "run_cell", (TextPart("2"),)),
            AssistantMessage(""),
        )
    )
    assert [turn["role"] for turn in turns] == ["user", "agent", "user", "agent"]
    assert turns[0]["content"] == "Rules.\n\nGo."
    assert turns[1]["content"].count("run_cell") == 2
    assert "1" in turns[2]["content"]
    assert ChatHistoryItem(**turns[0]).role == "user"  # type: ignore[arg-type]


def test_001_10_inject_does_not_wait_and_takes_nested_lists() -> None:
    session = Session(later(polite))
    session.inject(
        [{"role": "user", "content": "a"}, [ChatHistoryItem(role="agent", content="b")], None, []]
    )
    assert [item.content for item in session.history] == ["a", "b"]
    with pytest.raises(TypeError):
        session.inject("text")


def test_001_11_action_appends_then_waits_also_at_an_even_length() -> None:
    seen: list[int] = []

    def counting(history: list[ChatHistoryItem]) -> AgentOutput:
        seen.append(len(history))
        return AgentOutput(content="x" * 10_000)

    session = Session(later(counting))

    async def talk() -> None:
        await session.action()
        await session.action({"role": "user", "content": "a"}, {"role": "user", "content": "b"})

    asyncio.run(talk())
    assert (seen, len(session.history)) == ([0, 3], 4)


def test_001_12_a_normal_turn_has_content_and_an_empty_text_is_kept() -> None:
    with pytest.raises(ValueError, match="content is None"):
        AgentOutput()
    session = Session(later(lambda history: AgentOutput(content="")))
    asyncio.run(session.action())
    assert session.history[0].content == ""


def test_001_13_cancelled_cannot_be_eaten_by_a_bare_except() -> None:
    assert [status.value for status in AgentOutputStatus] == [
        "normal",
        "cancelled",
        "agent context limit",
    ]
    assert not issubclass(RunCancelled, Exception)


def test_001_14_a_task_reacts_to_a_cancelled_turn_and_the_next_sample_is_clean() -> None:
    turns = iter(
        [AgentOutput(status=AgentOutputStatus.CANCELLED)] + [AgentOutput(content="ok")] * 3
    )
    task, ask = VirtualTask(), lambda history: next(turns)
    assert run_one(task, 0, ask).status is SampleStatus.CANCELLED
    assert run_one(task, 1, ask).status is SampleStatus.COMPLETED


def test_001_15_the_virtual_task_leaves_the_lines_it_always_left(tmp_path: Path) -> None:
    assert run_task(VirtualTask(), polite, tmp_path) == {"score": 0.4}
    lines = sorted(
        read_lines(tmp_path / "agent" / "virtual-task" / "runs.jsonl"), key=lambda x: x["index"]
    )
    assert [line["index"] for line in lines] == list(range(10))
    output = {key: lines[0]["output"][key] for key in ("index", "status", "result", "history")}
    assert output == {
        "index": 0,
        "status": "completed",
        "result": {"result": "ok"},
        "history": [
            {"role": role, "content": text}
            for turn in range(3)
            for role, text in (("user", f"Turn {turn}"), ("agent", "Yes."))
        ],
    }


class Migrated(Task):
    """A task of version 0.1, moved as AgentBench's page says: data bound at the start."""

    def __init__(self, data: Sequence[tuple[str, str]], **configuration: Any) -> None:
        super().__init__(**configuration)
        self.data = list(data)

    def get_indices(self) -> list[SampleIndex]:
        return list(range(len(self.data)))

    async def start_sample(self, index: SampleIndex, session: Session) -> Any:
        question, _ = self.data[int(index)]
        session.inject({"role": "user", "content": "Answer with one word."})
        session.inject({"role": "agent", "content": "OK."})
        output = await session.action({"role": "user", "content": question})
        if output.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
            return TaskSampleExecutionResult(status=SampleStatus.AGENT_CONTEXT_LIMIT)
        if not output.content:
            return TaskSampleExecutionResult(
                status=SampleStatus.AGENT_VALIDATION_FAILED, result={"reason": "empty"}
            )
        return TaskSampleExecutionResult(status=SampleStatus.COMPLETED, result=output.content)

    def calculate_overall(self, results: list[TaskOutput]) -> dict[str, Any]:
        right = [r.result == self.data[int(r.index or 0)][1] for r in results]
        return {"accuracy": sum(right) / len(right)}


def test_001_16_a_task_of_version_0_1_runs_as_it_was_migrated(tmp_path: Path) -> None:
    answers = {"2 + 2?": "four", "2 + 3?": "six", "?": ""}
    task = Migrated([("2 + 2?", "four"), ("2 + 3?", "five"), ("?", "x")], name="sums")

    def ask(history: list[ChatHistoryItem]) -> AgentOutput:
        return AgentOutput(content=answers[history[-1].content])

    assert run_task(task, ask, tmp_path) == {"accuracy": pytest.approx(1 / 3)}
    overall = json.loads((tmp_path / "agent" / "sums" / "overall.json").read_text())
    assert overall["validation"]["counts"]["agent validation failed"] == 1
    assert overall["validation"]["completed"] == pytest.approx(2 / 3)


def test_001_20_running_is_the_status_of_what_has_not_ended() -> None:
    assert SampleRecord("s").status == SampleStatus.RUNNING == "running"


def test_001_21_completed_says_nothing_of_whether_it_is_right() -> None:
    found = ended([says("2")])
    assert (found.status, found.passed) == ("completed", False)


def test_001_22_a_conversation_that_is_too_long_is_a_context_limit() -> None:
    assert ended([LMContextError("too long", hint="-")]).status == "agent context limit"


def test_001_23_what_cannot_be_understood_is_validation_failed() -> None:
    cut = [calls(("run_cell", '{"code": "' + "x" * n), start=n) for n in range(9)]
    for script in (cut, [says("")] * 9):
        assert ended(script).status == "agent validation failed"


def test_001_24_what_is_not_allowed_is_an_invalid_action() -> None:
    for name in ("python", "_sys_exit"):
        script = [calls((f"{name}{n}", {}), start=n) for n in range(3)]
        assert ended(script).status == "agent invalid action"


@pytest.mark.parametrize(
    ("limits", "cause"),
    [
        (Limits(step_limit=1), "step_limit"),
        (Limits(token_limit=50), "token_limit"),
        (Limits(wall_seconds=1e-6), "time_limit"),
    ],
)
def test_001_25_each_limit_is_a_limit_of_the_task_and_named(limits: Limits, cause: str) -> None:
    script = [calls(("list_variables", {})), says("So far."), says("1")]
    found = ended(script, replace(ITEM, limits=limits))
    assert (found.status, found.limit) == ("task limit reached", cause)


def test_001_26_what_fails_in_the_sample_is_a_task_error_with_its_traceback() -> None:
    output = run_one(Returning(KeyError("gone")), 1, polite)
    assert output.status is SampleStatus.TASK_ERROR
    assert "Traceback" in str(output.result)


def test_001_27_unknown_is_there_and_nothing_of_ours_ends_so() -> None:
    assert SampleStatus("unknown") is SampleStatus.UNKNOWN
    output = run_one(Returning(TaskSampleExecutionResult(status=SampleStatus.UNKNOWN)), 1, polite)
    assert output.status is SampleStatus.UNKNOWN


def test_001_28_cancelled_is_told_to_others_as_unknown(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(SampleRecord("t:1:1", task=SampleTask("t", 1), status="cancelled"))
    (line,) = read_lines(files.runs)
    assert (line["output"]["status"], line["output"]["result"]["reason"]) == (
        "unknown",
        "cancelled",
    )
    assert next(files.samples()).status == "cancelled"


def test_001_29_statuses_are_counted_and_their_shares_add_up_to_one() -> None:
    words = ["completed", "completed", "unknown", "of the future"]
    found = validation([{"status": word, "history": []} for word in words])
    assert (found["counts"]["completed"], found["of the future"]) == (2, 0.25)
    assert sum(found[name] for name in found["counts"]) == pytest.approx(1.0)


def test_001_30_no_more_samples_run_at_a_time_than_the_task_says(tmp_path: Path) -> None:
    now, most, lock = 0, 0, threading.Lock()

    def counting(history: list[ChatHistoryItem]) -> AgentOutput:
        nonlocal now, most
        with lock:
            now += 1
            most = max(most, now)
        threading.Event().wait(0.005)
        with lock:
            now -= 1
        return AgentOutput(content="ok")

    run_task(VirtualTask(concurrency=2), counting, tmp_path)
    assert most == 2


def test_001_31_the_files_are_where_agentbench_puts_them(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "gpt", "task")
    files.add(SampleRecord("task:1:1", task=SampleTask("task", 1), status="completed"))
    files.add_failure(Failure(2, 1, "START_FAILED", "no kernel"))
    files.sum_up({"score": 1})
    names = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.json*")}
    assert {f"gpt/task/{name}" for name in ("runs.jsonl", "error.jsonl", "overall.json")} <= names
    (line,) = read_lines(files.runs)
    assert list(line) == ["index", "error", "info", "output", "time"]
    assert set(line["time"]) == {"timestamp", "str"}
    with files.runs.open("a") as file:
        file.write('{"index": 3, "outp')
    assert len(list(files.samples())) == 1


def test_001_32_what_has_ended_is_not_run_again(tmp_path: Path) -> None:
    run_task(VirtualTask(), polite, tmp_path)

    def refuse(history: list[ChatHistoryItem]) -> AgentOutput:
        raise AssertionError("asked again")

    run_task(VirtualTask(), refuse, tmp_path)
    item = Item(1, "x")
    job = Job(Suite("virtual-task", (item,)), item, model_agent(ScriptedLM([]), "agent"))
    assert pending(tmp_path, [job]) == []


def test_001_33_a_failing_service_is_no_status_and_is_tried_again_not_for_ever(
    tmp_path: Path,
) -> None:
    tries = []

    def failing(job: Job, stop: Stop) -> SampleRecord:
        tries.append(job)
        raise InfrastructureError("NETWORK_ERROR", "no route")

    job = Job(Suite("s", (ITEM,)), ITEM, model_agent(ScriptedLM([]), "m"))
    Runner(tmp_path, failing, RunnerOptions(retry_limit=2, backoff_seconds=0.001)).run([job])
    summary = summary_of(ResultFiles(tmp_path, "m", "s"), "m", "s")
    assert (len(tries), summary.total, summary.failures) == (3, 0, {"NETWORK_ERROR": 1})
    with pytest.raises(InfrastructureError) as caught:
        ended([LMConnectionError("no route", hint="-")])
    assert caught.value.word == "NETWORK_ERROR"


def test_001_35_one_file_names_the_suite_and_who_answers_and_a_wrong_name_is_told() -> None:
    with pytest.raises(SetupError, match="'no-such-suite'"):
        open_suite("no-such-suite")
    with pytest.raises(SetupError, match="'nobody'"):
        open_agent("nobody")


def test_001_36_a_check_is_a_score_beside_the_status_and_its_crash_is_none() -> None:
    found = ended(
        [says("1")], replace(ITEM, checks=(AnswerCheck(exact="1"), AnswerCheck(regex="(")))
    )
    assert [score.value for score in found.scores] == [1.0, None]
    assert (found.status, found.passed) == ("completed", False)


def test_001_37_rounds_and_the_time_of_a_cell_are_limited_from_the_start() -> None:
    limits = Item(1, "x").limits
    assert (limits.step_limit, limits.cell_timeout_seconds) == (12, 120.0)


def test_001_38_files_are_replaced_as_a_whole(tmp_path: Path) -> None:
    files = ResultFiles(tmp_path, "a", "t")
    files.add(SampleRecord("t:1:1", task=SampleTask("t", 1), status="completed"))

    def broken() -> Any:
        yield from files.samples()
        raise OSError("disk full")

    before = files.runs.read_bytes()
    with pytest.raises(OSError, match="disk full"):
        files.rewrite(broken())
    assert files.runs.read_bytes() == before


def test_x_09_inside_messages_are_openais_and_outside_turns_of_user_and_agent(
    tmp_path: Path,
) -> None:
    files = ResultFiles(tmp_path, "m", "s")
    files.add(ended([says("1")]))
    (line,) = read_lines(files.runs)
    assert [turn["role"] for turn in line["output"]["history"]] == ["user", "agent"]
    (kept,) = files.samples()
    assert [message["role"] for message in kept.messages] == ["system", "user", "assistant"]


def test_x_10_cancelled_is_a_status_of_ours_beside_agentbenchs_eight() -> None:
    assert len(SampleStatus) == 9
    assert SampleStatus("cancelled") == AgentOutputStatus("cancelled")


def test_x_14_there_is_one_limit_of_rounds_and_a_guard_against_repeats() -> None:
    assert Limits().step_limit == 12
    again = [calls(("list_variables", {}), start=n) for n in range(12)]
    found = ended([*again, says("1")])
    assert (found.status, found.limit) == ("task limit reached", "repeated_calls")


def test_x_27_the_result_is_json_and_rich_outputs_stand_with_their_cells(tmp_path: Path) -> None:
    picture = {"output_type": "display_data", "data": {"image/png": "aWNvbg=="}, "metadata": {}}
    cell = SampleCell("c", "agent", "plot()", "ok", outputs=(picture,))
    sample = SampleRecord("s", task=SampleTask("t", 1), result="A plot.", cells=(cell,))
    files = ResultFiles(tmp_path, "a", "t")
    files.add(sample)
    (line,) = read_lines(files.runs)
    assert line["output"]["result"] == "A plot."
    assert next(files.samples()).cells[0].outputs == (picture,)
