"""What models have cost: a row for each call, sums in five ways, and how much a month may cost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cellwright.errors import SetupError
from cellwright.llm.budget import LimitReached
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
from cellwright.record.messages import ModelUsage, Parameters, Prompt, Usage, UsageGroup
from cellwright.store.database import Database, Statement

COLUMNS: Mapping[UsageGroup, str] = {
    "month": "month",
    "model": "model",
    "assistant": "assistant",
    "chat": "chat_id",
    "run": "run_id",
}
ROW_LIMIT = 200
"""Chats and runs may be many: so many of the newest."""
LABEL_CHARACTERS = 80
NAMELESS: Mapping[str, str] = {"assistant": "no assistant", "model": "not told"}
BUDGETS = ("month_dollars", "month_tokens")
UNPRICED = "SUM(cost_dollars IS NULL AND input_tokens + output_tokens > 0)"
SUMS = f"""COUNT(DISTINCT run_id), COUNT(*), SUM(input_tokens), SUM(cached_tokens),
    SUM(output_tokens), SUM(cost_dollars), MAX(at), MAX(estimated), {UNPRICED}"""
USED = f"""SELECT SUM(cost_dollars), SUM(input_tokens + output_tokens), {UNPRICED}
    FROM usage_calls WHERE month = ?"""
HOW_TO_RAISE = "Raise it with %agent usage {option} or cellwright usage {option}."


@dataclass(frozen=True)
class UsageRow:
    """What one month, model, assistant, chat or run took."""

    key: str
    label: str
    runs: int
    calls: int
    input_tokens: int
    cached_tokens: int
    """The part of ``input_tokens`` that the provider had in its cache."""
    output_tokens: int
    cost_dollars: float | None
    """None: no price of it is known."""
    last_at: float = 0.0
    """Seconds since the epoch."""
    is_estimated: bool = False
    """Some service did not say its tokens."""
    unpriced_calls: int = 0
    """Calls whose price is not known; ``cost_dollars`` is without them."""


@dataclass(frozen=True)
class MonthBudget:
    """How much may be used in a month, and how much was."""

    name: str
    """``month_dollars`` or ``month_tokens``."""
    limit: float
    used: float
    month: str
    unpriced_calls: int = 0
    """Calls that a limit in dollars does not see, because their price is not known."""

    @property
    def reached(self) -> LimitReached | None:
        """Why no more may be asked; None: it is not used up."""
        if self.used < self.limit:
            return None
        if self.name == "month_dollars":
            amount, option = f"${self.used:.2f} of ${self.limit:.2f}", "--budget USD"
        else:
            amount = f"{self.used:,.0f} of {self.limit:,.0f} tokens"
            option = "--budget-tokens N"
        raising = HOW_TO_RAISE.format(option=option)
        return LimitReached(
            "month_budget", f"The budget of {self.month} is used up: {amount}. {raising}"
        )


def month_of(moment: float) -> str:
    """The month of a moment with its year, such as ``2026-11``; UTC, as providers count."""
    return time.strftime("%Y-%m", time.gmtime(moment))


class UsageTable:
    """The usage of one database.

    Args:
        database: Where runs are recorded.
        clock: Seconds since the epoch.
    """

    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock

    def rows(self, group: UsageGroup) -> tuple[UsageRow, ...]:
        """What each took; months in order, all else by its cost and tokens.

        Chats and runs are the newest ones, in the order of time.
        """
        column = COLUMNS[group]
        sql = f"SELECT {column}, {SUMS} FROM usage_calls GROUP BY {column}"
        is_long = group in ("chat", "run")
        if is_long:
            sql += f" ORDER BY MAX(at) DESC LIMIT {ROW_LIMIT}"
        rows = _added_up(self._database.read(sql))
        if is_long:
            rows = sorted(rows, key=lambda row: -row.last_at)[:ROW_LIMIT]
        elif group == "month":
            rows = sorted(rows, key=lambda row: row.key)
        else:
            rows = sorted(rows, key=lambda row: (-(row.cost_dollars or 0), -_tokens(row), row.key))
        return tuple(self._labelled(group, rows))

    def budgets(self) -> tuple[MonthBudget, ...]:
        """What is set for every month, with what this month has used."""
        found: dict[str, float] = dict(
            self._database.read("SELECT name, amount FROM usage_budgets")
        )
        if not found:
            return ()
        month = month_of(self._clock())
        sums = self._database.read(USED, (month,))
        used = {
            "month_dollars": float(sum(dollars or 0 for dollars, *_ in sums)),
            "month_tokens": float(sum(tokens or 0 for _, tokens, _ in sums)),
        }
        unpriced = {"month_dollars": sum(calls or 0 for *_, calls in sums)}
        return tuple(
            MonthBudget(name, float(found[name]), used[name], month, unpriced.get(name, 0))
            for name in BUDGETS
            if name in found
        )

    def set_budget(self, name: str, amount: float | None) -> None:
        """Say how much a month may cost; None: as much as it will.

        Raises:
            SetupError: There is no such budget, or the amount is none.
        """
        if name not in BUDGETS:
            raise SetupError(f"There is no budget {name!r}.", hint=f"Use {' or '.join(BUDGETS)}.")
        if amount is None:
            self._database.write(Statement("DELETE FROM usage_budgets WHERE name = ?", (name,)))
            return
        if not 0 < amount < float("inf"):
            raise SetupError(f"The budget {amount!r} is not above zero.", hint="Or say 'off'.")
        row = (name, float(amount))
        self._database.write(Statement("INSERT OR REPLACE INTO usage_budgets VALUES (?, ?)", row))

    def reached(self) -> LimitReached | None:
        """The month's budget that is used up, if any."""
        return next((found for b in self.budgets() if (found := b.reached) is not None), None)

    def _labelled(self, group: UsageGroup, rows: Sequence[UsageRow]) -> Iterable[UsageRow]:
        if group not in ("chat", "run"):
            return [replace(row, label=row.key or NAMELESS.get(group, "")) for row in rows]
        keys = {row.key for row in rows}
        if group == "run":
            labels = self._prompts(keys)
        else:
            titles = self._database.read("SELECT chat_id, title FROM chats WHERE title != ''")
            firsts = self._first_runs(keys)
            prompts = self._prompts(set(firsts.values()))
            labels = {chat: prompts[run] for chat, run in firsts.items() if run in prompts}
            labels |= {key: title for key, title in titles if key in keys}
        return [replace(row, label=_one_line(labels.get(row.key, "")) or "deleted") for row in rows]

    def _first_runs(self, chats: set[str]) -> dict[str, str]:
        sql = "SELECT chat_id, run_id, MIN(at) FROM usage_calls GROUP BY chat_id"
        return {chat: run for chat, run, _ in self._database.read(sql) if chat in chats}

    def _prompts(self, runs: set[str]) -> dict[str, str]:
        found = self._database.read("SELECT run_id, prompt FROM runs")
        return {run: prompt for run, prompt in found if run in runs}


