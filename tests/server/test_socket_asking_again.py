"""Asking again and branching over the socket: what was replaced stays, hidden from the model."""

from __future__ import annotations

import json
import time

import pytest
from fake_service import FakeService, error, text, tool_call
from server.live_server import Live
from server.live_tab import SOON_SECONDS, TabClient
from server_client import Client

from cellwright.store.database import Statement

pytestmark = [pytest.mark.server, pytest.mark.kernel]


def said(service: FakeService) -> str:
    return json.dumps(service.requests[-1].messages)


def runs_of(tab: TabClient) -> list[str]:
    return list(dict.fromkeys(run for run, _, _ in tab.events))


async def test_002_54_what_was_replaced_is_kept_and_the_model_is_not_told(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [
        text("First answer."),
        tool_call("run_cell", {"code": "wrong = 1"}),
        text("Second answer."),
        text("Third answer."),
        text("A better answer."),
        text("The last answer."),
    ]
    tab, chat, document = await live.ready()
    for number, prompt in enumerate(("first question", "second question", "third question"), 1):
        await tab.ask(chat, prompt)
        await tab.finished(number)
        await tab.phase(chat, "idle")
    first, second, third = runs_of(tab)
    await tab.ask(chat, "second question, put better", supersedes=second)
    await tab.finished(4)
    request = said(scripted)
    assert "First answer." in request
    assert "put better" in request
    assert "the person ran" not in request, "the replaced run did"
    for word in ("Second answer.", "third question"):
        assert word not in request
    assert "an answer was taken back" in request
    better = runs_of(tab)[-1]
    state = await tab.phase(chat, "idle")
    assert state["superseded"] == [{"run": second, "by": better}, {"run": third, "by": better}]

    await tab.ask(chat, "and then?")
    await tab.finished(5)
    request = said(scripted)
    assert "A better answer." in request
    assert "Second answer." not in request
    page = await live.tab()
    await page.open(document)
    await page.follow(chat)
    assert runs_of(page)[:4] == [first, second, third, better], "a page draws them all"
    assert page.states[chat]["superseded"] == state["superseded"]
    for to in ("markdown", "ipynb"):
        file = (await client.call("GET", f"chats/{chat}/export?to={to}")).body.decode()
        assert "put better" in file
        assert "Second answer." not in file
        assert "third question" not in file


async def test_002_54_questions_that_nobody_answered_stay_and_the_model_is_not_told_of_them(
    live: Live, scripted: FakeService, client: Client
) -> None:
    refused = error(400, "bad request")
    scripted.script = [text("Hello."), refused, refused, text("Good."), text("Better.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "greet me")
    await tab.finished()
    await tab.phase(chat, "idle")
    for number, words in enumerate(("an unlucky question", "another"), 2):
        await tab.ask(chat, words)
        assert (await tab.finished(number))["status"] != "completed"
        await tab.phase(chat, "idle")
    await tab.ask(chat, "a lucky question")
    await tab.finished(4)
    request = said(scripted)
    assert "Hello." in request
    assert "an unlucky question" not in request
    assert "another" not in request
    state = await tab.phase(chat, "idle")
    assert state["superseded"] == [], "nobody replaced anything"
    exported = (await client.call("GET", f"chats/{chat}/export?to=markdown")).body.decode()
    assert "an unlucky question" in exported

    _, unlucky, *_ = runs_of(tab)
    await tab.ask(chat, "a better question", supersedes=unlucky)
    await tab.finished(5)
    assert "an unlucky question" not in said(scripted)
    assert len((await tab.phase(chat, "idle"))["superseded"]) == 3


async def test_a_question_that_takes_the_place_of_one_without_an_answer_takes_nothing_back(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [error(400, "bad request"), error(400, "bad request"), text("Good.")]
    tab, chat, _ = await live.ready()
    for number in (1, 2):
        await tab.ask(chat, "an unlucky question")
        await tab.finished(number)
        await tab.phase(chat, "idle")
    _, last = runs_of(tab)
    await tab.ask(chat, "an unlucky question", supersedes=last)
    await tab.finished(3)
    assert said(scripted).count("an unlucky question") == 1
    assert "an answer was taken back" not in said(scripted)


async def test_a_run_that_goes_on_is_stopped_for_what_is_asked_in_its_place(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [
        tool_call("run_cell", {"code": "import time; time.sleep(60)"}),
        text("Better."),
    ]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "sleep")
    await tab.event("cell_started")
    (sleeping,) = runs_of(tab)
    await tab.ask(chat, "do not sleep", supersedes=sleeping, instead=True)
    assert (await tab.finished(2, SOON_SECONDS * 3))["answer"] == "Better."
    assert "the person ran" not in said(scripted), "what was replaced ran it"
    state = await tab.phase(chat, "idle")
    assert [item["run"] for item in state["superseded"]] == [sleeping]
    refused = await tab.ask(chat, "once more", supersedes=sleeping)
    assert (refused["type"], refused["code"]) == ("error", "gone")


async def test_what_stood_beside_a_prompt_is_there_when_it_is_asked_again(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [text("One."), text("Two."), text("Three.")]
    tab, chat, _ = await live.ready("chosen = 1")
    selection = {"kind": "selection", "cell_id": "own-0", "text": "a line to explain"}
    await tab.ask(chat, "explain", context=[selection])
    await tab.finished()
    await tab.phase(chat, "idle")
    await tab.ask(chat, "explain, please", supersedes=runs_of(tab)[-1])
    await tab.finished(2)
    assert said(scripted).count("a line to explain") == 1
    await tab.phase(chat, "idle")
    await tab.ask(chat, "explain it once more", supersedes=runs_of(tab)[-1])
    await tab.finished(3)
    assert said(scripted).count("a line to explain") == 1


async def test_a_question_that_could_not_be_asked_replaces_nothing(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [text("Kept answer."), text("Going on.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "a question")
    await tab.finished()
    await tab.phase(chat, "idle")
    (kept,) = runs_of(tab)
    file = {"kind": "file", "file": "0-nothing.csv", "name": "nothing.csv"}
    await tab.ask(chat, "with a file", supersedes=kept, context=[file])
    await tab.until(tab.errors)
    await tab.phase(chat, "idle")
    assert tab.states[chat]["superseded"] == []
    await tab.ask(chat, "go on")
    await tab.finished(2)
    assert "Kept answer." in said(scripted)


async def test_a_branch_goes_on_from_where_it_was_made(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [text("First answer."), text("Second answer."), text("In the branch.")]
    tab, chat, _ = await live.ready()
    for number, prompt in enumerate(("first question", "second question"), 1):
        await tab.ask(chat, prompt)
        await tab.finished(number)
        await tab.phase(chat, "idle")
    first = runs_of(tab)[0]
    answer = await client.call("POST", f"chats/{chat}/branch", {"run": first})
    assert (answer.status, answer.json["runs"], answer.json["branched_from"]) == (201, 1, chat)
    branch = answer.json["id"]
    await tab.follow(branch)
    await tab.until(lambda: branch in tab.states)
    assert tab.states[branch]["title"] == "first question (branch)"
    await tab.ask(branch, "another second question")
    await tab.until(lambda: tab.of_kind("run_finished")[-1]["answer"] == "In the branch.")
    assert "First answer." in said(scripted)
    assert "Second answer." not in said(scripted)
    refused = await client.call("POST", f"chats/{chat}/branch", {"run": "nothing"})
    assert refused.status == 400


async def test_002_33_and_47_a_chats_own_instructions_and_text_filters_count(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [text("In verse.")]
    tab, chat, _ = await live.ready()
    own = {"prompt": "Answer in verse, always.", "text_filters": ["line_ends"]}
    changed = await client.call("PATCH", f"chats/{chat}", own)
    assert changed.json["prompt"] == "Answer in verse, always."
    await tab.ask(chat, "hello\r\n\r\n\r\n\r\nyou")
    await tab.finished()
    system, *_, question = scripted.requests[-1].messages
    assert "hello\n\n\n\nyou" in str(question["content"])
    assert "Answer in verse, always." in str(system["content"])


async def test_002_21_notes_are_shown_with_their_question_and_go_with_it_again(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [text("It weighs 4.2 kg."), text("4.2 kg."), text("Heavy.")]
    tab, chat, _ = await live.ready()
    for role, words in (("user_later", "The unit is kg."), ("system_hide", "Be brief.")):
        await client.call("POST", f"chats/{chat}/messages", {"role": role, "text": words})
    await tab.ask(chat, "How heavy is it?")
    await tab.finished(1)
    await tab.phase(chat, "idle")
    (first,) = runs_of(tab)
    await tab.ask(chat, "How heavy, to one digit?", supersedes=first)
    await tab.finished(2)
    await tab.phase(chat, "idle")
    request = said(scripted)
    assert request.index("The unit is kg.") < request.index("to one digit")
    assert request.count("The unit is kg.") == request.count("Be brief.") == 1
    begun = [event for _, _, event in tab.events if event["kind"] == "run_started"]
    assert [event["notes"] for event in begun] == [["The unit is kg."]] * 2
    exported = (await client.call("GET", f"chats/{chat}/export?to=markdown")).body.decode()
    assert "> The unit is kg.\n\n> How heavy, to one digit?" in exported
    await tab.ask(chat, "and?")
    await tab.finished(3)
    assert said(scripted).count("The unit is kg.") == 1


async def test_002_80_a_chat_in_which_another_program_answers_is_not_asked(
    live: Live, scripted: FakeService, client: Client
) -> None:
    scripted.script = [text("Now.")]
    tab, chat, _ = await live.ready()
    database, claims = live.application.database, live.application.chats.claims
    claim = (chat, "theirs", json.dumps({"host": "another"}), time.time())
    database.write(Statement("INSERT INTO chat_claims VALUES (?, ?, ?, ?)", claim))
    await tab.ask(chat, "hello")
    await tab.until(lambda: tab.errors() == ["busy"])
    assert (await client.call("DELETE", f"chats/{chat}")).status == 409
    database.write(Statement("DELETE FROM chat_claims"))
    await tab.phase(chat, "idle")
    await tab.ask(chat, "hello")
    assert (await tab.finished())["answer"] == "Now."
    await tab.until(lambda: not claims.is_held(chat))
