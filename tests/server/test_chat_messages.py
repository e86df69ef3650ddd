"""Requirements 002-07 and 002-34: what was said in a chat, without arguments and nothing hidden."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from recorded_runs import called, replied, result, started, user
from server.named_people import EVE, WITH_GUESTS
from server_client import Client

from cellwright.context.roles import ROLES
from cellwright.context.turns import HistorySummary
from cellwright.record.events import ModelAsked, RunFinished
from cellwright.record.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextPart,
    UserMessage,
)
from cellwright.server import chat_routes as chat_messages
from cellwright.server.application import Application

pytestmark = pytest.mark.server
SECRET = "hunter2" * 3
CODE = '{"code": "df.head()"}'
SAID: tuple[Message, ...] = (
    SystemMessage("You work in a notebook."),
    SystemMessage("Answer in verse.", origin="user"),
    SystemMessage("Nobody sees this.", "system_hide", "user"),
    HistorySummary("what was before").message(),
    UserMessage((TextPart("A note."),), "user_later"),
    user("Which region?\n\n<context>\ncell a:\n  x = 1\n</context>"),
)


def asked(shared: Application, chat: str, messages: Iterable[Message] = SAID) -> str:
    """A run in which a tool is called and two assistants speak."""
    call = called("c1", arguments=CODE)
    hidden = UserMessage((TextPart("Three steps are left."),), "user_hide")
    run = shared.runs.start(
        started("Which region?"),
        ModelAsked(1, tuple(messages)),
        replied(call),
        ModelAsked(2, (call, result("c1", f"seen {SECRET}"), hidden)),
        replied(AssistantMessage("North.", author="reviewer"), 2),
        RunFinished("completed", "North."),
    ).run_id
    shared.chats.add_run(chat, run)
    return run


async def listed(client: Client, chat: str, words: str = "", **options: Any) -> Any:
    answer = await client.call("GET", f"chats/{chat}/messages{words}", **options)
    assert answer.status == 200, answer.body
    return answer.json


async def test_002_07_hidden_roles_and_arguments_are_left_out(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)
    chat = shared.chats.create().chat_id
    run = asked(shared, chat)
    found = await listed(client, chat)
    assert (found["chat"], found["before"]) == (chat, "")
    told = [(m["role"], m["text"]) for m in found["messages"]]
    assert told[:4] == [
        ("system", "Answer in verse."),
        ("user_later", "A note."),
        ("user", "Which region?"),
        ("assistant_call", ""),
    ]
    assert told[4][0] == "tool"
    assert SECRET not in told[4][1]
    assert told[5:] == [("assistant", "North.")]
    assert {m["run"] for m in found["messages"]} == {run}
    (call,) = found["messages"][3]["calls"]
    assert call == {"id": "c1", "name": "run_cell", "arguments": None}
    assert found["messages"][4]["call"] == "c1"
    assert found["messages"][5]["assistant"] == {"id": "reviewer", "name": "reviewer"}


async def test_002_07_with_debug_everything_is_there_and_flags_fit_the_roles(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create().chat_id
    asked(shared, chat)
    messages = (await listed(client, chat, "?debug=1"))["messages"]
    assert len(messages) == len(SAID) + 4
    for message in messages:
        assert message["hidden"] is not ROLES[message["role"]].is_shown
    hidden = [m["role"] for m in messages if m["hidden"]]
    assert hidden == ["system_hide", "system_hide", "user_hide", "user_hide"]
    assert [c["arguments"] for m in messages for c in m["calls"]] == [CODE]
    assert "<context>" in next(m["text"] for m in messages if m["role"] == "user")
    assert all(m["hidden"] is False for m in (await listed(client, chat))["messages"])


async def test_002_06_several_assistants_answer_in_one_chat(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create().chat_id
    for author in ("reviewer", "", "analyst"):
        run = shared.runs.start(
            started("Go on."),
            ModelAsked(1, (user("Go on."),)),
            replied(AssistantMessage("So.", author=author)),
        ).run_id
        shared.chats.add_run(chat, run)
    answers = [m for m in (await listed(client, chat))["messages"] if m["role"] == "assistant"]
    assert [m["assistant"] and m["assistant"]["name"] for m in answers] == [
        *("reviewer", None, "analyst")
    ]


async def test_002_34_a_page_of_messages_leads_to_the_one_before(
    client: Client, shared: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_messages, "RUNS_AT_ONCE", 2)
    chat = shared.chats.create().chat_id
    runs = [asked(shared, chat) for _ in range(3)]
    shared.chats.add_run(chat, "not-written-yet")
    newest = await listed(client, chat)
    assert {m["run"] for m in newest["messages"]} == {runs[2]}
    older = await listed(client, chat, f"?before={newest['before']}")
    assert [m["run"] for m in older["messages"]] == sorted(
        (m["run"] for m in older["messages"]), key=runs.index
    )
    assert {m["run"] for m in older["messages"]} == set(runs[:2])
    assert older["before"] == ""


async def test_002_34_a_chat_can_be_read_with_its_instructions(
    client: Client, shared: Application
) -> None:
    chat = (await client.call("POST", "chats", {})).json["id"]
    given = await client.call("PATCH", f"chats/{chat}", {"prompt": " Answer in verse. "})
    assert given.json["prompt"] == "Answer in verse."
    assert (await client.call("GET", f"chats/{chat}")).json == given.json
    long = await client.call("PATCH", f"chats/{chat}", {"prompt": "x" * 1_025})
    assert (long.status, "1025 characters" in long.json["message"]) == (400, True)
    assert (await client.call("PATCH", f"chats/{chat}", {"prompt": ""})).json["prompt"] == ""
    for path in ("chats/none", "chats/none/messages"):
        assert (await client.call("GET", path)).status == 404


@pytest.mark.parametrize("jp_server_config", [WITH_GUESTS])
async def test_002_34_guests_read_only_their_own_chats_and_nothing_hidden(
    client: Client, shared: Application
) -> None:
    mine = shared.chats.create("", "ada").chat_id
    theirs = (await client.call("POST", "chats", {}, headers=EVE)).json["id"]
    asked(shared, theirs)
    for path in (f"chats/{mine}", f"chats/{mine}/messages"):
        assert (await client.call("GET", path, headers=EVE)).status == 404
        assert (await client.call("GET", path)).status == 200
    assert (await client.call("GET", f"chats/{theirs}", headers=EVE)).json["id"] == theirs
    assert len((await listed(client, theirs, headers=EVE))["messages"]) == 6
    refused = await client.call("GET", f"chats/{theirs}/messages?debug=1", headers=EVE)
    assert (refused.status, refused.json["code"]) == (403, "guest")
