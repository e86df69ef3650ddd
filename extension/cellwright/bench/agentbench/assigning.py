"""Samples of a task that is served over AgentBench 0.2's HTTP protocol: run, recorded, summed up.

Whoever serves it, a worker of ours or AgentBench's own controller, is asked in the same way.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import time
import urllib.error
import urllib.parse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.bench.agentbench.serving import ask_json, post_json
from cellwright.bench.agents import Answerer, NoAnswerError
from cellwright.bench.judge_check import read_whole
from cellwright.bench.results import ResultFiles
from cellwright.bench.runner import InfrastructureError, Job
from cellwright.bench.task import (
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    SampleIndex,
    SampleStatus,
    TaskOutput,
)
from cellwright.errors import (
    LMConnectionError,
    LMContextError,
    LMError,
    LMTimeoutError,
    SetupError,
)
from cellwright.exports.sample import SampleRecord, SampleTask, SampleTime
from cellwright.providers import shown_url
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Parameters,
    Price,
    Prompt,
    TextPart,
    Usage,
    UserMessage,
    cost_of,
)
from cellwright.record.values import safe_json, to_dict
from cellwright.stopping import Stop

ROLES = {"user": "user", "agent": "assistant"}
QUICK_SECONDS = 30.0
STEP_SECONDS = 3_600.0
"""A task may work so long between two turns of its agent."""
UNAVAILABLE = 406


class TaskClient:
    """A task that is served.

    Args:
        name: Its name.
        address: Where it is served, by a worker or a controller; it ends in ``/api``.
    """

    def __init__(self, name: str, address: str) -> None:
        self.name = name
        self._address = address.rstrip("/")
        self._numbers = itertools.count(time.time_ns() // 1_000_000)

    def get_indices(self) -> list[SampleIndex]:
        """The task's indices.

        Raises:
            SetupError: Nobody serves it there.
        """
        query = urllib.parse.urlencode({"name": self.name})
        indices: list[SampleIndex] = self._look(f"get_indices?{query}")
        return indices

    def get_concurrency(self) -> int:
        """How many samples may run at a time.

        Raises:
            SetupError: Nobody serves it there.
        """
        with contextlib.suppress(urllib.error.HTTPError):
            tasks = ask_json(f"{self._address}/list_workers", None, QUICK_SECONDS)
            if self.name not in tasks:
                known = ", ".join(sorted(tasks)) or "none"
                raise SetupError(
                    f"There is no task {self.name!r} at {self._address}.",
                    hint=f"Its controller knows: {known}.",
                )
            return sum(worker["capacity"] for worker in tasks[self.name]["workers"].values())
        return int(self._look("worker_status")["concurrency"])  # a worker without a controller

    def run_sample(self, index: SampleIndex, turns: ModelTurns, stop: Stop) -> TaskOutput:
        """Run one sample to its end.

        Raises:
            InfrastructureError: It could not be run.
            RunCancelled: ``stop`` was set.
        """
        # A controller makes a number of its own and passes this one over.
        asked = {"name": self.name, "index": index, "session_id": next(self._numbers)}
        told = self._ask("start_sample", asked, "START_FAILED")
        while told["output"]["status"] == SampleStatus.RUNNING:
            number = {"session_id": told["session_id"]}
            try:
                output = turns.ask(
                    [ChatHistoryItem(**item) for item in told["output"]["history"]], stop
                )
            except BaseException:
                with contextlib.suppress(OSError, ValueError):
                    post_json(f"{self._address}/cancel", number, QUICK_SECONDS)
                raise
            answer = {**number, "agent_response": dict(output)}
            told = self._ask("interact", answer, "INTERACT_FAILED")
        ended = TaskOutput(**told["output"])
        if ended.status == SampleStatus.TASK_ERROR:
            raise InfrastructureError("INTERACT_FAILED", str(ended.result), retryable=False)
        return ended

    def calculate_overall(self, results: Sequence[TaskOutput]) -> Any:
        """The task's own sum.

        Raises:
            InfrastructureError: The task failed at it, or is not there any more.
        """
        plain = [safe_json(to_plain(result)) for result in results]
        asked = {"name": self.name, "results": plain}
        return self._ask("calculate_overall", asked, "INTERACT_FAILED")

    def _look(self, path: str) -> Any:
        try:
            return ask_json(f"{self._address}/{path}", None, QUICK_SECONDS)
        except (OSError, ValueError) as error:
            raise SetupError(
                f"Nobody serves the task {self.name!r} at {self._address}: {_reason(error)}.",
                hint="Name AgentBench's controller, such as --tasks http://localhost:5000/api.",
            ) from error

    def _ask(self, path: str, asked: Any, word: str) -> Any:
        try:
            return post_json(f"{self._address}/{path}", asked, STEP_SECONDS)
        except urllib.error.HTTPError as error:
            retryable = error.code == UNAVAILABLE
            raise InfrastructureError(
                "NOT_AVAILABLE" if retryable else word, _reason(error), retryable=retryable
            ) from error
        except (OSError, ValueError) as error:
            raise InfrastructureError("NETWORK_ERROR", _reason(error)) from error


def to_plain(output: TaskOutput) -> dict[str, Any]:
    """A sample as it goes over HTTP."""
    history = [dict(item) for item in output.history or ()]
    return {**dict(output), "status": output.status.value, "history": history}


def _reason(error: Exception) -> str:
    """What went wrong; of a refusal its detail, where a controller has wrapped it too."""
    if not isinstance(error, urllib.error.HTTPError):
        return str(getattr(error, "reason", error))
    text = error.read().decode("utf-8", "replace")
    with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError):
        while True:
            text = json.loads(text[max(text.find("{"), 0) :])["detail"]
            if isinstance(text, dict):
                return str(text["output"]["result"])
    return f"HTTP {error.code}: {text}"


@dataclass
class ModelTurns:
    """A model's turns in one sample."""

    answerer: Answerer
    usage: Usage = field(default_factory=Usage)

    def ask(self, history: Sequence[ChatHistoryItem], stop: Stop) -> AgentOutput:
        """The model's turn.

        Raises:
            InfrastructureError: The model service failed.
            RunCancelled: ``stop`` was set.
        """
        prompt = Prompt(
            tuple(_as_message(item) for item in history), (), Parameters(self.answerer.model)
        )
        try:
            reply = read_whole(self.answerer.lm.stream(prompt, stop))
        except LMContextError:
            return AgentOutput(status=AgentOutputStatus.AGENT_CONTEXT_LIMIT)
        except LMError as error:
            is_network = isinstance(error, (LMConnectionError, LMTimeoutError))
            word = "NETWORK_ERROR" if is_network else "AGENT_FAILED"
            text = f"{type(error).__name__}: {error}"
            raise InfrastructureError(word, text, retryable=error.retryable) from error
        self.usage += reply.usage
        return AgentOutput(content=reply.message.text)


