"""Thumbs and comments over REST, kept as scores of the runs."""

from __future__ import annotations

import pytest
from server.named_people import EVE, WITH_GUESTS
from server.test_chat_pins import asked
from server_client import Client

from cellwright.record.run_record import Score
from cellwright.server.application import Application

pytestmark = pytest.mark.server


async def test_a_thumb_is_a_score_of_its_run(client: Client, shared: Application) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    run = asked(shared, chat, "first")
    path = f"chats/{chat}/thumbs/{run}"
    given = await client.call("PUT", path, {"is_up": False, "comment": " no unit "})
    assert (given.status, given.json["id"]) == (200, chat)
    assert given.json["thumbs"] == {run: {"is_up": False, "comment": "no unit"}}
    assert shared.runs.record(run).scores == (Score("thumb", 0.0, False, "no unit"),)
    turned = await client.call("PUT", path, {"is_up": True})
    assert turned.json["thumbs"] == {run: {"is_up": True, "comment": ""}}
    shared.runs.scores.give(run, Score("best == 3", 1.0, passed=True))
    (listed,) = (await client.call("GET", "chats")).json
    assert listed == turned.json
    gone = await client.call("DELETE", path)
    assert gone.json["thumbs"] == {}
    assert [score.name for score in shared.runs.record(run).scores] == ["best == 3"]


async def test_what_is_no_thumb_or_of_no_run_is_refused(
    client: Client, shared: Application
) -> None:
    chat, other = shared.chats.create().chat_id, shared.chats.create().chat_id
    run, elsewhere = asked(shared, chat, "first"), asked(shared, other, "second")
    for body in ({}, {"is_up": "yes"}, {"is_up": True, "stars": 5}):
        assert (await client.call("PUT", f"chats/{chat}/thumbs/{run}", body)).status == 400
    for name in (elsewhere, "none"):
        answer = await client.call("PUT", f"chats/{chat}/thumbs/{name}", {"is_up": True})
        assert (answer.status, repr(name) in answer.json["message"]) == (404, True)
    assert shared.runs.record(elsewhere).scores == ()


@pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])
async def test_guests_judge_answers_of_their_own_chats_alone(
    client: Client, shared: Application
) -> None:
    mine = shared.chats.create().chat_id
    path = f"chats/{mine}/thumbs/{asked(shared, mine, 'mine')}"
    assert (await client.call("PUT", path, {"is_up": True}, headers=EVE)).status == 404
    theirs = (await client.call("POST", "chats", {}, headers=EVE)).json["id"]
    path = f"chats/{theirs}/thumbs/{asked(shared, theirs, 'theirs')}"
    assert (await client.call("PUT", path, {"is_up": True}, headers=EVE)).status == 200
