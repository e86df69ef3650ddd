"""Usage and budgets over HTTP."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_runs import analysis_run
from server_client import Client

from cellwright.server.application import Application

pytestmark = pytest.mark.server


async def test_002_81_every_way_to_add_it_up_is_told(client: Client, shared: Application) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    run = shared.runs.start(*analysis_run()).run_id
    shared.chats.add_run(chat, run)
    for by in ("month", "model", "assistant", "run"):
        rows = (await client.call("GET", f"usage?by={by}")).json["rows"]
        assert [row["runs"] for row in rows] == [1], by
        assert rows[0]["cost_dollars"] > 0
    (row,) = (await client.call("GET", "usage")).json["rows"]
    assert len(row["key"]) == len("2026-11")


async def test_002_81_what_others_asked_is_not_told(client: Client, shared: Application) -> None:
    theirs = shared.chats.create("a.ipynb", "somebody").chat_id
    journal = shared.runs.start()
    shared.chats.add_run(theirs, journal.run_id)
    journal.record(*analysis_run())
    for by in ("chat", "run"):
        assert (await client.call("GET", f"usage?by={by}")).json["rows"] == []
    assert len((await client.call("GET", "usage?by=month")).json["rows"]) == 1


async def test_002_81_budgets_are_set_changed_and_taken_away(client: Client) -> None:
    both = {"month_dollars": 2.5, "month_tokens": 1000}
    told = (await client.call("PUT", "budgets", both)).json["budgets"]
    assert [(b["name"], b["limit_dollars"], b["limit_tokens"], b["used"]) for b in told] == [
        ("month_dollars", 2.5, None, 0.0),
        ("month_tokens", None, 1000, 0.0),
    ]
    told = (await client.call("PUT", "budgets", {"month_dollars": 0})).json["budgets"]
    assert [budget["name"] for budget in told] == ["month_tokens"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "usage?by=week", None),
        ("PUT", "budgets", {}),
        ("PUT", "budgets", {"month_dollars": -1}),
        ("PUT", "budgets", {"month_dollars": True}),
        ("PUT", "budgets", {"month_dollars": "1"}),
        ("PUT", "budgets", {"week_dollars": 1}),
    ],
)
async def test_what_cannot_be_is_refused(client: Client, method: str, path: str, body: Any) -> None:
    assert (await client.call(method, path, body)).status == 400
