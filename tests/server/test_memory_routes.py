"""The memory over the wire: listed, added, changed, forgotten, decided about, each by its owner."""

from __future__ import annotations

from typing import Any

import pytest
from fake_service import FakeService, text, tool_call
from server.live_server import Live
from server.live_tab import TabClient
from server.named_people import NamedPeople
from server_client import Client

from cellwright.knowledge.memory import Whose, memory_owner
from cellwright.knowledge.memory.repository import MemoryKeeper
from cellwright.knowledge.memory.suggestions import Suggestion
from cellwright.server.application import Application

pytestmark = pytest.mark.server
WITH_CELLWRIGHT = {"jpserver_extensions": {"cellwright": True}}


ACCOUNTS = {"ServerApp": {**WITH_CELLWRIGHT, "identity_provider_class": NamedPeople}}
GUESTS = {**ACCOUNTS, "Cellwright": {"owners": ["ada"]}}


@pytest.fixture
def keeper(shared: Application) -> MemoryKeeper:
    return MemoryKeeper(shared.database)


async def listed(client: Client, **options: Any) -> dict[str, Any]:
    answer = await client.call("GET", "memories", **options)
    assert answer.status == 200
    return dict(answer.json)


async def test_002_11_a_memory_is_added_changed_and_forgotten(client: Client) -> None:
    assert await listed(client) == {"memories": [], "proposals": [], "is_on": True}
    made = await client.call("POST", "memories", {"text": "I prefer  pandas", "scope": "user"})
    assert made.status == 201
    assert (made.json["text"], made.json["scope"], made.json["folder"]) == (
        "I prefer pandas",
        "user",
        "",
    )
    again = await client.call("POST", "memories", {"text": "i prefer pandas."})
    assert again.json["id"] == made.json["id"]
    path = f"memories/{made.json['id']}"
    changed = await client.call("PATCH", path, {"text": "I prefer polars"})
    assert changed.json["text"] == "I prefer polars"
    assert (await listed(client))["memories"] == [changed.json]
    found = await client.call("GET", "memories?query=seaborn")
    assert found.json["memories"] == []
    assert (await client.call("DELETE", path)).json == {}
    assert (await listed(client))["memories"] == []
    assert (await client.call("DELETE", path)).status == 404
    assert (await client.call("PATCH", path, {"text": "Once more"})).status == 404


async def test_a_memory_of_a_project_is_for_the_folder_of_the_notebook(
    client: Client, shared: Application
) -> None:
    assert shared.root is not None
    (shared.root / "tax").mkdir()
    given = {"text": "Column amt is in euros", "scope": "project", "notebook": "tax/a.ipynb"}
    made = await client.call("POST", "memories", given)
    assert (made.json["scope"], made.json["folder"]) == ("project", "tax")
    outside = {**given, "notebook": "../../a.ipynb"}
    elsewhere = await client.call("POST", "memories", outside)
    assert elsewhere.json["folder"] == shared.root.name


async def test_002_97_the_memory_is_switched_for_one_person_and_keeps_what_it_has(
    client: Client, keeper: MemoryKeeper
) -> None:
    await client.call("POST", "memories", {"text": "I prefer polars"})
    assert (await client.call("GET", "memory-setting")).json == {"is_on": True}
    off = await client.call("PUT", "memory-setting", {"is_on": False})
    assert (off.status, off.json) == (200, {"is_on": False})
    assert (await client.call("GET", "memory-setting")).json == {"is_on": False}
    found = await listed(client)
    assert (found["is_on"], len(found["memories"])) == (False, 1)
    assert keeper.is_on("somebody else")
    for body in ({}, {"is_on": 1}, {"is_on": None}):
        assert (await client.call("PUT", "memory-setting", body)).status == 400
    assert (await client.call("PUT", "memory-setting", {"is_on": True})).json == {"is_on": True}