def _added_up(found: Iterable[tuple[Any, ...]]) -> list[UsageRow]:
    """One row a key: what waits in memory while the file cannot be written comes beside it."""
    rows: dict[str, UsageRow] = {}
    for values in found:
        row = _row(values)
        rows[row.key] = _both(rows[row.key], row) if row.key in rows else row
    return list(rows.values())


def _row(values: tuple[Any, ...]) -> UsageRow:
    key, runs, calls, read, cached, written, cost, at, estimated, unpriced = values
    return UsageRow(
        key, key, runs, calls, read, cached, written, cost, at, bool(estimated), unpriced
    )


def _both(one: UsageRow, other: UsageRow) -> UsageRow:
    costs = [row.cost_dollars for row in (one, other) if row.cost_dollars is not None]
    return UsageRow(
        one.key,
        one.label,
        one.runs + other.runs,
        one.calls + other.calls,
        one.input_tokens + other.input_tokens,
        one.cached_tokens + other.cached_tokens,
        one.output_tokens + other.output_tokens,
        sum(costs) if costs else None,
        max(one.last_at, other.last_at),
        one.is_estimated or other.is_estimated,
        one.unpriced_calls + other.unpriced_calls,
    )


def _tokens(row: UsageRow) -> int:
    return row.input_tokens + row.output_tokens


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LABEL_CHARACTERS else f"{line[: LABEL_CHARACTERS - 1]}…"


# The rows of the usage table that a run's events make, written with the events themselves.
#
# A call of a model has its row from the moment it is asked: a call that is stopped, or whose
# process dies, was paid for all the same. Its tokens are estimated until the service has said
# them.


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
            month_of(moment),
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


# Usage in words, the same in a notebook and a terminal.


UNPRICED_WORDS = (
    "{count:,} calls have no known price and do not count: give one in the table that "
    "CELLWRIGHT_PRICES names, or limit tokens (--budget-tokens N)."
)


def tokens(row: UsageRow) -> str:
    """Tokens that went in, with a mark where some were estimated."""
    return f"{'~' if row.is_estimated else ''}{row.input_tokens:,}"


def dollars(row: UsageRow) -> str:
    """What it cost; ``≥`` where some calls have no known price, empty where none has."""
    if row.cost_dollars is None:
        return ""
    return f"{'≥ ' if row.unpriced_calls else ''}${row.cost_dollars:.4f}"


def share(budget: MonthBudget) -> str:
    """How much of a month's budget is used."""
    if budget.name == "month_dollars":
        used, limit = f"${budget.used:.4f}", f"${budget.limit:.2f}"
    else:
        used, limit = f"{budget.used:,.0f}", f"{budget.limit:,.0f} tokens"
    share_used = f"{budget.used / budget.limit:.0%}"
    words = f"Budget of {budget.month}: {used} of {limit} used ({share_used})."
    if not budget.unpriced_calls:
        return words
    return f"{words} {UNPRICED_WORDS.format(count=budget.unpriced_calls)}"
