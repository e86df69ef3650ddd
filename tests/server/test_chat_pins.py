"""Pins over REST, and what they do to the panel's runs: row 002-60."""

from __future__ import annotations

import json

import pytest
from fake_service import FakeService, text
from recorded_runs import replied, started, user
from server.live_server import Live
from server.named_people import EVE, WITH_GUESTS
from server.test_chat_routes import Watcher
from server_client import Client

from cellwright.context.pins import PINNED_TOKENS
from cellwright.record.events import ModelAsked, RunFinished
from cellwright.record.messages import AssistantMessage
from cellwright.server.application import Application

pytestmark = pytest.mark.server


def asked(shared: Application, chat: str, prompt: str, answer: str = "Yes.") -> str:
    run = shared.runs.start(
        started(prompt),
        ModelAsked(1, (user(prompt),)),
        replied(AssistantMessage(answer)),
        RunFinished("completed", answer),
    ).run_id
    shared.chats.add_run(chat, run)
    return run


async def test_002_60_a_turn_is_pinned_listed_and_let_go(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create("a.ipynb").chat_id
    first, second = asked(shared, chat, "first"), asked(shared, chat, "second")
    path = f"chats/{chat}/pins"
    assert (await client.call("GET", f"chats/{chat}")).json["pins"] == []
    pinned = await client.call("PUT", f"{path}/{second}")
    assert (pinned.status, pinned.json["id"], pinned.json["pins"]) == (200, chat, [second])
    for run in (first, second):
        pinned = await client.call("PUT", f"{path}/{run}")
    assert pinned.json["pins"] == [second, first]
    (listed,) = (await client.call("GET", "chats")).json
    assert listed == pinned.json
    renamed = await client.call("PATCH", f"chats/{chat}", {"title": "New"})
    assert renamed.json["pins"] == [second, first]
    branch = await client.call("POST", f"chats/{chat}/branch", {"run": first})
    assert branch.json["pins"] == [first]
    for _ in range(2):
        gone = await client.call("DELETE", f"{path}/{second}")
        assert (gone.status, gone.json["pins"]) == (200, [first])


async def test_002_60_what_cannot_be_pinned_is_told_with_what_to_do(
    client: Client, shared: Application
) -> None:
    chat, other = shared.chats.create().chat_id, shared.chats.create().chat_id
    elsewhere, gone = asked(shared, other, "elsewhere"), asked(shared, chat, "gone")
    shared.chats.add_run(chat, shared.runs.start(started("instead")).run_id, supersedes=gone)
    for run in (elsewhere, gone, "none"):
        for method in ("PUT", "DELETE"):
            answer = await client.call(method, f"chats/{chat}/pins/{run}")
            assert (answer.status, repr(run) in answer.json["message"]) == (404, True)
    assert (await client.call("PUT", f"chats/none/pins/{elsewhere}")).status == 404
    half = "word " * int(PINNED_TOKENS * 0.45)
    first, second = asked(shared, chat, "first", half), asked(shared, chat, "second", half)
    await client.call("PUT", f"chats/{chat}/pins/{first}")
    refused = await client.call("PUT", f"chats/{chat}/pins/{second}")
    assert (refused.status, refused.json["code"]) == (409, "pins_full")
    assert "tokens" in refused.json["message"]
    assert refused.json["hint"] == "Unpin something first."
    assert (await client.call("GET", f"chats/{chat}")).json["pins"] == [first]


@pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])
async def test_002_60_guests_pin_in_their_own_chats_alone(
    client: Client, shared: Application
) -> None:
    mine = shared.chats.create().chat_id
    run = asked(shared, mine, "mine")
    assert (await client.call("PUT", f"chats/{mine}/pins/{run}", headers=EVE)).status == 404
    theirs = (await client.call("POST", "chats", {}, headers=EVE)).json["id"]
    run = asked(shared, theirs, "theirs")
    pinned = await client.call("PUT", f"chats/{theirs}/pins/{run}", headers=EVE)
    assert (pinned.status, pinned.json["pins"]) == (200, [run])
    assert (await client.call("DELETE", f"chats/{theirs}/pins/{run}", headers=EVE)).status == 200


async def test_002_60_pages_are_told(client: Client, shared: Application) -> None:
    shared.live = watcher = Watcher()
    chat = shared.chats.create().chat_id
    run = asked(shared, chat, "first")
    await client.call("PUT", f"chats/{chat}/pins/{run}")
    await client.call("DELETE", f"chats/{chat}/pins/{run}")
    assert [told.pins for told in watcher.changed] == [(run,), ()]


@pytest.mark.kernel
async def test_002_60_the_panel_keeps_what_is_pinned_and_brings_back_what_was_left_out(
    live: Live, scripted: FakeService, client: Client
) -> None:
    long = "An answer. " * 500
    scripted.script = [text(f"{n}: {long}") for n in range(3)] + [text("Good.")]
    tab, chat, _ = await live.ready()
    for number in range(3):
        await tab.ask(chat, f"question {number} of the chat")
        await tab.finished(number + 1)
        await tab.phase(chat, "idle")
    first, second, _ = live.application.chats.active_run_ids(chat)
    await client.call("PUT", f"chats/{chat}/pins/{first}")
    await tab.send(type="compact", request="r1", chat=chat)
    await tab.event("history_compacted")
    await tab.phase(chat, "idle")
    parts = (await client.call("GET", f"chats/{chat}/context")).json["parts"]
    assert [part["pieces"] for part in parts if part["name"] == "pinned"] == [1]
    await client.call("PUT", f"chats/{chat}/pins/{second}")
    await tab.ask(chat, "the last question")
    await tab.finished(5)
    sent = json.dumps(scripted.requests[-1].messages)
    for number, run in enumerate((first, second)):
        assert sent.count(f"[pinned turn, run {run}]\\nquestion {number} of the chat") == 1
        assert f"{number}: {long}" in sent
    assert "- asked: question" not in sent
    shown = (await client.call("GET", f"chats/{chat}/messages")).json["messages"]
    assert not any("[pinned turn" in message["text"] for message in shown)
