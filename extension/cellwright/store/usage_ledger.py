"""The rows of the usage table that a run's events make, written with the events themselves.

A call of a model has its row from the moment it is asked: a call that is stopped, or whose process
dies, was paid for all the same. Its tokens are estimated until the service has said them.
"""

from __future__ import annotations

import time

from cellwright.llm.prompt_size import estimated_prompt_tokens
from cellwright.record.events import (
    Event,
    ModelAsked,
    ModelReplied,
    Notice,
    RunFinished,
    RunStarted,
    ToolFinished,
)
from cellwright.record.prompts import Parameters, Prompt
from cellwright.record.usage import ModelUsage, Usage
from cellwright.store.database import Statement

WRITE = """INSERT OR REPLACE INTO usage_calls VALUES (?, ?, ?, ?, ?, ?, ?, COALESCE(
    (SELECT chat_id FROM chat_runs WHERE run_id = ?),
    (SELECT chat_id FROM usage_calls WHERE run_id = ? LIMIT 1), ?), ?, ?, ?, ?, ?, ?, ?)"""
SHARE_COST = """UPDATE usage_calls SET cost_dollars =
    ? * (input_tokens + output_tokens) / (SELECT SUM(input_tokens + output_tokens)
        FROM usage_calls WHERE run_id = ? AND tool != '')
    WHERE run_id = ? AND tool != ''"""
SMALLEST_DOLLARS = 1e-9
LARGEST_NUMBER = 2**53
NOT_PAID = ("LM", "context")
"""How causes of runs begin whose last call the service refused, or never got."""
REPLAY = "replay"
LOOKED_UP = "scene"
"""Stands in the place of a tool's name."""


class UsageLedger:
    """What one run's calls of models took.

    Args:
        run_id: The run.
    """

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._started = RunStarted("", "", "", Parameters(""))
        self._is_open = False
        """A model was asked and has not replied."""
        self._call = self._part = 0
        self._tokens = 0
        """Of all that was said so far, as the next request will carry it."""
        self._known_dollars = 0.0

    def statements(self, event: Event, moment: float) -> list[Statement]:
        """What is to be written for an event; mostly nothing."""
        if isinstance(event, RunStarted):
            self._started = event
        if self._started.lane == REPLAY:
            return []  # nobody was asked
        if isinstance(event, ModelAsked):
            return [self._asked(event, moment)]
        if isinstance(event, ModelReplied):
            return [self._replied(event, moment)]
        if isinstance(event, ToolFinished):
            return self._others(event.usage, event.name, moment)
        if isinstance(event, Notice):
            return self._others(event.usage, LOOKED_UP, moment)
        if isinstance(event, RunFinished):
            return self._finished(event, moment)
        return []

    def _asked(self, event: ModelAsked, moment: float) -> Statement:
        if event.replaces_history or event.tools:
            self._tokens = 0  # the whole history comes again
        prompt = Prompt(event.messages, event.tools, Parameters(""))
        self._tokens += estimated_prompt_tokens(prompt)
        self._call, self._is_open = event.step, True
        return self._row(Usage(self._tokens, estimated=True), "asked", moment)

    def _replied(self, event: ModelReplied, moment: float) -> Statement:
        self._is_open = False
        self._tokens = event.usage.total_tokens
        self._known_dollars += event.cost_dollars or 0.0
        return self._row(event.usage, "replied", moment, cost=event.cost_dollars)

    def _others(self, usage: tuple[ModelUsage, ...], name: str, moment: float) -> list[Statement]:
        """Those of models that a tool asked, or that were asked before the question was."""
        rows = []
        for spent in usage:
            self._part += 1
            said = (spent.model, name, self._part)
            rows.append(self._write(spent.usage, "replied", moment, None, said))
        return rows

    def _finished(self, event: RunFinished, moment: float) -> list[Statement]:
        rows = []
        if self._is_open and event.cause.startswith(NOT_PAID):
            rows.append(self._row(Usage(), "failed", moment))
        self._is_open = False
        of_tools = (event.cost_dollars or 0.0) - self._known_dollars
        if self._part and of_tools > SMALLEST_DOLLARS:
            # Only the run's end tells what tools cost, all of them together.
            rows.append(Statement(SHARE_COST, (of_tools, self._run_id, self._run_id)))
        return rows

    def _row(
        self, usage: Usage, state: str, moment: float, *, cost: float | None = None
    ) -> Statement:
        said = (self._started.parameters.model, "", 0)
        return self._write(usage, state, moment, cost, said)

    def _write(
        self,
        usage: Usage,
        state: str,
        moment: float,
        cost: float | None,
        said: tuple[str, str, int],
    ) -> Statement:
        model, tool, part = said
        continues = self._started.continues
        values = (
            self._run_id,
            self._call,
            part,
            moment,
            time.strftime("%Y-%m", time.gmtime(moment)),
            model,
            self._started.assistant,
            self._run_id,
            continues,
            continues or self._run_id,
            tool,
            state,
            usage.prompt_tokens,
            usage.cached_tokens,
            usage.completion_tokens,
            int(usage.estimated),
            cost,
        )
        return Statement(WRITE, tuple(map(_storable, values)))


def _storable(value: object) -> object:
    # SQLite can hold neither a lone surrogate nor a number that no service would say.
    if isinstance(value, int):
        return max(-LARGEST_NUMBER, min(value, LARGEST_NUMBER))
    return value.encode("utf-8", "replace").decode("utf-8") if isinstance(value, str) else value
