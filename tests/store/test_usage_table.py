"""What models have cost: written with the events, added up in five ways, held against budgets."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
from recorded_runs import START, result, started, user

from cellwright.errors import SetupError
from cellwright.record.events import (
    Event,
    ModelAsked,
    ModelReplied,
    RunFinished,
    RunStarted,
    ToolFinished,
)
from cellwright.record.messages import AssistantMessage, Manifest, ModelUsage, Usage, UsageGroup
from cellwright.store.chats import ChatStore
from cellwright.store.database import Database, OpenOptions, Statement, open_database
from cellwright.store.migrations import MIGRATIONS
from cellwright.store.runs import RunStore
from cellwright.store.usage_table import MonthBudget, UsageTable, month_of, share

NOW = START
ASKED = ModelAsked(1, (user("x" * 400),), (Manifest("t", "d" * 40, {}),))


@pytest.fixture
def table(database: Database) -> UsageTable:
    return UsageTable(database)


def replied(
    prompt: int, completion: int, cached: int = 0, cost: float | None = None, **usage: bool
) -> ModelReplied:
    said = Usage(prompt, completion, cached, **usage)
    return ModelReplied(AssistantMessage("x"), "stop", said, "m-1", cost_dollars=cost)


def begun(**changes: object) -> RunStarted:
    return replace(started(), **changes)  # type: ignore[arg-type]


def run(database: Database, *events: Event) -> str:
    """A run of the record with these events."""
    return RunStore(database).start(*events).run_id


def sums(table: UsageTable, group: UsageGroup = "month") -> list[tuple[object, ...]]:
    return [
        (row.runs, row.calls, row.input_tokens, row.cached_tokens, row.output_tokens)
        for row in table.rows(group)
    ]


def test_002_81_sums_equal_what_the_provider_said(database: Database, table: UsageTable) -> None:
    run(
        database,
        begun(),
        ASKED,
        replied(100, 10, 50, 0.25),
        replace(ASKED, step=2),
        replied(200, 20, 150, 0.5),
        RunFinished("completed", cost_dollars=0.75),
    )
    assert sums(table) == [(1, 2, 300, 200, 30)]
    (row,) = table.rows("month")
    assert row.cost_dollars == 0.75
    assert not row.is_estimated
    assert row.unpriced_calls == 0


def test_002_81_a_call_that_was_cancelled_counts_as_about_what_was_sent(
    database: Database, table: UsageTable
) -> None:
    asked = replace(ASKED, step=2, messages=(user("y" * 40),), tools=())
    stopped = RunFinished("cancelled", cause="stopped")
    run(database, begun(), ASKED, replied(100, 10), asked, stopped)
    (row,) = table.rows("month")
    assert (row.calls, row.input_tokens, row.output_tokens) == (2, 100 + 110 + 10, 10)
    assert row.is_estimated


def test_002_81_a_call_whose_process_died_counts_too(database: Database, table: UsageTable) -> None:
    run(database, begun(), ASKED)
    (row,) = table.rows("month")
    assert row.calls == 1
    assert row.input_tokens > 100
    assert row.is_estimated


def test_002_81_a_request_that_the_service_refused_costs_nothing(
    database: Database, table: UsageTable
) -> None:
    refused = RunFinished("task error", cause="LMAccessError")
    run(database, begun(), ASKED, refused)
    assert sums(table) == [(1, 1, 0, 0, 0)]
    again = (ASKED, replace(ASKED, replaces_history=True), replied(80, 5))
    run(database, begun(), *again, RunFinished("completed"))
    assert sums(table) == [(2, 2, 80, 0, 5)]


def test_002_81_a_service_that_says_no_usage_is_estimated_and_marked(
    database: Database, table: UsageTable
) -> None:
    run(database, begun(), ASKED, replied(90, 9, estimated=True), RunFinished("completed"))
    (row,) = table.rows("model")
    assert (row.key, row.label, row.is_estimated) == ("demo-analyst", "demo-analyst", True)


def test_002_81_what_tools_spend_counts_under_its_own_model(
    database: Database, table: UsageTable
) -> None:
    spent = (ModelUsage("small", Usage(30, 10)), ModelUsage("tiny", Usage(50, 10)))
    tool = ToolFinished("c", "judge", result("c", "ok", "judge"), usage=spent)
    run(
        database,
        begun(),
        ASKED,
        replied(100, 10, cost=0.1),
        tool,
        RunFinished("completed", cost_dollars=0.2),
    )
    rows = {row.key: row for row in table.rows("model")}
    assert {key: row.calls for key, row in rows.items()} == {
        "demo-analyst": 1,
        "small": 1,
        "tiny": 1,
    }
    assert rows["small"].cost_dollars == pytest.approx(0.04)
    assert rows["tiny"].cost_dollars == pytest.approx(0.06)
    (month,) = table.rows("month")
    assert month.cost_dollars == pytest.approx(0.2)


def test_002_81_a_replay_asks_nobody_and_counts_nothing(
    database: Database, table: UsageTable
) -> None:
    run(database, begun(lane="replay"), ASKED, replied(100, 10), RunFinished("completed"))
    assert table.rows("month") == ()


def test_002_81_rows_are_told_by_assistant_chat_and_run(
    database: Database, table: UsageTable
) -> None:
    chats = ChatStore(database)
    chat = chats.rename(chats.create("a.ipynb").chat_id, "Sales")
    store = RunStore(database)
    journal = store.start(begun(assistant="reviewer"))
    chats.add_run(chat.chat_id, journal.run_id)
    journal.record(ASKED, replied(100, 10, cost=0.5))
    first = run(database, begun(prompt="What\n is it?"), ASKED, replied(10, 1))
    second = run(database, begun(continues=first, prompt="And?"), ASKED, replied(20, 2))
    assert [(row.label, row.calls) for row in table.rows("assistant")] == [
        ("reviewer", 1),
        ("no assistant", 2),
    ]
    by_chat = {row.key: (row.label, row.runs, row.input_tokens) for row in table.rows("chat")}
    assert by_chat == {chat.chat_id: ("Sales", 1, 100), first: ("What is it?", 2, 30)}
    by_run = {row.key: row.label for row in table.rows("run")}
    assert by_run[second] == "And?"
    store.delete(second)
    assert {row.key: row.label for row in table.rows("run")}[second] == "deleted"
    assert sum(row.calls for row in table.rows("month")) == 3, "what was paid stays paid"


def test_002_81_months_have_their_year_and_stand_in_order(
    database: Database, table: UsageTable
) -> None:
    run(database, begun(), ASKED, replied(1, 1))
    moments = {"2025-11": 1_763_000_000.0, "2026-02": 1_770_000_000.0}
    for number, (month, at) in enumerate(moments.items()):
        assert month_of(at) == month
        copy = f"""INSERT INTO usage_calls SELECT run_id, {number + 7}, part, ?, ?, model,
            assistant,
            chat_id, tool, state, input_tokens, cached_tokens, output_tokens, estimated,
            cost_dollars FROM usage_calls LIMIT 1"""
        database.write(Statement(copy, (at, month)))
    months = [row.key for row in table.rows("month")]
    assert months[:2] == ["2025-11", "2026-02"]


def test_002_81_a_budget_is_kept_for_the_month_and_says_how_it_is_raised(
    database: Database, table: UsageTable
) -> None:
    assert table.budgets() == ()
    assert table.reached() is None
    table.set_budget("month_dollars", 1.0)
    table.set_budget("month_tokens", 500)
    assert [budget.used for budget in table.budgets()] == [0.0, 0.0]
    run(database, begun(), ASKED, replied(100, 10, cost=0.75))
    assert table.reached() is None
    run(database, begun(), ASKED, replied(100, 10, cost=0.25))
    reached = table.reached()
    assert reached is not None
    assert reached.cause == "month_budget"
    assert "$1.00 of $1.00" in reached.reason
    assert "%agent usage --budget USD" in reached.reason
    table.set_budget("month_dollars", None)
    assert table.reached() is None
    table.set_budget("month_tokens", 220)
    reached = table.reached()
    assert reached is not None
    assert "220 of 220 tokens" in reached.reason
    later = UsageTable(database, lambda: 2_000_000_000.0)
    assert [budget.used for budget in later.budgets()] == [0.0]


def test_002_81_a_limit_in_dollars_says_which_calls_it_does_not_see(
    database: Database, table: UsageTable
) -> None:
    table.set_budget("month_dollars", 1.0)
    table.set_budget("month_tokens", 500)
    run(database, begun(), ASKED, replied(100, 10, cost=None))
    dollars, tokens = table.budgets()
    assert (dollars.used, dollars.unpriced_calls) == (0.0, 1)
    assert share(dollars).endswith("names, or limit tokens (--budget-tokens N).")
    assert tokens.unpriced_calls == 0
    assert share(tokens).endswith("(22%).")


@pytest.mark.parametrize(
    ("name", "amount"),
    [("week_dollars", 1.0), ("month_dollars", 0.0), ("month_dollars", -1.0),
     ("month_tokens", float("inf"))],
)  # fmt: skip
def test_002_81_a_budget_that_is_none_is_refused(
    table: UsageTable, name: str, amount: float
) -> None:
    with pytest.raises(SetupError):
        table.set_budget(name, amount)
    assert table.budgets() == ()


def test_a_budget_just_below_is_not_reached() -> None:
    assert MonthBudget("month_tokens", 10, 9.99, "2026-11").reached is None


def test_002_81_runs_that_were_there_before_the_table_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "runs.sqlite"
    before = tuple(itertools.takewhile(lambda step: step.__name__ < "m005", MIGRATIONS))
    old = open_database(path, OpenOptions(migrations=before))
    old.write(
        Statement(
            "INSERT INTO runs (run_id, status, model, lane, started_at, last_at) "
            "VALUES ('r', 'completed', 'm', 'cli', 1, 1)"
        ),
        *(
            Statement("INSERT INTO events VALUES ('r', ?, ?, ?, ?, '')", (n, START, kind, data))
            for n, (kind, data) in enumerate(
                [
                    ("run_started", '{"assistant": "a"}'),
                    (
                        "model_replied",
                        '{"usage": {"prompt_tokens": 7, "completion_tokens": 3}, '
                        '"cost_dollars": 0.5}',
                    ),
                    ("model_replied", "{damaged"),
                ]
            )
        ),
    )
    old.close()
    new = open_database(path)
    (row,) = UsageTable(new).rows("assistant")
    new.close()
    assert (row.key, row.calls, row.input_tokens, row.output_tokens) == ("a", 1, 7, 3)
    assert row.cost_dollars == 0.5


def test_while_the_file_cannot_be_written_what_waits_is_counted_too(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "runs.sqlite"
    database = open_database(path, OpenOptions(busy_seconds=0.05))
    run(database, begun(), ASKED, replied(100, 10, cost=0.5))
    other = open_database(path)
    assert other._file is not None
    other._file.connection.execute("BEGIN IMMEDIATE")
    run(database, begun(), ASKED, replied(10, 1))
    (row,) = UsageTable(database).rows("month")
    other._file.connection.execute("ROLLBACK")
    other.close()
    database.close()
    assert (row.runs, row.calls, row.input_tokens, row.cost_dollars) == (2, 2, 110, 0.5)
    assert row.unpriced_calls == 1


def test_a_name_that_sqlite_cannot_hold_is_no_failure(
    database: Database, table: UsageTable
) -> None:
    run(database, begun(assistant="a\ud800"), ASKED, replied(1, 1))
    assert [row.key for row in table.rows("assistant")] == ["a?"]