def _as_message(item: ChatHistoryItem) -> Message:
    if item.role == "agent":
        return AssistantMessage(item.content)
    return UserMessage((TextPart(item.content),))


def run_foreign_sample(
    client: TaskClient, job: Job, stop: Stop, price: Price | None = None
) -> SampleRecord:
    """Run a sample of a task that is served, for the job's agent.

    Args:
        client: The task.
        job: Which sample, and who does it.
        stop: Ends it.
        price: What the model's tokens cost, where it is known.

    Raises:
        InfrastructureError: It could not be run.
        RunCancelled: ``stop`` was set.
    """
    started = time.time()
    try:
        turns = ModelTurns(job.agent.answerer(job.item, job.epoch))
    except NoAnswerError as error:
        raise InfrastructureError("START_FAILED", str(error), retryable=False) from error
    try:
        output = client.run_sample(job.item.index, turns, stop)
    except InfrastructureError as error:
        error.cost_dollars = cost_of(turns.usage, price) if price else 0.0
        raise
    return SampleRecord(
        id=job.id,
        suite=job.suite.name,
        task=SampleTask(job.suite.name, job.item.index, epoch=job.epoch),
        agent=job.agent.name,
        model={"model": turns.answerer.model, "base_url": shown_url(turns.answerer.base_url)},
        messages=tuple(
            {"role": ROLES[item.role], "content": item.content} for item in output.history or ()
        ),
        status=output.status.value,
        result=safe_json(output.result),
        usage=to_dict(turns.usage),
        cost_dollars=cost_of(turns.usage, price) if price else None,
        time=SampleTime(started, time.time() - started),
    )


def sum_up_task(client: TaskClient, files: ResultFiles) -> dict[str, Any]:
    """Let the task sum up what is recorded, and write it down; what it says.

    What the task does not have any more is left out: it could not say what was right.
    """
    known = {repr(index) for index in client.get_indices()}
    outputs = [_output_of(s) for s in files.samples() if repr(s.task.index) in known]
    custom = sum_up_by(client.calculate_overall, outputs)
    files.sum_up(custom)
    return custom


def sum_up_by(
    calculate: Callable[[list[TaskOutput]], Any], outputs: list[TaskOutput]
) -> dict[str, Any]:
    """A task's own sum; what goes wrong in it must not lose the samples."""
    try:
        given = calculate(outputs)
    except Exception as error:  # the task's own code; its failure is told in the file
        return {"error": f"calculate_overall failed: {error}"}
    return given if isinstance(given, dict) else {"result": given}


def _output_of(sample: SampleRecord) -> TaskOutput:
    roles = {"user": "user", "assistant": "agent"}
    history = [
        {"role": roles[item["role"]], "content": item["content"]} for item in sample.messages
    ]
    return TaskOutput.parse_obj(
        {
            "index": sample.task.index,
            "status": sample.status,
            "result": sample.result,
            "history": history,
        }
    )