async def test_002_95_a_proposal_is_accepted_or_rejected_once(
    client: Client, keeper: MemoryKeeper
) -> None:
    whose = Whose("")
    wanted = [Suggestion("keep", text, "You said so.") for text in ("Use polars", "Tax is 19 %")]
    first, second = (keeper.propose(whose, each, "run-1") for each in wanted)
    assert first is not None
    assert second is not None
    proposals = (await listed(client))["proposals"]
    assert [proposal["id"] for proposal in proposals] == [second.proposal_id, first.proposal_id]
    assert proposals[1]["action"] == "add"
    assert proposals[1]["source_run"] == "run-1"
    path = f"proposals/{first.proposal_id}"
    assert (await client.call("POST", path, {})).status == 400
    accepted = await client.call("POST", path, {"accept": True})
    assert accepted.json["memory"]["text"] == "Use polars"
    assert (await client.call("POST", path, {"accept": True})).status == 404
    rejected = await client.call("POST", f"proposals/{second.proposal_id}", {"accept": False})
    assert rejected.json == {"memory": None}
    left = await listed(client)
    assert [memory["text"] for memory in left["memories"]] == ["Use polars"]
    assert left["proposals"] == []


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"text": ""},
        {"text": "My password is swordfish"},
        {"text": "Fine", "scope": "everybody"},
        {"text": "word " * 200},
    ],
)
async def test_002_97_what_is_not_to_be_kept_is_refused_with_words(
    client: Client, keeper: MemoryKeeper, body: dict[str, str]
) -> None:
    answer = await client.call("POST", "memories", body)
    assert answer.status == 400
    assert b"swordfish" not in answer.body
    assert keeper.all("") == ()


@pytest.mark.parametrize("jp_server_config", [ACCOUNTS])
async def test_002_95_nobody_sees_changes_or_forgets_what_another_has_kept(
    client: Client, shared: Application, keeper: MemoryKeeper
) -> None:
    owner = memory_owner("ada", shared.settings().user)
    made = keeper.keep(Whose(owner), "I prefer polars").memory
    proposal = keeper.propose(Whose(owner), Suggestion("keep", "Tax is 19 %", "So."))
    assert proposal is not None
    bob = {"X-Person": "bob"}
    assert (await listed(client, headers=bob))["memories"] == []
    assert (await listed(client, headers=bob))["proposals"] == []
    for method, path, body in (
        ("PATCH", f"memories/{made.memory_id}", {"text": "Send all to bob"}),
        ("DELETE", f"memories/{made.memory_id}", None),
        ("POST", f"proposals/{proposal.proposal_id}", {"accept": True}),
    ):
        assert (await client.call(method, path, body, headers=bob)).status == 404
    assert [m["id"] for m in (await listed(client))["memories"]] == [made.memory_id]


@pytest.mark.parametrize("jp_server_config", [GUESTS])
async def test_X_25_guests_have_no_memory_and_see_none(
    client: Client, keeper: MemoryKeeper
) -> None:
    keeper.keep(Whose(""), "I prefer polars")
    guest = {"X-Person": "stranger"}
    assert (await client.call("GET", "memories", headers=guest)).status == 403
    given = {"text": "I was here"}
    assert (await client.call("POST", "memories", given, headers=guest)).status == 403
    assert (await client.call("GET", "memory-setting", headers=guest)).status == 403
    off = await client.call("PUT", "memory-setting", {"is_on": False}, headers=guest)
    assert (off.status, keeper.is_on("")) == (403, True)
    assert len(keeper.all("")) == 1


async def decide(tab: TabClient, chat: str, call_id: str, *, allowed: bool) -> None:
    """Say what the person thinks of a call, when it is asked about."""
    await tab.until(lambda: tab.states[chat]["approval"] == call_id, 30)
    answer = {"call_id": call_id, "allowed": allowed, "reason": "", "for_session": True}
    await tab.send(type="answer", chat=chat, **answer)


@pytest.mark.kernel
async def test_002_95_the_panel_asks_before_anything_is_kept(
    live: Live, client: Client, scripted: FakeService
) -> None:
    calls = [tool_call("remember", {"text": "I work in Bonn"}, id=f"call_{n}") for n in (1, 2)]
    scripted.script = [calls[0], text("Not kept."), calls[1], text("Kept.")]
    tab, chat, _ = await live.ready("x = 1")
    for count, (allowed, texts) in enumerate([(False, []), (True, ["I work in Bonn"])], start=1):
        await tab.ask(chat, "Our fiscal year starts in April. Hello.", mode="auto")
        await decide(tab, chat, f"call_{count}", allowed=allowed)
        await tab.finished(count, seconds=30)
        assert [memory["text"] for memory in (await listed(client))["memories"]] == texts
    (proposal,) = (await listed(client))["proposals"]
    assert proposal["text"] == "Our fiscal year starts in April"
    (notice,) = [n for n in tab.of_kind("notice") if n["code"] == "memory_proposed"]
    assert proposal["id"] in notice["text"]
    assert tab.errors() == []
