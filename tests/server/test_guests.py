"""Guests of a server: their own chats for a day, nobody else's, and nothing to be approved."""

from __future__ import annotations

import time

import pytest
from fake_service import FakeService, text, tool_call
from jupyter_server.auth import User
from recorded_runs import started
from server.live_server import Live
from server.live_tab import TabClient
from server.named_people import EVE, WITH_GUESTS
from server_client import Client

from cellwright.record.events import RunFinished
from cellwright.server.application import Application, ExpiryWatch
from cellwright.server.routes import owner_of
from cellwright.store.chat_rows import guest_owner
from cellwright.store.database import Statement

pytestmark = pytest.mark.server

DAY = 86_400.0


BOB = {"X-Person": "bob"}
guests = pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])


@pytest.mark.parametrize(
    ("name", "owners", "owner"),
    [
        ("ada", (), "ada"),
        ("0123456789ab4cdef0123456789abcde", (), "0123456789ab4cdef0123456789abcde"),
        ("0123456789ab4cde8123456789abcdef", (), ""),
        ("ada", ("ada", "bob"), "ada"),
        ("eve", ("ada", "bob"), "guest:eve"),
        ("eve", ("e*",), "eve"),
        ("", ("ada",), "guest:"),
    ],
)
def test_002_05_whoever_is_not_one_of_the_owners_is_a_guest(
    name: str, owners: tuple[str, ...], owner: str
) -> None:
    assert owner_of(User(name) if name else None, owners) == owner


@guests
async def test_002_05_guests_touch_only_their_own_chats(
    client: Client, shared: Application
) -> None:
    run = shared.runs.start(started("mine"), RunFinished("completed")).run_id
    mine = shared.chats.create("a.ipynb").chat_id
    shared.chats.add_run(mine, run)
    alone = shared.runs.start(started("of a magic"), RunFinished("completed")).run_id
    made = await client.call("POST", "chats", {"notebook_path": "a.ipynb"}, headers=EVE)
    chat = made.json["id"]
    assert made.json["expires_at"] == pytest.approx(made.json["updated_at"] + DAY)
    for who, seen in ((EVE, [chat]), (BOB, []), ({}, [mine])):
        listed = (await client.call("GET", "chats", headers=who)).json
        assert [found["id"] for found in listed] == seen
    for method, path, value in (
        ("PATCH", f"chats/{mine}", {"title": "theirs"}),
        ("DELETE", f"chats/{mine}", None),
        ("POST", f"chats/{mine}/branch", {"run": run}),
        ("GET", f"chats/{mine}/export?to=html", None),
        ("GET", f"runs/{run}/cells", None),
        ("GET", f"runs/{alone}/cells", None),
    ):
        assert (await client.call(method, path, value, headers=EVE)).status == 404, path
    assert (
        await client.call("PATCH", f"chats/{chat}", {"title": "Theirs"}, headers=EVE)
    ).status == 200
    forever = await client.call("PATCH", f"chats/{chat}", {"expires_at": 0}, headers=EVE)
    assert (forever.status, forever.json["code"]) == (403, "guest")


@guests
async def test_002_05_what_is_not_for_guests_is_refused(
    client: Client, shared: Application
) -> None:
    shared.runs.start(started("of a magic"), RunFinished("completed"))
    for method, path, value in (
        ("PUT", "service", {"model": "cellwright-demo"}),
        ("POST", "service/test", {}),
        ("GET", "results", None),
        ("POST", "/v2/components/word_count/version/v1", {"arguments": {"text": "a"}}),
    ):
        answer = await client.call(method, path, value, headers=EVE)
        assert (answer.status, answer.json.get("code")) == (403, "guest"), path
        assert (await client.call(method, path, value)).status == 200, path
    assert (await client.call("GET", "health", headers=EVE)).status == 200
    assert (await client.call("GET", "runs", headers=EVE)).json["runs"] == []


@pytest.mark.kernel
@guests
async def test_002_05_a_guests_run_is_told_so_and_nobody_may_allow_anything(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [tool_call("run_cell", {"code": "1"}), text("It was refused.")]
    chat = (await live.load()).chats.create(owner=guest_owner("eve")).chat_id
    tab = TabClient(await live.socket(headers=EVE))
    live.tabs.append(tab)
    await tab.hello()
    await tab.follow(chat)
    refused = await tab.ask(chat, "run it", mode="auto")
    assert (refused["type"], refused["code"]) == ("error", "not_allowed")
    await tab.ask(chat, "run it", mode="ask")
    assert (await tab.finished())["answer"] == "It was refused."
    (call,) = tab.of_kind("tool_finished")
    assert call["status"] == "refused"
    assert not tab.of_kind("approval_asked")


def test_002_04_expired_chats_are_looked_for_while_no_run_goes_on(shared: Application) -> None:
    busy = True
    watch = ExpiryWatch(lambda: shared.chats, lambda: busy, first_seconds=0.0)
    gone = shared.chats.create(owner=guest_owner("eve")).chat_id
    shared.database.write(Statement("UPDATE chats SET expires_at = 1"))
    assert watch.look() == 0
    busy = False
    watch.start()
    left = "SELECT COUNT(*) FROM chats"
    deadline = time.monotonic() + 10
    while shared.database.read(left) != [(0,)] and time.monotonic() < deadline:
        time.sleep(0.01)
    watch.close(5.0)
    assert shared.database.read(left) == [(0,)]
    assert shared.chats.find(gone) is None
