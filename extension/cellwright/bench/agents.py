"""Who answers a sample: a model, or one of those that need none.

``oracle`` gives the reference and must pass, ``noop`` does nothing and must fail: together they
show that a suite can tell right from wrong. All of them go through the one loop that the magic
and the panel use.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from cellwright.bench.checks import cut_recorded, fenced
from cellwright.bench.results import samples_in
from cellwright.bench.suites import Item
from cellwright.bench.suites.json_lines import read_json_lines
from cellwright.errors import SetupError
from cellwright.exports.sample import parse_messages
from cellwright.llm import LM
from cellwright.llm.replay import ReplayLM
from cellwright.record.messages import AssistantMessage, Reply, ToolCall, Usage
from cellwright.session.questions import RunRequest
from cellwright.session.services import ModelService

DONE = "Done."
NOTHING = "I did nothing."
TURNS = 1_000
"""More than any task asks."""


class NoAnswerError(Exception):
    """There is nothing recorded for a sample, so it cannot be run."""


@dataclass
class Answerer(ModelService):
    """What answers one sample."""

    replies: int = 0
    """How many are known beforehand; the step limit must leave room for them."""


@dataclass(frozen=True)
class Agent:
    """Who answers, under a name."""

    name: str
    answerer: Callable[[Item, int], Answerer]
    """For an item and an epoch.

    Raises:
        NoAnswerError: It has nothing for that sample.
    """
    concurrency: int = 0
    """How many samples it may work on at a time; 0: as many as are asked for."""
    request: RunRequest = RunRequest("", mode="auto")
    """What is asked of it with each sample: adapter, assistant, mode, parameters of the model."""


@dataclass(frozen=True)
class ScriptedPlan:
    """What an agent without a model does: cells, then words."""

    cells: tuple[str, ...] = ()
    answer: str = DONE


def open_agent(specification: str) -> Agent:
    """The agent that ``oracle``, ``noop``, ``answers:FILE`` or ``replay:FILE`` means.

    Raises:
        SetupError: There is none of this name, or its file cannot be read.
    """
    kind, _, file = specification.partition(":")
    if specification == "oracle":
        return scripted_agent("oracle", _oracle)
    if specification == "noop":
        return Agent("noop", _noop)
    if kind == "answers" and file:
        return _answers(Path(file))
    if kind == "replay" and file:
        return _replay(Path(file))
    raise SetupError(
        f"There is no agent {specification!r}.",
        hint="Use oracle, noop, answers:FILE or replay:FILE, or name a model with -m.",
    )


def _noop(item: Item, epoch: int) -> Answerer:
    """Says that it did nothing, as often as it is asked: a task of AgentBench asks again."""
    replies = _replies(ScriptedPlan(answer=NOTHING), "noop")
    return replace(_known(replies * TURNS, "noop"), replies=len(replies))


def model_agent(lm: LM, model: str, base_url: str = "", *, is_free: bool = False) -> Agent:
    """The real agent with a model."""
    answerer = Answerer(lm, model, base_url, is_free=is_free)
    return Agent(model, lambda item, epoch: answerer)


def _known(replies: tuple[Reply, ...], model: str) -> Answerer:
    return Answerer(ReplayLM(replies), model, is_free=True, replies=len(replies))


def scripted_agent(name: str, plan: Callable[[Item, int], ScriptedPlan]) -> Agent:
    """An agent that does what ``plan`` says for each item and epoch."""

    def answerer(item: Item, epoch: int) -> Answerer:
        replies = _replies(plan(item, epoch), name)
        return _known(replies, name)

    return Agent(name, answerer)


def _oracle(item: Item, epoch: int) -> ScriptedPlan:
    if not item.reference and not item.reference_answer:
        raise NoAnswerError(f"The sample {item.index!r} has no reference.")
    return ScriptedPlan(item.reference, item.reference_answer or DONE)


def _replies(plan: ScriptedPlan, model: str) -> tuple[Reply, ...]:
    messages = [AssistantMessage("", (_call(n, code),)) for n, code in enumerate(plan.cells, 1)]
    return _as_replies([*messages, AssistantMessage(plan.answer)], model)


def _as_replies(messages: Iterable[AssistantMessage], model: str) -> tuple[Reply, ...]:
    return tuple(
        Reply(message, "tool_calls" if message.tool_calls else "stop", Usage(), model)
        for message in messages
    )


def _call(number: int, code: str) -> ToolCall:
    return ToolCall(f"call_{number}", "run_cell", json.dumps({"code": code}))


def _answers(path: Path) -> Agent:
    answers = {_index_of(row): _texts(row) for row in read_json_lines(path)}

    def plan(item: Item, epoch: int) -> ScriptedPlan:
        texts = answers.get(str(item.index))
        if not texts:
            raise NoAnswerError(f"{str(path)!r} has no answer for the sample {item.index!r}.")
        code = cut_recorded(texts[(epoch - 1) % len(texts)])
        if item.is_answer_code:
            return ScriptedPlan(answer=fenced(code))
        return ScriptedPlan((item.prefix + code,))

    return scripted_agent(f"answers:{path.name}", plan)


def _index_of(row: Mapping[str, Any]) -> str:
    if "problemset" in row:  # as DSEval records its results
        return f"{str(row.get('benchmark')).lower()}/{row['problemset']}/{row.get('index')}"
    for key in ("index", "id", "task_id", "problem_id"):
        if key in row:
            return str(row[key])
    metadata = row.get("metadata")
    if isinstance(metadata, Mapping) and "problem_id" in metadata:
        return str(metadata["problem_id"])
    raise SetupError(
        f"An answer does not say which sample it is for: {str(row)[:100]!r}.",
        hint="It needs index, id, task_id or problem_id.",
    )


def _texts(row: Mapping[str, Any]) -> tuple[str, ...]:
    given = next((row[k] for k in ("code", "completion", "solution", "answer") if k in row), None)
    return tuple(map(str, given)) if isinstance(given, list) else (str(given or ""),)


def _replay(path: Path) -> Agent:
    """Recorded samples again; of several epochs each has its own."""
    recorded: dict[tuple[str, int], tuple[Reply, ...]] = {}
    for sample in samples_in(path):
        said = parse_messages(sample.messages)
        own = [message for message in said if isinstance(message, AssistantMessage)]
        key = (str(sample.task.index), sample.task.epoch)
        recorded[key] = _as_replies(own, str(sample.model.get("model", "")))
    if not recorded:
        raise SetupError(
            f"There are no recorded samples in {str(path)!r}.", hint="Name a runs.jsonl."
        )

    def answerer(item: Item, epoch: int) -> Answerer:
        replies = recorded.get((str(item.index), epoch))
        if not replies:
            raise NoAnswerError(f"{str(path)!r} has no run of the sample {item.index!r}.")
        return _known(replies, replies[0].model)

    return Agent(f"replay:{path.parent.parent.name or path.name}", answerer)
