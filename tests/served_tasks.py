"""Tasks of AgentBench's kind, served over HTTP and run by an agent that a function is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from pathlib import Path
from typing import Any

from cellwright.bench.agentbench.assigning import TaskClient, run_foreign_sample, sum_up_task
from cellwright.bench.agentbench.serving import TaskServer, TaskWorker
from cellwright.bench.agents import model_agent
from cellwright.bench.results import ResultFiles
from cellwright.bench.runner import Job, Runner, RunnerOptions, pending
from cellwright.bench.suites import Item, Suite
from cellwright.bench.task import (
    AgentOutput,
    AgentOutputStatus,
    ChatHistoryItem,
    SampleIndex,
    Task,
    TaskOutput,
    run_sample,
)
from cellwright.errors import LMContextError
from cellwright.llm import Capabilities, LMEvent
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    Prompt,
    Reply,
    TextPart,
    Usage,
    UserMessage,
)
from cellwright.stopping import Stop

Answer = Callable[[list[ChatHistoryItem]], AgentOutput]


class AnswerLM:
    """A model that is a function of the history."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        stop.check()
        output = self._answer([_as_item(message) for message in prompt.messages])
        if output.status == AgentOutputStatus.AGENT_CONTEXT_LIMIT:
            raise LMContextError("too long", hint="-")
        yield from ()
        return Reply(AssistantMessage(output.content or ""), "stop", Usage(10, 2), "answering")

    def capabilities(self, model: str) -> Capabilities:
        return Capabilities()


def _as_item(message: Message) -> ChatHistoryItem:
    if isinstance(message, AssistantMessage):
        return ChatHistoryItem(role="agent", content=message.text)
    assert isinstance(message, UserMessage)
    (part,) = message.parts
    assert isinstance(part, TextPart)
    return ChatHistoryItem(role="user", content=part.text)


def later(answer: Answer) -> Callable[[list[ChatHistoryItem]], Awaitable[AgentOutput]]:
    """The function as a session asks it."""

    async def ask(history: list[ChatHistoryItem]) -> AgentOutput:
        return await asyncio.to_thread(answer, history)

    return ask


def run_one(task: Task, index: SampleIndex, answer: Answer) -> TaskOutput:
    """Run one sample without HTTP."""
    return asyncio.run(run_sample(task, index, later(answer)))


def run_task(
    task: Task, answer: Answer, root: Path, *, agent: str = "agent", stop: Stop | None = None
) -> dict[str, Any]:
    """Run what has not been run of a task, over HTTP; what it says of all of it."""
    worker = TaskWorker(task)
    server = TaskServer()
    try:
        server.add_worker(worker)
        client = TaskClient(task.name, server.address)
        items = tuple(Item(index, "") for index in client.get_indices())
        suite = Suite(task.name, items, client.get_concurrency())
        jobs = [Job(suite, item, model_agent(AnswerLM(answer), agent)) for item in items]
        options = RunnerOptions(suite.concurrency, backoff_seconds=0.01)
        Runner(root, partial(run_foreign_sample, client), options).run(pending(root, jobs), stop)
        return sum_up_task(client, ResultFiles(root, agent, task.name))
    finally:
        server.close()
        worker.close()
