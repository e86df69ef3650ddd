"""Messages that wait in a chat for its next question, over REST and in the panel's runs."""

from __future__ import annotations

import json

import pytest
from fake_service import FakeService, error, text
from recorded_runs import replied, started, user
from server.live_server import Live
from server_client import Client

from cellwright.context.roles import ROLES
from cellwright.record.events import ModelAsked, RunFinished, StateCaptured
from cellwright.record.messages import AssistantMessage
from cellwright.server.application import Application

pytestmark = pytest.mark.server
SECRET = "hunter2" * 3


async def test_002_20_to_30_each_role_waits_or_is_refused_with_what_to_do(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create().chat_id
    path = f"chats/{chat}/messages"
    for role in (*ROLES, "developer"):
        answer = await client.call("POST", path, {"role": role, "text": "words"})
        found = ROLES.get(role)
        may_wait = found and found.from_people and found.is_stored and not found.asks
        assert answer.status == (201 if may_wait else 400), role
        if not may_wait:
            assert repr(role) in answer.json["message"]
            assert "user_later" in answer.json["hint"]
    waiting = (await client.call("GET", path)).json["waiting"]
    assert [item["role"] for item in waiting] == ["user_later", "system", "assistant"]
    hidden = (await client.call("GET", f"{path}?debug=1")).json["waiting"]
    assert "system_hide" in [item["role"] for item in hidden]


async def test_002_21_a_message_that_waits_can_be_taken_back(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)
    chat = shared.chats.create().chat_id
    path = f"chats/{chat}/messages"
    kept = (await client.call("POST", path, {"text": f"the key is {SECRET}"})).json
    assert kept["role"] == "user_later"
    assert SECRET not in str(shared.chats.notes.waiting(chat))
    assert (await client.call("POST", path, {"text": " "})).status == 400
    assert (await client.call("DELETE", f"{path}/{kept['id']}")).status == 200
    gone = await client.call("DELETE", f"{path}/{kept['id']}")
    assert (gone.status, "waits" in gone.json["message"]) == (404, True)
    assert (await client.call("POST", "chats/none/messages", {"text": "a"})).status == 404


async def test_002_21_pages_hear_of_what_waits_and_ask_for_that_alone(
    live: Live, client: Client, shared: Application
) -> None:
    chat = await live.chat()
    run = shared.runs.start(started(), ModelAsked(1, (user("Which?"),)), RunFinished("completed"))
    shared.chats.add_run(chat, run.run_id)
    tab = await live.tab()
    await tab.follow(chat)
    path = f"chats/{chat}/messages"

    def states() -> int:
        return sum(frame["type"] == "chat" for frame in tab.frames)

    heard = states()
    kept = (await client.call("POST", path, {"text": "The unit is kg."})).json
    await tab.until(lambda: states() > heard)
    listed = (await client.call("GET", f"{path}?waiting=1")).json
    assert listed == {"chat": chat, "messages": [], "before": "", "waiting": [kept]}
    assert (await client.call("GET", path)).json["messages"] != []
    heard = states()
    await client.call("DELETE", f"{path}/{kept['id']}")
    await tab.until(lambda: states() > heard)


async def test_002_26_instructions_beside_the_assistants_and_without_keys(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)
    chat = shared.chats.create().chat_id
    changed = {"prompt": f"Say {SECRET}.", "prompt_adds": True}
    answer = (await client.call("PATCH", f"chats/{chat}", changed)).json
    assert (answer["prompt_adds"], SECRET in answer["prompt"]) == (True, False)
    answer = (await client.call("PATCH", f"chats/{chat}", {"prompt": "Rhyme."})).json
    assert (answer["prompt"], answer["prompt_adds"]) == ("Rhyme.", True)


@pytest.mark.kernel
async def test_002_21_the_panels_next_question_takes_along_what_waits(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [error(400, "bad request"), text("Good.")]
    tab, chat, _ = await live.ready()
    path = f"chats/{chat}/messages"
    await client.call("POST", path, {"text": "The unit is kg."})
    await tab.ask(chat, "an unlucky question")
    assert (await tab.finished())["status"] != "completed"
    await tab.phase(chat, "idle")
    await tab.ask(chat, "a lucky question")
    await tab.finished(2)
    assert "The unit is kg." in json.dumps(scripted.requests[-1].messages)
    # The page may still have the idle state of the first question here.
    await tab.until(lambda: not live.application.chats.notes.waiting(chat))
    assert (await client.call("GET", path)).json["waiting"] == []


@pytest.mark.kernel
async def test_002_04_the_panel_goes_on_after_what_another_program_asked_in_the_chat(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [text("First answer."), text("Third answer.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "first question")
    await tab.finished()
    await tab.phase(chat, "idle")
    shared = live.application
    messages = shared.runs.record(shared.chats.active_run_ids(chat)[-1]).messages
    asked = (*messages, user("asked in the notebook"))
    elsewhere = shared.runs.start(
        started("asked in the notebook"),
        StateCaptured(),
        ModelAsked(1, asked),
        replied(AssistantMessage("Second answer.")),
        RunFinished("completed", "Second answer."),
    ).run_id
    shared.chats.add_run(chat, elsewhere)
    await tab.ask(chat, "third question")
    await tab.finished(2)
    said = json.dumps(scripted.requests[-1].messages)
    for words in ("First answer.", "asked in the notebook", "Second answer."):
        assert words in said
