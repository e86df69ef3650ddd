"""Compacting a chat over the socket: recorded, told to every page, and gone on from."""

from __future__ import annotations

import secrets
from typing import Any

import pytest
from fake_service import FakeService, after, text, tool_call
from server.live_server import Live
from server.live_tab import TabClient

pytestmark = [pytest.mark.server, pytest.mark.kernel]


async def compact(tab: TabClient, chat: str) -> dict[str, Any]:
    """Ask for it, and wait until that was accepted or refused."""
    request = secrets.token_hex(4)
    await tab.send(type="compact", request=request, chat=chat)
    answer: dict[str, Any] = await tab.until(
        lambda: next((f for f in tab.frames if f.get("request") == request), None)
    )
    return answer


async def test_results_are_cut_recorded_and_the_next_question_goes_on_from_there(
    live: Live, scripted: FakeService
) -> None:
    usage = {"prompt_tokens": 5_000, "completion_tokens": 5, "total_tokens": 5_005}
    calls = [tool_call("run_cell", {"code": "print('n ' * 4_000)"}, id=f"c{n}") for n in range(3)]
    scripted.script = [*calls, text("Printed.", usage=usage), text("Going on.")]
    tab, chat, document = await live.ready()
    await tab.ask(chat, "print a lot")
    await tab.finished()
    await tab.phase(chat, "idle")
    assert (await compact(tab, chat))["type"] == "accepted"
    told = await tab.event("history_compacted")
    assert set(told) == {"kind", "tokens_before", "tokens_after"}
    assert told["tokens_before"] == 5_000
    assert told["tokens_after"] < 5_000
    await tab.until(lambda: tab.states[chat]["context_tokens"] == told["tokens_after"])
    assert len(scripted.requests) == 4, "no model is asked"

    await tab.phase(chat, "idle")
    await tab.ask(chat, "and now?")
    await tab.finished(3)
    sent = scripted.requests[-1].messages
    results = [message["content"] for message in sent if message["role"] == "tool"]
    assert "cut to make room" in results[0]
    assert sent[-1]["role"] == "user"
    assert "the person ran" not in str(sent[-1]["content"])
    again = await live.tab()
    await again.open(document)
    await again.follow(chat)
    prompts = [event["prompt"] for event in again.of_kind("run_started")]
    assert prompts == ["print a lot", "/compact", "and now?"]
    assert again.of_kind("history_compacted") == [told]


async def test_it_is_refused_while_a_run_goes_on_and_where_nothing_is_to_gain(
    live: Live, scripted: FakeService
) -> None:
    scripted.script = [after(text("Short."), 0.5)]
    tab, chat, _ = await live.ready()
    await compact(tab, chat)
    await tab.until(lambda: tab.errors() == ["nothing_to_gain"])
    await tab.ask(chat, "say little")
    assert (await compact(tab, chat))["code"] == "busy"
    await tab.finished()
    await tab.phase(chat, "idle")
    await compact(tab, chat)
    await tab.until(lambda: tab.errors() == ["nothing_to_gain", "busy", "nothing_to_gain"])
    assert tab.of_kind("history_compacted") == []
    assert tab.states[chat]["queue_paused"] is False
