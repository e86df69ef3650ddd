"""``chats/{id}/context``: what is in the context, what it costs, and the summary of older turns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fake_service import FakeService, json_body, text
from recorded_runs import analysis_run
from server.live_server import Live
from server_client import Client

from cellwright.llm.capabilities import LEARNED, WINDOWS
from cellwright.server.application import Application

pytestmark = pytest.mark.server
SECRET = "hunter2" * 3


async def test_an_empty_chat_has_nothing_in_its_context(
    client: Client, shared: Application
) -> None:
    chat = shared.chats.create().chat_id
    found = (await client.call("GET", f"chats/{chat}/context")).json
    assert (found["parts"], found["tokens"], found["dollars"]) == ([], 0, None)
    assert found["limit"] == 60_000
    refused = await client.call("PUT", f"chats/{chat}/context", {"words": "x"})
    assert (refused.status, "Nothing was said" in refused.json["message"]) == (400, True)
    assert (await client.call("GET", "chats/none/context")).status == 404


async def test_the_parts_add_up_and_a_known_price_is_told(
    client: Client, shared: Application, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = shared.chats.create().chat_id
    run = shared.runs.start(*analysis_run()).run_id
    shared.chats.add_run(chat, run)
    found = (await client.call("GET", f"chats/{chat}/context")).json
    assert {"questions", "answers", "calls", "results"} <= {part["name"] for part in found["parts"]}
    assert found["tokens"] == sum(part["tokens"] for part in found["parts"]) > 0
    assert found["dollars"] is None
    prices = tmp_path / "prices.json"
    model = shared.runs.record(run).parameters.model
    prices.write_text(json.dumps({model: {"prompt": 10, "completion": 20, "cached": 1}}))
    monkeypatch.setenv("CELLWRIGHT_PRICES", str(prices))
    models = tmp_path / "models.json"
    models.write_text(json.dumps({model: {"context_tokens": 4_096}}))
    monkeypatch.setenv("CELLWRIGHT_MODELS", str(models))
    assert (await client.call("GET", f"chats/{chat}/context")).json["limit"] == 3_072
    priced = (await client.call("GET", f"chats/{chat}/context")).json
    assert priced["dollars"] == pytest.approx(found["tokens"] / 100_000)
    assert priced["cached_dollars"] == pytest.approx(priced["dollars"] / 10)


@pytest.mark.kernel
async def test_words_that_a_person_puts_into_the_summary_reach_the_model_and_stay(
    live: Live, scripted: FakeService, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOME_SERVICE_TOKEN", SECRET)
    scripted.script = [text("First answer."), text("Second answer.")]
    tab, chat, _ = await live.ready()
    await tab.ask(chat, "first question")
    await tab.finished()
    await tab.phase(chat, "idle")
    path = f"chats/{chat}/context"
    changed = (await client.call("PUT", path, {"words": f"The unit is kg. {SECRET}"})).json
    assert changed["words"].startswith("The unit is kg. «redacted")
    assert changed["summary"] == changed["words"]
    await tab.ask(chat, "second question")
    await tab.finished(2)
    await tab.phase(chat, "idle")
    said = json.dumps(scripted.requests[-1].messages)
    assert "The unit is kg." in said
    assert "First answer." in said
    assert SECRET not in said
    assert (await client.call("GET", path)).json["words"] == changed["words"]
    assert (await client.call("PUT", path, {"words": ""})).json["summary"] == ""


@pytest.mark.kernel
async def test_the_window_is_the_servers_own_after_a_restart_too(
    live: Live, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = json_body({"data": [{"id": "fake-model", "meta": {"n_ctx": 4_096}}]})
    with FakeService([text("Yes.")], models=listed) as service:
        for name, value in {
            "BASE_URL": service.base_url,
            "API_KEY": "k",
            "MODEL": "fake-model",
        }.items():
            monkeypatch.setenv(f"CELLWRIGHT_{name}", value)
        tab, chat, _ = await live.ready()
        await tab.ask(chat, "a question")
        await tab.finished()
        await tab.phase(chat, "idle")
        await tab.until(lambda: tab.states[chat]["context_limit"] == 4_096)
        path = f"chats/{chat}/context"
        assert (await client.call("GET", path)).json["limit"] == 3_072
        # What a process knows of models ends with it.
        for memory in (LEARNED, WINDOWS):
            memory.clear()
        assert (await client.call("GET", path)).json["limit"] == 3_072
